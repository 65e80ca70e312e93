//! Which records go out.

use std::sync::Arc;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_store::{
    Catalog, DataDir, DerivedReader, DiskLibrary, Library, PageState, PageStory, Scan, SqliteCatalog,
    StoreError,
};

use super::Selection;
use crate::EngineError;
use crate::reading::settled;

/// Pages that the catalog is asked for at a time.
const BATCH: usize = 1000;

/// The stores, open for reading, and what is wanted of them.
pub(super) struct Shelves<'a> {
    pub(super) library: Arc<DiskLibrary>,
    pub(super) derived: DerivedReader,
    catalog: SqliteCatalog,
    pub(super) selection: &'a Selection,
    /// What the catalog does not know yet may have been removed already, and stays at home.
    pub(super) to: LibraryPosition,
}

impl<'a> Shelves<'a> {
    pub(super) fn open(data: &DataDir, selection: &'a Selection) -> Result<Self, EngineError> {
        let path = data.catalog();
        let catalog = SqliteCatalog::open_reader(&path)?.ok_or(EngineError::NoCatalog { path })?;
        let library = Arc::new(DiskLibrary::open_reader(&data.library())?);
        let derived = DerivedReader::open(&data.library(), pharos_html::VERSION);
        let to = catalog.absorbed()?.min(library.end()?);
        Ok(Self { library, derived, catalog, selection, to })
    }

    /// The records to look at, in the order of the library. [`wants`](Self::wants) decides on each.
    pub(super) fn records(&self) -> Result<Scan, EngineError> {
        let Some(positions) = self.positions()? else {
            return Ok(self.library.scan(LibraryPosition::START, Some(self.to))?);
        };
        let library = Arc::clone(&self.library);
        Ok(Box::new(positions.into_iter().map(move |position| library.read(position))))
    }

    /// Where the versions of the selected pages stand; `None` where all pages are selected.
    pub(super) fn positions(&self) -> Result<Option<Vec<LibraryPosition>>, EngineError> {
        let mut positions = Vec::new();
        if let Some(pages) = &self.selection.pages {
            for id in pages {
                if let Some(story) = self.catalog.page(*id)? {
                    self.add_versions(&story, &mut positions)?;
                }
            }
        } else if self.selection.sites.is_empty() {
            return Ok(None);
        } else {
            for site in &self.selection.sites {
                let mut after = None;
                loop {
                    let stories = self.catalog.pages(Some(site.id()), after, BATCH)?;
                    let Some(last) = stories.last() else { break };
                    after = Some(last.url.id());
                    for story in &stories {
                        self.add_versions(story, &mut positions)?;
                    }
                }
            }
        }
        positions.sort_unstable();
        positions.dedup();
        positions.retain(|position| *position < self.to);
        Ok(Some(positions))
    }

    fn add_versions(
        &self,
        story: &PageStory,
        positions: &mut Vec<LibraryPosition>,
    ) -> Result<(), StoreError> {
        if !self.is_selected(&story.url) || is_gone(story) {
            return Ok(());
        }
        if self.selection.all_versions {
            let versions = self.catalog.versions(story.url.id())?;
            positions.extend(versions.iter().filter(|v| self.in_time(v.at)).map(|v| v.position));
        } else {
            positions.extend(self.current(story)?);
        }
        Ok(())
    }

    /// Does this version of a page go out?
    pub(super) fn wants(
        &self,
        url: &PageUrl,
        at: Timestamp,
        position: LibraryPosition,
    ) -> Result<bool, EngineError> {
        if !self.in_time(at) || !self.is_selected(url) || self.catalog.is_removed(url)? {
            return Ok(false);
        }
        if is_robots_txt(url) {
            return Ok(self.selection.all_versions);
        }
        let Some(story) = self.catalog.page(url.id())? else { return Ok(false) };
        if is_gone(&story) {
            return Ok(false);
        }
        Ok(self.selection.all_versions || self.current(&story)? == Some(position))
    }

    /// Does the version go out that an unchanged one refers to?
    pub(super) fn wants_original(&self, at: Timestamp) -> bool {
        self.selection.all_versions && self.in_time(at)
    }

    fn in_time(&self, at: Timestamp) -> bool {
        self.selection.from.is_none_or(|from| at >= from) && self.selection.to.is_none_or(|to| at < to)
    }

    fn is_selected(&self, url: &PageUrl) -> bool {
        let sites = &self.selection.sites;
        (sites.is_empty() || sites.contains(&url.site()))
            && self.selection.pages.as_ref().is_none_or(|pages| pages.contains(&url.id()))
    }

    /// Where the newest answer stands that settles what the page says.
    fn current(&self, story: &PageStory) -> Result<Option<LibraryPosition>, StoreError> {
        if story.status.is_some_and(|status| matches!(status, 200..400 | 410)) {
            return Ok(story.position);
        }
        let versions = self.catalog.versions(story.url.id())?;
        Ok(settled(&versions).map(|version| version.position))
    }
}

fn is_gone(story: &PageStory) -> bool {
    matches!(story.state, PageState::Deleted | PageState::Removed)
}
