//! Repetition of queries over the course of a log (《搜索引擎——原理、技术与系统》§9.2, formulas 9-3 and 9-4).

use std::collections::{HashMap, HashSet};

/// Queries of a group in the source.
pub const GROUP: usize = 1000;

/// Returns for each group of `size` queries how many of them belong to the distinct queries of the first group (formula
/// 9-3). An incomplete last group is dropped. In the source, the number first reached 0 in group 48.
pub fn repetition_decay(queries: &[u32], size: usize) -> Vec<u64> {
    let mut groups = queries.chunks_exact(size.max(1));
    let Some(first) = groups.next() else { return Vec::new() };
    let known: HashSet<u32> = first.iter().copied().collect();
    let of = |group: &[u32]| group.iter().filter(|query| known.contains(query)).count() as u64;
    std::iter::once(first).chain(groups).map(of).collect()
}

/// Returns S = Σ (A_i − B_i)² for each pair of neighbouring groups, where A_i and B_i are the shares of a query in the two
/// groups (formula 9-4). The source found 0.02 to 0.06 for groups of 1,000.
pub fn neighbour_deviation(queries: &[u32], size: usize) -> Vec<f64> {
    let size = size.max(1);
    let shares = |group: &[u32]| {
        let mut shares: HashMap<u32, f64> = HashMap::new();
        group.iter().for_each(|query| *shares.entry(*query).or_default() += 1.0 / size as f64);
        shares
    };
    let groups: Vec<&[u32]> = queries.chunks_exact(size).collect();
    let mut before: Option<HashMap<u32, f64>> = None;
    let mut deviations = Vec::new();
    for group in groups {
        let now = shares(group);
        if let Some(before) = before.replace(now.clone()) {
            let in_both: f64 =
                now.iter().map(|(query, share)| (share - before.get(query).unwrap_or(&0.0)).powi(2)).sum();
            let gone: f64 = before
                .iter()
                .filter(|(query, _)| !now.contains_key(query))
                .map(|(_, share)| share.powi(2))
                .sum();
            deviations.push(in_both + gone);
        }
    }
    deviations
}

/// Returns the share of queries that occurred before in the log, by the number of other queries in between: at most 10,
/// 100, 1,000, … Each entry is the upper limit of the distance and the share of all queries.
pub fn repetition_by_distance(queries: &[u32]) -> Vec<(u64, f64)> {
    let mut last: HashMap<u32, usize> = HashMap::new();
    let mut counts = [0_u64; 9];
    for (nth, query) in queries.iter().enumerate() {
        if let Some(before) = last.insert(*query, nth) {
            let between = (nth - before - 1).max(1);
            let class = (between as f64).log10().ceil().max(1.0) as usize - 1;
            counts[class.min(counts.len() - 1)] += 1;
        }
    }
    let limits = (1..).map(|power| 10_u64.pow(power));
    let shares = limits.zip(counts).map(|(limit, count)| (limit, count as f64 / queries.len().max(1) as f64));
    let used = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    shares.take(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_of_the_first_group_fade() {
        let queries = [1, 2, 1, 3, /**/ 1, 4, 5, 2, /**/ 6, 7, 8, 9, /**/ 1];
        assert_eq!(repetition_decay(&queries, 4), [4, 2, 0]);
        assert_eq!(repetition_decay(&queries, 100), Vec::<u64>::new());
        assert_eq!(repetition_decay(&[], 0), Vec::<u64>::new());
    }

    #[test]
    fn groups_with_the_same_queries_do_not_deviate() {
        assert_eq!(neighbour_deviation(&[1, 2, 2, 1], 2), [0.0]);
        // All different: 2 · (1/2)² in each group.
        assert_eq!(neighbour_deviation(&[1, 2, 3, 4], 2), [1.0]);
        assert_eq!(neighbour_deviation(&[1, 1, 1, 2], 2), [0.5]);
        assert_eq!(neighbour_deviation(&[1], 2), Vec::<f64>::new());
    }

    #[test]
    fn a_repetition_has_a_distance() {
        let mut queries = vec![1, 1];
        queries.extend(2..100);
        queries.push(1);
        assert_eq!(repetition_by_distance(&queries), [(10, 1.0 / 101.0), (100, 1.0 / 101.0)]);
        assert_eq!(repetition_by_distance(&[]), []);
    }
}
