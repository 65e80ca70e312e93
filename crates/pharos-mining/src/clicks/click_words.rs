//! The click pseudo-field: the words of the queries that led to a page, as if users had annotated it (Xue et al. 2004;
//! 《走进搜索引擎》§6.4.6).
//!
//! The relevance of page d for query q is the sum of the shares of the words of q in the queries that led to d:
//!
//! ```text
//! relevance(q, d) = Σ_{w ∈ q} tf(w, Q_d) / Σ_v tf(v, Q_d) · coverage · n_d / (n_d + 10), between 0 and 1
//! ```
//!
//! tf counts a word by the weights of the edges, discounted for pages that few queries led to. n_d is the sum of the
//! weights: pages that the same queries led to differ only in it.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::{FixedState, RandomState};
use pharos_core::{PageId, PageUrl};
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;

use super::ClickGraph;
use super::discounting::Discounts;

/// Words stored for a page; the heaviest are kept.
const MAX_WORDS: usize = 64;
/// Sum of the weights of a page at which its words count half.
const HALF_EVIDENCE: f64 = 10.0;
/// Words of a query that are used.
const MAX_QUERY_WORDS: usize = 16;

/// Words of the queries that led to pages.
#[derive(Debug, Default)]
pub struct ClickWords {
    /// Words of a page as hashes, sorted, with their shares.
    pages: HashMap<PageId, Box<[(u64, f32)]>, RandomState>,
}

impl ClickWords {
    /// Collects the words of all pages of a graph. The words of pages with fewer than `cutoff` queries are discounted.
    pub fn build(graph: &ClickGraph, cutoff: u64) -> Self {
        let queries = graph.queries.len() as u32;
        let words: Vec<Box<[u64]>> =
            (0..queries).map(|query| query_words(graph.queries.text(query))).collect();
        let pages = graph.pages.len() as u32;
        let degrees = (0..pages).map(|page| graph.queries_of(page).count() as u64);
        let discounts = Discounts::estimate(degrees, cutoff);
        let mut field = Self::default();
        for page in 0..pages {
            let Ok(url) = PageUrl::parse(graph.pages.text(page)) else { continue };
            let mut counts: HashMap<u64, f64, RandomState> = HashMap::default();
            let mut degree = 0;
            for (query, weight) in graph.queries_of(page) {
                degree += 1;
                words[query as usize]
                    .iter()
                    .for_each(|word| *counts.entry(*word).or_default() += f64::from(weight));
            }
            let total: f64 = counts.values().sum();
            if total <= 0.0 {
                continue;
            }
            // Few queries and few clicks say little about a page.
            let weight = f64::from(graph.page_weight(page));
            let reliability = (discounts.discounted(degree) / degree.max(1) as f64).min(1.0) * weight
                / (weight + HALF_EVIDENCE);
            let mut counts: Vec<(u64, f32)> = counts
                .into_iter()
                .map(|(word, count)| (word, (reliability * count / total) as f32))
                .collect();
            counts.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            counts.truncate(MAX_WORDS);
            counts.sort_unstable_by_key(|(word, _)| *word);
            field.pages.insert(url.id(), counts.into_boxed_slice());
        }
        field
    }

    /// Returns the number of pages with words.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns `true` if no page has words.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the relevance of a page for the words of a query, between 0 and 1. A page whose words contain only a part of
    /// the query gets the square of that part.
    pub fn relevance(&self, words: &[u64], page: PageId) -> f64 {
        let Some(field) = self.pages.get(&page).filter(|_| !words.is_empty()) else { return 0.0 };
        let (mut share, mut found) = (0.0, 0_usize);
        for word in words {
            if let Ok(place) = field.binary_search_by_key(word, |(word, _)| *word) {
                share += f64::from(field[place].1);
                found += 1;
            }
        }
        let coverage = found as f64 / words.len() as f64;
        (share * coverage * coverage).min(1.0)
    }
}

/// Returns the distinct words of a query without stop words, hashed and sorted.
pub fn query_words(query: &str) -> Box<[u64]> {
    let mut words = Vec::new();
    Analyser::shared().for_each_token(query, |word, _, _, _| {
        if words.len() < MAX_QUERY_WORDS && !is_stop_word(word) {
            words.push(FixedState::default().hash_one(word));
        }
    });
    words.sort_unstable();
    words.dedup();
    words.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::super::click_graph::tests::graph;
    use super::*;

    #[test]
    fn words_of_queries_annotate_the_clicked_page() {
        let (first, second) = ("http://a.example/1", "http://a.example/2");
        let graph = graph(&[
            ("green tea", first, 3.0),
            ("tea house", first, 1.0),
            ("tea house", second, 1.0),
            ("tea", "not a URL", 1.0),
        ]);
        let field = ClickWords::build(&graph, 0);
        let relevance = |query: &str, page: &str| {
            field.relevance(&query_words(query), PageUrl::parse(page).unwrap().id())
        };
        let is_near = |value: f64, expected: f64| (value - expected).abs() < 1e-6;
        // tea 4, green 3, house 1 of 8; a weight of 4.
        let evidence = 4.0 / 14.0;
        assert!(is_near(relevance("tea", first), 0.5 * evidence));
        assert!(is_near(relevance("tea", second), 0.5 / 11.0));
        assert!(is_near(relevance("green tea", first), 7.0 / 8.0 * evidence));
        // Half of the query: tea 4/8 · (1/2)².
        assert!(is_near(relevance("tea cup", first), 0.125 * evidence));
        assert_eq!((relevance("coffee", first), relevance("", first)), (0.0, 0.0));
        assert_eq!(relevance("tea", "http://a.example/3"), 0.0);
        assert_eq!((field.len(), ClickWords::default().is_empty()), (2, true));
    }
}
