//! The words of queries as sorted hashes, computed once per distinct query.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;

use crate::search_log::SearchLog;

/// Maximum number of words of a query that are used.
const MAX_WORDS: usize = 32;

/// Words of queries, by query number.
pub(super) struct QueryTerms(Vec<Option<Box<[u64]>>>);

impl QueryTerms {
    pub(super) fn new(queries: usize) -> Self {
        Self(vec![None; queries])
    }

    /// Returns the distinct words of a query, sorted.
    pub(super) fn get(&mut self, log: &SearchLog, query: u32) -> Box<[u64]> {
        let Some(words) = self.0.get_mut(query as usize) else { return Box::default() };
        words.get_or_insert_with(|| word_set(log.queries.text(query))).clone()
    }
}

/// Returns the hashes of the distinct words of a text without stop words, sorted. If all words are stop words, they count.
pub(super) fn word_set(text: &str) -> Box<[u64]> {
    let (mut words, mut stop_words) = (Vec::new(), Vec::new());
    Analyser::shared().for_each_token(text, |word, _, _, _| {
        let list = if is_stop_word(word) { &mut stop_words } else { &mut words };
        if list.len() < MAX_WORDS {
            list.push(FixedState::default().hash_one(word));
        }
    });
    let mut words = if words.is_empty() { stop_words } else { words };
    words.sort_unstable();
    words.dedup();
    words.into_boxed_slice()
}

/// Returns the Jaccard coefficient of two sorted lists without repetitions.
pub(super) fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let both = a.iter().filter(|item| b.binary_search(item).is_ok()).count();
    let any = a.len() + b.len() - both;
    if any == 0 { 0.0 } else { both as f64 / any as f64 }
}

/// Returns `true` if every item of `a` is in `b`; both are sorted.
pub(super) fn is_subset<T: Ord>(a: &[T], b: &[T]) -> bool {
    a.iter().all(|item| b.binary_search(item).is_ok())
}
