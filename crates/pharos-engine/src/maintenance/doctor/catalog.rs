//! Checks the catalog: integrity of the file, and agreement with the library.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pharos_core::config::ByteSize;
use pharos_core::{LibraryPosition, LibraryPositions, PageId};
use pharos_store::catalog::{PageDetails, PageVersion};
use pharos_store::interpret::CrawlScope;
use pharos_store::{Catalog, CrawlRules, Library, PageState, StoreError};

use super::library::LibraryContents;
use super::{CURE_INCOMPLETE, CheckedStore, DoctorProgress, Examination, ProgressCheck};
use crate::{EngineError, Stores};

const DAMAGE: &str = "pages cannot be crawled and page reports are unavailable";
const DISAGREEMENT: &str = "the crawl may repeat or miss pages; page reports and versions are wrong";
const CURE: &str = "`pharos doctor --repair` rebuilds it from the library";
const BATCH: usize = 1000;
/// Delay before a repeated check alongside an owner.
const RECHECK_DELAY: Duration = Duration::from_millis(200);

/// The catalog, and the position it had applied when the check began.
pub(super) struct OpenCatalog {
    pub(super) catalog: Arc<dyn Catalog>,
    applied: LibraryPositions,
    place: String,
}

/// Catalog data that the other stores are compared with.
#[derive(Default)]
pub(super) struct CatalogSummary {
    /// Positions that the catalog has applied.
    pub(super) applied: LibraryPositions,
    /// Searchable pages with the position of their current response.
    pub(super) indexable: HashMap<PageId, LibraryPosition>,
}

