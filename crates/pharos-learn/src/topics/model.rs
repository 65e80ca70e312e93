//! A trained topic model: topic words, topics of texts, perplexity, files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::corpus::for_each_word;

/// Beginning of a file, with the format version.
const MAGIC: &[u8; 8] = b"PHAROST1";

/// Maximum size of a file.
const MAX_BYTES: u64 = 1 << 30;

/// Number of repetitions of the inference of a text.
const ROUNDS: usize = 50;

/// Maximum number of words of a text that its topics are inferred from.
const MAX_WORDS: usize = 20_000;

/// Error of reading or writing a file of a topic model.
#[derive(Debug, thiserror::Error)]
pub enum TopicModelError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// The file is not a topic model of this version.
    #[error("{} is not a usable topic model; train it again with `pharos topics train`", .0.display())]
    Invalid(PathBuf),
}

/// A topic of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopicShare {
    pub topic: u32,
    /// Share of the text, from 0 to 1.
    pub share: f64,
}

/// Topics as distributions of words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TopicModel {
    words: Vec<String>,
    /// Topics of each word with their counts, ascending by topic.
    counts: Vec<Vec<(u16, f32)>>,
    alpha: f64,
    beta: f64,
    topics: u32,
    /// Sum of the counts of each topic.
    #[serde(skip)]
    totals: Vec<f64>,
    #[serde(skip)]
    numbers: HashMap<String, u32>,
}

impl TopicModel {
    pub(super) fn new(
        words: Vec<String>,
        counts: Vec<Vec<(u16, f32)>>,
        topics: usize,
        alpha: f64,
        beta: f64,
    ) -> Self {
        let (topics, totals) = (topics as u32, Vec::new());
        let mut model = Self { words, counts, alpha, beta, topics, totals, numbers: HashMap::new() };
        model.complete();
        model
    }

    /// Computes what files do not contain. Returns `false` if the model is invalid.
    fn complete(&mut self) -> bool {
        let topics = self.topics as usize;
        let is_valid = (1..=super::MAX_TOPICS).contains(&topics)
            && self.words.len() == self.counts.len()
            && [self.alpha, self.beta].iter().all(|prior| prior.is_finite() && *prior > 0.0)
            && self
                .counts
                .iter()
                .flatten()
                .all(|&(topic, count)| usize::from(topic) < topics && count.is_finite() && count >= 0.0);
        if !is_valid {
            return false;
        }
        self.totals = vec![0.0; topics];
        for &(topic, count) in self.counts.iter().flatten() {
            self.totals[usize::from(topic)] += f64::from(count);
        }
        self.numbers = self.words.iter().cloned().zip(0u32..).collect();
        true
    }

    /// Returns the number of topics.
    pub fn topic_count(&self) -> usize {
        self.topics as usize
    }

    /// Returns the number of words.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Returns the share of each topic in the training texts.
    pub fn topic_shares(&self) -> Vec<f64> {
        let all: f64 = self.totals.iter().sum();
        self.totals.iter().map(|total| if all > 0.0 { total / all } else { 0.0 }).collect()
    }

    /// Returns the most probable words of a topic with their probabilities.
    pub fn top_words(&self, topic: usize, count: usize) -> Vec<(String, f64)> {
        let mut words: Vec<(usize, f64)> = Vec::new();
        for (word, topics) in self.counts.iter().enumerate() {
            if let Some(&(_, n)) = topics.iter().find(|&&(of, _)| usize::from(of) == topic) {
                words.push((word, self.probability(topic, f64::from(n))));
            }
        }
        words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        words.into_iter().take(count).map(|(word, p)| (self.words[word].clone(), p)).collect()
    }

    /// Returns the smoothed probability of a word with a count in a topic.
    fn probability(&self, topic: usize, count: f64) -> f64 {
        let total = self.totals.get(topic).copied().unwrap_or(0.0);
        (count + self.beta) / (total + self.beta * self.words.len() as f64)
    }

    /// Returns the probability of a word in each topic.
    fn probabilities(&self, word: u32) -> Vec<f64> {
        let mut probabilities: Vec<f64> = (0..self.topic_count()).map(|k| self.probability(k, 0.0)).collect();
        for &(topic, count) in &self.counts[word as usize] {
            let topic = usize::from(topic);
            probabilities[topic] = self.probability(topic, f64::from(count));
        }
        probabilities
    }

