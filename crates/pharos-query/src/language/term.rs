//! A word of a query, and its translation to index queries.

use pharos_index::Query;
use pharos_text::analyser::stem::stem_term;
use pharos_text::analyser::stop_words::is_stop_word;
use pharos_text::dictionary::Dictionary;
use pharos_text::vocabulary::WordKind;
use pharos_text::{Analyser, Token, is_han, normalise};

use crate::language::optional_words::is_optional_word;
use crate::rank::{EXACT_FORM_BONUS, SYNONYM_WEIGHT};

/// Returns `true` if all generations were segmented with a word of the vocabulary.
pub(crate) type IsIndexed<'a> = &'a dyn Fn(&str, WordKind) -> bool;

/// A word of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryTerm {
    /// As typed.
    pub(crate) typed: String,
    /// Normalised form.
    pub(crate) word: String,
    /// Term of the index, if the index contains the whole word.
    term: String,
    whole: WholeTerm,
    position: usize,
    /// Parts with positions relative to its start; empty if it is indivisible. Every index contains the parts.
    parts: Vec<(usize, String)>,
    /// An additional stop word of the installation.
    pub(crate) is_own_stop_word: bool,
    /// Marked with a plus: never optional.
    pub(crate) is_required: bool,
    pub(crate) synonyms: Vec<Synonym>,
}

/// A synonym of a query word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Synonym {
    /// The synonym as text.
    pub(crate) text: String,
    /// The words of the query that it replaces.
    pub(crate) of: String,
    /// Its terms, which must occur together.
    pub(crate) terms: Vec<QueryTerm>,
}

impl Synonym {
    /// Translates the synonym to a query with a lower weight, where the index supports weights.
    fn to_query(&self, is_indexed: IsIndexed<'_>) -> Query {
        match self.terms.as_slice() {
            [term] => match term.typed_query(is_indexed) {
                Query::Word(word) => Query::Forms(vec![(SYNONYM_WEIGHT, word)]),
                Query::Forms(forms) => Query::Forms(
                    forms.into_iter().map(|(weight, word)| (SYNONYM_WEIGHT * weight, word)).collect(),
                ),
                query => query,
            },
            terms => Query::Phrase(phrase_of(terms, is_indexed)),
        }
    }

    /// Returns its variants in pages, each as terms with relative positions.
    pub(crate) fn variants(&self, is_indexed: IsIndexed<'_>) -> Vec<Vec<(usize, String)>> {
        match self.terms.as_slice() {
            [term] => term.variants(is_indexed).0,
            terms => vec![phrase_of(terms, is_indexed)],
        }
    }
}

/// Returns terms and relative positions of words that must occur together.
pub(crate) fn phrase_of(terms: &[QueryTerm], is_indexed: IsIndexed<'_>) -> Vec<(usize, String)> {
    let first = terms.first().map_or(0, QueryTerm::position);
    let positions = terms.iter().flat_map(|term| term.phrase_terms(is_indexed));
    positions.map(|(at, term)| (at - first, term)).collect()
}

/// Presence of the whole word in the index, wherever it occurs on a page.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WholeTerm {
    Always,
    Never,
    /// If all generations were segmented with this word of the vocabulary.
    IfIndexed(WordKind),
}

impl QueryTerm {
    /// Analyses a text into terms.
    pub(crate) fn parse_all(text: &str, analyser: &Analyser) -> Vec<Self> {
        let tokens = analyser.tokens(text);
        let spans: Vec<(usize, usize)> = tokens.iter().map(|token| (token.start, token.end)).collect();
        let mut terms = Vec::with_capacity(tokens.len());
        for (nth, token) in tokens.into_iter().enumerate() {
            let (start, end) = spans[nth];
            // One character may represent several words (½, ㍿); then none of them equals the typed text. Such words are
            // adjacent, because spans are in the order of the text.
            let before = nth.checked_sub(1).and_then(|before| spans.get(before));
            let is_shared = before.is_some_and(|before| start < before.1)
                || spans.get(nth + 1).is_some_and(|after| after.0 < end);
            let typed = if is_shared { token.text.clone() } else { text[start..end].to_string() };
            terms.push(Self::from_token(token, typed, analyser));
        }
        terms
    }

    fn from_token(token: Token, typed: String, analyser: &Analyser) -> Self {
        let Token { text: term, position, .. } = token;
        // `/2灯塔图书馆`: a name of two base words. No other term starts with a slash.
        let is_name = term.starts_with('/');
        let word = if is_name { normalise(&typed) } else { term.clone() };
        // The joined form of a name like Node.js does not consist of its parts, but the typed text does.
        let whole = if word.contains(is_han) { &word } else { &typed };
        let parts = analyser.smallest_tokens(whole).into_iter();
        let mut parts: Vec<_> = parts.map(|part| (part.position, part.text)).collect();
        if parts.len() <= 1 {
            parts.clear();
        }
        let whole = if is_name {
            WholeTerm::IfIndexed(WordKind::Extension)
        } else if parts.is_empty() || !word.contains(is_han) || Dictionary::base().contains(&word) {
            WholeTerm::Always
        } else if analyser.vocabulary().contains(&word) {
            WholeTerm::IfIndexed(WordKind::Base)
        } else {
            WholeTerm::Never
        };
        let (is_own_stop_word, is_required, synonyms) = (false, false, Vec::new());
        Self { typed, word, term, whole, position, parts, is_own_stop_word, is_required, synonyms }
    }

