//! The analyser: converts text to terms, in the same way for pages and for queries.

mod line;
mod mixed;
pub(crate) mod normalise;
pub mod stem;
pub mod stop_words;
pub(crate) mod tokenise;
pub mod variants;

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use pharos_core::work::spend_work;

use self::line::{LineAnalyser, LineBuffers};
use crate::analyser::normalise::{NormalisedText, normalise};
use crate::dictionary::{Dictionary, Lexicon};
use crate::segment::{Hmm, Segmenter, SegmenterBuffers, UnigramHmm};
use crate::vocabulary::{Vocabulary, WordKind};

/// Maximum length of a term in bytes. Longer words are truncated: users do not type them, and an index
/// rejects terms of unbounded length.
pub const MAX_TERM_BYTES: usize = 64;

/// A term with its span in the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Normalised term.
    pub text: String,
    pub start: usize,
    /// Byte after the last one, in the original text.
    pub end: usize,
    /// Word position. Each Han character counts as one position.
    pub position: usize,
}

/// Splits text into terms.
///
/// Uses the base dictionary alone ([`Analyser::shared`]), or the base dictionary and the words of an
/// installation ([`Analyser::with_vocabulary`]).
pub struct Analyser {
    vocabulary: Arc<Vocabulary>,
}

/// Selects the terms that are produced from a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenView {
    /// The most probable segmentation.
    Best,
    /// Every term that a query could contain.
    Index,
    /// The smallest units: characters and parts of words.
    Smallest,
}

impl Analyser {
    /// Returns the process-wide analyser that uses the base dictionary alone.
    pub fn shared() -> &'static Analyser {
        static SHARED: LazyLock<Analyser> =
            LazyLock::new(|| Analyser::with_vocabulary(Arc::new(Vocabulary::new(Dictionary::base()))));
        &SHARED
    }

    /// Creates an analyser that uses `vocabulary` in addition to the base dictionary.
    pub fn with_vocabulary(vocabulary: Arc<Vocabulary>) -> Self {
        Self { vocabulary }
    }

    /// Creates an analyser that recognises `words` in addition to the base dictionary. Used to locate the
    /// words of a query on a page.
    pub fn with_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut vocabulary = Vocabulary::new(Dictionary::base());
        for word in words {
            // A rejected word is already in the dictionary or is not a valid word.
            let _ = vocabulary.add(&normalise(word), Some(WordKind::Base), None, "");
        }
        Self::with_vocabulary(Arc::new(vocabulary))
    }

    /// Returns the words that are used in addition to the base dictionary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Returns the words of `text`, one token each. Queries are built from these tokens.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, TokenView::Best)
    }

    /// Calls `f(term, start, end, position)` for each of [`tokens`](Self::tokens) without allocating them.
    pub fn for_each_token(&self, text: &str, f: impl FnMut(&str, usize, usize, usize)) {
        self.analyse(text, TokenView::Best, f);
    }

    /// Returns every term that a query for a part of `text` could contain. The index stores these tokens.
    pub fn index_tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, TokenView::Index)
    }

    /// Calls `f(term, start, end, position)` for each of [`index_tokens`](Self::index_tokens) without
    /// allocating them.
    pub fn for_each_index_token(&self, text: &str, f: impl FnMut(&str, usize, usize, usize)) {
        self.analyse(text, TokenView::Index, f);
    }

    /// Returns the smallest terms of `text`: Han characters and the parts of names. Every index contains
    /// them, whichever dictionary it was built with.
    pub fn smallest_tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, TokenView::Smallest)
    }

    /// Returns the words of a line as written. Punctuation is included, whitespace is omitted.
    pub fn segment<'a>(&self, line: &'a str) -> Vec<&'a str> {
        let method = UnigramHmm::new(self.lexicon(), Hmm::shipped());
        segment_with(&method, line)
    }

    /// Returns the dictionaries that are used for segmentation.
    pub fn lexicon(&self) -> Lexicon<'_> {
        Lexicon::default().with_own(self.vocabulary.own())
    }

    fn collect(&self, text: &str, view: TokenView) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.analyse(text, view, |term, start, end, position| {
            tokens.push(Token { text: term.to_string(), start, end, position });
        });
        tokens
    }

    fn analyse(&self, text: &str, view: TokenView, mut f: impl FnMut(&str, usize, usize, usize)) {
        // Taken and put back instead of borrowed: `f` may call the analyser itself.
        let mut buffers = BUFFERS.take();
        let mut position = 0;
        let mut line_start = 0;
        // No word crosses a line feed, and processing by line keeps the buffers small.
        for line in text.split_inclusive('\n') {
            spend_work(line.len() as u64);
            let normalised = NormalisedText::new(line);
            let mut emit = |term: &str, span: Range<usize>, position: usize| {
                spend_work(1);
                let (start, end) = normalised.original_span(span.start, span.end);
                let term = &term[..term.floor_char_boundary(MAX_TERM_BYTES)];
                f(term, line_start + start, line_start + end, position);
            };
            let analyser = LineAnalyser {
                text: normalised.text(),
                lexicon: self.lexicon(),
                extension: self.vocabulary.extension(),
            };
            position = analyser.emit_terms(view, position, &mut buffers, &mut emit);
            line_start += line.len();
        }
        BUFFERS.set(buffers);
    }
}

