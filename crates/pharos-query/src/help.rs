//! Help for who asks: suggestions while a query is typed, and the words and phrases that corrections are made of.
//!
//! Before anybody has asked anything it speaks with the titles, anchors and words of the index; what people asked is taken
//! in beside them and counts for more (查询词提示). Nobody sees what only few others asked: whoever hands queries in sees to
//! that.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use pharos_core::config::SuggestConfig;
use pharos_index::{Books, Members, Sayings, Snapshot};
use pharos_text::normalise;
use pharos_text::phrasebook::{Phrase, Phrasebook, Writer};
use serde::Serialize;
use utoipa::ToSchema;

use crate::QueryError;
use crate::correct::Speller;

/// What a suggestion counts that people asked, beside 1 for a title or an anchor; and one that is a mere word.
const QUERY: f32 = 2.0;
const WORD: f32 = 0.6;

/// Where a suggestion comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SuggestionSource)]
pub enum Source {
    /// People asked it.
    Query,
    /// A page is called so.
    Title,
    /// It is a word of pages.
    Word,
}

/// Something to ask.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Suggestion {
    /// The query.
    pub text: String,
    /// Where it comes from.
    pub source: Source,
    /// How much it counts.
    pub score: f32,
}

/// Help as it is at one moment. Cheap to share.
#[derive(Debug, Default)]
pub struct Help {
    history: Arc<Books>,
    /// When the books of history were written, and which history they belong to otherwise.
    history_is: Option<State>,
    latest: Arc<Books>,
    latest_is: String,
    queries: Arc<Phrasebook>,
    pub(crate) speller: Speller,
    block: Vec<String>,
}

/// What the books of history were made from.
#[derive(Clone, Debug, PartialEq)]
enum State {
    File(SystemTime),
    Generation(String),
}

impl Help {
    /// Help for a snapshot of the index, with the books in the folder `models` where there are any, and with what people
    /// asked, each query with how often. What has not changed since `before` is taken from there.
    pub fn gather(
        models: &Path,
        snapshot: &dyn Snapshot,
        queries: impl IntoIterator<Item = (String, u64)>,
        config: &SuggestConfig,
        before: &Help,
    ) -> Result<Self, QueryError> {
        let (history, history_is) = before.history(models, snapshot, config)?;
        let latest = if before.latest_is == snapshot.generation() {
            Arc::clone(&before.latest)
        } else {
            Arc::new(Books::of(Sayings::of(snapshot, Members::Latest)?, config.phrases))
        };
        let mut asked = Writer::default();
        for (query, times) in queries {
            asked.add(&query, times as f32);
        }
        let speller = Speller::of([&history.words, &latest.words]);
        let help = Self {
            speller,
            history,
            history_is,
            latest,
            latest_is: snapshot.generation().to_string(),
            queries: Arc::new(asked.finish(config.phrases)),
            block: config.block.iter().map(|word| normalise(word)).filter(|word| !word.is_empty()).collect(),
        };
        help.books().iter().for_each(|book| book.prepare());
        Ok(help)
    }

    /// The books of history: those that its builder wrote, or made now where there are none.
    fn history(
        &self,
        models: &Path,
        snapshot: &dyn Snapshot,
        config: &SuggestConfig,
    ) -> Result<(Arc<Books>, Option<State>), QueryError> {
        let Some(history) = snapshot.history() else { return Ok(Default::default()) };
        let written = Books::written(models).map(State::File);
        let state = written.unwrap_or_else(|| State::Generation(history.to_string()));
        if self.history_is.as_ref() == Some(&state) {
            return Ok((Arc::clone(&self.history), Some(state)));
        }
        let books = match Books::read(models) {
            Some(books) => books,
            None => Books::of(Sayings::of(snapshot, Members::All)?, config.phrases),
        };
        Ok((Arc::new(books), Some(state)))
    }

    /// The best things to ask that begin with what was typed, or have a word that does, in any way of writing.
    pub fn suggest(&self, typed: &str, count: usize) -> Vec<Suggestion> {
        let mut best: HashMap<String, Suggestion> = HashMap::new();
        let books = [
            (&*self.queries, Source::Query, QUERY),
            (&self.history.phrases, Source::Title, 1.0),
            (&self.latest.phrases, Source::Title, 1.0),
            (&self.history.words, Source::Word, WORD),
            (&self.latest.words, Source::Word, WORD),
        ];
        // As many more as may be blocked or be the same in another book.
        let wanted = 2 * count + self.block.len().min(count);
        for (book, source, factor) in books {
            for found in book.complete(typed, wanted) {
                let key = normalise(found.text);
                let score = factor * found.score;
                if self.block.iter().any(|word| key.contains(word.as_str()))
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

    /// What people asked, what pages are called, and words, in this order.
    pub(crate) fn books(&self) -> [&Phrasebook; 5] {
        let (history, latest) = (&self.history, &self.latest);
        [&self.queries, &history.phrases, &latest.phrases, &history.words, &latest.words]
    }

    /// What the heaviest word or phrase weighs.
    pub(crate) fn heaviest(&self) -> f32 {
        self.books()
            .iter()
            .filter_map(|book| book.phrases().next())
            .map(|phrase| phrase.weight)
            .fold(0.0, f32::max)
    }

    /// What a word or phrase weighs in all books together.
    pub(crate) fn weight(&self, phrase: &str) -> f32 {
        self.books().iter().filter_map(|book| book.weight(phrase)).sum()
    }

    /// Words and phrases read as these letters, heaviest first in each book.
    pub(crate) fn sounding<'h>(&'h self, letters: &str) -> Vec<Phrase<'h>> {
        self.books().into_iter().flat_map(|book| book.sounding(letters).take(8)).collect()
    }

    /// Is there nothing to help with?
    pub fn is_empty(&self) -> bool {
        self.books().iter().all(|book| book.is_empty())
    }

    /// Bytes of memory that its books take.
    pub fn bytes(&self) -> usize {
        self.books().iter().map(|book| book.bytes()).sum()
    }

    /// Phrases and words to suggest.
    pub fn len(&self) -> usize {
        self.books().iter().map(|book| book.len()).sum()
    }
}

#[cfg(test)]
impl Help {
    /// Help that knows these words and phrases.
    pub(crate) fn for_tests(known: &[(&str, u64)]) -> Self {
        let mut sayings = Sayings::default();
        known.iter().for_each(|(word, pages)| sayings.words.add(word, *pages as f32));
        let history = Arc::new(Books::of(sayings, usize::MAX));
        Self { speller: Speller::of([&history.words]), history, ..Self::default() }
    }
}
