//! A word of a query, and what it asks of an index.

use pharos_index::Query;
use pharos_text::dictionary::Dictionary;
use pharos_text::stem::stem_term;
use pharos_text::vocabulary::Kind;
use pharos_text::{Analyser, Token, is_han};

/// A word in its exact form counts this much more than in another; see [`pharos_text::stem`] for the measurement.
const EXACT_FORM: f32 = 0.25;

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
    /// A word that an analyser found in what was typed.
    pub(crate) fn of(token: Token, typed: &str, analyser: &Analyser) -> Self {
        let Token { text: term, position, .. } = token;
        // `/2国家图书馆`: a name of two base words.
        let name = term
            .strip_prefix('/')
            .map(|name| name.trim_start_matches(|c: char| c.is_ascii_digit()).to_string());
        let is_name = name.is_some();
        let word = name.unwrap_or_else(|| term.clone());
        let parts = if is_name { Analyser::shared().tokens(typed) } else { analyser.smallest_tokens(typed) };
        let parts: Vec<_> = parts.into_iter().map(|part| (part.position, part.text)).collect();
        let whole = if is_name {
            Whole::Perhaps(Kind::Extension)
        } else if parts.len() <= 1 || !word.contains(is_han) || Dictionary::base().contains(&word) {
            Whole::Always
        } else if analyser.vocabulary().contains(&word) {
            Whole::Perhaps(Kind::Base)
        } else {
            Whole::Never
        };
        let parts = if parts.len() > 1 { parts } else { Vec::new() };
        Self { typed: typed.to_string(), word, term, whole, position, parts }
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
        let together = Query::Phrase(self.parts.clone());
        let apart = || Query::And(self.parts.iter().map(|(_, part)| Query::Word(part.clone())).collect());
        let is_whole = self.is_whole(knows);
        if !self.word.contains(is_han) {
            // What is written Node.js here may be Node JS there.
            Query::Or(vec![whole, together])
        } else if is_whole && self.word.chars().all(is_han) {
            whole
        } else if is_whole {
            // 4K电视 is also a 电视 with 4K.
            Query::Or(vec![whole, apart()])
        } else {
            // Pages that have the characters together come first, and none is hidden by a wrong guess.
            Query::Or(vec![together, apart()])
        }
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

    use super::*;

    /// The terms of a text for an installation that knows two words besides.
    fn terms(text: &str) -> Vec<Term> {
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("爱心社", Some(Kind::Base), None, "").unwrap();
        words.add("灯塔图书馆", Some(Kind::Extension), None, "").unwrap();
        let analyser = Analyser::with(Arc::new(words));
        analyser
            .tokens(text)
            .into_iter()
            .map(|token| {
                let typed = text[token.start..token.end].to_string();
                Term::of(token, &typed, &analyser)
            })
            .collect()
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
        assert_eq!(
            name.anywhere(never),
            Query::Or(vec![phrase(&["灯塔", "图书馆"]), Query::And(vec![word("灯塔"), word("图书馆")])])
        );
        assert_eq!(name.exactly(never), [(0, "灯塔".to_string()), (2, "图书馆".to_string())]);
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
}
