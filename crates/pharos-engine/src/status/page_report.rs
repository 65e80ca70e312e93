//! The page report: the catalog entry of one page and its stored versions.

use std::fmt;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_crawl::politeness::site_settings::SiteSettingsTable;
use pharos_store::catalog::{PageDetails, PageVersion, RobotsState};
use pharos_store::{Catalog, LibraryPosition, PageState, RawResponse, RecordContent, StoreError};
use serde::Serialize;

use super::refresh::NextVisitReason;
use crate::status::engine_status::read_engine_status;
use crate::{EngineError, Stores};

/// The report of one page.
#[derive(Clone, Debug, Serialize)]
pub struct PageReport {
    /// The catalog entry.
    #[serde(flatten)]
    pub page: PageDetails,
    /// The reason why the page is not fetched; `page.reason` gives it as text.
    #[serde(skip)]
    pub waits_for: Option<WaitReason>,
    /// When and why the refresh policy visits the page next.
    pub next_visit: Option<NextVisitReason>,
    /// Stored versions, newest first.
    pub versions: Vec<StoredVersion>,
    /// Pages with identical bytes, a limited number.
    pub same: Vec<PageUrl>,
}

/// The reason why a waiting page is not fetched, other than its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Its site is a mirror of the one with this home page.
    Original(PageUrl),
    /// Its robots.txt was unreachable.
    RobotsTxt {
        at: Timestamp,
        reason: String,
        /// Time of the next request; `None` if no crawl is running, or if it is not published.
        next_try: Option<Timestamp>,
    },
    /// Its server requested no access before this time.
    Moment(Timestamp),
    /// The crawl window of its site opens at this time.
    Window(Timestamp),
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Original(of) => write!(f, "not fetched: its site is a mirror of {of}"),
            Self::RobotsTxt { at, reason, next_try } => {
                write!(f, "waits for its robots.txt, which was unreachable at {at}: {reason}; next try ")?;
                match next_try {
                    Some(next_try) => write!(f, "at {next_try}"),
                    None => write!(f, "with the next crawl"),
                }
            }
            Self::Window(until) => {
                write!(f, "waits for the crawl window of its site, which opens at {until}")
            }
            Self::Moment(until) => write!(f, "waits until {until}, as its server requested"),
        }
    }
}

/// One version of a page.
#[derive(Clone, Debug, Serialize)]
pub struct StoredVersion {
    #[serde(flatten)]
    pub version: PageVersion,
    /// Availability of its content.
    pub kept: VersionContent,
}

/// Availability of the content of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionContent {
    /// Stored completely; size in bytes.
    Whole(usize),
    /// Identical to an earlier version.
    Unchanged,
    /// Dropped by the retention policy.
    Dropped,
    /// Unreadable.
    Damaged,
}

/// Returns the report of a page, or `None` if the catalog does not contain it.
pub fn page_report(stores: &Stores, url: &PageUrl) -> Result<Option<PageReport>, EngineError> {
    recent_page_report(stores, url, usize::MAX, || true)
}

/// Like [`page_report`], with at most the newest `limit` versions. Each version is read; the rest is left out when
/// `may_read` returns `false`.
pub fn recent_page_report(
    stores: &Stores,
    url: &PageUrl,
    limit: usize,
    may_read: impl Fn() -> bool,
) -> Result<Option<PageReport>, EngineError> {
    let Some(catalog) = stores.catalog()? else { return Ok(None) };
    let Some(mut page) = catalog.page(url.id())? else { return Ok(None) };
    let is_waiting = page.state == PageState::Waiting;
    let waits_for = if is_waiting { wait_reason(stores, &*catalog, url)? } else { None };
    if is_waiting {
        page.reason = waits_for.as_ref().map(WaitReason::to_string);
    }
    let plan = catalog.refresh_plan()?.unwrap_or_default();
    let next_visit = NextVisitReason::of_page(&page, &plan);
    let library = stores.library()?;
    let mut versions = Vec::new();
    for version in catalog.versions(url.id())?.into_iter().take(limit) {
        if !may_read() {
            break;
        }
        let kept = match library.read(version.position).map(|stored| stored.record.content) {
            Ok(RecordContent::Response(response)) => VersionContent::Whole(response.body.len()),
            Ok(RecordContent::Revisit(_)) => VersionContent::Unchanged,
            Ok(RecordContent::Event(_)) | Err(StoreError::NoRecord(_)) => VersionContent::Dropped,
            Err(_) => VersionContent::Damaged,
        };
        versions.push(StoredVersion { version, kept });
    }
    let same = identical_pages(&*catalog, &page)?;
    Ok(Some(PageReport { page, waits_for, next_visit, versions, same }))
}

impl PageReport {
    /// Adds that a waiting page waits for the crawl window of its site, unless it waits for something else.
    pub fn add_crawl_window(&mut self, crawl: &CrawlConfig, now: Timestamp) {
        if self.page.state != PageState::Waiting || self.waits_for.is_some() {
            return;
        }
        let table = SiteSettingsTable::parse(&crawl.site_settings).unwrap_or_default();
        let own = table.settings_for(&self.page.url.site());
        self.waits_for = own.closed_until(&crawl.time_zone, now).map(WaitReason::Window);
        self.page.reason = self.waits_for.as_ref().map(WaitReason::to_string);
    }
}

/// Returns pages whose current response has the same content.
fn identical_pages(catalog: &dyn Catalog, page: &PageDetails) -> Result<Vec<PageUrl>, StoreError> {
    /// Maximum number of pages returned.
    const SHOWN: usize = 20;
    let Some(text) = page.text.filter(|_| page.state == PageState::Stored) else { return Ok(Vec::new()) };
    let mut same = Vec::new();
    for (url, _) in catalog.pages_with_text(text, SHOWN + 1)? {
        let digest = catalog.page(url.id())?.and_then(|other| other.digest);
        if url != page.url && digest == page.digest {
            same.push(url);
        }
    }
    same.truncate(SHOWN);
    Ok(same)
}

/// Returns the reason why a waiting page is not fetched, other than its turn.
fn wait_reason(
    stores: &Stores,
    catalog: &dyn Catalog,
    url: &PageUrl,
) -> Result<Option<WaitReason>, StoreError> {
    if let Some((_, of)) = catalog.aliases()?.into_iter().find(|(home, _)| *home == url.home()) {
        return Ok(Some(WaitReason::Original(of)));
    }
    if let Some(robots) = catalog.robots(&url.robots_txt())?
        && robots.state == RobotsState::Unreachable
        && robots.before.is_none()
    {
        let retries = read_engine_status(stores.data()).unwrap_or_default().robots_retries;
        let next_try = retries.get(url.robots_txt().as_str()).copied();
        let reason = robots.reason.unwrap_or_default();
        return Ok(Some(WaitReason::RobotsTxt { at: robots.at, reason, next_try }));
    }
    let not_before = catalog.site(url.site().id())?.and_then(|site| site.not_before);
    Ok(not_before.filter(|until| *until > SystemClock.now()).map(WaitReason::Moment))
}

/// Reads the response of a version.
pub fn read_version(stores: &Stores, position: LibraryPosition) -> Result<RawResponse, EngineError> {
    Ok(stores.library()?.response(position)?)
}
