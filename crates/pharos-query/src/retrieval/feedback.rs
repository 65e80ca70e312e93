//! Pseudo-relevance feedback: the frequent words of the best results count as words of a long query, with less weight
//! (RM3; Lavrenko and Croft, SIGIR 2001; Abdul-Jaleel et al., TREC 2004).
//!
//! The relevance model is P(w|R) ∝ idf(w) · Σ P(w|d) · P(d|Q) over the best pages d. The new word score of a page is
//! the mixture λ · query + (1 − λ) · model. Only the order of the results changes, so the model needs no second
//! retrieval. Short queries name what they want, and other words would lead away from it.

use std::collections::HashMap;

use pharos_core::config::RankModel;
use pharos_index::read::evidence::DocumentFrequencies;
use pharos_index::{Candidate, IndexError};
use pharos_text::analyser::stem::stem_term;
use pharos_text::analyser::stop_words::is_stop_word;

use super::retriever::{Retriever, ScoredCandidate};
use crate::language::intent::QueryKind;
use crate::rank::Ranker;
use crate::rank::bm25::WordStatistics;
use crate::rank::query_words::QueryWords;

/// Number of best pages that are taken as relevant.
const PAGES: usize = 8;
/// Number of words of the relevance model.
const WORDS: usize = 25;
/// Number of frequent words that these are chosen from.
const CANDIDATE_WORDS: usize = 300;
/// Share of the typed words in the mixture (λ).
const QUERY_SHARE: f64 = 0.65;
/// Length of the text of a page that is read.
const MAX_TEXT: usize = 16 << 10;

/// The words of a relevance model.
struct RelevanceModel {
    terms: Vec<String>,
    /// Share of each word times its inverse document frequency. The shares sum to 1.
    weights: Vec<f64>,
}

impl Retriever<'_> {
    /// Returns `true` if a query with these words gets feedback.
    pub(super) fn wants_feedback(&self, words: &QueryWords) -> bool {
        let least = self.query.feedback_words;
        least > 0 && words.required() >= least && self.rank.model == RankModel::Bm25
    }

    /// Computes the scores of the results again, with the words of the best ones, which are returned.
    pub(super) fn apply_feedback(
        &self,
        ranker: &Ranker<'_>,
        results: &mut [ScoredCandidate],
    ) -> Result<Vec<String>, IndexError> {
        let model = self.relevance_model(results)?;
        let candidates: Vec<Candidate> = results.iter().map(|scored| scored.candidate).collect();
        let evidence = self.view.evidence(&candidates, &model.terms)?;
        let mean_weight = ranker.query_words.mean_weight();
        for (scored, evidence) in results.iter_mut().zip(&evidence) {
            let occurrences = (0..model.terms.len()).map(|nth| ranker.saturated_occurrences(evidence, nth));
            let score: f64 =
                occurrences.zip(&model.weights).map(|(occurrences, weight)| occurrences * weight).sum();
            // The word part is s / (s + c), where c is the sum of the weights of the query words.
            let typed = scored.parts.words / (1.0 - scored.parts.words).max(f64::EPSILON);
            let mixed = QUERY_SHARE * typed + (1.0 - QUERY_SHARE) * score / mean_weight.max(f64::EPSILON);
            scored.parts.words = mixed / (1.0 + mixed);
            let weights = ranker.weights(QueryKind::Ordinary);
            scored.candidate.score = scored.parts.score(weights, self.rank.combine) as f32;
        }
        Ok(model.terms)
    }

    /// Returns the relevance model of the best results.
    fn relevance_model(&self, results: &[ScoredCandidate]) -> Result<RelevanceModel, IndexError> {
        let best = &results[..results.len().min(PAGES)];
        let candidates: Vec<Candidate> = best.iter().map(|scored| scored.candidate).collect();
        let total: f64 = candidates.iter().map(|candidate| f64::from(candidate.score)).sum();
        let mut shares: HashMap<String, f64> = HashMap::new();
        for (candidate, text) in candidates.iter().zip(self.view.texts(&candidates)?) {
            let words = self.content_words(&text.body[..text.body.floor_char_boundary(MAX_TEXT)]);
            let share = f64::from(candidate.score) / total.max(f64::EPSILON) / words.len().max(1) as f64;
            words.into_iter().for_each(|word| *shares.entry(word).or_default() += share);
        }
        let frequent = largest(shares.into_iter().collect(), CANDIDATE_WORDS);
        let terms: Vec<String> = frequent.iter().map(|(term, _)| term.clone()).collect();
        let DocumentFrequencies { pages, with_term, .. } = self.view.frequencies(&terms)?;
        let rarities = with_term.iter().map(|n| WordStatistics::new(pages as f64, *n as f64).weight());
        let rarity: HashMap<&String, f64> = terms.iter().zip(rarities).collect();
        let rare = |term: &String| rarity.get(term).copied().unwrap_or_default();
        let weighted = frequent.into_iter().map(|(term, share)| {
            let weight = share * rare(&term);
            (term, weight)
        });
        let chosen = largest(weighted.collect(), WORDS);
        let sum: f64 = chosen.iter().map(|(_, weight)| weight).sum();
        let weights = chosen.iter().map(|(term, weight)| weight / sum.max(f64::EPSILON) * rare(term));
        Ok(RelevanceModel {
            weights: weights.collect(),
            terms: chosen.iter().map(|(term, _)| term.clone()).collect(),
        })
    }

    /// Returns the content words of a text as index terms, stemmed where the index has stems.
    fn content_words(&self, text: &str) -> Vec<String> {
        let words = self.analyser.tokens(text).into_iter().map(|token| token.text);
        words
            .filter(|word| !is_stop_word(word) && word.chars().nth(1).is_some())
            .map(|word| stem_term(&word).unwrap_or(word))
            .collect()
    }
}

/// Returns the words with the largest values, largest first.
fn largest(mut words: Vec<(String, f64)>, number: usize) -> Vec<(String, f64)> {
    words.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    words.truncate(number);
    words
}
