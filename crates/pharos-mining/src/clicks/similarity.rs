//! Similarity of queries and of pages by common clicks (Xue et al. 2004; Cao et al. 2008; 《走进搜索引擎》§6.4.4).

use std::collections::HashMap;

use super::ClickGraph;

/// Maximum number of neighbours of a node that candidates are taken from.
const MAX_NEIGHBOURS: usize = 1_000;

/// A measure of similarity between two nodes of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickSimilarity {
    /// Common neighbours over all neighbours: S = n(a, b) / (n(a) + n(b) − n(a, b)).
    Sets,
    /// The same with weights: the sum of the smaller weights over the sum of the greater ones.
    Weighted,
    /// The cosine of the weights.
    Cosine,
}

/// One side of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Queries,
    Pages,
}

fn edges(graph: &ClickGraph, side: Side, node: u32) -> Vec<(u32, f32)> {
    let mut edges: Vec<(u32, f32)> = match side {
        Side::Queries => graph.pages_of(node).collect(),
        Side::Pages => graph.queries_of(node).collect(),
    };
    edges.sort_unstable_by_key(|(to, _)| *to);
    edges
}

/// Returns the similarity of two nodes of a side, between 0 and 1.
pub fn similarity(graph: &ClickGraph, side: Side, a: u32, b: u32, measure: ClickSimilarity) -> f64 {
    similarity_of(&edges(graph, side, a), &edges(graph, side, b), measure)
}

fn similarity_of(a: &[(u32, f32)], b: &[(u32, f32)], measure: ClickSimilarity) -> f64 {
    let (mut both, mut common, mut dot) = (0_usize, 0.0_f64, 0.0_f64);
    let mut others = b.iter().peekable();
    for (to, weight) in a {
        while others.next_if(|other| other.0 < *to).is_some() {}
        if let Some((_, other)) = others.next_if(|other| other.0 == *to) {
            both += 1;
            common += f64::from(weight.min(*other));
            dot += f64::from(*weight) * f64::from(*other);
        }
    }
    let sum = |edges: &[(u32, f32)]| edges.iter().map(|(_, weight)| f64::from(*weight)).sum::<f64>();
    let length =
        |edges: &[(u32, f32)]| edges.iter().map(|(_, weight)| f64::from(*weight).powi(2)).sum::<f64>().sqrt();
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    match measure {
        ClickSimilarity::Sets => ratio(both as f64, (a.len() + b.len() - both) as f64),
        ClickSimilarity::Weighted => ratio(common, sum(a) + sum(b) - common),
        ClickSimilarity::Cosine => ratio(dot, length(a) * length(b)),
    }
}

/// Returns the set form of the similarity for any number of nodes: neighbours of all over neighbours of any.
pub fn set_similarity(graph: &ClickGraph, side: Side, nodes: &[u32]) -> f64 {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for node in nodes {
        edges(graph, side, *node).into_iter().for_each(|(to, _)| *counts.entry(to).or_default() += 1);
    }
    let all = counts.values().filter(|count| **count == nodes.len()).count();
    if counts.is_empty() { 0.0 } else { all as f64 / counts.len() as f64 }
}

/// Returns the most similar nodes of the same side.
pub fn most_similar(
    graph: &ClickGraph,
    side: Side,
    node: u32,
    measure: ClickSimilarity,
    n: usize,
) -> Vec<(u32, f64)> {
    let own = edges(graph, side, node);
    let mut candidates = Vec::new();
    for (neighbour, _) in own.iter().take(MAX_NEIGHBOURS) {
        match side {
            Side::Queries => {
                candidates.extend(graph.queries_of(*neighbour).take(MAX_NEIGHBOURS).map(|edge| edge.0))
            }
            Side::Pages => {
                candidates.extend(graph.pages_of(*neighbour).take(MAX_NEIGHBOURS).map(|edge| edge.0))
            }
        }
    }
    candidates.sort_unstable();
    candidates.dedup();
    let mut scored: Vec<(u32, f64)> = candidates
        .into_iter()
        .filter(|other| *other != node)
        .map(|other| (other, similarity_of(&own, &edges(graph, side, other), measure)))
        .collect();
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(n);
    scored
}

#[cfg(test)]
mod tests {
    use super::super::click_graph::tests::{example, graph};
    use super::*;

    #[test]
    fn pages_clicked_for_two_queries_and_one_are_half_alike() {
        let graph = example();
        let page = |name| graph.pages.number(name).unwrap();
        // d2 was clicked for two queries, d3 for one, both for one: 1 / (2 + 1 − 1).
        let measured = similarity(&graph, Side::Pages, page("d2"), page("d3"), ClickSimilarity::Sets);
        assert_eq!(measured, 0.5);
        assert_eq!(set_similarity(&graph, Side::Pages, &[page("d2"), page("d3")]), 0.5);
        assert_eq!(set_similarity(&graph, Side::Pages, &[page("d1"), page("d2"), page("d3")]), 0.5);
        assert_eq!(set_similarity(&graph, Side::Pages, &[page("d1"), page("d4")]), 0.0);
        assert_eq!(set_similarity(&graph, Side::Pages, &[]), 0.0);
    }

    #[test]
    fn queries_share_results_with_weights() {
        let graph = graph(&[("a", "x", 3.0), ("a", "y", 4.0), ("b", "x", 1.0), ("c", "z", 1.0)]);
        let query = |name| graph.queries.number(name).unwrap();
        let of = |measure| similarity(&graph, Side::Queries, query("a"), query("b"), measure);
        assert_eq!((of(ClickSimilarity::Sets), of(ClickSimilarity::Cosine)), (0.5, 0.6));
        assert!((of(ClickSimilarity::Weighted) - 1.0 / 7.0).abs() < 1e-12);
        let similar = most_similar(&graph, Side::Queries, query("a"), ClickSimilarity::Cosine, 5);
        assert_eq!(similar, [(query("b"), 0.6)]);
        assert_eq!(most_similar(&graph, Side::Queries, 99, ClickSimilarity::Sets, 5), []);
    }
}
