//! Texts as lists of word numbers.

use std::collections::{HashMap, HashSet};

use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;

/// Limits of a vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct CorpusLimits {
    /// Maximum number of words; those in most texts are kept.
    pub words: usize,
    /// Minimum number of texts with a word.
    pub min_texts: usize,
    /// Maximum share of the texts with a word: words of nearly all texts have no topic.
    pub max_share: f64,
}

impl Default for CorpusLimits {
    fn default() -> Self {
        Self { words: 50_000, min_texts: 3, max_share: 0.5 }
    }
}

/// Texts of a topic model.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    pub words: Vec<String>,
    /// Word numbers of each text. Unknown words are left out.
    pub texts: Vec<Vec<u32>>,
}

impl Corpus {
    /// Segments texts and selects the vocabulary.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>, limits: CorpusLimits) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut frequency: Vec<u32> = Vec::new();
        let mut texts: Vec<Vec<u32>> = texts
            .into_iter()
            .map(|text| {
                let mut words = Vec::new();
                for_each_word(text, |word| {
                    let number = numbers.get(word).copied().unwrap_or_else(|| {
                        frequency.push(0);
                        numbers.insert(word.to_string(), frequency.len() as u32 - 1);
                        frequency.len() as u32 - 1
                    });
                    words.push(number);
                });
                let distinct: HashSet<u32> = words.iter().copied().collect();
                distinct.into_iter().for_each(|word| frequency[word as usize] += 1);
                words
            })
            .collect();
        let most = limits.max_share * texts.len() as f64;
        let is_kept = |count: u32| count as usize >= limits.min_texts && f64::from(count) <= most.max(1.0);
        let mut kept: Vec<(String, u32)> =
            numbers.into_iter().filter(|&(_, word)| is_kept(frequency[word as usize])).collect();
        kept.sort_unstable_by_key(|&(_, word)| (std::cmp::Reverse(frequency[word as usize]), word));
        kept.truncate(limits.words);
        let mut new_numbers = vec![None; frequency.len()];
        for (new, (_, word)) in (0u32..).zip(&kept) {
            new_numbers[*word as usize] = Some(new);
        }
        for text in &mut texts {
            *text = text.iter().filter_map(|&word| new_numbers[word as usize]).collect();
        }
        Self { words: kept.into_iter().map(|(word, _)| word).collect(), texts }
    }
}

/// Calls `f` with each word of a text that can have a topic.
pub(super) fn for_each_word(text: &str, mut f: impl FnMut(&str)) {
    Analyser::shared().for_each_token(text, |word, _, _, _| {
        if word.chars().nth(1).is_some() && word.chars().all(char::is_alphabetic) && !is_stop_word(word) {
            f(word);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_and_common_words_are_left_out() {
        let texts = ["rain wind sea", "rain wind", "rain snow", "rain 12 of"];
        let corpus = Corpus::new(texts, CorpusLimits { words: 10, min_texts: 2, max_share: 0.6 });
        assert_eq!(corpus.words, ["wind"]);
        let expected: [&[u32]; 4] = [&[0], &[0], &[], &[]];
        assert_eq!(corpus.texts, expected);
    }
}
