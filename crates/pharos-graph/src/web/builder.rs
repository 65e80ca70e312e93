//! From links in any order to a graph, within a memory budget.

use std::path::PathBuf;

use rayon::slice::ParallelSliceMut as _;

use super::sorted_runs::SortedRuns;
use super::{Adjacency, Graph};
use crate::GraphError;

/// How links become a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphOptions {
    /// Bytes for sorting links. What is more goes to disk.
    pub memory: usize,
    /// Where sorted links go meanwhile; the system's place for temporary files if not given. The files have no name and
    /// vanish with the process.
    pub directory: Option<PathBuf>,
    /// A link that a page has twice counts twice. Off: the books count pages that link, not links.
    pub keep_duplicates: bool,
    /// A link of a page to itself counts. Off: no book lets a page vote for itself.
    pub keep_self_links: bool,
    /// Links that the graph may have.
    pub max_links: u64,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            directory: None,
            keep_duplicates: false,
            keep_self_links: false,
            max_links: 1 << 36,
        }
    }
}

/// The least that is sorted at once, so that a tiny budget does not make a file for each link.
const MIN_BUFFER: usize = 1 << 10;

/// Collects links and makes a [`Graph`] of them.
pub struct GraphBuilder {
    rules: GraphOptions,
    /// Links as `from << 32 | to`: sorting numbers sorts links by source, then by target.
    buffer: Vec<u64>,
    buffer_limit: usize,
    runs: SortedRuns,
    largest_page: Option<u32>,
}

impl GraphBuilder {
    /// Without links yet.
    pub fn new(rules: GraphOptions) -> Self {
        let buffer_limit = (rules.memory / size_of::<u64>()).max(MIN_BUFFER);
        let runs = SortedRuns::new(rules.directory.clone(), rules.keep_duplicates);
        Self { rules, buffer: Vec::new(), buffer_limit, runs, largest_page: None }
    }

    /// Adds a link.
    pub fn add(&mut self, from: u32, to: u32) -> Result<(), GraphError> {
        self.largest_page = self.largest_page.max(Some(from.max(to)));
        if from == to && !self.rules.keep_self_links {
            return Ok(());
        }
        if self.buffer.len() == self.buffer_limit {
            self.spill_buffer()?;
        }
        if self.buffer.len() == self.buffer.capacity() {
            // Doubling by ourselves: a growing vector could overshoot the budget.
            let wanted = (2 * self.buffer.len()).clamp(MIN_BUFFER, self.buffer_limit);
            self.buffer.reserve_exact(wanted - self.buffer.len());
        }
        self.buffer.push(u64::from(from) << 32 | u64::from(to));
        Ok(())
    }

    /// The graph of all links so far. Pages are numbered below `pages`; those without links count, too.
    pub fn finish(mut self, pages: u32) -> Result<Graph, GraphError> {
        if let Some(page) = self.largest_page.filter(|&page| page >= pages) {
            return Err(GraphError::NoSuchPage { page, pages });
        }
        self.sort();
        let mut rows = RowWriter::new(pages, self.rules.max_links);
        if self.runs.is_empty() {
            self.check_count(self.buffer.len() as u64)?;
            rows.neighbours.reserve_exact(self.buffer.len());
            for &link in &self.buffer {
                rows.add(link)?;
            }
            drop(self.buffer);
        } else {
            self.runs.write(&self.buffer)?;
            drop(self.buffer);
            self.runs.merge(|link| rows.add(link))?;
        }
        Ok(Graph::from_rows(rows.finish()))
    }

    fn sort(&mut self) {
        self.buffer.par_sort_unstable();
        if !self.rules.keep_duplicates {
            self.buffer.dedup();
        }
    }

    /// Writes the buffer to disk, unless sorting freed half of it: navigation bars repeat the same few links.
    fn spill_buffer(&mut self) -> Result<(), GraphError> {
        self.sort();
        if self.buffer.len() > self.buffer_limit / 2 {
            self.runs.write(&self.buffer)?;
            self.buffer.clear();
        }
        // Early, so that endless links do not fill the disk first.
        self.check_count(self.runs.min_links())
    }

    fn check_count(&self, links: u64) -> Result<(), GraphError> {
        let limit = self.rules.max_links;
        if links > limit { Err(GraphError::TooManyLinks { limit }) } else { Ok(()) }
    }
}

