//! Terms of a text: words, or n-grams of words and characters.
//!
//! A term is a hash of 32 bits (feature hashing, Weinberger et al. 2009): terms of equal hash share a feature, which
//! happens to about one term in 10,000 of a vocabulary of 400,000 and does not change results.

use std::ops::Range;

use pharos_text::analyser::stem::stem_term;
use pharos_text::analyser::stop_words::is_stop_word;
use pharos_text::{Analyser, normalise};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of tokens of a text. The beginning of a page decides its category; the rest costs time.
pub const MAX_TOKENS: usize = 1024;

/// Maximum number of bytes of a text that are analysed.
const MAX_BYTES: usize = 16 * MAX_TOKENS;

/// Kind of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    /// Words of the [`Analyser`], English words stemmed, without stop words: the pipeline of 《搜索引擎》§11.2.
    Words,
    /// Words and their pairs; Han characters, their pairs and triples. There are no segmentation errors, and the order
    /// of words counts (Joulin et al. 2016, §2.2).
    NGrams,
}

/// Calls `f` with the hash and the span of each term of a text, which [`analysed_text`] must have returned.
pub fn for_each_term(kind: TermKind, text: &str, f: &mut impl FnMut(u32, Range<usize>)) {
    match kind {
        TermKind::Words => for_each_word(text, f),
        TermKind::NGrams => for_each_n_gram(text, f),
    }
}

/// Returns the normalised beginning of a text, in which spans of terms count.
pub fn analysed_text(text: &str) -> String {
    normalise(&text[..text.floor_char_boundary(MAX_BYTES)])
}

fn for_each_word(text: &str, f: &mut impl FnMut(u32, Range<usize>)) {
    let mut count = 0;
    Analyser::shared().for_each_token(text, |word, start, end, _| {
        count += 1;
        if count > MAX_TOKENS || is_stop_word(word) || !word.contains(char::is_alphanumeric) {
            return;
        }
        match stem_term(word) {
            Some(stem) => f(hash(stem.as_bytes()), start..end),
            None => f(hash(word.as_bytes()), start..end),
        }
    });
}

/// A token of the n-gram kind: a run of letters or of digits, one Han character, one other visible character, or a space
/// after a Han character, which divides Chinese titles into parts.
struct Unit {
    hash: u64,
    start: usize,
    end: usize,
    is_word: bool,
}

fn for_each_n_gram(text: &str, f: &mut impl FnMut(u32, Range<usize>)) {
    let units = units(text);
    for (at, first) in units.iter().enumerate() {
        f(fold(first.hash), first.start..first.end);
        let Some(second) = units.get(at + 1) else { continue };
        let pair = combine(first.hash, second.hash);
        f(fold(pair), first.start..second.end);
        // Triples of words are too rare to help.
        if let Some(third) = units.get(at + 2)
            && !(first.is_word || second.is_word || third.is_word)
        {
            f(fold(combine(pair, third.hash)), first.start..third.end);
        }
    }
}

/// Splits a normalised text into at most [`MAX_TOKENS`] units.
fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::with_capacity(text.len().min(4 * MAX_TOKENS) / 4);
    let mut word: Option<usize> = None;
    for (at, c) in text.char_indices() {
        let joins = c.is_ascii_alphanumeric() || (c.is_alphanumeric() && !stands_alone(c));
        let changes = |start: usize| text.as_bytes()[start].is_ascii_digit() != c.is_ascii_digit();
        if let Some(start) = word.take_if(|start| !joins || changes(*start)) {
            push(&mut units, text, start, at, true);
        }
        if joins {
            word.get_or_insert(at);
            continue;
        }
        let is_division = c.is_whitespace() && text[..at].chars().next_back().is_some_and(stands_alone);
        if is_division || !(c.is_whitespace() || c.is_control()) {
            push(&mut units, text, at, at + c.len_utf8(), false);
        }
        if units.len() >= MAX_TOKENS {
            units.truncate(MAX_TOKENS);
            return units;
        }
    }
    if let Some(start) = word {
        push(&mut units, text, start, text.len(), true);
    }
    units
}

fn push(units: &mut Vec<Unit>, text: &str, start: usize, end: usize, is_word: bool) {
    units.push(Unit { hash: xxh3_64(&text.as_bytes()[start..end]), start, end, is_word });
}

/// Returns `true` for characters of scripts without spaces between words.
fn stands_alone(c: char) -> bool {
    pharos_text::is_han(c) || ('\u{3040}'..='\u{30FF}').contains(&c) || ('\u{0E00}'..='\u{0EFF}').contains(&c)
}

fn hash(bytes: &[u8]) -> u32 {
    fold(xxh3_64(bytes))
}

fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Combines the hashes of neighbours; the order matters.
fn combine(first: u64, second: u64) -> u64 {
    (first.rotate_left(29) ^ second.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(kind: TermKind, text: &str) -> Vec<String> {
        let text = analysed_text(text);
        let mut terms = Vec::new();
        for_each_term(kind, &text, &mut |_, span| terms.push(text[span].to_string()));
        terms
    }

    #[test]
    fn n_grams_join_han_characters_and_words() {
        assert_eq!(terms(TermKind::NGrams, "股市A股"), ["股", "股市", "市", "市a", "a", "a股", "股"]);
        assert_eq!(terms(TermKind::NGrams, "港股缩"), ["港", "港股", "港股缩", "股", "股缩", "缩"]);
        assert_eq!(terms(TermKind::NGrams, "4k 市 a"), ["4", "4k", "k", "k 市", "市", "市 ", " ", " a", "a"]);
        assert_eq!(terms(TermKind::NGrams, "Oil  prices"), ["oil", "oil  prices", "prices"]);
    }

    #[test]
    fn words_are_stemmed_and_stop_words_dropped() {
        assert_eq!(terms(TermKind::Words, "The prices of 北京大学"), ["prices", "北京大学"]);
        let hashes = |text: &str| {
            let mut hashes = Vec::new();
            for_each_term(TermKind::Words, text, &mut |hash, _| hashes.push(hash));
            hashes
        };
        assert_eq!(hashes("prices"), hashes("price"));
    }

    #[test]
    fn long_texts_are_limited() {
        let long = "字 ".repeat(100_000);
        assert!(terms(TermKind::NGrams, &long).len() <= 3 * MAX_TOKENS);
        assert!(terms(TermKind::Words, &long).len() <= MAX_TOKENS);
    }
}
