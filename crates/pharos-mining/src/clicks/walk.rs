//! Random walks on the click graph (随机游走): which pages and queries a query leads to.
//!
//! From a query the walk goes to a clicked page, from a page to a query that led to it, each with a probability
//! proportional to the clicks (Gao et al. 2009; 《走进搜索引擎》§6.4.6). With the self-transition probability s it does not move
//! (Craswell & Szummer 2007, §3). The forward walk asks where a walk from a node ends; the backward walk asks where walks
//! that end at a node began, all beginnings being equally probable. Nodes without a path are never reached.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::ClickGraph;

/// Probability below which a node is dropped from the walk.
const MIN_MASS: f64 = 1e-6;
/// Maximum number of nodes of each side that a walk continues from; the most probable are kept.
const MAX_NODES: usize = 5_000;

/// Direction and length of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkRules {
    /// Number of transitions.
    pub steps: u32,
    /// Probability of a transition to the same node (s).
    pub stay: f64,
    /// Walks backward: returns where walks that end here began.
    pub is_backward: bool,
    /// Ends the walk when the distribution changes by less than this in one transition.
    pub tolerance: f64,
}

impl Default for WalkRules {
    fn default() -> Self {
        Self { steps: 3, stay: 0.0, is_backward: false, tolerance: 1e-9 }
    }
}

type Distribution = HashMap<u32, f64, RandomState>;

/// Probabilities of queries and pages after a walk.
#[derive(Clone, Debug, Default)]
pub struct WalkResult {
    queries: Distribution,
    pages: Distribution,
}

impl WalkResult {
    /// Returns the probability of a query.
    pub fn query(&self, query: u32) -> f64 {
        self.queries.get(&query).copied().unwrap_or(0.0)
    }

    /// Returns the probability of a page.
    pub fn page(&self, page: u32) -> f64 {
        self.pages.get(&page).copied().unwrap_or(0.0)
    }

    /// Returns the most probable queries.
    pub fn top_queries(&self, n: usize) -> Vec<(u32, f64)> {
        top(&self.queries, n)
    }

    /// Returns the most probable pages.
    pub fn top_pages(&self, n: usize) -> Vec<(u32, f64)> {
        top(&self.pages, n)
    }
}

fn top(masses: &Distribution, n: usize) -> Vec<(u32, f64)> {
    let mut sorted: Vec<(u32, f64)> = masses.iter().map(|(node, mass)| (*node, *mass)).collect();
    let order = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if n < sorted.len() {
        sorted.select_nth_unstable_by(n, order);
        sorted.truncate(n);
    }
    sorted.sort_unstable_by(order);
    sorted
}

/// Walks from a query.
pub fn walk_from_query(graph: &ClickGraph, query: u32, rules: &WalkRules) -> WalkResult {
    let mut start = WalkResult::default();
    if graph.query_weight(query) > 0.0 {
        start.queries.insert(query, 1.0);
    }
    walk(graph, start, rules)
}

/// Walks from a page.
pub fn walk_from_page(graph: &ClickGraph, page: u32, rules: &WalkRules) -> WalkResult {
    let mut start = WalkResult::default();
    if graph.page_weight(page) > 0.0 {
        start.pages.insert(page, 1.0);
    }
    walk(graph, start, rules)
}

fn walk(graph: &ClickGraph, start: WalkResult, rules: &WalkRules) -> WalkResult {
    let mut now = start;
    for _ in 0..rules.steps {
        let next = transition(graph, &now, rules);
        let change = distance(&now.queries, &next.queries) + distance(&now.pages, &next.pages);
        now = next;
        if change < rules.tolerance {
            break;
        }
    }
    now
}

fn distance(a: &Distribution, b: &Distribution) -> f64 {
    let changed: f64 = b.iter().map(|(node, mass)| (mass - a.get(node).unwrap_or(&0.0)).abs()).sum();
    changed + a.iter().filter(|(node, _)| !b.contains_key(node)).map(|(_, mass)| mass).sum::<f64>()
}

fn transition(graph: &ClickGraph, now: &WalkResult, rules: &WalkRules) -> WalkResult {
    let stay = rules.stay.clamp(0.0, 1.0);
    let kept = |masses: &Distribution| match stay > 0.0 {
        true => masses.iter().map(|(node, mass)| (*node, stay * mass)).collect(),
        false => Distribution::default(),
    };
    let mut next = WalkResult { queries: kept(&now.queries), pages: kept(&now.pages) };
    for (query, mass) in top(&now.queries, MAX_NODES) {
        for (page, weight) in graph.pages_of(query) {
            let base = if rules.is_backward { graph.page_weight(page) } else { graph.query_weight(query) };
            *next.pages.entry(page).or_default() += (1.0 - stay) * mass * f64::from(weight) / f64::from(base);
        }
    }
    for (page, mass) in top(&now.pages, MAX_NODES) {
        for (query, weight) in graph.queries_of(page) {
            let base = if rules.is_backward { graph.query_weight(query) } else { graph.page_weight(page) };
            *next.queries.entry(query).or_default() +=
                (1.0 - stay) * mass * f64::from(weight) / f64::from(base);
        }
    }
    next.queries.retain(|_, mass| *mass >= MIN_MASS);
    next.pages.retain(|_, mass| *mass >= MIN_MASS);
    if rules.is_backward {
        // P(start | end): all starts were equally probable.
        let total: f64 = next.queries.values().chain(next.pages.values()).sum();
        next.queries
            .values_mut()
            .chain(next.pages.values_mut())
            .for_each(|mass| *mass /= total.max(f64::MIN_POSITIVE));
    }
    next
}

