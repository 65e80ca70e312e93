//! Results of catalog queries: fetch tasks, page and site reports, counts.

use pharos_core::{LibraryPosition, PageUrl, SiteName, Timestamp};
use serde::Serialize;

use crate::interpret::refresh::RefreshState;
use crate::interpret::status::StatusMeaning;

/// A page to fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct DuePage {
    pub url: PageUrl,
    /// Link distance from a seed.
    pub depth: u32,
    /// Number of consecutive redirects that led here.
    pub hops: u32,
    /// First URL of those redirects.
    pub origin: Option<String>,
    /// Number of failed attempts so far.
    pub attempts: u32,
    /// Expected weight, 1 to 1000; 0 if it was not computed.
    pub weight: u32,
    /// `true` if the page has a stored response.
    pub visited: bool,
    /// `true` if the stored response does not show that the page is missing.
    pub exists: bool,
    /// Time of discovery.
    pub found_at: Timestamp,
    /// Validators for a conditional request.
    pub validators: Validators,
}

/// The order in which due pages are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueOrder {
    /// Nearest to the seeds first, then by time of discovery.
    Nearest,
    /// Farthest from the seeds first, then the most recently discovered.
    Deepest,
    /// Highest weight first, then the nearest.
    Heaviest,
    /// A random sample, selected by this seed.
    Random(u64),
}

/// Validators of a page version (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Validators {
    /// Returns `true` if there is no validator.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// The state of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// Known, not yet fetched.
    Waiting,
    /// A response is stored in the library.
    Stored,
    /// No response was received.
    Failed,
    /// Not fetched because a rule forbids it.
    Refused,
    /// Reported as deleted by a data feed.
    Deleted,
    /// Removed permanently by an operator.
    Removed,
    /// A response is stored, but its analysis was abandoned.
    Quarantined,
}

/// A problem with the last visit to a page. The page may still be searchable in an earlier version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageProblem {
    /// No response was received.
    Failed,
    /// A rule forbids fetching the page.
    Refused,
    /// The analysis of the response was abandoned.
    Quarantined,
    /// The server has no such page (404, 410).
    NotFound,
    /// The server refuses the request (other 4xx).
    Denied,
    /// The server failed or is overloaded (429, 5xx).
    ServerError,
    /// A seed with neither text to search nor links to follow.
    Empty,
}

impl PageProblem {
    /// All problems.
    pub const ALL: [PageProblem; 7] = [
        PageProblem::Failed,
        PageProblem::Refused,
        PageProblem::Quarantined,
        PageProblem::NotFound,
        PageProblem::Denied,
        PageProblem::ServerError,
        PageProblem::Empty,
    ];

    /// Returns the problem that an HTTP status expresses, if any.
    pub fn from_status(status: u16) -> Option<Self> {
        let meaning = StatusMeaning::from_status(status);
        match meaning {
            _ if meaning.is_absent() => Some(Self::NotFound),
            StatusMeaning::Denied => Some(Self::Denied),
            _ if meaning.is_temporary() => Some(Self::ServerError),
            _ => None,
        }
    }
}

/// The catalog entry of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageDetails {
    pub url: PageUrl,
    pub state: PageState,
    /// Link distance from a seed.
    pub depth: u32,
    /// Number of consecutive redirects that led here.
    pub hops: u32,
    /// First URL of those redirects.
    pub origin: Option<String>,
    /// Anchor text of the first link that led here.
    pub anchor: String,
    /// Time of discovery.
    pub found_at: Timestamp,
    /// Time of the last visit.
    pub visited_at: Option<Timestamp>,
    /// Number of responses.
    pub visits: u32,
    /// Consecutive attempts without a response.
    pub attempts: u32,
    /// HTTP status of the current response.
    pub status: Option<u16>,
    /// Problem of the last visit.
    pub problem: Option<PageProblem>,
    /// Reason of that problem.
    pub reason: Option<String>,
    /// Library position of the current response.
    pub position: Option<LibraryPosition>,
    /// Hash of the body of that response.
    pub digest: Option<u64>,
    /// Hash of its cleaned text.
    pub text: Option<u64>,
    /// Number of visits that found a changed text.
    pub changes: u32,
    /// Validators for a conditional request.
    pub validators: Validators,
    /// `true` if the current response is indexed.
    pub indexable: bool,
    /// Weight, 1 to 1000: measured from the content, or expected before the first visit; 0 if it was not computed.
    pub weight: u32,
    /// Number of pages that link to it, if links are counted.
    pub linked_by: u32,
    /// Change rate and rhythm of visits.
    #[serde(skip)]
    pub refresh: RefreshState,
    /// Time at which the page is due.
    pub due: Option<Timestamp>,
}

