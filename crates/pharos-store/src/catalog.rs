//! The catalog (目录库): state and schedule of all known URLs and sites.
//!
//! Callers apply batches of [`CatalogChange`]s and query [`PageDetails`]s, [`DuePage`]s and counts. The effect of a
//! change on one page is implemented as pure code in `page_entry`; `sqlite` stores the result.

mod change;
mod listing;
mod page_entry;
mod refresh_intervals;
mod refresh_sample;
mod report;
mod sqlite;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::{LibraryPosition, LibraryPositions, PageId, PageUrl, SiteId, SiteName, Timestamp};

use crate::StoreError;
use crate::interpret::refresh::{PageInterest, RefreshPlan, SiteSignals};
pub use change::{
    ApplyResult, CatalogChange, CrawlRules, DiscoveredLink, Removal, ResponseSummary, RobotsFile,
    RobotsState, VisitOutcome,
};
pub use listing::{PageFailure, PageFailureQuery, SiteList, SiteOrder, SiteQuery, SiteRow, SiteState};
pub use refresh_intervals::RefreshIntervals;
pub use refresh_sample::{DeadLinks, INTERVAL_CLASSES, RefreshSample};
pub use report::{
    CatalogCounts, DueOrder, DuePage, ListState, ListUsage, PageDetails, PageProblem, PageState, PageVersion,
    SiteCounts, SiteReport, Submission, UnsearchableCounts, Validators, current_version,
};
pub use sqlite::SqliteCatalog;
pub use sqlite::replacement::remove_database;

/// Maximum number of failed pages that a search over failure reasons scans, so that pages of the operator's desk
/// load quickly.
pub const MAX_FAILURES_SCANNED: usize = 20_000;

/// Maximum error of the crawler's clock. Visits that are dated later than this after the present time, or after a later
/// visit of the crawler, have a wrong date.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(86_400);

/// State and schedule of URLs and sites, derived from the library alone.
///
/// Implementations guarantee:
///
/// * `apply` is one transaction: it stores all changes and the new positions, or nothing.
/// * A replay may overlap. Changes up to a position that has been applied change nothing. Changes applied again
///   together with newer ones have the effect of the newer ones alone.
/// * The division of a list of changes into batches has no effect on the result.
/// * A page has one entry, however often it is discovered.
/// * The current version of a page is its response with the greatest (time, position) in the order of
///   [`LibraryPosition::sort_key`], in whatever order responses arrive: imports deliver old captures after newer ones.
/// * A version of the crawler is newer than versions before it that are dated more than [`CLOCK_TOLERANCE`] later: its
///   clock was wrong. Their dates are set to that of the newer version.
/// * Removed pages and sites stay removed, whatever changes precede or follow.
/// * Readers see the state between two `apply` calls, never a partial batch.
pub trait Catalog: Send + Sync {
    /// Returns the library positions up to which all records have been applied.
    fn applied_positions(&self) -> Result<LibraryPositions, StoreError>;

    /// Applies changes in order and advances the applied positions to `reached`, the ends of the records that the
    /// changes come from. A batch that was applied before changes nothing, but its outdated responses are returned
    /// again.
    fn apply(&self, changes: &[CatalogChange], reached: &LibraryPositions)
    -> Result<ApplyResult, StoreError>;

    /// Applies refresh intervals to the pages that were scheduled with other ones, and remembers them. Returns the number
    /// of pages whose next visit changed. Pages whose interval was 0 have no next visit and stay so.
    fn set_refresh_intervals(&self, intervals: &RefreshIntervals) -> Result<u64, StoreError>;

    /// Returns the plan by which visits are scheduled. Without one, pages are due at the fixed intervals of their changes.
    fn refresh_plan(&self) -> Result<Option<RefreshPlan>, StoreError>;

    /// Stores a plan for all visits from now on. Pages scheduled already follow with
    /// [`apply_refresh_plan`](Self::apply_refresh_plan).
    fn set_refresh_plan(&self, plan: &RefreshPlan) -> Result<(), StoreError>;

    /// Applies the plan to the next `limit` pages scheduled already, and adds them to the sample. Returns `true` after the
    /// last page; the next call then starts with the first. The catalog remembers the position. A page that is due at `now`
    /// stays due. `interest` returns the interest of users and operators in a page, or `None` to keep what is stored.
    fn apply_refresh_plan(
        &self,
        now: Timestamp,
        limit: usize,
        interest: &dyn Fn(&PageUrl) -> Option<PageInterest>,
        sample: &mut RefreshSample,
    ) -> Result<bool, StoreError>;

    /// Returns how far the signals of sites can be trusted, for the sites with the most signals.
    fn site_signals(&self, limit: usize) -> Result<Vec<(SiteName, SiteSignals)>, StoreError>;

    /// Returns figures about the refresh of the stored pages of a site, or of all sites, reading all these pages once.
    fn refresh_sample(&self, now: Timestamp, site: Option<SiteId>) -> Result<RefreshSample, StoreError>;

    /// Returns the number of visited pages that no longer exist, by site, for the sites with the most such pages.
    fn dead_links(&self, limit: usize) -> Result<Vec<DeadLinks>, StoreError>;

    /// Returns the rules of the current crawl, or `None` if no crawl was ever started.
    fn rules(&self) -> Result<Option<CrawlRules>, StoreError>;

    /// Returns the sites of the seeds.
    fn seed_sites(&self) -> Result<Vec<SiteName>, StoreError>;

    /// Returns the sites with at least one page due at `now`. A page that was never fetched is due at any time. No
    /// page of a site is due while its server requests a back-off. A page whose last visit is in the future is due,
    /// because the clock was wrong.
    fn due_sites(&self, now: Timestamp) -> Result<Vec<SiteId>, StoreError>;

