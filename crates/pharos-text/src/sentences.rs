//! Splits text into sentences and paragraphs, the units from which abstracts are built.
//!
//! Works for Chinese and English. A sentence ends after 。！？；…, after `!` and `?`, and after a full stop that
//! is not part of a number, a name, a URL or an abbreviation. Quotation marks and brackets that close
//! there belong to the sentence. A line end always ends a sentence, because page text has one block per line.
//! The results are byte ranges on character boundaries, ordered and disjoint, with only whitespace between
//! them. Time is linear in the length of the text.
//!
//! ```
//! use pharos_text::sentences::sentences;
//!
//! let text = "Mr. Li paid 3.14 yuan. “真的吗？”他问。";
//! let pieces: Vec<&str> = sentences(text).map(|range| &text[range]).collect();
//! assert_eq!(pieces, ["Mr. Li paid 3.14 yuan.", "“真的吗？”", "他问。"]);
//! ```

mod full_stop;

use std::ops::Range;

use pharos_core::work::spend_work;

/// Returns the sentences of `text`.
pub fn sentences(text: &str) -> Sentences<'_> {
    Sentences { text, at: 0, in_quotes: false }
}

/// Returns the paragraphs of `text`: its lines, except lines of whitespace only.
pub fn paragraphs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut line_start = 0;
    text.split_inclusive(is_line_end).filter_map(move |line| {
        let start = line_start + (line.len() - line.trim_start().len());
        line_start += line.len();
        let visible = line.trim();
        (!visible.is_empty()).then_some(start..start + visible.len())
    })
}

/// The iterator returned by [`sentences`].
#[derive(Clone, Debug)]
pub struct Sentences<'t> {
    text: &'t str,
    at: usize,
    /// Straight quotation marks alternate between opening and closing until the line ends.
    in_quotes: bool,
}

impl Iterator for Sentences<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.text.len() - self.text[self.at..].trim_start().len();
        if self.text[self.at..start].contains(is_line_end) {
            self.in_quotes = false;
        }
        let mut at = start;
        let mut visible_end = start;
        while let Some(c) = char_at(self.text, at) {
            if is_line_end(c) {
                break;
            }
            if is_mark(c) {
                let marks_end = end_of(self.text, at, is_mark);
                if let Some(end) = self.end_after(start, at, marks_end) {
                    spend_work((end - self.at) as u64);
                    self.at = end;
                    return Some(start..end);
                }
                at = marks_end;
                visible_end = at;
                continue;
            }
            if c == '"' {
                self.in_quotes = !self.in_quotes;
            }
            at += c.len_utf8();
            if !c.is_whitespace() {
                visible_end = at;
            }
        }
        spend_work((at - self.at) as u64);
        self.at = at;
        (visible_end > start).then_some(start..visible_end)
    }
}

