//! The query language of the index.

use pharos_core::{PageId, SiteId};

use crate::document::addresses::SiteFilter;

/// A query whose text is already analysed into terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    All,
    /// A term in any zone: title, URL, anchors, headings, emphasised words or body.
    Word(String),
    /// Forms of a word with their weights. A page that contains any form also contains the first one.
    Forms(Vec<(f32, String)>),
    /// Terms with their relative positions.
    Phrase(Vec<(usize, String)>),
    /// Terms with their relative positions within one part of the page.
    In(PagePart, Vec<(usize, String)>),
    /// Pages of a host and its subdomains. With a path, as in `www.example.org/a/b`, pages of exactly this host (or
    /// the one with `www.`) in that directory.
    ///
    /// At the top level and inside `And`, negated or not, the condition applies to each URL: a page with copies
    /// is shown at a matching URL. Deeper inside it applies to the page with all its URLs.
    Site(String),
    /// The page at this URL.
    Page(PageId),
    /// Pages that link to this page.
    LinksTo(PageId),
    /// Pages that link to any page of this site.
    LinksToSite(SiteId),
    /// Home pages of sites.
    Home,
    /// Pages with this label.
    Label(PageLabel, String),
    /// Pages of these days, both inclusive, see [`day`](crate::document::day).
    Days {
        from: Option<i64>,
        to: Option<i64>,
    },
    And(Vec<Query>),
    Or(Vec<Query>),
    Not(Box<Query>),
}

/// A part of a page that can be searched separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagePart {
    Title,
    Address,
    /// Anchor texts of links to the page.
    Anchor,
    /// The text without the title and headings of the page.
    Body,
}

/// A property of pages that can be filtered and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageLabel {
    Lang,
    /// Page type: `topic`, `hub`, `picture`.
    Type,
    /// File type: `html`, `pdf`.
    Format,
    /// Subject category.
    Category,
}

impl Query {
    /// Returns the site conditions that apply to each URL.
    pub(crate) fn site_filter(&self) -> SiteFilter {
        let mut filter = SiteFilter::default();
        self.add_to_site_filter(&mut filter);
        filter
    }

    fn add_to_site_filter(&self, filter: &mut SiteFilter) {
        match self {
            // For a directory, only the host is known for each URL.
            Query::Site(site) => filter.included.push(host_of(site).to_string()),
            Query::Not(not) => match &**not {
                Query::Site(site) if host_of(site) == site => filter.excluded.push(site.clone()),
                _ => {}
            },
            Query::And(parts) => parts.iter().for_each(|part| part.add_to_site_filter(filter)),
            _ => {}
        }
    }

    /// Returns `true` if the query only selects pages and contributes no score.
    pub(crate) fn is_filter(&self) -> bool {
        use Query::*;
        matches!(
            self,
            Page(_) | LinksTo(_) | LinksToSite(_) | Home | Site(_) | Label(..) | Days { .. } | Not(_)
        )
    }
}

/// Returns the host of a site that may include a path.
fn host_of(site: &str) -> &str {
    site.split_once('/').map_or(site, |(host, _)| host)
}
