//! The bigram model: counts of words and word pairs, trained from segmented text, and the probabilities that
//! a [`Smoothing`] derives from them.

use std::collections::{BTreeMap, HashMap};

use super::bigram_file;
use super::numerals;
use super::smoothing::{GoodTuring, KatzDiscounts, Smoothing, counts_of_counts};
use crate::dictionary::{Dictionary, DictionaryEntry, NAT, WordCode};

/// Maximum length of a word; longer words are ignored.
pub(crate) const MAX_WORD_BYTES: usize = 255;
/// Maximum size of a model; further words of a larger corpus are ignored.
pub(crate) const MAX_WORDS: usize = 1 << 22;
pub(crate) const MAX_PAIRS: usize = 1 << 26;

/// A word of a model: its index in the list, which begins with the word classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModelWord(pub(crate) u32);

impl ModelWord {
    /// Beginning, end, whitespace, punctuation.
    pub(crate) const BORDER: ModelWord = ModelWord(0);
    pub(crate) const NUMBER: ModelWord = ModelWord(1);
    pub(crate) const LETTERS: ModelWord = ModelWord(2);
    /// A word that the model has not seen.
    pub(crate) const UNSEEN: ModelWord = ModelWord(u32::MAX);

    /// Placeholders of the classes in the list of words. No text contains them.
    const CLASSES: [&'static str; 3] = ["\u{1}", "\u{2}", "\u{3}"];
}

impl From<WordCode> for ModelWord {
    fn from(code: WordCode) -> Self {
        ModelWord(code.0)
    }
}

/// Counts of words and pairs. Equal corpora give equal counts in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BigramCounts {
    /// The classes, then the words, sorted.
    pub(crate) words: Vec<(String, u32)>,
    /// First word, second word, count; sorted.
    pub(crate) pairs: Vec<(ModelWord, ModelWord, u32)>,
}

/// Words and pairs of words with their probabilities.
pub struct BigramModel {
    counts: BigramCounts,
    dictionary: Dictionary,
    smoothing: Smoothing,
    /// Cost of each word alone.
    alone: Vec<i64>,
    /// Added to the base dictionary cost of a word that the model has not seen.
    unseen: i64,
    /// Index of the first pair of each first word.
    starts: Vec<u32>,
    /// Second word of each pair, stored separately from the counts to make the search cache-friendly.
    seconds: Vec<ModelWord>,
    /// Cost of the second word after the first, for each pair.
    pairs: Vec<i64>,
    /// Cost of an unseen pair, by first word; with Katz, added to the cost of the second word alone.
    unseen_pair: Vec<i64>,
}

impl BigramModel {
    /// Counts words and pairs in normalised lines of words.
    pub fn train<'w, L: IntoIterator<Item = &'w str>>(lines: impl IntoIterator<Item = L>) -> Self {
        let mut names: HashMap<&'w str, u32> = HashMap::new();
        let mut seen: Vec<(&str, u32)> = ModelWord::CLASSES.iter().map(|class| (*class, 0)).collect();
        let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
        for line in lines {
            let mut before = ModelWord::BORDER.0;
            seen[0].1 = seen[0].1.saturating_add(1);
            for word in line.into_iter().filter(|w| !w.is_empty() && w.len() <= MAX_WORD_BYTES) {
                let name = match class(word) {
                    Some(class) => class.0,
                    None if seen.len() < MAX_WORDS || names.contains_key(word) => {
                        *names.entry(word).or_insert_with(|| {
                            seen.push((word, 0));
                            seen.len() as u32 - 1
                        })
                    }
                    None => continue,
                };
                // Consecutive borders count as one.
                if name == ModelWord::BORDER.0 && before == name {
                    continue;
                }
                seen[name as usize].1 = seen[name as usize].1.saturating_add(1);
                if pairs.len() < MAX_PAIRS || pairs.contains_key(&(before, name)) {
                    let count = pairs.entry((before, name)).or_default();
                    *count = count.saturating_add(1);
                }
                before = name;
            }
        }
        Self::from_counts(sorted(&seen, &pairs), Smoothing::default())
    }

    /// Returns a model of the same counts with other smoothing.
    pub fn with_smoothing(self, smoothing: Smoothing) -> Self {
        Self::from_counts(self.counts, smoothing)
    }

    /// Returns the smoothing method.
    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    /// Returns the number of distinct words and of distinct pairs.
    pub fn len(&self) -> (usize, usize) {
        (self.counts.words.len() - ModelWord::CLASSES.len(), self.counts.pairs.len())
    }

