//! Question and filler words (疑问词和填充词): "how to", "introduction", 怎么, 区别.
//!
//! A page that answers a question rarely repeats its wording, so these words are optional beside other words. Unlike
//! stop words they still count for the score, at a lower weight.

use std::collections::HashSet;
use std::sync::LazyLock;

type WordList = LazyLock<HashSet<&'static str>>;

static QUESTION_WORDS: WordList = LazyLock::new(|| words_of(include_str!("words/question_words.txt")));
static FILLER_WORDS: WordList = LazyLock::new(|| words_of(include_str!("words/filler_words.txt")));

fn words_of(text: &'static str) -> HashSet<&'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Returns `true` if the normalised word only asks a question.
pub(crate) fn is_question_word(word: &str) -> bool {
    QUESTION_WORDS.contains(word)
}

/// Returns `true` if pages that match a query may lack the normalised word.
pub(crate) fn is_optional_word(word: &str) -> bool {
    is_question_word(word) || FILLER_WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use pharos_text::Analyser;

    use super::*;

    /// A word that the analyser divides or changes would never be found in the list.
    #[test]
    fn the_lists_are_in_the_form_that_is_compared() {
        for word in QUESTION_WORDS.iter().chain(FILLER_WORDS.iter()) {
            let terms: Vec<String> = Analyser::shared().tokens(word).into_iter().map(|t| t.text).collect();
            assert_eq!(terms, [word.to_string()]);
        }
        assert!(is_optional_word("introduction") && is_optional_word("怎么") && is_question_word("how"));
        assert!(!is_question_word("区别") && !is_optional_word("lighthouse"));
    }
}
