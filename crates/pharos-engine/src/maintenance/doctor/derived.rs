//! Checks page objects and links: block checksums and completeness.

use std::fs;
use std::thread;
use std::time::Duration;

use pharos_core::LibraryPosition;
use pharos_store::derived::{DerivedDefect, DerivedDefectKind, DerivedItem};
use pharos_store::{DataDir, DerivedReader, Library, StoreError};

use super::library::LibraryContents;
use super::{CheckedStore, Examination};
use crate::EngineError;

const COST: &str = "builds must parse the raw pages again; no data is lost";
const OLDER: &str = "written by an earlier version; builds analyse these pages again";
const CURE: &str = "`pharos doctor --repair` derives it again";
/// Delay and number of repeated checks alongside an owner.
const RECHECK_DELAY: Duration = Duration::from_millis(300);
const RECHECKS: usize = 4;
/// Bytes of library far exceeding the input of one block of page objects.
const MANY_BYTES: u64 = 64 << 20;

/// Verifies the derived files up to the position the catalog has applied.
pub(super) fn examine(
    data: &DataDir,
    library: &dyn Library,
    contents: &LibraryContents,
    applied: LibraryPosition,
    owned: bool,
    exam: &mut Examination,
) -> Result<(), EngineError> {
    let reader = DerivedReader::open(&data.library(), pharos_html::VERSION);
    // Derived data exists for one log.
    let end = contents.end.get(applied.log);
    let to = applied.earlier(end);
    let mut flaws = flaws(&reader, to)?;
    for _ in 0..RECHECKS {
        if !owned || flaws.is_empty() {
            break;
        }
        // A block that is being written looks torn.
        thread::sleep(RECHECK_DELAY);
        let again = self::flaws(&reader, to)?;
        flaws.retain(|flaw| again.contains(flaw));
    }
    // A crawl without indexing writes no derived data; a later run derives it.
    let promised = reader.writer_position();
    flaws.retain(|flaw| !matches!(flaw.problem, DerivedDefectKind::Missing { from, .. } if from >= promised));
    for flaw in flaws {
        let place = flaw.path.display().to_string();
        if matches!(flaw.problem, DerivedDefectKind::Stale { analyser, .. } if analyser < pharos_html::VERSION)
        {
            exam.note(CheckedStore::Derived, place, OLDER);
            exam.needs.derived.extend(file_of(&flaw));
            continue;
        }
        let text = flaw.to_string();
        let what = text.strip_prefix(&format!("{place}: ")).unwrap_or(&text);
        let cure = if matches!(flaw.problem, DerivedDefectKind::Newer { .. }) {
            "use a newer version of pharos"
        } else {
            CURE
        };
        let place = match &flaw.problem {
            DerivedDefectKind::Damaged { offset, .. } => format!("{place} at byte {offset}"),
            DerivedDefectKind::Missing { from, .. } => format!("{place} from {from}"),
            DerivedDefectKind::Stale { .. } | DerivedDefectKind::Newer { .. } => place,
        };
        exam.fault(CheckedStore::Derived, place, what, COST, cure);
        exam.needs.derived.extend(file_of(&flaw));
    }
    if is_ahead(&reader, library, end, owned)? {
        exam.fault(
            CheckedStore::Derived,
            data.library().join("pages").display(),
            format!("it covers more than the library, which ends at {end}"),
            "pages stored from now on would have no page object and no links",
            CURE,
        );
        exam.needs.derived.extend(numbers(data).into_iter().filter(|number| *number >= end.volume));
    }
    Ok(())
}

/// Returns the flaws, ignoring an end that is not derived yet, which the next start of the engine derives.
///
/// An open end is a flaw if files were lost: if only one of the two directories lacks a whole file, or if more is missing
/// than a crash can leave behind.
fn flaws(reader: &DerivedReader, to: LibraryPosition) -> Result<Vec<DerivedDefect>, StoreError> {
    let mut flaws = reader.check(to)?;
    let ends: Vec<LibraryPosition> = flaws.iter().filter_map(|flaw| open_end(flaw, to)).collect();
    flaws.retain(|flaw| match open_end(flaw, to) {
        None => true,
        Some(from) => {
            let is_whole_file = from.offset == 0;
            let other_has_more = ends.len() < 2 || ends.iter().any(|other| *other > from);
            let is_much = to.volume > from.volume + 1 || (to.volume == from.volume && to.offset > MANY_BYTES);
            is_whole_file && (other_has_more || is_much)
        }
    });
    Ok(flaws)
}

/// Returns the start of a gap that reaches to the end.
fn open_end(flaw: &DerivedDefect, end: LibraryPosition) -> Option<LibraryPosition> {
    match flaw.problem {
        DerivedDefectKind::Missing { from, to } if to >= end => Some(from),
        _ => None,
    }
}

/// Returns the number of the library file that a flaw belongs to.
fn file_of(flaw: &DerivedDefect) -> Option<u32> {
    match &flaw.problem {
        DerivedDefectKind::Missing { from, .. } | DerivedDefectKind::Stale { from, .. } => Some(from.volume),
        DerivedDefectKind::Newer { .. } => None,
        DerivedDefectKind::Damaged { .. } => number(flaw.path.file_name()?.to_str()?),
    }
}

fn number(name: &str) -> Option<u32> {
    name.get(..8)?.parse().ok()
}

/// Returns the numbers of the existing derived files.
fn numbers(data: &DataDir) -> Vec<u32> {
    let folders = ["pages", "links"].map(|folder| data.library().join(folder));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect()
}

/// Returns `true` if derived data covers more than the library. Alongside an owner, the library may just have grown.
fn is_ahead(
    reader: &DerivedReader,
    library: &dyn Library,
    end: LibraryPosition,
    owned: bool,
) -> Result<bool, EngineError> {
    let mut end = end;
    loop {
        if !covers(reader, end)? {
            return Ok(false);
        }
        let now = library.end()?.get(end.log);
        if !owned || now <= end {
            return Ok(true);
        }
        end = now;
    }
}

/// Returns `true` if a block covers this position.
fn covers(reader: &DerivedReader, at: LibraryPosition) -> Result<bool, StoreError> {
    if at == LibraryPosition::START {
        return Ok(false);
    }
    let to = LibraryPosition { offset: at.offset + 1, ..at };
    let gap = |piece: Option<Result<bool, StoreError>>| piece.transpose().map(|gap| gap.unwrap_or(false));
    let pages = reader.pages_without_links(at, to).map(|p| p.map(|p| matches!(p, DerivedItem::Gap { .. })));
    let links = reader.links(at, to).map(|p| p.map(|p| matches!(p, DerivedItem::Gap { .. })));
    Ok(!gap(pages.into_iter().next())? || !gap(links.into_iter().next())?)
}
