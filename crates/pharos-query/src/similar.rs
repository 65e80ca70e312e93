//! Pages like another (相似网页): its weightiest words by BM25's relevance weight, with that page as the one known to be
//! relevant (R = r = 1), and whatever has most of them.

use std::collections::HashMap;

use pharos_index::{Frequencies, IndexError, Snapshot};
use pharos_text::Analyser;
use pharos_text::stop_words::is_stop_word;

use crate::expression::Target;
use crate::rank::bm25::{Bm25, Known};
use crate::rank::sought::SoughtWords;

/// So many words stand for a page.
const WORDS: usize = 20;

/// Words are chosen from this many of the most frequent ones, and from this much of the text.
const LOOKED_AT: usize = 400;
const MAX_TEXT: usize = 64 << 10;

/// A word of the title counts like so many of the text.
const TITLE: f64 = 3.0;

/// The words that stand for a page; `None` where there is no such page or it says nothing.
pub(crate) fn words(
    target: &Target,
    snapshot: &dyn Snapshot,
    analyser: &Analyser,
) -> Result<Option<SoughtWords>, IndexError> {
    let found = snapshot.candidates(&target.pages)?.into_iter().flatten().next();
    let Some(page) = found.map(|page| snapshot.stored(&[page])).transpose()?.and_then(|mut p| p.pop()) else {
        return Ok(None);
    };
    let mut times: HashMap<String, f64> = HashMap::new();
    let body = &page.text.body[..page.text.body.floor_char_boundary(MAX_TEXT)];
    for (text, weight) in [(page.card.title.as_str(), TITLE), (body, 1.0)] {
        for token in analyser.tokens(text).into_iter().filter(|token| !is_stop_word(&token.text)) {
            *times.entry(token.text).or_default() += weight;
        }
    }
    let mut times: Vec<(String, f64)> = times.into_iter().collect();
    times.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    times.truncate(LOOKED_AT);
    let terms: Vec<String> = times.iter().map(|(word, _)| word.clone()).collect();
    let Frequencies { pages, with_term, .. } = snapshot.frequencies(&terms)?;
    let bm25 = Bm25 { k1: 1.2, b: 0.0, k2: 0.0, k3: 0.0 };
    let offer = |((word, times), with_word): ((String, f64), u64)| {
        let known =
            Known { relevant: 1.0, relevant_with_word: 1.0, ..Known::of(pages as f64, with_word as f64) };
        // What no other page has finds none.
        (with_word > 1).then(|| (word, known.relevance_weight() * bm25.saturated(times, 1.0)))
    };
    let mut offered: Vec<(String, f64)> = times.into_iter().zip(with_term).filter_map(offer).collect();
    offered.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    offered.truncate(WORDS);
    let words: Vec<String> = offered.into_iter().map(|(word, _)| word).collect();
    if words.is_empty() { Ok(None) } else { SoughtWords::of_words(words, snapshot).map(Some) }
}
