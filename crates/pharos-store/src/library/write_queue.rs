//! The write queue with group commit. Each caller compresses its records in its own thread. The first caller that
//! finds the file idle writes and syncs all queued records; the others wait for that sync.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, available_parallelism};

use parking_lot::{Condvar, Mutex, MutexGuard};
use pharos_core::config::LibraryFormat;
use pharos_core::{Clock as _, LibraryPosition, SystemClock, Timestamp};

use super::compression::{Member, RecordCompressor, RecordDecompressor};
use super::scan::repair_tail;
use super::volumes::{Volumes, check_number, file_name, format_from_path};
use super::{LibraryRecord, warc};
use crate::StoreError;

/// Options for writing the library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryWriteOptions {
    /// Size at which a volume is closed and a new one is started.
    pub file_size: u64,
    /// Compression of records.
    pub format: LibraryFormat,
    /// Compression level.
    pub level: u32,
}

impl Default for LibraryWriteOptions {
    fn default() -> Self {
        Self { file_size: 1 << 30, format: LibraryFormat::Gzip, level: 1 }
    }
}

impl From<&pharos_core::config::LibraryConfig> for LibraryWriteOptions {
    fn from(config: &pharos_core::config::LibraryConfig) -> Self {
        Self { file_size: config.file_size.0, format: config.format, level: config.level }
    }
}

/// Minimum number of bytes per compression thread.
const MIN_THREAD_BYTES: usize = 512 << 10;

pub(super) struct WriteQueue {
    dir: PathBuf,
    options: LibraryWriteOptions,
    state: Mutex<QueueState>,
    /// Notified whenever a write has ended.
    write_done: Condvar,
    encoders: Mutex<Vec<RecordEncoder>>,
}

/// Compressor and reusable buffers of one thread.
struct RecordEncoder {
    compressor: RecordCompressor,
    request: Vec<u8>,
    record: Vec<u8>,
}

/// Compressed records, and the byte ranges of those that have a position.
#[derive(Default)]
struct CompressedRecords {
    members: Vec<u8>,
    spans: Vec<(u64, u64)>,
}

impl CompressedRecords {
    fn extend(&mut self, other: CompressedRecords) {
        let before = self.members.len() as u64;
        self.members.extend_from_slice(&other.members);
        self.spans.extend(other.spans.into_iter().map(|(from, to)| (before + from, before + to)));
    }
}

impl RecordEncoder {
    fn new(options: LibraryWriteOptions, dir: &Path) -> Result<Self, StoreError> {
        let compressor = RecordCompressor::new(options.format, options.level);
        let compressor = compressor.map_err(StoreError::io("compress records for", dir))?;
        Ok(Self { compressor, request: Vec::new(), record: Vec::new() })
    }
}

struct QueueState {
    file: Arc<File>,
    path: PathBuf,
    /// All records before this position are durable.
    durable: LibraryPosition,
    /// Position of the next record.
    next: LibraryPosition,
    /// Compressed records between the two positions that are not being written yet.
    pending: Vec<u8>,
    busy: bool,
    /// Number of failed writes. Positions assigned in a failed round are assigned again in the next round.
    round: u64,
    /// The most recent failures.
    failures: VecDeque<WriteFailure>,
    /// A failed write has not been truncated yet.
    torn: bool,
    /// Offset of the first record, after the `warcinfo` record.
    info_end: u64,
}

/// A failed write, kept for the waiting callers.
struct WriteFailure {
    round: u64,
    /// Durable position at the time of the failure.
    durable: LibraryPosition,
    kind: io::ErrorKind,
    text: String,
}

/// Maximum number of remembered failures. All waiting callers wake up long before as many further failures occur.
const MAX_FAILURES: usize = 64;

impl WriteQueue {
    /// Opens the last volume or creates the first one. A torn tail is moved to a separate file.
    pub(super) fn open(
        dir: &Path,
        volumes: &Volumes,
        options: LibraryWriteOptions,
        known_good: LibraryPosition,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        pharos_files::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        volumes.remove_leftovers()?;
        let last = volumes.list()?.pop();
        let mut encoder = RecordEncoder::new(options, dir)?;
        let mut state = match last {
            None => QueueState::create(dir, 1, options.format)?,
            // A compacted revision is never appended to.
            Some(last) if last.revision > 0 => QueueState::create(dir, last.number + 1, options.format)?,
            Some(last) => {
                let from = if known_good.volume == last.number { known_good.offset } else { 0 };
                let end = LibraryPosition::new(last.number, repair_tail(&last.path, from)?);
                if format_from_path(&last.path) == options.format {
                    let mut state = QueueState::open(last.path.clone(), end)?;
                    state.info_end = first_record_offset(&last.path)?;
                    state
                } else {
                    QueueState::create(dir, last.number + 1, options.format)?
                }
            }
        };
        if state.next.offset == 0 {
            state.write_warcinfo(&mut encoder.compressor, now)?;
        }
        let encoders = Mutex::new(vec![encoder]);
        Ok(Self {
            dir: dir.to_path_buf(),
            options,
            state: Mutex::new(state),
            write_done: Condvar::new(),
            encoders,
        })
    }