    /// Returns `true` if the model has no pairs.
    pub fn is_empty(&self) -> bool {
        self.counts.pairs.is_empty()
    }

    /// Serialises the model. Equal models give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        bigram_file::write(&self.counts)
    }

    /// Parses the format of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// Fails if the bytes are not a valid model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, bigram_file::BigramModelError> {
        Ok(Self::from_counts(bigram_file::read(bytes)?, Smoothing::default()))
    }

    fn from_counts(counts: BigramCounts, smoothing: Smoothing) -> Self {
        let entries: Vec<_> = counts
            .words
            .iter()
            .enumerate()
            // Classes have codes, but no text matches them.
            .map(|(code, (word, count))| DictionaryEntry {
                word,
                frequency: if code < ModelWord::CLASSES.len() { 0 } else { (*count).max(1) },
                tag: "",
            })
            .collect();
        let dictionary = Dictionary::new(&entries);
        let mut starts = vec![0; counts.words.len() + 1];
        for (first, ..) in &counts.pairs {
            starts[first.0 as usize + 1] += 1;
        }
        for nth in 1..starts.len() {
            starts[nth] += starts[nth - 1];
        }
        let mut model = Self {
            dictionary,
            smoothing,
            alone: Vec::new(),
            unseen: 0,
            starts,
            seconds: counts.pairs.iter().map(|(_, second, _)| *second).collect(),
            pairs: Vec::new(),
            unseen_pair: Vec::new(),
            counts,
        };
        model.estimate_words();
        model.estimate_pairs();
        model
    }

    fn estimate_words(&mut self) {
        let total: f64 = self.counts.words.iter().map(|(_, n)| f64::from(*n)).sum::<f64>().max(1.0);
        let vocabulary = self.vocabulary();
        let fitted = GoodTuring::fit(&counts_of_counts(self.counts.words.iter().map(|(_, n)| *n)));
        let probability = |count: u32| match self.smoothing {
            Smoothing::AddOne => (f64::from(count) + 1.0) / (total + vocabulary),
            _ => fitted.adjusted(count.max(1)) / total,
        };
        self.alone = self.counts.words.iter().map(|(_, count)| in_parts(probability(*count))).collect();
        // Unseen base words share the remaining probability in proportion to their frequency.
        self.unseen = in_parts(match self.smoothing {
            Smoothing::AddOne => vocabulary / (total + vocabulary),
            _ => fitted.unseen(),
        });
    }

    fn estimate_pairs(&mut self) {
        let table = counts_of_counts(self.counts.pairs.iter().map(|(.., n)| *n));
        let fitted = GoodTuring::fit(&table);
        let katz = KatzDiscounts::fit(&table);
        let vocabulary = self.vocabulary();
        for first in 0..self.counts.words.len() {
            let pairs = &self.counts.pairs[self.starts[first] as usize..self.starts[first + 1] as usize];
            let total: f64 = pairs.iter().map(|(.., n)| f64::from(*n)).sum::<f64>().max(1.0);
            let probability = |count: u32| match self.smoothing {
                Smoothing::AddOne => (f64::from(count) + 1.0) / (total + vocabulary),
                Smoothing::GoodTuring => (fitted.adjusted(count) / total).min(1.0),
                Smoothing::Katz => katz.apply(count) / total,
            };
            let seen: f64 = pairs.iter().map(|(.., n)| probability(*n)).sum();
            // Some probability is always left for unseen pairs.
            let left = (1.0 - seen).max(0.5 / (total + 1.0));
            self.unseen_pair.push(in_parts(match self.smoothing {
                Smoothing::AddOne => 1.0 / (total + vocabulary),
                Smoothing::GoodTuring => left / (vocabulary - pairs.len() as f64).max(1.0),
                Smoothing::Katz => {
                    let of_seen: f64 = pairs.iter().map(|(_, second, _)| self.probability(*second)).sum();
                    left / (1.0 - of_seen).max(0.01)
                }
            }));
            self.pairs.extend(pairs.iter().map(|(.., n)| in_parts(probability(*n))));
        }
    }

    /// Returns the assumed vocabulary size: twice the number of seen words.
    fn vocabulary(&self) -> f64 {
        2.0 * self.counts.words.len() as f64
    }

    fn probability(&self, word: ModelWord) -> f64 {
        (-(self.alone(word) as f64) / NAT).exp()
    }

    pub(crate) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Returns the cost of a seen word.
    pub(crate) fn alone(&self, word: ModelWord) -> i64 {
        self.alone.get(word.0 as usize).copied().unwrap_or(self.unseen)
    }

    /// Returns the cost of an unseen word, from its cost in the base dictionary.
    pub(crate) fn alone_unseen(&self, base_cost: u32) -> i64 {
        self.unseen + i64::from(base_cost)
    }

    /// Returns the cost of a word after another; `alone` is its cost alone.
    #[inline]
    pub(crate) fn after(&self, first: ModelWord, second: ModelWord, alone: i64) -> i64 {
        let first = first.0 as usize;
        let (Some(from), Some(to)) = (self.starts.get(first), self.starts.get(first.saturating_add(1)))
        else {
            return alone;
        };
        if second == ModelWord::UNSEEN {
            return self.unseen_pair[first] + alone;
        }
        match self.seconds[*from as usize..*to as usize].binary_search(&second) {
            Ok(nth) => self.pairs[*from as usize + nth],
            Err(_) if self.smoothing == Smoothing::Katz => self.unseen_pair[first] + alone,
            Err(_) => self.unseen_pair[first],
        }
    }
}

