//! The query language: parses the text of a query into an [`Expression`].
//!
//! | syntax | meaning |
//! |---|---|
//! | `red lamp` | both words, in any form |
//! | `"red lamp"` | these words as a phrase, as written |
//! | `+word` | the word in any form, also where words like it are optional |
//! | `-word`, `-"two words"`, `-site:…` | excluded |
//! | `a OR b`, `a \| b` | one of them; binds closer than the space, so that `x a OR b` is `x (a OR b)` |
//! | `( … )` | group |
//! | `site:host`, `site:host/directory` | pages of a host and its subdomains, or of a directory |
//! | `intitle:`, `inurl:`, `inbody:`, `inanchor:` | the word, or the quoted words, in that part |
//! | `filetype:`, `lang:`, `category:` | pages with that label |
//! | `before:2026-01-31`, `after:2025` | pages before that day, or of that day and later |
//! | `link:host`, `link:url` | pages that link there |
//! | `url:url`, `related:url` | that page; pages similar to it |
//!
//! Full-width and Chinese punctuation is equivalent: （） ： ｜ － “” 「」 『』 《》. Text that is not a valid operator is
//! parsed as words; no text is an error.

use pharos_core::work::spend_work;
use pharos_index::document::day;
use pharos_index::{PageLabel, PagePart};
use pharos_text::analyser::stop_words::is_stop_word;
use pharos_text::{Analyser, normalise};

use crate::language::expression::{Expression, PageTarget};
use crate::language::term::QueryTerm;

/// Maximum number of terms of a query. Further terms are ignored.
pub(crate) const MAX_TERMS: usize = 64;

/// Maximum number of clauses of a query. Further clauses are ignored.
const MAX_CLAUSES: usize = 256;

/// Maximum depth of brackets. Deeper brackets are ignored.
const MAX_DEPTH: usize = 8;

/// Parses a text. Every text is valid.
pub(crate) fn parse(text: &str, analyser: &Analyser) -> Expression {
    let mut parser = QueryParser { rest: text, analyser, terms: 0, parts: 0 };
    let mut all = Vec::new();
    // An unmatched closing bracket is ignored.
    while !parser.rest.is_empty() {
        all.extend(parser.parse_group(0));
    }
    Expression::all(all)
}

