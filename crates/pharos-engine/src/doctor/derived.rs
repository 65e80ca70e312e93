//! Page objects and links: are the blocks as they were written, and is nothing missing between them?

use std::fs;
use std::thread;
use std::time::Duration;

use pharos_core::LibraryPosition;
use pharos_store::{DataDir, DerivedReader, DiskLibrary, Flaw, Library as _, Piece, Problem, StoreError};

use super::library::Shelf;
use super::{Exam, Store};
use crate::EngineError;

const COST: &str = "builds read the raw pages again; nothing is lost";
const CURE: &str = "pharos doctor --repair makes it again";
/// How long and how often a second look is taken, beside an owner.
const PAUSE: Duration = Duration::from_millis(300);
const LOOKS: usize = 4;
/// Bytes of the library that are far more than one block of page objects is made of.
const MUCH: u64 = 64 << 20;

/// Proves the derived files, as far as the catalog has come.
pub(super) fn examine(
    data: &DataDir,
    library: &DiskLibrary,
    shelf: &Shelf,
    absorbed: LibraryPosition,
    owned: bool,
    exam: &mut Exam,
) -> Result<(), EngineError> {
    let reader = DerivedReader::open(&data.library(), pharos_html::VERSION);
    let to = absorbed.min(shelf.end);
    let mut flaws = flaws(&reader, to)?;
    for _ in 0..LOOKS {
        if !owned || flaws.is_empty() {
            break;
        }
        // A block that is being written looks torn.
        thread::sleep(PAUSE);
        let again = self::flaws(&reader, to)?;
        flaws.retain(|flaw| again.contains(flaw));
    }
    // A crawl alone makes none: whoever needs them does.
    let promised = reader.promised();
    flaws.retain(|flaw| !matches!(flaw.problem, Problem::Missing { from, .. } if from >= promised));
    for flaw in flaws {
        let place = flaw.path.display().to_string();
        let text = flaw.to_string();
        let what = text.strip_prefix(&format!("{place}: ")).unwrap_or(&text);
        let cure = if matches!(flaw.problem, Problem::Newer { .. }) { "use a newer pharos" } else { CURE };
        let place = match &flaw.problem {
            Problem::Damaged { offset, .. } => format!("{place} at byte {offset}"),
            Problem::Missing { from, .. } => format!("{place} from {from}"),
            Problem::Stale { .. } | Problem::Newer { .. } => place,
        };
        exam.fault(Store::Derived, place, what, COST, cure);
        exam.needs.derived.extend(file_of(&flaw));
    }
    if is_ahead(&reader, library, shelf.end, owned)? {
        exam.fault(
            Store::Derived,
            data.library().join("pages").display(),
            format!("it knows more than the library, which ends at {}", shelf.end),
            "pages that are stored from now on would have no page object and no links",
            CURE,
        );
        exam.needs.derived.extend(numbers(data).into_iter().filter(|number| *number >= shelf.end.file));
    }
    Ok(())
}

/// What is wrong. That the end has not been derived yet is not: it is when the engine starts. But where one of the two
/// folders has what the other has not, and not even the beginning of that file, or where more is missing than a crash
/// leaves behind, files were lost.
fn flaws(reader: &DerivedReader, to: LibraryPosition) -> Result<Vec<Flaw>, StoreError> {
    let mut flaws = reader.check(to)?;
    let ends: Vec<LibraryPosition> = flaws.iter().filter_map(|flaw| open_end(flaw, to)).collect();
    flaws.retain(|flaw| match open_end(flaw, to) {
        None => true,
        Some(from) => {
            let is_whole_file = from.offset == 0;
            let other_has_more = ends.len() < 2 || ends.iter().any(|other| *other > from);
            let is_much = to.file > from.file + 1 || (to.file == from.file && to.offset > MUCH);
            is_whole_file && (other_has_more || is_much)
        }
    });
    Ok(flaws)
}

/// Where a gap begins that reaches to the end.
fn open_end(flaw: &Flaw, end: LibraryPosition) -> Option<LibraryPosition> {
    match flaw.problem {
        Problem::Missing { from, to } if to >= end => Some(from),
        _ => None,
    }
}

/// The library file that a flaw belongs to.
fn file_of(flaw: &Flaw) -> Option<u32> {
    match &flaw.problem {
        Problem::Missing { from, .. } | Problem::Stale { from, .. } => Some(from.file),
        Problem::Newer { .. } => None,
        Problem::Damaged { .. } => number(flaw.path.file_name()?.to_str()?),
    }
}

fn number(name: &str) -> Option<u32> {
    name.get(..8)?.parse().ok()
}

/// Numbers of the derived files there are.
fn numbers(data: &DataDir) -> Vec<u32> {
    let folders = ["pages", "links"].map(|folder| data.library().join(folder));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect()
}

/// Is something covered that the library does not have? Beside an owner the library may just have grown.
fn is_ahead(
    reader: &DerivedReader,
    library: &DiskLibrary,
    end: LibraryPosition,
    owned: bool,
) -> Result<bool, EngineError> {
    let mut end = end;
    loop {
        if !covers(reader, end)? {
            return Ok(false);
        }
        let now = library.end()?;
        if !owned || now <= end {
            return Ok(true);
        }
        end = now;
    }
}

/// Does a block cover this place?
fn covers(reader: &DerivedReader, at: LibraryPosition) -> Result<bool, StoreError> {
    if at == LibraryPosition::START {
        return Ok(false);
    }
    let to = LibraryPosition { offset: at.offset + 1, ..at };
    let gap = |piece: Option<Result<bool, StoreError>>| piece.transpose().map(|gap| gap.unwrap_or(false));
    let pages = reader.pages_without_links(at, to).map(|p| p.map(|p| matches!(p, Piece::Gap { .. })));
    let links = reader.links(at, to).map(|p| p.map(|p| matches!(p, Piece::Gap { .. })));
    Ok(!gap(pages.into_iter().next())? || !gap(links.into_iter().next())?)
}
