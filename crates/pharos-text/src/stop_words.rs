//! Stop words (停用词): words that say nothing about a page.
//!
//! They are indexed like all others, with their positions, so that a phrase may contain them. A query leaves them out
//! where it has another word; alone or in quotes they count.

use std::collections::HashSet;
use std::sync::LazyLock;

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../data/stop_words.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Is this term a stop word?
pub fn is_stop_word(term: &str) -> bool {
    STOP_WORDS.contains(term)
}

/// The terms that count: without stop words, or all where nothing else is there.
pub fn without_stop_words<T: AsRef<str>>(mut terms: Vec<T>) -> Vec<T> {
    if terms.iter().any(|term| !is_stop_word(term.as_ref())) {
        terms.retain(|term| !is_stop_word(term.as_ref()));
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analyser;

    #[test]
    fn chinese_and_english_stop_words_are_known() {
        for word in ["的", "在", "与", "是", "地", "the", "a", "it"] {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["网络", "what", "who", "灯塔", "will", ""] {
            assert!(!is_stop_word(word), "{word}");
        }
    }

    #[test]
    fn what_is_left_is_what_counts() {
        assert_eq!(
            without_stop_words(vec!["网络", "与", "分布式", "系统", "实验室"]),
            ["网络", "分布式", "系统", "实验室"]
        );
        assert_eq!(without_stop_words(vec!["的", "在"]), ["的", "在"]);
    }

    #[test]
    fn the_list_is_in_the_form_that_is_compared() {
        for word in STOP_WORDS.iter() {
            let terms: Vec<String> = Analyser::shared().tokens(word).into_iter().map(|t| t.text).collect();
            assert_eq!(terms, [word.to_string()]);
        }
    }
}
