//! The library (网页库): every answer we ever got, and every decision an operator took, in the order they came.

mod check;
mod compact;
mod content_coding;
mod disk;
mod packing;
mod queue;
mod record;
mod scan;
mod volumes;
pub(crate) mod warc;
mod warc_writer;

use pharos_core::LibraryPosition;

use crate::StoreError;
pub use check::{FileFlaw, FileProblem};
pub use compact::{Compacted, Fate};
pub use disk::DiskLibrary;
pub use queue::Writing;
pub use record::{Content, Event, Record, Response, Revisit, StoredRecord, Truncated};
pub use warc::digest as payload_digest;
pub use warc_writer::WarcWriter;

/// An append-only sequence of records. Implementations promise:
///
/// * `append` returns when all its records are durable, in the order given, with nothing between them that
///   another call appended;
/// * a record that `append` returned a position for is there for good and reads back as it was given;
/// * a failed `append` leaves the library as it was before, and may be tried again;
/// * a damaged record hides no other record;
/// * a position means the same record for ever; one that compaction dropped gives what is left of it, or nothing.
pub trait Library: Send + Sync {
    /// Appends records and waits until they are on disk. Gives each one's own position and the one after it.
    fn append(&self, records: &[Record]) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError>;

    /// Ends the file that is being written, so that all records so far stand in files that can be compacted.
    fn seal(&self) -> Result<(), StoreError>;

    /// The position after the last record.
    fn end(&self) -> Result<LibraryPosition, StoreError>;

    /// The record at a position that `append` or `scan` gave.
    fn read(&self, position: LibraryPosition) -> Result<StoredRecord, StoreError>;

    /// Is there an answer at a position, or its repetition? What compaction let go is none, nor what cannot be read; of a
    /// record only the beginning is looked at, so damage further on is not seen.
    fn has_answer(&self, position: LibraryPosition) -> bool {
        let content = self.read(position).map(|stored| stored.record.content);
        matches!(content, Ok(Content::Response(_) | Content::Revisit(_)))
    }

    /// All records from a position on, up to another or to the end. A damaged stretch is one error; the scan goes on
    /// behind it.
    fn scan(&self, from: LibraryPosition, to: Option<LibraryPosition>) -> Result<Scan, StoreError>;

    /// The answer at a position, with its content also where an earlier record holds it.
    fn response(&self, position: LibraryPosition) -> Result<Response, StoreError> {
        self.with_content(self.read(position)?)
    }

    /// The answer of a record, with its content also where an earlier record holds it.
    fn with_content(&self, stored: StoredRecord) -> Result<Response, StoreError> {
        match stored.record.content {
            Content::Response(response) => Ok(response),
            Content::Revisit(revisit) => match self.read(revisit.of)?.record.content {
                Content::Response(earlier) => Ok(revisit.with(earlier)),
                _ => Err(StoreError::NoRecord(revisit.of)),
            },
            Content::Event(_) => Err(StoreError::NoRecord(stored.position)),
        }
    }
}

/// Records in order, with the damaged stretches between them.
pub type Scan = Box<dyn Iterator<Item = Result<StoredRecord, StoreError>> + Send>;
