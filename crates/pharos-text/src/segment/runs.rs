//! Splits a text into runs of Han characters, which are passed to a dictionary method, and other pieces.
//!
//! Rules segment the other pieces: letters and digits, numbers with their units, whitespace, punctuation.

use std::ops::Range;

use pharos_core::work::spend_work;
use unicode_segmentation::UnicodeSegmentation;

use super::han_run::{HanRun, is_han_or_zero, longest_word};
use super::{HanBuffers, SegmenterBuffers};
use crate::analyser::tokenise;
use crate::dictionary::Lexicon;

/// The type of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// Han characters, to be segmented further.
    Han,
    /// A number in digits, with its unit where segmentation standards write both as one word.
    Number,
    Letters,
    Space,
    /// Punctuation and everything else.
    Mark,
}

/// Segments a run of Han characters.
pub(crate) trait SegmentHan: Send + Sync {
    fn lexicon(&self) -> &Lexicon<'_>;

    /// Appends the end of every word in bytes of `text`. `before` is the type of the piece before the run, if
    /// any.
    fn segment_han(
        &self,
        text: &str,
        before: Option<RunKind>,
        han: &HanRun,
        buffers: &mut HanBuffers,
        ends: &mut Vec<usize>,
    );
}

/// Segments a text with `method` for its Han characters.
pub(crate) fn segment_runs(
    text: &str,
    method: &impl SegmentHan,
    buffers: &mut SegmenterBuffers,
    ends: &mut Vec<usize>,
) {
    let SegmenterBuffers { han, han_buffers, .. } = buffers;
    let mut before = None;
    let mut at = 0;
    while at < text.len() {
        let (held, start) = (ends.len(), at);
        let (kind, end) = piece(text, at, ends);
        if kind == RunKind::Han {
            at = han.read(text, at, method.lexicon());
            method.segment_han(text, before, han, han_buffers, ends);
        } else if let Some(longer) = longer_word(text, at..end, kind, method.lexicon()) {
            ends.truncate(held);
            ends.push(longer);
            at = longer;
        } else {
            at = end;
        }
        spend_work((at - start) as u64);
        before = Some(kind);
    }
}

/// Returns the end of a dictionary word that begins with letters or digits and continues after them: t恤, c++.
pub(crate) fn longer_word(
    text: &str,
    piece: Range<usize>,
    kind: RunKind,
    lexicon: &Lexicon<'_>,
) -> Option<usize> {
    if !matches!(kind, RunKind::Letters | RunKind::Number) {
        return None;
    }
    longest_word(text, piece.start, lexicon).filter(|longer| *longer > piece.end)
}

/// Returns the type and the end of the piece at `at`. Its ends are appended to `ends`, except for Han
/// characters.
pub(crate) fn piece(text: &str, at: usize, ends: &mut Vec<usize>) -> (RunKind, usize) {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return (RunKind::Mark, at) };
    let (kind, len) = match first {
        c if is_han_or_zero(c) => return (RunKind::Han, at),
        '0'..='9' => digits(rest),
        'a'..='z' | 'A'..='Z' => (RunKind::Letters, alphanumeric(rest.as_bytes())),
        '.' if let Some(len) = first_name(rest) => {
            ends.push(at + len);
            return (RunKind::Letters, at + len);
        }
        c if c.is_whitespace() => {
            (RunKind::Space, rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()))
        }
        '.' | '-' | '—' | '…' | '=' | '*' | '~' | '_' => {
            (RunKind::Mark, rest.find(|c| c != first).unwrap_or(rest.len()))
        }
        c if is_simple_mark(c) => (RunKind::Mark, c.len_utf8()),
        _ => return (other_script(rest, at, ends), ends.last().copied().unwrap_or(at)),
    };
    // Letters that continue in other scripts or with accents.
    if kind == RunKind::Letters && rest[len..].chars().next().is_some_and(|c| !is_simple(c)) {
        return (other_script(rest, at, ends), ends.last().copied().unwrap_or(at));
    }
    let is_name = kind == RunKind::Letters && rest[len..].starts_with(|c: char| c.is_ascii_punctuation());
    let len = if is_name { first_name(rest).unwrap_or(len).max(len) } else { len };
    ends.push(at + len);
    (kind, at + len)
}

/// Segments words of other scripts, emoji and remaining characters by UAX #29.
fn other_script(rest: &str, at: usize, ends: &mut Vec<usize>) -> RunKind {
    let len = rest
        .find(|c: char| c.is_whitespace() || is_han_or_zero(c) || is_simple_mark(c))
        .unwrap_or(rest.len());
    let stretch = &rest[..len];
    ends.extend(stretch.split_word_bound_indices().map(|(start, word)| at + start + word.len()));
    if stretch.contains(char::is_alphanumeric) { RunKind::Letters } else { RunKind::Mark }
}

fn is_simple(c: char) -> bool {
    c.is_ascii() || c.is_whitespace() || is_han_or_zero(c) || is_simple_mark(c)
}

/// Returns `true` for marks that are pieces of their own in any context: ASCII, general punctuation without
/// joiners, CJK, full width.
#[inline]
fn is_simple_mark(c: char) -> bool {
    match c {
        '\0'..='\u{7F}' => !c.is_ascii_alphanumeric(),
        '\u{B7}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}' | '\u{2236}' => true,
        '\u{3001}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{FF01}'..='\u{FF0F}' => true,
        _ => false,
    }
}

