//! I-Match (Chowdhury, Frieder, Grossman & McCabe 2002): the set of words that are neither rare nor common, as one digest.

use std::collections::{HashMap, HashSet};

use super::super::hash::{md5_of_parts, word_hash};
use super::super::{Digest, PageText};
use super::digest::DigestDetector;

/// On how many pages each word stands. Words that come when the table is full are taken for rare.
#[derive(Clone, Debug)]
pub struct WordStatistics {
    pages: u64,
    pages_with: HashMap<u64, u32>,
    max_words: usize,
}

impl WordStatistics {
    /// An empty table with room for so many words (about 24 bytes each).
    pub fn new(max_words: usize) -> Self {
        Self { pages: 0, pages_with: HashMap::new(), max_words }
    }

    /// Counts the words of one more page.
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

    /// The inverse document frequency, from 0 (on every page) to 1 (on one page only).
    pub fn normalised_idf(&self, word: &str) -> f64 {
        if self.pages < 2 {
            return 0.5;
        }
        let pages_with = self.pages_with.get(&word_hash(word)).copied().unwrap_or(1);
        let pages = self.pages as f64;
        (pages / f64::from(pages_with)).ln() / pages.ln()
    }
}

/// Pages with the same set of words in the middle of the frequencies.
#[derive(Clone, Debug)]
pub struct IMatch {
    /// Where the frequencies come from.
    pub statistics: WordStatistics,
    /// Words of a lower normalised idf are too common.
    pub min_idf: f64,
    /// Words of a higher normalised idf are too rare.
    pub max_idf: f64,
    /// With fewer words left, a page has no signature.
    pub min_words: usize,
}

impl IMatch {
    /// Keeps the words of idf 0.1 to 0.9. The bounds are ours: the books give none, and every collection has its own.
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