    /// Returns the word numbers of a text.
    pub fn words_of(&self, text: &str) -> Vec<u32> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.extend(self.numbers.get(word)));
        words.truncate(MAX_WORDS);
        words
    }

    /// Returns the shares of the topics in a text by EM with fixed topics (folding-in, Hofmann 1999, with the prior α).
    fn mixture(&self, words: &[u32]) -> Vec<f64> {
        let topics = self.topic_count();
        let rows: Vec<Vec<f64>> = words.iter().map(|&word| self.probabilities(word)).collect();
        let mut theta = vec![1.0 / topics as f64; topics];
        for _ in 0..ROUNDS {
            let mut next = vec![self.alpha; topics];
            for row in &rows {
                let sum: f64 = theta.iter().zip(row).map(|(t, p)| t * p).sum();
                if sum > 0.0 {
                    for ((next, t), p) in next.iter_mut().zip(&theta).zip(row) {
                        *next += t * p / sum;
                    }
                }
            }
            let sum: f64 = next.iter().sum();
            next.iter_mut().for_each(|share| *share /= sum);
            let change: f64 = theta.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
            theta = next;
            if change < 1e-4 {
                break;
            }
        }
        theta
    }

    /// Returns the topics of a text, the largest share first; none if it has no known word.
    pub fn infer(&self, text: &str) -> Vec<TopicShare> {
        let words = self.words_of(text);
        if words.is_empty() {
            return Vec::new();
        }
        let shares = (0u32..).zip(self.mixture(&words));
        let mut shares: Vec<TopicShare> = shares.map(|(topic, share)| TopicShare { topic, share }).collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share));
        shares
    }

    /// Returns the perplexity by document completion (Wallach, Murray, Salakhutdinov & Mimno 2009, §5.1): the topics of a text
    /// are inferred from every second word, and the others are predicted. Lower is better.
    pub fn perplexity(&self, texts: &[&[u32]]) -> f64 {
        let (mut log, mut count) = (0.0, 0.0);
        for text in texts {
            let part = |odd: usize| text.iter().copied().skip(odd).step_by(2).collect::<Vec<u32>>();
            let (seen, predicted) = (part(0), part(1));
            let theta = self.mixture(&seen);
            for word in predicted {
                let row = self.probabilities(word);
                let p: f64 = theta.iter().zip(&row).map(|(t, p)| t * p).sum();
                log += p.max(f64::MIN_POSITIVE).ln();
                count += 1.0;
            }
        }
        if count > 0.0 { (-log / count).exp() } else { f64::NAN }
    }

    /// Returns the content of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(postcard::to_stdvec(self).unwrap_or_default());
        bytes
    }

    /// Reads the content of a file, checked completely. Returns `None` if it is no topic model.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut model: Self = postcard::from_bytes(bytes.strip_prefix(MAGIC)?).ok()?;
        model.complete().then_some(model)
    }

    /// Writes a file; a previous one stays complete until the new one is.
    pub fn save(&self, path: &Path) -> Result<(), TopicModelError> {
        let failed = |source| TopicModelError::Io { action: "write", path: path.to_path_buf(), source };
        pharos_files::replace(path, &self.to_bytes()).map_err(failed)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, TopicModelError> {
        let failed = |source| TopicModelError::Io { action: "read", path: path.to_path_buf(), source };
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(failed)?;
        Self::from_bytes(&bytes).ok_or_else(|| TopicModelError::Invalid(path.to_path_buf()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::gibbs::tests::two_topics;
    use super::super::gibbs::{GibbsParameters, sample};
    use super::*;

    fn model() -> TopicModel {
        sample(&two_topics(), GibbsParameters { topics: 2, passes: 30, ..GibbsParameters::default() })
    }

    #[test]
    fn topics_of_further_texts_are_inferred() {
        let model = model();
        let topics = model.infer("snow and wind");
        assert!(topics[0].share > 0.8, "{topics:?}");
        assert!((topics.iter().map(|topic| topic.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert_ne!(model.infer("goal of a team")[0].topic, topics[0].topic);
        assert!(model.infer("unknown").is_empty());
    }

    #[test]
    fn files_survive_power_cuts() {
        let dir = tempfile::tempdir().unwrap();
        let (path, model) = (dir.path().join("topics"), model());
        model.save(&path).unwrap();
        pharos_files::power_cut::check(dir.path(), || model.save(&path).unwrap()).unwrap();
        assert_eq!(TopicModel::load(&path).unwrap().infer("rain"), model.infer("rain"));
    }

    proptest! {
        #[test]
        fn changed_files_are_rejected_or_usable(at in 0usize..2000, value: u8) {
            let mut bytes = model().to_bytes();
            let at = at % bytes.len();
            bytes[at] = value;
            if let Some(model) = TopicModel::from_bytes(&bytes) {
                model.infer("rain and goal");
                model.top_words(0, 3);
            }
        }
    }
}
