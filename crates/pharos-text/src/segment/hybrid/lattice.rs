//! The lattice of a text: at each place all base words that begin there, and what stands for unknown ones.

use std::collections::HashMap;

use super::trie::{MAX_CODES, Sequence};
use crate::dictionary::Dictionary;
use crate::is_han;

/// Longer pieces are in no name.
pub(crate) const MAX_PIECE_BYTES: usize = crate::MAX_TERM_BYTES;

/// Codes of single characters that the base dictionary does not know: this bit and the character.
const CHARACTER: u32 = 1 << 31;
/// Codes of words of letters and digits that it does not know: this bit and their number.
const LETTERS: u32 = 1 << 30;

/// Letters and digits make words that are never cut; Han characters can be cut anywhere.
#[inline]
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { !is_han(c) && c.is_alphanumeric() }
}

/// Can a piece begin or end here?
fn is_border(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back().is_some_and(is_letter);
    !(before && text[at..].chars().next().is_some_and(is_letter))
}

/// The end of the smallest piece that begins here: a character, or a word of letters and digits.
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

/// All base words that begin at `at`, a border: `f(end, code)`; none for a smallest piece that is no base word.
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

/// How a name is stored: its fewest base words, of equally many the most frequent; the ends of all pieces, or
/// nothing where it is longer than any name. A name that is a long base word itself (国家图书馆) is stored by the words
/// inside it.
///
/// What is best up to a place does not depend on what follows: the pieces of a name that begins like another are
/// the same as far as a piece ends there in both.
pub(crate) fn pieces(base: &Dictionary, name: &str) -> Vec<usize> {
    if name.is_empty() || name.len() > MAX_PIECE_BYTES {
        return Vec::new();
    }
    // Words, cost and the place before, for each place that can be reached.
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

/// The base dictionary and codes for what it does not know.
pub(super) struct Lattice {
    base: &'static Dictionary,
    letters: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
}

impl Lattice {
    pub(super) fn new(base: &'static Dictionary) -> Self {
        Self { base, letters: HashMap::default() }
    }

    /// The codes of a name; new words of letters get one.
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

    /// The ends and codes of all pieces that begin at a border and could be in a name.
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

    fn cut(name: &str) -> Vec<&str> {
        let mut start = 0;
        let ends = pieces(Dictionary::base(), name);
        ends.into_iter().map(|end| &name[std::mem::replace(&mut start, end)..end]).collect()
    }

    #[test]
    fn names_are_cut_into_their_fewest_words() {
        assert_eq!(cut("研究生命"), ["研究", "生命"]);
        assert_eq!(cut("爱心社"), ["爱心", "社"]);
        assert_eq!(cut("windows7旗舰版"), ["windows7", "旗舰版"]);
        assert_eq!(cut("x**语言"), ["x", "*", "*", "语言"]);
        assert!(cut(&"长".repeat(100)).is_empty());
    }
}
