//! Checks the index: integrity of the generations, and agreement with catalog and library.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pharos_core::{LibraryPosition, LibraryPositions, PageId};
use pharos_index::generations::verify::{GenerationFlaw, GenerationProblem};
use pharos_index::{Index, IndexView, Query, ResultFields};
use pharos_store::{PageState, StoreError};

use super::catalog::{CatalogSummary, OpenCatalog};
use super::library::LibraryContents;
use super::{CURE_INCOMPLETE, CheckedStore, DoctorProgress, Examination, ProgressCheck, page_id};
use crate::{EngineError, Stores};

const DAMAGE: &str = "searches fail or miss pages";
const MISSING: &str = "searches do not find the page";
const WRONG_ENTRY: &str = "searches return a page that is removed or outdated";
const CURE: &str = "`pharos doctor --repair` or `pharos rebuild index`";
const BATCH: usize = 256;
/// Delay and number of repeated checks.
const RECHECK_DELAY: Duration = Duration::from_millis(200);
const RECHECKS: usize = 5;

/// The index, and the position it had applied when the check began.
pub(super) struct OpenIndex {
    index: Arc<dyn Index>,
    view: Arc<dyn IndexView>,
    pub(super) at: LibraryPositions,
    /// Positions covered by the history generation, which may be further.
    history: LibraryPositions,
    place: String,
}

