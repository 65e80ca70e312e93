//! The story of one page: what is known of it, and every version the library has.

use std::fmt;

use pharos_core::config::Config;
use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_crawl::Explanation;
use pharos_store::{
    Catalog, Content, DataDir, DiskLibrary, Library, LibraryPosition, PageState, PageStory, Response,
    RobotsState, SqliteCatalog, StoreError, Version,
};
use serde::Serialize;

use crate::EngineError;

/// The story of one page.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// What the catalog knows.
    #[serde(flatten)]
    pub page: PageStory,
    /// What keeps it from being asked for; the reason above says it in words.
    #[serde(skip)]
    pub waits_for: Option<WaitsFor>,
    /// What the library has of it, newest first.
    pub versions: Vec<StoredVersion>,
    /// Pages that are the same to the byte, some of them where there are many.
    pub same: Vec<PageUrl>,
}

/// What keeps a page from being asked for, where it is not just its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// Nothing: its site is the same as another, whose home page this is.
    Original(PageUrl),
    /// Its server's robots.txt, which could not be had then.
    RobotsTxt(Timestamp, String),
    /// This moment: its server asked for patience.
    Moment(Timestamp),
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Original(of) => write!(f, "not asked for: its site is the same as {of}"),
            Self::RobotsTxt(at, reason) => {
                write!(f, "waits for its robots.txt, which could not be had at {at}: {reason}")
            }
            Self::Moment(until) => write!(f, "waits until {until}: its server asked for patience"),
        }
    }
}

/// One version of a page.
#[derive(Clone, Debug, Serialize)]
pub struct StoredVersion {
    /// When, what and where.
    #[serde(flatten)]
    pub version: Version,
    /// What is there of it.
    pub kept: Kept,
}

/// What is there of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// All of it, so many bytes.
    Whole(usize),
    /// The same as an earlier version.
    Unchanged,
    /// Nothing any more: the retention rule let it go.
    Dropped,
    /// It cannot be read.
    Damaged,
}

/// The story of a page, or `None` where nobody ever heard of it.
pub fn story(data: &DataDir, url: &PageUrl) -> Result<Option<Story>, EngineError> {
    recent_story(data, url, usize::MAX)
}

/// The same with so many versions at most, the newest: each of them is read.
pub fn recent_story(data: &DataDir, url: &PageUrl, most: usize) -> Result<Option<Story>, EngineError> {
    let Some(catalog) = SqliteCatalog::open_reader(&data.catalog())? else { return Ok(None) };
    let Some(mut page) = catalog.page(url.id())? else { return Ok(None) };
    let is_waiting = page.state == PageState::Waiting;
    let waits_for = if is_waiting { why_it_waits(&catalog, url)? } else { None };
    if is_waiting {
        page.reason = waits_for.as_ref().map(WaitsFor::to_string);
    }
    let library = DiskLibrary::open_reader(&data.library())?;
    let mut versions = Vec::new();
    for version in catalog.versions(url.id())?.into_iter().take(most) {
        let kept = match library.read(version.position).map(|stored| stored.record.content) {
            Ok(Content::Response(response)) => Kept::Whole(response.body.len()),
            Ok(Content::Revisit(_)) => Kept::Unchanged,
            Ok(Content::Event(_)) | Err(StoreError::NoRecord(_)) => Kept::Dropped,
            Err(_) => Kept::Damaged,
        };
        versions.push(StoredVersion { version, kept });
    }
    let same = same_bytes(&catalog, &page)?;
    Ok(Some(Story { page, waits_for, versions, same }))
}

/// Pages whose current answer has the same content.
fn same_bytes(catalog: &dyn Catalog, page: &PageStory) -> Result<Vec<PageUrl>, StoreError> {
    /// Enough to see where the copies are.
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

/// What keeps a page from being asked for, where it is not just its turn.
fn why_it_waits(catalog: &dyn Catalog, url: &PageUrl) -> Result<Option<WaitsFor>, StoreError> {
    if let Some((_, of)) = catalog.aliases()?.into_iter().find(|(home, _)| *home == url.home()) {
        return Ok(Some(WaitsFor::Original(of)));
    }
    if let Some(robots) = catalog.robots(&url.robots_txt())?
        && robots.state == RobotsState::Unreachable
        && robots.before.is_none()
    {
        return Ok(Some(WaitsFor::RobotsTxt(robots.at, robots.reason.unwrap_or_default())));
    }
    let not_before = catalog.site(url.site().id())?.and_then(|site| site.not_before);
    Ok(not_before.filter(|until| *until > SystemClock.now()).map(WaitsFor::Moment))
}

/// What every rule of the crawl says of an address, as the crawl that was started last goes on.
pub fn explain(data: &DataDir, config: &Config, url: &str) -> Result<Explanation, EngineError> {
    let catalog = SqliteCatalog::open_reader(&data.catalog())?;
    let catalog = catalog.as_ref().map(|catalog| catalog as &dyn Catalog);
    Ok(pharos_crawl::explain(catalog, &config.crawl, &[], url)?)
}

/// The answer of one version.
pub fn version(data: &DataDir, position: LibraryPosition) -> Result<Response, EngineError> {
    Ok(DiskLibrary::open_reader(&data.library())?.response(position)?)
}
