//! What is chosen beside the words: one site, one language, one kind of file, one subject, the last days.
//!
//! Filters are what facets count. They are kept apart from the text, so that the box shows what was typed and the log tells
//! what was chosen.

use std::fmt;

use pharos_index::Label;
use pharos_text::normalise;

use crate::expression::Expression;
use crate::parse;

/// Results have all of this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// A site, or a folder of one.
    pub site: Option<String>,
    /// A language: `en`, `zh`.
    pub lang: Option<String>,
    /// A kind of file: `html`, `pdf`.
    pub format: Option<String>,
    /// A subject class.
    pub category: Option<String>,
    /// How old at most.
    pub time: Option<Age>,
}

/// How old a page may be, by its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Age {
    /// A day.
    Day,
    /// Seven days.
    Week,
    /// 31 days.
    Month,
    /// 366 days.
    Year,
}

impl Age {
    /// All of them, the youngest first.
    pub const ALL: [Age; 4] = [Age::Day, Age::Week, Age::Month, Age::Year];

    /// As in addresses and facets.
    pub const fn name(self) -> &'static str {
        match self {
            Age::Day => "day",
            Age::Week => "week",
            Age::Month => "month",
            Age::Year => "year",
        }
    }

    /// By name.
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
    /// Is nothing chosen?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What that asks beside the words. What is no site is looked for all the same, and not found.
    pub(crate) fn expressions(&self, today: i64) -> Vec<Expression> {
        let label =
            |label, value: &Option<String>| Some(Expression::Label(label, normalise(value.as_ref()?)));
        let site = |site: &String| parse::site(site).unwrap_or_else(|| site.clone());
        [
            self.site.as_ref().map(site).map(Expression::Site),
            label(Label::Lang, &self.lang),
            label(Label::Format, &self.format),
            label(Label::Category, &self.category),
            self.time.map(|age| Expression::After(today - age.days())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Tells filters apart, whatever is in them; no text of a query has a line feed.
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
        self.time.map_or(Ok(()), |age| write!(f, "\ntime:{}", age.name()))
    }
}
