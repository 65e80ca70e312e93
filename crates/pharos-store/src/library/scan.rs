//! Sequential scan of library volumes that continues after damaged records.

use std::fs::{self, File};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pharos_core::LibraryPosition;
use pharos_files::NewFile;
use tracing::warn;

use super::StoredRecord;
use super::compression::{GZIP_MAGIC, Member, RecordDecompressor, ZSTD_MAGIC};
use super::disk::LOG;
use super::volumes::{Volume, Volumes};
use super::warc;
use crate::StoreError;

/// Number of bytes searched at a time after a damaged record.
const WINDOW: usize = 1 << 20;
const BUFFER: usize = 256 << 10;

/// Iterator over all records from a position on.
pub(super) struct DiskScan {
    volumes: Arc<Volumes>,
    /// Remaining volumes in reverse order.
    files: Vec<u32>,
    from: LibraryPosition,
    to: Option<LibraryPosition>,
    current: Option<OpenVolume>,
    decompressor: RecordDecompressor,
}

struct OpenVolume {
    input: BufReader<File>,
    volume: Arc<Volume>,
    /// Offset of the next member in the file.
    offset: u64,
    /// Position after the last record.
    next: LibraryPosition,
}

impl DiskScan {
    pub(super) fn new(
        volumes: Arc<Volumes>,
        from: LibraryPosition,
        to: Option<LibraryPosition>,
    ) -> Result<Self, StoreError> {
        let mut files: Vec<u32> = volumes.list()?.iter().map(|volume| volume.number).collect();
        files.retain(|number| {
            from.log == LOG && *number >= from.volume && to.is_none_or(|to| *number <= to.volume)
        });
        files.reverse();
        Ok(Self { volumes, files, from, to, current: None, decompressor: RecordDecompressor::new() })
    }

    /// Opens a volume at the start of the scan. Returns `None` if no record of it is in range.
    fn open(&self, number: u32) -> Result<Option<OpenVolume>, StoreError> {
        let (mut file, volume) = self.volumes.open(number)?;
        let first = if number == self.from.volume { self.from.offset } else { 0 };
        let located = if first == 0 { Some((0, 0)) } else { volume.locate(first)? };
        let Some((next, offset)) = located else { return Ok(None) };
        file.seek(SeekFrom::Start(offset)).map_err(StoreError::io("seek in", &volume.path))?;
        let next = LibraryPosition::new(number, next);
        Ok(Some(OpenVolume { input: BufReader::with_capacity(BUFFER, file), volume, offset, next }))
    }
}

