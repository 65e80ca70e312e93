//! Tokenises text without Han characters: words, numbers, and names that contain punctuation.
//!
//! Words are those of UAX #29, split further at inner punctuation: `node.js` and `snake_case` have two
//! *parts* each, so that either is found. Joined parts also form a *whole*: names (Node.js, AT&T,
//! state-of-the-art), email addresses, URLs, dates, times, numbers. Each whole has one plain form (nodejs,
//! 3000). Some *signs* belong to a name and do not join: the end of C++, C# and Google+, the beginning of
//! .NET and .htaccess. The parts of kana and Hangul words are their characters.

use std::ops::{ControlFlow, Range};

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::MAX_TERM_BYTES;

/// A word of a text without Han characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompoundWord {
    /// Span in the text, signs included.
    pub span: Range<usize>,
    /// Spans of the parts; at least one.
    pub parts: Vec<Range<usize>>,
    /// Canonical form of the whole if it differs from the text: 3000 for 3,000, wifi for wi-fi.
    pub plain_form: Option<String>,
}

impl CompoundWord {
    /// Returns `true` if a sign belongs to the word, so that its only part is shorter than the whole.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.parts.as_slice(), [part] if *part != self.span)
    }

    /// Returns the term of the whole, if it differs from its only part and is not too long for a term.
    pub(crate) fn whole<'a>(&'a self, text: &'a str) -> Option<&'a str> {
        let whole = self.plain_form.as_deref().unwrap_or(&text[self.span.clone()]);
        let more = self.parts.len() > 1 || self.is_signed();
        (more && whole.len() <= MAX_TERM_BYTES).then_some(whole)
    }
}

/// Calls `f` with each word of a normalised text without Han characters.
pub(crate) fn for_each_word(text: &str, mut f: impl FnMut(&CompoundWord)) {
    let _ = try_each_word(text, |word| {
        f(word);
        ControlFlow::Continue(())
    });
}

fn try_each_word(text: &str, mut f: impl FnMut(&CompoundWord) -> ControlFlow<()>) -> ControlFlow<()> {
    // One buffer for all words: most have one part, and nothing is allocated for them.
    let mut word = CompoundWord { span: 0..0, parts: Vec::new(), plain_form: None };
    try_each_part(text, |part, continues| {
        let is_same_word =
            (continues && word.parts.len() < MAX_CHARACTERS) || continues_word(text, &word, &part);
        if !is_same_word {
            emit_word(text, &mut word, &mut f)?;
            word.span.start = part.start;
        }
        word.span.end = part.end;
        word.parts.push(part);
        ControlFlow::Continue(())
    })?;
    emit_word(text, &mut word, &mut f)
}

/// Returns the end of the word that a short text begins with, signs included.
pub(crate) fn first_word(text: &str) -> Option<usize> {
    let mut first = None;
    let _ = try_each_word(text, |word| {
        first = (word.span.start == 0).then_some(word.span.end);
        ControlFlow::Break(())
    });
    first
}

/// Receives a part, and whether it continues the previous part without punctuation between them.
trait PartSink: FnMut(Range<usize>, bool) -> ControlFlow<()> {}

impl<F: FnMut(Range<usize>, bool) -> ControlFlow<()>> PartSink for F {}

/// Calls `f` with the span of each part.
fn try_each_part(text: &str, mut f: impl PartSink) -> ControlFlow<()> {
    let bytes = text.as_bytes();
    let end_of = |from: usize, inside: fn(&u8) -> bool| {
        bytes[from..].iter().position(|b| !inside(b)).map_or(bytes.len(), |len| from + len)
    };
    let mut at = 0;
    while at < bytes.len() {
        let start = end_of(at, |b| b.is_ascii() && !b.is_ascii_alphanumeric());
        at = end_of(start, u8::is_ascii_alphanumeric);
        if bytes.get(at).is_none_or(u8::is_ascii) {
            if start < at {
                f(start..at, false)?;
            }
            continue;
        }
        // UAX #29 segments runs that contain letters beyond ASCII.
        at = end_of(at, |b| !b.is_ascii() || b.is_ascii_alphanumeric());
        for (offset, word) in text[start..at].unicode_word_indices() {
            let mut from = start + offset;
            for part in word.split_inclusive(is_inner_punctuation) {
                let len = part.trim_end_matches(is_inner_punctuation).len();
                try_each_piece(&part[..len], from, &mut f)?;
                from += part.len();
            }
        }
    }
    ControlFlow::Continue(())
}

