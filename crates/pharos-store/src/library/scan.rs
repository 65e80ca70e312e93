//! Reading a library file from end to end, past whatever is damaged.

use std::fs::{self, File};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pharos_core::LibraryPosition;
use tracing::warn;

use super::StoredRecord;
use super::packing::{GZIP_MAGIC, Member, Unpacker, ZSTD_MAGIC};
use super::volumes::{Volume, Volumes};
use super::warc;
use crate::StoreError;

/// Bytes looked through at a time behind a damaged record.
const WINDOW: usize = 1 << 20;
const BUFFER: usize = 256 << 10;

/// All records from a position on.
pub(super) struct DiskScan {
    volumes: Arc<Volumes>,
    /// Files still to come, last first.
    files: Vec<u32>,
    from: LibraryPosition,
    /// Where to stop.
    to: Option<LibraryPosition>,
    current: Option<Current>,
    unpacker: Unpacker,
}

struct Current {
    input: BufReader<File>,
    volume: Arc<Volume>,
    /// Where the next member stands in the file.
    offset: u64,
    /// The position after the last record.
    next: LibraryPosition,
}

impl DiskScan {
    pub(super) fn new(
        volumes: Arc<Volumes>,
        from: LibraryPosition,
        to: Option<LibraryPosition>,
    ) -> Result<Self, StoreError> {
        let mut files: Vec<u32> = volumes.list()?.iter().map(|volume| volume.number).collect();
        files.retain(|number| *number >= from.file && to.is_none_or(|to| *number <= to.file));
        files.reverse();
        Ok(Self { volumes, files, from, to, current: None, unpacker: Unpacker::new() })
    }

