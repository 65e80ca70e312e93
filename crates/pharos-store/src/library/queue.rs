//! The write queue: who appends packs records in its own thread; whoever finds the file idle writes and syncs what all
//! have queued (group commit), and the others wait for that one sync.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, available_parallelism};

use pharos_core::config::LibraryFormat;
use pharos_core::{Clock as _, LibraryPosition, SystemClock, Timestamp};

use super::packing::{Member, Packer, Unpacker};
use super::scan::mend_tail;
use super::volumes::{Volumes, file_name, format_of};
use super::{Record, warc};
use crate::StoreError;

/// How the library writes.
#[derive(Clone, Copy, Debug)]
pub struct Writing {
    /// A new file is begun when the current one is larger than this.
    pub file_size: u64,
    /// How records are compressed.
    pub format: LibraryFormat,
    /// How hard.
    pub level: u32,
}

impl Default for Writing {
    fn default() -> Self {
        Self { file_size: 1 << 30, format: LibraryFormat::Gzip, level: 1 }
    }
}

impl From<&pharos_core::config::LibraryConfig> for Writing {
    fn from(config: &pharos_core::config::LibraryConfig) -> Self {
        Self { file_size: config.file_size.0, format: config.format, level: config.level }
    }
}

/// Bytes that are worth a thread of their own.
const SHARE: usize = 512 << 10;

pub(super) struct WriteQueue {
    dir: PathBuf,
    writing: Writing,
    state: Mutex<State>,
    /// Told whenever a write has ended.
    ended: Condvar,
    presses: Mutex<Vec<Press>>,
}

/// What one thread needs to turn records into packed bytes; buffers that are used again and again.
struct Press {
    packer: Packer,
    request: Vec<u8>,
    record: Vec<u8>,
}

/// Packed records, and where the counted ones begin and end.
#[derive(Default)]
struct Packed {
    members: Vec<u8>,
    spans: Vec<(u64, u64)>,
}

impl Packed {
    fn extend(&mut self, other: Packed) {
        let before = self.members.len() as u64;
        self.members.extend_from_slice(&other.members);
        self.spans.extend(other.spans.into_iter().map(|(from, to)| (before + from, before + to)));
    }
}

impl Press {
    fn new(writing: Writing, dir: &Path) -> Result<Self, StoreError> {
        let packer = Packer::new(writing.format, writing.level);
        let packer = packer.map_err(StoreError::io("compress records for", dir))?;
        Ok(Self { packer, request: Vec::new(), record: Vec::new() })
    }
}

struct State {
    file: Arc<File>,
    path: PathBuf,
    /// Everything before it is on disk.
    durable: LibraryPosition,
    /// Where the next record goes.
    next: LibraryPosition,
    /// Packed records between the two that nobody writes yet.
    waiting: Vec<u8>,
    busy: bool,
    /// Counts failed writes: positions given out in a round that failed are given out again in the next.
    round: u64,
    /// The last of them.
    failures: VecDeque<Failure>,
    /// A failed write could not be undone yet.
    torn: bool,
    /// Where the first record stands: behind the note on the file itself.
    info: u64,
}

/// A write that failed, for those who wait.
struct Failure {
    round: u64,
    /// What the round had brought to disk before.
    durable: LibraryPosition,
    kind: io::ErrorKind,
    text: String,
}

/// Failures that are remembered for those who wait; all of them wake up long before so many more happen.
const FAILURES: usize = 64;

impl WriteQueue {
    /// Opens the last file, or begins the first. A torn tail is set aside.
    pub(super) fn open(
        dir: &Path,
        volumes: &Volumes,
        writing: Writing,
        known_good: LibraryPosition,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        volumes.sweep()?;
        let last = volumes.list()?.pop();
        let mut press = Press::new(writing, dir)?;
        let mut state = match last {
            None => State::begin(dir, 1, writing.format)?,
            // A revision is complete.
            Some(last) if last.revision > 0 => State::begin(dir, last.number + 1, writing.format)?,
            Some(last) => {
                let from = if known_good.file == last.number { known_good.offset } else { 0 };
                let end = LibraryPosition { file: last.number, offset: mend_tail(&last.path, from)? };
                if format_of(&last.path) == writing.format {
                    let mut state = State::open(last.path.clone(), end)?;
                    state.info = first_record(&last.path)?;
                    state
                } else {
                    State::begin(dir, last.number + 1, writing.format)?
                }
            }
        };
        if state.next.offset == 0 {
            state.write_info(&mut press.packer, now)?;
        }
        let presses = Mutex::new(vec![press]);
        Ok(Self { dir: dir.to_path_buf(), writing, state: Mutex::new(state), ended: Condvar::new(), presses })
    }

    /// The position after the last durable record.
    pub(super) fn end(&self) -> LibraryPosition {
        self.lock().durable
    }

    /// Queues records and waits until they are on disk. Gives each one's own position and the one after it.
    pub(super) fn append(
        &self,
        records: &[Record],
    ) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError> {
        let Some(first) = records.first() else { return Ok(Vec::new()) };
        let packed = self.pack(records)?;
        let start = self.write(first.at, packed.members)?;
        let position = |offset| LibraryPosition { file: start.file, offset: start.offset + offset };
        Ok(packed.spans.into_iter().map(|(from, to)| (position(from), position(to))).collect())
    }

