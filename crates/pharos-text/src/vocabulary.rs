//! The words of this installation, used in addition to the base dictionary.
//!
//! **Input:** a text file that an operator may edit, one word per line. **Output:** a [`Dictionary`] of words
//! for segmentation, and an [`Extension`] dictionary of names that are terms of their own.
//!
//! ```
//! use pharos_text::dictionary::Dictionary;
//! use pharos_text::vocabulary::{Vocabulary, WordKind};
//!
//! let text = "# our words\n爱心社\n微名大学出版社\textension\n";
//! let (words, problems) = Vocabulary::parse(text, Dictionary::base(), &|word| word.to_lowercase());
//! assert!(problems.is_empty());
//! assert!(words.own().contains("爱心社"));
//! assert_eq!(words.get("微名大学出版社").map(|word| word.kind), Some(WordKind::Extension));
//! ```
//!
//! # Word kinds
//! A word of kind `base` is segmented as one word. Add such words sparingly: every word makes other
//! segmentations possible. A word of kind `extension` is stored as a sequence of base words and does not
//! change the segmentation (see [`hybrid`]). If no kind is given, [`WordKind::suggest`] chooses one.

mod editor;
mod file;
mod watched;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

pub use self::editor::VocabularyEditor;
pub use self::file::{MAX_FILE_BYTES, MAX_PROBLEMS, VocabularyProblem};
pub use self::watched::{VocabularyLoadError, WatchedVocabulary};
use crate::dictionary::{Dictionary, DictionaryEntry};
use crate::segment::hybrid::{self, Extension};

/// Maximum number of words of an installation.
pub const MAX_WORDS: usize = 1_000_000;
/// Maximum length of a word in bytes, as of any term.
pub const MAX_WORD_BYTES: usize = crate::MAX_TERM_BYTES;
/// Maximum length in bytes of a word of kind `extension`. Its term has two bytes more.
pub const MAX_NAME_BYTES: usize = MAX_WORD_BYTES - 2;
/// Maximum length in bytes of the source note. Longer notes are truncated.
const MAX_SOURCE_BYTES: usize = 256;

/// The purpose of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// Added to the base dictionary for segmentation.
    Base,
    /// A name in the extension dictionary (扩展词典).
    Extension,
}

impl WordKind {
    /// Returns the kind for a word without an explicit one. A word that contains at least two dictionary
    /// words of several characters is an extension name; it needs no segmentation of its own.
    pub fn suggest(word: &str, base: &Dictionary) -> Self {
        let mut start = 0;
        let ends = hybrid::base_word_ends(base, word);
        let several = ends.iter().filter(|end| {
            let piece = &word[std::mem::replace(&mut start, **end)..**end];
            piece.chars().nth(1).is_some()
        });
        if several.count() >= 2 { Self::Extension } else { Self::Base }
    }
}

impl fmt::Display for WordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Extension => "extension",
        })
    }
}

impl FromStr for WordKind {
    type Err = WordError;

    fn from_str(name: &str) -> Result<Self, WordError> {
        match name {
            "base" => Ok(Self::Base),
            "extension" => Ok(Self::Extension),
            _ => Err(WordError::InvalidKind),
        }
    }
}

/// Attributes of a word of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabularyWord {
    pub kind: WordKind,
    /// Number of occurrences, at least 1. Defaults to 1.
    pub frequency: u32,
    /// Free-text note on the origin of the word; may be empty.
    pub source: Box<str>,
}

/// Reason for rejecting a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WordError {
    /// The normalised form is empty.
    #[error("empty word")]
    Empty,
    #[error("longer than {0} bytes")]
    TooLong(usize),
    /// The word contains a control character or invalid UTF-8.
    #[error("control characters or invalid characters in the word")]
    Control,
    /// The word contains whitespace, which always separates words.
    #[error("whitespace in the word")]
    WhiteSpace,
    /// The word is in the base dictionary.
    #[error("already a word of the base dictionary")]
    InBaseDictionary,
    /// The word is in the vocabulary already.
    #[error("duplicate word; the first entry is used")]
    Duplicate,
    #[error("invalid kind: expected `base` or `extension`")]
    InvalidKind,
    #[error("invalid frequency: expected a whole number from 1 to {}", u32::MAX)]
    InvalidFrequency,
    /// Wrong number of base words for the extension dictionary.
    #[error("consists of {0} base words; a name must have {min} to {max}", min = hybrid::MIN_WORDS, max = hybrid::MAX_WORDS)]
    BaseWordCount(usize),
    /// The vocabulary is full.
    #[error("more than {MAX_WORDS} words")]
    Full,
}

/// The words of an installation.
pub struct Vocabulary {
    base: &'static Dictionary,
    words: BTreeMap<Box<str>, VocabularyWord>,
    own: OnceLock<Dictionary>,
    extension: OnceLock<Extension>,
}

impl Vocabulary {
    /// Creates an empty vocabulary.
    pub fn new(base: &'static Dictionary) -> Self {
        Self { base, words: BTreeMap::new(), own: OnceLock::new(), extension: OnceLock::new() }
    }

