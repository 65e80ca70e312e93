//! Hubs and authorities (HITS; Kleinberg 1999) among the results of one query and their neighbours.
//!
//! A good hub (目录型) links to good authorities, and a good authority (权威性) is linked from good hubs: authority x(p) = Σ
//! y(q) over q → p, hub y(p) = Σ x(q) over p → q. Every round computes both from the values of the previous round and
//! normalises them to length one. The listing printed in 《走进搜索引擎》§7.2.2 adds to the old values instead, which diverges.

use std::collections::HashSet;

use crate::GraphError;
use crate::summation::sum;
use crate::web::{Graph, PageSites};

/// Options for HITS: size of the base set and stopping rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitsOptions {
    /// Size of the root set, the best results of the query. The book uses 200.
    pub max_root: usize,
    /// Maximum size of the base set. The book uses 1,000 to 5,000.
    pub max_pages: usize,
    /// Maximum number of neighbours per result and direction, sampled evenly. Kleinberg uses 50.
    pub max_neighbours: usize,
    /// Iteration stops when no value changes by more than this.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_rounds: u32,
}

impl Default for HitsOptions {
    fn default() -> Self {
        Self { max_root: 200, max_pages: 5_000, max_neighbours: 50, tolerance: 1e-9, max_rounds: 100 }
    }
}

/// Hub and authority scores of the pages of a base set.
#[derive(Clone, Debug, PartialEq)]
pub struct HitsScores {
    /// The pages of the base set, in ascending order.
    pub pages: Vec<u32>,
    /// Authority of each page. Squares sum to one, or all are 0 if there are no links.
    pub authority: Vec<f64>,
    /// Hub score of each page, normalised like `authority`.
    pub hub: Vec<f64>,
    /// Number of iterations.
    pub rounds: u32,
}

/// Returns the base set: the results of a query (the root set) and their neighbours, in ascending order.
///
/// If not all neighbours fit, the results contribute one neighbour each in turn, so that none crowds out the others.
/// With `page_sites`, neighbours of the same domain are left out, because their links do not count. Invalid page
/// numbers are skipped.
pub fn base_set(
    graph: &Graph,
    results: &[u32],
    page_sites: Option<PageSites<'_>>,
    options: HitsOptions,
) -> Vec<u32> {
    let root = results.iter().copied().filter(|&page| page < graph.pages()).take(options.max_root);
    let mut found: HashSet<u32> = HashSet::new();
    let mut around: Vec<Vec<u32>> = Vec::new();
    for page in root {
        if found.len() < options.max_pages && found.insert(page) {
            let mut neighbours = Vec::new();
            for row in [graph.links_from(page), graph.links_to(page)] {
                let counts =
                    |other: u32| page_sites.is_none_or(|sites| sites.domain(page) != sites.domain(other));
                let row: Vec<u32> = row.iter().copied().filter(|other| counts(*other)).collect();
                neighbours.extend(sample_evenly(&row, options.max_neighbours));
            }
            around.push(neighbours);
        }
    }
    let longest = around.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..longest {
        for neighbours in &around {
            if found.len() >= options.max_pages {
                break;
            }
            found.extend(neighbours.get(turn));
        }
    }
    let mut pages: Vec<u32> = found.into_iter().collect();
    pages.sort_unstable();
    pages
}

/// Returns at most `count` entries of a row, evenly spaced.
fn sample_evenly(row: &[u32], count: usize) -> impl Iterator<Item = u32> + '_ {
    let taken = row.len().min(count);
    (0..taken).map(move |position| row[(position as u128 * row.len() as u128 / taken as u128) as usize])
}

/// Computes hub and authority scores around the results of a query. With `page_sites`, links within a domain do not
/// count: they serve navigation, and a site would recommend itself.
pub fn hits(
    graph: &Graph,
    results: &[u32],
    page_sites: Option<PageSites<'_>>,
    options: HitsOptions,
) -> Result<HitsScores, GraphError> {
    if let Some(page_sites) = page_sites {
        page_sites.check_graph(graph)?;
    }
    let pages = base_set(graph, results, page_sites, options);
    let links = induced_links(graph, &pages, page_sites);
    let mut authority = vec![1.0; pages.len()];
    let mut hub = vec![1.0; pages.len()];
    let mut rounds = 0;
    while rounds < options.max_rounds {
        rounds += 1;
        let mut next_authority = vec![0.0; pages.len()];
        for &(from, to) in &links {
            next_authority[to] += hub[from];
        }
        normalise(&mut next_authority);
        let mut next_hub = vec![0.0; pages.len()];
        for &(from, to) in &links {
            next_hub[from] += next_authority[to];
        }
        normalise(&mut next_hub);
        let change = largest_change(&authority, &next_authority).max(largest_change(&hub, &next_hub));
        (authority, hub) = (next_authority, next_hub);
        if change <= options.tolerance {
            break;
        }
    }
    Ok(HitsScores { pages, authority, hub, rounds })
}

