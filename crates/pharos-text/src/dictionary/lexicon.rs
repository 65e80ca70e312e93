//! The words a text is cut with: those that come with the program, and the user's own beside them.

use super::{Dictionary, Symbol, WordCode};

/// The base dictionary and, where there are any, the words of this installation. Both are walked as if they were
/// one; without own words the second walk costs nothing.
#[derive(Clone, Copy)]
pub struct Lexicon<'a> {
    /// The words that come with the program.
    pub base: &'a Dictionary,
    /// The user's own, which need no frequency to hold together.
    pub own: Option<&'a Dictionary>,
}

/// Where a word stands, and its code there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// A word of the base dictionary.
    Base(WordCode),
    /// One of the user's own words.
    Own(WordCode),
}

impl<'a> Lexicon<'a> {
    /// A lexicon of one dictionary.
    pub fn of(base: &'a Dictionary) -> Self {
        Self { base, own: None }
    }

    /// The same with words of the user's own.
    pub fn with_own(self, own: &'a Dictionary) -> Self {
        Self { own: Some(own).filter(|own| !own.is_empty()), ..self }
    }

    /// Where a word stands: the base dictionary comes first.
    pub fn find(&self, word: &str) -> Option<Found> {
        let own = || self.own.and_then(|own| own.code(word)).map(Found::Own);
        self.base.code(word).map(Found::Base).or_else(own)
    }

    /// Where all words end that a text begins with, in bytes; those of the base dictionary first.
    pub(crate) fn ends_at<'t>(self, text: &'t str) -> impl Iterator<Item = usize>
    where
        'a: 't,
    {
        let own = self.own.into_iter().flat_map(move |own| own.words_at(text));
        self.base.words_at(text).chain(own).map(|(end, _)| end)
    }

    /// How often the word was seen.
    pub fn frequency(&self, found: Found) -> u32 {
        match found {
            Found::Base(code) => self.base.frequency(code),
            Found::Own(code) => self.own.map_or(0, |own| own.frequency(code)),
        }
    }

    /// Its part of speech.
    pub fn tag(&self, found: Found) -> String {
        match found {
            Found::Base(code) => self.base.tag(code),
            Found::Own(code) => self.own.map(|own| own.tag(code)).unwrap_or_default(),
        }
    }

    /// Characters of the longest word.
    pub fn longest(&self) -> usize {
        self.base.longest().max(self.own.map_or(0, Dictionary::longest))
    }

    /// All words that a text begins with, given as the symbols of both dictionaries: `f(characters, found)`.
    #[inline]
    pub(crate) fn walk(&self, base: &[Symbol], own: &[Symbol], mut f: impl FnMut(usize, Found)) {
        self.base.walk(base, |characters, code| f(characters, Found::Base(code)));
        if let Some(dictionary) = self.own {
            dictionary.walk(own, |characters, code| f(characters, Found::Own(code)));
        }
    }
}