thread_local! {
    static BUFFERS: Cell<LineBuffers> = Cell::default();
}

/// Segments a line with any segmenter and returns its words as written. Whitespace is omitted.
///
/// The segmenter receives the normalised line. Word boundaries are mapped back to the original text.
pub fn segment_with<'a>(method: &dyn Segmenter, line: &'a str) -> Vec<&'a str> {
    let normalised = NormalisedText::new(line);
    let mut ends = Vec::new();
    method.segment(normalised.text(), &mut SegmenterBuffers::default(), &mut ends);
    let mut borders = vec![0];
    let mut start = 0;
    for end in ends {
        // The expansion of a single character (株式会社 from ㍿) is not split.
        let (_, original_end) = normalised.original_span(start, end);
        borders.extend(borders.last().is_some_and(|last| original_end > *last).then_some(original_end));
        start = end;
    }
    // Invisible characters belong to the preceding word.
    match borders.as_mut_slice() {
        [_] => borders.push(line.len()),
        [.., last] => *last = line.len(),
        [] => {}
    }
    let words = borders.windows(2).map(|border| &line[border[0]..border[1]]);
    words.filter(|word| !word.trim().is_empty()).collect()
}

/// Splits a text into runs of Han characters and runs of other characters.
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

/// Returns `true` if `c` is a Han character: a unified ideograph or one of the extensions.
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
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Analyser::shared().tokens(text).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn chinese_and_english_are_segmented() {
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

    /// Returns `true` if the index finds `query` in `page` as a phrase: dictionary words by their terms,
    /// other words by their characters.
    fn found(query: &str, page: &str) -> bool {
        let analyser = Analyser::shared();
        let page = analyser.index_tokens(page);
        let mut query_terms: Vec<(usize, String)> = Vec::new();
        for token in analyser.tokens(query) {
            let parts = analyser.smallest_tokens(&query[token.start..token.end]);
            if parts.len() == 1 || Dictionary::base().contains(&token.text) {
                query_terms.push((token.position, token.text));
            } else {
                query_terms.extend(parts.into_iter().map(|part| (token.position + part.position, part.text)));
            }
        }
        let Some((first, opening)) = query_terms.first() else { return true };
        page.iter().filter(|t| t.text == *opening).any(|begin| {
            query_terms.iter().all(|(position, term)| {
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
    fn extension_names_overlay_their_words() {
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("国家图书馆", Some(WordKind::Extension), None, "").unwrap();
        let analyser = Analyser::with_vocabulary(Arc::new(words));
        let segmented: Vec<String> =
            analyser.tokens("在国家图书馆看书").into_iter().map(|t| t.text).collect();
        assert_eq!(segmented, ["在", "/2国家图书馆", "看书"]);
        let stored = analyser.index_tokens("在国家图书馆看书");
        for (term, position) in [("/2国家图书馆", 1), ("国家", 1), ("图书馆", 3), ("馆", 5)] {
            assert!(stored.iter().any(|t| t.text == term && t.position == position), "{term}");
        }
    }

    #[test]
    fn overlong_words_are_truncated() {
        let long = "a".repeat(1000);
        let tokens = Analyser::shared().tokens(&long);
        assert_eq!((tokens[0].text.len(), tokens[0].end), (MAX_TERM_BYTES, 1000));
        assert_eq!(terms(&"é".repeat(500))[0].len(), MAX_TERM_BYTES);
    }

    #[test]
    fn segment_returns_words_and_punctuation_as_written() {
        assert_eq!(
            Analyser::shared().segment("他说：“Hello World”，走了。"),
            ["他", "说", "：", "“", "Hello", "World", "”", "，", "走", "了", "。"]
        );
    }

    /// At most twelve steps per byte: normalisation, edges of the word graph, and terms.
    #[test]
    fn the_work_on_a_text_is_linear() {
        let mut words = Vocabulary::new(Dictionary::base());
        for name in ["国家图书馆", "国家图书馆国家图书馆", "中华中华", "node.js中华"] {
            words.add(name, Some(WordKind::Extension), None, "").unwrap();
        }
        let with_names = Analyser::with_vocabulary(Arc::new(words));
        let units = [
            "中华人民共和国",
            "国家图书馆",
            "国家",
            "研究生命",
            "𠮷",
            "一",
            "1",
            "1,000,",
            "a",
            "a ",
            "a.",
            "a-",
            "a@",
            "c++",
            "http://a/",
            "é",
            "e\u{301}",
            "\u{301}",
            "㍿",
            "한",
            "カ",
            "a中",
            "卡拉ok",
            "4s店",
            "。",
            "\n",
            "\u{200B}",
            "l’",
            "_",
            "node.js",
        ];
        for (length, unit) in [1_000, 8_000].into_iter().flat_map(|length| units.map(|unit| (length, unit))) {
            let text = unit.repeat(length / unit.len());
            for analyser in [Analyser::shared(), &with_names] {
                for view in [TokenView::Best, TokenView::Index, TokenView::Smallest] {
                    let steps = measure_work(|| analyser.analyse(&text, view, |_, _, _, _| ())).1;
                    assert!(
                        steps <= 12 * text.len() as u64,
                        "{unit}: {steps} steps for {} bytes",
                        text.len()
                    );
                }
            }
        }
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