/// Returns the links between pages of a sorted list, as positions in that list. Rows longer than the list are searched
/// for the pages of the list instead of being scanned, so that a page of a million links costs no more than the list.
fn induced_links(graph: &Graph, pages: &[u32], page_sites: Option<PageSites<'_>>) -> Vec<(usize, usize)> {
    let mut links = Vec::new();
    for (from, &page) in pages.iter().enumerate() {
        let row = graph.links_from(page);
        let counts = |to: u32| page_sites.is_none_or(|sites| sites.domain(page) != sites.domain(to));
        if row.len() > pages.len() {
            let linked =
                pages.iter().enumerate().filter(|&(_, to)| row.binary_search(to).is_ok() && counts(*to));
            links.extend(linked.map(|(position, _)| (from, position)));
        } else {
            let linked = row.iter().filter(|&&to| counts(to)).filter_map(|to| pages.binary_search(to).ok());
            links.extend(linked.map(|position| (from, position)));
        }
    }
    // A graph may keep repeated links; they do not make a page a better hub.
    links.dedup();
    links
}

fn normalise(values: &mut [f64]) {
    let length = sum(values.iter().map(|value| value * value)).sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}

fn largest_change(before: &[f64], after: &[f64]) -> f64 {
    before.iter().zip(after).map(|(b, a)| (b - a).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::GraphOptions;

    fn graph(pages: u32, links: &[(u32, u32)]) -> Graph {
        Graph::from_links(pages, links.iter().copied(), GraphOptions::default()).unwrap()
    }

    #[test]
    fn hubs_and_authorities_are_distinguished() {
        // Hubs 0, 1, 2; authorities 3 (linked by all), 4 (by two) and 5 (by one).
        let graph = graph(7, &[(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (2, 3)]);
        let found = hits(&graph, &[3], None, HitsOptions::default()).unwrap();
        assert_eq!(found.pages, [0, 1, 2, 3]);
        let found = hits(&graph, &[0, 1, 2], None, HitsOptions::default()).unwrap();
        assert_eq!(found.pages, [0, 1, 2, 3, 4, 5]);
        let (authority, hub) = (&found.authority, &found.hub);
        assert!(authority[3] > authority[4] && authority[4] > authority[5] && authority[0] == 0.0);
        assert!(hub[0] > hub[1] && hub[1] > hub[2] && hub[3] == 0.0);
        // x = AᵀA x: the eigenvector of the largest eigenvalue, by power iteration on the product matrix.
        let product = [[3.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 1.0]];
        let mut vector = [1.0f64; 3];
        for _ in 0..200 {
            let next = product.map(|row| (0..3).map(|i| row[i] * vector[i]).sum::<f64>());
            let length = next.iter().map(|v| v * v).sum::<f64>().sqrt();
            vector = next.map(|value| value / length);
        }
        assert!((0..3).all(|i| (vector[i] - authority[3 + i]).abs() < 1e-8));
    }

    #[test]
    fn links_at_home_do_not_count() {
        let graph = graph(4, &[(0, 1), (2, 1), (2, 3)]);
        let page_sites = PageSites::new(&[0, 0, 1, 2], &[0, 1, 2]).unwrap();
        let found = hits(&graph, &[0, 1, 2, 3], Some(page_sites), HitsOptions::default()).unwrap();
        assert_eq!(found.hub[0], 0.0);
        assert!((found.authority[1] - found.authority[3]).abs() < 1e-12);
    }

    #[test]
    fn a_page_of_many_links_crowds_out_no_result() {
        let links: Vec<(u32, u32)> = (10..50_000).map(|page| (page, 0)).chain([(60_000, 1)]).collect();
        let graph = graph(60_001, &links);
        let options = HitsOptions { max_pages: 20, ..HitsOptions::default() };
        let pages = base_set(&graph, &[0, 1, u32::MAX, 0], None, options);
        assert_eq!(pages.len(), 20);
        assert!(pages.contains(&60_000) && pages.contains(&1));
    }

    #[test]
    fn neighbours_at_home_take_no_room_where_their_links_do_not_count() {
        // Page 0 is linked from a hundred pages of its own domain, and from two of others.
        let links: Vec<(u32, u32)> = (1..103).map(|page| (page, 0)).collect();
        let graph = graph(103, &links);
        let sites: Vec<u32> = (0..103).map(|page| if page < 101 { 0 } else { page - 100 }).collect();
        let page_sites = PageSites::new(&sites, &[0, 1, 2]).unwrap();
        let options = HitsOptions { max_pages: 5, max_neighbours: 4, ..HitsOptions::default() };
        assert_eq!(base_set(&graph, &[0], Some(page_sites), options), [0, 101, 102]);
        let found = hits(&graph, &[0], Some(page_sites), HitsOptions { max_rounds: 1, ..options }).unwrap();
        assert_eq!((found.authority[0], found.rounds), (1.0, 1));
        assert_eq!(base_set(&graph, &[0], None, options).len(), 5);
    }

    proptest! {
        #[test]
        fn values_are_finite_and_of_length_one(
            links in prop::collection::vec((0u32..15, 0u32..15), 0..80),
            results in prop::collection::vec(0u32..20, 0..10),
        ) {
            let found = hits(&graph(15, &links), &results, None, HitsOptions::default()).unwrap();
            for values in [&found.authority, &found.hub] {
                let squares: f64 = values.iter().map(|value| value * value).sum();
                prop_assert!(values.iter().all(|value| value.is_finite() && *value >= 0.0));
                prop_assert!((squares - 1.0).abs() < 1e-9 || values.iter().all(|&value| value == 0.0));
            }
        }
    }
}
