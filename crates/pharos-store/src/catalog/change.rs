//! What goes in: changes, and what applying them gave.

use pharos_core::config::Scope;
use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use serde::{Deserialize, Serialize};

use super::Validators;

/// What a crawl may follow; an operator's decision, recorded in the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlRules {
    /// How far from the seeds.
    pub scope: Scope,
    /// How many clicks away.
    pub max_depth: u32,
    /// How many redirects in a row.
    pub max_redirects: u32,
    /// The collection was begun anew then: pages last visited before are fetched again when something leads to them.
    #[serde(default)]
    pub fresh_since: Option<Timestamp>,
    /// Patterns of which an address must fit one, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Patterns of which an address must fit none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Substrings of which an address must contain none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// Sites and domains whose query parameters are sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sorted_sites: Vec<String>,
    /// Media types that are stored; none means all that can be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Words that lead the crawl (导向词).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guide_words: Vec<String>,
    /// Whether a page suggests the directories above it.
    #[serde(default)]
    pub parent_directories: bool,
    /// Whether sitemaps are read.
    #[serde(default)]
    pub sitemaps: bool,
}

/// Every page of the seeds' hosts. What a record does not name is as here, so that a crawl from before a rule
/// existed is replayed without it.
impl Default for CrawlRules {
    fn default() -> Self {
        Self {
            scope: Scope::Host,
            max_depth: 17,
            max_redirects: 5,
            include: Vec::new(),
            exclude: Vec::new(),
            filter: Vec::new(),
            sorted_sites: Vec::new(),
            types: Vec::new(),
            guide_words: Vec::new(),
            parent_directories: false,
            sitemaps: false,
            fresh_since: None,
        }
    }
}

/// Something to be known.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These rules hold from now on.
    Rules(CrawlRules),
    /// An operator named this page; its site is a seed site.
    Seed {
        /// The page.
        url: PageUrl,
        /// When.
        at: Timestamp,
        /// Redirects that led here from what the operator named.
        hops: u32,
        /// The first address of the redirects that led here.
        origin: Option<String>,
        /// A page last visited before this moment is due again.
        stale_before: Option<Timestamp>,
    },
    /// A link, a redirect or a sitemap led here.
    Found(Found),
    /// A page was visited, or we tried.
    Visited {
        /// The page.
        url: PageUrl,
        /// When.
        at: Timestamp,
        /// What came of it.
        outcome: Outcome,
        /// When to visit again.
        next_due: Option<Timestamp>,
    },
    /// A feed said that the page is gone. An answer given later brings it back.
    Deleted {
        /// The page.
        url: PageUrl,
        /// When.
        at: Timestamp,
    },
    /// An operator took this out for good.
    Removed(Removal),
    /// All pages under one address are the same as under another, and are fetched under that one only.
    Alias {
        /// The home page of the copy.
        home: PageUrl,
        /// The home page of the original.
        of: PageUrl,
    },
    /// A server asked for patience: none of the site's pages is due before then.
    BackOff {
        /// The site.
        site: SiteName,
        /// When it asked.
        at: Timestamp,
        /// Until when.
        until: Timestamp,
    },
    /// An operator wants a page, or all known pages of its site, fetched again: what was last visited before `at` is
    /// due then at the latest, as if it had never failed. Patience that the server asked for before then is over for a
    /// whole site. What happened later is not undone, so an old wish that is told again changes nothing.
    Recrawl {
        /// The page, or any of the site.
        url: PageUrl,
        /// Whether all known pages of its site are meant.
        whole_site: bool,
        /// When.
        at: Timestamp,
    },
    /// Links that a rule of the crawl refused. Unlike all other changes these are counted as often as they come.
    Filtered {
        /// The rule, for people.
        rule: String,
        /// How many links.
        links: u64,
    },
    /// Somebody proposed a page. It waits for an operator.
    Submitted {
        /// The page.
        url: PageUrl,
        /// When.
        at: Timestamp,
    },
    /// An operator decided on a proposed page.
    Decided {
        /// The page.
        url: PageUrl,
        /// When.
        at: Timestamp,
        /// Accepted or refused.
        accepted: bool,
    },
    /// A robots.txt was fetched, or could not be.
    Robots(RobotsFile),
}

