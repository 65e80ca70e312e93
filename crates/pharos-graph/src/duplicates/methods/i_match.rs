//! I-Match (Chowdhury, Frieder, Grossman & McCabe 2002): a digest of the set of words that are neither rare nor common.

use std::collections::{HashMap, HashSet};

use super::super::hash::{md5_of_parts, word_hash};
use super::super::{Digest, PageText};
use super::digest::DigestDetector;

/// Document frequencies of words. Words added after the table is full count as rare.
#[derive(Clone, Debug)]
pub struct WordStatistics {
    pages: u64,
    pages_with: HashMap<u64, u32>,
    max_words: usize,
}

impl WordStatistics {
    /// Creates an empty table for at most `max_words` words (about 24 bytes each).
    pub fn new(max_words: usize) -> Self {
        Self { pages: 0, pages_with: HashMap::new(), max_words }
    }

    /// Counts the words of a page.
    pub fn add(&mut self, words: &[&str]) {
        self.pages += 1;
        let distinct: HashSet<u64> = words.iter().map(|word| word_hash(word)).collect();
        for word in distinct {
            if let Some(count) = self.pages_with.get_mut(&word) {
                *count = count.saturating_add(1);
            } else if self.pages_with.len() < self.max_words {
                self.pages_with.insert(word, 1);
            }
        }
    }

    /// Returns the inverse document frequency of a word, from 0 (on every page) to 1 (on one page).
    pub fn normalised_idf(&self, word: &str) -> f64 {
        if self.pages < 2 {
            return 0.5;
        }
        let pages_with = self.pages_with.get(&word_hash(word)).copied().unwrap_or(1);
        let pages = self.pages as f64;
        (pages / f64::from(pages_with)).ln() / pages.ln()
    }
}

/// Detects pages with the same set of words of medium frequency.
#[derive(Clone, Debug)]
pub struct IMatch {
    pub statistics: WordStatistics,
    /// Words with a lower normalised IDF are too common.
    pub min_idf: f64,
    /// Words with a higher normalised IDF are too rare.
    pub max_idf: f64,
    /// Minimum number of remaining words for a signature.
    pub min_words: usize,
}

impl IMatch {
    /// Keeps the words with a normalised IDF from 0.1 to 0.9. The bounds are the choice of this implementation: the
    /// literature gives none, and each collection needs its own.
    pub fn new(statistics: WordStatistics) -> Self {
        Self { statistics, min_idf: 0.1, max_idf: 0.9, min_words: 5 }
    }
}

impl DigestDetector for IMatch {
    fn label(&self) -> &'static str {
        "I-Match"
    }

    fn digest(&self, page: &PageText) -> Option<Digest> {
        let mut words = page.words.to_vec();
        words.sort_unstable();
        words.dedup();
        words.retain(|word| (self.min_idf..=self.max_idf).contains(&self.statistics.normalised_idf(word)));
        (words.len() >= self.min_words.max(1)).then(|| md5_of_parts(words))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::DuplicateDetector as _;
    use super::*;

    #[test]
    fn rare_and_common_words_may_change() {
        let mut statistics = WordStatistics::new(1000);
        let middle = ["light", "tower", "ship", "fog", "coast"];
        let own: Vec<String> = (0..100).map(|number| format!("name{number}")).collect();
        for (number, name) in own.iter().enumerate() {
            let mut words = vec!["the", name];
            words.extend(middle.iter().filter(|_| number % 10 == 0));
            statistics.add(&words);
        }
        let method = IMatch::new(statistics);
        let sign = |words: &[&str]| method.fingerprint(&PageText { words, ..PageText::default() });
        let one = sign(&["the", "light", "tower", "ship", "fog", "coast", "name1"]);
        assert!(one.is_some());
        assert_eq!(one, sign(&["coast", "fog", "ship", "tower", "light", "name2", "unheard"]));
        assert_ne!(one, sign(&["the", "light", "tower", "ship", "fog"]));
    }
}
