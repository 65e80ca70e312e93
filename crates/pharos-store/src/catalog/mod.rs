//! The catalog: what we know about sites and pages, and what is due.
//!
//! [`Change`]s go in, in batches; [`PageStory`], [`DuePage`] and counts come out. What a change means for one page
//! is the pure code of [`page`]; [`sqlite`] keeps it.

mod change;
mod listing;
mod page;
mod sqlite;
mod story;

use std::path::Path;

use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, SiteName, Timestamp};

use crate::StoreError;
pub use change::{Answered, Applied, Change, CrawlRules, Found, Outcome, Removal, RobotsFile, RobotsState};
pub use listing::{SiteList, SiteOrder, SiteQuery, SiteRow, SiteState, Trouble, TroubleQuery};
pub use sqlite::SqliteCatalog;
pub use story::{
    CatalogCounts, DueOrder, DuePage, PageState, PageStory, SiteCounts, SiteStory, Submission, Validators,
    Version,
};

/// A page of an operator's desk has to come at once: so many troubles are looked at for it, and no more.
pub const TROUBLES_LOOKED_AT: usize = 20_000;

/// What is known, derived from the library alone. Implementations promise:
///
/// * `apply` is one transaction: all changes and the new position, or nothing;
/// * changes up to a position that is absorbed already change nothing, and changes applied again together with
///   newer ones give what the newer ones alone would have given, so that a replay may overlap;
/// * how a list of changes is cut into batches makes no difference;
/// * a page is known once, however often it is found;
/// * the current version of a page is its answer with the greatest (time, position), whenever it arrives: imports
///   bring old captures after newer ones;
/// * what was removed stays removed, whatever comes before or after;
/// * readers see the state between two `apply` calls, never the middle of one.
pub trait Catalog: Send + Sync {
    /// The library position up to which everything is known.
    fn absorbed(&self) -> Result<LibraryPosition, StoreError>;

    /// Takes in changes, in order. A batch that is absorbed already changes nothing, but its outdated answers are
    /// told again.
    fn apply(&self, changes: &[Change], absorbed: LibraryPosition) -> Result<Applied, StoreError>;

    /// The rules of the crawl in force, if one was ever started.
    fn rules(&self) -> Result<Option<CrawlRules>, StoreError>;

    /// The sites that seeds stand on.
    fn seed_sites(&self) -> Result<Vec<SiteName>, StoreError>;

    /// Sites with at least one page due at `now`. A page that was never asked for is due at any time, but nothing is
    /// where the server asked for patience.
    fn due_sites(&self, now: Timestamp) -> Result<Vec<SiteId>, StoreError>;

    /// Pages of a site due at `now`, in that order.
    fn due_pages(
        &self,
        site: SiteId,
        now: Timestamp,
        order: DueOrder,
        limit: usize,
    ) -> Result<Vec<DuePage>, StoreError>;

    /// A page as it would be given out now, whenever it is due; nothing for one that is unknown or removed.
    fn due_page(&self, page: PageId) -> Result<Option<DuePage>, StoreError>;

    /// The next moment after `now` at which something becomes due.
    fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// The sites whose last visit is longest ago, with that visit; those never visited come first.
    fn longest_unvisited(&self, limit: usize) -> Result<Vec<(SiteName, Option<Timestamp>)>, StoreError>;

    /// When a page was last asked for, of any site.
    fn last_visit(&self) -> Result<Option<Timestamp>, StoreError>;

    /// The last robots.txt of a server, named by its address.
    fn robots(&self, robots_txt: &PageUrl) -> Result<Option<RobotsFile>, StoreError>;

    /// What is known of a site.
    fn site(&self, site: SiteId) -> Result<Option<SiteStory>, StoreError>;

    /// How many answers a site gave since that moment.
    fn answers_since(&self, site: SiteId, since: Timestamp) -> Result<u64, StoreError>;

    /// Home pages of copies, each with the home page of its original.
    fn aliases(&self) -> Result<Vec<(PageUrl, PageUrl)>, StoreError>;

    /// Pages whose current answer has this text, with the answers' positions.
    fn pages_with_text(&self, text: u64, limit: usize)
    -> Result<Vec<(PageUrl, LibraryPosition)>, StoreError>;

    /// How many links each rule has refused.
    fn filtered(&self) -> Result<Vec<(String, u64)>, StoreError>;

    /// The pages that were proposed, the oldest first.
    fn submissions(&self) -> Result<Vec<Submission>, StoreError>;

    /// What is known of a page.
    fn page(&self, id: PageId) -> Result<Option<PageStory>, StoreError>;

    /// What is known of up to `limit` pages, of one site or of all, behind the page `after`. The order is one of
    /// the implementation's choice, always the same, with the pages of a site together: start without `after`, go
    /// on with the last page given, stop at an empty answer, and every page was there once.
    fn pages(
        &self,
        site: Option<SiteId>,
        after: Option<PageId>,
        limit: usize,
    ) -> Result<Vec<PageStory>, StoreError>;

    /// Every answer of a page, newest first.
    fn versions(&self, page: PageId) -> Result<Vec<Version>, StoreError>;

    /// What operators took out for good. A page of a removed site is not listed by itself.
    fn removed(&self) -> Result<Vec<Removal>, StoreError>;

    /// Was this page, or its site, taken out for good?
    fn is_removed(&self, url: &PageUrl) -> Result<bool, StoreError>;

    /// How much there is. What was removed does not count.
    fn counts(&self) -> Result<CatalogCounts, StoreError>;

    /// The sites with the most pages.
    fn sites(&self, limit: usize) -> Result<Vec<SiteCounts>, StoreError>;

    /// Sites for an operator's table, and how many match. All sites are looked through.
    fn list_sites(&self, wanted: &SiteQuery) -> Result<SiteList, StoreError>;

    /// One site as such a table shows it; nothing for one that is unknown.
    fn site_row(&self, site: SiteId) -> Result<Option<SiteRow>, StoreError>;

    /// Pages in trouble, the newest trouble first; of equal moments in an order of the implementation's choice, always
    /// the same. Reasons are not indexed: with a part of one to look for, only the newest
    /// [`TROUBLES_LOOKED_AT`] that match otherwise are looked at, and there may be more further back.
    fn troubles(&self, wanted: &TroubleQuery) -> Result<Vec<Trouble>, StoreError>;

    /// How many of the newest troubles (at most `of`, and at most [`TROUBLES_LOOKED_AT`]) have which reason, the most
    /// frequent first. Numbers and addresses within a reason are left out, so that alike reasons count together.
    fn trouble_reasons(&self, of: usize) -> Result<Vec<(String, u64)>, StoreError>;

    /// Looks for damage, reading everything once. Gives a line for each thing that is wrong; nothing when all is
    /// well.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Writes a consistent copy to a new file, beside whoever writes.
    fn backup(&self, to: &Path) -> Result<(), StoreError>;
}
