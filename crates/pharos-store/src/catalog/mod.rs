//! The catalog: what we know about sites and pages, and what is due.

mod sqlite;

use pharos_core::config::Scope;
use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::StoreError;
pub use sqlite::SqliteCatalog;

/// What is known, derived from the library alone. Implementations promise:
///
/// * `apply` is one transaction: all changes and the new position, or nothing;
/// * changes up to a position that is absorbed already change nothing, so that a replay may overlap;
/// * a page is known once, however often it is found;
/// * readers see the state between two `apply` calls, never the middle of one.
pub trait Catalog: Send + Sync {
    /// The library position up to which everything is known.
    fn absorbed(&self) -> Result<LibraryPosition, StoreError>;

    /// Takes in changes, in order. Gives the sites that have new pages due.
    fn apply(&self, changes: &[Change], absorbed: LibraryPosition) -> Result<Vec<SiteId>, StoreError>;

    /// The rules of the crawl in force, if one was ever started.
    fn rules(&self) -> Result<Option<CrawlRules>, StoreError>;

    /// The sites that seeds stand on.
    fn seed_sites(&self) -> Result<Vec<SiteName>, StoreError>;

    /// Sites with at least one page due at `now`.
    fn due_sites(&self, now: Timestamp) -> Result<Vec<SiteId>, StoreError>;

    /// Pages of a site due at `now`: nearest to the seeds first, then in the order they were found.
    fn due_pages(&self, site: SiteId, now: Timestamp, limit: usize) -> Result<Vec<DuePage>, StoreError>;

    /// The next moment after `now` at which something becomes due.
    fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// The last robots.txt of a server, named by its address.
    fn robots(&self, robots_txt: &PageUrl) -> Result<Option<RobotsFile>, StoreError>;

    /// What is known of a page.
    fn page(&self, id: PageId) -> Result<Option<PageStory>, StoreError>;

    /// How much there is.
    fn counts(&self) -> Result<CatalogCounts, StoreError>;

    /// The sites with the most pages.
    fn sites(&self, limit: usize) -> Result<Vec<SiteCounts>, StoreError>;
}

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
    },
    /// A link or redirect led here.
    Found {
        /// The page.
        url: PageUrl,
        /// Clicks from a seed.
        depth: u32,
        /// Redirects in a row that led here.
        hops: u32,
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
    /// A robots.txt was fetched, or could not be.
    Robots(RobotsFile),
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

/// A page to be fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct DuePage {
    /// The page.
    pub url: PageUrl,
    /// Clicks from a seed.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u32,
    /// Tries so far that failed.
    pub attempts: u32,
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

/// Where a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// Known, not yet asked for.
    Waiting,
    /// Answered; the answer is in the library.
    Stored,
    /// No answer.
    Failed,
    /// Not asked for, by a rule.
    Refused,
}

/// What is known of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageStory {
    /// The page.
    pub url: PageUrl,
    /// Where it stands.
    pub state: PageState,
    /// Clicks from a seed.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u32,
    /// The words of the first link that led here.
    pub anchor: String,
    /// When it was first heard of.
    pub found_at: Timestamp,
    /// When it was last visited.
    pub visited_at: Option<Timestamp>,
    /// How often it answered.
    pub visits: u32,
    /// How often in a row it did not answer.
    pub attempts: u32,
    /// Last HTTP status.
    pub status: Option<u16>,
    /// Why it failed or was refused.
    pub reason: Option<String>,
    /// Where its last answer stands.
    pub position: Option<LibraryPosition>,
    /// Whether that answer is to be found by searching.
    pub indexable: bool,
    /// When it is due.
    pub due: Option<Timestamp>,
}

/// How much there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CatalogCounts {
    /// Sites known.
    pub sites: u64,
    /// Pages known.
    pub pages: u64,
    /// Pages not yet asked for.
    pub waiting: u64,
    /// Pages answered.
    pub stored: u64,
    /// Of those, pages to be found by searching.
    pub indexable: u64,
    /// Pages without an answer.
    pub failed: u64,
    /// Pages refused by a rule.
    pub refused: u64,
}

/// A site and how much there is of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteCounts {
    /// The site.
    pub site: SiteName,
    /// Pages known.
    pub pages: u64,
    /// Pages answered.
    pub stored: u64,
}
