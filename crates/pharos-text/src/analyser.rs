//! The analyser: text to terms.

use std::sync::LazyLock;

use jieba_rs::Jieba;
use unicode_segmentation::UnicodeSegmentation;

use crate::normalise::Normalised;

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
}

/// Which words of a Han run are wanted.
#[derive(Clone, Copy)]
enum View {
    /// The most probable cut.
    BestCut,
    /// Every character and every dictionary word.
    Everything,
}

impl Analyser {
    /// The analyser; its dictionary is loaded at the first call.
    pub fn shared() -> &'static Analyser {
        static SHARED: LazyLock<Analyser> = LazyLock::new(|| Analyser { jieba: Jieba::new() });
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
    ///
    /// The same as [`tokens`](Self::tokens) outside of Han runs.
    pub fn index_tokens(&self, text: &str) -> Vec<Token> {
        self.collect(text, View::Everything)
    }

    /// [`index_tokens`](Self::index_tokens) without keeping them: `f(term, start, end, position)`.
    pub fn for_each_index_token(&self, text: &str, f: impl FnMut(&str, usize, usize, usize)) {
        self.analyse(text, View::Everything, f);
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
            let mut emit = |term: &str, at: usize, position: usize| {
                let (start, end) = normalised.original_span(at, at + term.len());
                let term = &term[..term.floor_char_boundary(MAX_TERM_BYTES)];
                f(term, line_start + start, line_start + end, position);
            };
            let mut at = 0;
            for (run, is_han) in runs(normalised.text()) {
                if is_han {
                    match view {
                        View::BestCut => self.best_cut(run, |word, offset, place| {
                            emit(word, at + offset, position + place);
                        }),
                        View::Everything => self.every_word(run, |word, offset, place| {
                            emit(word, at + offset, position + place);
                        }),
                    }
                    position += run.chars().count();
                } else {
                    for (offset, word) in words(run) {
                        emit(word, at + offset, position);
                        position += 1;
                    }
                }
                at += run.len();
            }
            line_start += line.len();
        }
    }

    /// Without the hidden Markov model for unknown words: its guesses are not in any dictionary, so that
    /// [`every_word`](Self::every_word) could not promise to contain them.
    fn best_cut(&self, run: &str, mut f: impl FnMut(&str, usize, usize)) {
        for token in self.jieba.cut(run, false) {
            f(token.word, token.byte_start, token.start);
        }
    }

    fn every_word(&self, run: &str, mut f: impl FnMut(&str, usize, usize)) {
        let mut dictionary_words = self.jieba.cut_all(run).into_iter().peekable();
        for (place, (offset, c)) in run.char_indices().enumerate() {
            f(&run[offset..offset + c.len_utf8()], offset, place);
            while let Some(token) = dictionary_words.next_if(|t| t.byte_start <= offset) {
                if token.word.len() > c.len_utf8() {
                    f(token.word, offset, place);
                }
            }
        }
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

/// Words by UAX #29, cut further at the punctuation it lets stand inside them: `node.js`, `snake_case` and
/// `l'homme` are two words each, so that either is found; as a phrase they still stand side by side.
fn words(run: &str) -> impl Iterator<Item = (usize, &str)> {
    run.unicode_word_indices().flat_map(|(at, word)| {
        word.split(is_joint)
            .filter(|part| part.contains(char::is_alphanumeric))
            .map(move |part| (at + (part.as_ptr() as usize - word.as_ptr() as usize), part))
    })
}

fn is_joint(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{B7}' | '\u{387}' | '\u{55F}' | '\u{5F4}' | '\u{2010}'..='\u{205E}')
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
        assert_eq!(
            terms("The quick Fox's node.js 3.14"),
            ["the", "quick", "fox", "s", "node", "js", "3", "14"]
        );
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
