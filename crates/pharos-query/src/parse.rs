//! The query language: words, `"phrases"`, `-not`, `site:`.

use pharos_index::Query;
use pharos_text::Analyser;
use pharos_text::stop_words::is_stop_word;

use crate::term::{Knows, Term};

/// Terms of a query beyond this many are ignored.
const MAX_TERMS: usize = 64;

/// A query as understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Parsed {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    negative: bool,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Terms with their distances; a phrase must stand together, the terms of a word need only all be there.
    Terms {
        terms: Vec<Term>,
        phrase: bool,
    },
    Site(String),
}

/// Understands a text. Everything is understood as something.
pub(crate) fn parse(text: &str, analyser: &Analyser) -> Parsed {
    let mut parts = Vec::new();
    let mut terms = 0;
    let mut rest = text.trim_start();
    while !rest.is_empty() && terms < MAX_TERMS {
        let (negative, after) = match rest.strip_prefix(['-', '－']) {
            // A minus belongs to what follows at once; alone it is punctuation.
            Some(after) if !after.starts_with(char::is_whitespace) => (true, after),
            _ => (false, rest),
        };
        let (what, after) = next_part(after, analyser);
        rest = after.trim_start();
        let Some(mut what) = what else { continue };
        if let What::Terms { terms: found, .. } = &mut what {
            found.truncate(MAX_TERMS - terms);
            terms += found.len();
        }
        parts.push(Part { negative, what });
    }
    Parsed { parts }
}

/// Takes one part off the beginning.
fn next_part<'t>(text: &'t str, analyser: &Analyser) -> (Option<What>, &'t str) {
    for (open, close) in [('"', '"'), ('“', '”'), ('「', '」'), ('『', '』')] {
        if let Some(inside) = text.strip_prefix(open) {
            // People mix quotes: “…" ends at whichever comes first. An open end is the end of the text.
            let (phrase, after) = inside.split_once([close, '"', '”']).unwrap_or((inside, ""));
            return (terms_of(phrase, true, analyser), after);
        }
    }
    let end =
        text.find(|c: char| c.is_whitespace() || matches!(c, '"' | '“' | '「' | '『')).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    if let Some(host) = site_of(word) {
        return (Some(What::Site(host)), after);
    }
    (terms_of(word, false, analyser), after)
}

fn terms_of(text: &str, phrase: bool, analyser: &Analyser) -> Option<What> {
    let terms = Term::all(text, analyser);
    (!terms.is_empty()).then_some(What::Terms { terms, phrase })
}

/// The host of `site:host`; a scheme and a path are tolerated and ignored.
fn site_of(word: &str) -> Option<String> {
    let (name, value) = word.split_once([':', '：'])?;
    if !name.eq_ignore_ascii_case("site") {
        return None;
    }
    let host = value.trim_start_matches("http://").trim_start_matches("https://").trim_start_matches("*.");
    let host = host.split('/').next().unwrap_or_default().trim_matches('.');
    // The same spelling as in the index: lower case, punycode.
    let url = pharos_core::PageUrl::parse(&format!("http://{host}/")).ok()?;
    (!host.is_empty()).then(|| url.site().as_str().to_string())
}

impl Parsed {
    /// Is there nothing to look for?
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What to ask an index.
    pub(crate) fn to_query(&self, knows: Knows<'_>) -> Query {
        let says_something = self.says_something();
        let mut queries = Vec::new();
        for part in &self.parts {
            let query = match &part.what {
                What::Site(host) => Query::Site(host.clone()),
                // What is not wanted is not wanted as it was written: -信息检索 forbids the words together.
                What::Terms { terms, phrase } if *phrase || part.negative => phrase_of(terms, knows),
                What::Terms { terms, .. } => {
                    let counting = terms.iter().filter(|term| !says_something || !is_stop_word(&term.word));
                    let counting: Vec<Query> = counting.map(|term| term.anywhere(knows)).collect();
                    if counting.is_empty() {
                        continue;
                    }
                    Query::And(counting)
                }
            };
            queries.push(if part.negative { Query::Not(Box::new(query)) } else { query });
        }
        Query::And(queries)
    }

