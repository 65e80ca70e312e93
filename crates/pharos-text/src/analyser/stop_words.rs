//! Stop words (停用词): words that carry no information about a page.
//!
//! They are indexed like all other words, with their positions, so that a phrase may contain them. A query
//! drops them if it has another word. A query of stop words alone, or a quoted phrase, keeps them.

use std::collections::HashSet;
use std::sync::LazyLock;

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../data/stop_words.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Returns `true` if `term` is a stop word.
pub fn is_stop_word(term: &str) -> bool {
    STOP_WORDS.contains(term)
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
    fn the_list_is_in_the_form_that_is_compared() {
        for word in STOP_WORDS.iter() {
            let terms: Vec<String> = Analyser::shared().tokens(word).into_iter().map(|t| t.text).collect();
            assert_eq!(terms, [word.to_string()]);
        }
    }
}