    /// Packs records, on all cores where they are many bytes.
    fn pack(&self, records: &[Record]) -> Result<Packed, StoreError> {
        let bytes: usize = records.iter().map(Record::body_size).sum();
        let threads = available_parallelism().map_or(1, usize::from).min(bytes / SHARE).min(records.len());
        if threads < 2 {
            return self.pack_share(records);
        }
        let shares = shares(records, bytes.div_ceil(threads));
        thread::scope(|scope| {
            let (first, others) = shares.split_first().unwrap_or((&records, &[]));
            let others: Vec<_> = others.iter().map(|share| scope.spawn(|| self.pack_share(share))).collect();
            let mut all = self.pack_share(first)?;
            for other in others {
                let broken = || {
                    StoreError::io("compress records for", &self.dir)(io::Error::other("a thread broke down"))
                };
                all.extend(other.join().map_err(|_| broken())??);
            }
            Ok(all)
        })
    }

    fn pack_share(&self, records: &[Record]) -> Result<Packed, StoreError> {
        let failed = |e| StoreError::io("compress a record for", &self.dir)(e);
        let mut press = self.press()?;
        let Press { packer, request, record: buffer } = &mut press;
        let mut packed = Packed::default();
        for record in records {
            warc::write_with_request(record, request, buffer);
            if !request.is_empty() {
                packer.pack(request, false, &mut packed.members).map_err(failed)?;
            }
            let start = packed.members.len() as u64;
            packer.pack(buffer, record.is_dense(), &mut packed.members).map_err(failed)?;
            packed.spans.push((start, packed.members.len() as u64));
        }
        self.presses.lock().unwrap_or_else(PoisonError::into_inner).push(press);
        Ok(packed)
    }

    /// One that is free, or a new one: there are as many as ever appended at once.
    fn press(&self) -> Result<Press, StoreError> {
        let spare = self.presses.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.map_or_else(|| Press::new(self.writing, &self.dir), Ok)
    }

    /// Queues packed records, and returns where they begin once they are on disk.
    fn write(&self, at: Timestamp, members: Vec<u8>) -> Result<LibraryPosition, StoreError> {
        let mut state = self.lock();
        while state.next.offset > self.writing.file_size.max(state.info) {
            state = self.rotate(state, at)?;
        }
        let (start, round) = (state.next, state.round);
        state.next.offset += members.len() as u64;
        let end = state.next;
        if state.waiting.is_empty() {
            state.waiting = members;
        } else {
            state.waiting.extend_from_slice(&members);
        }
        loop {
            if state.round != round {
                let failure = state.failures.iter().find(|failure| failure.round == round);
                // Others failed, after this group was written.
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
            state = self.work_or_wait(state);
        }
    }

    /// Ends the file, if there is a record in it.
    pub(super) fn seal(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        let file = state.next.file;
        while state.next.file == file && state.next.offset > state.info {
            state = self.rotate(state, SystemClock.now())?;
        }
        Ok(())
    }

    /// Begins the next file, once everything queued for this one is written; until then, comes a step nearer to that.
    fn rotate<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        at: Timestamp,
    ) -> Result<MutexGuard<'a, State>, StoreError> {
        if state.busy || !state.waiting.is_empty() {
            return Ok(self.work_or_wait(state));
        }
        let mut new = State::begin(&self.dir, state.next.file + 1, self.writing.format)?;
        new.write_info(&mut self.press()?.packer, at)?;
        new.round = state.round;
        new.failures = std::mem::take(&mut state.failures);
        *state = new;
        Ok(state)
    }

    /// Writes what is queued, or waits for the one who does.
    fn work_or_wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.busy {
            return self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.busy = true;
        let members = std::mem::take(&mut state.waiting);
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
                // Nothing of this round is on disk, nor is what was queued behind it: all of them are told.
                state.torn = file.set_len(from).is_err();
                let (round, durable) = (state.round, state.durable);
                let (kind, text) = (error.kind(), error.to_string());
                state.failures.push_back(Failure { round, durable, kind, text });
                if state.failures.len() > FAILURES {
                    state.failures.pop_front();
                }
                state.round += 1;
                state.next = state.durable;
                state.waiting.clear();
            }
        }
        self.ended.notify_all();
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the first record of a file stands: behind the note on the file itself.
fn first_record(path: &Path) -> Result<u64, StoreError> {
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    Ok(match Unpacker::new().read(&mut BufReader::new(file), 0) {
        Member::Good(_, length) => length,
        _ => 0,
    })
}

/// Cuts a list into stretches of about so many bytes.
fn shares(mut records: &[Record], bytes: usize) -> Vec<&[Record]> {
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

impl State {
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
            waiting: Vec::new(),
            busy: false,
            round: 0,
            failures: VecDeque::new(),
            torn: false,
            info: 0,
        })
    }

    fn begin(dir: &Path, number: u32, format: LibraryFormat) -> Result<Self, StoreError> {
        let path = dir.join(file_name(number, 0, format));
        let state = Self::open(path, LibraryPosition { file: number, offset: 0 })?;
        // The name of a new file is durable only once its folder is.
        File::open(dir).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", dir))?;
        Ok(state)
    }

    fn write_info(&mut self, packer: &mut Packer, now: Timestamp) -> Result<(), StoreError> {
        let name = self.path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let mut member = Vec::new();
        packer
            .pack(&warc::warcinfo(name, now), false, &mut member)
            .and_then(|()| write_and_sync(&self.file, 0, &member, true))
            .map_err(StoreError::io("write", &self.path))?;
        self.durable.offset = member.len() as u64;
        self.next = self.durable;
        self.info = self.durable.offset;
        Ok(())
    }
}
