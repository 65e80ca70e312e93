//! Normalisation that remembers where everything came from.

use std::iter;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::variants::fold;

/// UAX #15's Stream-Safe format allows 30 combining marks after a letter; what piles up more is cut there.
const MAX_CLUSTER_CHARS: usize = 31;

/// A text in NFKC and lower case, without invisible characters, Han characters in the form that stands for all
/// ([`variants`](crate::variants)), and the way back to the original.
///
/// NFKC folds full-width letters and digits (ＡＢＣ → abc), half-width katakana, ligatures and compatibility
/// ideographs. Case is folded character by character, so that no spelling depends on what follows.
#[derive(Default)]
pub(crate) struct Normalised {
    text: String,
    pieces: Vec<Piece>,
    original_len: usize,
}

/// A text in the form in which words are compared: NFKC, lower case, one form of each Han character, nothing invisible.
pub fn normalise(text: &str) -> String {
    Normalised::of(text).text
}

/// A stretch of the text, up to where the next one begins.
#[derive(Clone, Copy)]
struct Piece {
    normalised: usize,
    original: usize,
    /// Byte for byte as long as the original, character by character; otherwise indivisible.
    linear: bool,
}

impl Normalised {
    pub(crate) fn of(original: &str) -> Self {
        let mut normalised = Normalised { original_len: original.len(), ..Self::default() };
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

    /// Where the bytes `start..end` (not empty) of the normalised text stood.
    pub(crate) fn original_span(&self, start: usize, end: usize) -> (usize, usize) {
        // Pieces that left nothing begin where their successor begins; the last of them is the one meant.
        let index_of = |at: usize| self.pieces.partition_point(|p| p.normalised <= at).saturating_sub(1);
        let (Some(first), last_index) = (self.pieces.get(index_of(start)), index_of(end.saturating_sub(1)))
        else {
            return (0, self.original_len);
        };
        let original_start =
            if first.linear { first.original + (start - first.normalised) } else { first.original };
        let original_end = match self.pieces.get(last_index) {
            Some(last) if last.linear => last.original + (end - last.normalised),
            _ => self.pieces.get(last_index + 1).map_or(self.original_len, |next| next.original),
        };
        (original_start, original_end)
    }

    fn push_char(&mut self, original: usize, c: char) {
        if c.is_ascii() {
            self.begin_piece(original, true);
            self.text.push(c.to_ascii_lowercase());
        } else if is_common_ideograph(c) {
            let folded = fold(c);
            self.begin_piece(original, folded.len_utf8() == c.len_utf8());
            self.text.push(folded);
        } else if is_ignorable(c) {
            self.begin_piece(original, false);
        } else {
            self.push_cluster(original, c.encode_utf8(&mut [0; 4]));
        }
    }

    fn push_cluster(&mut self, original: usize, cluster: &str) {
        let begin = self.text.len();
        self.begin_piece(original, false);
        let visible = cluster.chars().filter(|c| !is_ignorable(*c));
        for c in visible.nfkc() {
            match c {
                // Case folding: what is written in capitals has only one form of these.
                'ς' => self.text.push('σ'),
                'ß' | 'ẞ' => self.text.push_str("ss"),
                c => self.text.extend(c.to_lowercase().map(fold)),
            }
        }
        let written = &self.text[begin..];
        let one_for_one = written.len() == cluster.len() && written.chars().nth(1).is_none();
        if one_for_one && cluster.chars().nth(1).is_none() {
            self.pieces.pop();
            // The piece must begin before the character, which has been written already.
            if !self.continues_linearly(begin, original) {
                self.pieces.push(Piece { normalised: begin, original, linear: true });
            }
        }
    }

    fn begin_piece(&mut self, original: usize, linear: bool) {
        let normalised = self.text.len();
        if !(linear && self.continues_linearly(normalised, original)) {
            self.pieces.push(Piece { normalised, original, linear });
        }
    }

    /// Does what follows stand at the same distance as the last piece, which can be divided anywhere?
    fn continues_linearly(&self, normalised: usize, original: usize) -> bool {
        self.pieces
            .last()
            .is_some_and(|last| last.linear && normalised - last.normalised == original - last.original)
    }
}

/// Can `c` melt into the character before it? Then both are normalised together.
fn joins_previous(c: char) -> bool {
    if c.is_ascii() || is_common_ideograph(c) {
        return false;
    }
    canonical_combining_class(c) != 0
        || is_nfkc_quick(iter::once(c)) == IsNormalized::Maybe
        // Half-width voicing marks: starters themselves, but what they decompose to is not.
        || matches!(c, '\u{FF9E}' | '\u{FF9F}')
}

/// The main block of Han characters, which NFKC leaves alone.
fn is_common_ideograph(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}')
}

/// Characters that no reader sees and no query contains (Default_Ignorable_Code_Point): soft hyphen, zero-width spaces and
/// joiners, marks of direction, variation selectors, tags. Left in, they would split or disguise words.
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
        let normalised = Normalised::of(original);
        let start = normalised.text().find(part).unwrap();
        let (from, to) = normalised.original_span(start, start + part.len());
        &original[from..to]
    }

    #[test]
    fn widths_ligatures_case_and_marks_are_folded() {
        let folded = |text: &str| Normalised::of(text).text().to_string();
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
    fn every_part_finds_its_way_back() {
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
        assert_eq!(Normalised::of("Plain English, 和中文, Überall").pieces.len(), 1);
    }
}