impl Sentences<'_> {
    /// Returns the end of the sentence that began at `start`, if the marks at `from..to` end it.
    fn end_after(&mut self, start: usize, from: usize, to: usize) -> Option<usize> {
        if from == start {
            // Leading marks belong to the following text.
            return None;
        }
        let (end, in_quotes) = self.absorb(to, is_closing);
        if char_at(self.text, end).is_some_and(is_continuation) {
            return None;
        }
        let ends = match EndMarks::classify(&self.text[from..to]) {
            EndMarks::Ideographic => true,
            EndMarks::Ellipsis | EndMarks::Western => !self.continues(from, end),
            EndMarks::FullStop => {
                !self.continues(from, end)
                    && full_stop::ends_sentence(&self.text[start..from], self.following(end))
            }
        };
        if !ends {
            return None;
        }
        self.in_quotes = in_quotes;
        let (end, in_quotes) = self.absorb(end, |c| is_mark(c) || is_closing(c));
        self.in_quotes = in_quotes;
        Some(end)
    }

    /// Returns the end of the run at `at` of characters that are `wanted` or closing straight quotation
    /// marks, and whether a quotation is open there.
    fn absorb(&self, from: usize, wanted: impl Fn(char) -> bool) -> (usize, bool) {
        let (mut at, mut in_quotes) = (from, self.in_quotes);
        while let Some(c) = char_at(self.text, at) {
            let closes = match c {
                '"' => in_quotes,
                '\'' => char_at(self.text, at + 1).is_none_or(char::is_whitespace),
                _ => wanted(c),
            };
            if !closes {
                break;
            }
            in_quotes &= c != '"';
            at += c.len_utf8();
        }
        spend_work((at - from) as u64);
        (at, in_quotes)
    }

    /// Returns `true` if the text after `!`, `?`, `.` or `…` shows that the sentence continues. `from` is the
    /// position of the mark; `end` is the position after the mark and the closing characters that follow it.
    fn continues(&self, from: usize, end: usize) -> bool {
        let before = self.text[..from].chars().next_back();
        match char_at(self.text, end) {
            // Inside URLs, numbers and names: example.org/?q=1, 3.14, Node.js.
            Some(next) if next.is_ascii_alphanumeric() => {
                before.is_some_and(|c| c.is_ascii()) || !next.is_ascii_uppercase()
            }
            Some('/' | '=' | '&' | '%' | '#' | '_' | '@' | '\\') => true,
            _ => self.following(end).starts_with(char::is_lowercase),
        }
    }

    /// Returns the rest of the line after `at`, without leading whitespace and opening marks.
    fn following(&self, at: usize) -> &str {
        let skip = |c: char| c.is_whitespace() && !is_line_end(c) || is_opening(c);
        let following = self.text[at..].trim_start_matches(skip);
        spend_work((self.text.len() - at - following.len()) as u64);
        following
    }
}

/// Types of sentence-ending marks.
enum EndMarks {
    /// Always ends a sentence.
    Ideographic,
    Ellipsis,
    /// `!` and `?`, which also occur in URLs and names.
    Western,
    /// A single point.
    FullStop,
}

impl EndMarks {
    fn classify(marks: &str) -> EndMarks {
        let is_point = |c| matches!(c, '.' | '．');
        if marks.contains(|c| !is_point(c) && !matches!(c, '!' | '?' | '…' | '⋯')) {
            EndMarks::Ideographic
        } else if marks.contains(['!', '?']) {
            EndMarks::Western
        } else if marks.chars().nth(1).is_none() && marks.starts_with(is_point) {
            EndMarks::FullStop
        } else {
            EndMarks::Ellipsis
        }
    }
}