/// Turns sorted links into rows.
struct RowWriter {
    starts: Vec<u64>,
    neighbours: Vec<u32>,
    pages: u32,
    max_links: u64,
}

impl RowWriter {
    fn new(pages: u32, max_links: u64) -> Self {
        let mut starts = Vec::with_capacity(pages as usize + 1);
        starts.push(0);
        Self { starts, neighbours: Vec::new(), pages, max_links }
    }

    fn add(&mut self, link: u64) -> Result<(), GraphError> {
        if self.neighbours.len() as u64 == self.max_links {
            return Err(GraphError::TooManyLinks { limit: self.max_links });
        }
        let from = (link >> 32) as usize;
        if self.starts.len() <= from {
            self.starts.resize(from + 1, self.neighbours.len() as u64);
        }
        self.neighbours.push(link as u32);
        Ok(())
    }

    fn finish(mut self) -> Adjacency {
        self.starts.resize(self.pages as usize + 1, self.neighbours.len() as u64);
        self.neighbours.shrink_to_fit();
        Adjacency { starts: self.starts, neighbours: self.neighbours }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(memory: usize) -> GraphOptions {
        GraphOptions { memory, ..GraphOptions::default() }
    }

    #[test]
    fn a_small_budget_gives_the_same_graph_through_files() {
        // 300,000 links through a buffer of 1,024: more runs than are merged at once.
        let links: Vec<(u32, u32)> =
            (0..300_000u64).map(|i| ((i * 7_919 % 5_003) as u32, (i * 104_729 % 4_999) as u32)).collect();
        for keep_duplicates in [false, true] {
            let small = GraphOptions { keep_duplicates, ..rules(0) };
            let large = GraphOptions { keep_duplicates, ..rules(1 << 30) };
            let small = Graph::from_links(5_003, links.iter().copied(), small).unwrap();
            let large = Graph::from_links(5_003, links.iter().copied(), large).unwrap();
            assert!(small == large);
        }
    }

    #[test]
    fn duplicates_and_self_links_count_only_when_asked_for() {
        let links = [(0, 1), (0, 1), (1, 1)];
        let plain = Graph::from_links(3, links, rules(0)).unwrap();
        assert_eq!((plain.links(), plain.links_to(1)), (1, [0].as_slice()));
        let all = GraphOptions { keep_duplicates: true, keep_self_links: true, ..rules(0) };
        let all = Graph::from_links(3, links, all).unwrap();
        assert_eq!((all.links(), all.links_to(1)), (3, [0, 0, 1].as_slice()));
        assert!(all.links_from(2).is_empty() && all.links_from(u32::MAX).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let outside = Graph::from_links(2, [(0, 2)], rules(0));
        assert!(matches!(outside, Err(GraphError::NoSuchPage { page: 2, pages: 2 })));
        let few = GraphOptions { max_links: 2, ..rules(0) };
        let many = Graph::from_links(4, [(0, 1), (0, 2), (0, 3)], few.clone());
        assert!(matches!(many, Err(GraphError::TooManyLinks { limit: 2 })));
        for keep_duplicates in [false, true] {
            let endless = (0..u32::MAX).map(|i| (i % 1_009, i % 1_013));
            let endless = Graph::from_links(1_013, endless, GraphOptions { keep_duplicates, ..few.clone() });
            assert!(matches!(endless, Err(GraphError::TooManyLinks { limit: 2 })));
        }
        assert_eq!(Graph::from_links(0, [], rules(0)).unwrap().pages(), 0);
    }

    proptest! {
        #[test]
        fn both_directions_hold_the_same_sorted_links(
            links in prop::collection::vec((0u32..20, 0u32..20), 0..200),
        ) {
            let graph = Graph::from_links(20, links.iter().copied(), rules(0)).unwrap();
            let mut expected: Vec<(u32, u32)> = links.into_iter().filter(|(from, to)| from != to).collect();
            expected.sort_unstable();
            expected.dedup();
            let out: Vec<(u32, u32)> =
                (0..20).flat_map(|page| graph.links_from(page).iter().map(move |&to| (page, to))).collect();
            let mut into: Vec<(u32, u32)> =
                (0..20).flat_map(|page| graph.links_to(page).iter().map(move |&from| (from, page))).collect();
            into.sort_unstable();
            prop_assert_eq!(&out, &expected);
            prop_assert_eq!(&into, &expected);
        }
    }
}
