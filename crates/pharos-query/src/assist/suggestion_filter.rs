//! Selection of phrases that are good suggestions, and the forms in which a typed text may be written.

use std::collections::HashSet;
use std::sync::LazyLock;

use pharos_text::analyser::stem::stem_term;
use pharos_text::{is_han, normalise};

/// Maximum number of words of a suggestion; longer titles are sentences.
const MAX_WORDS: usize = 12;

/// Number of words from which a text with a full stop is a sentence. Shorter ones are names such as `Inc.`.
const MIN_SENTENCE: usize = 5;

/// Number of Han characters that count as one word.
const HAN_PER_WORD: usize = 2;

static NAVIGATION_TEXTS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("navigation_texts.txt").lines().filter(|line| !line.starts_with('#')).collect()
});

/// Returns `true` if users may search for the text: it is no sentence and no text of a menu.
pub(super) fn is_suggestion(text: &str) -> bool {
    let han = text.chars().filter(|c| is_han(*c)).count();
    let words = text.split_whitespace().filter(|word| !word.contains(is_han)).count() + han / HAN_PER_WORD;
    let is_sentence =
        words > MAX_WORDS || (words >= MIN_SENTENCE && text.ends_with(['.', '。', '…', '；', ';']));
    !is_sentence && !NAVIGATION_TEXTS.contains(normalise(text.trim()).as_str())
}

/// Returns the key of a suggestion: texts that differ only in the forms of their words or in spaces beside Han
/// characters have equal keys.
pub(super) fn form_key(text: &str) -> String {
    let text = join_scripts(&normalise(text));
    let words = text.split_whitespace().map(|word| stem_term(word).unwrap_or_else(|| word.to_string()));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the other forms of a typed text: with and without spaces between Han characters and letters.
pub(super) fn written_forms(typed: &str) -> Vec<String> {
    let forms = [join_scripts(typed), split_scripts(typed)];
    forms.into_iter().filter(|form| form.trim_end() != typed.trim_end()).collect()
}

/// Removes spaces beside Han characters.
fn join_scripts(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_beside_han = joined.ends_with(is_han) || rest.peek().copied().is_some_and(is_han);
        if !(c.is_whitespace() && is_beside_han) {
            joined.push(c);
        }
    }
    joined
}

/// Inserts spaces between Han characters and letters or digits.
fn split_scripts(text: &str) -> String {
    let mut split = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        let before = split.chars().next_back();
        let is_border = before.is_some_and(|before| {
            before.is_alphanumeric() && c.is_alphanumeric() && is_han(before) != is_han(c)
        });
        if is_border {
            split.push(' ');
        }
        split.push(c);
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_menus_are_no_suggestions() {
        for text in ["Lighthouse keepers", "What is asyncio?", "灯塔的历史", "Harbour Inc."] {
            assert!(is_suggestion(text), "{text}");
        }
        let long = "word ".repeat(13);
        for text in
            ["The lamp was lit every evening.", "Next page", "首页", &long, "灯塔每天晚上都要点亮灯。"]
        {
            assert!(!is_suggestion(text), "{text}");
        }
    }

    #[test]
    fn forms_of_words_and_spaces_are_one_suggestion() {
        assert_eq!(form_key("Lighthouses"), form_key("lighthouse"));
        assert_eq!(form_key("Python 教程"), form_key("python教程"));
        assert_ne!(form_key("lighthouse keeper"), form_key("lighthousekeeper"));
        assert_eq!(written_forms("python 教"), ["python教"]);
        assert_eq!(written_forms("python教"), ["python 教"]);
        assert!(written_forms("python tutor").is_empty() && written_forms("教程").is_empty());
    }
}
