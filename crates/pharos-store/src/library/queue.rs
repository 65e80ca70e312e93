//! The write queue: who appends packs records in its own thread; whoever finds the file idle writes and syncs what all
//! have queued (group commit), and the others wait for that one sync.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use pharos_core::config::LibraryFormat;
use pharos_core::{LibraryPosition, Timestamp};

use super::packing::Packer;
use super::scan::mend_tail;
use super::volumes::{Volumes, file_name, format_of};
use super::warc;
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

pub(super) struct WriteQueue {
    dir: PathBuf,
    writing: Writing,
    state: Mutex<State>,
    /// Told whenever a write has ended.
    ended: Condvar,
    packers: Mutex<Vec<Packer>>,
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
    /// Groups that failed, newest last: up to which position they reached, in which round, and why.
    round: u64,
    failures: VecDeque<(u64, io::ErrorKind, String)>,
    /// A failed write could not be undone yet.
    torn: bool,
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
        let mut packer = packer(writing, dir)?;
        let state = match last {
            // A revision is complete, and so is a file of another format: the next one is begun.
            Some(last) if last.revision == 0 && format_of(&last.path) == writing.format => {
                let from = if known_good.file == last.number { known_good.offset } else { 0 };
                let end = mend_tail(&last.path, from)?;
                State::open(last.path.clone(), LibraryPosition { file: last.number, offset: end })?
            }
            Some(last) => State::begin(dir, last.number + 1, writing.format)?,
            None => State::begin(dir, 1, writing.format)?,
        };
        let mut state = state;
        if state.next.offset == 0 {
            state.write_info(&mut packer, now)?;
        }
        let packers = Mutex::new(vec![packer]);
        Ok(Self { dir: dir.to_path_buf(), writing, state: Mutex::new(state), ended: Condvar::new(), packers })
    }

    /// The position after the last durable record.
    pub(super) fn end(&self) -> LibraryPosition {
        self.lock().durable
    }

    /// Queues records and waits until they are on disk. `records` gives one after the other; each becomes one packed
    /// member, or two where the first is not to be counted. The positions of the counted ones come back.
    pub(super) fn append(
        &self,
        at: Timestamp,
        records: impl Iterator<Item = (Option<Vec<u8>>, Vec<u8>)>,
    ) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError> {
        let failed = |e| StoreError::io("compress a record for", &self.dir)(e);
        let spare = self.packers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut packer = match spare {
            Some(packer) => packer,
            None => packer(self.writing, &self.dir)?,
        };
        let mut members = Vec::new();
        let mut spans = Vec::new();
        for (uncounted, counted) in records {
            if let Some(bytes) = uncounted {
                packer.pack(&bytes, &mut members).map_err(failed)?;
            }
            let start = members.len() as u64;
            packer.pack(&counted, &mut members).map_err(failed)?;
            spans.push((start, members.len() as u64));
        }
        if spans.is_empty() {
            return Ok(Vec::new());
        }
        let start = self.write(at, &mut packer, members)?;
        self.packers.lock().unwrap_or_else(PoisonError::into_inner).push(packer);
        let position = |offset| LibraryPosition { file: start.file, offset: start.offset + offset };
        Ok(spans.into_iter().map(|(from, to)| (position(from), position(to))).collect())
    }

    /// Queues packed records, and returns where they begin once they are on disk.
    fn write(
        &self,
        at: Timestamp,
        packer: &mut Packer,
        members: Vec<u8>,
    ) -> Result<LibraryPosition, StoreError> {
        let mut state = self.lock();
        while state.next.offset > self.writing.file_size {
            if state.busy || !state.waiting.is_empty() {
                state = self.work_or_wait(state);
                continue;
            }
            let mut new = State::begin(&self.dir, state.next.file + 1, self.writing.format)?;
            new.write_info(packer, at)?;
            new.round = state.round;
            *state = new;
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
                let failure = state.failures.iter().find(|(failed, ..)| *failed == round);
                let (kind, text) = failure
                    .map_or((io::ErrorKind::Other, "an earlier write failed"), |(_, k, t)| (*k, t.as_str()));
                return Err(StoreError::io("write", &state.path)(io::Error::new(kind, text.to_string())));
            }
            if state.durable >= end {
                return Ok(start);
            }
            state = self.work_or_wait(state);
        }
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
                let round = state.round;
                state.failures.push_back((round, error.kind(), error.to_string()));
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

fn packer(writing: Writing, dir: &Path) -> Result<Packer, StoreError> {
    Packer::new(writing.format, writing.level).map_err(StoreError::io("compress records for", dir))
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
            .pack(&warc::warcinfo(name, now), &mut member)
            .and_then(|()| write_and_sync(&self.file, 0, &member, true))
            .map_err(StoreError::io("write", &self.path))?;
        self.durable.offset = member.len() as u64;
        self.next = self.durable;
        Ok(())
    }
}
