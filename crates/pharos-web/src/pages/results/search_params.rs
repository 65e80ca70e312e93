//! Parameters of the result page, and links to variations of the request.

use pharos_core::Config;
use pharos_query::{Age, Filters, ResultOptions, SearchRequest};

use crate::pages::frame::Link;
use crate::pages::paging::{last_page, page_number, page_size};
use crate::server::visitor::{Visitor, link};

/// Maximum length of a filter value.
const MAX_VALUE: usize = 256;

/// The parameters of a search.
pub(crate) struct SearchParams {
    pub(crate) query: String,
    pub(crate) page: usize,
    /// Results per page, if they are not as many as configured.
    pub(crate) size: Option<String>,
    /// Include duplicates.
    pub(crate) all: bool,
    pub(crate) newest_first: bool,
    /// Show the results of the query as typed, not of its correction.
    pub(crate) as_typed: bool,
    pub(crate) filters: Filters,
    /// Show the components of scores.
    pub(crate) explain: bool,
    /// State of the index that the first page was taken from.
    pub(crate) generation: String,
}

/// A parameter that links of the page change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchParam {
    Site,
    Lang,
    Format,
    Category,
    Time,
    Sort,
}

impl SearchParam {
    /// Returns the name in URLs. `lang` is the language of the user interface.
    pub(crate) const fn param(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Lang => "in",
            Self::Format => "type",
            Self::Category => "category",
            Self::Time => "time",
            Self::Sort => "sort",
        }
    }
}

/// Returns the value of a filter, without surrounding space; an invalid value sets no filter.
pub(crate) fn filter_value(given: &str) -> Option<String> {
    let value = given.trim();
    let is_value = !value.is_empty() && value.len() <= MAX_VALUE && !value.chars().any(char::is_control);
    is_value.then(|| value.to_string())
}

/// Reads the filters; invalid values are ignored.
fn filters(visitor: &Visitor) -> Filters {
    let text = |choice: SearchParam| visitor.param(choice.param()).and_then(filter_value);
    Filters {
        site: text(SearchParam::Site),
        lang: text(SearchParam::Lang),
        format: text(SearchParam::Format),
        category: text(SearchParam::Category),
        time: visitor.param(SearchParam::Time.param()).and_then(Age::named),
        within: Vec::new(),
    }
}

impl SearchParams {
    pub(crate) fn from_visitor(visitor: &Visitor, config: &Config) -> Self {
        Self {
            query: visitor.query(config.query.max_length),
            page: page_number(visitor.param("page")),
            size: visitor.param("size").filter(|size| page_size(size).is_some()).map(String::from),
            all: visitor.wants_all(),
            newest_first: visitor.newest_first().unwrap_or_default(),
            as_typed: visitor.wants("as_typed"),
            filters: filters(visitor),
            explain: visitor.wants("explain"),
            generation: visitor.param("generation").unwrap_or_default().to_string(),
        }
    }

    /// Returns the number of results per page.
    pub(crate) fn page_size(&self, config: &Config) -> usize {
        self.size.as_deref().and_then(page_size).unwrap_or(config.query.page_size.max(1))
    }

    /// Returns `true` if the page number is within the maximum number of results.
    pub(crate) fn is_reachable(&self, config: &Config) -> bool {
        self.page <= last_page(u64::MAX, self.page_size(config), config.query.max_results)
    }

    /// Builds the search request. Beyond the last page the first one is requested, to learn the number of results.
    pub(crate) fn request(&self, config: &Config) -> SearchRequest {
        SearchRequest {
            text: self.query.clone(),
            page: if self.is_reachable(config) { self.page } else { 1 },
            size: self.page_size(config),
            options: ResultOptions {
                all: self.all,
                newest_first: self.newest_first,
                any_word: false,
                as_typed: self.as_typed,
            },
            explain: self.explain,
            facets: true,
            generation: Some(self.generation.clone()).filter(|generation| !generation.is_empty()),
            filters: self.filters.clone(),
        }
    }

    /// Returns the URL parameters without the page; `changed` replaces or removes one of them.
    fn params<'a>(&'a self, changed: Option<(SearchParam, Option<&'a str>)>) -> Vec<(&'static str, &'a str)> {
        let Filters { site, lang, format, category, time, .. } = &self.filters;
        let mut choices = vec![
            (SearchParam::Site, site.as_deref()),
            (SearchParam::Lang, lang.as_deref()),
            (SearchParam::Format, format.as_deref()),
            (SearchParam::Category, category.as_deref()),
            (SearchParam::Time, time.map(Age::name)),
            (SearchParam::Sort, self.newest_first.then_some("date")),
        ];
        if let Some((choice, value)) = changed {
            choices.iter_mut().filter(|(of, _)| *of == choice).for_each(|(_, current)| *current = value);
        }
        let mut params = vec![("q", self.query.as_str())];
        params.extend(choices.into_iter().filter_map(|(choice, value)| Some((choice.param(), value?))));
        params.extend(self.all.then_some(("all", "1")));
        params.extend(self.as_typed.then_some(("as_typed", "1")));
        params.extend(self.explain.then_some(("explain", "1")));
        params.extend(self.size.as_deref().map(|size| ("size", size)));
        params
    }

    /// Returns the link to the first page with another value of a parameter.
    pub(crate) fn href_with(&self, choice: SearchParam, value: Option<&str>) -> String {
        link("/search", self.params(Some((choice, value))))
    }

    /// Returns the link to another query with the same filters and order.
    pub(crate) fn href_of_query(&self, query: &str) -> String {
        let mut params = self.params(None);
        params.iter_mut().filter(|(name, _)| *name == "q").for_each(|(_, value)| *value = query);
        link("/search", params)
    }

    /// Returns the link to the results of the query itself, not of its correction.
    pub(crate) fn as_typed_link(&self) -> Link {
        let mut params = self.params(None);
        params.extend((!self.as_typed).then_some(("as_typed", "1")));
        Link { href: link("/search", params), text: self.query.clone() }
    }

    /// Returns the link to the first page without filters.
    pub(crate) fn without_filters(&self) -> String {
        let sort = self.newest_first.then_some(("sort", "date"));
        let size = self.size.as_deref().map(|size| ("size", size));
        link("/search", [("q", self.query.as_str())].into_iter().chain(sort).chain(size))
    }

    /// Returns the link to the first page with duplicates.
    pub(crate) fn with_duplicates(&self) -> String {
        let mut params = self.params(None);
        params.extend((!self.all).then_some(("all", "1")));
        link("/search", params)
    }

    /// Returns the link to another page of the same results.
    pub(crate) fn page_link(&self, page: usize, text: impl Into<String>) -> Link {
        let number = page.to_string();
        let mut params = self.params(None);
        if page > 1 {
            params.extend([("page", number.as_str()), ("generation", self.generation.as_str())]);
        }
        Link { href: link("/search", params), text: text.into() }
    }

    /// Returns the link to another query that the page offers; `from` is its origin for the log.
    pub(crate) fn query_link(query: &str, from: &'static str) -> Link {
        Link { href: link("/search", [("q", query), ("from", from)]), text: query.to_string() }
    }
}
