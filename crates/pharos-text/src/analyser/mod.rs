//! The analyser: text to terms.

mod line;
mod mixed;

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use self::line::{Buffers, Line};
use crate::dictionary::{Dictionary, Lexicon};
use crate::normalise::{Normalised, normalise};
use crate::segment::{Hmm, Segmenter, UnigramHmm, Work};
use crate::vocabulary::{Kind, Vocabulary};

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

/// Cuts texts into terms: with the words that come with the program ([`Analyser::shared`]), or with those of an
/// installation besides ([`Analyser::with`]).
pub struct Analyser {
    vocabulary: Arc<Vocabulary>,
}

/// Which words of a text are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// The most probable cut.
    BestCut,
    /// Everything a query could ask for.
    Everything,
    /// The smallest words: characters and parts.
    Finest,
}

impl Analyser {
    /// The analyser with the words that come with the program, one for the whole process.
    pub fn shared() -> &'static Analyser {
        static SHARED: LazyLock<Analyser> =
            LazyLock::new(|| Analyser::with(Arc::new(Vocabulary::new(Dictionary::base()))));
        &SHARED
    }

    /// An analyser that knows these words besides.
    pub fn with(vocabulary: Arc<Vocabulary>) -> Self {
        Self { vocabulary }
    }

    /// An analyser that knows these words besides, whatever they are: for finding the words of a query on a page.
    pub fn knowing<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut vocabulary = Vocabulary::new(Dictionary::base());
        for word in words {
            // What cannot be taken is known already, or is no word.
            let _ = vocabulary.add(&normalise(word), Some(Kind::Base), None, "");
        }
        Self::with(Arc::new(vocabulary))
    }

    /// The words it knows besides those that come with the program.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
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
        let method = UnigramHmm::new(self.lexicon(), Hmm::shipped());
        segment_with(&method, line)
    }

    /// The words it cuts with.
    pub fn lexicon(&self) -> Lexicon<'_> {
        Lexicon::default().with_own(self.vocabulary.own())
    }

    fn collect(&self, text: &str, view: View) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.analyse(text, view, |term, start, end, position| {
            tokens.push(Token { text: term.to_string(), start, end, position });
        });
        tokens
    }

    fn analyse(&self, text: &str, view: View, mut f: impl FnMut(&str, usize, usize, usize)) {
        // Taken and given back, not borrowed: `f` may want to analyse something itself.
        let mut work = WORK.take();
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
            let cut = Line {
                text: normalised.text(),
                lexicon: self.lexicon(),
                extension: self.vocabulary.extension(),
            };
            position = cut.terms(view, position, &mut work, &mut emit);
            line_start += line.len();
        }
        WORK.set(work);
    }
}

thread_local! {
    static WORK: Cell<Buffers> = Cell::default();
}

/// The words of a line as they stand, cut by any method; white space is left out.
///
/// The method sees the line normalised; its borders are taken back to where they stood.
pub fn segment_with<'a>(method: &dyn Segmenter, line: &'a str) -> Vec<&'a str> {
    let normalised = Normalised::of(line);
    let mut ends = Vec::new();
    method.cut(normalised.text(), &mut Work::default(), &mut ends);
    let mut borders = vec![0];
    let mut start = 0;
    for end in ends {
        // What normalisation made of one character (㍿ of 株式会社, say) is not cut.
        let (_, original_end) = normalised.original_span(start, end);
        borders.extend(borders.last().is_some_and(|last| original_end > *last).then_some(original_end));
        start = end;
    }
    // Characters that no reader sees belong to what stands before them.
    match borders.as_mut_slice() {
        [_] => borders.push(line.len()),
        [.., last] => *last = line.len(),
        [] => {}
    }
    let words = borders.windows(2).map(|border| &line[border[0]..border[1]]);
    words.filter(|word| !word.trim().is_empty()).collect()
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

/// Han characters: the unified ideographs and their extensions.
pub fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2EE5D}'
        | '\u{30000}'..='\u{323AF}'
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

    /// The index finds `query` in `page` as a phrase: words by their terms, what no dictionary has by its characters.
    fn found(query: &str, page: &str) -> bool {
        let analyser = Analyser::shared();
        let page = analyser.index_tokens(page);
        let mut asked: Vec<(usize, String)> = Vec::new();
        for token in analyser.tokens(query) {
            let parts = analyser.smallest_tokens(&query[token.start..token.end]);
            if parts.len() == 1 || Dictionary::base().contains(&token.text) {
                asked.push((token.position, token.text));
            } else {
                asked.extend(parts.into_iter().map(|part| (token.position + part.position, part.text)));
            }
        }
        let Some((first, opening)) = asked.first() else { return true };
        page.iter().filter(|t| t.text == *opening).any(|begin| {
            asked.iter().all(|(position, term)| {
                let wanted = begin.position + (position - first);
                page.iter().any(|t| t.text == *term && t.position == wanted)
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
    fn a_name_lies_over_its_words() {
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("国家图书馆", Some(Kind::Extension), None, "").unwrap();
        let analyser = Analyser::with(Arc::new(words));
        let cut: Vec<String> = analyser.tokens("在国家图书馆看书").into_iter().map(|t| t.text).collect();
        assert_eq!(cut, ["在", "/2国家图书馆", "看书"]);
        let stored = analyser.index_tokens("在国家图书馆看书");
        for (term, position) in [("/2国家图书馆", 1), ("国家", 1), ("图书馆", 3), ("馆", 5)] {
            assert!(stored.iter().any(|t| t.text == term && t.position == position), "{term}");
        }
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