    /// Returns the position after the last durable record.
    pub(super) fn end(&self) -> LibraryPosition {
        self.lock().durable
    }

    /// Queues records and waits until they are durable. Returns the position of each record and the position after
    /// it.
    pub(super) fn append(
        &self,
        records: &[LibraryRecord],
    ) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError> {
        let Some(first) = records.first() else { return Ok(Vec::new()) };
        let compressed = self.compress(records)?;
        let start = self.write(first.at, compressed.members)?;
        let position = |offset| LibraryPosition::new(start.volume, start.offset + offset);
        Ok(compressed.spans.into_iter().map(|(from, to)| (position(from), position(to))).collect())
    }

    /// Compresses records, on several threads if they are large.
    fn compress(&self, records: &[LibraryRecord]) -> Result<CompressedRecords, StoreError> {
        let bytes: usize = records.iter().map(LibraryRecord::body_size).sum();
        let threads =
            available_parallelism().map_or(1, usize::from).min(bytes / MIN_THREAD_BYTES).min(records.len());
        if threads < 2 {
            return self.compress_share(records);
        }
        let shares = split_by_size(records, bytes.div_ceil(threads));
        thread::scope(|scope| {
            let (first, others) = shares.split_first().unwrap_or((&records, &[]));
            let others: Vec<_> =
                others.iter().map(|share| scope.spawn(|| self.compress_share(share))).collect();
            let mut all = self.compress_share(first)?;
            for other in others {
                let broken = || {
                    StoreError::io("compress records for", &self.dir)(io::Error::other(
                        "a compression thread panicked",
                    ))
                };
                all.extend(other.join().map_err(|_| broken())??);
            }
            Ok(all)
        })
    }

    fn compress_share(&self, records: &[LibraryRecord]) -> Result<CompressedRecords, StoreError> {
        let failed = |e| StoreError::io("compress a record for", &self.dir)(e);
        let mut encoder = self.encoder()?;
        let RecordEncoder { compressor, request, record: buffer } = &mut encoder;
        let mut compressed = CompressedRecords::default();
        for record in records {
            warc::write_with_request(record, request, buffer);
            if !request.is_empty() {
                compressor.compress(request, false, &mut compressed.members).map_err(failed)?;
            }
            let start = compressed.members.len() as u64;
            compressor
                .compress(buffer, record.is_precompressed(), &mut compressed.members)
                .map_err(failed)?;
            compressed.spans.push((start, compressed.members.len() as u64));
        }
        self.encoders.lock().push(encoder);
        Ok(compressed)
    }

    /// Returns a free encoder or a new one. There are as many as there were concurrent calls.
    fn encoder(&self) -> Result<RecordEncoder, StoreError> {
        let spare = self.encoders.lock().pop();
        spare.map_or_else(|| RecordEncoder::new(self.options, &self.dir), Ok)
    }

    /// Queues compressed records and returns their start position once they are durable.
    fn write(&self, at: Timestamp, members: Vec<u8>) -> Result<LibraryPosition, StoreError> {
        let mut state = self.lock();
        while state.next.offset > self.options.file_size.max(state.info_end) {
            state = self.rotate(state, at)?;
        }
        let (start, round) = (state.next, state.round);
        state.next.offset += members.len() as u64;
        let end = state.next;
        if state.pending.is_empty() {
            state.pending = members;
        } else {
            state.pending.extend_from_slice(&members);
        }
        loop {
            if state.round != round {
                let failure = state.failures.iter().find(|failure| failure.round == round);
                // A later write of the same round failed; this group was durable before.
                if failure.is_some_and(|failure| failure.durable >= end) {
                    return Ok(start);
                }
                let (kind, text) = failure
                    .map_or((io::ErrorKind::Other, "an earlier write failed"), |f| (f.kind, f.text.as_str()));
                return Err(StoreError::io("write", &state.path)(io::Error::new(kind, text.to_string())));
            }
            if state.durable >= end {
                return Ok(start);
            }
            state = self.write_or_wait(state);
        }
    }

