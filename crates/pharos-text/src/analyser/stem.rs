//! Stemming of English words: lighthouses and lighthouse, running and run.
//!
//! The stem (Porter 2, the English stemmer of Snowball) is stored in the index beside the word, at the same
//! position. It is prefixed with a mark that no word begins with. A query for a word searches for its stem
//! and also for the word as typed, so that exact forms rank higher. A phrase query uses words alone and
//! therefore matches exactly. `cargo run --release -p pharos-index --example stems` measures the effect on
//! Cranfield and CISI.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

/// Prefix of stems in the index.
pub const STEM_MARK: char = '~';

/// Lengths of words that are stemmed. Shorter words have no inflected forms worth conflating; longer strings
/// are not words.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=32;

/// Returns the stem of an English word, which may be the word itself. Returns `None` for any other string.
fn stem(word: &str) -> Option<Cow<'_, str>> {
    let is_english = LETTERS.contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
    is_english.then(|| Stemmer::create(Algorithm::English).stem(word))
}

/// Returns the index term that all inflected forms of an English word share.
pub fn stem_term(word: &str) -> Option<String> {
    Some(format!("{STEM_MARK}{}", stem(word)?))
}

/// A cache of recent stems: most words of a text occur repeatedly.
#[derive(Default)]
pub(crate) struct StemCache {
    /// Pairs of word and stem term, addressed by hash. A collision overwrites the older entry.
    slots: Vec<(String, String)>,
}

impl StemCache {
    /// Returns the same term as [`stem_term`].
    pub(crate) fn term(&mut self, word: &str) -> Option<&str> {
        const SLOTS: usize = 4096;
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, Default::default);
        }
        let (cached, term) = &mut self.slots[xxh3_64(word.as_bytes()) as usize % SLOTS];
        if cached != word {
            let stem = stem(word)?;
            cached.clear();
            cached.push_str(word);
            term.clear();
            term.push(STEM_MARK);
            term.push_str(&stem);
        }
        Some(term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_meet() {
        assert_eq!(stem_term("running"), Some("~run".into()));
        assert_eq!(stem_term("run"), stem_term("runs"));
        assert_eq!(stem("lighthouses"), stem("lighthouse"));
        for other in ["c++", "灯塔", "2026", "of", "été", "node.js"] {
            assert_eq!(stem_term(other), None);
        }
        let mut stems = StemCache::default();
        for word in ["running", "of", "runs", "running"] {
            assert_eq!(stems.term(word), stem_term(word).as_deref());
        }
    }
}
