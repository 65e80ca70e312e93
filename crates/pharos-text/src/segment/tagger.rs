//! A discriminative character tagger (字标注): every atom of a text gets the tag of its position in a word.
//!
//! A linear-chain conditional random field (Lafferty, McCallum & Pereira 2001) over the tags *begin*,
//! *middle*, *end* and *single* (Xue 2003), with impossible transitions forbidden. It is trained on a
//! segmented corpus and, optionally, a word list. Words of the list are features, not constraints: the
//! context decides.
//!
//! ```
//! use pharos_text::segment::Segmenter;
//! use pharos_text::segment::tagger::{Corpus, Tagger, Training};
//!
//! let mut corpus = Corpus::default();
//! for _ in 0..20 {
//!     corpus.add_line("他/r  研究/v  生命/n  的/u  起源/n  。/w")?;
//!     corpus.add_line("研究生/n  命题/v")?;
//! }
//! let model = Training::default().run(&corpus, ["起源"], |_| true)?;
//! let tagger = Tagger::new(&model)?;
//! assert_eq!(tagger.words("研究生命的起源"), ["研究", "生命", "的", "起源"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atoms;
mod corpus;
mod decode;
mod features;
mod file;
mod lanes;
mod model;
mod table;
mod train;

pub use corpus::{Corpus, CorpusError};
pub use model::{TaggerModel, TaggerModelError};
pub use train::{TrainError, Training, TrainingProgress};

use atoms::{Alphabet, Atoms, BORDER, PADDING, Symbol};
use decode::Decoder;
use features::{
    BIGRAM, CLASS_PATTERNS, FeatureHistory, HEAD, REPETITION_PATTERNS, TAGS, TAIL, TRIGRAM, WORD,
    WORD_PATTERNS, repetition_pattern,
};
use lanes::Lanes;
use model::TagWeights;
use table::{NgramTable, key};

use pharos_core::work::spend_work;

use super::{Segmenter, SegmenterBuffers};

/// A model prepared for tagging. Can be shared between threads.
pub struct Tagger {
    alphabet: Alphabet,
    /// Weights of every symbol for the previous atom, its own and the next.
    unigrams: Vec<[Lanes; 3]>,
    bigrams: NgramTable<BIGRAM>,
    trigrams: NgramTable<TRIGRAM>,
    /// Words of four symbols.
    long_words: NgramTable<0>,
    classes: Box<[Lanes; CLASS_PATTERNS]>,
    repetitions: Box<[Lanes; REPETITION_PATTERNS]>,
    words: Box<[Lanes; WORD_PATTERNS]>,
    transitions: [TagWeights; TAGS],
}

/// Working memory of the tagger, reused from text to text.
#[derive(Default)]
pub(crate) struct TaggerBuffers {
    atoms: Atoms,
    found: Vec<WindowEntries>,
    tags: Vec<u8>,
}

/// Table entries of the n-grams that end a window.
struct WindowEntries {
    bigram: u32,
    trigram: u32,
}

/// Number of symbols in a window: two before, the current one and the next.
const WINDOW: usize = 4;
/// Number of windows looked up at once: few enough for their weights to stay in the cache.
const BLOCK: usize = 128;

impl Tagger {
    /// Loads a tagger from the bytes of a model file.
    pub fn load(bytes: &[u8]) -> Result<Self, TaggerModelError> {
        Tagger::new(&TaggerModel::from_bytes(bytes)?)
    }

    /// Creates a tagger from `model`.
    pub fn new(model: &TaggerModel) -> Result<Self, TaggerModelError> {
        Ok(Tagger {
            alphabet: Alphabet::new(&model.characters),
            unigrams: model.unigrams.iter().map(unigram_lanes).collect(),
            bigrams: table(&model.bigrams)?,
            trigrams: table(&model.trigrams)?,
            long_words: table(&model.long_words)?,
            classes: Box::new(model.classes.map(Lanes::of_row)),
            repetitions: Box::new(model.repetitions.map(Lanes::of_row)),
            words: Box::new(model.words.map(Lanes::of_row)),
            transitions: model.transitions,
        })
    }

