//! Training of the tagger.

mod gradient;
mod parameters;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::atoms::{Alphabet, Atoms, FIRST_CHARACTER, MAX_SYMBOLS, is_nameable};
use super::corpus::Corpus;
use super::model::TaggerModel;
use super::table::key;
use crate::analyser::normalise::NormalisedText;
use gradient::Gradient;
use parameters::{Parameters, TrainingExample};

/// Training parameters.
///
/// The likelihood of the corpus is maximised sentence by sentence with AdaGrad (Duchi, Hazan & Singer 2011).
/// The learning rate decays to zero, which replaces a penalty on large weights and averaging.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Number of passes over the corpus.
    pub epochs: usize,
    /// Initial learning rate.
    pub rate: f32,
    /// Rarer characters are merged into the unknown character.
    pub min_character: usize,
    /// Rarer trigrams are ignored.
    pub min_trigram: usize,
    /// Smaller weights are dropped, which makes the model smaller.
    pub min_weight: f32,
    /// Seed for the order of sentences; equal seeds give equal models.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Training { epochs: 6, rate: 0.15, min_character: 2, min_trigram: 2, min_weight: 0.15, seed: 1 }
    }
}

/// Progress of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingProgress {
    /// Epochs completed.
    pub epoch: usize,
    /// Total number of epochs.
    pub epochs: usize,
    /// Negative log-likelihood per character in the last epoch.
    pub loss: f64,
}

/// Reason why training produced no model.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TrainError {
    #[error("the corpus has no words")]
    Empty,
    /// The caller requested a stop.
    #[error("training was interrupted")]
    Interrupted,
}

impl Training {
    /// Trains on `corpus`, with the optional word list `words` as features. After every epoch `progress`
    /// returns whether to continue.
    ///
    /// `words` should be a general word list and not the words of the corpus: features that are always right
    /// get too much weight.
    pub fn run<'w>(
        &self,
        corpus: &Corpus,
        words: impl IntoIterator<Item = &'w str>,
        mut progress: impl FnMut(&TrainingProgress) -> bool,
    ) -> Result<TaggerModel, TrainError> {
        if corpus.is_empty() {
            return Err(TrainError::Empty);
        }
        let words: Vec<String> =
            words.into_iter().map(|word| NormalisedText::new(word).text().to_string()).collect();
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
            let done = TrainingProgress { epoch, epochs: self.epochs, loss: loss / atoms as f64 };
            if !progress(&done) {
                return Err(TrainError::Interrupted);
            }
        }
        Ok(parameters.quantised(characters, &words, self.min_weight))
    }
}

/// Returns the characters that occur at least `min` times in `text`, most frequent first.
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

/// Returns `learnt`, followed by the other characters of `words` up to the limit.
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

    /// Returns `true` if these two, three or four symbols are a word.
    fn contains(&self, symbols: &[u16]) -> bool {
        self.by_length[symbols.len() - 2].binary_search(&key(symbols)).is_ok()
    }
}

/// Converts the sentences of `corpus` to symbols and tags; the rows are set later.
fn examples(corpus: &Corpus, alphabet: &Alphabet) -> Vec<TrainingExample> {
    let mut atoms = Atoms::default();
    corpus
        .sentences()
        .map(|words| {
            let mut example = TrainingExample::default();
            for word in words {
                alphabet.read(word, 0, &mut atoms);
                example.push_word(atoms.inner());
            }
            example.finish();
            example
        })
        .collect()
}
