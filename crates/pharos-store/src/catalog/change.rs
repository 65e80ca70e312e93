//! Changes applied to the catalog, and the result of applying them.

use pharos_core::config::LinkScope;
use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};
use serde::{Deserialize, Serialize};

use super::{ListUsage, Validators};
use crate::interpret::refresh::RefreshClass;

/// Rules of a crawl: scope, limits and filters. An operator's decision, recorded in the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlRules {
    pub scope: LinkScope,
    /// Maximum link distance from a seed.
    pub max_depth: u32,
    /// Maximum length of a redirect chain.
    pub max_redirects: u32,
    /// Start of the last batch crawl: pages last visited before it are fetched again when a seed or link leads to
    /// them.
    #[serde(default)]
    pub fresh_since: Option<Timestamp>,
    /// URL patterns, one of which a URL must match; an empty list accepts all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// URL patterns, none of which a URL may match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Substrings, none of which a URL may contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// Sites and domains whose query parameters are sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sorted_sites: Vec<String>,
    /// Media types to store; an empty list stores all readable types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Guide words of a topical crawl (导向词).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guide_words: Vec<String>,
    /// If `true`, the parent directories of discovered pages are tried.
    #[serde(default)]
    pub parent_directories: bool,
    #[serde(default)]
    pub sitemaps: bool,
    /// Pages of a site without new content. Limits the pages that lists add; 0 means no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub site_budget: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// All pages of the seeds' hosts. A rule that a record does not contain has this default, so that older crawls are
/// replayed without it.
impl Default for CrawlRules {
    fn default() -> Self {
        Self {
            scope: LinkScope::Host,
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
            site_budget: 0,
            fresh_since: None,
        }
    }
}

/// A change of the catalog.
#[derive(Clone, Debug, PartialEq)]
pub enum CatalogChange {
    /// New crawl rules, in force from now on.
    Rules(CrawlRules),
    /// A seed: an operator added this page, and its site becomes a seed site.
    Seed {
        url: PageUrl,
        at: Timestamp,
        /// Number of redirects from the URL that the operator entered.
        hops: u32,
        /// First URL of those redirects.
        origin: Option<String>,
        /// The page is due again if its last visit is older than this.
        stale_before: Option<Timestamp>,
    },
    /// A link, redirect or sitemap entry that leads to a page.
    Found(DiscoveredLink),
    /// A visit, successful or not.
    Visited {
        url: PageUrl,
        at: Timestamp,
        outcome: VisitOutcome,
        /// Time of the next visit.
        next_due: Option<Timestamp>,
    },
    /// A data feed reports the page as deleted. A later response restores it.
    Deleted { url: PageUrl, at: Timestamp },
    /// An operator removed a page or site permanently.
    Removed(Removal),
    /// A mirror: all pages of one site are the same as on another, and only the original is fetched.
    Alias {
        /// Home page of the mirror.
        home: PageUrl,
        /// Home page of the original.
        of: PageUrl,
    },
    /// A back-off requested by a server: no page of the site is due before `until`.
    BackOff {
        site: SiteName,
        /// Time of the response with the request.
        at: Timestamp,
        until: Timestamp,
    },
    /// An operator's request to fetch a page, or all known pages of its site, again.
    ///
    /// Pages last visited before `at` are due at `at` at the latest, with their failed attempts reset. For a whole
    /// site, back-offs requested before `at` end. Later events are not undone, so a replayed request has no effect.
    Recrawl {
        /// The page, or any page of the site.
        url: PageUrl,
        whole_site: bool,
        at: Timestamp,
    },
    /// Links rejected by a crawl rule. Unlike all other changes, these are counted every time they are applied.
    Filtered {
        /// Display name of the rule.
        rule: String,
        links: u64,
    },
    /// A sitemap or feed was read: usage of the list limits of its site, including this list.
    Listed { site: SiteName, usage: ListUsage },
    /// A visitor submitted a page, which waits for an operator's decision.
    Submitted { url: PageUrl, at: Timestamp },
    /// An operator's decision on a submitted page.
    Decided { url: PageUrl, at: Timestamp, accepted: bool },
    /// A robots.txt was fetched, or could not be fetched.
    Robots(RobotsFile),
}

impl CatalogChange {
    /// Returns the page that the change affects, if it affects exactly one.
    pub(super) fn page(&self) -> Option<&PageUrl> {
        match self {
            CatalogChange::Seed { url, .. }
            | CatalogChange::Found(DiscoveredLink { url, .. })
            | CatalogChange::Visited { url, .. }
            | CatalogChange::Deleted { url, .. }
            | CatalogChange::Recrawl { url, whole_site: false, .. }
            | CatalogChange::Removed(Removal::Page(url)) => Some(url),
            CatalogChange::Rules(_)
            | CatalogChange::Robots(_)
            | CatalogChange::Removed(Removal::Site(_))
            | CatalogChange::Alias { .. }
            | CatalogChange::BackOff { .. }
            | CatalogChange::Recrawl { whole_site: true, .. }
            | CatalogChange::Filtered { .. }
            | CatalogChange::Listed { .. }
            | CatalogChange::Submitted { .. }
            | CatalogChange::Decided { .. } => None,
        }
    }

