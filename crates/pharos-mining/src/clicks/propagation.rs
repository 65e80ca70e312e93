//! Propagation of class labels from a few pages to queries and other pages (Fuxman et al. 2008; 《走进搜索引擎》§6.4.3).
//!
//! A walk from a query is absorbed by the labelled pages, and in every step with a small probability by a null class, so
//! that labels fade with distance. The probability of ending at pages of a class is the label of the query.

use super::ClickGraph;

/// Parameters of the propagation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PropagationRules {
    /// Probability of the null class in each step (α).
    pub fading: f64,
    pub max_rounds: u32,
    /// Ends when no probability changes by more than this.
    pub tolerance: f64,
}

impl Default for PropagationRules {
    fn default() -> Self {
        Self { fading: 0.001, max_rounds: 100, tolerance: 1e-4 }
    }
}

/// Probabilities of a class for all queries and pages.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassLabels {
    pub queries: Vec<f64>,
    pub pages: Vec<f64>,
}

/// Propagates one class from the pages labelled with it; `others` are pages labelled with another class.
pub fn propagate(
    graph: &ClickGraph,
    labelled: &[u32],
    others: &[u32],
    rules: &PropagationRules,
) -> ClassLabels {
    let sizes = (graph.queries.len(), graph.pages.len());
    let mut labels = ClassLabels { queries: vec![0.0; sizes.0], pages: vec![0.0; sizes.1] };
    let mut is_fixed = vec![false; sizes.1];
    for (pages, value) in [(others, 0.0), (labelled, 1.0)] {
        for page in pages.iter().filter(|page| (**page as usize) < sizes.1) {
            labels.pages[*page as usize] = value;
            is_fixed[*page as usize] = true;
        }
    }
    let keep = 1.0 - rules.fading.clamp(0.0, 1.0);
    for _ in 0..rules.max_rounds {
        let mut change = 0.0_f64;
        for query in 0..sizes.0 as u32 {
            let total = f64::from(graph.query_weight(query)).max(f64::MIN_POSITIVE);
            let mean: f64 =
                graph.pages_of(query).map(|(page, w)| f64::from(w) * labels.pages[page as usize]).sum();
            let value = keep * mean / total;
            change = change.max((value - labels.queries[query as usize]).abs());
            labels.queries[query as usize] = value;
        }
        for page in (0..sizes.1 as u32).filter(|page| !is_fixed[*page as usize]) {
            let total = f64::from(graph.page_weight(page)).max(f64::MIN_POSITIVE);
            let mean: f64 =
                graph.queries_of(page).map(|(query, w)| f64::from(w) * labels.queries[query as usize]).sum();
            labels.pages[page as usize] = keep * mean / total;
        }
        if change < rules.tolerance {
            break;
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::super::click_graph::tests::example;
    use super::*;

    #[test]
    fn a_label_reaches_connected_nodes_and_fades() {
        let graph = example();
        let page = |name| graph.pages.number(name).unwrap();
        let rules = PropagationRules { fading: 0.1, ..PropagationRules::default() };
        let labels = propagate(&graph, &[page("d1")], &[], &rules);
        let of = |name: &str| labels.queries[graph.queries.number(name).unwrap() as usize];
        assert!(of("q1") > of("q2") && of("q2") > 0.3 && of("q1") < 1.0, "{labels:?}");
        assert_eq!((of("q3"), labels.pages[page("d1") as usize]), (0.0, 1.0));
        let contested = propagate(&graph, &[page("d1")], &[page("d2"), page("d3")], &rules);
        assert!((contested.queries[graph.queries.number("q1").unwrap() as usize] - 0.45).abs() < 1e-3);
        assert!(propagate(&graph, &[99], &[], &rules).queries.iter().all(|value| *value == 0.0));
    }
}
