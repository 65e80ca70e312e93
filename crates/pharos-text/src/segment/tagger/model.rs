//! The model of the tagger.

use super::features::{BIGRAM, CLASS_PATTERNS, REPETITION_PATTERNS, TAGS, TRIGRAM, UNIGRAM, WORD_PATTERNS};

/// Weights of the four tags for one atom.
pub(super) type TagWeights = [i16; TAGS];

/// Scale of the integer weights.
pub(super) const SCALE: f32 = 32.0;
/// Bound of the weights outside of n-grams, so that no sum exceeds 16 bits.
pub(super) const MAX_WEIGHT: i16 = 4_000;

/// A trained model: the weights of the tagger's features as small integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggerModel {
    /// The alphabet, most frequent first.
    pub(super) characters: Vec<char>,
    /// One row per symbol.
    pub(super) unigrams: Vec<[i16; UNIGRAM]>,
    pub(super) bigrams: Vec<WeightedNgram<BIGRAM>>,
    pub(super) trigrams: Vec<WeightedNgram<TRIGRAM>>,
    pub(super) long_words: Vec<WeightedNgram<0>>,
    pub(super) classes: Box<[TagWeights; CLASS_PATTERNS]>,
    pub(super) repetitions: Box<[TagWeights; REPETITION_PATTERNS]>,
    pub(super) words: Box<[TagWeights; WORD_PATTERNS]>,
    pub(super) transitions: [TagWeights; TAGS],
}

/// An n-gram of symbols. Lists are sorted by key, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WeightedNgram<const WEIGHTS: usize> {
    pub(super) key: u64,
    pub(super) flags: u8,
    pub(super) weights: [i8; WEIGHTS],
}

/// Reason why a model cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TaggerModelError {
    #[error("not a segmentation model")]
    NotAModel,
    /// Written by another version of the program.
    #[error(
        "segmentation model has format {found}, but this program reads format {expected}: train it again"
    )]
    Version { found: u32, expected: u32 },
    #[error("segmentation model is damaged: wrong checksum")]
    Checksum,
    /// The checksum matches, but the content is invalid.
    #[error("segmentation model is corrupt: {0}")]
    Corrupt(&'static str),
}