    /// Adds a normalised word and returns its kind. Without an explicit kind, [`WordKind::suggest`] chooses
    /// one. The default frequency is 1.
    pub fn add(
        &mut self,
        word: &str,
        kind: Option<WordKind>,
        frequency: Option<u32>,
        source: &str,
    ) -> Result<WordKind, WordError> {
        check_word(word)?;
        if self.words.contains_key(word) {
            return Err(WordError::Duplicate);
        }
        // A word of the base dictionary may also be a name: 国家图书馆, composed of 国家 and 图书馆.
        if self.base.contains(word) && kind != Some(WordKind::Extension) {
            return Err(WordError::InBaseDictionary);
        }
        let kind = kind.unwrap_or_else(|| WordKind::suggest(word, self.base));
        if kind == WordKind::Extension {
            if word.len() > MAX_NAME_BYTES {
                return Err(WordError::TooLong(MAX_NAME_BYTES));
            }
            let pieces = hybrid::base_word_ends(self.base, word).len();
            if !(hybrid::MIN_WORDS..=hybrid::MAX_WORDS).contains(&pieces) {
                return Err(WordError::BaseWordCount(pieces));
            }
        }
        let frequency = frequency.unwrap_or(1);
        if frequency == 0 {
            return Err(WordError::InvalidFrequency);
        }
        if self.words.len() >= MAX_WORDS {
            return Err(WordError::Full);
        }
        let source = source.trim();
        let source = source[..source.floor_char_boundary(MAX_SOURCE_BYTES)].replace(char::is_control, " ");
        self.words.insert(word.into(), VocabularyWord { kind, frequency, source: source.trim().into() });
        self.discard_compiled();
        Ok(kind)
    }

    /// Removes a word and returns its attributes.
    pub fn remove(&mut self, word: &str) -> Option<VocabularyWord> {
        let removed = self.words.remove(word)?;
        self.discard_compiled();
        Some(removed)
    }

    fn discard_compiled(&mut self) {
        (self.own, self.extension) = (OnceLock::new(), OnceLock::new());
    }

    /// Returns `true` if `word` is in the vocabulary.
    pub fn contains(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// Returns the attributes of a word.
    pub fn get(&self, word: &str) -> Option<&VocabularyWord> {
        self.words.get(word)
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns `true` if there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns all words in code point order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &VocabularyWord)> {
        self.words.iter().map(|(word, known)| (&**word, known))
    }

    /// Returns the words of kind `base` as a dictionary, compiled at the first call.
    pub fn own(&self) -> &Dictionary {
        self.own.get_or_init(|| {
            let entries: Vec<_> = self
                .words_of_kind(WordKind::Base)
                .map(|(word, known)| DictionaryEntry { word, frequency: known.frequency, tag: "" })
                .collect();
            Dictionary::new(&entries)
        })
    }

    /// Returns the words of kind `extension` as an extension dictionary, compiled at the first call.
    pub fn extension(&self) -> &Extension {
        self.extension.get_or_init(|| {
            Extension::new(self.base, self.words_of_kind(WordKind::Extension).map(|(word, _)| word))
        })
    }

    fn words_of_kind(&self, kind: WordKind) -> impl Iterator<Item = (&str, &VocabularyWord)> {
        self.iter().filter(move |(_, known)| known.kind == kind)
    }

    /// Returns a fingerprint of the words, their kinds and frequencies. An index records the version it was
    /// built with. The fingerprint does not depend on the order of insertion.
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

/// Checks that a word is well-formed.
fn check_word(word: &str) -> Result<(), WordError> {
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
    fn the_kind_depends_on_the_parts_of_a_word() {
        let base = Dictionary::base();
        assert_eq!(WordKind::suggest("爱心社", base), WordKind::Base);
        assert_eq!(WordKind::suggest("灯塔搜索引擎", base), WordKind::Extension);
        assert_eq!(WordKind::suggest("windows7旗舰版", base), WordKind::Extension);
        assert_eq!(WordKind::suggest("囧", base), WordKind::Base);
    }

    #[test]
    fn words_are_compiled_by_their_kind() {
        let mut words = Vocabulary::new(Dictionary::base());
        assert_eq!(words.add("爱心社", None, Some(7), "by hand"), Ok(WordKind::Base));
        assert_eq!(words.add("灯塔搜索引擎", None, None, ""), Ok(WordKind::Extension));
        assert_eq!(words.own().words_at("爱心社团").map(|(end, _)| end).collect::<Vec<_>>(), [9]);
        assert_eq!((words.own().len(), words.extension().len()), (1, 1));
        assert!(words.remove("爱心社").is_some() && words.remove("爱心社").is_none());
        assert!(words.own().is_empty() && !words.contains("爱心社"));
    }

    #[test]
    fn invalid_words_are_rejected() {
        let mut words = Vocabulary::new(Dictionary::base());
        let mut add = |word: &str, kind| words.add(word, kind, None, "");
        assert_eq!(add("", None), Err(WordError::Empty));
        assert_eq!(add("中国", None), Err(WordError::InBaseDictionary));
        assert_eq!(add("爱 心", None), Err(WordError::WhiteSpace));
        assert_eq!(add("爱\u{7}", None), Err(WordError::Control));
        assert_eq!(add(&"龘".repeat(22), None), Err(WordError::TooLong(64)));
        assert_eq!(add(&"龘".repeat(21), Some(WordKind::Extension)), Err(WordError::TooLong(62)));
        assert_eq!(add(&"龘".repeat(7), Some(WordKind::Extension)), Err(WordError::BaseWordCount(7)));
        assert_eq!(add("xyzzy", Some(WordKind::Extension)), Err(WordError::BaseWordCount(1)));
        assert_eq!(add("爱心社", None), Ok(WordKind::Base));
        assert_eq!(add("爱心社", None), Err(WordError::Duplicate));
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
