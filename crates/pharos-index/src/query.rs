//! What can be asked of an index.

use pharos_core::{PageId, SiteId};

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
    /// Pages of a host and of the hosts below it; with a path behind the host, `www.example.org/a/b`, pages of this
    /// very host (or the one with `www.` before it) in that folder. Alone and in `And`, wanted or not, this is asked of each address: a
    /// page with copies is shown at one that fits. Deeper inside it is asked of the page with all its addresses.
    Site(String),
    /// The page at this address.
    Page(PageId),
    /// Pages that link to this one.
    LinksTo(PageId),
    /// Pages that link to a page of this site.
    LinksToSite(SiteId),
    /// Home pages of sites.
    Home,
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
    /// What other pages call it.
    Anchor,
    /// The text, without title and headings of the page as a whole.
    Body,
}

/// What pages are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// The language.
    Lang,
    /// The kind of page: `topic`, `hub`, `picture`.
    Type,
    /// The kind of file: `html`, `pdf`.
    Format,
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
            // Of a folder only the host is known for each address.
            Query::Site(site) => rules.wanted.push(host_of(site).to_string()),
            Query::Not(not) => match &**not {
                Query::Site(site) if host_of(site) == site => rules.unwanted.push(site.clone()),
                _ => {}
            },
            Query::And(parts) => parts.iter().for_each(|part| part.add_site_rules(rules)),
            _ => {}
        }
    }

    /// Does it say only which pages may be found, and nothing of how well they fit?
    pub(crate) fn is_filter(&self) -> bool {
        use Query::*;
        matches!(
            self,
            Page(_) | LinksTo(_) | LinksToSite(_) | Home | Site(_) | Label(..) | Days { .. } | Not(_)
        )
    }
}

/// The host of a site that may have a path behind it.
fn host_of(site: &str) -> &str {
    site.split_once('/').map_or(site, |(host, _)| host)
}
