//! The dictionary (词典): words with their frequencies, parts of speech and codes.
//!
//! A word code links texts to statistics. It is the same in every version of the base dictionary.

mod double_array;
mod image;
mod lexicon;
mod word_cost;

use std::borrow::Cow;

pub(crate) use double_array::{NONE, Symbol};
pub use image::DictionaryImageError;
pub use lexicon::{Lexicon, LexiconWord};
pub(crate) use word_cost::{NAT, cost};

/// The number of a word; stable across versions of the base dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordCode(pub u32);

/// Words with their codes, frequencies and parts of speech, looked up along a text in a double-array trie.
pub struct Dictionary {
    /// Symbols of the characters of the basic plane. Supplementary characters are listed separately, sorted.
    basic: Cow<'static, [u16]>,
    supplementary: Cow<'static, [u32]>,
    units: Cow<'static, [u32]>,
    frequencies: Cow<'static, [u32]>,
    /// Part-of-speech tags of at most two letters, zero-padded.
    tags: Cow<'static, [u16]>,
    /// Cost of each word in a segmentation path, in units of 1/[`NAT`].
    costs: Cow<'static, [u16]>,
    /// Costs by unit of the double array, 0 where no word ends: one lookup instead of three.
    unit_costs: Cow<'static, [u16]>,
    /// Cost of a character that is not a word.
    unknown: u32,
    /// Bit set of the ASCII characters that follow a non-ASCII character in some word (卡拉ok).
    joined_ascii: u128,
    total: u64,
    longest: usize,
}

/// A word to be added to a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryEntry<'a> {
    /// Normalised form.
    pub word: &'a str,
    /// Number of occurrences in the source corpus.
    pub frequency: u32,
    /// Part of speech, as in the People's Daily corpus: `n`, `v`, `nr` …
    pub tag: &'a str,
}

