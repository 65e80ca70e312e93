//! The library (网页库): every answer we ever got, and every decision an operator took, in the order they came.

mod content_coding;
mod disk;
mod record;
mod warc;

use pharos_core::LibraryPosition;

use crate::StoreError;
pub use disk::DiskLibrary;
pub use record::{Content, Event, Record, Response, StoredRecord, Truncated};

/// An append-only sequence of records. Implementations promise:
///
/// * `append` returns when all its records are durable, in the order given, with nothing between them that
///   another call appended;
/// * a record that `append` returned a position for is there for good and reads back as it was given;
/// * a failed `append` leaves the library as it was before, and may be tried again;
/// * a damaged record hides no other record.
pub trait Library: Send + Sync {
    /// Appends records and waits until they are on disk. Gives each one's own position and the one after it.
    fn append(&self, records: &[Record]) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError>;

    /// The position after the last record.
    fn end(&self) -> Result<LibraryPosition, StoreError>;

    /// The record at a position that `append` or `scan` gave.
    fn read(&self, position: LibraryPosition) -> Result<StoredRecord, StoreError>;

    /// All records from a position on. A damaged stretch is one error; the scan goes on behind it.
    fn scan(&self, from: LibraryPosition) -> Result<Scan, StoreError>;
}

/// Records in order, with the damaged stretches between them.
pub type Scan = Box<dyn Iterator<Item = Result<StoredRecord, StoreError>> + Send>;
