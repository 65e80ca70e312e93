//! Unicode normalisation that records the original position of every character.

use std::iter;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::analyser::variants::fold;

/// Maximum length of a cluster. The Stream-Safe format of UAX #15 allows 30 combining marks after a letter;
/// longer clusters are split there.
const MAX_CLUSTER_CHARS: usize = 31;

/// A text in NFKC and lower case, without invisible characters, with Han characters mapped to their
/// representatives ([`variants`](crate::analyser::variants)), and the mapping back to the original text.
///
/// NFKC folds full-width letters and digits (ＡＢＣ → abc), half-width katakana, ligatures and compatibility
/// ideographs. Case is folded character by character, so that the result does not depend on the following
/// characters.
#[derive(Default)]
pub(crate) struct NormalisedText {
    text: String,
    spans: Vec<MappedSpan>,
    original_len: usize,
}

/// Normalises a text for comparison: NFKC, lower case, one form of each Han character, no invisible
/// characters.
pub fn normalise(text: &str) -> String {
    NormalisedText::new(text).text
}

/// A span of the text, up to the beginning of the next span.
#[derive(Clone, Copy)]
struct MappedSpan {
    normalised: usize,
    original: usize,
    /// Character by character as long as the original in bytes. Otherwise the span is indivisible.
    linear: bool,
}

impl NormalisedText {
    pub(crate) fn new(original: &str) -> Self {
        let mut normalised = NormalisedText { original_len: original.len(), ..Self::default() };
        normalised.text.reserve(original.len());
        let mut rest = original.char_indices().peekable();
        while let Some((start, first)) = rest.next() {
            let mut end = start + first.len_utf8();
            let mut chars = 1;
            while let Some((_, next)) = rest.next_if(|&(_, c)| chars < MAX_CLUSTER_CHARS && joins_previous(c))
            {
                end += next.len_utf8();
                chars += 1;
            }
            if chars == 1 {
                normalised.push_char(start, first);
            } else {
                normalised.push_cluster(start, &original[start..end]);
            }
        }
        normalised
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the original span of the non-empty byte range `start..end` of the normalised text.
    pub(crate) fn original_span(&self, start: usize, end: usize) -> (usize, usize) {
        // An empty span begins where its successor begins; the last of them is the right one.
        let index_of = |at: usize| self.spans.partition_point(|p| p.normalised <= at).saturating_sub(1);
        let (Some(first), last_index) = (self.spans.get(index_of(start)), index_of(end.saturating_sub(1)))
        else {
            return (0, self.original_len);
        };
        let original_start =
            if first.linear { first.original + (start - first.normalised) } else { first.original };
        let original_end = match self.spans.get(last_index) {
            Some(last) if last.linear => last.original + (end - last.normalised),
            _ => self.spans.get(last_index + 1).map_or(self.original_len, |next| next.original),
        };
        (original_start, original_end)
    }

    fn push_char(&mut self, original: usize, c: char) {
        if c.is_ascii() {
            self.begin_span(original, true);
            self.text.push(c.to_ascii_lowercase());
        } else if is_common_ideograph(c) {
            let folded = fold(c);
            self.begin_span(original, folded.len_utf8() == c.len_utf8());
            self.text.push(folded);
        } else if is_ignorable(c) {
            self.begin_span(original, false);
        } else {
            self.push_cluster(original, c.encode_utf8(&mut [0; 4]));
        }
    }

    fn push_cluster(&mut self, original: usize, cluster: &str) {
        let begin = self.text.len();
        self.begin_span(original, false);
        let visible = cluster.chars().filter(|c| !is_ignorable(*c));
        for c in visible.nfkc() {
            match c {
                // Case folding: capitals do not distinguish these forms.
                'ς' => self.text.push('σ'),
                'ß' | 'ẞ' => self.text.push_str("ss"),
                c => self.text.extend(c.to_lowercase().map(fold)),
            }
        }
        let written = &self.text[begin..];
        let one_for_one = written.len() == cluster.len() && written.chars().nth(1).is_none();
        if one_for_one && cluster.chars().nth(1).is_none() {
            self.spans.pop();
            // The span must begin before the character, which has been written already.
            if !self.continues_linearly(begin, original) {
                self.spans.push(MappedSpan { normalised: begin, original, linear: true });
            }
        }
    }

    fn begin_span(&mut self, original: usize, linear: bool) {
        let normalised = self.text.len();
        if !(linear && self.continues_linearly(normalised, original)) {
            self.spans.push(MappedSpan { normalised, original, linear });
        }
    }

    /// Returns `true` if the next character has the same distance from the original as the last span, and
    /// that span is divisible.
    fn continues_linearly(&self, normalised: usize, original: usize) -> bool {
        self.spans
            .last()
            .is_some_and(|last| last.linear && normalised - last.normalised == original - last.original)
    }
}

/// Returns `true` if `c` can combine with the preceding character. Both are then normalised together.
fn joins_previous(c: char) -> bool {
    if c.is_ascii() || is_common_ideograph(c) {
        return false;
    }
    canonical_combining_class(c) != 0
        || is_nfkc_quick(iter::once(c)) == IsNormalized::Maybe
        // Half-width voicing marks: starters themselves, but their decompositions are not.
        || matches!(c, '\u{FF9E}' | '\u{FF9F}')
}

/// Returns `true` for the main block of Han characters, which NFKC leaves unchanged.
fn is_common_ideograph(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}')
}

