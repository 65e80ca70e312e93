//! The gain of clicks, measured with simulated users on a judged collection.
//!
//! Users of every second query read the results of the ranking without clicks from the top. They click a result, and are
//! satisfied with it, the more probably the higher its grade is (the dynamic Bayesian network of Chapelle & Zhang 2009 with
//! its usual "informational" probabilities, as in Hofmann, Schuth, Whiteson & de Rijke 2013, table 2). The other queries
//! have no clicks: they show whether clicks for some queries harm others.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use foldhash::fast::FixedState;
use pharos_core::{Config, PageUrl};
use pharos_learn::collection::Collection;
use pharos_learn::report::{Measure, evaluate};
use pharos_learn::run::Rankings;
use pharos_mining::clicks::ClickGraphBuilder;
use pharos_mining::clicks::days::MergedDays;
use pharos_mining::clicks::learnt::{LearntClicks, LearntRules};
use serde::Serialize;

use super::retrieval_evaluation::{RetrievalEvaluation, document_url};
use crate::QueryError;

/// Results that a user looks at.
const RESULTS: usize = 10;
/// Probability of a click, and of satisfaction after it, for a share of the best grade.
const CLICK: [f64; 2] = [0.2, 0.9];
const SATISFACTION: [f64; 2] = [0.05, 0.7];
/// Probability of looking at the next result.
const CONTINUE: f64 = 0.85;

/// Parameters of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClickSimulation {
    /// Number of users of each query with clicks.
    pub users: u32,
    pub seed: u64,
    pub measure: Measure,
}

/// Clicks that the ranking knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClickSignal {
    /// The clicks for the query itself.
    OwnClicks,
    /// The same clicks, made for queries with one word less: only the words that led to pages can help.
    ClickWords,
}

/// The mean of the measure for a group of queries without and with clicks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClickGain {
    pub signal: ClickSignal,
    /// `true` for queries with clicks.
    pub has_clicks: bool,
    pub queries: usize,
    pub before: f64,
    pub after: f64,
}

/// Measures the gain of each signal for queries with and without clicks.
///
/// # Errors
/// Fails if the index fails.
pub fn measure_click_gains(
    trial: &RetrievalEvaluation,
    collection: &Collection,
    config: &Config,
    simulation: &ClickSimulation,
) -> Result<Vec<ClickGain>, QueryError> {
    let before = trial.run(collection, config)?;
    let urls: HashMap<&str, PageUrl> = (0..)
        .zip(&collection.documents)
        .filter_map(|(nth, document)| Some((document.id.as_str(), document_url(nth, document)?)))
        .collect();
    let votes = simulate(collection, &before, simulation);
    let mut gains = Vec::new();
    for signal in [ClickSignal::OwnClicks, ClickSignal::ClickWords] {
        let after = trial.run_prepared(collection, config, |search| match signal {
            ClickSignal::OwnClicks => {
                for ((query, document), votes) in &votes {
                    let Some(url) = urls.get(document.as_str()) else { continue };
                    let text = RetrievalEvaluation::query_text(&collection.queries[*query]);
                    (0..*votes).for_each(|_| search.record_click(&text, url.id(), 1));
                }
            }
            ClickSignal::ClickWords => {
                let mut graph = ClickGraphBuilder::default();
                for ((query, document), votes) in &votes {
                    let text = RetrievalEvaluation::query_text(&collection.queries[*query]);
                    if let (Some(url), Some(variant)) = (urls.get(document.as_str()), shortened(&text)) {
                        graph.add(&variant, url.as_str(), *votes as f32);
                    }
                }
                let merged = MergedDays { graph: graph.finish(), ..MergedDays::default() };
                let learnt = LearntClicks::new(merged, LearntRules::from_config(config));
                search.set_learnt_clicks(Arc::new(learnt));
            }
        })?;
        let values = |rankings: &Rankings| evaluate(collection, rankings, 1).per_query;
        let (before, after) = (values(&before), values(&after));
        for has_clicks in [true, false] {
            let of_group: Vec<&str> = (0..)
                .zip(&collection.queries)
                .filter(|(nth, query)| (nth % 2 == 0) == has_clicks && before.contains_key(&query.id))
                .map(|(_, query)| query.id.as_str())
                .collect();
            let mean = |values: &BTreeMap<String, BTreeMap<Measure, f64>>| {
                let sum: f64 = of_group.iter().filter_map(|id| values[*id].get(&simulation.measure)).sum();
                sum / of_group.len().max(1) as f64
            };
            let (before, after) = (mean(&before), mean(&after));
            gains.push(ClickGain { signal, has_clicks, queries: of_group.len(), before, after });
        }
    }
    Ok(gains)
}

