//! The graph of pages, and the graph of sites made from it.
//!
//! **In:** links as pairs of numbers, in any order, as often as they come. **Out:** a [`Graph`] in compressed sparse
//! rows: for every page the sorted pages it links to, and the sorted pages that link to it.
//!
//! [`GraphBuilder`] sorts within a memory budget: what does not fit goes to disk in sorted runs, which are merged in
//! the end. Numbers of links are 64 bits wide, numbers of pages 32.

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

/// One direction of a graph: the neighbours of page `p` are `neighbours[starts[p]..starts[p + 1]]`, in rising order.
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

    /// The neighbours of each of these pages: faster than asking for one row after the other.
    fn rows(&self, pages: Range<usize>) -> impl Iterator<Item = &[u32]> {
        let ends = self.starts[pages.start..=pages.end].windows(2);
        ends.map(|row| &self.neighbours[row[0] as usize..row[1] as usize])
    }

    /// The same links seen from the other end. Adjacency come out sorted because sources are visited in order.
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
                let place = &mut free[target as usize];
                neighbours[*place as usize] = page;
                *place += 1;
            }
        }
        Self { starts, neighbours }
    }
}

/// Links between pages, readable from both ends (a directed graph; 正向链接 and 反向链接).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    out: Adjacency,
    into: Adjacency,
}

impl Graph {
    /// A graph of `pages` pages from links as they come; see [`GraphBuilder`] for links that arrive over time.
    pub fn from_links(
        pages: u32,
        links: impl IntoIterator<Item = (u32, u32)>,
        rules: GraphOptions,
    ) -> Result<Self, GraphError> {
        let mut builder = GraphBuilder::new(rules);
        for (from, to) in links {
            builder.add(from, to)?;
        }
        builder.finish(pages)
    }

    /// From the number of links of every page, and the pages they lead to, row by row; nothing if they do not fit.
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

    /// How many pages there are, with links or without.
    pub fn pages(&self) -> u32 {
        (self.out.starts.len() - 1) as u32
    }

    /// How many links there are.
    pub fn links(&self) -> u64 {
        self.out.neighbours.len() as u64
    }

    /// The pages that this page links to, in rising order.
    pub fn links_from(&self, page: u32) -> &[u32] {
        self.out.row(page)
    }

    /// The pages that link to this page, in rising order.
    pub fn links_to(&self, page: u32) -> &[u32] {
        self.into.row(page)
    }

    /// [`links_to`](Self::links_to) of each of these pages.
    pub(crate) fn rows_to(&self, pages: Range<usize>) -> impl Iterator<Item = &[u32]> {
        self.into.rows(pages)
    }

    /// Does one page link to the other?
    pub fn has_link(&self, from: u32, to: u32) -> bool {
        self.links_from(from).binary_search(&to).is_ok()
    }

    /// Cuts the pages into parts of about equal work when the links to (or from) every page are read. The cut depends
    /// on the graph alone, never on the number of threads, so that sums by parts come out the same everywhere.
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

/// Cuts a table with `width` entries for each page where [`Graph::parts`] cuts the pages.
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

// Temporary aliases of renamed items, removed once all crates use the new names.
#[doc(hidden)]
pub use self::{
    GraphOptions as BuildRules, LinkClosure as Closure, PageSites as Places, link_closure as closure,
};
