//! What can be asked of an index.

use crate::address::SiteRules;

/// A question, already analysed into terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Every page.
    All,
    /// A term anywhere on the page: title, address, anchors, headings, emphasised words or body.
    Word(String),
    /// The forms of a word, each with its weight. A page that has any of them has the first.
    Forms(Vec<(f32, String)>),
    /// Terms at these distances from each other.
    Phrase(Vec<(usize, String)>),
    /// Terms at these distances from each other in one part of the page.
    In(Part, Vec<(usize, String)>),
    /// Pages of a host and of the hosts below it. Alone and in `And`, wanted or not, this is asked of each address: a
    /// page with copies is shown at one that fits. Deeper inside it is asked of the page with all its addresses.
    Site(String),
    /// Pages with this label.
    Label(Label, String),
    /// Pages of these days, the last one included, as [`day`](crate::day) counts them.
    Days {
        /// The first day.
        from: Option<i64>,
        /// The last day.
        to: Option<i64>,
    },
    /// All of these.
    And(Vec<Query>),
    /// One of these.
    Or(Vec<Query>),
    /// Not this.
    Not(Box<Query>),
}

/// A part of a page that can be asked for alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The title.
    Title,
    /// The address.
    Address,
}

/// What pages are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// The language.
    Lang,
    /// The kind of page: `topic`, `hub`, `picture`.
    Type,
    /// The subject class.
    Category,
}

impl Query {
    /// What it asks of an address.
    pub(crate) fn site_rules(&self) -> SiteRules {
        let mut rules = SiteRules::default();
        self.add_site_rules(&mut rules);
        rules
    }

    fn add_site_rules(&self, rules: &mut SiteRules) {
        match self {
            Query::Site(host) => rules.wanted.push(host.clone()),
            Query::Not(not) => {
                if let Query::Site(host) = &**not {
                    rules.unwanted.push(host.clone());
                }
            }
            Query::And(parts) => parts.iter().for_each(|part| part.add_site_rules(rules)),
            _ => {}
        }
    }

    /// Does it say only which pages may be found, and nothing of how well they fit?
    pub(crate) fn is_filter(&self) -> bool {
        matches!(self, Query::Site(_) | Query::Label(..) | Query::Days { .. } | Query::Not(_))
    }
}
