//! A word of a query, and what it asks of an index.

use pharos_index::Query;
use pharos_text::dictionary::Dictionary;
use pharos_text::stem::stem_term;
use pharos_text::vocabulary::Kind;
use pharos_text::{Analyser, Token, is_han, normalise};

use crate::rank::EXACT_FORM;

/// Tells whether all pages of an index were cut with a word of the installation.
pub(crate) type Knows<'a> = &'a dyn Fn(&str, Kind) -> bool;

/// A word of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// As it was typed.
    pub(crate) typed: String,
    /// As texts are compared.
    pub(crate) word: String,
    /// As the index stores it, if it does.
    term: String,
    whole: Whole,
    position: usize,
    /// What it consists of, with positions from its beginning; empty where it is one piece. These are in any index.
    parts: Vec<(usize, String)>,
}

/// Is the whole in the index, wherever the word stands on a page?
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whole {
    Always,
    Never,
    /// Where all pages were cut with this word of the installation.
    Perhaps(Kind),
}

impl Term {
    /// The words that an analyser finds in what was typed.
    pub(crate) fn all(text: &str, analyser: &Analyser) -> Vec<Self> {
        let tokens = analyser.tokens(text);
        let spans: Vec<(usize, usize)> = tokens.iter().map(|token| (token.start, token.end)).collect();
        let mut terms = Vec::with_capacity(tokens.len());
        for (nth, token) in tokens.into_iter().enumerate() {
            let (start, end) = spans[nth];
            // One character may stand for several words (½, ㍿): then none of them is what was typed.
            let is_shared = spans.iter().filter(|span| span.0 < end && start < span.1).nth(1).is_some();
            let typed = if is_shared { token.text.clone() } else { text[start..end].to_string() };
            terms.push(Self::of(token, typed, analyser));
        }
        terms
    }

    fn of(token: Token, typed: String, analyser: &Analyser) -> Self {
        let Token { text: term, position, .. } = token;
        // `/2灯塔图书馆`: a name of two base words. No other term begins so.
        let is_name = term.starts_with('/');
        let word = if is_name { normalise(&typed) } else { term.clone() };
        // The plain form of a name like Node.js is not made of its parts; what was typed is.
        let whole = if word.contains(is_han) { &word } else { &typed };
        let parts = analyser.smallest_tokens(whole).into_iter();
        let mut parts: Vec<_> = parts.map(|part| (part.position, part.text)).collect();
        if parts.len() <= 1 {
            parts.clear();
        }
        let whole = if is_name {
            Whole::Perhaps(Kind::Extension)
        } else if parts.is_empty() || !word.contains(is_han) || Dictionary::base().contains(&word) {
            Whole::Always
        } else if analyser.vocabulary().contains(&word) {
            Whole::Perhaps(Kind::Base)
        } else {
            Whole::Never
        };
        Self { typed, word, term, whole, position, parts }
    }

    /// Its place in what was typed, as positions count.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// What to mark on a page: the word, and the parts of a name like Node.js.
    pub(crate) fn to_mark(&self) -> impl Iterator<Item = &str> {
        let parts = if self.word.contains(is_han) { &[] } else { self.parts.as_slice() };
        std::iter::once(self.word.as_str()).chain(parts.iter().map(|(_, part)| part.as_str()))
    }

    /// What to ask where the word may stand anywhere on the page.
    pub(crate) fn anywhere(&self, knows: Knows<'_>) -> Query {
        let whole = Query::Word(self.term.clone());
        if self.parts.is_empty() {
            return match stem_term(&self.term) {
                Some(stem) => Query::Forms(vec![(1.0, stem), (EXACT_FORM, self.term.clone())]),
                None => whole,
            };
        }
        let is_whole = self.is_whole(knows);
        if !self.word.contains(is_han) {
            // What is written Node.js here may be Node JS there.
            Query::Or(vec![whole, Query::Phrase(self.parts.clone())])
        } else if is_whole && self.word.chars().all(is_han) {
            whole
        } else if is_whole {
            // 4K电视 is also a 电视 with 4K.
            Query::Or(vec![whole, self.parts_anywhere()])
        } else {
            // A name: its characters stand together.
            Query::Phrase(self.parts.clone())
        }
    }

