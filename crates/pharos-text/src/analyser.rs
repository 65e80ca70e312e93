//! The analyser: text to terms.

use std::ops::Range;
use std::sync::LazyLock;

use jieba_rs::Jieba;
use unicode_segmentation::UnicodeSegmentation;

use crate::dictionary::Dictionary;
use crate::normalise::Normalised;
use crate::stem::stem_term;
use crate::tokenise::for_each_word;

/// Longer terms are cut off here: no person types them, and an index refuses terms without bound.
pub const MAX_TERM_BYTES: usize = 64;

/// A term and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The normalised term.
    pub text: String,
    /// First byte in the original text.
    pub start: usize,
    /// First byte after it in the original text.
    pub end: usize,
    /// Place in the order of words; each Han character counts as one.
    pub position: usize,
}

/// Cuts texts into terms. One for the whole process: [`Analyser::shared`].
pub struct Analyser {
    jieba: Jieba,
    dictionary: &'static Dictionary,
}

/// Which words of a text are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// The most probable cut.
    BestCut,
    /// Everything a query could ask for.
    Everything,
    /// The smallest words: characters and parts.
    Finest,
}

impl Analyser {
    /// The analyser; its dictionary is loaded at the first call.
    pub fn shared() -> &'static Analyser {
        static SHARED: LazyLock<Analyser> =
            LazyLock::new(|| Analyser { jieba: Jieba::new(), dictionary: Dictionary::base() });
        &SHARED
    }

    /// The words of `text`, one token each: what a query is made of.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, View::BestCut)
    }

    /// [`tokens`](Self::tokens) without keeping them: `f(term, start, end, position)`.
    pub fn for_each_token(&self, text: &str, f: impl FnMut(&str, usize, usize, usize)) {
        self.analyse(text, View::BestCut, f);
    }

    /// Everything that a query for a part of `text` could ask for: what an index stores.
    pub fn index_tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, View::Everything)
    }

    /// [`index_tokens`](Self::index_tokens) without keeping them: `f(term, start, end, position)`.
    pub fn for_each_index_token(&self, text: &str, f: impl FnMut(&str, usize, usize, usize)) {
        self.analyse(text, View::Everything, f);
    }

    /// The smallest terms of `text`: Han characters and the parts of names. Each of them is in every index,
    /// whatever words it knows.
    pub fn smallest_tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, View::Finest)
    }

    /// The words of a line as they stand, punctuation included, white space left out.
    pub fn segment<'a>(&self, line: &'a str) -> Vec<&'a str> {
        let mut words = Vec::new();
        for (run, is_han) in runs(line) {
            if is_han {
                words.extend(self.jieba.cut(run, false).iter().map(|t| t.word));
            } else {
                words.extend(run.split_word_bounds().filter(|w| !w.trim().is_empty()));
            }
        }
        words
    }

    fn collect(&self, text: &str, view: View) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.analyse(text, view, |term, start, end, position| {
            tokens.push(Token { text: term.to_string(), start, end, position });
        });
        tokens
    }

    fn analyse(&self, text: &str, view: View, mut f: impl FnMut(&str, usize, usize, usize)) {
        let mut position = 0;
        let mut line_start = 0;
        // No word crosses a line feed, and lines keep the buffers small.
        for line in text.split_inclusive('\n') {
            let normalised = Normalised::of(line);
            let mut emit = |term: &str, span: Range<usize>, position: usize| {
                let (start, end) = normalised.original_span(span.start, span.end);
                let term = &term[..term.floor_char_boundary(MAX_TERM_BYTES)];
                f(term, line_start + start, line_start + end, position);
            };
            position = self.line(normalised.text(), view, position, &mut emit);
            line_start += line.len();
        }
    }

    /// Cuts a normalised line; gives the position of what follows it.
    fn line(&self, text: &str, view: View, mut position: usize, emit: &mut impl Emit) -> usize {
        let mut mixed = if view == View::Finest { Vec::new() } else { self.mixed_words(text) };
        if view == View::BestCut {
            keep_longest(&mut mixed);
            let mut at = 0;
            for word in mixed {
                position = self.stretch(text, at..word.start, view, &[], position, emit);
                emit(&text[word.clone()], word.clone(), position);
                position = self.stretch(text, word.clone(), View::Finest, &[], position, &mut |_, _, _| {});
                at = word.end;
            }
            return self.stretch(text, at..text.len(), view, &[], position, emit);
        }
        self.stretch(text, 0..text.len(), view, &mixed, position, emit)
    }

    /// Cuts a part of a line. `mixed` are words across its runs, emitted where they begin.
    fn stretch(
        &self,
        text: &str,
        stretch: Range<usize>,
        view: View,
        mixed: &[Range<usize>],
        mut position: usize,
        emit: &mut impl Emit,
    ) -> usize {
        let mut mixed = mixed.iter().peekable();
        let mut at = stretch.start;
        for (run, is_han) in runs(&text[stretch]) {
            let mut emit = |term: &str, span: Range<usize>, position: usize| {
                let span = at + span.start..at + span.end;
                while let Some(word) = mixed.next_if(|word| word.start <= span.start) {
                    emit(&text[word.clone()], word.clone(), position);
                }
                emit(term, span, position);
            };
            position = if is_han {
                self.han_run(run, view, position, &mut emit)
            } else {
                self.other_run(run, view, position, &mut emit)
            };
            at += run.len();
        }
        position
    }

    fn han_run(&self, run: &str, view: View, position: usize, emit: &mut impl Emit) -> usize {
        match view {
            // Without the hidden Markov model for unknown words: its guesses are not in any dictionary, so that the
            // index could not promise to contain them.
            View::BestCut => {
                for token in self.jieba.cut(run, false) {
                    emit(token.word, token.byte_start..token.byte_end, position + token.start);
                }
            }
            View::Everything | View::Finest => {
                for (place, (offset, c)) in run.char_indices().enumerate() {
                    let end = offset + c.len_utf8();
                    emit(&run[offset..end], offset..end, position + place);
                    if view == View::Everything {
                        for (len, _) in self.dictionary.words_at(&run[offset..]) {
                            if offset + len > end {
                                emit(&run[offset..offset + len], offset..offset + len, position + place);
                            }
                        }
                    }
                }
            }
        }
        position + run.chars().count()
    }

    fn other_run(&self, run: &str, view: View, mut position: usize, emit: &mut impl Emit) -> usize {
        for_each_word(run, |word| {
            let whole = word.whole(run).map(|term| (term, word.span.clone()));
            let parts = word.parts.iter().map(|part| (&run[part.clone()], part.clone())).zip(position..);
            match (view, whole) {
                (View::BestCut, Some((term, span))) => emit(term, span, position),
                // A sign belongs to its name wherever names are asked for by their smallest parts.
                (View::Finest, Some((term, span))) if word.is_signed() => emit(term, span, position),
                (View::BestCut | View::Finest, _) => {
                    parts.for_each(|((term, span), place)| emit(term, span, place))
                }
                (View::Everything, whole) => {
                    if let Some((term, span)) = whole {
                        emit(term, span, position);
                    }
                    for ((term, span), place) in parts {
                        every_form(run, term, span, place, emit);
                    }
                }
            }
            position += word.parts.len();
        });
        position
    }

    /// Words of the dictionary in which Han characters and others meet, such as 4S店 and 卡拉OK, in their order.
    fn mixed_words(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut before: Option<&str> = None;
        let mut border = 0;
        for (run, is_han) in runs(text) {
            let meets = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            if let Some(before) = before.filter(|b| meets(b.chars().next_back()) && meets(run.chars().next()))
            {
                let starts = before.char_indices().rev().take(MAX_MIXED_CHARS);
                let starts = starts.take_while(|(_, c)| !is_han || c.is_ascii_alphanumeric());
                let starts: Vec<usize> = starts.map(|(at, _)| border - before.len() + at).collect();
                let first_of_word = |at: usize| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
                for start in starts.into_iter().rev().filter(|at| !is_han || first_of_word(*at)) {
                    let words = self.dictionary.words_at(&text[start..]).map(|(len, _)| start..start + len);
                    found.extend(words.filter(|word| word.end > border && ends_word(text, word.end)));
                }
            }
            border += run.len();
            before = Some(run);
        }
        found.sort_unstable_by_key(|word| (word.start, word.end));
        found.dedup();
        found
    }
}

