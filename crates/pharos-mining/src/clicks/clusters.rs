//! Clusters of queries: by walks on the click graph, and by the words of the pages clicked for them
//! (Baeza-Yates, Hurtado & Mendoza 2004; Craswell & Szummer 2007; 《走进搜索引擎》§6.4.6).
//!
//! One pass over the queries, the heaviest first: a query joins the first cluster whose leader is close enough, or leads
//! a new one. For a rare query the preferred pages of its cluster supplement its own clicks.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::ClickGraph;
use super::walk::{WalkRules, walk_from_query};

/// The measure of closeness of two queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterBy {
    /// The probability that a walk from the query ends at the leader, relative to that of the leader returning to itself.
    /// It does not depend on how often the query was asked.
    Walk,
    /// The cosine of the words of the queries that led to the same pages.
    Content,
}

/// A cluster of queries.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryCluster {
    /// The heaviest query.
    pub leader: u32,
    /// All queries, the leader first.
    pub members: Vec<u32>,
    /// Sum of the weights of all queries.
    pub weight: f64,
}

/// Parameters of clustering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterRules {
    pub by: ClusterBy,
    /// Least closeness to the leader.
    pub threshold: f64,
    pub walk: WalkRules,
}

/// Divides the queries of a graph into clusters, the heaviest first.
pub fn cluster_queries(graph: &ClickGraph, rules: &ClusterRules) -> Vec<QueryCluster> {
    let mut order: Vec<u32> = (0..graph.queries.len() as u32).collect();
    order.sort_by(|a, b| graph.query_weight(*b).total_cmp(&graph.query_weight(*a)).then(a.cmp(b)));
    let mut is_member = vec![false; order.len()];
    let vectors = (rules.by == ClusterBy::Content).then(|| ContentVectors::new(graph));
    let mut clusters = Vec::new();
    for leader in order {
        if is_member[leader as usize] {
            continue;
        }
        is_member[leader as usize] = true;
        let close = match &vectors {
            None => close_by_walk(graph, leader, rules),
            Some(vectors) => vectors.close_to(graph, leader, rules.threshold),
        };
        let mut members = vec![leader];
        for query in close {
            if !std::mem::replace(&mut is_member[query as usize], true) {
                members.push(query);
            }
        }
        let weight = members.iter().map(|query| f64::from(graph.query_weight(*query))).sum();
        clusters.push(QueryCluster { leader, members, weight });
    }
    clusters.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.leader.cmp(&b.leader)));
    clusters
}

fn close_by_walk(graph: &ClickGraph, leader: u32, rules: &ClusterRules) -> Vec<u32> {
    let steps = rules.walk.steps.next_multiple_of(2).max(2);
    let walk = WalkRules { steps, is_backward: true, ..rules.walk };
    let walked = walk_from_query(graph, leader, &walk);
    let returned = walked.query(leader).max(f64::MIN_POSITIVE);
    let near = walked.top_queries(usize::MAX).into_iter();
    near.filter(|(query, mass)| *query != leader && mass / returned >= rules.threshold)
        .map(|(query, _)| query)
        .collect()
}

/// Queries as vectors over the queries that share their pages, with unit length.
struct ContentVectors(Vec<HashMap<u64, f64, RandomState>>);

impl ContentVectors {
    fn new(graph: &ClickGraph) -> Self {
        let queries = graph.queries.len() as u32;
        let words: Vec<Box<[u64]>> =
            (0..queries).map(|query| super::click_words::query_words(graph.queries.text(query))).collect();
        let vector = |query: u32| {
            let mut vector: HashMap<u64, f64, RandomState> = HashMap::default();
            for (page, weight) in graph.pages_of(query) {
                let total = f64::from(graph.page_weight(page)).max(f64::MIN_POSITIVE);
                // A page with very many queries adds the same words to each of them.
                for (other, other_weight) in graph.queries_of(page).take(1000) {
                    let share = f64::from(weight) * f64::from(other_weight) / total;
                    words[other as usize].iter().for_each(|word| *vector.entry(*word).or_default() += share);
                }
            }
            let length =
                vector.values().map(|value| value * value).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            vector.values_mut().for_each(|value| *value /= length);
            vector
        };
        Self((0..queries).map(vector).collect())
    }

