//! Preference pairs: two results of a query with different grades.

use super::data::RankingData;
use crate::random::Random;

/// Rows of the better and the worse result.
pub(crate) type Pair = (u32, u32);

/// Largest number of pairs of a training; a random selection is used of more.
pub(crate) const MAX_PAIRS: usize = 4_000_000;

/// Returns all pairs, grouped by query. Of more than `limit`, each query gives a share in proportion.
pub(crate) fn preference_pairs(data: &RankingData, limit: usize, seed: u64) -> Vec<Vec<Pair>> {
    let counts: Vec<usize> =
        data.queries().iter().map(|query| count_pairs(&data.grades()[query.rows.clone()])).collect();
    let total: usize = counts.iter().sum();
    let share = limit as f64 / total.max(1) as f64;
    let mut random = Random::new(seed);
    let mut pairs = Vec::with_capacity(counts.len());
    for (query, count) in data.queries().iter().zip(counts) {
        let grades = &data.grades()[query.rows.clone()];
        let start = query.rows.start as u32;
        let mut of_query = Vec::new();
        if share >= 1.0 {
            for (a, first) in grades.iter().enumerate() {
                for (b, second) in grades.iter().enumerate() {
                    if first > second {
                        of_query.push((start + a as u32, start + b as u32));
                    }
                }
            }
        } else {
            let wanted = (count as f64 * share).ceil() as usize;
            // At least half of the tries hit a pair unless nearly all grades are equal.
            for _ in 0..if count == 0 { 0 } else { wanted * 4 } {
                let [a, b] = [random.below(grades.len()), random.below(grades.len())];
                let pair = if grades[a] > grades[b] { (a, b) } else { (b, a) };
                if grades[pair.0] != grades[pair.1] && of_query.len() < wanted {
                    of_query.push((start + pair.0 as u32, start + pair.1 as u32));
                }
            }
        }
        pairs.push(of_query);
    }
    pairs
}

/// Returns the number of pairs with different grades.
fn count_pairs(grades: &[u32]) -> usize {
    let mut sorted = grades.to_vec();
    sorted.sort_unstable();
    let equal: usize = sorted.chunk_by(|a, b| a == b).map(|group| group.len() * (group.len() - 1) / 2).sum();
    grades.len() * grades.len().saturating_sub(1) / 2 - equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_different_grades() {
        let data =
            RankingData::parse("2 qid:1 1:1\n0 qid:1 1:2\n2 qid:1 1:3\n1 qid:2 1:1\n".as_bytes()).unwrap();
        assert_eq!(preference_pairs(&data, 100, 1), [vec![(0, 1), (2, 1)], vec![]]);
        assert_eq!(count_pairs(&[0, 0, 1, 2]), 5);
        assert_eq!(preference_pairs(&data, 1, 1)[0].len(), 1);
    }
}
