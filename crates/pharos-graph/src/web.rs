//! The link graph of pages, and the link graph of sites derived from it.
//!
//! Links come in as pairs of page numbers, in any order and with repetitions. A [`Graph`] stores them as compressed
//! sparse rows (CSR): for every page the sorted pages it links to, and the sorted pages that link to it.
//!
//! [`GraphBuilder`] sorts within a memory budget. Links beyond the budget go to disk in sorted runs, which are merged
//! at the end. Link counts are 64 bits wide, page numbers 32.

mod builder;
mod sites;
mod sorted_runs;
mod traversal;

use std::ops::Range;

pub use self::builder::{GraphBuilder, GraphOptions};
pub use self::sites::{LinkClosure, PageSites, link_closure, site_graph};
pub(crate) use self::traversal::mark_reachable;
pub use self::traversal::{Direction, UNREACHED, bfs_distances};
use crate::GraphError;

/// One direction of a graph. The neighbours of page `p` are `neighbours[starts[p]..starts[p + 1]]`, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Adjacency {
    starts: Vec<u64>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    fn row(&self, page: u32) -> &[u32] {
        let page = page as usize;
        match (self.starts.get(page), self.starts.get(page + 1)) {
            (Some(&start), Some(&end)) => &self.neighbours[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Returns the rows of a range of pages; faster than calling [`row`](Self::row) for each page.
    fn rows(&self, pages: Range<usize>) -> impl Iterator<Item = &[u32]> {
        let ends = self.starts[pages.start..=pages.end].windows(2);
        ends.map(|row| &self.neighbours[row[0] as usize..row[1] as usize])
    }

    /// Returns the transposed graph. Its rows are sorted because source pages are visited in order.
    fn reversed(&self) -> Self {
        let pages = self.starts.len() - 1;
        let mut starts = vec![0u64; pages + 1];
        for &target in &self.neighbours {
            starts[target as usize + 1] += 1;
        }
        for page in 0..pages {
            starts[page + 1] += starts[page];
        }
        let mut free = starts.clone();
        let mut neighbours = vec![0u32; self.neighbours.len()];
        for page in 0..pages as u32 {
            for &target in self.row(page) {
                let slot = &mut free[target as usize];
                neighbours[*slot as usize] = page;
                *slot += 1;
            }
        }
        Self { starts, neighbours }
    }
}

/// A directed graph of links between pages, readable from both ends (正向链接 and 反向链接).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    out: Adjacency,
    into: Adjacency,
}

impl Graph {
    /// Builds a graph of `pages` pages from an iterator of links. Use [`GraphBuilder`] for links that arrive over time.
    pub fn from_links(
        pages: u32,
        links: impl IntoIterator<Item = (u32, u32)>,
        options: GraphOptions,
    ) -> Result<Self, GraphError> {
        let mut builder = GraphBuilder::new(options);
        for (from, to) in links {
            builder.add(from, to)?;
        }
        builder.finish(pages)
    }

    /// Rebuilds a graph from out-degrees and concatenated rows. Returns `None` if they do not match.
    pub(crate) fn from_parts(degrees: &[u32], neighbours: Vec<u32>) -> Option<Self> {
        let mut starts = Vec::with_capacity(degrees.len() + 1);
        let mut start = 0;
        starts.push(start);
        starts.extend(degrees.iter().map(|degree| {
            start += u64::from(*degree);
            start
        }));
        let pages = degrees.len();
        let fits = start == neighbours.len() as u64 && neighbours.iter().all(|page| (*page as usize) < pages);
        fits.then(|| Self::from_rows(Adjacency { starts, neighbours }))
    }

    fn from_rows(out: Adjacency) -> Self {
        let into = out.reversed();
        Self { out, into }
    }

    /// Returns the number of pages, including pages without links.
    pub fn pages(&self) -> u32 {
        (self.out.starts.len() - 1) as u32
    }

    /// Returns the number of links.
    pub fn links(&self) -> u64 {
        self.out.neighbours.len() as u64
    }

    /// Returns the pages that `page` links to, in ascending order.
    pub fn links_from(&self, page: u32) -> &[u32] {
        self.out.row(page)
    }

    /// Returns the pages that link to `page`, in ascending order.
    pub fn links_to(&self, page: u32) -> &[u32] {
        self.into.row(page)
    }

    /// Returns [`links_to`](Self::links_to) of each page of a range.
    pub(crate) fn rows_to(&self, pages: Range<usize>) -> impl Iterator<Item = &[u32]> {
        self.into.rows(pages)
    }

    /// Splits the pages into ranges of about equal work for reading the links to (or from) every page. The ranges
    /// depend on the graph alone, never on the number of threads, so that partial sums are reproducible.
    pub(crate) fn parts(&self, direction: Direction) -> Vec<Range<usize>> {
        const WORK: u64 = 1 << 16;
        let starts = match direction {
            Direction::Backward => &self.into.starts,
            Direction::Forward | Direction::Both => &self.out.starts,
        };
        let mut parts = Vec::new();
        let (mut begin, mut work) = (0, 0);
        for page in 0..starts.len() - 1 {
            work += 1 + starts[page + 1] - starts[page];
            if work >= WORK {
                parts.push(begin..page + 1);
                (begin, work) = (page + 1, 0);
            }
        }
        if begin < starts.len() - 1 {
            parts.push(begin..starts.len() - 1);
        }
        parts
    }
}

/// Splits a table with `width` entries per page along the ranges of [`Graph::parts`].
pub(crate) fn split_table<'table, T>(
    mut table: &'table mut [T],
    parts: &[Range<usize>],
    width: usize,
) -> Vec<&'table mut [T]> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let (piece, rest) = table.split_at_mut(part.len() * width);
        pieces.push(piece);
        table = rest;
    }
    pieces
}