impl Change {
    /// The page that this concerns, if it concerns one.
    pub(super) fn page(&self) -> Option<&PageUrl> {
        match self {
            Change::Seed { url, .. }
            | Change::Found(Found { url, .. })
            | Change::Visited { url, .. }
            | Change::Deleted { url, .. }
            | Change::Recrawl { url, whole_site: false, .. }
            | Change::Removed(Removal::Page(url)) => Some(url),
            Change::Rules(_)
            | Change::Robots(_)
            | Change::Removed(Removal::Site(_))
            | Change::Alias { .. }
            | Change::BackOff { .. }
            | Change::Recrawl { whole_site: true, .. }
            | Change::Filtered { .. }
            | Change::Submitted { .. }
            | Change::Decided { .. } => None,
        }
    }

    /// Where the answer stands that this brings, if it brings one.
    pub(super) fn answer(&self) -> Option<LibraryPosition> {
        match self {
            Change::Visited { outcome: Outcome::Answered(answer), .. } => Some(answer.position),
            _ => None,
        }
    }
}

/// What an operator took out for good: it is forgotten, and nothing brings it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    /// One page.
    Page(PageUrl),
    /// All pages of a site, known and to come.
    Site(SiteName),
}

/// A way to a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The page.
    pub url: PageUrl,
    /// Clicks from a seed.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u32,
    /// The first address of those redirects.
    pub origin: Option<String>,
    /// The words of the link.
    pub anchor: String,
    /// When.
    pub at: Timestamp,
    /// How much the page is expected to be worth, 1 to 1000; 0 where nobody asked.
    pub weight: u32,
    /// The answer that the link stands in: it counts how many of its links were new.
    pub from: Option<(PageId, LibraryPosition)>,
    /// Whether pages that link here are counted and add to its weight. The count may take a link twice when a replay
    /// overlaps.
    pub counted: bool,
    /// A page last visited before this moment is due again.
    pub stale_before: Option<Timestamp>,
    /// Nobody remembers having heard of it: it is worth adding without a look first. It may be known all the same.
    pub surely_new: bool,
}

impl Found {
    /// A link of which nothing more is known.
    pub fn new(url: PageUrl, depth: u32, at: Timestamp) -> Self {
        Self {
            url,
            depth,
            hops: 0,
            origin: None,
            anchor: String::new(),
            at,
            weight: 0,
            from: None,
            counted: false,
            stale_before: None,
            surely_new: false,
        }
    }
}

/// A server's answer, as far as the catalog keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// HTTP status.
    pub status: u16,
    /// Where the answer stands in the library.
    pub position: LibraryPosition,
    /// A hash of the body.
    pub digest: u64,
    /// A hash of the text that is left when the page is cleaned; 0 where there is none. It tells whether the page
    /// changed. The lowest bit says how it was read: hashes with different ones are of different things.
    pub text: u64,
    /// Whether the page is to be found by searching.
    pub indexable: bool,
    /// Tries in a row so far that the server could not serve: 0 for an answer that settles the matter.
    pub attempts: u32,
    /// How much the page is worth, 1 to 1000; 0 where nobody asked.
    pub weight: u32,
    /// Links on it that the crawl may follow.
    pub links: u32,
    /// What the server wants to hear when it is asked whether the page has changed.
    pub validators: Validators,
}

/// What came of a visit.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The server answered.
    Answered(Answered),
    /// No answer came.
    Failed {
        /// Why.
        reason: String,
        /// Which try this was.
        attempt: u32,
    },
    /// A rule forbade asking.
    Refused {
        /// Which.
        reason: String,
    },
}

/// A server's robots.txt.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsFile {
    /// Its address.
    pub url: PageUrl,
    /// When it was asked for.
    pub at: Timestamp,
    /// What came.
    pub state: RobotsState,
    /// Why it could not be had, where it could not.
    pub reason: Option<String>,
    /// The last file that was had, and when, where it cannot be had now. The catalog knows; a change need not tell.
    pub before: Option<(Timestamp, Vec<u8>)>,
}

/// What asking for robots.txt gave (RFC 9309 §2.3.1).
#[derive(Clone, Debug, PartialEq)]
pub enum RobotsState {
    /// There is none: everything may be fetched.
    Missing,
    /// It could not be had: nothing may be fetched for now.
    Unreachable,
    /// Here it is.
    Known(Vec<u8>),
}

/// What a batch of changes did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Sites that have new pages due, each once.
    pub woken: Vec<SiteId>,
    /// Answers of the batch that, after it, are not the current version of their page: older than what was known,
    /// deleted or removed. They are not to be indexed.
    pub outdated: Vec<(PageId, LibraryPosition)>,
}