/// Splits a sentence into parts of at most `max_chars` characters.
fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// Returns the end of the run of `wanted` characters at `at`.
fn end_of(text: &str, at: usize, wanted: fn(char) -> bool) -> usize {
    text.len() - text[at..].trim_start_matches(wanted).len()
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` if `c` may end a sentence.
fn is_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '⋯' | '．' | '。' | '！' | '？' | '；' | '｡' | '‼' | '⁇' | '⁈' | '⁉')
        // Arabic, Urdu, Devanagari, Armenian, Ethiopic.
        || matches!(c, '؟' | '۔' | '।' | '॥' | '։' | '።')
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '”'
            | '’'
            | '»'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '」'
            | '』'
            | '〕'
            | '〗'
            | '］'
            | '｝'
    )
}

fn is_opening(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '"'
            | '\''
            | '“'
            | '‘'
            | '«'
            | '（'
            | '【'
            | '《'
            | '〈'
            | '「'
            | '『'
            | '〔'
            | '〖'
    )
}

/// Returns `true` if a sentence continues after `c`, whatever precedes it.
fn is_continuation(c: char) -> bool {
    matches!(c, ',' | '，' | '、' | ':' | '：' | ';' | '；' | '—' | '–')
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).map(|range| &text[range]).collect()
    }

    #[test]
    fn chinese_sentences() {
        assert_eq!(
            split("灯塔亮了。船来了！真的吗？是；不是……也许"),
            ["灯塔亮了。", "船来了！", "真的吗？", "是；", "不是……", "也许"]
        );
        assert_eq!(split("他说：“走吧。”然后走了。"), ["他说：“走吧。”", "然后走了。"]);
        assert_eq!(
            split("他问“好吗？”，没有人答。（全文完。）"),
            ["他问“好吗？”，没有人答。", "（全文完。）"]
        );
        assert_eq!(split("什么？！不会吧。。。真的"), ["什么？！", "不会吧。。。", "真的"]);
        assert_eq!(split("今天好.明天不好.版本3.14发布"), ["今天好.", "明天不好.", "版本3.14发布"]);
        assert_eq!(split("他说:\"好.\"然后走了."), ["他说:\"好.\"", "然后走了."]);
        assert_eq!(split("1.简介 2.方法"), ["1.简介 2.方法"]);
    }

    #[test]
    fn english_sentences() {
        assert_eq!(split("It works. It does! Does it? Yes"), ["It works.", "It does!", "Does it?", "Yes"]);
        assert_eq!(
            split("\"Go,\" he said. \"Now.\" She went."),
            ["\"Go,\" he said.", "\"Now.\"", "She went."]
        );
        assert_eq!(split("(See below.) Then go on."), ["(See below.)", "Then go on."]);
        assert_eq!(split("Wait... what? Well... No?! Fine."), ["Wait... what?", "Well...", "No?!", "Fine."]);
        assert_eq!(split("“What?” he asked. Yahoo! is old."), ["“What?” he asked.", "Yahoo! is old."]);
        assert_eq!(split("First line\nsecond line. \r\n\r\n third"), ["First line", "second line.", "third"]);
        assert_eq!(
            split("See www.example.org/a?b=c or Node.js 1.2.3. Done."),
            ["See www.example.org/a?b=c or Node.js 1.2.3.", "Done."]
        );
    }

    #[test]
    fn marks_alone() {
        for nothing in ["", " \n\u{3000}\t"] {
            assert!(split(nothing).is_empty());
        }
        assert_eq!(split("……然后呢。"), ["……然后呢。"]);
        assert_eq!(split("???"), ["???"]);
        assert_eq!(split(".NET rules. \" . "), [".NET rules.", "\" ."]);
    }

    #[test]
    fn paragraphs_are_lines() {
        let text = "  one \n\n\u{3000}二\r\nthree";
        let pieces: Vec<&str> = paragraphs(text).map(|range| &text[range]).collect();
        assert_eq!(pieces, ["one", "二", "three"]);
    }

    #[test]
    fn megabytes_are_split() {
        for unit in
            [".", "。", "a.", ". ", "\"", "(.", "… ", "U.S. ", "?)", "'.", "\n", "。”", "字", ".\u{3000}“"]
        {
            let text = unit.repeat((1 << 20) / unit.len());
            check(&text, sentences(&text)).unwrap();
        }
    }

    /// At most four steps per byte: the text after a mark is examined up to three times.
    #[test]
    fn the_work_of_splitting_is_linear() {
        let units = [
            ".",
            "。",
            "a.",
            ". ",
            "\"",
            "(.",
            ".(",
            ".)",
            ".)a",
            "… ",
            "U.S. ",
            "?)",
            "'.",
            "'",
            "\n",
            "。”",
            "字",
            ".\u{3000}“",
            "a. b",
            "1.",
            "a?b",
        ];
        for (length, unit) in [1_000, 8_000].into_iter().flat_map(|length| units.map(|unit| (length, unit))) {
            for start in ["", "a", "a.", "\"a.", "a.((((((", "a.))))))"] {
                let text = format!("{start}{}", unit.repeat(length / unit.len()));
                let steps = measure_work(|| sentences(&text).count()).1;
                assert!(
                    steps <= 4 * text.len() as u64,
                    "{start} {unit}: {steps} steps for {} bytes",
                    text.len()
                );
            }
        }
    }

    fn check(text: &str, pieces: impl Iterator<Item = Range<usize>>) -> Result<(), TestCaseError> {
        let mut at = 0;
        for piece in pieces {
            prop_assert!(text[at..piece.start].trim().is_empty());
            prop_assert!(!piece.is_empty());
            prop_assert_eq!(text[piece.clone()].trim(), &text[piece.clone()]);
            at = piece.end;
        }
        prop_assert!(text[at..].trim().is_empty());
        Ok(())
    }

    proptest! {
        #[test]
        fn pieces_cover_all_but_white_space(
            text in "(?s).{0,80}|[a-cA-C1 .!?\"'()“”。？…，,;\n\u{3000}字]{0,80}"
        ) {
            check(&text, sentences(&text))?;
            check(&text, paragraphs(&text))?;
        }
    }
}
