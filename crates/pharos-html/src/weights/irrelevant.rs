//! Words that are frequent everywhere and tell nothing (高频无关词; DocView, B83): a list, and how it is learnt.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What was learnt on general pages.
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let list = include_str!("../../data/irrelevant-words.txt");
    list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
});

/// Is this a word of the list?
pub(super) fn is_irrelevant(term: &str) -> bool {
    WORDS.contains(term)
}

/// Learns the words that are of high frequency in very many documents.
///
/// ```
/// let mut learner = pharos_html::IrrelevantWordLearner::default();
/// for subject in ["lamp", "rock", "ship", "wave", "coast"] {
///     learner.add([("the", 9), (subject, 5), ("once", 1)]);
/// }
/// assert_eq!(learner.words(), ["the"]);
/// ```
#[derive(Debug, Default)]
pub struct IrrelevantWordLearner {
    documents: usize,
    /// In how many documents a word was of high frequency.
    frequent_in: HashMap<String, usize>,
}

impl IrrelevantWordLearner {
    /// Words of a document that count as its most frequent ones.
    const MOST_FREQUENT: usize = 20;

    /// A word that is of high frequency in fewer documents than one in this many is nobody's habit.
    const ONE_IN: usize = 50;

    /// Words that are counted; rare ones are forgotten when there are more.
    const MAX_WORDS: usize = 500_000;

    /// Adds a document: its words, and how often each occurs.
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
            // Hostile input may have nothing but rare words.
            if self.frequent_in.len() > Self::MAX_WORDS {
                self.frequent_in.clear();
            }
        }
    }

    /// The words found, the most common first. The cut is where the number of documents jumps: the greatest ratio
    /// between a word's and the next one's.
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
        // Of jumps alike the last: rather a word too many than one too few.
        let cut = (0..candidates).max_by(|a, b| jump(*a).total_cmp(&jump(*b)));
        ranked.iter().take(cut.map_or(0, |place| place + 1)).map(|(term, _)| *term).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jump_divides_habits_from_subjects() {
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
