//! Sentences and paragraphs: the pieces that abstracts are made of.
//!
//! Chinese and English alike. A sentence ends after 。！？；…, after `!` and `?`, and after a full stop that is
//! not part of a number, a name, an address or an abbreviation; quotation marks and brackets that close there
//! belong to it. A line end always ends it: texts of pages have one block a line. The pieces are byte ranges
//! of the text on character borders, in order and apart from each other; only white space lies between them.
//! Time is linear in the length of the text.
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

/// The sentences of `text`.
pub fn sentences(text: &str) -> Sentences<'_> {
    Sentences { text, at: 0, in_quotes: false }
}

/// [`sentences`], those of more than `max_chars` characters cut where a reader would draw breath: after the
/// last comma of the second half of what fits, else at its last space, else where it is full.
pub fn sentences_within(text: &str, max_chars: usize) -> impl Iterator<Item = Range<usize>> {
    sentences(text).flat_map(move |range| breaths(text, range, max_chars.max(1)))
}

/// The paragraphs of `text`: its lines, but those of white space only.
pub fn paragraphs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut line_start = 0;
    text.split_inclusive(is_line_end).filter_map(move |line| {
        let start = line_start + (line.len() - line.trim_start().len());
        line_start += line.len();
        let visible = line.trim();
        (!visible.is_empty()).then_some(start..start + visible.len())
    })
}

/// The iterator of [`sentences`].
#[derive(Clone, Debug)]
pub struct Sentences<'t> {
    text: &'t str,
    at: usize,
    /// Straight quotation marks do not say whether they open or close; they take turns until the line ends.
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
        self.at = at;
        (visible_end > start).then_some(start..visible_end)
    }
}

