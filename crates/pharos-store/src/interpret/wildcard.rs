//! Wildcard patterns of robots.txt rules and of crawl rules, matched without backtracking.

use pharos_core::work::spend_work;

/// Returns `true` if a text begins with `pattern`, in which every `*` matches any characters. An anchored pattern
/// matches the whole text. Time is linear in the lengths of both.
pub(super) fn matches_wildcards(pattern: &str, text: &str, is_anchored: bool) -> bool {
    spend_work(1 + pattern.len().min(text.len()) as u64);
    let Some((first, others)) = pattern.split_once('*') else {
        return if is_anchored { text == pattern } else { text.starts_with(pattern) };
    };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = others.split('*').peekable();
    while let Some(part) = parts.next() {
        // The leftmost match is always right, except for the last part of an anchored pattern.
        if parts.peek().is_none() && is_anchored {
            return rest.ends_with(part);
        }
        let found = rest.find(part).map(|at| at + part.len());
        spend_work(1 + found.unwrap_or(rest.len()) as u64);
        match found {
            Some(end) => rest = &rest[end..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    /// Patterns with which backtracking takes time beyond the product of both lengths.
    #[test]
    fn the_work_of_a_match_is_linear() {
        for length in [250, 2_000] {
            let texts = ["a".repeat(length), "ab".repeat(length / 2), "a".repeat(length - 1) + "b"];
            let patterns = [
                "*a".repeat(length / 2),
                "*a".repeat(length / 2) + "*c",
                "*".repeat(length),
                "a*".repeat(9) + "b",
            ];
            for (text, pattern) in texts.iter().flat_map(|text| patterns.iter().map(move |p| (text, p))) {
                for is_anchored in [true, false] {
                    let steps = measure_work(|| matches_wildcards(pattern, text, is_anchored)).1;
                    let bytes = (pattern.len() + text.len()) as u64;
                    assert!(steps <= 2 * bytes, "{pattern}: {steps} steps for {bytes} bytes");
                }
            }
        }
    }

    fn matches_naively(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|at| matches_naively(rest, &text[at..])),
            Some((first, rest)) => text.first() == Some(first) && matches_naively(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn matches_are_those_of_the_definition(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            let is_whole = matches_naively(pattern.as_bytes(), text.as_bytes());
            prop_assert_eq!(matches_wildcards(&pattern, &text, true), is_whole);
            let begins = matches_naively(format!("{pattern}*").as_bytes(), text.as_bytes());
            prop_assert_eq!(matches_wildcards(&pattern, &text, false), begins);
        }
    }
}
