//! Similarity of a line to the page title.

use std::hash::{BuildHasher as _, Hasher as _};

use crate::blocks::is_ideograph;

/// Maximum number of title words.
const MAX_WORDS: usize = 64;

/// Hashes of the words of the page title; for Chinese, of its characters.
#[derive(Debug, Default)]
pub(crate) struct TitleWords {
    words: Vec<u64>,
}

impl TitleWords {
    /// Collects the words of a title.
    pub(crate) fn from_title(title: &str) -> Self {
        let mut words = Vec::new();
        each_word(title, |word| words.push(word));
        words.truncate(MAX_WORDS);
        words.sort_unstable();
        words.dedup();
        TitleWords { words }
    }

    /// Returns the share of the line's words that are in the title, and the share of the title's words that are in
    /// the line.
    pub(crate) fn similarity(&self, line: &str) -> (f32, f32) {
        if self.words.is_empty() {
            return (0.0, 0.0);
        }
        let (mut all, mut shared) = (0u32, 0u64);
        let mut count = 0u32;
        each_word(line, |word| {
            all += 1;
            if let Ok(at) = self.words.binary_search(&word) {
                shared |= 1 << at;
                count += 1;
            }
        });
        (count as f32 / all.max(1) as f32, shared.count_ones() as f32 / self.words.len() as f32)
    }
}

fn each_word(text: &str, mut found: impl FnMut(u64)) {
    let state = foldhash::fast::FixedState::with_seed(0);
    let mut hasher = None;
    for c in text.chars() {
        if is_ideograph(c) {
            if let Some(word) = hasher.take() {
                let word: foldhash::fast::FoldHasher<'_> = word;
                found(word.finish());
            }
            found(u64::from(u32::from(c)));
        } else if c.is_alphanumeric() {
            let lower =
                if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) };
            hasher.get_or_insert_with(|| state.build_hasher()).write_u32(u32::from(lower));
        } else if let Some(word) = hasher.take() {
            found(word.finish());
        }
    }
    if let Some(word) = hasher {
        found(word.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_has_two_directions() {
        let title = TitleWords::from_title("The old lighthouse | Example Times");
        assert_eq!(title.similarity("THE OLD lighthouse"), (1.0, 0.6));
        assert_eq!(title.similarity("somebody else"), (0.0, 0.0));
        assert_eq!(TitleWords::from_title("灯塔的历史_新闻").similarity("灯塔"), (1.0, 2.0 / 7.0));
        assert_eq!(TitleWords::from_title("").similarity("x"), (0.0, 0.0));
    }
}
