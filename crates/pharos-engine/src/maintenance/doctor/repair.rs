//! Repairs: rebuilds derived data from the library and schedules lost pages for fetching.

use std::collections::BTreeSet;
use std::fs;

use pharos_core::config::{ByteSize, Config};
use pharos_core::{Clock as _, LibraryPosition, LibraryPositions, SystemClock};
use pharos_crawl::rules_from_config;
use pharos_graph::relations::{newest_folder, unfinished_folders};
use pharos_index::ReplacedGenerations;
use pharos_store::interpret::CrawlScope;
use pharos_store::{
    Catalog, DerivedWriter, LibraryEvent, LibraryRecord, OwnerLock, PageState, RecordContent, StoreError,
};

use super::{CheckedStore, DoctorProgress, Examination, LostRange, ProgressCheck};
use crate::build::history::rebuild_index;
use crate::maintenance::rebuild::rebuild_catalog;
use crate::{Engine, EngineError, Stores};

/// Repairs the findings of a check, as the owner of the data directory.
pub(super) fn repair(
    owner: OwnerLock,
    stores: &Stores,
    config: &Config,
    exam: &Examination,
    check: ProgressCheck<'_>,
) -> Result<OwnerLock, EngineError> {
    let (data, needs) = (stores.data(), &exam.needs);
    let mut owner = owner;
    if needs.library {
        check(DoctorProgress::Repairing(CheckedStore::Library))?;
        // Opening the library sets a torn end aside.
        let library = stores.own_library(&LibraryPositions::START, SystemClock.now())?;
        library.local().map_or(Ok(()), |library| library.repair_files())?;
    }
    if !needs.derived.is_empty() {
        check(DoctorProgress::Repairing(CheckedStore::Derived))?;
        let mut derived = DerivedWriter::open(&data.library(), pharos_html::VERSION)?;
        needs.derived.iter().try_for_each(|number| derived.drop_file(*number))?;
    }
    if needs.catalog {
        owner = rebuild_catalog(owner, data, config, true, &mut |_| {
            check(DoctorProgress::Repairing(CheckedStore::Catalog)).is_ok()
        })?;
    }
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "doctor --repair", false)?;
    let mut ingest = engine
        .ingest_with_progress(&mut |_| check(DoctorProgress::Repairing(CheckedStore::Derived)).is_ok())?;
    let again = records_to_refetch(&*engine.catalog(), config, &exam.lost)?;
    if !again.is_empty() {
        ingest.append(again)?;
    }
    ingest.finish()?;
    drop(ingest);
    owner = engine.close();
    replace_lost_records(stores, &exam.lost)?;
    if needs.graph || needs.unfinished_graph {
        check(DoctorProgress::Repairing(CheckedStore::Graph))?;
        let _builder = stores.lock_builder()?;
        let folder = data.graph();
        let mut left = unfinished_folders(&folder).map_err(StoreError::io("read", &folder))?;
        if needs.graph {
            left.extend(newest_folder(&folder).map_err(StoreError::io("read", &folder))?);
        }
        for path in left {
            fs::remove_dir_all(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    if needs.index {
        let replaced =
            if needs.is_lossy { ReplacedGenerations::SetAside } else { ReplacedGenerations::Remove };
        rebuild_index(data, config, replaced, &mut |_| {
            check(DoctorProgress::Repairing(CheckedStore::Index))
        })?;
    } else if let Some(generations) = stores.generations().filter(|_| needs.sweep) {
        let _builder = generations.lock_builder()?;
        generations.remove_unreferenced()?;
    }
    Ok(owner)
}

/// Replaces damaged records that no page needs by placeholders, which acknowledges the loss.
///
/// A volume is left as it is while one of its damaged ranges contains the current version of a page.
fn replace_lost_records(stores: &Stores, lost: &[LostRange]) -> Result<(), EngineError> {
    let mut volumes: BTreeSet<u32> =
        lost.iter().filter(|lost| lost.is_replaceable()).map(|lost| lost.from.volume).collect();
    let is_needed = |volume: &u32| {
        lost.iter().any(|lost| !lost.is_replaceable() && (lost.from.volume..=lost.to.volume).contains(volume))
    };
    volumes.retain(|volume| !is_needed(volume));
    if volumes.is_empty() {
        return Ok(());
    }
    let library = stores.own_library(&LibraryPositions::START, SystemClock.now())?;
    if volumes.contains(&library.end()?.get(0).volume) {
        library.seal()?;
    }
    let versions = lost.iter().flat_map(|lost| &lost.versions);
    let mut placeholders: Vec<(LibraryPosition, LibraryRecord)> = versions
        .map(|(url, version)| {
            let event = LibraryEvent::Dropped { status: version.status, digest: version.digest };
            let content = RecordContent::Event(event);
            (version.position, LibraryRecord::new(url.clone(), version.at, content))
        })
        .collect();
    placeholders.sort_by_key(|(position, _)| position.sort_key());
    placeholders.dedup_by_key(|(position, _)| *position);
    let Some(files) = library.local() else { return Ok(()) };
    Ok(volumes.iter().try_for_each(|volume| files.replace_damaged(*volume, &placeholders))?)
}

/// Returns records that put pages with a lost current version back into the schedule.
///
/// Each is recorded as a failed fetch, because the library no longer has a response for the page.
fn records_to_refetch(
    catalog: &dyn Catalog,
    config: &Config,
    lost: &[LostRange],
) -> Result<Vec<LibraryRecord>, EngineError> {
    if catalog.rules()?.is_none() {
        return Ok(Vec::new());
    }
    let scope = CrawlScope::load(catalog, rules_from_config(&config.crawl), ByteSize(0))?;
    let now = SystemClock.now();
    let mut records = Vec::new();
    for (lost, page) in lost.iter().flat_map(|lost| lost.pages.iter().map(move |page| (lost, page))) {
        let is_due = catalog.page(page.url.id())?.is_some_and(|entry| {
            let was_lost = entry.position.is_none_or(|position| lost.contains(position));
            entry.due.is_some() || entry.state == PageState::Removed || !was_lost
        });
        if is_due || !scope.contains(&page.url) {
            continue;
        }
        let reason = "the stored response is damaged".to_string();
        records.push(LibraryRecord {
            depth: page.depth,
            hops: page.hops,
            origin: page.origin.clone(),
            ..LibraryRecord::new(page.url.clone(), now, RecordContent::Event(LibraryEvent::Failed { reason }))
        });
    }
    Ok(records)
}
