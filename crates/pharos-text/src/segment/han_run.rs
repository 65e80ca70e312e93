//! A run of Han characters, decoded once for the dictionary methods.

use super::numerals;
use crate::dictionary::{Lexicon, LexiconWord, NAT, Symbol};

/// Maximum length of a run, which bounds the memory of the methods. No sentence is as long.
const MAX_CHARACTERS: usize = 1 << 15;

/// Maximum number of Han characters before the letters of a word.
const MIXED_HEAD: usize = 8;

/// Cost of a number in Chinese numerals. It must be lower than the cost of the single numerals.
pub(crate) const NUMBER_COST: u32 = (7.0 * NAT) as u32;

/// A run of Han characters as symbols of the dictionaries, with the numbers written in it.
#[derive(Default)]
pub(crate) struct HanRun {
    base: Vec<Symbol>,
    own: Vec<Symbol>,
    /// End of each character in the text.
    ends: Vec<usize>,
    start: usize,
    /// Length in characters of the number that begins at each character; empty if there are no numbers.
    numbers: Vec<u32>,
    characters: Vec<char>,
}

/// A word at some position of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Word(LexiconWord),
    /// A number in Chinese numerals.
    Number,
}

impl HanRun {
    /// Reads the run that begins at `start` and returns its end. Letters and digits are included if a
    /// dictionary word continues in them: 卡拉ok.
    pub(crate) fn read(&mut self, text: &str, start: usize, lexicon: &Lexicon<'_>) -> usize {
        self.base.clear();
        self.own.clear();
        self.ends.clear();
        self.numbers.clear();
        self.start = start;
        let mut has_number = false;
        let mut end = self.read_han(text, start, lexicon, &mut has_number);
        while let Some(longer) = self.mixed_word(text, end, lexicon) {
            for c in text[end..longer].chars() {
                end += c.len_utf8();
                self.base.push(lexicon.base.symbol(c));
                self.ends.push(end);
            }
            end = self.read_han(text, end, lexicon, &mut has_number);
        }
        if let Some(own) = lexicon.own {
            self.own.extend(text[start..end].chars().map(|c| own.symbol(c)));
        }
        if has_number {
            numerals::find(&text[start..end], &mut self.characters, &mut self.numbers);
        }
        end
    }

    #[inline]
    fn read_han(&mut self, text: &str, start: usize, lexicon: &Lexicon<'_>, has_number: &mut bool) -> usize {
        let mut end = start;
        let mut numeral_before = false;
        for c in text[start..].chars().take(MAX_CHARACTERS.saturating_sub(self.base.len())) {
            if !is_han_or_zero(c) {
                break;
            }
            end += c.len_utf8();
            self.base.push(lexicon.base.symbol(c));
            self.ends.push(end);
            let numeral = numerals::is_numeral(c);
            *has_number |= numeral && numeral_before;
            numeral_before = numeral;
        }
        end
    }

    /// Returns the end of the longest word that begins among the last characters of the run and continues in
    /// letters or digits after it.
    fn mixed_word(&self, text: &str, end: usize, lexicon: &Lexicon<'_>) -> Option<usize> {
        let next = *text.as_bytes().get(end)?;
        let continues = lexicon.base.continues_with_ascii(next)
            || lexicon.own.is_some_and(|own| own.continues_with_ascii(next));
        if !continues || self.base.len() >= MAX_CHARACTERS {
            return None;
        }
        let last = self.base.len().saturating_sub(MIXED_HEAD)..self.base.len();
        last.filter_map(|nth| longest_word(text, self.end(nth), lexicon)).filter(|longer| *longer > end).max()
    }

    /// Returns the number of characters of the run.
    pub(crate) fn len(&self) -> usize {
        self.base.len()
    }

    /// Returns the end of the first `characters` of the run in the text.
    #[inline]
    pub(crate) fn end(&self, characters: usize) -> usize {
        match characters {
            0 => self.start,
            _ => self.ends.get(characters - 1).copied().unwrap_or(self.start),
        }
    }

    /// Calls `f(characters, edge)` for each word that begins at a character. Unknown characters are not
    /// reported.
    #[inline]
    pub(crate) fn words_at(&self, lexicon: &Lexicon<'_>, at: usize, mut f: impl FnMut(usize, Edge)) {
        let own = self.own.get(at..).unwrap_or_default();
        lexicon.walk(self.base.get(at..).unwrap_or_default(), own, |len, found| f(len, Edge::Word(found)));
        if let Some(number) = self.numbers.get(at)
            && *number > 0
        {
            f(*number as usize, Edge::Number);
        }
    }

    /// Calls `f` with the length of each word that begins at a character, up to `max_len` characters; numbers
    /// may be longer.
    #[inline]
    pub(crate) fn lengths_at(
        &self,
        lexicon: &Lexicon<'_>,
        at: usize,
        max_len: usize,
        mut f: impl FnMut(usize),
    ) {
        let end = self.base.len().min(at.saturating_add(max_len));
        lexicon.base.walk_lengths(self.base.get(at..end).unwrap_or_default(), &mut f);
        if let Some(own) = lexicon.own {
            own.walk_lengths(self.own.get(at..end).unwrap_or_default(), &mut f);
        }
        if let Some(number) = self.numbers.get(at)
            && *number > 0
        {
            f(*number as usize);
        }
    }

    /// Calls `f(characters, cost)` for each base word and number that begins at a character.
    #[inline]
    pub(crate) fn costs_at(&self, lexicon: &Lexicon<'_>, at: usize, mut f: impl FnMut(usize, u32)) {
        lexicon.base.walk_costs(self.base.get(at..).unwrap_or_default(), &mut f);
        if let Some(number) = self.numbers.get(at)
            && *number > 0
        {
            f(*number as usize, NUMBER_COST);
        }
    }

    /// Returns `true` if a word of exactly `len` characters begins at `at`.
    pub(crate) fn is_word(&self, lexicon: &Lexicon<'_>, at: usize, len: usize) -> bool {
        let mut found = false;
        self.lengths_at(lexicon, at, len, |characters| found |= characters == len);
        found
    }
}

/// Returns the end of the longest word at a byte that does not end inside letters and digits.
pub(crate) fn longest_word(text: &str, at: usize, lexicon: &Lexicon<'_>) -> Option<usize> {
    let ends = lexicon.ends_at(&text[at..]).map(|len| at + len);
    let is_letter = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
    ends.filter(|end| !(is_letter(end - 1) && is_letter(*end))).max()
}

/// Returns `true` for Han characters and for the circle that denotes zero in dates.
#[inline]
pub(crate) fn is_han_or_zero(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}') || (c >= '\u{25CB}' && is_rare_han(c))
}

fn is_rare_han(c: char) -> bool {
    matches!(c, '○' | '〇') || crate::is_han(c)
}