    /// Finds the best tag of every atom.
    fn tag(&self, symbols: &[Symbol], found: &mut Vec<WindowEntries>, tags: &mut Vec<u8>) {
        let mut decoder = Decoder::new(&self.transitions, tags);
        let mut trail = FeatureHistory::default();
        let mut around = [BORDER; 5];
        // Whether the last two bigrams begin words of four symbols.
        let mut heads = [false; 2];
        // Accumulated scores of the atom two before `this`, the one before, and `this`.
        let [mut before_last_sum, mut last_sum, mut this_sum] = [Lanes::default(); 3];
        // Rows reach back to `last` only, so that each step completes the previous atom. The first steps
        // belong to the borders.
        let mut borders = PADDING;
        for begin in (0..symbols.len()).step_by(BLOCK) {
            let block = &symbols[begin..symbols.len().min(begin + BLOCK + WINDOW - 1)];
            self.find(block, found);
            for (window, found) in block.array_windows::<WINDOW>().zip(&*found) {
                let &[_, _, this, next] = window;
                let bigram = self.bigrams.entry(found.bigram);
                let trigram = self.trigrams.entry(found.trigram);
                let unigram = &self.unigrams[usize::from(this)];
                let two = atom_weights(&bigram.weights);
                let three = atom_weights(&trigram.weights);
                let four = heads[1] && bigram.has(TAIL) && self.long_words.get(key(window)).has(WORD);
                heads = [bigram.has(HEAD), heads[0]];
                trail.push(
                    bigram.has(WORD),
                    trigram.has(WORD),
                    four,
                    self.alphabet.classes[usize::from(next)],
                );
                around = [around[1], around[2], around[3], around[4], this];
                if borders == 0 {
                    decoder.push(
                        before_last_sum
                            + self.classes[trail.class_pattern()]
                            + self.repetitions[repetition_pattern(around)]
                            + self.words[trail.word_pattern()],
                    );
                } else {
                    borders -= 1;
                }
                before_last_sum = last_sum + unigram[0] + three(0);
                last_sum = this_sum + unigram[1] + two(0) + three(1);
                this_sum = unigram[2] + two(1) + three(2);
            }
        }
        decoder.finish();
    }

    /// Looks up the n-grams of all windows step by step, which overlaps the memory latencies.
    fn find(&self, symbols: &[Symbol], found: &mut Vec<WindowEntries>) {
        found.clear();
        found.extend(symbols.array_windows::<WINDOW>().map(|&[_, last, this, next]| WindowEntries {
            bigram: self.bigrams.candidate(key(&[this, next])),
            trigram: self.trigrams.candidate(key(&[last, this, next])),
        }));
        for (&[_, last, this, next], found) in symbols.array_windows::<WINDOW>().zip(found) {
            found.bigram = self.bigrams.confirm(found.bigram, key(&[this, next]));
            found.trigram = self.trigrams.confirm(found.trigram, key(&[last, this, next]));
        }
    }
}

/// Returns the weights of an n-gram for one of the atoms it covers.
#[inline]
fn atom_weights<const WEIGHTS: usize>(weights: &[u8; WEIGHTS]) -> impl Fn(usize) -> Lanes {
    let atoms = weights.as_chunks::<TAGS>().0;
    move |atom| Lanes::of_bytes(atoms[atom])
}

fn unigram_lanes(row: &[i16; features::UNIGRAM]) -> [Lanes; 3] {
    let atoms = row.as_chunks::<TAGS>().0;
    std::array::from_fn(|atom| Lanes::of_row(atoms[atom]))
}

fn table<const WEIGHTS: usize>(
    grams: &[model::WeightedNgram<WEIGHTS>],
) -> Result<NgramTable<WEIGHTS>, TaggerModelError> {
    NgramTable::new(grams.iter().map(|gram| (gram.key, gram.flags, gram.weights)))
        .ok_or(TaggerModelError::Corrupt("too many sequences collide"))
}

