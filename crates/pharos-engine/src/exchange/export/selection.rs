//! Selection of the records to export.

use std::sync::Arc;
use std::time::Duration;

use pharos_core::{LibraryPosition, LibraryPositions, PageUrl, Timestamp};
use pharos_store::catalog::{PageDetails, current_version};
use pharos_store::library::RecordScan;
use pharos_store::{Catalog, DerivedReader, Library, PageState, RecordKind, StoreError};

use super::ExportSelection;
use crate::{EngineError, Stores};

/// Pages per catalog query.
const BATCH: usize = 1000;

/// The stores, open for reading, with the selection.
pub(super) struct ExportSource<'a> {
    pub(super) library: Arc<dyn Library>,
    pub(super) derived: DerivedReader,
    catalog: Arc<dyn Catalog>,
    pub(super) selection: &'a ExportSelection,
    /// End of the export. Records that the catalog has not applied may already be removed and are not exported.
    pub(super) to: LibraryPositions,
}

impl<'a> ExportSource<'a> {
    pub(super) fn open(stores: &Stores, selection: &'a ExportSelection) -> Result<Self, EngineError> {
        let data = stores.data();
        let catalog = stores.catalog()?.ok_or(EngineError::NoCatalog { path: data.catalog() })?;
        let library = stores.library()?;
        let derived = DerivedReader::open(&data.library(), pharos_html::VERSION);
        let to = catalog.applied_positions()?.lowest(&library.end()?);
        Ok(Self { library, derived, catalog, selection, to })
    }

    /// Returns the candidate records in library order; [`includes`](Self::includes) decides on each.
    pub(super) fn records(&self) -> Result<RecordScan, EngineError> {
        let Some(positions) = self.positions()? else {
            return Ok(self.library.scan_logs(&LibraryPositions::START, Some(&self.to))?);
        };
        let library = Arc::clone(&self.library);
        Ok(Box::new(positions.into_iter().map(move |position| library.read(position))))
    }

    /// Returns the positions of the selected versions, or `None` if all pages are selected.
    pub(super) fn positions(&self) -> Result<Option<Vec<LibraryPosition>>, EngineError> {
        let mut positions = Vec::new();
        if let Some(pages) = &self.selection.pages {
            for id in pages {
                if let Some(page) = self.catalog.page(*id)? {
                    self.add_versions(&page, &mut positions)?;
                }
            }
        } else if self.selection.sites.is_empty() {
            return Ok(None);
        } else {
            for site in &self.selection.sites {
                let mut after = None;
                loop {
                    let pages = self.catalog.pages(Some(site.id()), after, BATCH)?;
                    let Some(last) = pages.last() else { break };
                    after = Some(last.url.id());
                    for page in &pages {
                        self.add_versions(page, &mut positions)?;
                    }
                }
            }
        }
        positions.sort_unstable_by_key(|position| position.sort_key());
        positions.dedup();
        positions.retain(|position| self.to.covers_record(*position));
        Ok(Some(positions))
    }

    fn add_versions(
        &self,
        page: &PageDetails,
        positions: &mut Vec<LibraryPosition>,
    ) -> Result<(), StoreError> {
        if !self.is_selected(&page.url) || is_deleted(page) {
            return Ok(());
        }
        if self.selection.all_versions {
            let versions = self.catalog.versions(page.url.id())?;
            positions.extend(versions.iter().filter(|v| self.is_in_period(v.at)).map(|v| v.position));
        } else {
            positions.extend(self.current_position(page)?);
        }
        Ok(())
    }

    /// Returns the interval until the next visit of a page, as it is scheduled.
    pub(super) fn visit_interval(&self, url: &PageUrl) -> Result<Option<Duration>, EngineError> {
        let Some(page) = self.catalog.page(url.id())? else { return Ok(None) };
        Ok(page.due.zip(page.visited_at).map(|(due, visited)| due.since(visited)))
    }

    /// Returns `true` if this version is exported.
    pub(super) fn includes(
        &self,
        kind: RecordKind,
        url: &PageUrl,
        at: Timestamp,
        position: LibraryPosition,
    ) -> Result<bool, EngineError> {
        if !self.is_in_period(at) || !self.is_selected(url) || self.catalog.is_removed(url)? {
            return Ok(false);
        }
        if kind == RecordKind::Robots {
            return Ok(self.selection.all_versions);
        }
        let Some(page) = self.catalog.page(url.id())? else { return Ok(false) };
        if is_deleted(&page) {
            return Ok(false);
        }
        Ok(self.selection.all_versions || self.current_position(&page)? == Some(position))
    }

    /// Returns `true` if the original of an unchanged version is exported.
    pub(super) fn includes_original(&self, at: Timestamp) -> bool {
        self.selection.all_versions && self.is_in_period(at)
    }

    fn is_in_period(&self, at: Timestamp) -> bool {
        self.selection.from.is_none_or(|from| at >= from) && self.selection.to.is_none_or(|to| at < to)
    }

    fn is_selected(&self, url: &PageUrl) -> bool {
        let sites = &self.selection.sites;
        (sites.is_empty() || sites.contains(&url.site()))
            && self.selection.pages.as_ref().is_none_or(|pages| pages.contains(&url.id()))
    }

    /// Returns the position of the newest response that determines the page's content.
    fn current_position(&self, page: &PageDetails) -> Result<Option<LibraryPosition>, StoreError> {
        let versions = self.catalog.versions(page.url.id())?;
        Ok(current_version(&versions).map(|version| version.position))
    }
}

fn is_deleted(page: &PageDetails) -> bool {
    matches!(page.state, PageState::Deleted | PageState::Removed)
}
