//! The words of this installation, beside the base dictionary that comes with the program.
//!
//! **In:** a text file that a person may edit, one word a line. **Out:** a [`Dictionary`] of words that join in
//! cutting, and an [`Extension`] of names that are terms of their own.
//!
//! ```
//! use pharos_text::dictionary::Dictionary;
//! use pharos_text::vocabulary::{Kind, Vocabulary};
//!
//! let text = "# our words\n爱心社\n微名大学出版社\textension\n";
//! let (words, problems) = Vocabulary::parse(text, Dictionary::base(), &|word| word.to_lowercase());
//! assert!(problems.is_empty());
//! assert!(words.own().contains("爱心社"));
//! assert_eq!(words.get("微名大学出版社").map(|word| word.kind), Some(Kind::Extension));
//! ```
//!
//! # Two kinds
//! A word of kind `base` is cut as one word from now on; few are worth that, for every word makes other cuts
//! possible. A word of kind `extension` is stored as a sequence of base words and changes no cut (see
//! [`hybrid`]). Who does not say which gets the kind that fits: [`Kind::fitting`].

mod editor;
mod file;
mod watched;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

pub use self::editor::Editor;
pub use self::file::{MAX_FILE_BYTES, MAX_PROBLEMS, Problem};
pub use self::watched::{LoadError, Watched};
use crate::dictionary::{Dictionary, Entry};
use crate::segment::hybrid::{self, Extension};

/// Words of an installation at most.
pub const MAX_WORDS: usize = 1_000_000;
/// Bytes of a word at most, as of any term.
pub const MAX_WORD_BYTES: usize = crate::MAX_TERM_BYTES;
/// Bytes of a word of kind `extension` at most: its term has two more.
pub const MAX_NAME_BYTES: usize = MAX_WORD_BYTES - 2;
/// Bytes of the note on where a word came from at most; the rest is cut off.
const MAX_SOURCE_BYTES: usize = 256;

/// What a word is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Joins the base dictionary in cutting.
    Base,
    /// A name in the extension dictionary (扩展词典).
    Extension,
}

impl Kind {
    /// The kind that fits a word: what is composed of known words, at least two of them of several characters,
    /// needs no cut of its own.
    pub fn fitting(word: &str, base: &Dictionary) -> Self {
        let mut start = 0;
        let ends = hybrid::pieces(base, word);
        let several = ends.iter().filter(|end| {
            let piece = &word[std::mem::replace(&mut start, **end)..**end];
            piece.chars().nth(1).is_some()
        });
        if several.count() >= 2 { Self::Extension } else { Self::Base }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Extension => "extension",
        })
    }
}

impl FromStr for Kind {
    type Err = WordError;

    fn from_str(name: &str) -> Result<Self, WordError> {
        match name {
            "base" => Ok(Self::Base),
            "extension" => Ok(Self::Extension),
            _ => Err(WordError::Kind),
        }
    }
}

/// What is known of a word of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is for.
    pub kind: Kind,
    /// How often it was seen, at least 1; 1 where nobody counted.
    pub frequency: u32,
    /// Where it came from, in anybody's words; may be empty.
    pub source: Box<str>,
}

/// Why a word cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WordError {
    /// Nothing is left of it in normalised form.
    #[error("no word")]
    Empty,
    /// It is longer than a term may be.
    #[error("longer than {0} bytes")]
    TooLong(usize),
    /// It holds a control character, or bytes that were no UTF-8.
    #[error("control characters or broken characters in the word")]
    Control,
    /// It holds white space, which always separates words.
    #[error("white space in the word")]
    WhiteSpace,
    /// The base dictionary has it.
    #[error("already a word of the base dictionary")]
    Known,
    /// The installation has it.
    #[error("given twice; the first counts")]
    Twice,
    /// Not a kind.
    #[error("the kind is neither `base` nor `extension`")]
    Kind,
    /// Not a frequency.
    #[error("the frequency is no whole number from 1 to {}", u32::MAX)]
    Frequency,
    /// Too short or too long for the extension dictionary.
    #[error("of {0} base words; a name has {min} to {max}", min = hybrid::MIN_WORDS, max = hybrid::MAX_WORDS)]
    Pieces(usize),
    /// There is no room for more.
    #[error("more than {MAX_WORDS} words")]
    Full,
}

/// The words of an installation.
pub struct Vocabulary {
    base: &'static Dictionary,
    words: BTreeMap<Box<str>, Word>,
    own: OnceLock<Dictionary>,
    extension: OnceLock<Extension>,
}

impl Vocabulary {
    /// No words yet.
    pub fn new(base: &'static Dictionary) -> Self {
        Self { base, words: BTreeMap::new(), own: OnceLock::new(), extension: OnceLock::new() }
    }

    /// Takes a word, in normalised form, and says which kind it got. Without a kind it gets the one that fits,
    /// without a frequency 1.
    pub fn add(
        &mut self,
        word: &str,
        kind: Option<Kind>,
        frequency: Option<u32>,
        source: &str,
    ) -> Result<Kind, WordError> {
        check(word)?;
        if self.words.contains_key(word) {
            return Err(WordError::Twice);
        }
        // A word of the base dictionary may still be a name: 国家图书馆, of 国家 and 图书馆.
        if self.base.contains(word) && kind != Some(Kind::Extension) {
            return Err(WordError::Known);
        }
        let kind = kind.unwrap_or_else(|| Kind::fitting(word, self.base));
        if kind == Kind::Extension {
            if word.len() > MAX_NAME_BYTES {
                return Err(WordError::TooLong(MAX_NAME_BYTES));
            }
            let pieces = hybrid::pieces(self.base, word).len();
            if !(hybrid::MIN_WORDS..=hybrid::MAX_WORDS).contains(&pieces) {
                return Err(WordError::Pieces(pieces));
            }
        }
        let frequency = frequency.unwrap_or(1);
        if frequency == 0 {
            return Err(WordError::Frequency);
        }
        if self.words.len() >= MAX_WORDS {
            return Err(WordError::Full);
        }
        let source = source.trim();
        let source = source[..source.floor_char_boundary(MAX_SOURCE_BYTES)].replace(char::is_control, " ");
        self.words.insert(word.into(), Word { kind, frequency, source: source.trim().into() });
        self.forget_compiled();
        Ok(kind)
    }

