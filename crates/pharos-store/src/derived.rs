//! Derived data: page objects and links (with anchors) extracted from the library.
//!
//! Analysing a page costs far more than reading the result, so each analyser version analyses a page once and stores
//! the result: `pages/00000001.pages.zst` and `links/00000001.links.zst` belong to `00000001.warc.gz`. The library
//! remains the source of truth. The derived files may be deleted at any time and are rebuilt from it.
//!
//! The writer stores the library position it has processed and is given the library from there. This one rule covers
//! a crash, a deleted file, a truncated block and a new analyser version, for which no position has been processed
//! yet.
//!
//! ```no_run
//! # use std::path::Path;
//! # fn analyse(stored: pharos_store::StoredRecord) -> pharos_store::derived::DerivedRecord { unreachable!() }
//! # fn main() -> Result<(), pharos_store::StoreError> {
//! use pharos_store::derived::{DerivedItem, DerivedReader, DerivedWriter};
//! use pharos_store::{DiskLibrary, Library, LibraryPosition};
//!
//! let dir = Path::new("data/library");
//! let library = DiskLibrary::open_reader(dir)?;
//! let mut derived = DerivedWriter::open(dir, 1)?;
//! for stored in library.scan(derived.durable_position(), None)? {
//!     derived.add([analyse(stored?)])?;
//! }
//! derived.flush()?;
//!
//! for item in DerivedReader::open(dir, 1).pages(LibraryPosition::START, library.end()?.get(0)) {
//!     match item? {
//!         DerivedItem::Present(stored) => println!("{} {}", stored.url, stored.page.title),
//!         DerivedItem::Gap { from, to } => println!("to be read from the library: {from} to {to}"),
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Every block states the library range it covers and the analyser version. The blocks of a file cover its library
//!   volume from the beginning, without a gap and without overlap.
//! * Flushed data is durable. A crash leaves at most one torn block in each directory, which the next writer truncates.
//! * Readers verify everything. Missing, damaged or stale data is returned as [`DerivedItem::Gap`] and never hides
//!   valid data.

mod block_writer;
mod blocks;
mod encoding;
mod links;
mod pages;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use pharos_core::{LibraryPosition, Link, LinkKind, PageId, PageObject, PageUrl, Timestamp};

/// File that records the position the writer has reached. Data missing before that position was lost; data after it has not
/// been produced yet.
const PROGRESS_FILE: &str = "derived";

pub use reader::DerivedReader;
pub use writer::DerivedWriter;

/// The result of analysing one library record.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedRecord {
    /// Position of the record.
    pub position: LibraryPosition,
    /// Position after the record.
    pub next: LibraryPosition,
    /// Time of the fetch.
    pub at: Timestamp,
    pub url: PageUrl,
    /// The page object, or `None` if there is nothing to store (a failure, a redirect, robots.txt …).
    pub page: Option<PageObject>,
}

/// A stored item, or a library range without stored data.
#[derive(Clone, Debug, PartialEq)]
pub enum DerivedItem<T> {
    Present(T),
    /// No valid block of the requested analyser covers this range; the raw pages have to be analysed again.
    Gap {
        from: LibraryPosition,
        to: LibraryPosition,
    },
}

/// A page object with the position of its library record.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedPage {
    /// Position of the record.
    pub position: LibraryPosition,
    /// Position after the record.
    pub next: LibraryPosition,
    /// Time of the fetch.
    pub at: Timestamp,
    pub url: PageUrl,
    pub page: PageObject,
}

/// The links of one page, in page order.
#[derive(Clone, Debug, PartialEq)]
pub struct PageLinks {
    /// Position of the page's record.
    pub position: LibraryPosition,
    /// Position after the record.
    pub next: LibraryPosition,
    pub url: PageUrl,
    pub links: Vec<Link>,
}

/// A link as an edge of the web graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPair {
    /// Source page.
    pub from: PageId,
    /// Target page.
    pub to: PageId,
    pub kind: LinkKind,
    /// The link, or its page as a whole, is marked `nofollow`.
    pub nofollow: bool,
}

/// A defect found by a check of the derived files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedDefect {
    /// The file, or the directory if a file is missing.
    pub path: PathBuf,
    pub problem: DerivedDefectKind,
}

/// The kind of a defect of derived files. No defect loses data: it costs analysing the raw pages again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivedDefectKind {
    /// A block or section is damaged.
    Damaged { offset: u64, detail: &'static str },
    /// Written by another analyser version or with another URL normalisation.
    Stale { analyser: u32, from: LibraryPosition, to: LibraryPosition },
    /// The format is newer than this version supports.
    Newer { format: u32 },
    /// A library range that no block covers.
    Missing { from: LibraryPosition, to: LibraryPosition },
}

impl fmt::Display for DerivedDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.problem {
            DerivedDefectKind::Damaged { offset, detail } => write!(f, "damaged at byte {offset}: {detail}"),
            DerivedDefectKind::Stale { analyser, from, to } => {
                write!(f, "{from} to {to} was written by analyser {analyser}, which is not the current one")
            }
            DerivedDefectKind::Newer { format } => {
                write!(f, "format {format} requires a newer version of pharos")
            }
            DerivedDefectKind::Missing { from, to } => write!(f, "no data for {from} to {to}"),
        }
    }
}

/// A part of a block that can be read on its own: one section of a pages block, or a whole links block.
struct BlockPart {
    file: Arc<File>,
    block: Arc<blocks::Block>,
    sections: Range<usize>,
    /// The library range it covers.
    whole: Range<LibraryPosition>,
    /// The requested part of that range.
    range: Range<LibraryPosition>,
}
