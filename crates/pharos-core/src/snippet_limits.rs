//! Limits that a page sets on its snippets in result lists.
//!
//! A page limits snippets as a whole (`nosnippet`, `max-snippet`: [`PageObject::max_snippet`]) or excludes parts of its
//! text (`data-nosnippet`: [`PageObject::quotable`]). All of its text remains searchable in either case.

use std::ops::Range;

use crate::PageObject;

impl PageObject {
    /// Returns the maximum number of characters of a snippet, or `None` if there is no limit. The strictest of several
    /// limits applies.
    pub fn max_snippet(&self) -> Option<u32> {
        let mut words = self
            .robots
            .split(|c: char| matches!(c, ',' | ';' | ':') || c.is_whitespace())
            .filter(|word| !word.is_empty())
            .peekable();
        let mut strictest: Option<u32> = None;
        while let Some(word) = words.next() {
            let limit = if word.eq_ignore_ascii_case("nosnippet") {
                Some(0)
            } else if word.eq_ignore_ascii_case("max-snippet") {
                // -1 means no limit.
                words.next_if(|number| number.parse::<i64>().is_ok()).and_then(|number| number.parse().ok())
            } else {
                None
            };
            strictest = match (strictest, limit) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        strictest
    }

    /// Returns the text without its unquotable parts, or `None` if all of it may be quoted. Line feeds are kept, so
    /// some lines may be empty.
    pub fn quotable(&self) -> Option<String> {
        (!self.unquotable.is_empty()).then(|| remove_ranges(&self.text, &self.unquotable))
    }

    /// Returns the other text like [`quotable`](Self::quotable).
    pub fn quotable_other(&self) -> Option<String> {
        (!self.unquotable_other.is_empty()).then(|| remove_ranges(&self.other, &self.unquotable_other))
    }
}

/// Removes ranges from a text. The ranges are in ascending order. Line feeds are kept.
fn remove_ranges(text: &str, parts: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        let start = text.floor_char_boundary(part.start).max(at);
        let end = text.ceil_char_boundary(part.end);
        if end <= start {
            continue;
        }
        left.push_str(&text[at..start]);
        left.truncate(left.trim_end_matches(' ').len());
        let ended_lines = text[start..end].matches('\n').count();
        left.extend(std::iter::repeat_n('\n', ended_lines));
        let rest = &text[end..];
        let next = rest.trim_start_matches(' ');
        at = text.len() - next.len();
        let was_separated = next.len() < rest.len() || next.starts_with(char::is_alphanumeric);
        if was_separated
            && !left.is_empty()
            && !left.ends_with('\n')
            && !next.is_empty()
            && !next.starts_with('\n')
        {
            left.push(' ');
        }
    }
    left.push_str(&text[at..]);
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_strictest_limit_holds() {
        let limit = |robots: &str| PageObject { robots: robots.into(), ..Default::default() }.max_snippet();
        assert_eq!(limit(""), None);
        assert_eq!(limit("index, max-snippet:-1"), None);
        assert_eq!(limit("NoSnippet"), Some(0));
        assert_eq!(limit("max-snippet:0"), Some(0));
        assert_eq!(limit("noarchive Max-Snippet : 20; max-snippet:50"), Some(20));
        assert_eq!(limit("max-snippet:20, nosnippet"), Some(0));
        assert_eq!(limit("none, max-image-preview:standard"), None, "`none` sets no snippet limit");
        assert_eq!(limit("max-snippet, nosnippet"), Some(0));
        assert_eq!(limit("max-snippet:, max-snippet:many, max-snippet:-7"), None);
        assert_eq!(limit("unavailable_after: 25 Jun 2030 15:00:00 GMT, max-snippet: 7"), Some(7));
        assert_eq!(limit("nosnippets"), None);
    }

    /// Returns the quotable text of a page whose unquotable parts are in brackets.
    fn quoted(marked: &str) -> Option<String> {
        let mut page = PageObject::default();
        for c in marked.chars() {
            match (c, page.unquotable.last_mut()) {
                ('[', _) => page.unquotable.push(page.text.len()..usize::MAX),
                (']', Some(part)) => part.end = page.text.len(),
                _ => page.text.push(c),
            }
        }
        page.quotable()
    }

    #[test]
    fn unquotable_parts_are_removed() {
        let quotable = |marked: &str| quoted(marked).unwrap_or_default();
        assert_eq!(quoted("all of it"), None);
        assert_eq!(quotable("the [butler] did it [with a knife]."), "the did it.");
        assert_eq!(quotable("[The butler] did it"), "did it");
        assert_eq!(
            quotable("one[two]three [four]\nfive[\nsix]\n[seven]\neight"),
            "one three\nfive\n\n\neight"
        );
        assert_eq!(quotable("灯[塔]在远处[。"), "灯 在远处");
        assert_eq!(quotable("[all of it]"), "");
    }

    proptest! {
        #[test]
        fn any_ranges_can_be_removed(text in "[a é灯\n]{0,20}", parts in prop::collection::vec((0..30_usize, 0..70_usize), 1..6)) {
            let unquotable = parts.into_iter().map(|(start, end)| start..end).collect();
            let page = PageObject { text: text.clone(), unquotable, ..Default::default() };
            let quotable = page.quotable().unwrap_or_default();
            prop_assert_eq!(quotable.matches('\n').count(), text.matches('\n').count());
        }
    }
}