    /// Returns the library position of the response that the change delivers, if any.
    pub(super) fn response_position(&self) -> Option<LibraryPosition> {
        match self {
            CatalogChange::Visited { outcome: VisitOutcome::Responded(response), .. } => {
                Some(response.position)
            }
            _ => None,
        }
    }
}

/// A permanent removal by an operator. The entry is deleted and never restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    Page(PageUrl),
    /// All pages of a site, present and future.
    Site(SiteName),
}

/// A link, redirect or sitemap entry that leads to a page.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredLink {
    pub url: PageUrl,
    /// Link distance from a seed.
    pub depth: u32,
    /// Number of consecutive redirects, or of nested sitemap indexes, that led here.
    pub hops: u32,
    /// First URL of those redirects.
    pub origin: Option<String>,
    /// Anchor text of the link.
    pub anchor: String,
    pub at: Timestamp,
    /// Expected weight of the page, 1 to 1000; 0 if it was not computed.
    pub weight: u32,
    /// The response that contains the link; it counts how many of its links lead to new pages.
    pub from: Option<(PageId, LibraryPosition)>,
    /// If `true`, this link is counted and raises the weight of its target. An overlapping replay may count a link
    /// twice.
    pub counted: bool,
    /// The page is due again if its last visit is older than this.
    pub stale_before: Option<Timestamp>,
    /// Time at which the page changed, as a sitemap, feed or notice says. The page is visited sooner if that is after its last
    /// visit and the signals of its site can be trusted.
    pub modified: Option<Timestamp>,
    /// The page is probably new, so that inserting it without a lookup is worthwhile. It may be known all the same.
    pub likely_new: bool,
}

impl DiscoveredLink {
    /// Creates a link with only the required fields.
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
            modified: None,
            likely_new: false,
        }
    }
}

/// Metadata of a server's response that the catalog stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseSummary {
    pub status: u16,
    /// `true` if the crawler received the response, and `false` if it was imported. Responses of the crawler arrive in
    /// the order of their times, unless its clock was wrong.
    pub is_live: bool,
    /// `true` if the page is what it was before: an error that may be temporary.
    pub inconclusive: bool,
    /// Position of the response in the library.
    pub position: LibraryPosition,
    /// Hash of the body.
    pub digest: u64,
    /// Hash of the cleaned text, used to detect changes; 0 if there is none. The lowest bit identifies the
    /// extraction method. Hashes with different lowest bits are not comparable.
    pub text: u64,
    /// `true` if the page is indexed.
    pub indexable: bool,
    /// Consecutive attempts with a temporary server error; 0 for a definitive response.
    pub attempts: u32,
    /// Weight of the page, 1 to 1000; 0 if it was not computed.
    pub weight: u32,
    /// Number of links that the crawl may follow.
    pub links: u32,
    /// Class of the page, if the refresh policy decides when it is due. The time of the next visit in the change is then
    /// that of the fixed interval of the class.
    pub refresh: Option<RefreshClass>,
    /// Validators for conditional requests.
    pub validators: Validators,
    /// Why the analysis of the page was abandoned, if it was.
    pub quarantine: Option<String>,
}

/// The outcome of a visit.
#[derive(Clone, Debug, PartialEq)]
pub enum VisitOutcome {
    Responded(ResponseSummary),
    /// No response was received.
    Failed {
        reason: String,
        /// Number of this attempt.
        attempt: u32,
    },
    /// A rule forbids fetching the page.
    Refused {
        reason: String,
    },
}

/// The robots.txt of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsFile {
    pub url: PageUrl,
    /// Time of the request.
    pub at: Timestamp,
    pub state: RobotsState,
    /// Reason why it could not be fetched, if so.
    pub reason: Option<String>,
    /// The last file that was fetched, with its time, if the current fetch failed. Filled in by the catalog; changes
    /// need not set it.
    pub before: Option<(Timestamp, Vec<u8>)>,
}

/// Result of fetching robots.txt (RFC 9309 §2.3.1).
#[derive(Clone, Debug, PartialEq)]
pub enum RobotsState {
    /// The file does not exist: all pages may be fetched.
    Missing,
    /// The file could not be fetched: no page may be fetched for now.
    Unreachable,
    /// The content of the file.
    Known(Vec<u8>),
}

/// The result of applying a batch of changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApplyResult {
    /// Sites with newly due pages, without duplicates.
    pub due_sites: Vec<SiteId>,
    /// Responses of the batch that are not the current version of their page after it, because they are older,
    /// deleted or removed. They must not be indexed.
    pub outdated: Vec<(PageId, LibraryPosition)>,
}