/// A token of a query.
enum QueryToken<'t> {
    Open,
    Close,
    Or(&'t str),
    Plus,
    Not,
    Quoted(&'t str),
    Word(&'t str),
}

struct QueryParser<'t, 'a> {
    rest: &'t str,
    analyser: &'a Analyser,
    terms: usize,
    parts: usize,
}

impl<'t> QueryParser<'t, '_> {
    /// Parses up to the matching closing bracket or the end.
    fn parse_group(&mut self, depth: usize) -> Vec<Expression> {
        let mut all: Vec<Expression> = Vec::new();
        // The OR that joins the next clause to the last one.
        let mut or: Option<&str> = None;
        let (mut negate_next, mut require_next) = (false, false);
        while let Some(token) = self.next_token() {
            let part = match token {
                QueryToken::Close => break,
                QueryToken::Open if depth >= MAX_DEPTH => continue,
                QueryToken::Open => {
                    Some(Expression::all(self.parse_group(depth + 1))).filter(|part| !part.is_empty())
                }
                QueryToken::Or(_) if !all.is_empty() && or.is_none() => {
                    let QueryToken::Or(word) = token else { continue };
                    or = Some(word);
                    continue;
                }
                // An OR without operands is a word.
                QueryToken::Or(word) => self.parse_words(word),
                QueryToken::Not => {
                    negate_next = true;
                    continue;
                }
                QueryToken::Plus => {
                    require_next = true;
                    continue;
                }
                QueryToken::Quoted(text) => self.parse_phrase(text),
                QueryToken::Word(text) => self.parse_word(text),
            };
            let (negated, required) = (std::mem::take(&mut negate_next), std::mem::take(&mut require_next));
            let Some(mut part) = part.filter(|_| self.parts < MAX_CLAUSES) else { continue };
            self.parts += 1;
            if required && let Expression::Words(terms) = &mut part {
                terms.iter_mut().for_each(|term| term.is_required = true);
            }
            if negated {
                part = Expression::not(part);
            }
            match or.take().and_then(|_| all.pop()) {
                Some(before) => all.push(Expression::or(before, part)),
                None => all.push(part),
            }
        }
        if let Some(word) = or {
            all.extend(self.parse_words(word));
        }
        all
    }

    /// Removes one token from the beginning. An `AND` between spaces is none.
    fn next_token(&mut self) -> Option<QueryToken<'t>> {
        loop {
            let before = self.rest.len();
            let token = self.split_token();
            spend_work(1 + (before - self.rest.len()) as u64);
            match token {
                Some(QueryToken::Word("AND")) if self.rest.starts_with(char::is_whitespace) => {}
                token => return token,
            }
        }
    }

    fn split_token(&mut self) -> Option<QueryToken<'t>> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let after = &self.rest[first.len_utf8()..];
        let take = |parser: &mut Self, rest: &'t str, token| {
            parser.rest = rest;
            Some(token)
        };
        match first {
            '(' | '（' => return take(self, after, QueryToken::Open),
            ')' | '）' => return take(self, after, QueryToken::Close),
            '|' | '｜' => return take(self, after.trim_start_matches(['|', '｜']), QueryToken::Or("")),
            '+' | '＋' if after.starts_with(|c: char| !c.is_whitespace()) => {
                return take(self, after, QueryToken::Plus);
            }
            // A minus belongs to the text that follows immediately; alone it is punctuation.
            '-' | '－' if after.starts_with(|c: char| !c.is_whitespace()) => {
                return take(self, after, QueryToken::Not);
            }
            _ => {}
        }
        if let Some((text, rest)) = split_quoted(self.rest) {
            return take(self, rest, QueryToken::Quoted(text));
        }
        let (word, rest) =
            self.rest.split_at(self.rest.find(ends_word).unwrap_or(self.rest.len()).max(first.len_utf8()));
        match word {
            "OR" => take(self, rest, QueryToken::Or(word)),
            "NOT" if rest.starts_with(char::is_whitespace) => take(self, rest, QueryToken::Not),
            _ => take(self, rest, QueryToken::Word(word)),
        }
    }

    fn parse_phrase(&mut self, text: &str) -> Option<Expression> {
        let terms = self.take_terms(text);
        (!terms.is_empty()).then_some(Expression::Phrase(terms))
    }

    fn parse_words(&mut self, text: &str) -> Option<Expression> {
        let terms = self.take_terms(text);
        (!terms.is_empty()).then_some(Expression::Words(terms))
    }

    /// Parses a word, or an operator with its value.
    fn parse_word(&mut self, text: &str) -> Option<Expression> {
        let Some((name, value)) = text.split_once([':', '：']) else { return self.parse_words(text) };
        // `intitle:"green tea"`: the value is the quoted text that follows.
        let behind = split_quoted(self.rest).filter(|_| value.is_empty());
        let found = self.parse_operator(&normalise(name), behind.map_or(value, |(text, _)| text));
        if let (Some(_), Some((_, rest))) = (&found, behind) {
            self.rest = rest;
        }
        found.or_else(|| self.parse_words(text))
    }

    /// Parses an operator. Returns `None` if the operator is unknown or its value is invalid.
    fn parse_operator(&mut self, name: &str, value: &str) -> Option<Expression> {
        if value.is_empty() {
            return None;
        }
        let label = |label| Some(Expression::Label(label, normalise(value)));
        match name {
            "site" => parse_site(value).map(Expression::Site),
            "intitle" => self.parse_part(PagePart::Title, value),
            "inurl" => self.parse_part(PagePart::Address, value),
            "inbody" | "intext" => self.parse_part(PagePart::Body, value),
            "inanchor" => self.parse_part(PagePart::Anchor, value),
            "filetype" | "ext" => {
                let value = normalise(value);
                let format = value.trim_start_matches('.');
                Some(Expression::Label(
                    PageLabel::Format,
                    if format == "htm" { "html" } else { format }.into(),
                ))
            }
            "lang" => match normalise(value).as_str() {
                "chinese" | "中文" | "汉语" | "zh-cn" | "zh-tw" => {
                    Some(Expression::Label(PageLabel::Lang, "zh".into()))
                }
                "english" | "英文" | "英语" => Some(Expression::Label(PageLabel::Lang, "en".into())),
                lang => Some(Expression::Label(PageLabel::Lang, lang.into())),
            },
            "category" => label(PageLabel::Category),
            "before" => parse_date(value).map(Expression::Before),
            "after" => parse_date(value).map(Expression::After),
            "link" => PageTarget::parse(value).map(Expression::Link),
            "url" => PageTarget::parse_page(value).map(Expression::Url),
            "related" => PageTarget::parse_page(value).map(Expression::Related),
            _ => None,
        }
    }

    fn parse_part(&mut self, part: PagePart, value: &str) -> Option<Expression> {
        let terms = self.take_terms(value);
        (!terms.is_empty()).then_some(Expression::In(part, terms))
    }

    fn take_terms(&mut self, text: &str) -> Vec<QueryTerm> {
        if self.terms >= MAX_TERMS {
            return Vec::new();
        }
        let mut terms = QueryTerm::parse_all(text, self.analyser);
        // Stop words do not count against the limit, because they are mostly optional.
        let mut left = MAX_TERMS - self.terms;
        let fitting = terms.iter().take_while(|term| {
            let fits = left > 0;
            left -= usize::from(fits && !is_stop_word(&term.word));
            fits
        });
        let fitting = fitting.count();
        terms.truncate(fitting);
        self.terms = MAX_TERMS - left;
        terms
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"＂“”「『《()（）|｜".contains(c)
}

