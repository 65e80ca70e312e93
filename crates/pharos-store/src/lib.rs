//! The stores of Pharos: the library of raw responses, the catalog of URLs, and the data derived from the library.
//!
//! **Input:** responses and events ([`LibraryRecord`]), changes computed from them ([`CatalogChange`]) and analysed
//! pages ([`derived::DerivedRecord`]).
//! **Output:** records by position or in order, due pages, page and site reports, page objects and links.
//!
//! The library is the source of truth and is written and synced first. Catalog and derived files store, in the same
//! transaction or block as their data, the library position they have applied. At start the library is replayed from
//! there. Consistency after a crash needs no other code.
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
//! # Invariants
//! * [`Library::append`] returns when its records are durable; acknowledged records are never lost.
//! * A position identifies the same record permanently, also after [compaction](Library::compact). A torn tail,
//!   which was never acknowledged, is moved to a separate file and not deleted.
//! * [`Catalog::apply`] is atomic, and its position never decreases.
//! * One process writes ([`OwnerLock`]); any number of processes read.
//!
//! # Modules
//! * `library/`: append-only WARC volumes, group commit, compaction, integrity check.
//! * `catalog/`: trait, state transitions of a page, SQLite implementation.
//! * `derived/`: page objects and links per analyser version.
//! * `interpret/`: the meaning of a record for catalog and index; scope, robots.txt, weights, refresh.
//! * `formats/`: foreign WARC files, CDXJ, Tianwang, SOIF.

pub mod catalog;
mod data_dir;
pub mod derived;
mod error;
pub mod formats;
pub mod interpret;
pub mod library;

pub use catalog::{
    Catalog, CatalogChange, CrawlRules, DuePage, PageDetails, PageState, SiteReport, SqliteCatalog,
    VisitOutcome,
};
pub use data_dir::{DataDir, OwnerLock};
pub use derived::{DerivedReader, DerivedWriter};
pub use error::StoreError;
pub use library::{
    DiskLibrary, Library, LibraryEvent, LibraryRecord, LibraryWriteOptions, RawResponse, RecordContent,
    RecordKind, StoredRecord,
};
pub use pharos_core::{LibraryPosition, LibraryPositions};
