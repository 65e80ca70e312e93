//! The library (网页库): all responses and all events in the order of their arrival, stored as WARC records.

mod check;
mod compaction;
mod compression;
mod content_coding;
mod disk;
mod record;
mod scan;
mod volumes;
pub(crate) mod warc;
mod warc_writer;
mod write_queue;

use std::path::PathBuf;

use pharos_core::{LibraryPosition, LibraryPositions};

use crate::StoreError;
pub use check::{LibraryFileDefect, LibraryFileDefectKind};
pub use compaction::{CompactionStats, RetentionAction};
pub use disk::DiskLibrary;
pub use record::{
    LibraryEvent, LibraryRecord, RawResponse, RecordContent, RecordKind, Revisit, StoredRecord,
    TruncationReason,
};
pub use warc::payload_digest;
pub use warc_writer::WarcWriter;
pub use write_queue::LibraryWriteOptions;

/// An append-only store of records: one log per writer, each a sequence.
///
/// Implementations guarantee:
///
/// * `append` returns when all its records are durable, in the given order, without records of other calls between
///   them.
/// * A record for which `append` returned a position is permanent and reads back unchanged.
/// * A failed `append` leaves the library unchanged and can be repeated.
/// * A damaged record hides no other record.
/// * A position identifies the same record permanently. At the position of a record removed by compaction, `read`
///   returns its placeholder, or an error.
pub trait Library: Send + Sync {
    /// Appends records and waits until they are durable. Returns the position of each record and the position after
    /// it.
    fn append(
        &self,
        records: &[LibraryRecord],
    ) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError>;

    /// Closes the current volume, so that all records so far are in volumes that can be compacted.
    fn seal(&self) -> Result<(), StoreError>;

    /// Returns the position after the last record of each log.
    fn end(&self) -> Result<LibraryPositions, StoreError>;

    /// Returns the record at a position that `append` or `scan` returned.
    fn read(&self, position: LibraryPosition) -> Result<StoredRecord, StoreError>;

    /// Returns `true` if there is a response or revisit at a position. Records dropped by compaction and unreadable
    /// records give `false`. Only the beginning of a record is read, so later damage is not detected.
    fn has_response(&self, position: LibraryPosition) -> bool {
        let content = self.read(position).map(|stored| stored.record.content);
        matches!(content, Ok(RecordContent::Response(_) | RecordContent::Revisit(_)))
    }

    /// Iterates over the records of one log from a position up to another, or up to the end. A damaged range is
    /// returned as one error, and the scan continues after it.
    fn scan(&self, from: LibraryPosition, to: Option<LibraryPosition>) -> Result<RecordScan, StoreError>;

    /// Iterates over the records of all logs, one log after another, like [`scan`](Library::scan).
    fn scan_logs(
        &self,
        from: &LibraryPositions,
        to: Option<&LibraryPositions>,
    ) -> Result<RecordScan, StoreError> {
        let ends = match to {
            Some(to) => to.clone(),
            None => self.end()?,
        };
        let mut scans = Vec::new();
        for end in ends.iter() {
            scans.push(self.scan(from.get(end.log), to.map(|_| end))?);
        }
        Ok(Box::new(scans.into_iter().flatten()))
    }

    /// Returns the start of each volume, in order.
    fn volumes(&self) -> Result<Vec<LibraryPosition>, StoreError>;

    /// Rewrites the volume that begins at `volume` if `decide` drops or erases a record of it.
    ///
    /// `before_replace` is called when the rewrite is certain and the old volume is still in place. The caller must
    /// own the data directory. The volume that is being appended to, and volumes with damaged records, are left
    /// unchanged.
    fn compact(
        &self,
        volume: LibraryPosition,
        decide: &mut dyn FnMut(&StoredRecord) -> Result<RetentionAction, StoreError>,
        before_replace: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<CompactionStats, StoreError>;

    /// Returns the operations on local files, or `None` if the library is stored elsewhere.
    fn local(&self) -> Option<&dyn LocalLibrary> {
        None
    }

    /// Returns the response at a position. The content of a revisit is read from the record it refers to.
    fn response(&self, position: LibraryPosition) -> Result<RawResponse, StoreError> {
        self.with_content(self.read(position)?)
    }

    /// Returns the response of a record. The content of a revisit is read from the record it refers to.
    fn with_content(&self, stored: StoredRecord) -> Result<RawResponse, StoreError> {
        match stored.record.content {
            RecordContent::Response(response) => Ok(response),
            RecordContent::Revisit(revisit) => match self.read(revisit.refers_to)?.record.content {
                RecordContent::Response(earlier) => Ok(revisit.resolve(earlier)),
                _ => Err(StoreError::NoRecord(revisit.refers_to)),
            },
            RecordContent::Event(_) => Err(StoreError::NoRecord(stored.position)),
        }
    }
}

/// A library in files of the local disk, which can be copied, inspected and repaired as files.
pub trait LocalLibrary: Library {
    /// Returns the files of the volumes with the volume numbers, in order.
    fn files(&self) -> Result<Vec<(u32, PathBuf)>, StoreError>;

    /// Checks the files without reading all records. `whole_up_to` is a position up to which the last volume is
    /// known to be intact. While an owner is running, records being written may be reported as torn or leftover.
    fn check_files(&self, whole_up_to: LibraryPosition) -> Result<Vec<LibraryFileDefect>, StoreError>;

    /// Returns the position after the last complete record, up to which a backup may copy. `known_good` is a
    /// position up to which the last volume need not be read again.
    fn intact_end(&self, known_good: LibraryPosition) -> Result<LibraryPosition, StoreError>;

    /// Rewrites missing or invalid offset tables and removes leftovers. The caller must own the data directory.
    fn repair_files(&self) -> Result<(), StoreError>;

    /// Rewrites a volume without its damaged ranges, which are set aside as files beside it. In place of each record of
    /// `placeholders` that lies in such a range, its placeholder is written.
    ///
    /// The caller must own the data directory. The volume that is being appended to is left unchanged.
    fn replace_damaged(
        &self,
        volume: u32,
        placeholders: &[(LibraryPosition, LibraryRecord)],
    ) -> Result<(), StoreError>;
}

/// Records in order, with an error for each damaged range.
pub type RecordScan = Box<dyn Iterator<Item = Result<StoredRecord, StoreError>> + Send>;