impl Dictionary {
    /// Compiles a dictionary. The code of a word is its index in the list.
    ///
    /// Of equal words the first is used. Frequency 0 marks a deleted word, which keeps its code and is not
    /// found.
    pub fn new(entries: &[DictionaryEntry<'_>]) -> Self {
        image::compile(entries)
    }

    /// Returns the number of codes, deleted words included.
    pub fn len(&self) -> usize {
        self.frequencies.len()
    }

    /// Returns `true` if the dictionary has no codes.
    pub fn is_empty(&self) -> bool {
        self.frequencies.is_empty()
    }

    /// Returns the sum of all frequencies.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns `true` if some word has this ASCII character after a non-ASCII one.
    pub(crate) fn continues_with_ascii(&self, ascii: u8) -> bool {
        ascii.is_ascii() && self.joined_ascii >> ascii & 1 != 0
    }

    /// Returns the length of the longest word in characters.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the code of a word.
    pub fn code(&self, word: &str) -> Option<WordCode> {
        let mut state = double_array::ROOT;
        for c in word.chars() {
            state = double_array::step(&self.units, state, self.symbol(c))?;
        }
        double_array::word(&self.units, state).map(WordCode)
    }

    /// Returns `true` if `word` is in the dictionary.
    pub fn contains(&self, word: &str) -> bool {
        self.code(word).is_some()
    }

    /// Returns the frequency of a word.
    pub fn frequency(&self, code: WordCode) -> u32 {
        self.frequencies.get(code.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the cost of a word in a segmentation path, in units of 1/[`NAT`].
    #[inline]
    pub(crate) fn cost(&self, code: WordCode) -> u32 {
        self.costs.get(code.0 as usize).copied().unwrap_or(u16::MAX).into()
    }

    /// Returns the cost of a character that is not a word, equal to that of a word seen once.
    pub(crate) fn unknown_cost(&self) -> u32 {
        self.unknown
    }

    /// Returns the part of speech of a word.
    pub fn tag(&self, code: WordCode) -> String {
        let [first, second] = self.tags.get(code.0 as usize).copied().unwrap_or_default().to_le_bytes();
        [first, second].iter().filter(|b| **b != 0).map(|b| char::from(*b)).collect()
    }

    /// Returns all words that `text` begins with, shortest first: their ends in bytes and their codes.
    pub fn words_at<'d>(&'d self, text: &'d str) -> impl Iterator<Item = (usize, WordCode)> + 'd {
        let mut state = Some(double_array::ROOT);
        text.char_indices()
            .map_while(move |(at, c)| {
                state = double_array::step(&self.units, state?, self.symbol(c));
                Some((at + c.len_utf8(), double_array::word(&self.units, state?)))
            })
            .filter_map(|(end, word)| Some((end, WordCode(word?))))
    }

    /// Returns all words with their codes, in unspecified order.
    pub fn words(&self) -> Vec<(String, WordCode)> {
        let mut names = vec!['\0'; usize::from(Symbol::MAX) + 1];
        for c in
            (0..self.basic.len() as u32).chain(self.supplementary.iter().copied()).filter_map(char::from_u32)
        {
            names[usize::from(self.symbol(c))] = c;
        }
        let mut words = Vec::with_capacity(self.len());
        for state in 1..(self.units.len() / 2) as u32 {
            let Some(code) = double_array::word(&self.units, state) else { continue };
            if let Some(symbols) = double_array::symbols_to(&self.units, state) {
                words.push((
                    symbols.iter().rev().map(|symbol| names[usize::from(*symbol)]).collect(),
                    WordCode(code),
                ));
            }
        }
        words
    }

    /// Returns the symbol of a character for [`walk`](Self::walk).
    #[inline]
    pub(crate) fn symbol(&self, c: char) -> Symbol {
        if let Some(symbol) = self.basic.get(c as usize) {
            return *symbol;
        }
        match self.supplementary.binary_search(&(c as u32)) {
            Ok(nth) => self.supplementary_symbol(nth),
            Err(_) => NONE,
        }
    }

    /// Returns the symbol of a supplementary character. These have the highest symbols, in code point order.
    fn supplementary_symbol(&self, nth: usize) -> Symbol {
        let names = usize::from(Symbol::MAX);
        (names - self.supplementary.len() + nth + 1) as Symbol
    }

    /// Calls `f(characters)` for each word that the symbols begin with; see [`walk`](Self::walk).
    #[inline]
    pub(crate) fn walk_lengths(&self, symbols: &[Symbol], mut f: impl FnMut(usize)) {
        let mut state = double_array::ROOT;
        for (nth, symbol) in symbols.iter().enumerate() {
            match double_array::step(&self.units, state, *symbol) {
                Some(next) => state = next,
                None => return,
            }
            if double_array::is_word(&self.units, state) {
                f(nth + 1);
            }
        }
    }

    /// Calls `f(characters, cost)` for each word that the symbols begin with; see [`walk`](Self::walk).
    #[inline]
    pub(crate) fn walk_costs(&self, symbols: &[Symbol], mut f: impl FnMut(usize, u32)) {
        let mut state = double_array::ROOT;
        for (nth, symbol) in symbols.iter().enumerate() {
            match double_array::step(&self.units, state, *symbol) {
                Some(next) => state = next,
                None => return,
            }
            if let Some(cost) = self.unit_costs.get(state as usize)
                && *cost > 0
            {
                f(nth + 1, u32::from(*cost));
            }
        }
    }

    /// Calls `f(characters, code)` for each word that the symbols begin with. Equivalent to
    /// [`words_at`](Self::words_at) for a text that was converted to symbols.
    #[inline]
    pub(crate) fn walk(&self, symbols: &[Symbol], mut f: impl FnMut(usize, WordCode)) {
        let mut state = double_array::ROOT;
        for (nth, symbol) in symbols.iter().enumerate() {
            match double_array::step(&self.units, state, *symbol) {
                Some(next) => state = next,
                None => return,
            }
            if let Some(word) = double_array::word(&self.units, state) {
                f(nth + 1, WordCode(word));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries<'a>(words: &[(&'a str, u32)]) -> Vec<DictionaryEntry<'a>> {
        words
            .iter()
            .map(|(word, frequency)| DictionaryEntry { word, frequency: *frequency, tag: "n" })
            .collect()
    }

    /// Mean chain length of a dictionary in a hash table. Every lookup follows such a chain; the double array
    /// needs none.
    #[test]
    fn chains_of_a_hash_table_have_the_expected_length() {
        let (terms, slots) = (593_286u32, 1_000_000);
        let mut taken = vec![false; slots];
        for term in 0..terms {
            let hash = xxhash_rust::xxh3::xxh3_64(format!("term {term}").as_bytes());
            taken[(hash % slots as u64) as usize] = true;
        }
        let chains = taken.iter().filter(|taken| **taken).count();
        let load = f64::from(terms) / slots as f64;
        let expected = load / (1.0 - (-load).exp());
        assert!((expected - 1.326).abs() < 0.0005);
        assert!((f64::from(terms) / chains as f64 - expected).abs() < 0.005);
    }

    #[test]
    fn words_are_found_along_a_text() {
        let dictionary =
            Dictionary::new(&entries(&[("中", 5), ("中国", 9), ("中国人", 3), ("gone", 0), ("𠮷野家", 2)]));
        let found: Vec<_> = dictionary.words_at("中国人民").collect();
        assert_eq!(found, [(3, WordCode(0)), (6, WordCode(1)), (9, WordCode(2))]);
        assert_eq!((dictionary.total(), dictionary.longest(), dictionary.len()), (19, 3, 5));
        assert_eq!(dictionary.code("gone"), None);
        assert_eq!(dictionary.code("𠮷野家"), Some(WordCode(4)));
        assert_eq!(dictionary.code("中国人民"), None);
        let mut words = dictionary.words();
        words.sort_unstable_by_key(|(_, code)| *code);
        let words: Vec<_> = words.iter().map(|(word, code)| (word.as_str(), code.0)).collect();
        assert_eq!(words, [("中", 0), ("中国", 1), ("中国人", 2), ("𠮷野家", 4)]);
    }
}