/// Returns the queries related to one by a walk to pages and back, without itself.
pub fn related_queries(graph: &ClickGraph, query: u32, rules: &WalkRules, n: usize) -> Vec<(u32, f64)> {
    // Queries are reached after an even number of transitions.
    let rules = WalkRules { steps: rules.steps.next_multiple_of(2).max(2), ..*rules };
    let walked = walk_from_query(graph, query, &rules);
    let mut related = walked.top_queries(n.saturating_add(1));
    related.retain(|(other, _)| *other != query);
    related.truncate(n);
    related
}

#[cfg(test)]
mod tests {
    use super::super::click_graph::tests::{example, graph};
    use super::*;

    fn steps(steps: u32) -> WalkRules {
        WalkRules { steps, ..WalkRules::default() }
    }

    #[test]
    fn a_sixth_reaches_the_third_page_after_three_transitions() {
        let graph = example();
        let number = |name| graph.pages.number(name).unwrap();
        let (q1, q2) = (graph.queries.number("q1").unwrap(), graph.queries.number("q2").unwrap());
        let first = walk_from_query(&graph, q1, &steps(1));
        assert_eq!(["d1", "d2", "d3"].map(|page| first.page(number(page))), [0.5, 0.5, 0.0]);
        assert!((walk_from_query(&graph, q1, &steps(2)).query(q2) - 0.5).abs() < 1e-12);
        let third = walk_from_query(&graph, q1, &steps(3));
        assert!((third.page(number("d3")) - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_walk_relates_a_page_that_was_never_clicked_for_the_query() {
        let graph = example();
        let q1 = graph.queries.number("q1").unwrap();
        let d3 = graph.pages.number("d3").unwrap();
        assert!(graph.pages_of(q1).all(|(page, _)| page != d3));
        assert!(walk_from_query(&graph, q1, &steps(3)).page(d3) > 0.0);
        let related = related_queries(&graph, q1, &steps(2), 5);
        assert_eq!(related.iter().map(|(query, _)| graph.queries.text(*query)).collect::<Vec<_>>(), ["q2"]);
    }

    #[test]
    fn nodes_without_a_path_get_no_mass_ever() {
        let graph = example();
        let q1 = graph.queries.number("q1").unwrap();
        let (q3, d4) = (graph.queries.number("q3").unwrap(), graph.pages.number("d4").unwrap());
        for stay in [0.0, 0.3] {
            let walked = walk_from_query(&graph, q1, &WalkRules { steps: 100, stay, ..WalkRules::default() });
            assert_eq!((walked.query(q3), walked.page(d4)), (0.0, 0.0));
        }
        assert!(walk_from_query(&graph, 99, &steps(3)).top_pages(1).is_empty());
    }

    #[test]
    fn mass_is_preserved_and_the_self_transition_slows_the_walk() {
        let graph = example();
        let q1 = graph.queries.number("q1").unwrap();
        let rules = WalkRules { steps: 9, stay: 0.9, ..WalkRules::default() };
        let slow = walk_from_query(&graph, q1, &rules);
        let total: f64 = slow.queries.values().chain(slow.pages.values()).sum();
        assert!((total - 1.0).abs() < 1e-6);
        assert!(
            (walk_from_query(&graph, q1, &WalkRules { steps: 1, ..rules }).query(q1) - 0.9).abs() < 1e-12
        );
    }

    #[test]
    fn a_backward_walk_finds_the_query_that_leads_only_here() {
        // Walks from `rare` always end at x, walks from `common` in one of four cases.
        let graph = graph(&[("rare", "x", 1.0), ("common", "x", 1.0), ("common", "y", 3.0)]);
        let x = graph.pages.number("x").unwrap();
        let rules = WalkRules { steps: 1, is_backward: true, ..WalkRules::default() };
        let began = walk_from_page(&graph, x, &rules);
        let of = |name| began.query(graph.queries.number(name).unwrap());
        assert!((of("rare") - 0.8).abs() < 1e-9 && (of("common") - 0.2).abs() < 1e-9);
    }
}