    /// Returns its position in the typed text.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns `true` if the query may drop the word.
    pub(crate) fn is_stop_word(&self) -> bool {
        !self.is_required && (self.is_own_stop_word || is_stop_word(&self.word))
    }

    /// Returns `true` if pages may lack the word, which counts less than others.
    pub(crate) fn is_optional(&self) -> bool {
        !self.is_required && is_optional_word(&self.word)
    }

    /// Returns the words to highlight: the word, the parts of a name like Node.js, and synonyms.
    pub(crate) fn highlight_words(&self) -> impl Iterator<Item = &str> {
        let parts = if self.word.contains(is_han) { &[] } else { self.parts.as_slice() };
        let synonyms = self.synonyms.iter().flat_map(|synonym| &synonym.terms);
        std::iter::once(self.word.as_str())
            .chain(parts.iter().map(|(_, part)| part.as_str()))
            .chain(synonyms.map(|term| term.word.as_str()))
    }

    /// Translates the term and its synonyms to a query anywhere on the page.
    pub(crate) fn to_query(&self, is_indexed: IsIndexed<'_>) -> Query {
        self.or_synonyms(self.typed_query(is_indexed), is_indexed)
    }

    /// Adds the synonyms as alternatives.
    fn or_synonyms(&self, typed: Query, is_indexed: IsIndexed<'_>) -> Query {
        if self.synonyms.is_empty() {
            return typed;
        }
        let mut any = match typed {
            Query::Or(any) => any,
            query => vec![query],
        };
        any.extend(self.synonyms.iter().map(|synonym| synonym.to_query(is_indexed)));
        Query::Or(any)
    }

    /// Translates the term as typed.
    fn typed_query(&self, is_indexed: IsIndexed<'_>) -> Query {
        let whole = Query::Word(self.term.clone());
        if self.parts.is_empty() {
            return match stem_term(&self.term) {
                Some(stem) => Query::Forms(vec![(1.0, stem), (EXACT_FORM_BONUS, self.term.clone())]),
                None => whole,
            };
        }
        let is_whole = self.is_indexed_whole(is_indexed);
        if !self.word.contains(is_han) {
            // Node.js may also be written Node JS.
            Query::Or(vec![whole, Query::Phrase(self.parts.clone())])
        } else if is_whole && self.word.chars().all(is_han) {
            whole
        } else if is_whole {
            // 4K电视 also matches 电视 with 4K.
            Query::Or(vec![whole, self.all_parts_query()])
        } else {
            // A name: its characters must be adjacent.
            Query::Phrase(self.parts.clone())
        }
    }

    /// Translates the term with the characters of an unknown word separated, for the case that no page contains them
    /// together: it may not be a word at all.
    pub(crate) fn to_split_query(&self, is_indexed: IsIndexed<'_>) -> Query {
        let split = match self.typed_query(is_indexed) {
            Query::Phrase(_) => self.all_parts_query(),
            query => query,
        };
        self.or_synonyms(split, is_indexed)
    }

    fn all_parts_query(&self) -> Query {
        Query::And(self.parts.iter().map(|(_, part)| Query::Word(part.clone())).collect())
    }

    /// Returns the variants of the term in pages, each as terms with relative positions, and the exact form if other
    /// forms count too.
    pub(crate) fn variants(&self, is_indexed: IsIndexed<'_>) -> (Vec<Vec<(usize, String)>>, Option<String>) {
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
        (vec![if self.is_indexed_whole(is_indexed) { whole() } else { self.parts.clone() }], None)
    }

    /// Returns its exact terms and positions, for a phrase.
    pub(crate) fn phrase_terms(&self, is_indexed: IsIndexed<'_>) -> Vec<(usize, String)> {
        if self.parts.is_empty() || (self.word.chars().all(is_han) && self.is_indexed_whole(is_indexed)) {
            return vec![(self.position, self.term.clone())];
        }
        self.parts.iter().map(|(at, part)| (self.position + at, part.clone())).collect()
    }

