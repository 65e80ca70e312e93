//! The weights during training, and their layout.

use super::WordList;
use super::gradient::Gradient;
use crate::segment::tagger::atoms::{
    Alphabet, BORDER, FIRST_CHARACTER, PADDING, SYMBOL_BITS, Symbol, UNKNOWN, UNKNOWN_HAN,
};
use crate::segment::tagger::features::{
    BEGIN, BIGRAM, CLASS_PATTERNS, END, FeatureHistory, HEAD, MIDDLE, REPETITION_PATTERNS, SINGLE, TAGS,
    TAIL, TRIGRAM, UNIGRAM, WORD, WORD_PATTERNS, repetition_pattern,
};
use crate::segment::tagger::model::{MAX_WEIGHT, SCALE, TagWeights, TaggerModel, WeightedNgram};
use crate::segment::tagger::table::key;

/// No row.
const NONE: u32 = u32::MAX;

/// A training sentence.
#[derive(Default)]
pub(super) struct TrainingExample {
    /// With borders, as in tagging.
    symbols: Vec<Symbol>,
    pub(super) tags: Vec<u8>,
    /// One per window of four symbols.
    rows: Vec<WindowRows>,
}

/// Row numbers that a window of four symbols uses, by table.
struct WindowRows {
    bigram: u32,
    trigram: u32,
    /// Patterns of the atom two before, once there is one.
    patterns: Option<[u16; 3]>,
}

impl TrainingExample {
    pub(super) fn push_word(&mut self, symbols: &[Symbol]) {
        if self.symbols.is_empty() {
            self.symbols.extend([BORDER; PADDING]);
        }
        self.symbols.extend_from_slice(symbols);
        let last = symbols.len().saturating_sub(1);
        self.tags.extend((0..symbols.len()).map(|place| {
            let tag = match place {
                0 if last == 0 => SINGLE,
                0 => BEGIN,
                _ if place == last => END,
                _ => MIDDLE,
            };
            tag as u8
        }));
    }

    pub(super) fn finish(&mut self) {
        self.symbols.extend([BORDER; PADDING]);
    }

    /// Returns the size of the score arrays: four per symbol and a margin.
    pub(super) fn score_count(&self) -> usize {
        (self.symbols.len() + 1) * TAGS
    }
}

/// All weights in one list, table after table.
pub(super) struct Parameters {
    values: Vec<f32>,
    /// Sums of squared gradients.
    squares: Vec<f32>,
    bigram_keys: Vec<u64>,
    trigram_keys: Vec<u64>,
    starts: TableOffsets,
}

/// Offset of each table.
struct TableOffsets {
    bigrams: usize,
    trigrams: usize,
    classes: usize,
    repetitions: usize,
    words: usize,
    transitions: usize,
}

impl Parameters {
    /// Allocates weights for everything that occurs in `examples`, and sets their row numbers.
    pub(super) fn new(
        examples: &mut [TrainingExample],
        alphabet: &Alphabet,
        words: &WordList,
        min_trigram: usize,
    ) -> Self {
        let bigram_keys = frequent_keys(examples, 2, 1);
        let trigram_keys = frequent_keys(examples, 3, min_trigram);
        for example in examples {
            example.rows = rows(&example.symbols, alphabet, words, &bigram_keys, &trigram_keys);
        }
        let bigrams = alphabet.len() * UNIGRAM;
        let trigrams = bigrams + bigram_keys.len() * BIGRAM;
        let classes = trigrams + trigram_keys.len() * TRIGRAM;
        let repetitions = classes + CLASS_PATTERNS * TAGS;
        let words = repetitions + REPETITION_PATTERNS * TAGS;
        let transitions = words + WORD_PATTERNS * TAGS;
        let count = transitions + TAGS * TAGS;
        Parameters {
            values: vec![0.0; count],
            squares: vec![0.0; count],
            bigram_keys,
            trigram_keys,
            starts: TableOffsets { bigrams, trigrams, classes, repetitions, words, transitions },
        }
    }

