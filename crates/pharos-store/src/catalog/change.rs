//! What goes in: changes, and what applying them gave.

use pharos_core::config::Scope;
use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use serde::{Deserialize, Serialize};

/// What a crawl may follow; an operator's decision, recorded in the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlRules {
    /// How far from the seeds.
    pub scope: Scope,
    /// How many clicks away.
    pub max_depth: u32,
    /// How many redirects in a row.
    pub max_redirects: u32,
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
    },
    /// A link or redirect led here.
    Found {
        /// The page.
        url: PageUrl,
        /// Clicks from a seed.
        depth: u32,
        /// Redirects in a row that led here.
        hops: u32,
        /// The first address of those redirects.
        origin: Option<String>,
        /// The words of the link.
        anchor: String,
        /// When.
        at: Timestamp,
    },
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
    /// A robots.txt was fetched, or could not be.
    Robots(RobotsFile),
}

impl Change {
    /// The page that this concerns, if it concerns one.
    pub(super) fn page(&self) -> Option<&PageUrl> {
        match self {
            Change::Seed { url, .. }
            | Change::Found { url, .. }
            | Change::Visited { url, .. }
            | Change::Deleted { url, .. }
            | Change::Removed(Removal::Page(url)) => Some(url),
            Change::Rules(_) | Change::Robots(_) | Change::Removed(Removal::Site(_)) => None,
        }
    }

    /// Where the answer stands that this brings, if it brings one.
    pub(super) fn answer(&self) -> Option<LibraryPosition> {
        match self {
            Change::Visited { outcome: Outcome::Answered { position, .. }, .. } => Some(*position),
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

/// What came of a visit.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The server answered.
    Answered {
        /// HTTP status.
        status: u16,
        /// Where the answer stands in the library.
        position: LibraryPosition,
        /// A hash of the body.
        digest: u64,
        /// Whether the page is to be found by searching.
        indexable: bool,
        /// Tries in a row so far that the server could not serve: 0 for an answer that settles the matter.
        attempts: u32,
    },
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
