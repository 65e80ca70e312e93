//! Compaction: volumes are rewritten without unwanted records, concurrently with readers.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::ops::AddAssign;
use std::path::Path;

use pharos_core::LibraryPosition;
use pharos_files::NewFile;

use super::compression::{Member, RecordCompressor, RecordDecompressor};
use super::volumes::{OffsetTable, Volume, file_name, format_from_path, offsets_path, remove_if_exists};
use super::{DiskLibrary, Library as _, LibraryEvent, LibraryRecord, RecordContent, StoredRecord, warc};
use crate::StoreError;

/// The action of compaction on a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetentionAction {
    Keep,
    /// Drops the content and keeps a placeholder of the version with this hash of its content.
    Drop(u64),
    /// Removes the record completely.
    Erase,
}

/// Statistics of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CompactionStats {
    /// Number of rewritten files.
    pub files: u64,
    /// Number of versions whose content was dropped.
    pub dropped: u64,
    /// Number of records removed completely.
    pub erased: u64,
    /// Size of the rewritten files before, in bytes.
    pub before: u64,
    /// Their size now, in bytes.
    pub after: u64,
}

impl AddAssign for CompactionStats {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.dropped += other.dropped;
        self.erased += other.erased;
        self.before += other.before;
        self.after += other.after;
    }
}

impl DiskLibrary {
    /// Implements [`Library::compact`](super::Library::compact).
    pub(super) fn compact_volume(
        &self,
        number: u32,
        decide: &mut dyn FnMut(&StoredRecord) -> Result<RetentionAction, StoreError>,
        before_replace: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<CompactionStats, StoreError> {
        let mut report = CompactionStats::default();
        if self.end_position()?.volume == number {
            return Ok(report);
        }
        let mut actions = Vec::new();
        let to = LibraryPosition::new(number, 0).next_volume();
        for stored in self.scan(LibraryPosition::new(number, 0), Some(to))? {
            let stored = match stored {
                Err(StoreError::Damaged { .. }) => return Ok(report),
                other => other?,
            };
            actions.push(match decide(&stored)? {
                // A dropped version is not dropped again.
                RetentionAction::Drop(_) if stored.record.status().is_none() => RetentionAction::Keep,
                other => other,
            });
        }
        report.dropped = actions.iter().filter(|f| matches!(f, RetentionAction::Drop(_))).count() as u64;
        report.erased = actions.iter().filter(|f| **f == RetentionAction::Erase).count() as u64;
        if report.dropped + report.erased == 0 {
            return Ok(report);
        }
        let (_, old) = self.volumes.open(number)?;
        let new = old.path.with_file_name(file_name(number, old.revision + 1, format_from_path(&old.path)));
        let failed = || StoreError::io("write", &new);
        let (revision, offsets) = write_revision(&old, &new, actions)?;
        revision.sync().map_err(failed())?;
        write_offsets(&new, &offsets)?;
        report.files = 1;
        report.before = fs::metadata(&old.path).map_err(failed())?.len();
        report.after = revision.file().metadata().map_err(failed())?.len();
        before_replace()?;
        revision.install().map_err(failed())?;
        remove_if_exists(&old.path)?;
        remove_if_exists(&offsets_path(&old.path))?;
        self.volumes.list()?;
        Ok(report)
    }
}

/// Writes the remaining records of a volume to a new file, which is not installed yet.
fn write_revision(
    old: &Volume,
    new: &Path,
    actions: Vec<RetentionAction>,
) -> Result<(NewFile, OffsetTable), StoreError> {
    let failed = || StoreError::io("write", new);
    let mut compressor = RecordCompressor::new(format_from_path(&old.path), LEVEL).map_err(failed())?;
    let mut out = BufWriter::new(NewFile::create(new).map_err(failed())?);
    let mut written = 0;
    let mut append = |bytes: &[u8]| {
        let mut member = Vec::new();
        compressor
            .compress(bytes, false, &mut member)
            .and_then(|()| out.write_all(&member))
            .map_err(failed())?;
        written += member.len() as u64;
        Ok::<u64, StoreError>(written - member.len() as u64)
    };
    let input = File::open(&old.path).map_err(StoreError::io("open", &old.path))?;
    let (mut input, mut decompressor) =
        (BufReader::with_capacity(256 << 10, input), RecordDecompressor::new());
    let (mut offsets, mut at, mut actions) = (Vec::new(), 0, actions.into_iter());
    // A request precedes its response and is kept or removed with it.
    let mut requests: Vec<Vec<u8>> = Vec::new();
    loop {
        let here = at;
        let bytes = match decompressor.read(&mut input, here) {
            Member::Good(bytes, length) => {
                at += length;
                bytes
            }
            Member::End => break,
            // The first pass has just read all of it.
            Member::Damaged(detail) | Member::Torn(detail) => {
                let position = LibraryPosition::new(old.number, here);
                return Err(StoreError::Damaged { position, detail });
            }
        };
        let parsed = warc::read_record(&bytes).map_err(|detail| StoreError::Damaged {
            position: LibraryPosition::new(old.number, here),
            detail,
        })?;
        let Some(record) = parsed.record else {
            if parsed.kind == "request" {
                requests.push(bytes);
            } else {
                append(&bytes)?;
            }
            continue;
        };
        let span = parsed.span.unwrap_or((here, at));
        let output = match actions.next().unwrap_or(RetentionAction::Keep) {
            // Records of a revision contain their span already.
            RetentionAction::Keep if parsed.span.is_some() => Some(bytes),
            RetentionAction::Keep => Some(warc::with_span(&bytes, span)),
            RetentionAction::Drop(digest) => {
                Some(warc::with_span(&warc::write_record(&dropped_placeholder(*record, digest)), span))
            }
            RetentionAction::Erase => None,
        };
        let requests = std::mem::take(&mut requests);
        if let Some(output) = output {
            for request in requests {
                append(&request)?;
            }
            offsets.push((span.0, append(&output)?));
        }
    }
    let new = out.into_inner().map_err(|e| failed()(e.into_error()))?;
    Ok((new, OffsetTable(offsets)))
}

/// Compression level of revisions, which are written once and read often.
const LEVEL: u32 = 6;

/// Returns the placeholder of a dropped version.
fn dropped_placeholder(record: LibraryRecord, digest: u64) -> LibraryRecord {
    let status = record.status().unwrap_or_default();
    LibraryRecord { content: RecordContent::Event(LibraryEvent::Dropped { status, digest }), ..record }
}

/// Writes the offset table of a volume.
pub(super) fn write_offsets(volume: &Path, offsets: &OffsetTable) -> Result<(), StoreError> {
    let path = offsets_path(volume);
    pharos_files::replace(&path, &offsets.to_bytes()).map_err(StoreError::io("write", &path))
}