    /// The same where no page has it so: the characters of a word that no dictionary has may stand apart, for it may be no
    /// word at all.
    pub(crate) fn apart(&self, knows: Knows<'_>) -> Query {
        match self.anywhere(knows) {
            Query::Phrase(_) => self.parts_anywhere(),
            query => query,
        }
    }

    fn parts_anywhere(&self) -> Query {
        Query::And(self.parts.iter().map(|(_, part)| Query::Word(part.clone())).collect())
    }

    /// The ways in which pages may have it, each as terms at distances, and its exact form where others count, too.
    pub(crate) fn ways(&self, knows: Knows<'_>) -> (Vec<Vec<(usize, String)>>, Option<String>) {
        let whole = || vec![(0, self.term.clone())];
        if self.parts.is_empty() {
            return match stem_term(&self.term) {
                Some(stem) => (vec![vec![(0, stem)]], Some(self.term.clone())),
                None => (vec![whole()], None),
            };
        }
        if !self.word.contains(is_han) {
            return (vec![whole(), self.parts.clone()], None);
        }
        (vec![if self.is_whole(knows) { whole() } else { self.parts.clone() }], None)
    }

    /// Its exact terms and their positions, for a phrase.
    pub(crate) fn exactly(&self, knows: Knows<'_>) -> Vec<(usize, String)> {
        if self.parts.is_empty() || (self.word.chars().all(is_han) && self.is_whole(knows)) {
            return vec![(self.position, self.term.clone())];
        }
        self.parts.iter().map(|(at, part)| (self.position + at, part.clone())).collect()
    }