/// Opens the catalog. One that cannot be opened is reported as a finding.
pub(super) fn open(stores: &Stores, exam: &mut Examination) -> Result<Option<OpenCatalog>, EngineError> {
    let data = stores.data();
    let place = data.catalog().display().to_string();
    for (ending, what) in [
        ("damaged", "kept by an earlier repair; can be deleted"),
        ("work", "a rebuild is running or was interrupted; the next one removes this file"),
        ("new", "a rebuild is running or was interrupted; the next one removes this file"),
        ("old", "a rebuild is running or was interrupted; the next one removes this file"),
    ] {
        let path = data.root().join(format!("catalog.db.{ending}"));
        if path.exists() {
            exam.note(CheckedStore::Catalog, path.display(), what);
        }
    }
    let opened = stores
        .catalog()
        .and_then(|catalog| catalog.map(|catalog| Ok((catalog.applied_positions()?, catalog))).transpose());
    match opened {
        Ok(Some((applied, catalog))) => Ok(Some(OpenCatalog { catalog, applied, place })),
        Ok(None) => {
            if !stores.library()?.volumes()?.is_empty() {
                exam.needs.catalog = true;
                exam.fault(CheckedStore::Catalog, place, "the catalog is missing", DAMAGE, CURE);
            }
            Ok(None)
        }
        Err(StoreError::CatalogDamaged { detail, .. }) => {
            exam.needs.catalog = true;
            exam.fault(CheckedStore::Catalog, place, detail, DAMAGE, CURE);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Compares the catalog with the library.
pub(super) fn examine(
    open: &OpenCatalog,
    library: &dyn Library,
    contents: &LibraryContents,
    owned: bool,
    exam: &mut Examination,
    check: ProgressCheck<'_>,
) -> Result<CatalogSummary, EngineError> {
    let problems = open.catalog.check()?;
    let sound = problems.is_empty();
    for problem in problems {
        exam.needs.catalog = true;
        exam.fault(CheckedStore::Catalog, &open.place, problem, DISAGREEMENT, CURE);
    }
    let mut summary = CatalogSummary { applied: open.applied.clone(), indexable: HashMap::new() };
    if !contents.end.covers_all(&open.applied) {
        (exam.needs.catalog, exam.needs.is_lossy) = (true, true);
        let what = format!(
            "it has applied the library up to {}, but the library ends at {}: the end of the library is lost",
            open.applied, contents.end
        );
        exam.fault(CheckedStore::Catalog, &open.place, what, DISAGREEMENT, CURE_INCOMPLETE);
        // Catalog entries about the lost end are useless.
        return Ok(summary);
    }
    match compare(open, library, contents, owned, exam, check, &mut summary) {
        // The damage is reported above and ends the comparison.
        Err(EngineError::Store(StoreError::CatalogDamaged { .. } | StoreError::Catalog(_))) if !sound => {}
        Err(EngineError::Store(StoreError::CatalogDamaged { detail, .. } | StoreError::Catalog(detail))) => {
            exam.needs.catalog = true;
            exam.fault(CheckedStore::Catalog, &open.place, detail, DAMAGE, CURE);
        }
        other => other?,
    }
    Ok(summary)
}

fn compare(
    open: &OpenCatalog,
    library: &dyn Library,
    contents: &LibraryContents,
    owned: bool,
    exam: &mut Examination,
    check: ProgressCheck<'_>,
    summary: &mut CatalogSummary,
) -> Result<(), EngineError> {
    let catalog = &open.catalog;
    let scope = CrawlScope::load(&**catalog, CrawlRules::default(), ByteSize(0))?;
    exam.report.pages = catalog.counts()?.pages;
    let mut seen = vec![false; contents.responses().len()];
    let mut after = None;
    let mut pages = 0;
    loop {
        let batch = catalog.pages(None, after, BATCH)?;
        let Some(last) = batch.last() else { break };
        after = Some(last.url.id());
        pages += batch.len() as u64;
        check(DoctorProgress::Catalog(pages))?;
        for mut entry in batch {
            let id = entry.url.id();
            let mut versions = catalog.versions(id)?;
            let mut wrong = disagreements(&entry, &versions, &open.applied, contents, exam);
            if owned && !wrong.is_empty() {
                // The page may have changed between the two reads.
                thread::sleep(RECHECK_DELAY);
                let Some(again) = catalog.page(id)? else { continue };
                entry = again;
                versions = catalog.versions(id)?;
                wrong = disagreements(&entry, &versions, &open.applied, contents, exam);
            }
            for what in wrong {
                exam.needs.catalog = true;
                exam.fault(CheckedStore::Catalog, &entry.url, what, DISAGREEMENT, CURE);
            }
            for version in &versions {
                if let Some(place) = contents.index_of(version.position) {
                    seen[place] = true;
                }
                if let Some(lost) = exam.lost.iter_mut().find(|lost| lost.contains(version.position)) {
                    lost.versions.push((entry.url.clone(), version.clone()));
                }
            }
            let Some(position) = entry.position.filter(|position| open.applied.covers_record(*position))
            else {
                continue;
            };
            if entry.indexable && !scope.is_mirror(&entry.url) {
                summary.indexable.insert(id, position);
            }
            if let Some(lost) = exam.lost.iter_mut().find(|lost| lost.contains(position)) {
                lost.pages.push(entry);
            }
        }
    }
    for (response, seen) in contents.responses().iter().zip(seen) {
        let position = response.position();
        if seen || !open.applied.covers_record(position) || contents.is_removed(response.page) {
            continue;
        }
        if catalog.versions(response.page)?.iter().any(|version| version.position == position) {
            continue;
        }
        // Compaction may have removed the record in the meantime.
        let Ok(stored) = library.read(position) else { continue };
        let url = stored.record.url;
        if catalog.is_removed(&url)? {
            continue;
        }
        exam.needs.catalog = true;
        exam.fault(
            CheckedStore::Catalog,
            &url,
            format!("the library has a response at {position} that is missing from the catalog"),
            DISAGREEMENT,
            CURE,
        );
    }
    Ok(())
}

/// Returns the contradictions between the catalog entry of a page and the library.
fn disagreements(
    entry: &PageDetails,
    versions: &[PageVersion],
    applied: &LibraryPositions,
    contents: &LibraryContents,
    exam: &Examination,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |position: LibraryPosition, status: Option<u16>, which: &str| {
        if !applied.covers_record(position) || exam.is_lost(position) {
            return;
        }
        match contents.at(position) {
            None => {
                wrong.push(format!("{which} is recorded at {position}, where the library has no response"))
            }
            Some(response) if response.page != entry.url.id() => {
                wrong.push(format!("{which} is recorded at {position}, where the library has another page"));
            }
            Some(response) if response.status.is_some_and(|s| status.is_some_and(|open| open != s)) => {
                wrong.push(format!(
                    "{which} at {position} has status {}, not {}",
                    response.status.unwrap_or_default(),
                    status.unwrap_or_default()
                ));
            }
            Some(_) => {}
        }
    };
    if let Some(position) = entry.position {
        compare(position, entry.status, "its current version");
    }
    for version in versions.iter().filter(|version| Some(version.position) != entry.position) {
        compare(version.position, Some(version.status), "a version");
    }
    let newest = versions.first().map(|version| version.position);
    if entry.state == PageState::Stored && newest.is_some() && entry.position != newest {
        wrong.push("its current version is not the newest".into());
    }
    wrong
}
