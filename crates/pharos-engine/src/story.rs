//! The story of one page: what is known of it, and every version the library has.

use pharos_core::{Clock as _, PageUrl, SystemClock};
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
    /// What the library has of it, newest first.
    pub versions: Vec<StoredVersion>,
    /// Pages that are the same to the byte, some of them where there are many.
    pub same: Vec<PageUrl>,
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
    let Some(catalog) = SqliteCatalog::open_reader(&data.catalog())? else { return Ok(None) };
    let Some(mut page) = catalog.page(url.id())? else { return Ok(None) };
    if page.state == PageState::Waiting {
        page.reason = why_it_waits(&catalog, url)?;
    }
    let library = DiskLibrary::open_reader(&data.library())?;
    let mut versions = Vec::new();
    for version in catalog.versions(url.id())? {
        let kept = match library.read(version.position).map(|stored| stored.record.content) {
            Ok(Content::Response(response)) => Kept::Whole(response.body.len()),
            Ok(Content::Revisit(_)) => Kept::Unchanged,
            Ok(Content::Event(_)) | Err(StoreError::NoRecord(_)) => Kept::Dropped,
            Err(_) => Kept::Damaged,
        };
        versions.push(StoredVersion { version, kept });
    }
    let same = same_bytes(&catalog, &page)?;
    Ok(Some(Story { page, versions, same }))
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
fn why_it_waits(catalog: &dyn Catalog, url: &PageUrl) -> Result<Option<String>, StoreError> {
    if let Some((_, of)) = catalog.aliases()?.into_iter().find(|(home, _)| *home == url.home()) {
        return Ok(Some(format!("not asked for: its site is the same as {of}")));
    }
    if let Some(robots) = catalog.robots(&url.robots_txt())?
        && robots.state == RobotsState::Unreachable
        && robots.before.is_none()
    {
        let reason = robots.reason.unwrap_or_default();
        return Ok(Some(format!(
            "waits for its robots.txt, which could not be had at {}: {reason}",
            robots.at
        )));
    }
    let not_before = catalog.site(url.site().id())?.and_then(|site| site.not_before);
    Ok(not_before
        .filter(|until| *until > SystemClock.now())
        .map(|until| format!("waits until {until}: its server asked for patience")))
}

/// The answer of one version.
pub fn version(data: &DataDir, position: LibraryPosition) -> Result<Response, EngineError> {
    Ok(DiskLibrary::open_reader(&data.library())?.response(position)?)
}