/// One version of a page: a stored response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageVersion {
    /// Position in the library.
    pub position: LibraryPosition,
    /// Time of the response.
    pub at: Timestamp,
    pub status: u16,
    /// `true` if the page is what it was before this version: an error that may be temporary.
    #[serde(skip)]
    pub inconclusive: bool,
    /// Hash of the body.
    pub digest: u64,
    /// Number of links that the crawl may follow.
    pub links: u32,
    /// Number of those links that led to new pages.
    pub new_links: u32,
}

/// Returns the version that determines what the page is now. `versions` are sorted newest first.
pub fn current_version(versions: &[PageVersion]) -> Option<&PageVersion> {
    versions.iter().find(|version| !version.inconclusive)
}

/// Number of sites and pages in the catalog, by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CatalogCounts {
    pub sites: u64,
    /// Sites with at least one request.
    pub sites_visited: u64,
    /// Sites with refused pages and no stored page.
    pub sites_refused: u64,
    pub pages: u64,
    /// Pages not yet fetched.
    pub waiting: u64,
    /// Pages that are not fetched because the same pages are fetched from another site or with the other scheme.
    pub mirrored: u64,
    /// Pages with a stored response.
    pub stored: u64,
    /// Stored pages that are indexed.
    pub indexable: u64,
    /// Pages without a response.
    pub failed: u64,
    pub refused: u64,
    /// Pages reported as deleted.
    pub deleted: u64,
}

/// Number of stored pages whose current response is not searchable, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnsearchableCounts {
    /// The server has no such page any more.
    pub not_found: u64,
    /// The server refuses access.
    pub denied: u64,
    pub server_errors: u64,
    /// The page redirects to another URL.
    pub moved: u64,
    /// A rule forbids the page since it was fetched.
    pub refused: u64,
    pub quarantined: u64,
    /// The page asks not to be indexed, or has no text.
    pub without_text: u64,
    /// Searchable under the URL of the original site.
    pub mirrored: u64,
}

/// A site with its number of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteCounts {
    pub site: SiteName,
    pub pages: u64,
    /// Pages with a stored response.
    pub stored: u64,
}

/// The state of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteReport {
    pub site: SiteName,
    pub pages: u64,
    /// Pages with a stored response.
    pub stored: u64,
    /// Number of distinct texts among the stored pages.
    pub texts: u64,
    /// Time of the last request to the site.
    pub visited_at: Option<Timestamp>,
    /// No page of the site is due before this time, because its server requested a back-off.
    pub not_before: Option<Timestamp>,
}

/// Usage of the limits of sitemaps and feeds by a site, within one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListUsage {
    /// Hours since 1970.
    pub hour: i64,
    /// Number of lists read.
    pub lists: u64,
    /// Number of their entries that were followed.
    pub entries: u64,
    pub bytes: u64,
}

/// State of a site that limits the entries of its next sitemap or feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListState {
    pub usage: ListUsage,
    /// Number of known pages.
    pub pages: u64,
    /// Number of stored pages.
    pub stored: u64,
}

/// A page submitted by a visitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Submission {
    pub url: PageUrl,
    /// Time of the submission, or of the decision.
    pub at: Timestamp,
    /// The operator's decision, if there is one.
    pub accepted: Option<bool>,
}
