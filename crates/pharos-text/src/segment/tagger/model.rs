//! What training yields and a model file holds.

use super::features::{BIGRAM, CLASS_PATTERNS, REPETITION_PATTERNS, TAGS, TRIGRAM, UNIGRAM, WORD_PATTERNS};

/// The weights of the four tags for one atom.
pub(super) type Row = [i16; TAGS];

/// A weight of one, as the whole number that stands for it.
pub(super) const SCALE: f32 = 32.0;
/// Weights outside of n-grams are bounded so that no sum leaves 16 bits.
pub(super) const MAX_WEIGHT: i16 = 4_000;

/// A trained model: the weights of the tagger's features, as small whole numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The alphabet, most frequent first.
    pub(super) characters: Vec<char>,
    /// One row for every symbol.
    pub(super) unigrams: Vec<[i16; UNIGRAM]>,
    pub(super) bigrams: Vec<Gram<BIGRAM>>,
    pub(super) trigrams: Vec<Gram<TRIGRAM>>,
    pub(super) long_words: Vec<Gram<0>>,
    pub(super) classes: Box<[Row; CLASS_PATTERNS]>,
    pub(super) repetitions: Box<[Row; REPETITION_PATTERNS]>,
    pub(super) words: Box<[Row; WORD_PATTERNS]>,
    pub(super) transitions: [Row; TAGS],
}

/// An n-gram of symbols; lists of them are sorted by key, and no key stands twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gram<const WEIGHTS: usize> {
    pub(super) key: u64,
    pub(super) flags: u8,
    pub(super) weights: [i8; WEIGHTS],
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// Something else, or nothing.
    #[error("not a segmentation model")]
    NotAModel,
    /// Written by another version of the program.
    #[error("segmentation model of format {found}, this program reads format {expected}: train it anew")]
    Version {
        /// The file's format.
        found: u32,
        /// The format that is understood.
        expected: u32,
    },
    /// The checksum does not match.
    #[error("segmentation model is damaged: its checksum does not match")]
    Checksum,
    /// The checksum matches and the content makes no sense.
    #[error("segmentation model is corrupt: {0}")]
    Corrupt(&'static str),
}
