//! A run of Han characters, decoded once: what dictionary methods work on.

use super::numerals;
use crate::dictionary::{Found, Lexicon, NAT, Symbol};

/// A longer run is cut here, so that the memory of a method has a bound. No sentence is as long.
const MAX_CHARACTERS: usize = 1 << 15;

/// So many Han characters at most stand before the letters of a word.
const MIXED_HEAD: usize = 8;

/// A number in Chinese numerals is about as probable as a word of this cost; what matters is that it is cheaper than
/// its numerals one by one.
pub(crate) const NUMBER_COST: u32 = (7.0 * NAT) as u32;

/// A run of Han characters as symbols of the dictionaries, with the numbers written in it.
#[derive(Default)]
pub(crate) struct Han {
    base: Vec<Symbol>,
    own: Vec<Symbol>,
    /// Where each character ends in the text.
    ends: Vec<usize>,
    start: usize,
    /// How many characters the number has that begins here; empty where no number is.
    numbers: Vec<u32>,
    characters: Vec<char>,
}

/// A word that a run has at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// A word of a dictionary.
    Word(Found),
    /// A number in Chinese numerals.
    Number,
}

impl Han {
    /// Reads the run that begins at `start` and gives its end. Letters and digits belong to it where a word of the
    /// dictionaries goes on in them: 卡拉ok.
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

    /// The end of the longest word that begins among the last characters of the run and goes on in letters or digits
    /// behind it.
    fn mixed_word(&self, text: &str, end: usize, lexicon: &Lexicon<'_>) -> Option<usize> {
        let next = *text.as_bytes().get(end)?;
        let goes_on =
            lexicon.base.goes_on_with(next) || lexicon.own.is_some_and(|own| own.goes_on_with(next));
        if !goes_on || self.base.len() >= MAX_CHARACTERS {
            return None;
        }
        let last = self.base.len().saturating_sub(MIXED_HEAD)..self.base.len();
        last.filter_map(|nth| longest_word(text, self.end(nth), lexicon)).filter(|longer| *longer > end).max()
    }

    /// How many characters the run has.
    pub(crate) fn len(&self) -> usize {
        self.base.len()
    }

    /// Where the first `characters` of the run end in the text.
    #[inline]
    pub(crate) fn end(&self, characters: usize) -> usize {
        match characters {
            0 => self.start,
            _ => self.ends.get(characters - 1).copied().unwrap_or(self.start),
        }
    }

    /// All words that begin at a character: `f(characters, edge)`. A character that is no word is not told.
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

    /// How long the words are that begin at a character, up to `max_len` characters; numbers may be longer.
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

    /// The costs of the base words and numbers that begin at a character: `f(characters, cost)`.
    #[inline]
    pub(crate) fn costs_at(&self, lexicon: &Lexicon<'_>, at: usize, mut f: impl FnMut(usize, u32)) {
        lexicon.base.walk_costs(self.base.get(at..).unwrap_or_default(), &mut f);
        if let Some(number) = self.numbers.get(at)
            && *number > 0
        {
            f(*number as usize, NUMBER_COST);
        }
    }

    /// Is there a word of exactly these characters?
    pub(crate) fn is_word(&self, lexicon: &Lexicon<'_>, at: usize, len: usize) -> bool {
        let mut found = false;
        self.lengths_at(lexicon, at, len, |characters| found |= characters == len);
        found
    }
}

/// The end of the longest word at a byte that does not end amid letters and digits.
pub(crate) fn longest_word(text: &str, at: usize, lexicon: &Lexicon<'_>) -> Option<usize> {
    let ends = lexicon.ends_at(&text[at..]).map(|len| at + len);
    let is_letter = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
    ends.filter(|end| !(is_letter(end - 1) && is_letter(*end))).max()
}

/// Han characters, and the circle that stands for a zero in dates.
#[inline]
pub(crate) fn is_han_or_zero(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}') || (c >= '\u{25CB}' && is_rare_han(c))
}

fn is_rare_han(c: char) -> bool {
    matches!(c, '○' | '〇') || crate::is_han(c)
}
