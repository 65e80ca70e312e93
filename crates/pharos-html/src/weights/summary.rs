//! Abstracts: the sentences with the highest weight of each paragraph, or the beginning of the text.
//!
//! 《搜索引擎——原理、技术与系统》 describes both. The first (§7.1) is displayed to users. The second (§7.2) serves to compare
//! pages, because two copies of a text begin alike regardless of their surroundings.

use pharos_core::WeightedTerm;
use pharos_core::work::spend_work;

use crate::dom::visible_text::{collapse_whitespace, truncate_at_word};

/// Maximum number of sentences examined per paragraph.
const MAX_SENTENCES: usize = 50;

/// Maximum number of sentences compared in total.
const MAX_CANDIDATES: usize = 200;

/// Minimum length of a sentence in characters; shorter ones are headings and labels.
const MIN_SENTENCE: usize = 12;

/// Returns the beginning of a text that takes at most `bytes` bytes, counting one byte for ASCII and two for other
/// characters as in GBK: 512 bytes are 256 Chinese characters (static summary, 静态摘要).
pub fn first_bytes(text: &str, bytes: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += if c.is_ascii() { 1 } else { 2 };
        taken > bytes
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns the sentence with the highest weight of each paragraph in document order, as many as fit into
/// `max_chars`. The weight of a sentence is the sum of the weights of its keywords (《搜索引擎——原理、技术与系统》§7.1).
pub(crate) fn by_paragraphs(paragraphs: &[String], keywords: &[WeightedTerm], max_chars: usize) -> String {
    let mut candidates: Vec<(f32, usize, String)> = Vec::new();
    for (number, paragraph) in paragraphs.iter().enumerate().take(MAX_CANDIDATES) {
        let best = sentences(paragraph)
            .map(|sentence| (weight(&sentence, keywords), sentence))
            .filter(|(weight, _)| *weight > 0.0)
            // The first sentence wins a tie.
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        candidates.extend(best.map(|(weight, sentence)| (weight, number, sentence)));
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut remaining = max_chars;
    let mut chosen: Vec<(usize, String)> = Vec::new();
    for (_, number, sentence) in candidates {
        let len = sentence.chars().count() + 1;
        if len <= remaining {
            remaining -= len;
            chosen.push((number, sentence));
        } else if chosen.is_empty() {
            return truncate_at_word(&sentence, max_chars);
        }
    }
    chosen.sort_by_key(|(number, _)| *number);
    let sentences: Vec<&str> = chosen.iter().map(|(_, sentence)| sentence.as_str()).collect();
    sentences.join(" ")
}

pub(crate) fn sentences(paragraph: &str) -> impl Iterator<Item = String> {
    /// Maximum length of one paragraph; a page without any full stop is one sentence.
    const MAX_BYTES: usize = 16 << 10;
    let paragraph = &paragraph[..paragraph.floor_char_boundary(MAX_BYTES)];
    pharos_text::sentences::sentences(paragraph)
        .take(MAX_SENTENCES)
        .map(|sentence| collapse_whitespace(&paragraph[sentence], usize::MAX))
        .filter(|sentence| sentence.chars().count() >= MIN_SENTENCE)
}

fn weight(sentence: &str, keywords: &[WeightedTerm]) -> f32 {
    /// Number of bytes searched for a keyword in the time of a step.
    const BYTES_PER_STEP: usize = 8;
    let lower = sentence.to_lowercase();
    spend_work((lower.len() * (1 + keywords.len() / BYTES_PER_STEP)) as u64);
    keywords.iter().filter(|keyword| has_word(&lower, &keyword.term)).map(|keyword| keyword.weight).sum()
}

/// Returns `true` if a text contains a word. Words of an alphabetic script must not be parts of longer words;
/// Chinese words have no boundaries.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(word).take(MAX_SENTENCES).any(|(at, _)| {
        !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_two_byte_encoding() {
        let chinese = "灯".repeat(300);
        for (bytes, chars) in [(48, 24), (256, 128), (512, 256)] {
            assert_eq!(first_bytes(&chinese, bytes).chars().count(), chars);
        }
        assert_eq!(first_bytes("a灯b", 3), "a灯");
        assert_eq!(first_bytes("a灯b", 2), "a");
        assert_eq!(first_bytes("short", 512), "short");
    }

    #[test]
    fn the_weightiest_sentences_in_their_order() {
        let keyword = |term: &str, weight| WeightedTerm { term: term.into(), weight };
        let keywords = [keyword("lamp", 0.9), keyword("灯塔", 0.8)];
        let paragraphs = [
            "It was a night like any other. The lamp was lit at nine o'clock.".to_string(),
            "Clamps and lampposts are of no interest here.".to_string(),
            "夜里很黑，什么也看不见。灯塔在远处亮着，为船只指路。".to_string(),
        ];
        let found = by_paragraphs(&paragraphs, &keywords, 200);
        assert_eq!(found, "The lamp was lit at nine o'clock. 灯塔在远处亮着，为船只指路。");
        assert_eq!(by_paragraphs(&paragraphs, &keywords, 14), "The lamp was…");
        assert_eq!(by_paragraphs(&paragraphs, &[], 200), "");
    }

    proptest::proptest! {
        #[test]
        fn never_longer_than_asked(text in "(lamp |灯塔|。|\\. |[a-z ]){0,60}", max in 1..50_usize) {
            let keywords = [WeightedTerm { term: "lamp".into(), weight: 1.0 }];
            let found = by_paragraphs(&[text.clone(), text.clone()], &keywords, max);
            proptest::prop_assert!(found.chars().count() <= max + 1);
            proptest::prop_assert!(text.starts_with(first_bytes(&text, max)));
        }
    }
}