    pub(super) fn transition(&self, from: usize, to: usize) -> f32 {
        self.values[self.starts.transitions + from * TAGS + to]
    }

    /// Adds up the scores of all tags of all atoms, in the layout of tagging.
    pub(super) fn score(&self, example: &TrainingExample, scores: &mut Vec<f32>) {
        scores.clear();
        scores.resize(example.score_count(), 0.0);
        self.starts.for_each_row(example, |row, width, at| {
            for (score, value) in scores[at..at + width].iter_mut().zip(&self.values[row..row + width]) {
                *score += value;
            }
        });
    }

    /// Performs one AdaGrad step against `gradient`.
    pub(super) fn descend(&mut self, example: &TrainingExample, gradient: &Gradient, rate: f32) {
        let Parameters { values, squares, starts, .. } = self;
        let mut step = |first: usize, slopes: &[f32]| {
            let range = first..first + slopes.len();
            for ((value, square), slope) in
                values[range.clone()].iter_mut().zip(&mut squares[range]).zip(slopes)
            {
                *square += slope * slope;
                *value -= rate * slope / (square.sqrt() + 0.01);
            }
        };
        starts.for_each_row(example, |row, width, at| step(row, &gradient.scores[at..at + width]));
        step(starts.transitions, gradient.transitions.as_flattened());
    }

    /// Quantises the weights: integers, near-zero weights dropped, flags set from `words`.
    pub(super) fn quantised(&self, characters: Vec<char>, words: &WordList, min_weight: f32) -> TaggerModel {
        let mut unigrams: Vec<[i16; UNIGRAM]> = self.values[..self.starts.bigrams]
            .as_chunks::<UNIGRAM>()
            .0
            .iter()
            .map(|row| row.map(wide))
            .collect();
        // Rare signs are too few to learn from: each is a word.
        unigrams[usize::from(UNKNOWN)][TAGS + SINGLE] = MAX_WEIGHT;
        // Characters that only the word list contains are treated like unknown ones.
        let unseen = unigrams[usize::from(UNKNOWN_HAN)];
        unigrams.resize(usize::from(FIRST_CHARACTER) + characters.len(), unseen);

        let [two, three, four] = &words.by_length;
        let mut two_flags: Vec<(u64, u8)> = two.iter().map(|&key| (key, WORD)).collect();
        two_flags.extend(four.iter().map(|&key| (key >> (2 * SYMBOL_BITS), HEAD)));
        two_flags.extend(four.iter().map(|&key| (key & ((1 << (2 * SYMBOL_BITS)) - 1), TAIL)));
        let three_flags = three.iter().map(|&key| (key, WORD)).collect();
        let bigrams = self.values[self.starts.bigrams..self.starts.trigrams].as_chunks::<BIGRAM>().0;
        let trigrams = self.values[self.starts.trigrams..self.starts.classes].as_chunks::<TRIGRAM>().0;
        TaggerModel {
            characters,
            unigrams,
            bigrams: grams(&self.bigram_keys, bigrams, two_flags, min_weight),
            trigrams: grams(&self.trigram_keys, trigrams, three_flags, min_weight),
            long_words: four.iter().map(|&key| WeightedNgram { key, flags: WORD, weights: [] }).collect(),
            classes: Box::new(self.table(self.starts.classes)),
            repetitions: Box::new(self.table(self.starts.repetitions)),
            words: Box::new(self.table(self.starts.words)),
            transitions: self.table(self.starts.transitions),
        }
    }

    fn table<const ROWS: usize>(&self, start: usize) -> [TagWeights; ROWS] {
        std::array::from_fn(|row| std::array::from_fn(|tag| wide(self.values[start + row * TAGS + tag])))
    }
}

