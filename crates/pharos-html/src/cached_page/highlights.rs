//! Highlighting of query terms in a cached page, with jump links from each occurrence to the next.
//!
//! Every occurrence has an id (`w0-1`, `w0-2`, …) and links to the next occurrence of its term, the last one to the
//! first. Users step through a page without any script. Links cannot be nested, so a link of the page that contains
//! occurrences is followed by an arrow that leads to the next one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use pharos_text::analyser::stem::stem_term;
use pharos_text::{Analyser, normalise};

/// Number of highlight colours: classes `w0` to `w9`.
pub const COLOURS: usize = 10;

/// Maximum number of jump targets per term. Further occurrences are only coloured, because their links would take
/// more space than the page.
const MAX_JUMPS: usize = 5_000;

/// Terms to highlight.
#[derive(Clone, Copy, Debug, Default)]
pub struct HighlightOptions<'a> {
    /// Terms of the query. Each is analysed like the query, so one may yield several words. The `n`-th term has the
    /// colour `n % 10`.
    pub terms: &'a [String],
    /// Label of the arrow after a link, for screen readers.
    pub next_label: &'a str,
}

/// Highlights of one cached page while it is written.
pub(super) struct Highlighter<'a> {
    colours: TermColours,
    next: &'a str,
    /// Number of occurrences so far.
    counts: [usize; COLOURS],
    /// Output range of the target number in the last jump link of each term. It is rewritten to point to the first
    /// occurrence.
    last: [Option<Range<usize>>; COLOURS],
    /// Terms that occur in the currently open link of the page.
    in_link: [bool; COLOURS],
}

impl<'a> Highlighter<'a> {
    pub(super) fn new(options: &HighlightOptions<'a>) -> Self {
        Self {
            colours: TermColours::from_terms(options.terms),
            next: options.next_label,
            counts: [0; COLOURS],
            last: [const { None }; COLOURS],
            in_link: [false; COLOURS],
        }
    }

    /// Returns the occurrences in a text in order: start, end and colour.
    pub(super) fn spans(&self, text: &str) -> Vec<(usize, usize, usize)> {
        self.colours.spans(text)
    }

    /// Writes an occurrence; `inner` writes its text.
    pub(super) fn write_occurrence(
        &mut self,
        out: &mut String,
        colour: usize,
        is_in_link: bool,
        inner: impl FnOnce(&mut String),
    ) {
        self.counts[colour] += 1;
        let number = self.counts[colour];
        let can_jump = number <= MAX_JUMPS;
        // Writing to a string cannot fail.
        let _ = write!(out, "<mark class=\"w{colour}\"");
        if can_jump {
            let _ = write!(out, " id=\"w{colour}-{number}\"");
        }
        out.push('>');
        if can_jump && !is_in_link {
            out.push_str("<a ");
            self.write_jump(out, colour);
            out.push('>');
            inner(out);
            out.push_str("</a>");
        } else {
            self.in_link[colour] |= can_jump;
            inner(out);
        }
        out.push_str("</mark>");
    }

    /// Writes an arrow after a link of the page for each term that occurs in it.
    pub(super) fn write_arrows(&mut self, out: &mut String, escape: impl Fn(&mut String, &str)) {
        for colour in 0..COLOURS {
            if std::mem::take(&mut self.in_link[colour]) {
                let _ = write!(out, "<a class=\"next w{colour}\" ");
                self.write_jump(out, colour);
                if !self.next.is_empty() {
                    out.push_str(" aria-label=\"");
                    escape(out, self.next);
                    out.push('"');
                }
                out.push_str(">↓</a>");
            }
        }
    }

    /// Writes the attributes of a link to the next occurrence.
    fn write_jump(&mut self, out: &mut String, colour: usize) {
        let _ = write!(out, "href=\"#w{colour}-");
        let start = out.len();
        let _ = write!(out, "{}", self.counts[colour].min(MAX_JUMPS) + 1);
        self.last[colour] = Some(start..out.len());
        out.push_str("\" target=\"_self\"");
    }

    /// Points the last jump link of each term to its first occurrence. Returns the number of occurrences of each
    /// colour.
    pub(super) fn finish(self, out: &mut String) -> [usize; COLOURS] {
        let mut last: Vec<_> = self.last.into_iter().flatten().collect();
        // From back to front, so that the other ranges stay valid.
        last.sort_by_key(|place| std::cmp::Reverse(place.start));
        for place in last {
            out.replace_range(place, "1");
        }
        self.counts
    }
}

