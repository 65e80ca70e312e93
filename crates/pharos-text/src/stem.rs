//! Forms of English words: lighthouses and lighthouse, running and run.
//!
//! The stem (Porter 2, the English stemmer of Snowball) of a word that is inflected stands in the index beside the
//! word, at the same position, behind a mark that no word begins with. A query for a word in any form asks for the
//! word as typed, for its stem as a word, and for the mark; so exact forms match most and rank highest, and a phrase,
//! which asks for words alone, matches exactly.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// What stems begin with in the index.
pub const STEM_MARK: char = '~';

/// Words of fewer letters have no forms worth folding, and longer ones are no words.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=32;

/// The stem of an English word, which may be the word itself; none for what is not one.
pub fn stem(word: &str) -> Option<Cow<'_, str>> {
    let is_english = LETTERS.contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
    is_english.then(|| Stemmer::create(Algorithm::English).stem(word))
}

/// All terms of an index that a query for `word` in any form may match, the word itself first.
pub fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_string()];
    if let Some(stem) = stem(word) {
        if stem != word {
            forms.push(stem.to_string());
        }
        forms.push(format!("{STEM_MARK}{stem}"));
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_meet() {
        assert_eq!(forms("running"), ["running", "run", "~run"]);
        assert_eq!(forms("run"), ["run", "~run"]);
        assert_eq!(stem("lighthouses"), stem("lighthouse"));
        for other in ["c++", "灯塔", "2026", "of", "été", "node.js"] {
            assert_eq!(forms(other), [other]);
        }
    }
}
