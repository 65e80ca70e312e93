//! The dictionaries used for segmentation: the base dictionary and the words of the installation.

use super::{Dictionary, Symbol, WordCode};

/// The base dictionary and, optionally, the words of this installation, searched as one. Without custom words
/// the second lookup costs nothing.
#[derive(Clone, Copy)]
pub struct Lexicon<'a> {
    pub base: &'a Dictionary,
    /// Words of the installation, which are kept together whatever their frequency.
    pub own: Option<&'a Dictionary>,
}

/// A word with the dictionary that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LexiconWord {
    Base(WordCode),
    /// A word of the installation.
    Own(WordCode),
}

impl<'a> Lexicon<'a> {
    /// Creates a lexicon of one dictionary.
    pub fn new(base: &'a Dictionary) -> Self {
        Self { base, own: None }
    }

    /// Returns the lexicon with the words of an installation added.
    pub fn with_own(self, own: &'a Dictionary) -> Self {
        Self { own: Some(own).filter(|own| !own.is_empty()), ..self }
    }

    /// Looks a word up, in the base dictionary first.
    pub fn find(&self, word: &str) -> Option<LexiconWord> {
        let own = || self.own.and_then(|own| own.code(word)).map(LexiconWord::Own);
        self.base.code(word).map(LexiconWord::Base).or_else(own)
    }

    /// Returns the ends in bytes of all words that `text` begins with, those of the base dictionary first.
    pub(crate) fn ends_at<'t>(self, text: &'t str) -> impl Iterator<Item = usize>
    where
        'a: 't,
    {
        let own = self.own.into_iter().flat_map(move |own| own.words_at(text));
        self.base.words_at(text).chain(own).map(|(end, _)| end)
    }

    /// Returns the frequency of a word.
    pub fn frequency(&self, found: LexiconWord) -> u32 {
        match found {
            LexiconWord::Base(code) => self.base.frequency(code),
            LexiconWord::Own(code) => self.own.map_or(0, |own| own.frequency(code)),
        }
    }

    /// Returns the part of speech of a word.
    pub fn tag(&self, found: LexiconWord) -> String {
        match found {
            LexiconWord::Base(code) => self.base.tag(code),
            LexiconWord::Own(code) => self.own.map(|own| own.tag(code)).unwrap_or_default(),
        }
    }

    /// Returns the length of the longest word in characters.
    pub fn longest(&self) -> usize {
        self.base.longest().max(self.own.map_or(0, Dictionary::longest))
    }

    /// Calls `f(characters, word)` for each word that a text begins with. The text is given as symbols of
    /// both dictionaries.
    #[inline]
    pub(crate) fn walk(&self, base: &[Symbol], own: &[Symbol], mut f: impl FnMut(usize, LexiconWord)) {
        self.base.walk(base, |characters, code| f(characters, LexiconWord::Base(code)));
        if let Some(dictionary) = self.own {
            dictionary.walk(own, |characters, code| f(characters, LexiconWord::Own(code)));
        }
    }
}
