//! Guide words (导向词): words that steer the crawl towards a topic (《搜索引擎——原理、技术与系统》§6.1).
//!
//! The relevance of a text is a number from 0 to 1. Occurrences are counted as substrings, ignoring case, so no word
//! segmentation is needed. Relevance saturates: repeating a word a hundred times counts hardly more than four times,
//! so keyword stuffing gains nothing.

/// Maximum number of counted occurrences per word.
const MAX_PER_WORD: usize = 4;
/// Number of occurrences with relevance 1/2.
const HALF_RELEVANCE: f64 = 3.0;
/// Weight of an occurrence in the title or the anchor.
const FOREGROUND_WEIGHT: f64 = 3.0;
/// Texts are read up to this length, in bytes.
const MAX_TEXT: usize = 64 * 1024;
/// Maximum number of guide words used.
const MAX_WORDS: usize = 256;

/// Returns the relevance of a text to the words, from 0 to 1. It never falls with more occurrences.
pub fn relevance(words: &[String], text: &str) -> f64 {
    saturated(mentions(words, text))
}

/// Returns the relevance of a page to the words; the title counts more than the text.
pub fn page_relevance(words: &[String], title: &str, text: &str) -> f64 {
    saturated(FOREGROUND_WEIGHT * mentions(words, title) + mentions(words, text))
}

/// Returns the relevance of a link to the words; the anchor counts more than the surrounding text.
pub fn link_relevance(words: &[String], anchor: &str, around: &str) -> f64 {
    saturated(FOREGROUND_WEIGHT * mentions(words, anchor) + mentions(words, around))
}

fn saturated(mentions: f64) -> f64 {
    mentions / (mentions + HALF_RELEVANCE)
}

fn mentions(words: &[String], text: &str) -> f64 {
    if words.is_empty() || text.is_empty() {
        return 0.0;
    }
    let text = text[..text.floor_char_boundary(MAX_TEXT)].to_lowercase();
    let count = |word: &String| {
        let word = word.trim().to_lowercase();
        if word.is_empty() { 0 } else { text.matches(&word).take(MAX_PER_WORD).count() }
    };
    words.iter().take(MAX_WORDS).map(count).sum::<usize>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn words_are_found_in_any_case_and_without_segmentation() {
        let guide = words(&["灯塔", "Lighthouse", " "]);
        assert_eq!(relevance(&guide, "a street lamp"), 0.0);
        assert!(relevance(&guide, "北海的灯塔很高") > 0.0);
        assert_eq!(relevance(&guide, "LIGHTHOUSES"), relevance(&guide, "灯塔"));
        assert!(relevance(&guide, "灯塔 lighthouse") > relevance(&guide, "灯塔"));
        assert_eq!(relevance(&[], "anything"), 0.0);
    }

    #[test]
    fn repeating_a_word_stops_paying() {
        let guide = words(&["lamp"]);
        assert!(relevance(&guide, "lamp lamp") > relevance(&guide, "lamp"));
        assert_eq!(relevance(&guide, &"lamp ".repeat(5)), relevance(&guide, &"lamp ".repeat(50_000)));
    }

    #[test]
    fn the_foreground_counts_more() {
        let guide = words(&["lamp"]);
        assert!(page_relevance(&guide, "lamp", "") > page_relevance(&guide, "", "lamp"));
        assert!(link_relevance(&guide, "lamp", "") > link_relevance(&guide, "", "lamp"));
        assert!(page_relevance(&guide, "lamp", "lamp") > page_relevance(&guide, "lamp", ""));
    }

    proptest! {
        #[test]
        fn relevance_is_a_share_and_grows(guide in proptest::collection::vec("\\PC{0,4}", 0..5), text in "\\PC{0,200}") {
            let alone = relevance(&guide, &text);
            prop_assert!((0.0..1.0).contains(&alone));
            let more = format!("{text} {}", guide.join(" "));
            prop_assert!(relevance(&guide, &more) >= alone);
            prop_assert!((0.0..1.0).contains(&page_relevance(&guide, &text, &more)));
        }
    }
}