/// Splits a part further. Kana and Hangul are written without spaces like Han characters, and a query may
/// begin or end anywhere: each character is a part.
fn try_each_piece(part: &str, at: usize, f: &mut impl PartSink) -> ControlFlow<()> {
    let mut continues = false;
    let mut rest = part;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            c if is_kana_or_hangul(c) => c.len_utf8(),
            _ => rest.find(is_kana_or_hangul).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(len);
        if piece.contains(char::is_alphanumeric) {
            let start = at + part.len() - rest.len();
            f(start..start + len, continues)?;
            continues = true;
        }
        rest = after;
    }
    ControlFlow::Continue(())
}

fn is_kana_or_hangul(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Returns `true` for punctuation that UAX #29 allows inside a word: 1،2 and l’homme are two words each.
fn is_inner_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !is_combining_mark(c)
}

/// Maximum number of parts of a whole. Longer sequences are lists, not names.
const MAX_PARTS: usize = 16;
/// Maximum number of kana or Hangul characters in a word.
const MAX_CHARACTERS: usize = 32;

/// Returns `true` if the part `next` continues the word.
fn continues_word(text: &str, word: &CompoundWord, next: &Range<usize>) -> bool {
    let Some(last) = word.parts.last().filter(|_| word.parts.len() < MAX_PARTS) else { return false };
    let gap = &text[word.span.end..next.start];
    let digits = |range: &Range<usize>| text[range.clone()].bytes().all(|b| b.is_ascii_digit());
    match gap {
        "." | "-" | "_" | "&" | "@" | "·" => true,
        "," => digits(last) && digits(next) && next.len() == 3 && last.len() <= 3,
        ":" | "/" if digits(last) && digits(next) => true,
        "://" => matches!(&text[last.clone()], "http" | "https" | "ftp"),
        // Inside a URL everything up to the next space continues it.
        _ => {
            is_address(text, word)
                && gap.chars().all(|c| {
                    matches!(
                        c,
                        '/' | '?' | '=' | '&' | '%' | '#' | '+' | '~' | ':' | '.' | '-' | '_' | ';' | '@'
                    )
                })
        }
    }
}

fn is_address(text: &str, word: &CompoundWord) -> bool {
    let so_far = &text[word.span.clone()];
    so_far.contains("://") || so_far.starts_with("www.")
}

/// Adds the signs around the word, sets the plain form of numbers and dates, calls `f` and clears the buffer.
fn emit_word(
    text: &str,
    word: &mut CompoundWord,
    f: &mut impl FnMut(&CompoundWord) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match word.parts.as_slice() {
        [] => return ControlFlow::Continue(()),
        [part] => extend_by_signs(text, part.clone(), &mut word.span),
        [year, month, day] => {
            word.plain_form = iso_date(&text[year.clone()], &text[month.clone()], &text[day.clone()]);
        }
        _ => {}
    }
    if word.plain_form.is_none() && word.parts.len() > 1 {
        word.plain_form = remove_punctuation(text, word);
    }
    f(word)?;
    word.parts.clear();
    word.plain_form = None;
    ControlFlow::Continue(())
}

/// Returns the form without punctuation: users write wi-fi and wifi, Node.js and nodejs, U.S. and US, 3,000
/// and 3000.
fn remove_punctuation(text: &str, word: &CompoundWord) -> Option<String> {
    let whole = &text[word.span.clone()];
    if is_address(text, word) || whole.contains('@') {
        return None;
    }
    let is_number = !whole.contains(char::is_alphabetic);
    let is_dropped = |c: char| if is_number { c == ',' } else { matches!(c, '-' | '_' | '.' | '·') };
    whole.contains(is_dropped).then(|| whole.replace(is_dropped, ""))
}

/// Signs that may end a name, longest first.
pub(crate) const SIGNS: [&str; 3] = ["++", "+", "#"];

