//! Features of the tagger, shared by training (floating-point weights) and tagging (small integer weights).
//!
//! | feature | applies to |
//! |---|---|
//! | a symbol | the previous atom, itself, the next atom |
//! | two adjacent symbols | both |
//! | three symbols | all three |
//! | classes of three characters (number, letter, sign …) | the middle one |
//! | equal neighbours (看看, 高高兴兴) | the atom among them |
//! | words of the word list that touch an atom | that atom |
//!
//! A row of weights for several atoms stores them consecutively, four tags each, so that a row is looked up
//! once and added once.

use super::atoms::{CLASS_BITS, Symbol};

/// The tags (Xue 2003): a word's first, inner and last atom, and a word of one atom.
pub(super) const TAGS: usize = 4;
pub(super) const BEGIN: usize = 0;
pub(super) const MIDDLE: usize = 1;
pub(super) const END: usize = 2;
pub(super) const SINGLE: usize = 3;

/// The permitted transitions.
pub(super) const TRANSITIONS: [(usize, usize); 8] = [
    (BEGIN, MIDDLE),
    (BEGIN, END),
    (MIDDLE, MIDDLE),
    (MIDDLE, END),
    (END, BEGIN),
    (END, SINGLE),
    (SINGLE, BEGIN),
    (SINGLE, SINGLE),
];

/// Weights of a symbol: three atoms.
pub(super) const UNIGRAM: usize = 3 * TAGS;
/// Weights of two symbols: two atoms.
pub(super) const BIGRAM: usize = 2 * TAGS;
/// Weights of three symbols: three atoms.
pub(super) const TRIGRAM: usize = 3 * TAGS;

/// Numbers of patterns of classes, repetitions and words.
pub(super) const CLASS_PATTERNS: usize = 1 << (3 * CLASS_BITS);
pub(super) const REPETITION_PATTERNS: usize = 1 << 5;
pub(super) const WORD_PATTERNS: usize = 1 << 9;

// Flags of an n-gram, from the word list.
/// The n-gram is a word.
pub(super) const WORD: u8 = 1;
/// The n-gram begins a word of four symbols.
pub(super) const HEAD: u8 = 2;
/// The n-gram ends a word of four symbols.
pub(super) const TAIL: u8 = 4;

/// Returns the pattern of equal neighbours of the middle symbol.
#[inline]
pub(super) fn repetition_pattern(around: [Symbol; 5]) -> usize {
    let [before_last, last, this, next, after_next] = around;
    usize::from(last == this)
        | usize::from(this == next) << 1
        | usize::from(last == next) << 2
        | usize::from(before_last == this) << 3
        | usize::from(this == after_next) << 4
}

/// Words of the word list that end at the most recent atoms, and the classes of these atoms.
#[derive(Clone, Copy, Default)]
pub(super) struct FeatureHistory {
    words: usize,
    classes: usize,
}

impl FeatureHistory {
    /// Advances by one atom: flags for words of two, three and four symbols that end there, and its class.
    #[inline]
    pub(super) fn push(&mut self, two: bool, three: bool, four: bool, class: u8) {
        self.words = self.words << 3 | usize::from(two) | usize::from(three) << 1 | usize::from(four) << 2;
        self.classes = self.classes << CLASS_BITS | usize::from(class);
    }

    /// Returns the pattern of words that touch the atom three steps ago: words that end there or one step
    /// later, words of three or four symbols that end two steps later, and words of four that end now.
    #[inline]
    pub(super) fn word_pattern(self) -> usize {
        (self.words >> 6 & 63) << 3 | (self.words >> 4 & 3) << 1 | (self.words >> 2 & 1)
    }

    /// Returns the classes of the atom three steps ago and its neighbours.
    #[inline]
    pub(super) fn class_pattern(self) -> usize {
        self.classes >> (2 * CLASS_BITS) & (CLASS_PATTERNS - 1)
    }
}
