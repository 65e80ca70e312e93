//! The click graph (点击图): the bipartite graph (二分图) of queries and clicked pages (《走进搜索引擎》§6.2.4).
//!
//! Edges carry weights. Both directions are stored in compressed sparse rows: 8 bytes an edge and direction. The graph is
//! immutable; [`ClickGraphBuilder`] merges repeated edges.

use crate::search_log::Interner;

/// Maximum number of edges before repeated ones are merged.
const MAX_PENDING: usize = 16 << 20;

/// Queries, pages and weighted edges between them.
#[derive(Debug, Default)]
pub struct ClickGraph {
    /// Normalised queries.
    pub queries: Interner,
    /// URLs of clicked pages.
    pub pages: Interner,
    forward: Adjacency,
    backward: Adjacency,
}

/// One direction of the graph.
#[derive(Debug, Default)]
pub(super) struct Adjacency {
    starts: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f32>,
    totals: Vec<f32>,
}

impl Adjacency {
    /// Returns the neighbours of a node with the weights of the edges.
    pub(super) fn edges(&self, node: u32) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
        let range = match (self.starts.get(node as usize), self.starts.get(node as usize + 1)) {
            (Some(start), Some(end)) => *start as usize..*end as usize,
            _ => 0..0,
        };
        self.targets[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// Returns the sum of the weights of a node's edges.
    pub(super) fn total(&self, node: u32) -> f32 {
        self.totals.get(node as usize).copied().unwrap_or(0.0)
    }

    /// Builds rows from edges sorted by source.
    fn from_sorted(nodes: usize, edges: impl Iterator<Item = (u32, u32, f32)>) -> Self {
        let mut adjacency = Self { starts: vec![0; nodes + 1], totals: vec![0.0; nodes], ..Self::default() };
        for (from, to, weight) in edges {
            adjacency.starts[from as usize + 1] += 1;
            adjacency.totals[from as usize] += weight;
            adjacency.targets.push(to);
            adjacency.weights.push(weight);
        }
        (1..=nodes).for_each(|node| adjacency.starts[node] += adjacency.starts[node - 1]);
        adjacency
    }

    /// Returns the opposite direction, by a counting sort.
    fn reverse(&self, nodes: usize) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        self.targets.iter().for_each(|to| starts[*to as usize + 1] += 1);
        (1..=nodes).for_each(|node| starts[node] += starts[node - 1]);
        let (mut next, mut totals) = (starts.clone(), vec![0.0; nodes]);
        let (mut targets, mut weights) = (vec![0; self.targets.len()], vec![0.0; self.targets.len()]);
        for from in 0..self.totals.len() as u32 {
            for (to, weight) in self.edges(from) {
                let place = &mut next[to as usize];
                targets[*place as usize] = from;
                weights[*place as usize] = weight;
                totals[to as usize] += weight;
                *place += 1;
            }
        }
        Self { starts, targets, weights, totals }
    }
}

/// Sizes of a click graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ClickGraphSizes {
    pub queries: u64,
    pub pages: u64,
    pub edges: u64,
    /// Sum of all weights.
    pub weight: f64,
    /// Memory of the edges in bytes.
    pub edge_bytes: u64,
}

impl ClickGraph {
    /// Returns the pages clicked for a query, by number, with the weights of the edges.
    pub fn pages_of(&self, query: u32) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
        self.forward.edges(query)
    }

    /// Returns the queries that led to a page, by number, with the weights of the edges.
    pub fn queries_of(&self, page: u32) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
        self.backward.edges(page)
    }

    /// Returns the sum of the weights of a query.
    pub fn query_weight(&self, query: u32) -> f32 {
        self.forward.total(query)
    }

    /// Returns the sum of the weights of a page.
    pub fn page_weight(&self, page: u32) -> f32 {
        self.backward.total(page)
    }

    /// Returns the sizes of the graph.
    pub fn sizes(&self) -> ClickGraphSizes {
        let edges = self.forward.targets.len() as u64;
        ClickGraphSizes {
            queries: self.queries.len() as u64,
            pages: self.pages.len() as u64,
            edges,
            weight: self.forward.totals.iter().map(|total| f64::from(*total)).sum(),
            edge_bytes: 16 * edges,
        }
    }
}

/// Collects clicks and builds the graph.
#[derive(Default)]
pub struct ClickGraphBuilder {
    queries: Interner,
    pages: Interner,
    edges: Vec<(u32, u32, f32)>,
}

impl ClickGraphBuilder {
    /// Adds the weight of an edge. Weights that are not positive, and strings beyond the limits, are ignored.
    pub fn add(&mut self, query: &str, page: &str, weight: f32) {
        if weight.is_nan() || weight <= 0.0 || weight.is_infinite() {
            return;
        }
        let (Some(query), Some(page)) = (self.queries.intern(query), self.pages.intern(page)) else { return };
        self.edges.push((query, page, weight));
        if self.edges.len() >= MAX_PENDING && self.edges.len() == self.edges.capacity() {
            self.merge();
        }
    }

    /// Merges repeated edges.
    fn merge(&mut self) {
        self.edges.sort_unstable_by_key(|(query, page, _)| (*query, *page));
        self.edges.dedup_by(|later, earlier| {
            let is_same = (later.0, later.1) == (earlier.0, earlier.1);
            if is_same {
                earlier.2 += later.2;
            }
            is_same
        });
    }

    /// Builds the graph.
    pub fn finish(mut self) -> ClickGraph {
        self.merge();
        let forward = Adjacency::from_sorted(self.queries.len(), self.edges.into_iter());
        let backward = forward.reverse(self.pages.len());
        ClickGraph { queries: self.queries, pages: self.pages, forward, backward }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The graph of the literature: q1 → d1, d2; q2 → d1, d2, d3; and an unconnected q3 → d4.
    pub(crate) fn example() -> ClickGraph {
        graph(&[
            ("q1", "d1", 1.0),
            ("q1", "d2", 1.0),
            ("q2", "d1", 1.0),
            ("q2", "d2", 1.0),
            ("q2", "d3", 1.0),
            ("q3", "d4", 1.0),
        ])
    }

    pub(crate) fn graph(edges: &[(&str, &str, f32)]) -> ClickGraph {
        let mut builder = ClickGraphBuilder::default();
        edges.iter().for_each(|(query, page, weight)| builder.add(query, page, *weight));
        builder.finish()
    }

    #[test]
    fn both_directions_have_the_same_edges() {
        let graph = graph(&[
            ("b", "y", 2.0),
            ("a", "x", 1.0),
            ("b", "x", 3.0),
            ("b", "y", 0.5),
            ("c", "z", f32::NAN),
        ]);
        let b = graph.queries.number("b").unwrap();
        let (x, y) = (graph.pages.number("x").unwrap(), graph.pages.number("y").unwrap());
        let mut pages: Vec<(u32, f32)> = graph.pages_of(b).collect();
        pages.sort_by_key(|(page, _)| *page);
        let mut expected = vec![(x, 3.0), (y, 2.5)];
        expected.sort_by_key(|(page, _)| *page);
        assert_eq!((pages, graph.query_weight(b), graph.page_weight(x)), (expected, 5.5, 4.0));
        assert_eq!(graph.queries_of(y).collect::<Vec<_>>(), [(b, 2.5)]);
        assert_eq!((graph.sizes().edges, graph.sizes().weight), (3, 6.5));
        assert_eq!(graph.queries_of(99).count() + graph.pages_of(99).count(), 0);
        assert_eq!(ClickGraphBuilder::default().finish().sizes(), ClickGraphSizes::default());
    }
}
