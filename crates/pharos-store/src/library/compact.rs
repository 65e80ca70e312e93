//! Compaction: a file is written again without what is no longer wanted, while readers go on.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::ops::AddAssign;
use std::path::Path;

use pharos_core::LibraryPosition;

use super::packing::{Member, Packer, Unpacker};
use super::volumes::{Offsets, Volume, file_name, format_of, offsets_path, remove};
use super::{Content, DiskLibrary, Event, Library as _, Record, StoredRecord, warc};
use crate::StoreError;

/// What becomes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Keep,
    /// Its content goes; that there was such a version is remembered, with the hash of its content.
    Drop(u64),
    /// It goes without a trace.
    Erase,
}

/// What a compaction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Compacted {
    /// Files written again.
    pub files: u64,
    /// Versions whose content is gone.
    pub dropped: u64,
    /// Records that are gone without a trace.
    pub erased: u64,
    /// Bytes on disk before, of the files written again.
    pub before: u64,
    /// Bytes on disk now.
    pub after: u64,
}

impl AddAssign for Compacted {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.dropped += other.dropped;
        self.erased += other.erased;
        self.before += other.before;
        self.after += other.after;
    }
}

impl DiskLibrary {
    /// Writes one file again, where `fate` wants something of it gone. `before_the_switch` is called when that is
    /// certain and the old file is still in place. The caller owns the data directory, and asks for no file that is
    /// still being appended to. A file with damaged records is left alone: first things first.
    pub fn compact(
        &self,
        number: u32,
        fate: &mut dyn FnMut(&StoredRecord) -> Result<Fate, StoreError>,
        before_the_switch: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<Compacted, StoreError> {
        let mut report = Compacted::default();
        if self.end()?.file == number {
            return Ok(report);
        }
        let mut fates = Vec::new();
        let to = LibraryPosition { file: number + 1, offset: 0 };
        for stored in self.scan(LibraryPosition { file: number, offset: 0 }, Some(to))? {
            let stored = match stored {
                Err(StoreError::Damaged { .. }) => return Ok(report),
                other => other?,
            };
            fates.push(match fate(&stored)? {
                // What was let go once is not let go again.
                Fate::Drop(_) if stored.record.status().is_none() => Fate::Keep,
                other => other,
            });
        }
        report.dropped = fates.iter().filter(|f| matches!(f, Fate::Drop(_))).count() as u64;
        report.erased = fates.iter().filter(|f| **f == Fate::Erase).count() as u64;
        if report.dropped + report.erased == 0 {
            return Ok(report);
        }
        let (_, old) = self.volumes.open(number)?;
        let new = old.path.with_file_name(file_name(number, old.revision + 1, format_of(&old.path)));
        let unfinished = new.with_extension("new");
        let offsets = write_revision(&old, &unfinished, fates)?;
        let table = offsets_path(&new);
        write_synced(&table, &offsets.to_bytes())?;
        let size = |path: &Path| fs::metadata(path).map(|m| m.len()).unwrap_or_default();
        (report.files, report.before, report.after) = (1, size(&old.path), size(&unfinished));
        before_the_switch()?;
        fs::rename(&unfinished, &new).map_err(StoreError::io("put in place", &new))?;
        sync_folder(&new)?;
        remove(&old.path)?;
        remove(&offsets_path(&old.path))?;
        self.volumes.list()?;
        Ok(report)
    }
}

fn write_revision(old: &Volume, new: &Path, fates: Vec<Fate>) -> Result<Offsets, StoreError> {
    let failed = || StoreError::io("write", new);
    let mut packer = Packer::new(format_of(&old.path), LEVEL).map_err(failed())?;
    let mut out = BufWriter::new(File::create(new).map_err(failed())?);
    let mut written = 0;
    let mut put = |bytes: &[u8]| {
        let mut member = Vec::new();
        packer.pack(bytes, false, &mut member).and_then(|()| out.write_all(&member)).map_err(failed())?;
        written += member.len() as u64;
        Ok::<u64, StoreError>(written - member.len() as u64)
    };
    let input = File::open(&old.path).map_err(StoreError::io("open", &old.path))?;
    let (mut input, mut unpacker) = (BufReader::with_capacity(256 << 10, input), Unpacker::new());
    let (mut offsets, mut at, mut fates) = (Vec::new(), 0, fates.into_iter());
    // A request stands before its answer and shares its fate.
    let mut requests: Vec<Vec<u8>> = Vec::new();
    loop {
        let here = at;
        let bytes = match unpacker.read(&mut input, here) {
            Member::Good(bytes, length) => {
                at += length;
                bytes
            }
            Member::End => break,
            // The survey read all of it a moment ago.
            Member::Bad(detail) | Member::Torn(detail) => {
                let position = LibraryPosition { file: old.number, offset: here };
                return Err(StoreError::Damaged { position, detail });
            }
        };
        let parsed = warc::read(&bytes).map_err(|detail| StoreError::Damaged {
            position: LibraryPosition { file: old.number, offset: here },
            detail,
        })?;
        let Some(record) = parsed.record else {
            if parsed.kind == "request" {
                requests.push(bytes);
            } else {
                put(&bytes)?;
            }
            continue;
        };
        let span = parsed.span.unwrap_or((here, at));
        let kept = match fates.next().unwrap_or(Fate::Keep) {
            // A record of a revision carries its span already.
            Fate::Keep if parsed.span.is_some() => Some(bytes),
            Fate::Keep => Some(warc::with_span(&bytes, span)),
            Fate::Drop(digest) => Some(warc::with_span(&warc::write(&dropped(*record, digest)), span)),
            Fate::Erase => None,
        };
        let requests = std::mem::take(&mut requests);
        if let Some(kept) = kept {
            for request in requests {
                put(&request)?;
            }
            offsets.push((span.0, put(&kept)?));
        }
    }
    let file = out.into_inner().map_err(|e| failed()(e.into_error()))?;
    file.sync_all().map_err(failed())?;
    Ok(Offsets(offsets))
}

/// Files that are written once and read for ever are worth a better level.
const LEVEL: u32 = 6;

/// What is left of a version that was let go.
fn dropped(record: Record, digest: u64) -> Record {
    let status = record.status().unwrap_or_default();
    Record { content: Content::Event(Event::Dropped { status, digest }), ..record }
}

pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    File::create(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .map_err(StoreError::io("write", path))
}

fn sync_folder(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    File::open(folder).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", folder))
}