fn extend_by_signs(text: &str, part: Range<usize>, span: &mut Range<usize>) {
    if !text[part.clone()].bytes().all(|b| b.is_ascii_alphabetic()) {
        return;
    }
    let (before, after) = (&text[..part.start], &text[part.end..]);
    let sign = SIGNS.into_iter().find(|sign| after.starts_with(sign));
    if let Some(sign) = sign {
        // C++11 is about C++; a+1 is about a.
        let continues = |c: char| c.is_alphabetic() || (sign == "+" && c.is_alphanumeric()) || c == '+';
        if !after[sign.len()..].starts_with(continues) {
            span.end += sign.len();
        }
    } else if before.ends_with('.')
        && !before[..before.len() - 1].ends_with(|c: char| c.is_alphanumeric() || c == '.')
    {
        span.start -= 1;
    }
}

/// Returns a date in ISO form: 2026/1/5, 2026.01.05 and 2026-1-5 are the same day.
fn iso_date(year: &str, month: &str, day: &str) -> Option<String> {
    let number = |text: &str, from: u32, to: u32| text.parse().ok().filter(|n| (from..=to).contains(n));
    let (year, month, day) = (number(year, 1000, 9999)?, number(month, 1, 12)?, number(day, 1, 31)?);
    Some(format!("{year}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Formats each word as its whole, followed by its parts if they differ.
    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for_each_word(text, |word| {
            let parts: Vec<&str> = word.parts.iter().map(|part| &text[part.clone()]).collect();
            found.push(match word.whole(text) {
                Some(whole) => format!("{whole}({})", parts.join(" ")),
                None => parts.join(" "),
            });
        });
        found
    }

    #[test]
    fn names_keep_their_signs() {
        assert_eq!(words("c++, c# at&t!"), ["c++(c)", "c#(c)", "at&t(at t)"]);
        assert_eq!(
            words("the .net and asp.net of node.js"),
            ["the", ".net(net)", "and", "aspnet(asp net)", "of", "nodejs(node js)"]
        );
        assert_eq!(
            words("c++11 a+1 x+y google+ c+++"),
            ["c++(c)", "11", "a", "1", "x", "y", "google+(google)", "c"]
        );
        assert_eq!(
            words("wi-fi snake_case #1 end. next"),
            ["wifi(wi fi)", "snakecase(snake case)", "1", "end", "next"]
        );
        assert_eq!(words("fox's l\u{2019}été"), ["fox", "s", "l", "été"]);
    }

    #[test]
    fn numbers_dates_and_addresses_are_wholes() {
        assert_eq!(words("3,000 or 3.14 or 12,5"), ["3000(3 000)", "or", "3.14(3 14)", "or", "12", "5"]);
        assert_eq!(
            words("2026/1/5 2026-01-05 10:30"),
            ["2026-01-05(2026 1 5)", "2026-01-05(2026 01 05)", "10:30(10 30)"]
        );
        assert_eq!(words("mail me@example.org."), ["mail", "me@example.org(me example org)"]);
        assert_eq!(
            words("see https://a.example/x?y=1&z, www.b.example/c"),
            ["see", "https://a.example/x?y=1&z(https a example x y 1 z)", "www.b.example/c(www b example c)"]
        );
        assert_eq!(words(&format!("{}.js", "a".repeat(100))).len(), 1);
    }

    #[test]
    fn other_scripts_are_segmented_by_uax_29() {
        assert_eq!(words("маяк на острове"), ["маяк", "на", "острове"]);
        assert_eq!(words("카페, γάτα 😀"), ["카페(카 페)", "γάτα"]);
        assert_eq!(words("2호선のゲーム"), ["2호선(2 호 선)", "の", "ゲーム(ゲ ー ム)"]);
        assert_eq!(words(" \t… — !?"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_tokenised_in_order(text in "\\PC{0,80}|[a-cé.,:/@#+&_' 0-9]{0,60}") {
            let mut last = 0;
            for_each_word(&text, |word| {
                assert!(word.span.start >= last || word.is_signed());
                for part in &word.parts {
                    assert!(part.start >= last && !part.is_empty() && text.get(part.clone()).is_some());
                    last = part.end;
                }
                assert!(text.get(word.span.clone()).is_some() && word.span.end >= last);
            });
        }
    }
}