    /// Returns up to `limit` pages of a site due at `now`, in the given order.
    fn due_pages(
        &self,
        site: SiteId,
        now: Timestamp,
        order: DueOrder,
        limit: usize,
    ) -> Result<Vec<DuePage>, StoreError>;

    /// Returns a page as a fetch task, whether or not it is due, or `None` if it is unknown or removed.
    fn due_page(&self, page: PageId) -> Result<Option<DuePage>, StoreError>;

    /// Returns the next time after `now` at which a page becomes due.
    fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the sites with the oldest last visit, and that visit. Sites that were never visited come first.
    fn least_recently_visited(&self, limit: usize) -> Result<Vec<(SiteName, Option<Timestamp>)>, StoreError>;

    /// Returns the time of the last visit to any site.
    fn last_visit(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the last robots.txt of a server, given the URL of the file.
    fn robots(&self, robots_txt: &PageUrl) -> Result<Option<RobotsFile>, StoreError>;

    /// Returns the state of a site.
    fn site(&self, site: SiteId) -> Result<Option<SiteReport>, StoreError>;

    /// Returns what limits the next sitemap or feed of a site. For the writer only: a catalog of an earlier release has
    /// no such data until it is opened for writing.
    fn list_state(&self, site: SiteId) -> Result<ListState, StoreError>;

    /// Returns the number of responses of a site since `since`.
    fn responses_since(&self, site: SiteId, since: Timestamp) -> Result<u64, StoreError>;

    /// Returns the home page of each mirror with the home page of its original.
    fn aliases(&self) -> Result<Vec<(PageUrl, PageUrl)>, StoreError>;

    /// Returns the pages whose current response has this text hash, with the positions of the responses.
    fn pages_with_text(&self, text: u64, limit: usize)
    -> Result<Vec<(PageUrl, LibraryPosition)>, StoreError>;

    /// Returns the number of links that each crawl rule rejected.
    fn filtered(&self) -> Result<Vec<(String, u64)>, StoreError>;

    /// Returns the submitted pages, oldest first.
    fn submissions(&self) -> Result<Vec<Submission>, StoreError>;

    /// Returns the state of a page.
    fn page(&self, id: PageId) -> Result<Option<PageDetails>, StoreError>;

    /// Returns the state of up to `limit` pages after the page `after`, of one site or of all.
    ///
    /// The order is chosen by the implementation, is stable, and keeps the pages of a site together. To visit every
    /// page once, start without `after`, continue with the last page returned and stop at an empty result.
    fn pages(
        &self,
        site: Option<SiteId>,
        after: Option<PageId>,
        limit: usize,
    ) -> Result<Vec<PageDetails>, StoreError>;

    /// Returns all versions of a page, newest first.
    fn versions(&self, page: PageId) -> Result<Vec<PageVersion>, StoreError>;

    /// Returns the pages and sites that operators removed permanently. Pages of a removed site are not listed
    /// individually.
    fn removed(&self) -> Result<Vec<Removal>, StoreError>;

    /// Returns `true` if an operator removed this page or its site permanently.
    fn is_removed(&self, url: &PageUrl) -> Result<bool, StoreError>;

    /// Returns the number of sites and pages by state. Removed pages and sites are not counted.
    fn counts(&self) -> Result<CatalogCounts, StoreError>;

    /// Returns the number of stored pages that are not searchable, by reason.
    fn unsearchable(&self) -> Result<UnsearchableCounts, StoreError>;

    /// Returns the sites with the most pages.
    fn sites(&self, limit: usize) -> Result<Vec<SiteCounts>, StoreError>;

    /// Returns a page of the operator's site table and the number of matching sites. All sites are scanned.
    fn list_sites(&self, query: &SiteQuery) -> Result<SiteList, StoreError>;

    /// Returns one row of the operator's site table, or `None` if the site is unknown.
    fn site_row(&self, site: SiteId) -> Result<Option<SiteRow>, StoreError>;

    /// Returns pages with a problem at their last visit, most recent first. Failures with equal times have a stable
    /// order chosen by the implementation.
    ///
    /// Reasons and seeds are not indexed. A query for a part of a reason, or for seeds alone, scans only the newest
    /// [`MAX_FAILURES_SCANNED`] failures that match otherwise; older matches may exist.
    fn failures(&self, query: &PageFailureQuery) -> Result<Vec<PageFailure>, StoreError>;

    /// Returns the reasons of the newest failures with their counts, most frequent first. At most `of` failures are
    /// counted, and at most [`MAX_FAILURES_SCANNED`]. Numbers and addresses in a reason are masked, so that similar
    /// reasons are counted together.
    fn failure_reasons(&self, of: usize) -> Result<Vec<(String, u64)>, StoreError>;

    /// Checks the catalog for damage and inconsistencies, reading all of it once. Returns one line per problem, or
    /// nothing if there is none.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the operations on the local file, or `None` if the catalog is stored elsewhere.
    fn local(&self) -> Option<&dyn LocalCatalog> {
        None
    }
}

/// A catalog in a file of the local disk.
pub trait LocalCatalog: Catalog {
    /// Writes a consistent copy to a new file while other processes may write.
    fn backup(&self, to: &Path) -> Result<(), StoreError>;
}

/// An empty catalog that replaces the current one when it is complete. Dropped without `install`, it changes nothing.
pub trait CatalogReplacement {
    /// Returns the new catalog, open for writing.
    fn catalog(&self) -> Arc<dyn Catalog>;

    /// Replaces the current catalog. All other references to the new one must have been dropped. With `keep_damaged`
    /// the old catalog is set aside for inspection.
    fn install(self: Box<Self>, keep_damaged: bool) -> Result<(), StoreError>;
}
