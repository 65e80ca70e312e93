//! What dictionary methods share: a text is cut into runs of Han characters, which go to the method, and the rest,
//! which simple rules cut: letters and digits, numbers with what belongs to them, white space, marks.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::han::{Han, is_han_or_zero, longest_word};
use super::{Buffers, Work};
use crate::dictionary::Lexicon;
use crate::tokenise;

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Han characters, to be cut further.
    Han,
    /// A number in digits, with its unit where standards write both as one word.
    Number,
    /// Letters and digits.
    Letters,
    /// White space.
    Space,
    /// Punctuation and everything else.
    Mark,
}

/// Cuts a run of Han characters.
pub(crate) trait CutHan: Send + Sync {
    fn lexicon(&self) -> &Lexicon<'_>;

    /// Gives the end of every word in bytes of `text`. `before` is what stands before the run, if anything does.
    fn cut_han(
        &self,
        text: &str,
        before: Option<Kind>,
        han: &Han,
        buffers: &mut Buffers,
        ends: &mut Vec<usize>,
    );
}

/// Cuts a text with a method for its Han characters.
pub(crate) fn cut(text: &str, method: &impl CutHan, work: &mut Work, ends: &mut Vec<usize>) {
    let Work { han, buffers, .. } = work;
    let mut before = None;
    let mut at = 0;
    while at < text.len() {
        let held = ends.len();
        let (kind, end) = piece(text, at, ends);
        if kind == Kind::Han {
            at = han.read(text, at, method.lexicon());
            method.cut_han(text, before, han, buffers, ends);
        } else if let Some(longer) = longer_word(text, at..end, kind, method.lexicon()) {
            ends.truncate(held);
            ends.push(longer);
            at = longer;
        } else {
            at = end;
        }
        before = Some(kind);
    }
}

/// A word of the dictionaries may begin with letters or digits and go on behind them: t恤, c++.
pub(crate) fn longer_word(
    text: &str,
    piece: Range<usize>,
    kind: Kind,
    lexicon: &Lexicon<'_>,
) -> Option<usize> {
    if !matches!(kind, Kind::Letters | Kind::Number) {
        return None;
    }
    longest_word(text, piece.start, lexicon).filter(|longer| *longer > piece.end)
}

/// The kind of the piece at `at`. Its end is told too and put to `ends`, except for Han characters.
pub(crate) fn piece(text: &str, at: usize, ends: &mut Vec<usize>) -> (Kind, usize) {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return (Kind::Mark, at) };
    let (kind, len) = match first {
        c if is_han_or_zero(c) => return (Kind::Han, at),
        '0'..='9' => digits(rest),
        'a'..='z' | 'A'..='Z' => (Kind::Letters, alphanumeric(rest.as_bytes())),
        '.' if let Some(len) = first_name(rest) => {
            ends.push(at + len);
            return (Kind::Letters, at + len);
        }
        c if c.is_whitespace() => {
            (Kind::Space, rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()))
        }
        '.' | '-' | '—' | '…' | '=' | '*' | '~' | '_' => {
            (Kind::Mark, rest.find(|c| c != first).unwrap_or(rest.len()))
        }
        c if is_simple_mark(c) => (Kind::Mark, c.len_utf8()),
        _ => return (other_script(rest, at, ends), ends.last().copied().unwrap_or(at)),
    };
    // Letters that go on in other scripts or with accents.
    if kind == Kind::Letters && rest[len..].chars().next().is_some_and(|c| !is_simple(c)) {
        return (other_script(rest, at, ends), ends.last().copied().unwrap_or(at));
    }
    let is_name = kind == Kind::Letters && rest[len..].starts_with(|c: char| c.is_ascii_punctuation());
    let len = if is_name { first_name(rest).unwrap_or(len).max(len) } else { len };
    ends.push(at + len);
    (kind, at + len)
}

/// Words of other scripts, emoji and what else there is, by UAX #29.
fn other_script(rest: &str, at: usize, ends: &mut Vec<usize>) -> Kind {
    let len = rest
        .find(|c: char| c.is_whitespace() || is_han_or_zero(c) || is_simple_mark(c))
        .unwrap_or(rest.len());
    let stretch = &rest[..len];
    ends.extend(stretch.split_word_bound_indices().map(|(start, word)| at + start + word.len()));
    if stretch.contains(char::is_alphanumeric) { Kind::Letters } else { Kind::Mark }
}

fn is_simple(c: char) -> bool {
    c.is_ascii() || c.is_whitespace() || is_han_or_zero(c) || is_simple_mark(c)
}

/// Marks that stand alone whatever follows: ASCII, general punctuation without its joiners, CJK, full width.
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

/// The name that a text begins with: Node.js, c++, .net, me@example.org.
fn first_name(rest: &str) -> Option<usize> {
    let near = &rest[..rest.floor_char_boundary(MAX_NAME)];
    let end = near.find(|c: char| c.is_whitespace() || is_han_or_zero(c)).unwrap_or(near.len());
    tokenise::first_word(&near[..end])
}

/// A longer name is cut: it is none.
const MAX_NAME: usize = 256;

/// A number: 3.14, 12∶5, 1/3, 1,000, 95%, 1.2亿, 2001年, 12月, 31日.
fn digits(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let mut len = digit_run(bytes);
    let first = len;
    if bytes.get(len).is_some_and(u8::is_ascii_alphabetic) {
        return (Kind::Letters, alphanumeric(bytes));
    }
    while let Some(joint) = joint(&rest[len..]) {
        len += joint + digit_run(&bytes[len + joint..]);
    }
    let tail = &rest[len..];
    if let Some(sign) = tail.chars().next().filter(|c| matches!(c, '%' | '‰')) {
        return (Kind::Number, len + sign.len_utf8());
    }
    let large = if tail.starts_with("万亿") { "万亿".len() } else { 0 };
    let large = if large == 0 && tail.starts_with(['万', '亿']) { '万'.len_utf8() } else { large };
    if large == 0 && len == first {
        return (Kind::Number, len + date_unit(&rest[..len], tail));
    }
    (Kind::Number, len + large)
}

fn digit_run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// What joins two groups of digits.
fn joint(rest: &str) -> Option<usize> {
    let joint = rest.chars().next().filter(|c| matches!(c, '.' | '·' | '∶' | ':' | '/' | ','))?;
    let group = digit_run(&rest.as_bytes()[joint.len_utf8()..]);
    let joins = if joint == ',' { group == 3 } else { group > 0 };
    joins.then_some(joint.len_utf8())
}

/// 年 after four digits, or two before a month; 月 and 日 where the calendar has them; hours.
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
            if kind == Kind::Han {
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
    fn what_is_not_han_is_cut_by_rules() {
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
