//! Mixed-script words: 4S店, 卡拉OK, 维生素C.

use std::ops::Range;

use pharos_core::work::spend_work;

use super::{is_han, runs};
use crate::dictionary::Lexicon;

/// Maximum number of characters before the script boundary.
const MAX_CHARACTERS: usize = 8;

/// Returns the dictionary words that contain a boundary between Han and other characters, sorted by position.
pub(super) fn mixed_words(text: &str, lexicon: &Lexicon<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut before: Option<&str> = None;
    let mut border = 0;
    for (run, is_han) in runs(text) {
        let meets = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if let Some(before) = before.filter(|b| meets(b.chars().next_back()) && meets(run.chars().next())) {
            let starts = before.char_indices().rev().take(MAX_CHARACTERS);
            let starts = starts.take_while(|(_, c)| !is_han || c.is_alphanumeric());
            for (at, _) in starts {
                spend_work(1);
                let start = border - before.len() + at;
                if begins_word(text, start) {
                    let words = lexicon.ends_at(&text[start..]).map(|len| start..start + len);
                    found.extend(words.filter(|word| word.end > border && begins_word(text, word.end)));
                }
            }
        }
        border += run.len();
        before = Some(run);
    }
    found.sort_unstable_by_key(|word| (word.start, word.end));
    found.dedup();
    found
}

/// Returns `false` if the position is inside a run of letters and digits.
fn begins_word(text: &str, at: usize) -> bool {
    let letter = |c: char| c.is_alphanumeric() && !is_han(c);
    !(text[..at].ends_with(letter) && text[at..].starts_with(letter))
}