    /// Returns the queries with common pages whose vectors are close to that of the leader.
    fn close_to(&self, graph: &ClickGraph, leader: u32, threshold: f64) -> Vec<u32> {
        let own = &self.0[leader as usize];
        let mut near: Vec<u32> =
            graph.pages_of(leader).flat_map(|(page, _)| graph.queries_of(page).map(|edge| edge.0)).collect();
        near.sort_unstable();
        near.dedup();
        near.retain(|query| {
            let other = &self.0[*query as usize];
            let cosine: f64 = own.iter().filter_map(|(word, value)| Some(value * other.get(word)?)).sum();
            *query != leader && cosine >= threshold
        });
        near
    }
}

/// Returns the preferred pages of a cluster: the most clicked ones with their shares.
pub fn preferred_pages(graph: &ClickGraph, cluster: &QueryCluster, n: usize) -> Vec<(u32, f64)> {
    let mut weights: HashMap<u32, f64> = HashMap::new();
    for (page, weight) in cluster.members.iter().flat_map(|query| graph.pages_of(*query)) {
        *weights.entry(page).or_default() += f64::from(weight);
    }
    let total = cluster.weight.max(f64::MIN_POSITIVE);
    let mut pages: Vec<(u32, f64)> =
        weights.into_iter().map(|(page, weight)| (page, weight / total)).collect();
    pages.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    pages.truncate(n);
    pages
}

/// Returns the pages of a rare query: its own clicks mixed with the preferred pages of its cluster. `mix` is the share of
/// the cluster for a query without clicks; it falls as 1/(1 + weight).
pub fn expand_rare(
    graph: &ClickGraph,
    cluster: &QueryCluster,
    query: u32,
    mix: f64,
    n: usize,
) -> Vec<(u32, f64)> {
    let own = f64::from(graph.query_weight(query));
    let of_cluster = mix.clamp(0.0, 1.0) / (1.0 + own);
    let mut pages: HashMap<u32, f64> = HashMap::new();
    for (page, weight) in graph.pages_of(query) {
        *pages.entry(page).or_default() +=
            (1.0 - of_cluster) * f64::from(weight) / own.max(f64::MIN_POSITIVE);
    }
    for (page, share) in preferred_pages(graph, cluster, n) {
        *pages.entry(page).or_default() += of_cluster * share;
    }
    let mut pages: Vec<(u32, f64)> = pages.into_iter().collect();
    pages.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    pages.truncate(n);
    pages
}

#[cfg(test)]
mod tests {
    use super::super::click_graph::tests::graph;
    use super::*;

    fn clustered(by: ClusterBy) -> Vec<Vec<String>> {
        let graph = graph(&[
            ("train z50", "timetable", 5.0),
            ("z50", "timetable", 3.0),
            ("z50 train", "timetable", 1.0),
            ("z50", "fares", 2.0),
            ("camera", "shop", 4.0),
        ]);
        let rules = ClusterRules { by, threshold: 0.2, walk: WalkRules { steps: 2, ..WalkRules::default() } };
        let clusters = cluster_queries(&graph, &rules);
        clusters
            .iter()
            .map(|cluster| {
                cluster.members.iter().map(|query| graph.queries.text(*query).to_string()).collect()
            })
            .collect()
    }

    #[test]
    fn queries_with_common_pages_form_a_cluster() {
        for by in [ClusterBy::Walk, ClusterBy::Content] {
            let clusters = clustered(by);
            assert_eq!(clusters.len(), 2, "{by:?}: {clusters:?}");
            assert_eq!((clusters[0].len(), clusters[1].join(" ")), (3, "camera".into()), "{by:?}");
        }
        assert!(cluster_queries(&ClickGraph::default(), &rules()).is_empty());
    }

    fn rules() -> ClusterRules {
        ClusterRules { by: ClusterBy::Walk, threshold: 0.1, walk: WalkRules::default() }
    }

    #[test]
    fn a_rare_query_gets_the_preferred_pages_of_its_cluster() {
        let graph = graph(&[("z50", "train", 9.0), ("z50 times", "train", 1.0), ("z50", "times", 10.0)]);
        let clusters = cluster_queries(&graph, &rules());
        assert_eq!(clusters.len(), 1);
        let rare = graph.queries.number("z50 times").unwrap();
        let pages = expand_rare(&graph, &clusters[0], rare, 0.5, 10);
        let of = |name: &str| pages.iter().find(|(page, _)| graph.pages.text(*page) == name).unwrap().1;
        // Own clicks 3/4, cluster 1/4 with half of its clicks on each page.
        assert!((of("train") - 0.875).abs() < 1e-9 && (of("times") - 0.125).abs() < 1e-9);
        assert_eq!(expand_rare(&graph, &clusters[0], rare, 0.0, 10).len(), 2);
    }
}
