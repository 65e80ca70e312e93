//! The lattice of a text: all base words that begin at each position, and codes for unknown ones.

use std::collections::HashMap;

use super::trie::{MAX_CODES, Sequence};
use crate::dictionary::Dictionary;
use crate::is_han;

/// Maximum length of a piece of a name.
pub(crate) const MAX_PIECE_BYTES: usize = crate::MAX_TERM_BYTES;

/// Flag of the codes of single characters that are not in the base dictionary; the rest is the character.
const CHARACTER: u32 = 1 << 31;
/// Flag of the codes of words of letters and digits that are not in the base dictionary; the rest is their
/// number.
const LETTERS: u32 = 1 << 30;

/// Returns `true` for letters and digits, whose words are never split. Han text can be split anywhere.
#[inline]
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { !is_han(c) && c.is_alphanumeric() }
}

/// Returns `true` if a piece can begin or end here.
fn is_border(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back().is_some_and(is_letter);
    !(before && text[at..].chars().next().is_some_and(is_letter))
}

/// Returns the end of the smallest piece that begins here: a character, or a word of letters and digits.
fn smallest_end(text: &str, at: usize) -> usize {
    let mut chars = text[at..].char_indices();
    match chars.next() {
        Some((_, c)) if is_letter(c) => {
            // A word that is too long need not be read to its end.
            let too_long = text.floor_char_boundary(at + MAX_PIECE_BYTES + 4);
            let rest = &text[at..too_long];
            at + rest.find(|c| !is_letter(c)).unwrap_or(rest.len())
        }
        Some((_, c)) => at + c.len_utf8(),
        None => at,
    }
}

/// Calls `f(end, code)` for each base word that begins at the boundary `at`. The code is `None` for a
/// smallest piece that is not a base word.
fn for_each_piece(base: &Dictionary, text: &str, at: usize, mut f: impl FnMut(usize, Option<u32>)) {
    let smallest = smallest_end(text, at);
    let mut knows_smallest = false;
    for (len, code) in base.words_at(&text[at..]) {
        let end = at + len;
        if len > MAX_PIECE_BYTES {
            break;
        }
        if is_border(text, end) {
            knows_smallest |= end == smallest;
            f(end, Some(code.0));
        }
    }
    if !knows_smallest && smallest - at <= MAX_PIECE_BYTES {
        f(smallest, None);
    }
}

/// Splits a name into the fewest base words; ties are broken by frequency. Returns the ends of all pieces, or
/// nothing if the name is too long. A name that is itself a long base word (国家图书馆) is split into the words
/// inside it.
///
/// The best split up to a position does not depend on the rest. Names with a common prefix therefore have the
/// same pieces as far as a piece ends there in both.
pub(crate) fn base_word_ends(base: &Dictionary, name: &str) -> Vec<usize> {
    if name.is_empty() || name.len() > MAX_PIECE_BYTES {
        return Vec::new();
    }
    // Number of words, cost and previous position, for each reachable position.
    let mut best: Vec<Option<(usize, f64, usize)>> = vec![None; name.len() + 1];
    best[0] = Some((0, 0.0, 0));
    for at in 0..name.len() {
        let Some((words, cost, _)) = best[at] else { continue };
        for_each_piece(base, name, at, |end, code| {
            let is_itself = at == 0 && end == name.len() && code.is_some() && name.chars().nth(3).is_some();
            if is_itself {
                return;
            }
            let frequency = code.map_or(0, |code| base.frequency(crate::dictionary::WordCode(code)));
            let new = (words + 1, cost - f64::from(frequency + 1).ln(), at);
            if best[end].is_none_or(|old| (new.0, new.1) < (old.0, old.1)) {
                best[end] = Some(new);
            }
        });
    }
    let mut ends = Vec::new();
    let mut at = name.len();
    while at > 0 {
        ends.push(at);
        let Some((_, _, before)) = best[at] else { return Vec::new() };
        at = before;
    }
    ends.reverse();
    ends
}

/// The base dictionary, and codes for unknown pieces.
pub(super) struct NameLattice {
    base: &'static Dictionary,
    letters: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
}

impl NameLattice {
    pub(super) fn new(base: &'static Dictionary) -> Self {
        Self { base, letters: HashMap::default() }
    }

    /// Returns the codes of a name; new words of letters get one.
    pub(super) fn codes(&mut self, name: &str, ends: &[usize]) -> Sequence {
        let mut codes = [0; MAX_CODES];
        let mut start = 0;
        for (code, end) in codes.iter_mut().zip(ends) {
            let piece = &name[start..*end];
            let unknown = || match piece.chars().next() {
                Some(c) if !is_letter(c) => CHARACTER | u32::from(c),
                _ => {
                    let next = LETTERS | self.letters.len() as u32;
                    *self.letters.entry(piece.into()).or_insert(next)
                }
            };
            *code = 1 + self.base.code(piece).map_or_else(unknown, |code| code.0);
            start = *end;
        }
        codes
    }

    /// Appends the ends and codes of all pieces that begin at a boundary and may be part of a name.
    pub(super) fn edges(&self, text: &str, at: usize, edges: &mut Vec<(usize, u32)>) {
        for_each_piece(self.base, text, at, |end, code| {
            let piece = &text[at..end];
            let unknown = || match piece.chars().next() {
                Some(c) if !is_letter(c) => Some(CHARACTER | u32::from(c)),
                _ => self.letters.get(piece).copied(),
            };
            edges.extend(code.or_else(unknown).map(|code| (end, code)));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str) -> Vec<&str> {
        let mut start = 0;
        let ends = base_word_ends(Dictionary::base(), name);
        ends.into_iter().map(|end| &name[std::mem::replace(&mut start, end)..end]).collect()
    }

    #[test]
    fn names_are_split_into_their_fewest_words() {
        assert_eq!(split("研究生命"), ["研究", "生命"]);
        assert_eq!(split("爱心社"), ["爱心", "社"]);
        assert_eq!(split("windows7旗舰版"), ["windows7", "旗舰版"]);
        assert_eq!(split("x**语言"), ["x", "*", "*", "语言"]);
        assert!(split(&"长".repeat(100)).is_empty());
    }
}
