//! What the tagger looks at: the same for training, with floating-point weights, and for tagging, with small
//! whole ones.
//!
//! | feature | reaches |
//! |---|---|
//! | a symbol | the atom before, itself, the atom after |
//! | two symbols side by side | both |
//! | three symbols | all three |
//! | classes of three characters (number, letter, sign …) | the middle one |
//! | equal neighbours (看看, 高高兴兴) | the atom among them |
//! | words of the word list that touch an atom | that atom |
//!
//! Every row of weights that reaches several atoms holds them one after the other, four tags each, so that a row
//! found once is added once, in one stretch.

use super::atoms::{CLASS_BITS, Symbol};

/// The tags (Xue 2003): a word's first, inner and last atom, and a word of one atom.
pub(super) const TAGS: usize = 4;
pub(super) const BEGIN: usize = 0;
pub(super) const MIDDLE: usize = 1;
pub(super) const END: usize = 2;
pub(super) const SINGLE: usize = 3;

/// The pairs of tags that may follow each other.
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

/// How many patterns of classes, of repetitions and of words there are.
pub(super) const CLASS_PATTERNS: usize = 1 << (3 * CLASS_BITS);
pub(super) const REPETITION_PATTERNS: usize = 1 << 5;
pub(super) const WORD_PATTERNS: usize = 1 << 9;

// Flags of an n-gram: what the word list says of it.
/// Is a word.
pub(super) const WORD: u8 = 1;
/// Begins a word of four symbols.
pub(super) const HEAD: u8 = 2;
/// Ends a word of four symbols.
pub(super) const TAIL: u8 = 4;

/// Which neighbours of the middle one are equal.
#[inline]
pub(super) fn repetition_pattern(around: [Symbol; 5]) -> usize {
    let [before_last, last, this, next, after_next] = around;
    usize::from(last == this)
        | usize::from(this == next) << 1
        | usize::from(last == next) << 2
        | usize::from(before_last == this) << 3
        | usize::from(this == after_next) << 4
}

/// The words of the word list that end at each of the last atoms, and the classes of these, while one walks.
#[derive(Clone, Copy, Default)]
pub(super) struct Trail {
    words: usize,
    classes: usize,
}

impl Trail {
    /// One atom on: words of two, three and four symbols that end there, and its class.
    #[inline]
    pub(super) fn push(&mut self, two: bool, three: bool, four: bool, class: u8) {
        self.words = self.words << 3 | usize::from(two) | usize::from(three) << 1 | usize::from(four) << 2;
        self.classes = self.classes << CLASS_BITS | usize::from(class);
    }

    /// Which words touch the atom three steps ago: those that end there or one step later, those of three or
    /// four symbols that end two steps later, those of four that end now.
    #[inline]
    pub(super) fn word_pattern(self) -> usize {
        (self.words >> 6 & 63) << 3 | (self.words >> 4 & 3) << 1 | (self.words >> 2 & 1)
    }

    /// The classes of the atom three steps ago and its neighbours.
    #[inline]
    pub(super) fn class_pattern(self) -> usize {
        self.classes >> (2 * CLASS_BITS) & (CLASS_PATTERNS - 1)
    }
}
