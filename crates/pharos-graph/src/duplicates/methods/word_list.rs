//! MD5 of the words by descending frequency, joined and truncated to 2,048 bytes (《搜索引擎——原理、技术与系统》§13.2).

use std::collections::HashMap;

use super::super::hash::md5;
use super::super::{Digest, PageText};
use super::digest::DigestDetector;

/// Detects pages with the same frequent words in the same order of frequency.
#[derive(Clone, Copy, Debug)]
pub struct FrequentWordList {
    /// Length of the joined list in bytes.
    pub bytes: usize,
}

impl Default for FrequentWordList {
    fn default() -> Self {
        Self { bytes: 2048 }
    }
}

impl FrequentWordList {
    /// Returns the beginning of the joined list. Words of equal frequency are in lexicographic order; without a fixed
    /// order, two copies could differ.
    fn prefix(&self, words: &[&str]) -> Vec<u8> {
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
        let mut counts: Vec<(&str, u32)> = counts.into_iter().collect();
        counts.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        let mut joined = Vec::with_capacity(self.bytes.min(1 << 16));
        for (word, _) in counts {
            let remaining = self.bytes - joined.len();
            joined.extend_from_slice(&word.as_bytes()[..word.len().min(remaining)]);
            if joined.len() == self.bytes {
                break;
            }
        }
        joined
    }
}

impl DigestDetector for FrequentWordList {
    fn label(&self) -> &'static str {
        "word list"
    }

    fn digest(&self, page: &PageText) -> Option<Digest> {
        (!page.words.is_empty()).then(|| md5(&self.prefix(page.words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_by_falling_frequency_and_ties_in_their_order() {
        let list = FrequentWordList::default();
        assert_eq!(list.prefix(&["b", "c", "a", "c"]), b"cab");
        assert_eq!(list.prefix(&["a", "c", "c", "b"]), b"cab");
        assert_eq!(FrequentWordList { bytes: 4 }.prefix(&["灯塔", "灯塔", "a"]), "灯塔".as_bytes()[..4]);
        let long: Vec<String> = (0..1000).map(|number| format!("{number:04}")).collect();
        let words: Vec<&str> = long.iter().map(String::as_str).collect();
        assert_eq!(list.prefix(&words).len(), 2048);
    }
}