/// Splits off the quoted text at the beginning. Quotes may be mixed: “…" ends at the first closing one. A missing
/// quote ends at the end of the text.
fn split_quoted(text: &str) -> Option<(&str, &str)> {
    for (open, close) in
        [('"', '"'), ('＂', '＂'), ('“', '”'), ('”', '”'), ('「', '」'), ('『', '』'), ('《', '》')]
    {
        if let Some(inside) = text.strip_prefix(open) {
            return Some(inside.split_once([close, '"', '”', '＂']).unwrap_or((inside, "")));
        }
    }
    None
}

/// Parses the host and optional directory of `site:host/directory`; a scheme is ignored.
pub(crate) fn parse_site(value: &str) -> Option<String> {
    let value = value.trim_start_matches("http://").trim_start_matches("https://").trim_start_matches("*.");
    let value = value.trim_matches('.');
    // Same spelling as in the index: lower case, punycode.
    let url = pharos_core::PageUrl::parse(&format!("http://{value}")).ok().filter(|_| !value.is_empty())?;
    let steps: Vec<&str> = url.as_url().path().split('/').filter(|step| !step.is_empty()).collect();
    // Ports are distinguished for whole sites only.
    let site = url.site();
    Some(match steps.as_slice() {
        [] => site.as_str().to_string(),
        steps => format!("{}/{}", site.host(), steps.join("/")),
    })
}