impl Sentences<'_> {
    /// Where the sentence that began at `start` ends, if it does so with the marks at `from..to`.
    fn end_after(&mut self, start: usize, from: usize, to: usize) -> Option<usize> {
        if from == start {
            // Marks with nothing before them belong to what follows.
            return None;
        }
        let (end, in_quotes) = self.absorb(to, is_closing);
        if char_at(self.text, end).is_some_and(is_continuation) {
            return None;
        }
        let ends = match Marks::of(&self.text[from..to]) {
            Marks::Ideographic => true,
            Marks::Ellipsis | Marks::Western => !self.goes_on(from, end),
            Marks::FullStop => {
                !self.goes_on(from, end)
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

    /// The end of what begins at `at` and is `wanted` or a straight quotation mark that closes, and whether
    /// quotation marks are open there.
    fn absorb(&self, mut at: usize, wanted: impl Fn(char) -> bool) -> (usize, bool) {
        let mut in_quotes = self.in_quotes;
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
        (at, in_quotes)
    }

    /// Does the text after `!`, `?`, `.` or `…` show that the sentence is not over? `from` is where the mark
    /// stands, `end` where it and what closes with it end.
    fn goes_on(&self, from: usize, end: usize) -> bool {
        let before = self.text[..from].chars().next_back();
        match char_at(self.text, end) {
            // Inside of addresses, numbers and names: example.org/?q=1, 3.14, Node.js.
            Some(next) if next.is_ascii_alphanumeric() => {
                before.is_some_and(|c| c.is_ascii()) || !next.is_ascii_uppercase()
            }
            Some('/' | '=' | '&' | '%' | '#' | '_' | '@' | '\\') => true,
            _ => self.following(end).starts_with(char::is_lowercase),
        }
    }

    /// The rest of the line after `at`, without white space and what opens before it.
    fn following(&self, at: usize) -> &str {
        let skip = |c: char| c.is_whitespace() && !is_line_end(c) || is_opening(c);
        self.text[at..].trim_start_matches(skip)
    }
}

/// What kind of end marks may be.
enum Marks {
    /// Never anything but an end.
    Ideographic,
    Ellipsis,
    /// `!` and `?`, which stand in addresses and names too.
    Western,
    /// One point.
    FullStop,
}

impl Marks {
    fn of(marks: &str) -> Marks {
        let is_point = |c| matches!(c, '.' | '．');
        if marks.contains(|c| !is_point(c) && !matches!(c, '!' | '?' | '…' | '⋯')) {
            Marks::Ideographic
        } else if marks.contains(['!', '?']) {
            Marks::Western
        } else if marks.chars().nth(1).is_none() && marks.starts_with(is_point) {
            Marks::FullStop
        } else {
            Marks::Ellipsis
        }
    }
}

/// The parts of a sentence that have `max_chars` characters or fewer.
fn breaths(text: &str, sentence: Range<usize>, max_chars: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = sentence.start;
    std::iter::from_fn(move || {
        let rest = text[at..sentence.end].trim_start();
        let start = sentence.end - rest.len();
        let end = start + end_of_breath(rest, max_chars);
        at = end;
        let len = text[start..end].trim_end().len();
        (len > 0).then_some(start..start + len)
    })
}

fn end_of_breath(text: &str, max_chars: usize) -> usize {
    let (mut comma, mut space) = (None, None);
    let mut chars = text.char_indices().enumerate().peekable();
    while let Some((count, (at, c))) = chars.next() {
        if count == max_chars {
            return comma.or(space).unwrap_or(at);
        }
        let next = chars.peek().map(|&(_, (_, next))| next);
        // A border in the first half would leave a piece too short to say anything.
        if count < max_chars / 2 {
            continue;
        }
        if c.is_whitespace() {
            space = Some(at);
        } else if is_comma(c) && !next.is_some_and(|next| next.is_ascii_digit()) {
            comma = Some(at + c.len_utf8());
        }
    }
    text.len()
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// The end of the characters at `at` that are `wanted`.
fn end_of(text: &str, at: usize, wanted: fn(char) -> bool) -> usize {
    text.len() - text[at..].trim_start_matches(wanted).len()
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A mark that may end a sentence.
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

/// After these the same sentence goes on, whatever stood before.
fn is_continuation(c: char) -> bool {
    matches!(c, ';' | '—' | '–') || is_comma(c)
}

fn is_comma(c: char) -> bool {
    matches!(c, ',' | '，' | '、' | ':' | '：' | ';' | '；')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        sentences(text).map(|range| &text[range]).collect()
    }

    #[test]
    fn chinese_sentences() {
        assert_eq!(
            cut("灯塔亮了。船来了！真的吗？是；不是……也许"),
            ["灯塔亮了。", "船来了！", "真的吗？", "是；", "不是……", "也许"]
        );
        assert_eq!(cut("他说：“走吧。”然后走了。"), ["他说：“走吧。”", "然后走了。"]);
        assert_eq!(cut("他问“好吗？”，没有人答。（全文完。）"), ["他问“好吗？”，没有人答。", "（全文完。）"]);
        assert_eq!(cut("什么？！不会吧。。。真的"), ["什么？！", "不会吧。。。", "真的"]);
        assert_eq!(cut("今天好.明天不好.版本3.14发布"), ["今天好.", "明天不好.", "版本3.14发布"]);
        assert_eq!(cut("他说:\"好.\"然后走了."), ["他说:\"好.\"", "然后走了."]);
        assert_eq!(cut("1.简介 2.方法"), ["1.简介 2.方法"]);
    }

    #[test]
    fn english_sentences() {
        assert_eq!(cut("It works. It does! Does it? Yes"), ["It works.", "It does!", "Does it?", "Yes"]);
        assert_eq!(cut("\"Go,\" he said. \"Now.\" She went."), ["\"Go,\" he said.", "\"Now.\"", "She went."]);
        assert_eq!(cut("(See below.) Then go on."), ["(See below.)", "Then go on."]);
        assert_eq!(cut("Wait... what? Well... No?! Fine."), ["Wait... what?", "Well...", "No?!", "Fine."]);
        assert_eq!(cut("“What?” he asked. Yahoo! is old."), ["“What?” he asked.", "Yahoo! is old."]);
        assert_eq!(cut("First line\nsecond line. \r\n\r\n third"), ["First line", "second line.", "third"]);
        assert_eq!(
            cut("See www.example.org/a?b=c or Node.js 1.2.3. Done."),
            ["See www.example.org/a?b=c or Node.js 1.2.3.", "Done."]
        );
    }

    #[test]
    fn marks_alone() {
        for nothing in ["", " \n\u{3000}\t"] {
            assert!(cut(nothing).is_empty());
        }
        assert_eq!(cut("……然后呢。"), ["……然后呢。"]);
        assert_eq!(cut("???"), ["???"]);
        assert_eq!(cut(".NET rules. \" . "), [".NET rules.", "\" ."]);
    }

    #[test]
    fn long_sentences_are_cut_where_one_breathes() {
        let cut = |text, max| sentences_within(text, max).map(|range| &text[range]).collect::<Vec<&str>>();
        assert_eq!(
            cut("春天来了，花开了，鸟儿在枝头歌唱。好。", 10),
            ["春天来了，花开了，", "鸟儿在枝头歌唱。", "好。"]
        );
        assert_eq!(cut("the quick brown fox jumps", 12), ["the quick", "brown fox", "jumps"]);
        assert_eq!(cut("一二三四五六七", 3), ["一二三", "四五六", "七"]);
        assert_eq!(cut("价格是1,000,000元", 8), ["价格是1,000", ",000元"]);
        assert_eq!(cut("ab", 0), ["a", "b"]);
    }

    #[test]
    fn paragraphs_are_lines() {
        let text = "  one \n\n\u{3000}二\r\nthree";
        let pieces: Vec<&str> = paragraphs(text).map(|range| &text[range]).collect();
        assert_eq!(pieces, ["one", "二", "three"]);
    }

    #[test]
    fn megabytes_are_cut() {
        for unit in
            [".", "。", "a.", ". ", "\"", "(.", "… ", "U.S. ", "?)", "'.", "\n", "。”", "字", ".\u{3000}“"]
        {
            let text = unit.repeat((1 << 20) / unit.len());
            check(&text, sentences(&text)).unwrap();
            check(&text, sentences_within(&text, 100)).unwrap();
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
            text in "(?s).{0,80}|[a-cA-C1 .!?\"'()“”。？…，,;\n\u{3000}字]{0,80}", max in 0usize..20
        ) {
            check(&text, sentences(&text))?;
            check(&text, sentences_within(&text, max))?;
            check(&text, paragraphs(&text))?;
            for piece in sentences_within(&text, max) {
                prop_assert!(text[piece].chars().count() <= max.max(1));
            }
        }
    }
}