    /// Opens a file where the scan begins in it; `None` where nothing of it is wanted.
    fn open(&self, number: u32) -> Result<Option<Current>, StoreError> {
        let (mut file, volume) = self.volumes.open(number)?;
        let first = if number == self.from.file { self.from.offset } else { 0 };
        let place = if first == 0 { Some((0, 0)) } else { volume.place(first)? };
        let Some((next, offset)) = place else { return Ok(None) };
        file.seek(SeekFrom::Start(offset)).map_err(StoreError::io("seek in", &volume.path))?;
        let next = LibraryPosition { file: number, offset: next };
        Ok(Some(Current { input: BufReader::with_capacity(BUFFER, file), volume, offset, next }))
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
            match current.step(&mut self.unpacker, is_last) {
                // Where the last record before the end is gone from a revision, the next one stands behind it.
                Step::Record(stored) if self.to.is_some_and(|to| stored.position >= to) => return None,
                Step::Record(stored) => return Some(Ok(*stored)),
                Step::PassedOver => {}
                Step::Damage(error) => return Some(Err(error)),
                Step::Done(error) => {
                    self.current = None;
                    if let Some(error) = error {
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

/// What one step through a file gave.
enum Step {
    Record(Box<StoredRecord>),
    PassedOver,
    /// Something cannot be read; what comes behind it can.
    Damage(StoreError),
    /// The file is at its end, or cannot be read any further.
    Done(Option<StoreError>),
}

impl Current {
    fn step(&mut self, unpacker: &mut Unpacker, is_last_file: bool) -> Step {
        let here = self.offset;
        let mut member = unpacker.read(&mut self.input, here);
        let mut length = u64::MAX;
        if is_last_file && matches!(member, Member::Bad(_) | Member::Torn(_)) {
            // The owner may be writing it at this moment. What stands within the length of now can be read now.
            length = self.input.get_ref().metadata().map_or(0, |m| m.len());
            if self.input.seek(SeekFrom::Start(here)).is_ok() {
                member = unpacker.read(&mut self.input, here);
            }
        }
        match member {
            Member::Good(bytes, length) => {
                self.offset += length;
                self.record(&bytes, here)
            }
            Member::End => Step::Done(None),
            Member::Bad(detail) | Member::Torn(detail) => {
                match next_good(&self.volume.path, here + 1, length) {
                    Ok(Some(good)) => {
                        self.offset = good;
                        match self.input.seek(SeekFrom::Start(good)) {
                            Ok(_) => Step::Damage(self.damaged(here, detail)),
                            Err(e) => Step::Done(Some(StoreError::io("seek in", &self.volume.path)(e))),
                        }
                    }
                    // At the very end of the last file this is the owner, writing at this moment.
                    Ok(None) if is_last_file && self.volume.revision == 0 => Step::Done(None),
                    Ok(None) => Step::Done(Some(self.damaged(here, detail))),
                    Err(error) => Step::Done(Some(error)),
                }
            }
        }
    }

    /// A whole member: one of our records, or something to pass over.
    fn record(&mut self, bytes: &[u8], here: u64) -> Step {
        let file = self.volume.number;
        match warc::read(bytes) {
            Ok(parsed) => {
                let (start, end) = parsed.span.unwrap_or((here, self.offset));
                // Only records that have a position of their own move a revision on.
                if self.volume.revision == 0 || parsed.span.is_some() {
                    self.next = LibraryPosition { file, offset: end };
                }
                parsed.record.map_or(Step::PassedOver, |record| {
                    let position = LibraryPosition { file, offset: start };
                    Step::Record(Box::new(StoredRecord { position, next: self.next, record: *record }))
                })
            }
            Err(detail) => Step::Damage(self.damaged(here, detail)),
        }
    }

    fn damaged(&self, here: u64, detail: String) -> StoreError {
        let position = LibraryPosition { file: self.volume.number, offset: here };
        StoreError::Damaged { position, detail }
    }
}

/// The first offset from `from` on, and before `to`, at which a whole, valid record stands.
pub(super) fn next_good(path: &Path, from: u64, to: u64) -> Result<Option<u64>, StoreError> {
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
            if begins && is_good(&file, at).map_err(error())? {
                return Ok(Some(at));
            }
        }
        // The magic may lie across the border of two windows.
        start += (size - magic + 1) as u64;
    }
    Ok(None)
}

/// Does a whole, valid record begin here?
fn is_good(file: &File, at: u64) -> io::Result<bool> {
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(at))?;
    let mut input = BufReader::new(file);
    let member = Unpacker::new().read(&mut input, at);
    Ok(matches!(member, Member::Good(record, _) if warc::read(&record).is_ok()))
}

/// Finds where the last whole record of a file ends. What stands behind it was never acknowledged, or is damaged:
/// it is copied aside and cut off, so that appending goes on from a clean end.
pub(super) fn mend_tail(path: &Path, known_good: u64) -> Result<u64, StoreError> {
    let error = |action| StoreError::io(action, path);
    let length = fs::metadata(path).map_err(error("read"))?.len();
    // A file that is shorter than what was known to be good must be looked through from its beginning.
    let mut at = if known_good <= length { known_good } else { 0 };
    let mut input = BufReader::with_capacity(BUFFER, File::open(path).map_err(error("open"))?);
    let mut unpacker = Unpacker::new();
    loop {
        input.seek(SeekFrom::Start(at)).map_err(error("seek in"))?;
        match unpacker.read(&mut input, at) {
            Member::Good(_, length) => at += length,
            Member::End => return Ok(at),
            Member::Bad(detail) | Member::Torn(detail) => match next_good(path, at + 1, u64::MAX)? {
                Some(good) => at = good,
                None => {
                    let aside = PathBuf::from(format!("{}.torn-{at}", path.display()));
                    let mut tail = File::create(&aside).map_err(StoreError::io("create", &aside))?;
                    input.seek(SeekFrom::Start(at)).map_err(error("seek in"))?;
                    io::copy(&mut input, &mut tail).map_err(StoreError::io("write", &aside))?;
                    let file = File::options().write(true).open(path).map_err(error("open"))?;
                    file.set_len(at).and_then(|()| file.sync_all()).map_err(error("cut the torn end of"))?;
                    warn!(path = %path.display(), at, bytes = length - at, aside = %aside.display(), detail,
                        "the end of the library was torn and has been set aside");
                    return Ok(at);
                }
            },
        }
    }
}