    /// Closes the current volume if it contains a record.
    pub(super) fn seal(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        let file = state.next.volume;
        while state.next.volume == file && state.next.offset > state.info_end {
            state = self.rotate(state, SystemClock.now())?;
        }
        Ok(())
    }

    /// Starts the next volume if all queued records are written; otherwise writes or waits once.
    fn rotate<'a>(
        &'a self,
        mut state: MutexGuard<'a, QueueState>,
        at: Timestamp,
    ) -> Result<MutexGuard<'a, QueueState>, StoreError> {
        if state.busy || !state.pending.is_empty() {
            return Ok(self.write_or_wait(state));
        }
        let mut new = QueueState::create(&self.dir, state.next.volume + 1, self.options.format)?;
        new.write_warcinfo(&mut self.encoder()?.compressor, at)?;
        new.round = state.round;
        new.failures = std::mem::take(&mut state.failures);
        *state = new;
        Ok(state)
    }

    /// Writes all queued records, or waits for the caller that is writing.
    fn write_or_wait<'a>(&'a self, mut state: MutexGuard<'a, QueueState>) -> MutexGuard<'a, QueueState> {
        if state.busy {
            self.write_done.wait(&mut state);
            return state;
        }
        state.busy = true;
        let members = std::mem::take(&mut state.pending);
        let (file, from, torn) = (Arc::clone(&state.file), state.durable.offset, state.torn);
        drop(state);
        let written = write_and_sync(&file, from, &members, torn);
        let mut state = self.lock();
        state.busy = false;
        match written {
            Ok(()) => {
                state.durable.offset += members.len() as u64;
                state.torn = false;
            }
            Err(error) => {
                // Nothing of this round is durable, including records queued behind it: all waiting callers get the
                // error.
                state.torn = file.set_len(from).is_err();
                let (round, durable) = (state.round, state.durable);
                let (kind, text) = (error.kind(), error.to_string());
                state.failures.push_back(WriteFailure { round, durable, kind, text });
                if state.failures.len() > MAX_FAILURES {
                    state.failures.pop_front();
                }
                state.round += 1;
                state.next = state.durable;
                state.pending.clear();
            }
        }
        self.write_done.notify_all();
        state
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock()
    }
}

/// Returns the offset of the first record of a file, after the `warcinfo` record.
fn first_record_offset(path: &Path) -> Result<u64, StoreError> {
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    Ok(match RecordDecompressor::new().read(&mut BufReader::new(file), 0) {
        Member::Good(_, length) => length,
        _ => 0,
    })
}

/// Splits a list into shares of about `bytes` bytes.
fn split_by_size(mut records: &[LibraryRecord], bytes: usize) -> Vec<&[LibraryRecord]> {
    let mut shares = Vec::new();
    while !records.is_empty() {
        let mut size = 0;
        let full = records.iter().position(|record| {
            size += record.body_size();
            size >= bytes
        });
        let (share, rest) = records.split_at(full.map_or(records.len(), |at| at + 1));
        shares.push(share);
        records = rest;
    }
    shares
}

fn write_and_sync(file: &File, from: u64, members: &[u8], torn: bool) -> io::Result<()> {
    if torn {
        file.set_len(from)?;
    }
    file.write_all_at(members, from)?;
    file.sync_data()
}

impl QueueState {
    fn open(path: PathBuf, end: LibraryPosition) -> Result<Self, StoreError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        Ok(Self {
            file: Arc::new(file),
            path,
            durable: end,
            next: end,
            pending: Vec::new(),
            busy: false,
            round: 0,
            failures: VecDeque::new(),
            torn: false,
            info_end: 0,
        })
    }

    fn create(dir: &Path, number: u32, format: LibraryFormat) -> Result<Self, StoreError> {
        let path = dir.join(file_name(number, 0, format));
        check_number(&path, number)?;
        let state = Self::open(path, LibraryPosition::new(number, 0))?;
        // The name of a new file is durable only after its directory is synced.
        pharos_files::sync_directory(dir).map_err(StoreError::io("sync", dir))?;
        Ok(state)
    }

    fn write_warcinfo(
        &mut self,
        compressor: &mut RecordCompressor,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let name = self.path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let mut member = Vec::new();
        compressor
            .compress(&warc::warcinfo(name, now), false, &mut member)
            .and_then(|()| write_and_sync(&self.file, 0, &member, true))
            .map_err(StoreError::io("write", &self.path))?;
        self.durable.offset = member.len() as u64;
        self.next = self.durable;
        self.info_end = self.durable.offset;
        Ok(())
    }
}