    /// Is there a wanted word besides stop words? Then these need not be on the page.
    fn says_something(&self) -> bool {
        self.parts.iter().filter(|part| !part.negative).any(|part| match &part.what {
            What::Terms { terms, phrase } => *phrase || terms.iter().any(|term| !is_stop_word(&term.word)),
            What::Site(_) => false,
        })
    }

    /// The terms a result may contain, for marking them; each once.
    pub(crate) fn words(&self) -> Vec<String> {
        let says_something = self.says_something();
        let mut words: Vec<String> = Vec::new();
        let mut add = |word: String| {
            if words.len() < MAX_TERMS && !words.contains(&word) {
                words.push(word);
            }
        };
        for part in self.parts.iter().filter(|p| !p.negative) {
            let What::Terms { terms, phrase } = &part.what else { continue };
            for term in terms {
                if *phrase || !says_something || !is_stop_word(&term.word) {
                    term.to_mark().map(String::from).for_each(&mut add);
                }
            }
        }
        words
    }

    /// How it was understood, in the query language itself.
    pub(crate) fn understood(&self) -> String {
        let parts = self.parts.iter().map(|part| {
            let minus = if part.negative { "-" } else { "" };
            match &part.what {
                What::Site(host) => format!("{minus}site:{host}"),
                What::Terms { terms, phrase } => {
                    let words = terms.iter().map(|term| term.typed.as_str()).collect::<Vec<_>>().join(" ");
                    if *phrase || (part.negative && terms.len() > 1) {
                        format!("{minus}\"{words}\"")
                    } else {
                        format!("{minus}{words}")
                    }
                }
            }
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}

fn phrase_of(terms: &[Term], knows: Knows<'_>) -> Query {
    let first = terms.first().map_or(0, Term::position);
    let exactly = terms.iter().flat_map(|term| term.exactly(knows));
    Query::Phrase(exactly.map(|(at, term)| (at - first, term)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn parse(text: &str) -> Parsed {
        super::parse(text, Analyser::shared())
    }

    fn word(text: &str) -> Query {
        Query::And(vec![Query::Word(text.into())])
    }

    fn understood(text: &str) -> String {
        parse(text).understood()
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

    /// d1 AND d2 without d3 is d1 ∩ (d2 − (d2 ∩ d3)), whichever list is the shorter.
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
    fn phrases_sites_and_their_full_width_forms() {
        assert_eq!(understood("\"green tea\" cup"), "\"green tea\" cup");
        assert_eq!(understood("“green tea”「绿茶」"), "\"green tea\" \"绿茶\"");
        assert_eq!(
            understood("tea site:Example.ORG/path -site：news.example.org"),
            "tea site:example.org -site:news.example.org"
        );
        assert_eq!(understood("\"never closed"), "\"never closed\"");
        assert_eq!(understood("-\"green tea\" -信息检索技术"), understood("-\"green tea\" －信息检索技术"));
        assert_eq!(understood("colour:red site:"), "colour red site", "an unknown prefix is text");
        assert_eq!(understood("a - b"), "a b");
    }

    #[test]
    fn nothing_is_nothing() {
        for text in ["", "   ", "!!! ???", "\"\"", "-", "- -"] {
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
        assert_eq!(parse("Tea -coffee \"tea house\" site:a.b").words(), ["tea", "house"]);
    }

    proptest! {
        #[test]
        fn any_text_is_understood_and_bounded(text in "\\PC{0,300}") {
            let parsed = parse(&text);
            parsed.to_query(&|_, _| true);
            prop_assert!(parsed.words().len() <= MAX_TERMS);
        }
    }
}