impl Segmenter for Tagger {
    fn segment(&self, text: &str, buffers: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
        spend_work(text.len() as u64);
        let TaggerBuffers { atoms, found, tags } = &mut buffers.tagger;
        let mut start = 0;
        while start < text.len() {
            let stop = self.alphabet.read(text, start, atoms);
            if atoms.ends.len() > 1 {
                self.tag(&atoms.symbols, found, tags);
                decode::push_ends(tags, &atoms.ends, ends);
            } else {
                ends.extend_from_slice(&atoms.ends);
            }
            // Whitespace is never part of a word.
            let space = text[stop..].len() - text[stop..].trim_start().len();
            if space > 0 {
                ends.push(stop + space);
            }
            start = stop + space;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    const SENTENCES: [&str; 6] = [
        "他 研究 生命 的 起源 。 他 研究 生命 的 起源 。",
        "研究生 命题",
        "北京 大学生 前来 应聘",
        "1998年 12月 31日 , 3 年 里",
        "他们 高高兴兴 地 看看 ibm 的 电脑",
        "结合 成 分子 时",
    ];

    static TAGGER: LazyLock<Tagger> = LazyLock::new(|| {
        let mut corpus = Corpus::default();
        for line in SENTENCES.repeat(10) {
            corpus.add_line(line).unwrap();
        }
        let model = Training { epochs: 10, ..Training::default() }
            .run(&corpus, ["起源", "高高兴兴"], |_| true)
            .unwrap();
        Tagger::load(&model.to_bytes()).unwrap()
    });

    #[test]
    fn training_text_is_segmented_as_in_the_corpus() {
        for sentence in SENTENCES {
            let words: Vec<&str> = sentence.split(' ').collect();
            assert_eq!(TAGGER.words(&words.concat()), words);
        }
    }

    #[test]
    fn white_space_is_a_border_and_a_piece() {
        assert_eq!(TAGGER.words("研究生命题"), ["研究生", "命题"]);
        let words = TAGGER.words("  研究 生命题\u{3000}\u{3000}ibm");
        assert_eq!(words[..3], ["  ", "研究", " "]);
        assert!(words.ends_with(&["\u{3000}\u{3000}", "ibm"]));
        assert!(TAGGER.words("").is_empty());
    }

    #[test]
    fn runs_of_letters_and_digits_stay_whole() {
        for text in ["ibm360的x86", "他2026a年", "naïve的cafe\u{301}"] {
            let words = TAGGER.words(text);
            let splits_inside = words.windows(2).any(|pair| {
                let ends = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !crate::is_han(c));
                ends(pair[0].chars().next_back()) && ends(pair[1].chars().next())
            });
            assert!(!splits_inside, "{words:?}");
        }
    }

    #[test]
    fn an_unseen_sign_is_a_word_of_its_own() {
        assert_eq!(TAGGER.words("研究😀生命的★起源"), ["研究", "😀", "生命", "的", "★", "起源"]);
    }

    #[test]
    fn training_can_be_interrupted_and_repeated() {
        let mut corpus = Corpus::default();
        assert_eq!(Training::default().run(&corpus, [], |_| true), Err(TrainError::Empty));
        corpus.add_line("他 研究 生命").unwrap();
        corpus.add_line("研究生 命题").unwrap();
        let interrupted = Training::default().run(&corpus, [], |progress| progress.epoch < 2);
        assert_eq!(interrupted, Err(TrainError::Interrupted));
        let model = Training::default().run(&corpus, [], |_| true);
        assert_eq!(model, Training::default().run(&corpus, [], |_| true));
    }

    #[test]
    fn a_megabyte_without_a_space_is_segmented() {
        let text = "研究生命的起源1998年北京大学生".repeat(1 << 15);
        assert!(text.len() > 1 << 20);
        assert_eq!(TAGGER.words(&text).concat(), text);
        // Longer than a block, and segmented the same everywhere.
        let sentence = ["他", "研究", "生命", "的", "起源", "。"];
        assert_eq!(TAGGER.words(&sentence.concat().repeat(BLOCK)), sentence.repeat(BLOCK));
        assert_eq!(TAGGER.words(&"\u{301}".repeat(1 << 19)).len(), 1);
    }

    proptest! {
        #[test]
        fn the_contract_holds_for_any_text(text in "\\PC{0,60}|[研究生命的起源1998年a .\u{301}\u{3000}😀\u{20000}]{0,60}") {
            let mut work = SegmenterBuffers::default();
            let mut ends = vec![usize::MAX];
            TAGGER.segment("前 一 句", &mut work, &mut Vec::new());
            TAGGER.segment(&text, &mut work, &mut ends);
            prop_assert_eq!(ends[0], usize::MAX);
            prop_assert_eq!(ends.len() == 1, text.is_empty());
            let mut last = 0;
            for &end in &ends[1..] {
                prop_assert!(end > last && text.is_char_boundary(end));
                last = end;
            }
            prop_assert_eq!(last, text.len());
        }
    }
}
