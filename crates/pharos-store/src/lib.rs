//! What we keep and what we know: the library of raw pages and the catalog of URLs.
//!
//! **In:** answers of web servers ([`Record`]) and what was learnt from them ([`Change`], [`Analysed`]).
//! **Out:** every stored page by position or in order; what is due, what is known, what happened to a URL; page objects
//! and links.
//!
//! The **library is the truth**. It is written and synced first; the catalog stores, in the same transaction as
//! the changes, the library position it has absorbed, and on start the library is replayed from there; so do the
//! stores of page objects and links beside the library. There is no other recovery code.
//!
//! ```no_run
//! # fn main() -> Result<(), pharos_store::StoreError> {
//! use pharos_store::{DataDir, DiskLibrary, Library, LibraryPosition};
//!
//! let data = DataDir::at("data");
//! let library = DiskLibrary::open_reader(&data.library())?;
//! for stored in library.scan(LibraryPosition::START, None)? {
//!     println!("{}", stored?.record.url);
//! }
//! # Ok(()) }
//! ```
//!
//! # Files
//! `library/` the WARC files; `catalog/` what is known, in SQLite; `derived/` page objects and links. Formats of others:
//! `warc_file/`, [`tianwang`], [`tianwang_index`], [`soif`], [`cdxj`].
//!
//! # Invariants
//! * [`Library::append`] returns only when its records are on disk; what it returned is never lost.
//! * A position means the same record for ever, also when [compaction](DiskLibrary::compact) has moved it; a torn tail
//!   (never acknowledged) is set aside, not thrown away.
//! * [`Catalog::apply`] is all or nothing, and its position never goes back.
//! * One process writes ([`Owner`]), any number read.

mod catalog;
pub mod cdxj;
mod data_dir;
mod derived;
mod error;
mod library;
pub mod soif;
pub mod tianwang;
pub mod tianwang_index;
mod warc_file;

pub use catalog::{
    Answered, Applied, Catalog, CatalogCounts, Change, CrawlRules, DueOrder, DuePage, Found, Outcome,
    PageState, PageStory, Removal, RobotsFile, RobotsState, SiteCounts, SiteList, SiteOrder, SiteQuery,
    SiteRow, SiteState, SiteStory, SqliteCatalog, Submission, TROUBLES_LOOKED_AT, Trouble, TroubleQuery,
    Validators, Version,
};
pub use data_dir::{DataDir, Owner};
pub use derived::{
    Analysed, DerivedReader, DerivedWriter, Flaw, LinkPair, PageLinks, Piece, Problem, StoredPage,
};
pub use error::StoreError;
pub use library::{
    Compacted, Content, DiskLibrary, Event, Fate, FileFlaw, FileProblem, Library, Record, Response, Revisit,
    Scan, StoredRecord, Truncated, WarcWriter, Writing, payload_digest,
};
pub use pharos_core::LibraryPosition;
pub use warc_file::{Damage, ReadAhead, WarcRecord, WarcScan, open_warc};