fn sorted(seen: &[(&str, u32)], pairs: &HashMap<(u32, u32), u32>) -> BigramCounts {
    let classes = ModelWord::CLASSES.len();
    let mut order: Vec<usize> = (classes..seen.len()).collect();
    order.sort_unstable_by_key(|nth| seen[*nth].0);
    let mut place: BTreeMap<u32, u32> = (0..classes as u32).map(|nth| (nth, nth)).collect();
    let mut words: Vec<(String, u32)> = seen[..classes].iter().map(|(w, n)| (w.to_string(), *n)).collect();
    for nth in order {
        place.insert(nth as u32, words.len() as u32);
        words.push((seen[nth].0.to_string(), seen[nth].1));
    }
    let named = |name: &u32| ModelWord(place.get(name).copied().unwrap_or_default());
    let mut pairs: Vec<_> =
        pairs.iter().map(|((first, second), n)| (named(first), named(second), *n)).collect();
    pairs.sort_unstable();
    BigramCounts { words, pairs }
}

/// Returns the class of words that no dictionary lists.
fn class(word: &str) -> Option<ModelWord> {
    let first = word.chars().next()?;
    if first.is_ascii_digit() {
        Some(ModelWord::NUMBER)
    } else if word.chars().all(super::han_run::is_han_or_zero) {
        numerals::is_number(word).then_some(ModelWord::NUMBER)
    } else if first.is_alphanumeric() {
        Some(ModelWord::LETTERS)
    } else {
        Some(ModelWord::BORDER)
    }
}

fn in_parts(probability: f64) -> i64 {
    (-probability.max(1e-30).ln() * NAT).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&[&str]; 3] =
        [&["他", "从", "小学", "毕业", "。"], &["三十一", "个", "人"], &["从", "小学", "到", "中学"]];

    fn model() -> BigramModel {
        BigramModel::train(LINES.iter().map(|line| line.iter().copied()))
    }

    #[test]
    fn pairs_that_were_seen_are_cheaper() {
        for smoothing in Smoothing::ALL {
            let model = model().with_smoothing(smoothing);
            let word = |w: &str| ModelWord::from(model.dictionary().code(w).unwrap());
            let cost =
                |first: &str, second: &str| model.after(word(first), word(second), model.alone(word(second)));
            assert!(cost("从", "小学") < cost("从", "毕业"), "{smoothing}");
            assert!(cost("小学", "毕业") < cost("个", "毕业"), "{smoothing}");
            assert_eq!(model.len(), (8, 11));
        }
    }

    #[test]
    fn the_same_corpus_gives_the_same_file() {
        let bytes = model().to_bytes();
        assert_eq!(bytes, model().to_bytes());
        let again = BigramModel::from_bytes(&bytes).unwrap();
        assert_eq!(again.counts, model().counts);
        assert_eq!((again.alone, again.pairs), (model().alone, model().pairs));
    }

    #[test]
    fn nothing_learnt_is_no_trouble() {
        let empty = BigramModel::train(std::iter::empty::<std::iter::Empty<&str>>());
        assert!(empty.is_empty());
        assert!(BigramModel::from_bytes(&empty.to_bytes()).is_ok());
    }
}