fn alphanumeric(rest: &[u8]) -> usize {
    rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count()
}

/// Returns the end of the name that a text begins with: Node.js, c++, .net, me@example.org.
fn first_name(rest: &str) -> Option<usize> {
    let near = &rest[..rest.floor_char_boundary(MAX_NAME)];
    spend_work(near.len() as u64);
    let end = near.find(|c: char| c.is_whitespace() || is_han_or_zero(c)).unwrap_or(near.len());
    tokenise::first_word(&near[..end])
}

/// Maximum length of a name in bytes. Longer strings are split.
const MAX_NAME: usize = 256;

/// Returns the type and length of a number: 3.14, 12∶5, 1/3, 1,000, 95%, 1.2亿, 2001年, 12月, 31日.
fn digits(rest: &str) -> (RunKind, usize) {
    let bytes = rest.as_bytes();
    let mut len = digit_run(bytes);
    let first = len;
    if bytes.get(len).is_some_and(u8::is_ascii_alphabetic) {
        return (RunKind::Letters, alphanumeric(bytes));
    }
    while let Some(joint) = joint(&rest[len..]) {
        len += joint + digit_run(&bytes[len + joint..]);
    }
    let tail = &rest[len..];
    if let Some(sign) = tail.chars().next().filter(|c| matches!(c, '%' | '‰')) {
        return (RunKind::Number, len + sign.len_utf8());
    }
    let large = if tail.starts_with("万亿") { "万亿".len() } else { 0 };
    let large = if large == 0 && tail.starts_with(['万', '亿']) { '万'.len_utf8() } else { large };
    if large == 0 && len == first {
        return (RunKind::Number, len + date_unit(&rest[..len], tail));
    }
    (RunKind::Number, len + large)
}

fn digit_run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Returns the length of the punctuation that joins two groups of digits.
fn joint(rest: &str) -> Option<usize> {
    let joint = rest.chars().next().filter(|c| matches!(c, '.' | '·' | '∶' | ':' | '/' | ','))?;
    let group = digit_run(&rest.as_bytes()[joint.len_utf8()..]);
    let joins = if joint == ',' { group == 3 } else { group > 0 };
    joins.then_some(joint.len_utf8())
}

/// Returns the length of a date unit: 年 after four digits, or two before a month; 月 and 日 in the range of the
/// calendar; hours.
fn date_unit(number: &str, tail: &str) -> usize {
    let mut characters = tail.chars();
    let (Some(unit), next) = (characters.next(), characters.next().unwrap_or_default()) else { return 0 };
    let value: u32 = if number.len() > 2 { u32::MAX } else { number.parse().unwrap_or(u32::MAX) };
    let month_follows = || {
        let after = characters.as_str().trim_start_matches(|c: char| c.is_ascii_digit());
        next.is_ascii_digit() && after.starts_with('月')
    };
    let is_date = match unit {
        '年' => {
            (number.len() == 4 && !matches!(next, '代' | '度' | '来'))
                || (number.len() == 2 && next.is_ascii_digit() && month_follows())
        }
        '月' => (1..=12).contains(&value),
        '日' => (1..=31).contains(&value),
        '时' => value <= 24 && !matches!(next, '间' | '期' | '候'),
        _ => false,
    };
    match (is_date, unit, next) {
        (false, ..) => 0,
        (true, '月', '份') => "月份".len(),
        (true, ..) => unit.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < text.len() {
            ends.clear();
            let (kind, _) = piece(text, at, &mut ends);
            if kind == RunKind::Han {
                ends.push(at + text[at..].find(|c| !is_han_or_zero(c)).unwrap_or(text.len() - at));
            }
            for end in &ends {
                found.push(&text[at..*end]);
                at = *end;
            }
        }
        found
    }

    #[test]
    fn non_han_text_is_segmented_by_rules() {
        assert_eq!(pieces("2001年12月31日8时30分"), ["2001年", "12月", "31日", "8时", "30", "分"]);
        assert_eq!(pieces("90年代,20年,97年5月份"), ["90", "年代", ",", "20", "年", ",", "97年", "5月份"]);
        assert_eq!(pieces("3.14,1,000元 95% 1.2亿"), ["3.14", ",", "1,000", "元", " ", "95%", " ", "1.2亿"]);
        assert_eq!(pieces("4k电视win95 ......"), ["4k", "电视", "win95", " ", "......"]);
        assert_eq!(pieces("用node.js、c++和.net。"), ["用", "node.js", "、", "c++", "和", ".net", "。"]);
        assert_eq!(
            pieces("at&t me@a.example, end. x+y"),
            ["at&t", " ", "me@a.example", ",", " ", "end", ".", " ", "x", "+", "y"]
        );
        assert_eq!(pieces("café的Ünï、привет мир"), ["café", "的", "Ünï", "、", "привет", " ", "мир"]);
        assert_eq!(pieces("“好”!👨‍👩‍👧"), ["“", "好", "”", "!", "👨‍👩‍👧"]);
    }
}
