//! The request of a search.

use crate::language::filters::Filters;

/// A search request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchRequest {
    /// The query text.
    pub text: String,
    /// Number of the result page, from 1; 0 means 1.
    pub page: usize,
    /// Results per page; 0 means the configured number.
    pub size: usize,
    /// Options that determine the results.
    pub options: ResultOptions,
    /// Adds explanations of the query and of each score.
    pub explain: bool,
    /// Adds facet counts.
    pub facets: bool,
    /// State of the index of the first result page, so that further pages are consistent with it.
    pub generation: Option<String>,
    /// Filters selected in addition to the text.
    pub filters: Filters,
}

/// The options of a request that determine its results, beside text and filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResultOptions {
    /// Returns copies and near-duplicates as separate results, with no limit per site.
    pub all: bool,
    /// Sorts by date, newest first, instead of by score.
    pub newest_first: bool,
    /// Accepts pages that contain only some of the words.
    pub any_word: bool,
    /// Never replaces a query without results by its correction.
    pub as_typed: bool,
}

impl SearchRequest {
    /// Creates a request for the first result page.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), page: 1, ..Self::default() }
    }
}

/// A query as the caches distinguish it: two requests with equal keys have the same results in the same state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueryKey {
    /// Text and filters, with normalised whitespace. Any other normalisation could change the meaning of the query.
    pub(crate) text: String,
    pub(crate) options: ResultOptions,
}

impl QueryKey {
    pub(crate) fn new(text: &str, filters: &Filters, options: ResultOptions) -> Self {
        let mut text = collapse_whitespace(text);
        if !filters.is_empty() {
            text.push_str(&filters.to_string());
        }
        Self { text, options }
    }
}

/// Collapses whitespace to single spaces and trims it.
pub(crate) fn collapse_whitespace(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_mean_nothing_and_all_else_does() {
        let key = |text: &str, filters: &Filters| QueryKey::new(text, filters, ResultOptions::default());
        let (none, one) = (Filters::default(), Filters { lang: Some("en".into()), ..Filters::default() });
        assert_eq!(key(" a\u{3000} b\t", &none), key("a b", &none));
        assert_ne!(key("a b", &none), key("A b", &none));
        assert_ne!(key("a b", &none), key("a b", &one));
        let all = ResultOptions { all: true, ..ResultOptions::default() };
        assert_ne!(key("a b", &none), QueryKey::new("a b", &none, all));
    }
}
