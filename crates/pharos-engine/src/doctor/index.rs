//! The index: are the generations whole, and is every page in it that should be, and no other?

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pharos_core::{LibraryPosition, PageId};
use pharos_index::{
    Card, EmbeddedIndex, GenerationFlaw, GenerationProblem, Generations, Index as _, IndexError, Query,
    Snapshot, check_generations,
};
use pharos_store::{Catalog as _, DataDir, PageState};

use super::catalog::{Facts, Known};
use super::library::Shelf;
use super::{Check, Exam, Examining, Store, page_id};
use crate::EngineError;

const DAMAGE: &str = "searches fail, or miss pages";
const MISSING: &str = "the page is not found";
const FOREIGN: &str = "something is found that should not be, or as it was";
const CURE: &str = "pharos doctor --repair, or pharos rebuild index";
const BATCH: usize = 256;
/// How long and how often a second look is taken.
const PAUSE: Duration = Duration::from_millis(200);
const LOOKS: usize = 5;

/// The index, and how far it had come when the examination began.
pub(super) struct Indexed {
    index: EmbeddedIndex,
    snapshot: Arc<dyn Snapshot>,
    pub(super) at: LibraryPosition,
    /// How far the history has come, which may be further.
    history: LibraryPosition,
    place: String,
}

/// Proves the generations and opens them. What is damaged is a finding, and not opened.
pub(super) fn open(data: &DataDir, exam: &mut Exam) -> Result<Option<Indexed>, EngineError> {
    let flaws = lasting_flaws(data)?;
    let mut usable = true;
    for flaw in flaws {
        if flaw.problem == GenerationProblem::Leftover {
            exam.needs.sweep = true;
            exam.fault(Store::Index, flaw.path.display(), &flaw.problem, "disk space only", CURE);
        } else {
            usable = false;
            exam.needs.index = true;
            exam.fault(Store::Index, flaw.path.display(), &flaw.problem, DAMAGE, CURE);
        }
    }
    if !usable {
        return Ok(None);
    }
    match open_whole(data) {
        Err(EngineError::Index(
            error @ (IndexError::Tantivy { .. }
            | IndexError::Damaged { .. }
            | IndexError::DamagedGeneration { .. }
            | IndexError::OlderFormat { .. }),
        )) => {
            exam.needs.index = true;
            exam.fault(Store::Index, data.index().display(), error, DAMAGE, CURE);
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

fn open_whole(data: &DataDir) -> Result<Indexed, EngineError> {
    let index = EmbeddedIndex::open_reader(&data.index())?;
    // A snapshot of the moment at which this much was absorbed.
    let (mut at, mut snapshot) = (index.absorbed()?, index.snapshot()?);
    for _ in 0..LOOKS {
        if index.absorbed()? == at {
            break;
        }
        thread::sleep(PAUSE * 2);
        (at, snapshot) = (index.absorbed()?, index.snapshot()?);
    }
    let history = Generations::at(data.index()).current()?.history.map_or(LibraryPosition::START, |h| h.to);
    let place = data.index().display().to_string();
    Ok(Indexed { index, snapshot, at, history, place })
}

/// Flaws that a second look finds too: commits, merges and switches are seen half done.
fn lasting_flaws(data: &DataDir) -> Result<Vec<GenerationFlaw>, EngineError> {
    let mut flaws = check_generations(&data.index())?;
    for _ in 0..LOOKS {
        if flaws.is_empty() {
            break;
        }
        thread::sleep(PAUSE);
        let again = check_generations(&data.index())?;
        flaws.retain(|flaw| again.contains(flaw));
    }
    Ok(flaws)
}

/// Compares the index with library and catalog. What cannot be read of it is a finding too.
pub(super) fn examine(
    indexed: &Indexed,
    known: Option<&Known>,
    facts: &Facts,
    shelf: &Shelf,
    exam: &mut Exam,
    check: Check<'_>,
) -> Result<(), EngineError> {
    match compare(indexed, known, facts, shelf, exam, check) {
        Err(EngineError::Index(
            error @ (IndexError::Tantivy { .. }
            | IndexError::Damaged { .. }
            | IndexError::DamagedGeneration { .. }
            | IndexError::OlderFormat { .. }),
        )) => {
            exam.needs.index = true;
            exam.fault(Store::Index, &indexed.place, error, DAMAGE, CURE);
            Ok(())
        }
        compared => compared,
    }
}

fn compare(
    indexed: &Indexed,
    known: Option<&Known>,
    facts: &Facts,
    shelf: &Shelf,
    exam: &mut Exam,
    check: Check<'_>,
) -> Result<(), EngineError> {
    if indexed.at > shelf.end {
        exam.needs.index = true;
        let what = format!("it knows the library up to {}, which ends at {}", indexed.at, shelf.end);
        exam.fault(Store::Index, &indexed.place, what, FOREIGN, CURE);
        return Ok(());
    }
    let snapshot = &indexed.snapshot;
    exam.diagnosis.searchable = snapshot.pages()?;
    // Copies are pages like others: each address has its own version, which must be the current one.
    let all = snapshot.search_addresses(&Query::All, usize::MAX)?;
    let mut found: HashMap<PageId, LibraryPosition> = HashMap::new();
    for batch in all.candidates.chunks(BATCH) {
        check(Examining::Index(found.len() as u64))?;
        for (candidate, card) in batch.iter().zip(snapshot.cards(batch)?) {
            if let Some(what) = foreign(indexed, known, shelf, exam, candidate.page, &card)? {
                exam.needs.index = true;
                exam.fault(Store::Index, &card.url, what, FOREIGN, CURE);
            }
            found.insert(candidate.page, card.position);
        }
    }
    // What the history left out may be known to the catalog only later.
    if facts.absorbed < indexed.history {
        return Ok(());
    }
    let Some(known) = known else { return Ok(()) };
    let fresh = indexed.index.snapshot()?;
    for (id, position) in &facts.indexable {
        let is_there = |at: LibraryPosition| at == *position || at >= indexed.at;
        if *position >= indexed.at || found.get(id).copied().is_some_and(is_there) || exam.is_lost(*position)
        {
            continue;
        }
        // The page may have changed since: what counts is what both say now.
        let Some(story) = known.catalog.page(*id)? else { continue };
        if !story.indexable || story.position != Some(*position) || shelf.hollow.contains(position) {
            continue;
        }
        if fresh.page(*id)?.is_some_and(|page| is_there(page.card.position)) {
            continue;
        }
        exam.needs.index = true;
        let what = match found.get(id) {
            Some(old) => format!("the index has its version at {old}, the current one stands at {position}"),
            None => format!("it is to be found by searching, and not in the index (record {position})"),
        };
        exam.fault(Store::Index, &story.url, what, MISSING, CURE);
    }
    Ok(())
}

/// What is wrong with a page being in the index as it is.
fn foreign(
    indexed: &Indexed,
    known: Option<&Known>,
    shelf: &Shelf,
    exam: &Exam,
    page: PageId,
    card: &Card,
) -> Result<Option<String>, EngineError> {
    let position = card.position;
    if page_id(&card.url) != Some(page) {
        return Ok(Some("it stands in the index under the number of another page".into()));
    }
    if position >= indexed.at || exam.is_lost(position) {
        return Ok(None);
    }
    match shelf.at(position) {
        None => return Ok(Some(format!("it is in the index, and no answer stands at {position}"))),
        Some(answer) if answer.page != page => {
            return Ok(Some(format!("it is in the index, and another page stands at {position}")));
        }
        Some(_) => {}
    }
    let current = shelf.current.get(&page).map(|(_, current)| *current);
    if current == Some(position) || current.is_some_and(|current| shelf.hollow.contains(&current)) {
        return Ok(None);
    }
    // A page may have changed since, and what happened last may say nothing about what it says.
    let story = known.map(|known| known.catalog.page(page)).transpose()?.flatten();
    let is_settled = match &story {
        None => true,
        Some(story) => {
            matches!(story.state, PageState::Deleted | PageState::Removed | PageState::Refused)
                || story.position == current
        }
    };
    let is_there = indexed.index.snapshot()?.page(page)?.is_some_and(|now| now.card.position == position);
    Ok((is_settled && is_there).then(|| match current {
        Some(current) => {
            format!("the index has its version at {position}, the current one stands at {current}")
        }
        None => "it is in the index, and was removed or deleted".into(),
    }))
}