/// Returns the number of users who clicked a document for a query, by number of the query and id of the document.
fn simulate(
    collection: &Collection,
    rankings: &Rankings,
    simulation: &ClickSimulation,
) -> BTreeMap<(usize, String), u32> {
    let best = f64::from(collection.max_grade().max(1));
    let mut votes = BTreeMap::new();
    for (nth, query) in (0..).zip(&collection.queries).filter(|(nth, _)| nth % 2 == 0) {
        let shown = rankings.get(&query.id).map_or(&[][..], Vec::as_slice);
        for user in 0..simulation.users {
            for (rank, document) in shown.iter().take(RESULTS).enumerate() {
                let chance = |what: u8| {
                    let bits = FixedState::with_seed(simulation.seed).hash_one((nth, user, rank, what));
                    (bits >> 11) as f64 / (1_u64 << 53) as f64
                };
                let grade = f64::from(query.judged.get(document).copied().unwrap_or(0)) / best;
                let probability = |[low, high]: [f64; 2]| low + (high - low) * grade;
                if chance(0) < probability(CLICK) {
                    *votes.entry((nth, document.clone())).or_insert(0) += 1;
                    if chance(1) < probability(SATISFACTION) {
                        break;
                    }
                }
                if chance(2) >= CONTINUE {
                    break;
                }
            }
        }
    }
    votes
}

/// Returns a query without its last word, or `None` if it has only one.
fn shortened(query: &str) -> Option<String> {
    let tokens = pharos_text::Analyser::shared().tokens(query);
    let last = tokens.last().filter(|_| tokens.len() > 1)?;
    query.get(..last.start).map(|text| text.trim().to_string()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use pharos_learn::collection::{TestDocument, TestQuery};

    use super::*;
    use crate::testing::open_index;

    fn collection() -> Collection {
        let mut collection = Collection::default();
        for (nth, (topic, word)) in
            [("red", "lamp"), ("blue", "rope"), ("green", "tea")].into_iter().enumerate()
        {
            let mut query =
                TestQuery { id: nth.to_string(), text: format!("{topic} {word}"), ..TestQuery::default() };
            for place in 0..8_u32 {
                let id = format!("{nth}-{place}");
                query.judged.insert(id.clone(), if place == 5 { 3 } else { 0 });
                query.candidates.get_or_insert_default().push(id.clone());
                let title = format!("{topic} {word} of kind {place}");
                collection.documents.push(TestDocument { id, title, ..TestDocument::default() });
            }
            collection.queries.push(query);
        }
        collection
    }

    #[test]
    fn clicks_raise_their_queries_and_leave_others_alone() {
        let dir = tempfile::tempdir().unwrap();
        let collection = collection();
        let trial = RetrievalEvaluation::index(&collection, open_index(dir.path())).unwrap();
        let simulation = ClickSimulation { users: 30, seed: 1, measure: "nDCG@10".parse().unwrap() };
        let gains = measure_click_gains(&trial, &collection, &Config::default(), &simulation).unwrap();
        let groups: Vec<_> = gains.iter().map(|gain| (gain.signal, gain.has_clicks, gain.queries)).collect();
        let (own, words) = (ClickSignal::OwnClicks, ClickSignal::ClickWords);
        assert_eq!(groups, [(own, true, 2), (own, false, 1), (words, true, 2), (words, false, 1)]);
        for gain in &gains {
            match gain.has_clicks {
                true => assert!(gain.after > gain.before, "{gain:?}"),
                false => assert!(gain.after >= gain.before - 1e-9, "{gain:?}"),
            }
        }
    }

    #[test]
    fn a_query_is_shortened_by_a_word() {
        assert_eq!(shortened("green tea house").as_deref(), Some("green tea"));
        assert_eq!(shortened("北京 地图").as_deref(), Some("北京"));
        assert_eq!((shortened("tea"), shortened("")), (None, None));
    }
}