/// Takes terms as they are found: the term, its place, its position.
trait Emit: FnMut(&str, Range<usize>, usize) {}

impl<F: FnMut(&str, Range<usize>, usize)> Emit for F {}

/// How far before the meeting of scripts a word may begin.
const MAX_MIXED_CHARS: usize = 8;

/// Of words that overlap, the first and longest stays.
fn keep_longest(words: &mut Vec<Range<usize>>) {
    words.sort_unstable_by_key(|word| (word.start, usize::MAX - word.end));
    let mut end = 0;
    words.retain(|word| {
        let free = word.start >= end;
        if free {
            end = word.end;
        }
        free
    });
}

/// Letters and digits are not cut where they go on.
fn ends_word(text: &str, at: usize) -> bool {
    let letter = |c: char| c.is_alphanumeric() && !is_han(c);
    !(text[..at].ends_with(letter) && text[at..].starts_with(letter))
}

/// A part of a name as an index stores it: with the dot before it (for .NET in ASP.NET), and with its stem.
fn every_form(run: &str, term: &str, span: Range<usize>, position: usize, emit: &mut impl Emit) {
    if run[..span.start].ends_with('.') && term.bytes().all(|b| b.is_ascii_alphabetic()) {
        let dotted = span.start - 1..span.end;
        if run[..dotted.start].ends_with(char::is_alphanumeric) {
            emit(&run[dotted.clone()], dotted, position);
        }
    }
    emit(term, span.clone(), position);
    if let Some(stem) = stem_term(term) {
        emit(&stem, span, position);
    }
}

