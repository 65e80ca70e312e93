//! Similar pages (相似网页): the words of a page with the highest BM25 relevance weight, with that page as the only known
//! relevant one (R = r = 1).

use std::collections::HashMap;

use pharos_index::read::evidence::DocumentFrequencies;
use pharos_index::{IndexError, IndexView};
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;

use crate::language::expression::PageTarget;
use crate::rank::bm25::{Bm25, WordStatistics};
use crate::rank::query_words::QueryWords;

/// Maximum number of words that represent a page.
const MAX_WORDS: usize = 20;

/// Number of most frequent words, and length of text, that the words are chosen from.
const MAX_CANDIDATE_WORDS: usize = 400;
const MAX_TEXT: usize = 64 << 10;

/// Weight of a title word relative to a body word.
const TITLE_WEIGHT: f64 = 3.0;

/// Returns the words that represent a page, or `None` if the page is unknown or has no words.
pub(crate) fn representative_words(
    target: &PageTarget,
    view: &dyn IndexView,
    analyser: &Analyser,
) -> Result<Option<QueryWords>, IndexError> {
    let found = view.candidates(&target.pages)?.into_iter().flatten().next();
    let Some(page) = found.map(|page| view.stored(&[page])).transpose()?.and_then(|mut p| p.pop()) else {
        return Ok(None);
    };
    let mut times: HashMap<String, f64> = HashMap::new();
    let body = &page.text.body[..page.text.body.floor_char_boundary(MAX_TEXT)];
    for (text, weight) in [(page.fields.title.as_str(), TITLE_WEIGHT), (body, 1.0)] {
        for token in analyser.tokens(text).into_iter().filter(|token| !is_stop_word(&token.text)) {
            *times.entry(token.text).or_default() += weight;
        }
    }
    let mut times: Vec<(String, f64)> = times.into_iter().collect();
    times.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    times.truncate(MAX_CANDIDATE_WORDS);
    let terms: Vec<String> = times.iter().map(|(word, _)| word.clone()).collect();
    let DocumentFrequencies { pages, with_term, .. } = view.frequencies(&terms)?;
    let bm25 = Bm25 { k1: 1.2, b: 0.0, k2: 0.0, k3: 0.0 };
    let weigh = |((word, times), with_word): ((String, f64), u64)| {
        let statistics = WordStatistics {
            relevant: 1.0,
            relevant_with_word: 1.0,
            ..WordStatistics::new(pages as f64, with_word as f64)
        };
        // A word that no other page contains finds nothing.
        (with_word > 1)
            .then(|| (word, statistics.relevance_weight() * bm25.term_frequency_factor(times, 1.0)))
    };
    let mut weighted: Vec<(String, f64)> = times.into_iter().zip(with_term).filter_map(weigh).collect();
    weighted.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    weighted.truncate(MAX_WORDS);
    let words: Vec<String> = weighted.into_iter().map(|(word, _)| word).collect();
    if words.is_empty() { Ok(None) } else { QueryWords::from_words(words, view).map(Some) }
}
