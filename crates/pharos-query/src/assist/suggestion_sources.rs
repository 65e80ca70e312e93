//! Sources of query suggestions (查询词提示), and of the words and phrases for corrections.
//!
//! Before there are logs, titles, anchors and words of the index are used. Past queries are added and weigh more.
//! Rare queries must not be disclosed: the caller passes in only queries that are frequent enough.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use pharos_core::config::SuggestConfig;
use pharos_index::phrase_index::{PhraseIndexes, PhraseIndexesBuilder};
use pharos_index::{GenerationScope, IndexView};
use pharos_text::normalise;
use pharos_text::phrase_index::{Phrase, PhraseIndex, PhraseIndexBuilder};
use serde::Serialize;
use utoipa::ToSchema;

use crate::QueryError;
use crate::assist::correction::Speller;
use crate::assist::suggestion_filter;

/// Weights of a past query and of a single word, relative to 1 for a title or anchor.
const QUERY_WEIGHT: f32 = 2.0;
const WORD_WEIGHT: f32 = 0.6;

/// The origin of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SuggestionSource)]
pub enum SuggestionOrigin {
    /// A past query.
    Query,
    /// The title of a page.
    Title,
    /// A word of pages.
    Word,
}

/// A query suggestion.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Suggestion {
    /// The suggested query.
    pub text: String,
    /// Origin of the suggestion.
    pub source: SuggestionOrigin,
    /// Score; higher is better.
    pub score: f32,
}

/// The phrase indexes that suggestions and corrections come from. Cheap to share.
#[derive(Debug, Default)]
pub struct SuggestionSources {
    history: Arc<PhraseIndexes>,
    /// Version of the phrase indexes of history.
    history_state: Option<HistoryIndexState>,
    latest: Arc<PhraseIndexes>,
    latest_state: String,
    queries: Arc<PhraseIndex>,
    pub(crate) speller: Speller,
    block: Vec<String>,
}

/// The version of the phrase indexes of history: their file, or the history they were built from.
#[derive(Clone, Debug, PartialEq)]
enum HistoryIndexState {
    File(SystemTime),
    Generation(String),
}

impl SuggestionSources {
    /// Collects the sources for a view of the index: the phrase indexes in the directory `models`, if any, and past
    /// queries with their weights. Parts that have not changed are taken from `previous`.
    pub fn collect(
        models: &Path,
        view: &dyn IndexView,
        queries: impl IntoIterator<Item = (String, f32)>,
        config: &SuggestConfig,
        previous: &SuggestionSources,
    ) -> Result<Self, QueryError> {
        let (history, history_state) = previous.history_indexes(models, view, config)?;
        let latest = if previous.latest_state == view.state_id() {
            Arc::clone(&previous.latest)
        } else {
            Arc::new(PhraseIndexes::from_builder(
                PhraseIndexesBuilder::from_view(view, GenerationScope::Latest)?,
                config.phrases,
            ))
        };
        let mut past_queries = PhraseIndexBuilder::default();
        for (query, weight) in queries {
            past_queries.add(&query, weight);
        }
        let speller = Speller::from_indexes([&history.words, &latest.words]);
        let sources = Self {
            speller,
            history,
            history_state,
            latest,
            latest_state: view.state_id().to_string(),
            queries: Arc::new(past_queries.finish(config.phrases)),
            block: config.block.iter().map(|word| normalise(word)).filter(|word| !word.is_empty()).collect(),
        };
        sources.indexes().iter().for_each(|index| index.prepare());
        Ok(sources)
    }

    /// Returns the phrase indexes of history: those written by the build, or newly built ones.
    fn history_indexes(
        &self,
        models: &Path,
        view: &dyn IndexView,
        config: &SuggestConfig,
    ) -> Result<(Arc<PhraseIndexes>, Option<HistoryIndexState>), QueryError> {
        let Some(history) = view.history() else { return Ok(Default::default()) };
        let written = PhraseIndexes::modified(models).map(HistoryIndexState::File);
        let state = written.unwrap_or_else(|| HistoryIndexState::Generation(history.to_string()));
        if self.history_state.as_ref() == Some(&state) {
            return Ok((Arc::clone(&self.history), Some(state)));
        }
        let indexes = match PhraseIndexes::read(models) {
            Some(indexes) => indexes,
            None => PhraseIndexes::from_builder(
                PhraseIndexesBuilder::from_view(view, GenerationScope::All)?,
                config.phrases,
            ),
        };
        Ok((Arc::new(indexes), Some(state)))
    }