    fn is_indexed_whole(&self, is_indexed: IsIndexed<'_>) -> bool {
        match self.whole {
            WholeTerm::Always => true,
            WholeTerm::Never => false,
            WholeTerm::IfIndexed(kind) => is_indexed(&self.word, kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pharos_text::vocabulary::Vocabulary;
    use proptest::prelude::*;

    use super::*;

    /// Analyses a text with a vocabulary of three additional words.
    fn terms(text: &str) -> Vec<QueryTerm> {
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("爱心社", Some(WordKind::Base), None, "").unwrap();
        words.add("灯塔图书馆", Some(WordKind::Extension), None, "").unwrap();
        words.add("360搜索引擎", Some(WordKind::Extension), None, "").unwrap();
        QueryTerm::parse_all(text, &Analyser::with_vocabulary(Arc::new(words)))
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
        assert_eq!(name.to_query(&|_, _| true), word("/2灯塔图书馆"));
        assert_eq!(name.phrase_terms(&|_, _| true), [(0, "/2灯塔图书馆".to_string())]);
        assert_eq!(terms("图书馆")[0].to_query(&|_, _| true), word("图书馆"));
    }

    #[test]
    fn words_that_an_index_does_not_know_yet_hide_no_page() {
        let never: IsIndexed<'_> = &|_, _| false;
        let name = &terms("灯塔图书馆")[0];
        assert_eq!(name.to_query(never), phrase(&["灯", "塔", "图", "书", "馆"]));
        assert_eq!(name.to_split_query(never), Query::And(["灯", "塔", "图", "书", "馆"].map(word).into()));
        assert_eq!(name.phrase_terms(never).len(), 5);
        let [name] = &terms("360搜索引擎")[..] else { panic!() };
        assert_eq!(
            name.to_query(&|word, _| word == "360搜索引擎"),
            Query::Or(vec![
                word("/2360搜索引擎"),
                Query::And(["360", "搜", "索", "引", "擎"].map(word).into())
            ])
        );
        let own = &terms("爱心社")[0];
        assert_eq!(own.phrase_terms(never).len(), 3);
        assert_eq!(own.phrase_terms(&|word, kind| word == "爱心社" && kind == WordKind::Base).len(), 1);
    }

    #[test]
    fn names_of_parts_are_found_joined_and_apart() {
        let all: IsIndexed<'_> = &|_, _| true;
        assert_eq!(
            terms("Node.js")[0].to_query(all),
            Query::Or(vec![word("nodejs"), phrase(&["node", "js"])])
        );
        assert_eq!(terms("C++")[0].to_query(all), word("c++"));
        assert_eq!(
            terms("4K电视")[0].to_query(all),
            Query::Or(vec![word("4k电视"), Query::And(vec![word("4k"), word("电"), word("视")])])
        );
        assert_eq!(terms("\"Node.js")[0].phrase_terms(all).len(), 2);
        assert_eq!(
            terms("running")[0].to_query(all),
            Query::Forms(vec![(1.0, "~run".into()), (0.5, "running".into())])
        );
    }

    /// Returns `true` if a page matches a query, like an index of one page.
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
        /// Any part of a text at word boundaries finds the text: quoted or not, and independent of the vocabulary of
        /// the index.
        #[test]
        fn any_part_of_a_text_finds_it(
            text in "[a-c4+#.&½㍿第三十百京大学灯塔图书馆爱心社社 -]{1,16}|[a-c4 灯塔图书馆爱心社]{1,16}|[ゲームのカ서울에2 灯a]{1,12}", from in 0usize..16, len in 1usize..9
        ) {
            let mut words = Vocabulary::new(Dictionary::base());
            words.add("爱心社", Some(WordKind::Base), None, "").unwrap();
            words.add("灯塔图书馆", Some(WordKind::Extension), None, "").unwrap();
            words.add("a灯塔", None, None, "").unwrap();
            let knowing = Analyser::with_vocabulary(Arc::new(words));
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (from, to) = (from.min(borders.len() - 1), (from + len).min(borders.len() - 1));
            let (from, to) = (borders[from], borders[to]);
            let letter = |c: char| c.is_alphanumeric() && !is_han(c) && !"ゲームのカ서울에".contains(c);
            let is_border = |at: usize| !(text[..at].ends_with(letter) && text[at..].starts_with(letter));
            if from == to || !is_border(from) || !is_border(to) {
                return Ok(());
            }
            let part = &text[from..to];
            for (page, is_indexed) in [(knowing.index_tokens(&text), true), (Analyser::shared().index_tokens(&text), false)] {
                let terms = QueryTerm::parse_all(part, &knowing);
                let first = terms.first().map_or(0, QueryTerm::position);
                let phrase_terms = terms.iter().flat_map(|term| term.phrase_terms(&|_, _| is_indexed));
                let phrase = Query::Phrase(phrase_terms.map(|(at, term)| (at - first, term)).collect());
                prop_assert!(terms.is_empty() || answers(&page, &phrase), "\"{}\" in {}: {:?}", part, text, phrase);
                for term in &terms {
                    let query = term.to_query(&|_, _| is_indexed);
                    prop_assert!(answers(&page, &query), "{} in {}: {:?}", part, text, query);
                }
            }
        }
    }
}
