//! Irrelevant words that are frequent in nearly all documents (高频无关词; 《搜索引擎——原理、技术与系统》§7.1): a list, and the
//! algorithm that learns it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The list learnt from general pages.
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let list = include_str!("../../data/irrelevant-words.txt");
    list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
});

/// Returns `true` for a word of the list.
pub(super) fn is_irrelevant(term: &str) -> bool {
    WORDS.contains(term)
}

/// Learns the words that have a high frequency in very many documents.
///
/// ```
/// let mut learner = pharos_html::weights::IrrelevantWordLearner::default();
/// for subject in ["lamp", "rock", "ship", "wave", "coast"] {
///     learner.add([("the", 9), (subject, 5), ("once", 1)]);
/// }
/// assert_eq!(learner.words(), ["the"]);
/// ```
#[derive(Debug, Default)]
pub struct IrrelevantWordLearner {
    documents: usize,
    /// Number of documents in which a word has a high frequency.
    frequent_in: HashMap<String, usize>,
}

impl IrrelevantWordLearner {
    /// Number of words per document that count as frequent.
    const MOST_FREQUENT: usize = 20;

    /// A word must be frequent in at least one of this many documents.
    const ONE_IN: usize = 50;

    /// Maximum number of words counted; rare ones are dropped beyond it.
    const MAX_WORDS: usize = 500_000;

    /// Adds a document: its words with their frequencies.
    pub fn add<'a>(&mut self, terms: impl IntoIterator<Item = (&'a str, usize)>) {
        self.documents += 1;
        let mut terms: Vec<(&str, usize)> = terms.into_iter().filter(|(_, count)| *count > 1).collect();
        terms.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        for (term, _) in terms.into_iter().take(Self::MOST_FREQUENT) {
            match self.frequent_in.get_mut(term) {
                Some(count) => *count += 1,
                None => _ = self.frequent_in.insert(term.to_string(), 1),
            }
        }
        if self.frequent_in.len() > Self::MAX_WORDS {
            self.frequent_in.retain(|_, count| *count > 1);
            // Hostile input may consist of rare words only.
            if self.frequent_in.len() > Self::MAX_WORDS {
                self.frequent_in.clear();
            }
        }
    }

    /// Returns the words found, the most common first. The list ends at the greatest jump in the number of
    /// documents: the maximum ratio between a word and the next one.
    pub fn words(&self) -> Vec<&str> {
        let least = (self.documents / Self::ONE_IN).max(2);
        let mut ranked: Vec<(&str, usize)> =
            self.frequent_in.iter().map(|(term, count)| (term.as_str(), *count)).collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let candidates = ranked.iter().take_while(|(_, count)| *count >= least).count();
        let jump = |place: usize| {
            let next = ranked.get(place + 1).map_or(1, |(_, count)| *count);
            ranked[place].1 as f64 / next as f64
        };
        // The last jump wins a tie: one word too many is better than one too few.
        let cut = (0..candidates).max_by(|a, b| jump(*a).total_cmp(&jump(*b)));
        ranked.iter().take(cut.map_or(0, |place| place + 1)).map(|(term, _)| *term).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_jump_ends_the_list() {
        let mut learner = IrrelevantWordLearner::default();
        for number in 0..200 {
            let subject = format!("subject{}", number % 40);
            learner.add([("可以", 5), ("中国", 4), (subject.as_str(), 9), ("once", 1)]);
        }
        assert_eq!(learner.words(), ["中国", "可以"]);
        assert!(IrrelevantWordLearner::default().words().is_empty());
        assert!(is_irrelevant("可以") && !is_irrelevant("灯塔"));
    }
}