    /// Returns the best suggestions that start with the typed text or contain a word that does, in any script.
    pub fn suggest(&self, typed: &str, count: usize) -> Vec<Suggestion> {
        let mut best: HashMap<String, Suggestion> = HashMap::new();
        let indexes = [
            (&*self.queries, SuggestionOrigin::Query, QUERY_WEIGHT),
            (&self.history.phrases, SuggestionOrigin::Title, 1.0),
            (&self.latest.phrases, SuggestionOrigin::Title, 1.0),
            (&self.history.words, SuggestionOrigin::Word, WORD_WEIGHT),
            (&self.latest.words, SuggestionOrigin::Word, WORD_WEIGHT),
        ];
        // Additional ones replace blocked suggestions and duplicates between indexes.
        let limit = 3 * count + self.block.len().min(count);
        let other_forms = suggestion_filter::written_forms(typed);
        let forms = || std::iter::once(typed).chain(other_forms.iter().map(String::as_str));
        for (index, source, factor) in indexes {
            for found in forms().flat_map(|form| index.complete(form, limit)) {
                if source != SuggestionOrigin::Query && !suggestion_filter::is_suggestion(found.text) {
                    continue;
                }
                let text = normalise(found.text);
                let key = suggestion_filter::form_key(found.text);
                let score = factor * found.score;
                if self.block.iter().any(|word| text.contains(word.as_str()))
                    || best.get(&key).is_some_and(|known| known.score >= score)
                {
                    continue;
                }
                best.insert(key, Suggestion { text: found.text.to_string(), source, score });
            }
        }
        let mut best: Vec<Suggestion> = best.into_values().collect();
        best.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.text.cmp(&b.text)));
        best.truncate(count);
        best
    }

    /// Returns the indexes of past queries, titles and words, in this order.
    pub(crate) fn indexes(&self) -> [&PhraseIndex; 5] {
        let (history, latest) = (&self.history, &self.latest);
        [&self.queries, &history.phrases, &latest.phrases, &history.words, &latest.words]
    }

    /// Returns the largest weight of all words and phrases.
    pub(crate) fn heaviest(&self) -> f32 {
        self.indexes()
            .iter()
            .filter_map(|index| index.phrases().next())
            .map(|phrase| phrase.weight)
            .fold(0.0, f32::max)
    }

    /// Returns the total weight of a word or phrase in all indexes.
    pub(crate) fn weight(&self, phrase: &str) -> f32 {
        self.indexes().iter().filter_map(|index| index.weight(phrase)).sum()
    }

    /// Returns words and phrases with this pinyin, heaviest first in each index.
    pub(crate) fn sounding<'h>(&'h self, letters: &str) -> Vec<Phrase<'h>> {
        self.indexes().into_iter().flat_map(|index| index.with_reading(letters).take(8)).collect()
    }

    /// Returns `true` if there are no suggestions.
    pub fn is_empty(&self) -> bool {
        self.indexes().iter().all(|index| index.is_empty())
    }

    /// Returns the memory of the indexes in bytes.
    pub fn bytes(&self) -> usize {
        self.indexes().iter().map(|index| index.bytes()).sum()
    }

    /// Returns the number of phrases and words.
    pub fn len(&self) -> usize {
        self.indexes().iter().map(|index| index.len()).sum()
    }
}

#[cfg(test)]
impl SuggestionSources {
    /// Creates sources with these words and phrases.
    pub(crate) fn for_tests(known: &[(&str, u64)]) -> Self {
        let mut builder = PhraseIndexesBuilder::default();
        known.iter().for_each(|(word, pages)| builder.words.add(word, *pages as f32));
        let history = Arc::new(PhraseIndexes::from_builder(builder, usize::MAX));
        Self { speller: Speller::from_indexes([&history.words]), history, ..Self::default() }
    }
}