/// Parses `2026`, `2026-01` or `2026-01-31`, with any separators, and returns its first day.
fn parse_date(value: &str) -> Option<i64> {
    let value = normalise(value);
    let numbers: Vec<&str> = value.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()).collect();
    let (year, month, of_month) = match numbers[..] {
        [year] => (year, "1", "1"),
        [year, month] => (year, month, "1"),
        [year, month, of_month] => (year, month, of_month),
        _ => return None,
    };
    let is_year = year.len() == 4 && month.len() <= 2 && of_month.len() <= 2;
    day::parse(&format!("{year}-{month:0>2}-{of_month:0>2}")).filter(|_| is_year)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pharos_core::work::measure_work;
    use pharos_index::Query;
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Expression {
        super::parse(text, Analyser::shared())
    }

    fn word(text: &str) -> Query {
        Query::Word(text.into())
    }

    fn understood(text: &str) -> String {
        parse(text).to_string()
    }

    #[test]
    fn a_minus_excludes_and_a_space_is_and() {
        let query = parse("x y -z").to_query(&|_, _| true);
        let not_z = Query::Not(Box::new(Query::Phrase(vec![(0, "z".into())])));
        assert_eq!(query, Query::And(vec![word("x"), word("y"), not_z]));
        assert_eq!(
            understood("搜索 引擎"),
            "搜索 引擎",
            "the space is a boundary, though 搜索引擎 is a word"
        );
    }

    /// d1 AND d2 without d3 is d1 ∩ (d2 − (d2 ∩ d3)), in any order of list lengths.
    #[test]
    fn not_is_a_difference_of_lists() {
        fn pages(query: &Query, lists: &dyn Fn(&str) -> BTreeSet<u32>) -> BTreeSet<u32> {
            let all = (1..=9).collect::<BTreeSet<u32>>();
            match query {
                Query::Word(w) => lists(w),
                Query::Phrase(terms) => lists(&terms[0].1),
                Query::Not(q) => &all - &pages(q, lists),
                Query::And(qs) => qs.iter().fold(all, |so_far, q| &so_far & &pages(q, lists)),
                _ => unreachable!(),
            }
        }
        let lists = |word: &str| match word {
            "d1" => BTreeSet::from([1, 2, 3, 5, 8]),
            "d2" => BTreeSet::from([2, 5, 8]),
            _ => BTreeSet::from([5, 7]),
        };
        let (d1, d2, d3) = (lists("d1"), lists("d2"), lists("d3"));
        assert_eq!(pages(&parse("d1 d2 -d3").to_query(&|_, _| true), &lists), &d1 & &(&d2 - &(&d2 & &d3)));
    }

    #[test]
    fn phrases_and_their_full_width_forms() {
        assert_eq!(understood("\"green tea\" cup"), "\"green tea\" cup");
        assert_eq!(understood("“green tea”「绿茶」《茶经》"), "\"green tea\" \"绿茶\" \"茶经\"");
        assert_eq!(understood("\"never closed"), "\"never closed\"");
        assert_eq!(understood("-\"green tea\" -信息检索技术"), understood("-\"green tea\" －信息检索技术"));
        assert_eq!(understood("a - b"), "a b");
    }

    #[test]
    fn a_plus_requires_a_word() {
        assert_eq!(understood("+introduction ＋怎么安装 tea"), "+introduction +怎么 +安装 tea");
        for (text, expected) in [("c++ + 1", "c++ 1"), ("++i", "+i"), ("+\"a b\" +(c)", "\"a b\" +c")] {
            assert_eq!(understood(text), expected, "{text}");
        }
        let optional = |text: &str| parse(text).to_query(&|_, _| true);
        assert_eq!(optional("怎么 灯塔"), Query::And(vec![word("灯塔")]));
        assert_eq!(optional("+怎么 灯塔"), Query::And(vec![word("怎么"), word("灯塔")]));
        assert_eq!(optional("怎么"), Query::And(vec![word("怎么")]), "alone it is required");
        assert_eq!(parse("介绍 灯塔 的").with_required_words().unwrap().to_string(), "+介绍 +灯塔 的");
        assert_eq!(parse("灯塔").with_required_words(), None);
        assert_eq!(parse("\"红 灯塔\" +海").with_required_words(), None);
    }

    #[test]
    fn required_words_are_not_relaxed() {
        let relaxed = |text: &str| parse(text).relaxed(&|_, _| true);
        let any = |words: [&str; 2]| Query::Or(words.map(word).into());
        assert_eq!(relaxed("灯塔 茶"), Some(any(["灯塔", "茶"])));
        assert_eq!(relaxed("灯塔 茶 +海"), Some(Query::And(vec![any(["灯塔", "茶"]), word("海")])));
        assert_eq!(relaxed("灯塔 +海"), Some(Query::And(vec![word("海")])));
        for strict in ["灯塔", "+灯塔 +茶", "\"灯塔\"", "怎么 灯塔"] {
            assert_eq!(relaxed(strict), None, "{strict}");
        }
    }

    #[test]
    fn or_binds_its_neighbours_and_brackets_bind_everything() {
        for (text, expected) in [
            ("x a OR b", "x (a OR b)"),
            ("x a|b ｜ c", "x (a OR b OR c)"),
            ("(x a) OR b", "(x a) OR b"),
            ("（x （a OR b）） c", "x (a OR b) c"),
            ("-(a b) c", "-(a b) c"),
            ("a OR -b", "a OR -b"),
            ("a AND b NOT c", "a b -c"),
            ("((((((((((a))))))))))", "a"),
            ("a) b", "a b"),
            ("((a b", "a b"),
            ("OR", "OR"),
            ("OR tea", "OR tea"),
            ("tea OR", "tea OR"),
            ("tea |", "tea"),
            ("()", ""),
            ("-() tea", "tea"),
        ] {
            assert_eq!(understood(text), expected, "{text}");
        }
    }

    #[test]
    fn operators_are_understood_in_any_spelling() {
        for (text, expected) in [
            ("tea site:Example.ORG -site：news.example.org", "tea site:example.org -site:news.example.org"),
            ("site:https://www.Example.org/Docs/a/", "site:www.example.org/Docs/a"),
            ("site:example.org:8080", "site:example.org:8080"),
            ("intitle:tea INURL:docs inbody:\"green tea\"", "intitle:tea inurl:docs inbody:\"green tea\""),
            ("intext：绿茶 inanchor:“home page”", "inbody:绿茶 inanchor:\"home page\""),
            ("filetype:.PDF ext:htm", "filetype:pdf filetype:html"),
            ("lang:中文 lang:EN", "lang:zh lang:en"),
            ("before:2026-01-31 after:2025/3", "before:2026-01-31 after:2025-03-01"),
            ("after：２０２５", "after:2025-01-01"),
            ("link:example.org link:www.example.org/a", "link:example.org link:http://www.example.org/a"),
            ("url:example.org/a", "url:http://example.org/a"),
            ("related:https://example.org", "related:https://example.org/"),
            ("category:History", "category:history"),
            ("-intitle:tea", "-intitle:tea"),
        ] {
            assert_eq!(understood(text), expected, "{text}");
        }
        for text in
            ["colour:red", "site:", "before:tomorrow", "before:2026-13-01", "url:", "http://a b", "12:30"]
        {
            let meant = understood(text);
            assert!(!meant.contains(':') || meant == text, "{text} is text, not {meant}");
        }
    }

    #[test]
    fn nothing_is_nothing() {
        for text in ["", "   ", "!!! ???", "\"\"", "-", "- -", "()", "| |", "-\"\"", "\u{0}\u{1}"] {
            assert!(parse(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn stop_words_count_only_where_nothing_else_does() {
        assert_eq!(parse("网络与分布式系统实验室").words(), ["网络", "分布式系统", "实验室"]);
        assert_eq!(parse("的 在").words(), ["的", "在"]);
        assert_eq!(parse("\"to be\" the lighthouse").words(), ["to", "be", "lighthouse"]);
        let query = parse("灯塔 的 地图").to_query(&|_, _| true);
        assert_eq!(query, Query::And(vec![word("灯塔"), word("地图")]));
    }

    #[test]
    fn words_to_mark_are_the_wanted_ones() {
        assert_eq!(parse("Tea -coffee \"tea house\" site:a.b intitle:cup").words(), ["tea", "house", "cup"]);
    }

    /// At most 40 steps per byte, each term being analysed several times. The server truncates queries to
    /// `query.max_length` characters, 256 by default; these are longer.
    #[test]
    fn the_work_of_parsing_is_linear() {
        assert!(pharos_core::Config::default().query.max_length <= 1_000);
        let units = [
            "(",
            ")",
            "(a ",
            "()",
            "-",
            "- ",
            "-(",
            "\"",
            "\"a\" ",
            "“",
            "“a\"",
            "a:\"",
            "intitle:\"a",
            "site:a ",
            "site:%%333 ",
            "a:b:",
            "OR ",
            "a OR ",
            "a|",
            "AND ",
            "NOT ",
            "a ",
            "a",
            "灯塔",
            "㍿",
            "½",
            "1.",
            "c++",
            "link:a ",
            "before:2026-",
            "的",
            "the ",
            "http://a/",
        ];
        for (length, unit) in [1_000, 8_000].into_iter().flat_map(|length| units.map(|unit| (length, unit))) {
            let text = unit.repeat(length / unit.len());
            let steps = measure_work(|| parse(&text)).1;
            assert!(steps <= 40 * text.len() as u64, "{unit}: {steps} steps for {} bytes", text.len());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_understood_and_bounded(text in "\\PC{0,300}|([()|\"“”：:-]|OR|a|b|site:| ){0,80}") {
            let parsed = parse(&text);
            parsed.to_query(&|_, _| true);
            parsed.relaxed(&|_, _| true);
            prop_assert!(parsed.words().len() <= MAX_TERMS);
            prop_assert!(parsed.to_string().len() <= 8 * text.len() + 64);
        }
    }
}