/// Returns `true` for a class reserved for a highlight colour.
pub(super) fn is_reserved_class(class: &str) -> bool {
    matches!(class.as_bytes(), [b'w', b'0'..=b'9'])
}

/// Returns `true` for an id reserved for an occurrence.
pub(super) fn is_reserved_id(id: &str) -> bool {
    matches!(id.trim().as_bytes(), [b'w', b'0'..=b'9', b'-', ..])
}

/// Mapping from words to colours.
struct TermColours {
    analyser: Analyser,
    terms: HashMap<String, usize>,
}

impl TermColours {
    fn from_terms(terms: &[String]) -> Self {
        let mut colours = HashMap::new();
        for (n, term) in terms.iter().enumerate() {
            let words = Analyser::shared().tokens(term).into_iter().map(|token| token.text);
            for word in words.chain([normalise(term)]) {
                if let Some(stem) = stem_term(&word) {
                    colours.entry(stem).or_insert(n % COLOURS);
                }
                colours.entry(word).or_insert(n % COLOURS);
            }
        }
        // Query terms missing from the dictionary are segmented as words, too.
        Self { analyser: Analyser::with_words(terms.iter().map(String::as_str)), terms: colours }
    }

    /// Returns the highlighted spans of a text in order, without overlaps. Words are found as the index finds them.
    /// Of overlapping words, the one that begins first wins, then the longest.
    fn spans(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        if self.terms.is_empty() {
            return spans;
        }
        self.analyser.for_each_index_token(text, |term, start, end, _| {
            let Some(&colour) = self.terms.get(term) else { return };
            match spans.last_mut() {
                Some(last) if last.0 == start => *last = (start, end.max(last.1), colour),
                Some(last) if start < last.1 => {}
                _ => spans.push((start, end, colour)),
            }
        });
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(words: &[(usize, bool)]) -> (String, [usize; COLOURS]) {
        let mut marks =
            Highlighter::new(&HighlightOptions { next_label: "on", ..HighlightOptions::default() });
        let mut out = String::new();
        for (colour, is_in_link) in words {
            marks.write_occurrence(&mut out, *colour, *is_in_link, |out| out.push('x'));
            if *is_in_link {
                marks.write_arrows(&mut out, |out, text| out.push_str(text));
            }
        }
        let counts = marks.finish(&mut out);
        (out, counts)
    }

    #[test]
    fn each_occurrence_leads_to_the_next_and_the_last_to_the_first() {
        let (out, counts) = write(&[(0, false), (1, false), (0, false), (0, false)]);
        assert_eq!(
            out,
            "<mark class=\"w0\" id=\"w0-1\"><a href=\"#w0-2\" target=\"_self\">x</a></mark>\
             <mark class=\"w1\" id=\"w1-1\"><a href=\"#w1-1\" target=\"_self\">x</a></mark>\
             <mark class=\"w0\" id=\"w0-2\"><a href=\"#w0-3\" target=\"_self\">x</a></mark>\
             <mark class=\"w0\" id=\"w0-3\"><a href=\"#w0-1\" target=\"_self\">x</a></mark>"
        );
        assert_eq!(counts[..3], [3, 1, 0]);
    }

    #[test]
    fn an_arrow_leads_on_from_a_link() {
        let (out, _) = write(&[(0, false), (0, true)]);
        assert_eq!(
            out,
            "<mark class=\"w0\" id=\"w0-1\"><a href=\"#w0-2\" target=\"_self\">x</a></mark>\
             <mark class=\"w0\" id=\"w0-2\">x</mark>\
             <a class=\"next w0\" href=\"#w0-1\" target=\"_self\" aria-label=\"on\">↓</a>"
        );
    }

    #[test]
    fn jump_links_are_limited() {
        let (out, counts) = write(&[(0, false)].repeat(MAX_JUMPS + 10));
        assert_eq!(counts[0], MAX_JUMPS + 10);
        assert_eq!(out.matches(" id=").count(), MAX_JUMPS);
        let last = out.rsplit("href=\"").next().unwrap();
        assert!(last.starts_with("#w0-1\" "), "{}", &last[..60]);
        assert!(out.ends_with("<mark class=\"w0\">x</mark>"));
    }

    #[test]
    fn reserved_names_are_recognised() {
        assert!(is_reserved_class("w0") && is_reserved_class("w9"));
        assert!(!is_reserved_class("w10") && !is_reserved_class("W0") && !is_reserved_class("wx"));
        assert!(is_reserved_id("w0-1") && is_reserved_id("w9-") && is_reserved_id(" w3-7 "));
        assert!(!is_reserved_id("w0") && !is_reserved_id("ww-1") && !is_reserved_id(""));
    }
}