/// Returns `true` for invisible characters (Default_Ignorable_Code_Point): soft hyphen, zero-width spaces and
/// joiners, directional marks, variation selectors, tags. They would split or disguise words.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span_of<'a>(original: &'a str, part: &str) -> &'a str {
        let normalised = NormalisedText::new(original);
        let start = normalised.text().find(part).unwrap();
        let (from, to) = normalised.original_span(start, start + part.len());
        &original[from..to]
    }

    #[test]
    fn widths_ligatures_case_and_marks_are_folded() {
        let folded = |text: &str| NormalisedText::new(text).text().to_string();
        assert_eq!(folded("ＡＢＣ１２３"), "abc123");
        assert_eq!(folded("ﬁne ㎏ Straße ΣΑΣ φάρος"), "fine kg strasse σασ φάροσ");
        assert_eq!(folded("cafe\u{301}"), "café");
        assert_eq!(folded("ｶﾞｷﾞ"), "ガギ");
        assert_eq!(folded("co\u{AD}op\u{200B}era\u{FEFF}te"), "cooperate");
        assert_eq!(folded("\u{2068}Lighthouse\u{2069}\u{E0041}"), "lighthouse");
        assert_eq!(folded("\u{2F00}\u{F900}"), "一岂");
        assert_eq!(folded("㑮漢語"), "𫝈汉语");
    }

    #[test]
    fn every_part_maps_back_to_its_original_span() {
        assert_eq!(span_of("x ＡＢＣ y", "bc"), "ＢＣ");
        assert_eq!(span_of("un cafe\u{301} noir", "café"), "cafe\u{301}");
        assert_eq!(span_of("un cafe\u{301} noir", "noir"), "noir");
        assert_eq!(span_of("die ﬁne Art", "fine"), "ﬁne");
        assert_eq!(span_of("die ﬁne Art", "i"), "i");
        assert_eq!(span_of("a co\u{AD}op b", "coop"), "co\u{AD}op");
        assert_eq!(span_of("É全文Ü", "全"), "全");
        assert_eq!(span_of("İx", "x"), "x");
        assert_eq!(span_of("a㑮b", "b"), "b");
        assert_eq!(span_of("漢語學", "语"), "語");
    }

    #[test]
    fn plain_text_needs_one_piece() {
        assert_eq!(NormalisedText::new("Plain English, 和中文, Überall").spans.len(), 1);
    }
}