/// Cuts a text where Han characters begin and end.
fn runs(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_han = is_han(rest.chars().next()?);
        let len = rest.find(|c| self::is_han(c) != is_han).unwrap_or(rest.len());
        let (run, after) = rest.split_at(len);
        rest = after;
        Some((run, is_han))
    })
}

/// Han characters: the unified ideographs and their extensions, the very class the segmenter looks up.
pub fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2EBEF}'
        | '\u{2F800}'..='\u{2FA1F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Analyser::shared().tokens(text).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn chinese_and_english_are_cut_into_words() {
        assert_eq!(terms("我来到北京清华大学"), ["我", "来到", "北京", "清华大学"]);
        assert_eq!(terms("The quick Fox's node.js 3.14"), ["the", "quick", "fox", "s", "nodejs", "3.14"]);
        assert_eq!(terms("搜索引擎Pharos，2026年"), ["搜索引擎", "pharos", "2026", "年"]);
        assert!(terms(" \n… 😀 —").is_empty());
    }

    #[test]
    fn offsets_are_those_of_the_original() {
        let text = "Ｈｅｌｌｏ，世界！\n再见 cafe\u{301}";
        let spans: Vec<&str> =
            Analyser::shared().tokens(text).iter().map(|t| &text[t.start..t.end]).collect();
        assert_eq!(spans, ["Ｈｅｌｌｏ", "世界", "再见", "cafe\u{301}"]);
    }

    #[test]
    fn positions_count_han_characters_and_words() {
        let positions: Vec<usize> =
            Analyser::shared().tokens("北京 and 清华大学 in").iter().map(|t| t.position).collect();
        assert_eq!(positions, [0, 2, 3, 7]);
    }

    /// The index finds `query` in `page` as a phrase.
    fn found(query: &str, page: &str) -> bool {
        let page = Analyser::shared().index_tokens(page);
        let query = Analyser::shared().tokens(query);
        let Some(first) = query.first() else { return true };
        page.iter().filter(|t| t.text == first.text).any(|begin| {
            query.iter().all(|q| {
                let wanted = begin.position + (q.position - first.position);
                page.iter().any(|t| t.text == q.text && t.position == wanted)
            })
        })
    }

    #[test]
    fn context_never_hides_a_page() {
        assert_eq!(terms("研究生命"), ["研究", "生命"]);
        assert_eq!(terms("研究生命题"), ["研究生", "命题"]);
        assert!(found("研究生命", "他在准备研究生命题"));
        assert!(found("长春市长", "长春市长春药店"));
        assert!(found("塔", "灯塔"));
        assert!(found("Node", "用node.js写"));
        assert!(!found("生命研究", "研究生命"));
    }

    #[test]
    fn overlong_words_are_cut_off_alike() {
        let long = "a".repeat(1000);
        let tokens = Analyser::shared().tokens(&long);
        assert_eq!((tokens[0].text.len(), tokens[0].end), (MAX_TERM_BYTES, 1000));
        assert_eq!(terms(&"é".repeat(500))[0].len(), MAX_TERM_BYTES);
    }

    #[test]
    fn segment_keeps_words_and_punctuation_as_they_stand() {
        assert_eq!(
            Analyser::shared().segment("他说：“Hello World”，走了。"),
            ["他", "说", "：", "“", "Hello", "World", "”", "，", "走", "了", "。"]
        );
    }

    fn check(text: &str, tokens: &[Token], strictly: bool) -> Result<(), TestCaseError> {
        for token in tokens {
            prop_assert!(!token.text.is_empty() && token.text.len() <= MAX_TERM_BYTES);
            prop_assert!(token.start < token.end);
            prop_assert!(text.get(token.start..token.end).is_some(), "{token:?}");
        }
        for pair in tokens.windows(2) {
            prop_assert!(pair[0].start <= pair[1].start);
            prop_assert!(pair[0].position < pair[1].position + usize::from(!strictly));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_text_keeps_the_invariants(text in "\\PC{0,60}|(?s).{0,60}|[a-zé\u{301}ﬁＡ㍿㈱ﾊﾞ\u{AD}\u{200B}İ北京大学研究生命 .'_\n]{0,60}") {
            let analyser = Analyser::shared();
            check(&text, &analyser.tokens(&text), true)?;
            check(&text, &analyser.index_tokens(&text), false)?;
            let joined: String = analyser.segment(&text).concat();
            prop_assert_eq!(joined.replace(char::is_whitespace, ""), text.replace(char::is_whitespace, ""));
        }

        #[test]
        fn any_part_of_a_han_text_is_found(
            text in "[长春市药店研究生命题北京大学的计算机系中国人民产品和服务]{1,24}", from in 0usize..24, len in 1usize..10
        ) {
            let part: String = text.chars().skip(from).take(len).collect();
            prop_assert!(found(&part, &text), "{} in {}", part, text);
        }
    }
}
