//! Filters in addition to the query text: site, language, file type, category and age.
//!
//! Facets count the values of filters. Filters are separate from the text, so that the search box shows the typed
//! text and the log records the selection.

use std::fmt;

use pharos_index::PageLabel;
use pharos_text::normalise;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::language::expression::Expression;
use crate::language::parse;

/// The filters of a request. Results fulfil all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// A site, or a directory of one.
    pub site: Option<String>,
    /// A language: `en`, `zh`.
    pub lang: Option<String>,
    /// A file type: `html`, `pdf`.
    pub format: Option<String>,
    /// A subject category.
    pub category: Option<String>,
    /// Maximum age.
    pub time: Option<Age>,
    /// Sites that the client may see, with their subdomains; empty for all.
    pub within: Vec<String>,
}

/// The maximum age of a page, by the date it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Time, description = "Maximum age of pages.")]
pub enum Age {
    Day,
    /// Seven days.
    Week,
    /// 31 days.
    Month,
    /// 366 days.
    Year,
}

impl Age {
    /// All ages, shortest first.
    pub const ALL: [Age; 4] = [Age::Day, Age::Week, Age::Month, Age::Year];

    /// Returns the name used in URLs and facets.
    pub const fn name(self) -> &'static str {
        match self {
            Age::Day => "day",
            Age::Week => "week",
            Age::Month => "month",
            Age::Year => "year",
        }
    }

    /// Returns the age with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|age| age.name() == name)
    }

    pub(crate) const fn days(self) -> i64 {
        match self {
            Age::Day => 1,
            Age::Week => 7,
            Age::Month => 31,
            Age::Year => 366,
        }
    }
}

impl Filters {
    /// Returns `true` if no filter is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Translates the filters to expressions. An invalid site is searched for as well and finds nothing.
    pub(crate) fn expressions(&self, today: i64) -> Vec<Expression> {
        let label =
            |label, value: &Option<String>| Some(Expression::Label(label, normalise(value.as_ref()?)));
        let site = |site: &String| parse::parse_site(site).unwrap_or_else(|| site.clone());
        [
            self.site.as_ref().map(site).map(Expression::Site),
            label(PageLabel::Lang, &self.lang),
            label(PageLabel::Format, &self.format),
            label(PageLabel::Category, &self.category),
            self.time.map(|age| Expression::After(today - age.days())),
            self.within_expression(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Filters {
    /// Returns the condition that a page belongs to one of the permitted sites.
    fn within_expression(&self) -> Option<Expression> {
        let mut sites = self.within.iter().map(|site| Expression::Site(site.clone()));
        let first = sites.next()?;
        Some(sites.fold(first, Expression::or))
    }
}

/// Formats the filters unambiguously for cache keys. Query texts contain no line feeds.
impl fmt::Display for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = [
            ("site", &self.site),
            ("lang", &self.lang),
            ("type", &self.format),
            ("category", &self.category),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                write!(f, "\n{name}:{value:?}")?;
            }
        }
        if !self.within.is_empty() {
            write!(f, "\nwithin:{:?}", self.within)?;
        }
        self.time.map_or(Ok(()), |age| write!(f, "\ntime:{}", age.name()))
    }
}