    fn is_whole(&self, knows: Knows<'_>) -> bool {
        match self.whole {
            Whole::Always => true,
            Whole::Never => false,
            Whole::Perhaps(kind) => knows(&self.word, kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pharos_text::vocabulary::Vocabulary;
    use proptest::prelude::*;

    use super::*;

    /// The terms of a text for an installation that knows two words besides.
    fn terms(text: &str) -> Vec<Term> {
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("爱心社", Some(Kind::Base), None, "").unwrap();
        words.add("灯塔图书馆", Some(Kind::Extension), None, "").unwrap();
        words.add("360搜索引擎", Some(Kind::Extension), None, "").unwrap();
        Term::all(text, &Analyser::with(Arc::new(words)))
    }

    fn word(text: &str) -> Query {
        Query::Word(text.into())
    }

    fn phrase(parts: &[&str]) -> Query {
        let mut at = 0;
        Query::Phrase(
            parts
                .iter()
                .map(|part| {
                    let part = (at, part.to_string());
                    at += if part.1.chars().all(is_han) { part.1.chars().count() } else { 1 };
                    part
                })
                .collect(),
        )
    }

    #[test]
    fn a_name_reads_one_list_and_its_words_are_skipped() {
        let [name] = &terms("灯塔图书馆")[..] else { panic!() };
        assert_eq!(name.anywhere(&|_, _| true), word("/2灯塔图书馆"));
        assert_eq!(name.exactly(&|_, _| true), [(0, "/2灯塔图书馆".to_string())]);
        assert_eq!(terms("图书馆")[0].anywhere(&|_, _| true), word("图书馆"));
    }

    #[test]
    fn words_that_an_index_does_not_know_yet_hide_no_page() {
        let never: Knows<'_> = &|_, _| false;
        let name = &terms("灯塔图书馆")[0];
        assert_eq!(name.anywhere(never), phrase(&["灯", "塔", "图", "书", "馆"]));
        assert_eq!(name.apart(never), Query::And(["灯", "塔", "图", "书", "馆"].map(word).into()));
        assert_eq!(name.exactly(never).len(), 5);
        let [name] = &terms("360搜索引擎")[..] else { panic!() };
        assert_eq!(
            name.anywhere(&|word, _| word == "360搜索引擎"),
            Query::Or(vec![
                word("/2360搜索引擎"),
                Query::And(["360", "搜", "索", "引", "擎"].map(word).into())
            ])
        );
        let own = &terms("爱心社")[0];
        assert_eq!(own.exactly(never).len(), 3);
        assert_eq!(own.exactly(&|word, kind| word == "爱心社" && kind == Kind::Base).len(), 1);
    }

    #[test]
    fn names_of_parts_are_found_joined_and_apart() {
        let all: Knows<'_> = &|_, _| true;
        assert_eq!(
            terms("Node.js")[0].anywhere(all),
            Query::Or(vec![word("nodejs"), phrase(&["node", "js"])])
        );
        assert_eq!(terms("C++")[0].anywhere(all), word("c++"));
        assert_eq!(
            terms("4K电视")[0].anywhere(all),
            Query::Or(vec![word("4k电视"), Query::And(vec![word("4k"), word("电"), word("视")])])
        );
        assert_eq!(terms("\"Node.js")[0].exactly(all).len(), 2);
        assert_eq!(
            terms("running")[0].anywhere(all),
            Query::Forms(vec![(1.0, "~run".into()), (0.25, "running".into())])
        );
    }

    /// Does a page answer a query? As an index of one page would.
    fn answers(page: &[Token], query: &Query) -> bool {
        let has = |term: &str| page.iter().any(|token| token.text == term);
        match query {
            Query::Word(term) => has(term),
            Query::Forms(forms) => forms.iter().any(|(_, term)| has(term)),
            Query::And(all) => all.iter().all(|query| answers(page, query)),
            Query::Or(some) => some.iter().any(|query| answers(page, query)),
            Query::Phrase(terms) => page.iter().any(|begin| {
                terms.iter().all(|(at, term)| {
                    page.iter().any(|token| token.text == *term && token.position == begin.position + at)
                })
            }),
            _ => false,
        }
    }

    proptest! {
        /// Any part of a text that begins and ends where words may begin and end finds the text: quoted, unquoted, and
        /// whatever the index knows of the installation's words.
        #[test]
        fn any_part_of_a_text_finds_it(
            text in "[a-c4+#.&½㍿第三十百京大学灯塔图书馆爱心社社 -]{1,16}|[a-c4 灯塔图书馆爱心社]{1,16}|[ゲームのカ서울에2 灯a]{1,12}", from in 0usize..16, len in 1usize..9
        ) {
            let mut words = Vocabulary::new(Dictionary::base());
            words.add("爱心社", Some(Kind::Base), None, "").unwrap();
            words.add("灯塔图书馆", Some(Kind::Extension), None, "").unwrap();
            words.add("a灯塔", None, None, "").unwrap();
            let knowing = Analyser::with(Arc::new(words));
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (from, to) = (from.min(borders.len() - 1), (from + len).min(borders.len() - 1));
            let (from, to) = (borders[from], borders[to]);
            let letter = |c: char| c.is_alphanumeric() && !is_han(c) && !"ゲームのカ서울에".contains(c);
            let is_border = |at: usize| !(text[..at].ends_with(letter) && text[at..].starts_with(letter));
            if from == to || !is_border(from) || !is_border(to) {
                return Ok(());
            }
            let part = &text[from..to];
            for (page, knows) in [(knowing.index_tokens(&text), true), (Analyser::shared().index_tokens(&text), false)] {
                let terms = Term::all(part, &knowing);
                let first = terms.first().map_or(0, Term::position);
                let exactly = terms.iter().flat_map(|term| term.exactly(&|_, _| knows));
                let phrase = Query::Phrase(exactly.map(|(at, term)| (at - first, term)).collect());
                prop_assert!(terms.is_empty() || answers(&page, &phrase), "\"{}\" in {}: {:?}", part, text, phrase);
                for term in &terms {
                    let query = term.anywhere(&|_, _| knows);
                    prop_assert!(answers(&page, &query), "{} in {}: {:?}", part, text, query);
                }
            }
        }
    }
}