    /// Takes a word out; says what it was.
    pub fn remove(&mut self, word: &str) -> Option<Word> {
        let removed = self.words.remove(word)?;
        self.forget_compiled();
        Some(removed)
    }

    fn forget_compiled(&mut self) {
        (self.own, self.extension) = (OnceLock::new(), OnceLock::new());
    }

    /// Is this a word of the installation?
    pub fn contains(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// What is known of a word of the installation.
    pub fn get(&self, word: &str) -> Option<&Word> {
        self.words.get(word)
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// All words, in the order of their characters.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Word)> {
        self.words.iter().map(|(word, known)| (&**word, known))
    }

    /// The words of kind `base`. Compiled at the first call.
    pub fn own(&self) -> &Dictionary {
        self.own.get_or_init(|| {
            let entries: Vec<_> = self
                .of_kind(Kind::Base)
                .map(|(word, known)| Entry { word, frequency: known.frequency, tag: "" })
                .collect();
            Dictionary::new(&entries)
        })
    }

    /// The words of kind `extension`. Compiled at the first call.
    pub fn extension(&self) -> &Extension {
        self.extension
            .get_or_init(|| Extension::new(self.base, self.of_kind(Kind::Extension).map(|(word, _)| word)))
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&str, &Word)> {
        self.iter().filter(move |(_, known)| known.kind == kind)
    }

    /// A fingerprint of the words, their kinds and frequencies: what an index was built with. The same words have
    /// the same fingerprint, in whatever order they came.
    pub fn version(&self) -> String {
        let mut hash = Xxh3::new();
        for (word, known) in self.iter() {
            hash.update(word.as_bytes());
            hash.update(&[0, known.kind as u8]);
            hash.update(&known.frequency.to_le_bytes());
        }
        format!("{:016x}", hash.digest())
    }
}

/// Can it be a word at all?
fn check(word: &str) -> Result<(), WordError> {
    if word.is_empty() {
        Err(WordError::Empty)
    } else if word.len() > MAX_WORD_BYTES {
        Err(WordError::TooLong(MAX_WORD_BYTES))
    } else if word.contains(char::is_whitespace) {
        Err(WordError::WhiteSpace)
    } else if word.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER) {
        Err(WordError::Control)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_what_a_word_is_made_of() {
        let base = Dictionary::base();
        assert_eq!(Kind::fitting("爱心社", base), Kind::Base);
        assert_eq!(Kind::fitting("灯塔搜索引擎", base), Kind::Extension);
        assert_eq!(Kind::fitting("windows7旗舰版", base), Kind::Extension);
        assert_eq!(Kind::fitting("囧", base), Kind::Base);
    }

    #[test]
    fn words_are_compiled_by_their_kind() {
        let mut words = Vocabulary::new(Dictionary::base());
        assert_eq!(words.add("爱心社", None, Some(7), "by hand"), Ok(Kind::Base));
        assert_eq!(words.add("灯塔搜索引擎", None, None, ""), Ok(Kind::Extension));
        assert_eq!(words.own().words_at("爱心社团").map(|(end, _)| end).collect::<Vec<_>>(), [9]);
        assert_eq!((words.own().len(), words.extension().len()), (1, 1));
        assert!(words.remove("爱心社").is_some() && words.remove("爱心社").is_none());
        assert!(words.own().is_empty() && !words.contains("爱心社"));
    }

    #[test]
    fn what_cannot_be_a_word_is_refused() {
        let mut words = Vocabulary::new(Dictionary::base());
        let mut add = |word: &str, kind| words.add(word, kind, None, "");
        assert_eq!(add("", None), Err(WordError::Empty));
        assert_eq!(add("中国", None), Err(WordError::Known));
        assert_eq!(add("爱 心", None), Err(WordError::WhiteSpace));
        assert_eq!(add("爱\u{7}", None), Err(WordError::Control));
        assert_eq!(add(&"龘".repeat(22), None), Err(WordError::TooLong(64)));
        assert_eq!(add(&"龘".repeat(21), Some(Kind::Extension)), Err(WordError::TooLong(62)));
        assert_eq!(add(&"龘".repeat(7), Some(Kind::Extension)), Err(WordError::Pieces(7)));
        assert_eq!(add("xyzzy", Some(Kind::Extension)), Err(WordError::Pieces(1)));
        assert_eq!(add("爱心社", None), Ok(Kind::Base));
        assert_eq!(add("爱心社", None), Err(WordError::Twice));
    }

    #[test]
    fn the_version_is_that_of_the_words() {
        let make = |given: &[(&str, u32)]| {
            let mut words = Vocabulary::new(Dictionary::base());
            for (word, frequency) in given {
                words.add(word, None, Some(*frequency), "anywhere").unwrap();
            }
            words.version()
        };
        assert_eq!(make(&[("爱心社", 1), ("搜虎", 2)]), make(&[("搜虎", 2), ("爱心社", 1)]));
        assert_ne!(make(&[("爱心社", 1), ("搜虎", 2)]), make(&[("爱心社", 1), ("搜虎", 3)]));
        assert_ne!(make(&[]), make(&[("爱心社", 1)]));
        assert_eq!(make(&[]).len(), 16);
    }
}
