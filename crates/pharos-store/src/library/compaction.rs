//! Compaction: volumes are rewritten without unwanted records, concurrently with readers.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use pharos_files::NewFile;

use super::compression::{Member, RecordCompressor, RecordDecompressor};
use super::scan::find_next_record;
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
        (report.before, report.after) = self.replace_volume(number, actions, None, before_replace)?;
        report.files = 1;
        Ok(report)
    }

    /// Implements [`LocalLibrary::replace_damaged`](super::LocalLibrary::replace_damaged).
    pub(super) fn replace_damaged_ranges(
        &self,
        number: u32,
        placeholders: &[(LibraryPosition, LibraryRecord)],
    ) -> Result<(), StoreError> {
        if self.end_position()?.volume == number {
            return Ok(());
        }
        self.replace_volume(number, Vec::new(), Some(placeholders), &mut || Ok(()))?;
        Ok(())
    }

    /// Replaces a volume by its next revision. Returns the sizes of both.
    fn replace_volume(
        &self,
        number: u32,
        actions: Vec<RetentionAction>,
        placeholders: Option<&[(LibraryPosition, LibraryRecord)]>,
        before_replace: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(u64, u64), StoreError> {
        let (_, old) = self.volumes.open(number)?;
        let new = old.path.with_file_name(file_name(number, old.revision + 1, format_from_path(&old.path)));
        let failed = || StoreError::io("write", &new);
        let (revision, offsets) = write_revision(&old, &new, actions, placeholders)?;
        revision.sync().map_err(failed())?;
        write_offsets(&new, &offsets)?;
        let before = fs::metadata(&old.path).map_err(failed())?.len();
        let after = revision.file().metadata().map_err(failed())?.len();
        before_replace()?;
        revision.install().map_err(failed())?;
        remove_if_exists(&old.path)?;
        remove_if_exists(&offsets_path(&old.path))?;
        self.volumes.list()?;
        Ok((before, after))
    }
}

/// Copies a damaged range of a volume to a file beside it.
fn set_aside(volume: &Volume, from: u64, to: u64) -> Result<(), StoreError> {
    let aside = PathBuf::from(format!("{}{DAMAGED_INFIX}{from}", volume.path.display()));
    let mut copy = NewFile::create(&aside).map_err(StoreError::io("create", &aside))?;
    let mut file = File::open(&volume.path).map_err(StoreError::io("open", &volume.path))?;
    file.seek(SeekFrom::Start(from))
        .and_then(|_| io::copy(&mut file.take(to - from), &mut copy))
        .and_then(|_| copy.install())
        .map_err(StoreError::io("write", &aside))
}

/// Writes the remaining records of a volume to a new file, which is not installed yet.
///
/// Damage is an error, unless there are placeholders for the records it has destroyed.
fn write_revision(
    old: &Volume,
    new: &Path,
    actions: Vec<RetentionAction>,
    placeholders: Option<&[(LibraryPosition, LibraryRecord)]>,
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
    let length = fs::metadata(&old.path).map_err(StoreError::io("read", &old.path))?.len();
    let (mut offsets, mut at, mut actions) = (Vec::new(), 0, actions.into_iter());
    let mut lost = placeholders.unwrap_or_default().iter().filter(|(p, _)| p.volume == old.number).peekable();
    // A request precedes its response and is kept or removed with it.
    let mut requests: Vec<Vec<u8>> = Vec::new();
    loop {
        let here = at;
        let bytes = match decompressor.read(&mut input, here) {
            Member::Good(bytes, length) => {
                at += length;
                Ok(bytes)
            }
            Member::End => break,
            Member::Damaged(detail) | Member::Torn(detail) => Err(detail),
        };
        let (bytes, parsed) = match bytes.and_then(|bytes| Ok((warc::read_record(&bytes)?, bytes))) {
            Ok((parsed, bytes)) => (bytes, parsed),
            Err(detail) if placeholders.is_none() => {
                // The first pass has just read all of it.
                let position = LibraryPosition::new(old.number, here);
                return Err(StoreError::Damaged { position, detail });
            }
            Err(_) => {
                if at == here {
                    at = find_next_record(&old.path, here + 1, u64::MAX)?.unwrap_or(length);
                    input.seek(SeekFrom::Start(at)).map_err(StoreError::io("seek in", &old.path))?;
                }
                set_aside(old, here, at)?;
                requests.clear();
                continue;
            }
        };
        let Some(record) = parsed.record else {
            if parsed.kind == "request" {
                requests.push(bytes);
            } else {
                append(&bytes)?;
            }
            continue;
        };
        let span = parsed.span.unwrap_or((here, at));
        while let Some((position, record)) = lost.next_if(|(position, _)| position.offset < span.0) {
            let end = lost.peek().map_or(span.0, |(next, _)| next.offset.min(span.0));
            let placeholder = warc::with_span(&warc::write_record(record), (position.offset, end));
            offsets.push((position.offset, append(&placeholder)?));
        }
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
    while let Some((position, record)) = lost.next() {
        let end = lost.peek().map_or(length.max(position.offset + 1), |(next, _)| next.offset);
        let placeholder = warc::with_span(&warc::write_record(record), (position.offset, end));
        offsets.push((position.offset, append(&placeholder)?));
    }
    let new = out.into_inner().map_err(|e| failed()(e.into_error()))?;
    Ok((new, OffsetTable(offsets)))
}

/// Part of the name of a file with a damaged range, before its offset.
pub(super) const DAMAGED_INFIX: &str = ".damaged-";

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