impl TableOffsets {
    /// Calls `f` for every row that `example` uses: its offset, its width, and the offset of the scores it is
    /// added to.
    fn for_each_row(&self, example: &TrainingExample, mut f: impl FnMut(usize, usize, usize)) {
        for (step, (window, rows)) in example.symbols.windows(4).zip(&example.rows).enumerate() {
            let at = step * TAGS;
            f(usize::from(window[2]) * UNIGRAM, UNIGRAM, at);
            if rows.bigram != NONE {
                f(self.bigrams + rows.bigram as usize * BIGRAM, BIGRAM, at + TAGS);
            }
            if rows.trigram != NONE {
                f(self.trigrams + rows.trigram as usize * TRIGRAM, TRIGRAM, at);
            }
            if let Some([class, repetition, words]) = rows.patterns {
                let at = at - TAGS;
                f(self.classes + usize::from(class) * TAGS, TAGS, at);
                f(self.repetitions + usize::from(repetition) * TAGS, TAGS, at);
                f(self.words + usize::from(words) * TAGS, TAGS, at);
            }
        }
    }
}

/// Returns the rows of one sentence, looked up as in tagging.
fn rows(
    symbols: &[Symbol],
    alphabet: &Alphabet,
    words: &WordList,
    bigram_keys: &[u64],
    trigram_keys: &[u64],
) -> Vec<WindowRows> {
    let find = |keys: &[u64], symbols: &[Symbol]| {
        keys.binary_search(&key(symbols)).map_or(NONE, |row| u32::try_from(row).unwrap_or(NONE))
    };
    let mut trail = FeatureHistory::default();
    let mut around = [BORDER; 5];
    let windows = symbols.windows(4).enumerate().map(|(step, window)| {
        trail.push(
            words.contains(&window[2..]),
            words.contains(&window[1..]),
            words.contains(window),
            alphabet.classes[usize::from(window[3])],
        );
        around = [around[1], around[2], around[3], around[4], window[2]];
        let patterns = [trail.class_pattern(), repetition_pattern(around), trail.word_pattern()];
        WindowRows {
            bigram: find(bigram_keys, &window[2..]),
            trigram: find(trigram_keys, &window[1..]),
            patterns: (step >= PADDING).then_some(patterns.map(|pattern| pattern as u16)),
        }
    });
    windows.collect()
}

/// Returns the sequences of `length` symbols that occur at least `min` times in `examples`, sorted.
fn frequent_keys(examples: &[TrainingExample], length: usize, min: usize) -> Vec<u64> {
    // Sorted instead of counted in a map, for a deterministic order.
    let mut keys: Vec<u64> = examples
        .iter()
        .flat_map(|example| example.symbols.windows(length).map(key))
        .filter(|&key| key != 0)
        .collect();
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).filter(|same| same.len() >= min).map(|same| same[0]).collect()
}

/// Returns the n-grams that have a relevant weight or a flag, sorted by key.
fn grams<const WEIGHTS: usize>(
    keys: &[u64],
    rows: &[[f32; WEIGHTS]],
    mut flags: Vec<(u64, u8)>,
    min_weight: f32,
) -> Vec<WeightedNgram<WEIGHTS>> {
    flags.sort_unstable();
    let small = |value: f32| {
        if value.abs() < min_weight { 0 } else { (value * SCALE).round().clamp(-127.0, 127.0) as i8 }
    };
    let weighted =
        keys.iter().zip(rows).map(|(&key, row)| WeightedNgram { key, flags: 0, weights: row.map(small) });
    let mut grams: Vec<WeightedNgram<WEIGHTS>> =
        weighted.filter(|gram| gram.weights != [0; WEIGHTS]).collect();
    let mut unweighted = Vec::new();
    for same in flags.chunk_by(|a, b| a.0 == b.0) {
        let key = same[0].0;
        let all_flags = same.iter().fold(0, |all, &(_, flag)| all | flag);
        match grams.binary_search_by_key(&key, |gram| gram.key) {
            Ok(at) => grams[at].flags = all_flags,
            Err(_) => unweighted.push(WeightedNgram { key, flags: all_flags, weights: [0; WEIGHTS] }),
        }
    }
    grams.extend(unweighted);
    grams.sort_unstable_by_key(|gram| gram.key);
    grams
}

fn wide(value: f32) -> i16 {
    let bound = f32::from(MAX_WEIGHT);
    (value * SCALE).round().clamp(-bound, bound) as i16
}