/// Verifies the generations and opens them. Damage is reported as a finding, and the index is not opened.
pub(super) fn open(stores: &Stores, exam: &mut Examination) -> Result<Option<OpenIndex>, EngineError> {
    note_replaced(stores, exam)?;
    let flaws = confirmed_flaws(stores)?;
    let mut usable = true;
    for flaw in flaws {
        if flaw.problem == GenerationProblem::Leftover {
            exam.needs.sweep = true;
            exam.fault(CheckedStore::Index, flaw.path.display(), &flaw.problem, "disk space only", CURE);
        } else {
            usable = false;
            exam.needs.index = true;
            exam.fault(CheckedStore::Index, flaw.path.display(), &flaw.problem, DAMAGE, CURE);
        }
    }
    if !usable {
        return Ok(None);
    }
    match open_view(stores) {
        Err(EngineError::Index(error)) if error.is_damage() => {
            exam.needs.index = true;
            exam.fault(CheckedStore::Index, stores.data().index().display(), error, DAMAGE, CURE);
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

/// Notes generations that a forced repair has set aside.
fn note_replaced(stores: &Stores, exam: &mut Examination) -> Result<(), EngineError> {
    let root = stores.data().root();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.map_err(StoreError::io("read", root))?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("index.replaced")) {
            exam.note(CheckedStore::Index, path.display(), "set aside by a forced repair; can be deleted");
        }
    }
    Ok(())
}

fn open_view(stores: &Stores) -> Result<OpenIndex, EngineError> {
    let index = stores.index()?;
    // A view of the index that matches this position.
    let (mut at, mut view) = (index.applied_positions()?, index.view()?);
    for _ in 0..RECHECKS {
        if index.applied_positions()? == at {
            break;
        }
        thread::sleep(RECHECK_DELAY * 2);
        (at, view) = (index.applied_positions()?, index.view()?);
    }
    let chain = stores.generations().map(|generations| generations.current()).transpose()?;
    let history = chain.and_then(|chain| chain.history).map(|h| h.to).unwrap_or_default();
    let place = stores.data().index().display().to_string();
    Ok(OpenIndex { index, view, at, history, place })
}

/// Returns the flaws that repeated checks confirm. Commits, merges and installations can be observed half done.
fn confirmed_flaws(stores: &Stores) -> Result<Vec<GenerationFlaw>, EngineError> {
    let Some(generations) = stores.generations() else { return Ok(Vec::new()) };
    let mut flaws = generations.check()?;
    for _ in 0..RECHECKS {
        if flaws.is_empty() {
            break;
        }
        thread::sleep(RECHECK_DELAY);
        let again = generations.check()?;
        flaws.retain(|flaw| again.contains(flaw));
    }
    Ok(flaws)
}

/// Compares the index with library and catalog. Unreadable parts are reported as findings.
pub(super) fn examine(
    indexed: &OpenIndex,
    open_catalog: Option<&OpenCatalog>,
    summary: &CatalogSummary,
    contents: &LibraryContents,
    exam: &mut Examination,
    check: ProgressCheck<'_>,
) -> Result<(), EngineError> {
    match compare(indexed, open_catalog, summary, contents, exam, check) {
        Err(EngineError::Index(error)) if error.is_damage() => {
            exam.needs.index = true;
            exam.fault(CheckedStore::Index, &indexed.place, error, DAMAGE, CURE);
            Ok(())
        }
        compared => compared,
    }
}

fn compare(
    indexed: &OpenIndex,
    open_catalog: Option<&OpenCatalog>,
    summary: &CatalogSummary,
    contents: &LibraryContents,
    exam: &mut Examination,
    check: ProgressCheck<'_>,
) -> Result<(), EngineError> {
    if !contents.end.covers_all(&indexed.at) {
        (exam.needs.index, exam.needs.is_lossy) = (true, true);
        let what = format!(
            "it has applied the library up to {}, but the library ends at {}",
            indexed.at, contents.end
        );
        exam.fault(CheckedStore::Index, &indexed.place, what, WRONG_ENTRY, CURE_INCOMPLETE);
        return Ok(());
    }
    let view = &indexed.view;
    exam.report.searchable = view.pages()?;
    // Copies count as pages: each URL has its own version, which must be the current one.
    let all = view.search_addresses(&Query::All, usize::MAX)?;
    let mut found: HashMap<PageId, LibraryPosition> = HashMap::new();
    for batch in all.candidates.chunks(BATCH) {
        check(DoctorProgress::Index(found.len() as u64))?;
        for (candidate, fields) in batch.iter().zip(view.result_fields(batch)?) {
            if let Some(what) = find_mismatch(indexed, open_catalog, contents, exam, candidate.page, &fields)?
            {
                exam.needs.index = true;
                exam.fault(CheckedStore::Index, &fields.url, what, WRONG_ENTRY, CURE);
            }
            found.insert(candidate.page, fields.position);
        }
    }
    // The catalog may not have applied pages that the history omits.
    if !summary.applied.covers_all(&indexed.history) {
        return Ok(());
    }
    let Some(open_catalog) = open_catalog else { return Ok(()) };
    let fresh = indexed.index.view()?;
    for (id, position) in &summary.indexable {
        let is_there = |at: LibraryPosition| at == *position || !indexed.at.covers_record(at);
        if !indexed.at.covers_record(*position)
            || found.get(id).copied().is_some_and(is_there)
            || exam.is_lost(*position)
        {
            continue;
        }
        // The page may have changed since: compare the current entries.
        let Some(entry) = open_catalog.catalog.page(*id)? else { continue };
        if !entry.indexable
            || entry.position != Some(*position)
            || contents.without_original.contains(position)
        {
            continue;
        }
        if fresh.page(*id)?.is_some_and(|page| is_there(page.fields.position)) {
            continue;
        }
        exam.needs.index = true;
        let what = match found.get(id) {
            Some(old) => format!("the index has the version at {old}, but the current one is at {position}"),
            None => format!("the page is searchable but missing from the index (record {position})"),
        };
        exam.fault(CheckedStore::Index, &entry.url, what, MISSING, CURE);
    }
    Ok(())
}

/// Returns the reason why an index entry is wrong, if it is.
fn find_mismatch(
    indexed: &OpenIndex,
    open_catalog: Option<&OpenCatalog>,
    contents: &LibraryContents,
    exam: &Examination,
    page: PageId,
    fields: &ResultFields,
) -> Result<Option<String>, EngineError> {
    let position = fields.position;
    if page_id(&fields.url) != Some(page) {
        return Ok(Some("it is indexed under the ID of another page".into()));
    }
    if !indexed.at.covers_record(position) || exam.is_lost(position) {
        return Ok(None);
    }
    match contents.at(position) {
        None => {
            return Ok(Some(format!("it is in the index, but the library has no response at {position}")));
        }
        Some(response) if response.page != page => {
            return Ok(Some(format!("it is in the index, but the library has another page at {position}")));
        }
        Some(_) => {}
    }
    let current = contents.current.get(&page).map(|(_, current)| *current);
    if current == Some(position)
        || current.is_some_and(|current| contents.without_original.contains(&current))
    {
        return Ok(None);
    }
    // The page may have changed since, and its last event may not affect its content.
    let entry = open_catalog.map(|open_catalog| open_catalog.catalog.page(page)).transpose()?.flatten();
    let is_settled = match &entry {
        None => true,
        Some(entry) => {
            matches!(entry.state, PageState::Deleted | PageState::Removed | PageState::Refused)
                || entry.position == current
        }
    };
    let is_there = indexed.index.view()?.page(page)?.is_some_and(|now| now.fields.position == position);
    Ok((is_settled && is_there).then(|| match current {
        Some(current) => {
            format!("the index has the version at {position}, but the current one is at {current}")
        }
        None => "it is in the index, but was removed or deleted".into(),
    }))
}
