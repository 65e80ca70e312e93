//! What comes out: what is due, what is known of a page, how much there is.

use pharos_core::{LibraryPosition, PageUrl, SiteName, Timestamp};
use serde::Serialize;

/// A page to be fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct DuePage {
    /// The page.
    pub url: PageUrl,
    /// Clicks from a seed.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u32,
    /// The first address of those redirects.
    pub origin: Option<String>,
    /// Tries so far that failed.
    pub attempts: u32,
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
    /// Gone, says a feed.
    Deleted,
    /// Taken out for good by an operator.
    Removed,
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
    /// The first address of those redirects.
    pub origin: Option<String>,
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
    /// Current HTTP status.
    pub status: Option<u16>,
    /// Why it failed or was refused.
    pub reason: Option<String>,
    /// Where its current answer stands.
    pub position: Option<LibraryPosition>,
    /// A hash of that answer's body.
    pub digest: Option<u64>,
    /// Whether that answer is to be found by searching.
    pub indexable: bool,
    /// When it is due.
    pub due: Option<Timestamp>,
}

/// One answer of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Where it stands in the library.
    pub position: LibraryPosition,
    /// When it was given.
    pub at: Timestamp,
    /// HTTP status.
    pub status: u16,
    /// A hash of the body.
    pub digest: u64,
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
    /// Pages that are gone.
    pub deleted: u64,
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
