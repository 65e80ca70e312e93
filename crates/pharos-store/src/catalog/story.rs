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
    /// How much it is expected to be worth, 1 to 1000; 0 where nobody asked.
    pub weight: u32,
    /// Whether it answered before.
    pub visited: bool,
    /// Whether it answered before, and not that there is no such page.
    pub there: bool,
    /// When it was first heard of.
    pub found_at: Timestamp,
    /// What to tell the server so that it need not send what we have.
    pub validators: Validators,
}

/// In which order due pages are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueOrder {
    /// Nearest to the seeds first, then in the order they were found.
    Nearest,
    /// Farthest from the seeds first, and of those the one found last.
    Deepest,
    /// The heaviest first, then the nearest.
    Heaviest,
    /// In no order: a sample that this number chooses.
    Random(u64),
}

/// What a server gave to recognise a version of a page by (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Nothing to recognise it by?
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
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
    /// A hash of the text that is left of it when it is cleaned.
    pub text: Option<u64>,
    /// How often the text had changed when it was visited.
    pub changes: u32,
    /// What the server wants to hear when it is asked whether the page has changed.
    pub validators: Validators,
    /// Whether that answer is to be found by searching.
    pub indexable: bool,
    /// How much it is worth, 1 to 1000, by its content or by what is expected of it; 0 where nobody asked.
    pub weight: u32,
    /// Pages that link to it, where they are counted.
    pub linked_by: u32,
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
    /// Links on it that the crawl may follow.
    pub links: u32,
    /// Of those, links to pages that were not known.
    pub new_links: u32,
}

/// How much there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CatalogCounts {
    /// Sites known.
    pub sites: u64,
    /// Of those, sites that were asked.
    pub sites_visited: u64,
    /// Sites of which rules refused pages, and nothing is stored.
    pub sites_refused: u64,
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

/// What is known of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteStory {
    /// The site.
    pub site: SiteName,
    /// Pages known.
    pub pages: u64,
    /// Pages answered.
    pub stored: u64,
    /// Different texts among them.
    pub texts: u64,
    /// When a page of it was last asked for.
    pub visited_at: Option<Timestamp>,
    /// Nothing of it is due before then: its server asked for patience.
    pub not_before: Option<Timestamp>,
}

/// A page that somebody proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Submission {
    /// The page.
    pub url: PageUrl,
    /// When it was proposed, or decided on.
    pub at: Timestamp,
    /// What the operator said, if anything.
    pub accepted: Option<bool>,
}
