//! Training: how the weights are found.

mod gradient;
mod parameters;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::atoms::{Alphabet, Atoms, FIRST_CHARACTER, MAX_SYMBOLS, is_nameable};
use super::corpus::Corpus;
use super::model::Model;
use super::table::key;
use crate::normalise::Normalised;
use gradient::Gradient;
use parameters::{Example, Parameters};

/// How to train.
///
/// The likelihood of the corpus is raised sentence by sentence with AdaGrad (Duchi, Hazan and Singer 2011); the
/// rate falls to nothing, which stands in for a penalty on large weights and for averaging.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// How often every sentence is seen.
    pub epochs: usize,
    /// The first step's length.
    pub rate: f32,
    /// Rarer characters are learnt as one: the unknown character.
    pub min_character: usize,
    /// Rarer sequences of three are not learnt.
    pub min_trigram: usize,
    /// Smaller weights are taken for nothing: a smaller model.
    pub min_weight: f32,
    /// Of the order of sentences; the same seed gives the same model.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Training { epochs: 6, rate: 0.15, min_character: 2, min_trigram: 2, min_weight: 0.15, seed: 1 }
    }
}

/// How far training is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Epochs done.
    pub epoch: usize,
    /// Epochs in all.
    pub epochs: usize,
    /// Negative logarithm of the likelihood per character, in the epoch just done.
    pub loss: f64,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TrainError {
    /// Nothing to learn from.
    #[error("the corpus has no words")]
    Empty,
    /// The caller asked to stop.
    #[error("training was interrupted")]
    Interrupted,
}

impl Training {
    /// Learns from `corpus`, with `words` as hints (none is allowed). After every epoch `progress` says whether
    /// to go on.
    ///
    /// `words` should be a general word list and not the words of the corpus: hints that are always right are
    /// trusted too much.
    pub fn run<'w>(
        &self,
        corpus: &Corpus,
        words: impl IntoIterator<Item = &'w str>,
        mut progress: impl FnMut(&Progress) -> bool,
    ) -> Result<Model, TrainError> {
        if corpus.is_empty() {
            return Err(TrainError::Empty);
        }
        let words: Vec<String> =
            words.into_iter().map(|word| Normalised::of(word).text().to_string()).collect();
        let learnt = frequent_characters(corpus.text(), self.min_character);
        let characters = with_characters_of(&learnt, &words);
        let words = WordList::new(&Alphabet::new(&characters), &words);
        let alphabet = Alphabet::new(&learnt);
        let mut examples = examples(corpus, &alphabet);
        let mut parameters = Parameters::new(&mut examples, &alphabet, &words, self.min_trigram);

        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut gradient = Gradient::default();
        let atoms: usize = examples.iter().map(|example| example.tags.len()).sum();
        let steps = (self.epochs * examples.len()).max(1) as f32;
        let mut step = 0.0;
        for epoch in 1..=self.epochs {
            order.shuffle(&mut random);
            let mut loss = 0.0;
            for &at in &order {
                let example = &examples[at];
                loss += gradient.compute(&parameters, example);
                parameters.descend(example, &gradient, self.rate * (1.0 - step / steps));
                step += 1.0;
            }
            let done = Progress { epoch, epochs: self.epochs, loss: loss / atoms as f64 };
            if !progress(&done) {
                return Err(TrainError::Interrupted);
            }
        }
        Ok(parameters.quantised(characters, &words, self.min_weight))
    }
}

/// The characters that stand at least `min` times in `text`, most frequent first.
fn frequent_characters(text: &str, min: usize) -> Vec<char> {
    let mut counts = vec![0_usize; usize::from(u16::MAX) + 1];
    for c in text.chars().filter(|&c| is_nameable(c)) {
        counts[c as usize] += 1;
    }
    let mut frequent: Vec<(usize, char)> = counts
        .into_iter()
        .zip(0..)
        .filter(|&(count, _)| count >= min.max(1))
        .filter_map(|(count, code)| Some((count, char::from_u32(code)?)))
        .collect();
    frequent.sort_by_key(|&(count, c)| (std::cmp::Reverse(count), c));
    frequent.truncate(MAX_SYMBOLS - usize::from(FIRST_CHARACTER));
    frequent.into_iter().map(|(_, c)| c).collect()
}

/// `learnt` and after it the other characters of `words`, as far as there is room.
fn with_characters_of(learnt: &[char], words: &[String]) -> Vec<char> {
    let mut others: Vec<char> =
        words.iter().flat_map(|word| word.chars()).filter(|&c| is_nameable(c)).collect();
    others.sort_unstable();
    others.dedup();
    let mut known = learnt.to_vec();
    known.sort_unstable();
    others.retain(|c| known.binary_search(c).is_err());
    let mut characters = learnt.to_vec();
    characters.extend(others);
    characters.truncate(MAX_SYMBOLS - usize::from(FIRST_CHARACTER));
    characters
}

/// The words of two, three and four symbols, as sorted keys.
struct WordList {
    by_length: [Vec<u64>; 3],
}

impl WordList {
    fn new(alphabet: &Alphabet, words: &[String]) -> Self {
        let mut by_length = [Vec::new(), Vec::new(), Vec::new()];
        let mut atoms = Atoms::default();
        for word in words {
            let is_whole = alphabet.read(word, 0, &mut atoms) == word.len();
            let symbols = atoms.inner();
            if is_whole
                && (2..=4).contains(&symbols.len())
                && symbols.iter().all(|&symbol| symbol >= FIRST_CHARACTER)
            {
                by_length[symbols.len() - 2].push(key(symbols));
            }
        }
        for keys in &mut by_length {
            keys.sort_unstable();
            keys.dedup();
        }
        WordList { by_length }
    }

    /// Are these two, three or four symbols a word?
    fn contains(&self, symbols: &[u16]) -> bool {
        self.by_length[symbols.len() - 2].binary_search(&key(symbols)).is_ok()
    }
}

/// The sentences of `corpus` as symbols and tags; the rows are filled in later.
fn examples(corpus: &Corpus, alphabet: &Alphabet) -> Vec<Example> {
    let mut atoms = Atoms::default();
    corpus
        .sentences()
        .map(|words| {
            let mut example = Example::default();
            for word in words {
                alphabet.read(word, 0, &mut atoms);
                example.push_word(atoms.inner());
            }
            example.finish();
            example
        })
        .collect()
}
