//! Builds a [`Graph`] from unsorted links within a memory budget, by external merge sort.

use std::path::PathBuf;

use rayon::slice::ParallelSliceMut as _;

use super::sorted_runs::SortedRuns;
use super::{Adjacency, Graph};
use crate::GraphError;

/// Options for building a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphOptions {
    /// Bytes of memory for sorting links. Links beyond it go to disk.
    pub memory: usize,
    /// Directory of the sorted runs; the system's temporary directory if `None`. The files are unnamed and disappear
    /// with the process.
    pub directory: Option<PathBuf>,
    /// Counts repeated links of one page. Off by default: the literature counts linking pages, not links.
    pub keep_duplicates: bool,
    /// Counts links of a page to itself. Off by default: a page does not vote for itself.
    pub keep_self_links: bool,
    /// Maximum number of links.
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

/// Minimum number of links sorted at once, so that a tiny budget does not create a file per link.
const MIN_BUFFER: usize = 1 << 10;

/// Collects links and builds a [`Graph`] from them.
pub struct GraphBuilder {
    options: GraphOptions,
    /// Links as `from << 32 | to`: numeric order is order by source, then by target.
    buffer: Vec<u64>,
    buffer_limit: usize,
    runs: SortedRuns,
    largest_page: Option<u32>,
}

impl GraphBuilder {
    /// Creates a builder without links.
    pub fn new(options: GraphOptions) -> Self {
        let buffer_limit = (options.memory / size_of::<u64>()).max(MIN_BUFFER);
        let runs = SortedRuns::new(options.directory.clone(), options.keep_duplicates);
        Self { options, buffer: Vec::new(), buffer_limit, runs, largest_page: None }
    }

    /// Adds a link.
    ///
    /// # Errors
    /// If there are too many links or a run cannot be written.
    pub fn add(&mut self, from: u32, to: u32) -> Result<(), GraphError> {
        self.largest_page = self.largest_page.max(Some(from.max(to)));
        if from == to && !self.options.keep_self_links {
            return Ok(());
        }
        if self.buffer.len() == self.buffer_limit {
            self.spill_buffer()?;
        }
        if self.buffer.len() == self.buffer.capacity() {
            // `Vec` growth could exceed the budget, so capacity is doubled explicitly.
            let capacity = (2 * self.buffer.len()).clamp(MIN_BUFFER, self.buffer_limit);
            self.buffer.reserve_exact(capacity - self.buffer.len());
        }
        self.buffer.push(u64::from(from) << 32 | u64::from(to));
        Ok(())
    }

    /// Builds the graph of all links added. Page numbers are below `pages`; pages without links are included.
    pub fn finish(mut self, pages: u32) -> Result<Graph, GraphError> {
        if let Some(page) = self.largest_page.filter(|&page| page >= pages) {
            return Err(GraphError::NoSuchPage { page, pages });
        }
        self.sort();
        let mut rows = RowWriter::new(pages, self.options.max_links);
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
        if !self.options.keep_duplicates {
            self.buffer.dedup();
        }
    }

    /// Writes the buffer to disk, unless sorting halved it: navigation bars repeat the same few links.
    fn spill_buffer(&mut self) -> Result<(), GraphError> {
        self.sort();
        if self.buffer.len() > self.buffer_limit / 2 {
            self.runs.write(&self.buffer)?;
            self.buffer.clear();
        }
        // Checked early, so that an endless stream of links does not fill the disk first.
        self.check_count(self.runs.min_links())
    }

    fn check_count(&self, links: u64) -> Result<(), GraphError> {
        let limit = self.options.max_links;
        if links > limit { Err(GraphError::TooManyLinks { limit }) } else { Ok(()) }
    }
}

/// Converts sorted links to compressed sparse rows.
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

    fn options(memory: usize) -> GraphOptions {
        GraphOptions { memory, ..GraphOptions::default() }
    }

    #[test]
    fn a_small_budget_gives_the_same_graph_through_files() {
        // 300,000 links through a buffer of 1,024: more runs than one merge takes.
        let links: Vec<(u32, u32)> =
            (0..300_000u64).map(|i| ((i * 7_919 % 5_003) as u32, (i * 104_729 % 4_999) as u32)).collect();
        for keep_duplicates in [false, true] {
            let small = GraphOptions { keep_duplicates, ..options(0) };
            let large = GraphOptions { keep_duplicates, ..options(1 << 30) };
            let small = Graph::from_links(5_003, links.iter().copied(), small).unwrap();
            let large = Graph::from_links(5_003, links.iter().copied(), large).unwrap();
            assert!(small == large);
        }
    }

    #[test]
    fn duplicates_and_self_links_count_only_when_asked_for() {
        let links = [(0, 1), (0, 1), (1, 1)];
        let plain = Graph::from_links(3, links, options(0)).unwrap();
        assert_eq!((plain.links(), plain.links_to(1)), (1, [0].as_slice()));
        let all = GraphOptions { keep_duplicates: true, keep_self_links: true, ..options(0) };
        let all = Graph::from_links(3, links, all).unwrap();
        assert_eq!((all.links(), all.links_to(1)), (3, [0, 0, 1].as_slice()));
        assert!(all.links_from(2).is_empty() && all.links_from(u32::MAX).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let outside = Graph::from_links(2, [(0, 2)], options(0));
        assert!(matches!(outside, Err(GraphError::NoSuchPage { page: 2, pages: 2 })));
        let few = GraphOptions { max_links: 2, ..options(0) };
        let many = Graph::from_links(4, [(0, 1), (0, 2), (0, 3)], few.clone());
        assert!(matches!(many, Err(GraphError::TooManyLinks { limit: 2 })));
        for keep_duplicates in [false, true] {
            let endless = (0..u32::MAX).map(|i| (i % 1_009, i % 1_013));
            let endless = Graph::from_links(1_013, endless, GraphOptions { keep_duplicates, ..few.clone() });
            assert!(matches!(endless, Err(GraphError::TooManyLinks { limit: 2 })));
        }
        assert_eq!(Graph::from_links(0, [], options(0)).unwrap().pages(), 0);
    }

    proptest! {
        #[test]
        fn both_directions_hold_the_same_sorted_links(
            links in prop::collection::vec((0u32..20, 0u32..20), 0..200),
        ) {
            let graph = Graph::from_links(20, links.iter().copied(), options(0)).unwrap();
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
