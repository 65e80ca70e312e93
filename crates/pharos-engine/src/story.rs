//! The story of one page: what is known of it, and every version the library has.

use pharos_core::PageUrl;
use pharos_store::{
    Catalog, Content, DataDir, DiskLibrary, Library, LibraryPosition, PageStory, Response, SqliteCatalog,
    StoreError, Version,
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
    let Some(page) = catalog.page(url.id())? else { return Ok(None) };
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
    Ok(Some(Story { page, versions }))
}

/// The answer of one version.
pub fn version(data: &DataDir, position: LibraryPosition) -> Result<Response, EngineError> {
    Ok(DiskLibrary::open_reader(&data.library())?.response(position)?)
}
