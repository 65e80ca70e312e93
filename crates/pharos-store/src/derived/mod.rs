//! What is derived from the library: cleaned page objects, and the structure of the web (links with anchors).
//!
//! Understanding a page costs far more than reading what was understood, so it is done once for each version of
//! the analyser and kept: `pages/00000001.pages.zst` and `links/00000001.links.zst` belong to `00000001.warc.gz`.
//! The library stays the truth. These files may be deleted at any time; they are made again from it.
//!
//! The writer follows the one rule of recovery: it knows which position of the library it has absorbed, and is
//! given the library from there. That one rule mends everything: a crash, a file thrown away, a block that was
//! cut off, and a new analyser, for which nothing is absorbed yet.
//!
//! ```no_run
//! # use std::path::Path;
//! # fn analyse(stored: pharos_store::StoredRecord) -> pharos_store::Analysed { unreachable!() }
//! # fn main() -> Result<(), pharos_store::StoreError> {
//! use pharos_store::{DerivedReader, DerivedWriter, DiskLibrary, Library, LibraryPosition, Piece};
//!
//! let dir = Path::new("data/library");
//! let library = DiskLibrary::open_reader(dir)?;
//! let mut derived = DerivedWriter::open(dir, 1)?;
//! for stored in library.scan(derived.absorbed(), None)? {
//!     derived.add([analyse(stored?)])?;
//! }
//! derived.flush()?;
//!
//! for piece in DerivedReader::open(dir, 1).pages(LibraryPosition::START, library.end()?) {
//!     match piece? {
//!         Piece::Kept(stored) => println!("{} {}", stored.url, stored.page.title),
//!         Piece::Gap { from, to } => println!("to be read from the library: {from} to {to}"),
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # Invariants
//! * Every block says which stretch of the library it covers, and by which analyser; a file covers its library
//!   file from the beginning on, without a hole, and nothing twice.
//! * What was flushed is durable. A process that dies leaves at most one torn block in each folder, and the next
//!   writer cuts it off.
//! * Readers believe nothing: what is missing, damaged or stale is a [`Piece::Gap`], and never hides what is good.

mod blocks;
mod chain;
mod coding;
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

/// The file beside the folders that tells how far they had come: what is missing before that was lost, what is missing
/// behind it is not made yet.
const MARK: &str = "derived";

pub use reader::DerivedReader;
pub use writer::DerivedWriter;

/// One record of the library, analysed.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysed {
    /// Where the record stands.
    pub position: LibraryPosition,
    /// The position after it.
    pub next: LibraryPosition,
    /// When it was fetched.
    pub at: Timestamp,
    /// The URL it is about.
    pub url: PageUrl,
    /// What it became. `None`: nothing to keep (a failure, a redirect, robots.txt …).
    pub page: Option<PageObject>,
}

/// A part of the library: something kept about it, or the knowledge that nothing is.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<T> {
    /// What was kept.
    Kept(T),
    /// No good block of the wanted analyser covers this stretch: read the raw pages instead.
    Gap {
        /// Where it begins.
        from: LibraryPosition,
        /// Where it ends.
        to: LibraryPosition,
    },
}

/// A page object and the record it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPage {
    /// Where the record stands.
    pub position: LibraryPosition,
    /// The position after it.
    pub next: LibraryPosition,
    /// When it was fetched.
    pub at: Timestamp,
    /// Its URL.
    pub url: PageUrl,
    /// The page object.
    pub page: PageObject,
}

/// The links of one page, in the order of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageLinks {
    /// Where the page's record stands.
    pub position: LibraryPosition,
    /// The position after it.
    pub next: LibraryPosition,
    /// The page.
    pub url: PageUrl,
    /// Where it leads.
    pub links: Vec<Link>,
}

/// A link as link analysis sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPair {
    /// The page that has the link.
    pub from: PageId,
    /// The page it leads to.
    pub to: PageId,
    /// What kind of link.
    pub kind: LinkKind,
    /// The link, or its page as a whole, asks not to be followed.
    pub nofollow: bool,
}

/// Something a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The file, or the folder where a file is missing.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with derived files. None of it loses anything: it costs reading the raw pages again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something is not as it was written.
    Damaged {
        /// Byte offset in the file.
        offset: u64,
        /// What.
        detail: &'static str,
    },
    /// Made by another analyser, or with another way of writing URLs.
    Stale {
        /// Which analyser.
        analyser: u32,
        /// Where the stretch begins.
        from: LibraryPosition,
        /// Where it ends.
        to: LibraryPosition,
    },
    /// In a format that only a newer version knows.
    Newer {
        /// Which format.
        format: u32,
    },
    /// A stretch of the library that nothing covers.
    Missing {
        /// Where it begins.
        from: LibraryPosition,
        /// Where it ends.
        to: LibraryPosition,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.problem {
            Problem::Damaged { offset, detail } => write!(f, "damaged at byte {offset}: {detail}"),
            Problem::Stale { analyser, from, to } => {
                write!(f, "{from} to {to} was made by analyser {analyser}, which is not this one")
            }
            Problem::Newer { format } => write!(f, "format {format} is known to a newer pharos only"),
            Problem::Missing { from, to } => write!(f, "nothing about {from} to {to}"),
        }
    }
}

/// What can be read on its own: one section of a pages block, or one links block.
struct Stretch {
    file: Arc<File>,
    block: Arc<blocks::Block>,
    sections: Range<usize>,
    /// What it covers.
    whole: Range<LibraryPosition>,
    /// What of that is wanted.
    range: Range<LibraryPosition>,
}