impl Iterator for DiskScan {
    type Item = Result<StoredRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.current.is_none() {
                let number = self.files.pop()?;
                match self.open(number) {
                    Ok(opened) => self.current = opened,
                    Err(error) => return Some(Err(error)),
                }
                continue;
            }
            let is_last = self.files.is_empty();
            let current = self.current.as_mut()?;
            if self.to.is_some_and(|to| current.next >= to) {
                return None;
            }
            match current.step(&mut self.decompressor, is_last) {
                // If compaction removed the last record before the end, the next one lies behind it.
                ScanStep::Record(stored) if self.to.is_some_and(|to| stored.position >= to) => return None,
                ScanStep::Record(stored) => return Some(Ok(*stored)),
                ScanStep::Skipped => {}
                ScanStep::Damage(error) => return Some(Err(error)),
                ScanStep::Done(error) => {
                    self.current = None;
                    if let Some(error) = error {
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

/// The result of one step through a volume.
enum ScanStep {
    Record(Box<StoredRecord>),
    Skipped,
    /// A damaged range; the scan continues after it.
    Damage(StoreError),
    /// The end of the volume, or an error that ends it.
    Done(Option<StoreError>),
}

impl OpenVolume {
    fn step(&mut self, decompressor: &mut RecordDecompressor, is_last_file: bool) -> ScanStep {
        let here = self.offset;
        let mut member = decompressor.read(&mut self.input, here);
        let mut length = u64::MAX;
        if is_last_file && matches!(member, Member::Damaged(_) | Member::Torn(_)) {
            // The owner may be writing the record now. Everything within the current file length can be
            // read.
            length = self.input.get_ref().metadata().map_or(0, |m| m.len());
            if self.input.seek(SeekFrom::Start(here)).is_ok() {
                member = decompressor.read(&mut self.input, here);
            }
        }
        match member {
            Member::Good(bytes, length) => {
                self.offset += length;
                self.record(&bytes, here)
            }
            Member::End => ScanStep::Done(None),
            Member::Damaged(detail) | Member::Torn(detail) => {
                match find_next_record(&self.volume.path, here + 1, length) {
                    Ok(Some(good)) => {
                        self.offset = good;
                        match self.input.seek(SeekFrom::Start(good)) {
                            Ok(_) => ScanStep::Damage(self.damaged(here, detail)),
                            Err(e) => ScanStep::Done(Some(StoreError::io("seek in", &self.volume.path)(e))),
                        }
                    }
                    // At the end of the last volume, this is a record that the owner is writing.
                    Ok(None) if is_last_file && self.volume.revision == 0 => ScanStep::Done(None),
                    Ok(None) => ScanStep::Done(Some(self.damaged(here, detail))),
                    Err(error) => ScanStep::Done(Some(error)),
                }
            }
        }
    }

    /// Interprets a complete member: a record of the library, or one to skip.
    fn record(&mut self, bytes: &[u8], here: u64) -> ScanStep {
        let file = self.volume.number;
        match warc::read_record(bytes) {
            Ok(parsed) => {
                let (start, end) = parsed.span.unwrap_or((here, self.offset));
                // Only records with a position of their own advance a revision.
                if self.volume.revision == 0 || parsed.span.is_some() {
                    self.next = LibraryPosition::new(file, end);
                }
                parsed.record.map_or(ScanStep::Skipped, |record| {
                    let position = LibraryPosition::new(file, start);
                    ScanStep::Record(Box::new(StoredRecord { position, next: self.next, record: *record }))
                })
            }
            Err(detail) => ScanStep::Damage(self.damaged(here, detail)),
        }
    }

    fn damaged(&self, here: u64, detail: String) -> StoreError {
        let position = LibraryPosition::new(self.volume.number, here);
        StoreError::Damaged { position, detail }
    }
}

/// Returns the first offset in `from..to` at which a complete, valid record starts.
pub(super) fn find_next_record(path: &Path, from: u64, to: u64) -> Result<Option<u64>, StoreError> {
    let error = || StoreError::io("read", path);
    let file = File::open(path).map_err(error())?;
    let length = file.metadata().map_err(error())?.len().min(to);
    let mut window = vec![0; WINDOW];
    let mut start = from;
    let magic = ZSTD_MAGIC.len();
    while start + (magic as u64) <= length {
        let size = WINDOW.min(usize::try_from(length - start).unwrap_or(WINDOW));
        file.read_exact_at(&mut window[..size], start).map_err(error())?;
        for (at, bytes) in (start..).zip(window[..size].windows(magic)) {
            let begins = bytes.starts_with(&GZIP_MAGIC) || bytes == ZSTD_MAGIC;
            if begins && is_valid_record(&file, at).map_err(error())? {
                return Ok(Some(at));
            }
        }
        // The magic may cross the border of two windows.
        start += (size - magic + 1) as u64;
    }
    Ok(None)
}

/// Returns `true` if a complete, valid record starts at this offset.
fn is_valid_record(file: &File, at: u64) -> io::Result<bool> {
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(at))?;
    let mut input = BufReader::new(file);
    let member = RecordDecompressor::new().read(&mut input, at);
    Ok(matches!(member, Member::Good(record, _) if warc::read_record(&record).is_ok()))
}

/// Finds the end of the last complete record of a volume. The bytes after it were never acknowledged or are damaged:
/// they are copied to a separate file and truncated, so that appending continues at a clean end.
pub(super) fn repair_tail(path: &Path, known_good: u64) -> Result<u64, StoreError> {
    let error = |action| StoreError::io(action, path);
    let length = fs::metadata(path).map_err(error("read"))?.len();
    // A file shorter than the known position must be read from its beginning.
    let mut at = if known_good <= length { known_good } else { 0 };
    let mut input = BufReader::with_capacity(BUFFER, File::open(path).map_err(error("open"))?);
    let mut decompressor = RecordDecompressor::new();
    loop {
        input.seek(SeekFrom::Start(at)).map_err(error("seek in"))?;
        match decompressor.read(&mut input, at) {
            Member::Good(_, length) => at += length,
            Member::End => return Ok(at),
            Member::Damaged(detail) | Member::Torn(detail) => match find_next_record(path, at + 1, u64::MAX)?
            {
                Some(good) => at = good,
                None => {
                    let aside = PathBuf::from(format!("{}.torn-{at}", path.display()));
                    let mut tail = NewFile::create(&aside).map_err(StoreError::io("create", &aside))?;
                    input.seek(SeekFrom::Start(at)).map_err(error("seek in"))?;
                    io::copy(&mut input, &mut tail)
                        .and_then(|_| tail.install())
                        .map_err(StoreError::io("write", &aside))?;
                    let file = File::options().write(true).open(path).map_err(error("open"))?;
                    file.set_len(at)
                        .and_then(|()| pharos_files::sync_file(&file, path))
                        .map_err(error("truncate the torn end of"))?;
                    warn!(path = %path.display(), at, bytes = length - at, aside = %aside.display(), detail,
                        "the torn end of the library was moved to a separate file");
                    return Ok(at);
                }
            },
        }
    }
}
