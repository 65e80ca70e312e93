//! Log retention: compresses the files of past days and removes old ones.
//!
//! A file is compressed under another name, synced, renamed, and only then is the original removed, so that
//! one complete copy always exists. One process at a time applies retention (`logs/LOCK`). The age counts
//! from the day in the name or the last modification, whichever is later: an old log that was imported today
//! is kept as long as one that was written today.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use pharos_core::{Clock, Timestamp};
use pharos_files::NewFile;
use rustix::fs::FlockOperation;
use tracing::{info, warn};

use crate::log::day_files::{is_at, truncate_incomplete};
use crate::log::files::{LogFile, UNFINISHED, list_files};

/// Writers that are late by less than this still find yesterday's file.
const GRACE: Duration = Duration::from_secs(10 * 60);
/// Interval between two runs.
const RUN_INTERVAL: Duration = Duration::from_secs(600);
/// Delay of the first run. A process that ends sooner does not run retention.
const FIRST_RUN_DELAY: Duration = Duration::from_secs(5);
const COMPRESSION_LEVEL: i32 = 3;
const BLOCK: usize = 1 << 20;

/// Result of applying retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionReport {
    /// Number of files compressed.
    pub packed: u64,
    /// Number of files removed for their age.
    pub removed: u64,
}

/// Compresses and removes the files that are due at `now`, unless another process does. Stops early when
/// `stop` becomes true.
pub fn apply_retention(
    dir: &Path,
    now: Timestamp,
    keep_for: Duration,
    stop: &AtomicBool,
) -> io::Result<RetentionReport> {
    let mut retention = RetentionReport::default();
    if !dir.is_dir() {
        return Ok(retention);
    }
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("LOCK"))?;
    if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(retention);
    }
    remove_crash_remains(dir)?;
    let today = now.minus(GRACE).date();
    for file in list_files(dir)? {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if is_old(&file, now, keep_for)? {
            retention.removed += u64::from(remove(&file)?);
        } else if !file.compressed && file.day < today {
            retention.packed += u64::from(pack(&file, stop)?);
        }
    }
    Ok(retention)
}

/// Removes the remains of a crash: incomplete compressed files, and originals of complete ones.
fn remove_crash_remains(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(UNFINISHED) {
            fs::remove_file(path)?;
        }
    }
    for packed in list_files(dir)?.into_iter().filter(|file| file.compressed) {
        pharos_files::remove_if_exists(&packed.as_packed(false).path)?;
    }
    Ok(())
}

fn is_old(file: &LogFile, now: Timestamp, keep_for: Duration) -> io::Result<bool> {
    let Some(day) = Timestamp::parse(&format!("{}T00:00:00Z", file.day)) else { return Ok(false) };
    let ended = day.plus(Duration::from_secs(86_400));
    let changed = fs::metadata(&file.path)?.modified()?;
    let changed = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let changed = Timestamp::EPOCH.plus(changed);
    Ok(!keep_for.is_zero() && now.since(ended) > keep_for && now.since(changed) > keep_for)
}

fn remove(file: &LogFile) -> io::Result<bool> {
    let held = OpenOptions::new().write(true).open(&file.path)?;
    if rustix::fs::flock(&held, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(false);
    }
    fs::remove_file(&file.path)?;
    Ok(true)
}

/// Compresses a file that no process writes to. Returns `false` if it is in use or `stop` was set.
fn pack(file: &LogFile, stop: &AtomicBool) -> io::Result<bool> {
    let mut original = OpenOptions::new().read(true).write(true).open(&file.path)?;
    if rustix::fs::flock(&original, FlockOperation::NonBlockingLockExclusive).is_err()
        || !is_at(&original, &file.path)?
    {
        return Ok(false);
    }
    let changed = original.metadata()?.modified()?;
    truncate_incomplete(&original)?;
    if original.metadata()?.len() == 0 {
        fs::remove_file(&file.path)?;
        return Ok(false);
    }
    let packed = NewFile::create(&file.as_packed(true).path)?;
    let Some(packed) = compress(&mut original, packed, stop)? else { return Ok(false) };
    packed.file().set_permissions(original.metadata()?.permissions())?;
    packed.file().set_modified(changed)?;
    packed.install()?;
    pharos_files::remove_if_exists(&file.path)
}

/// Compresses a file. Returns `None` if `stop` was set.
fn compress(original: &mut File, to: NewFile, stop: &AtomicBool) -> io::Result<Option<NewFile>> {
    let mut encoder = zstd::Encoder::new(to, COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    let mut block = vec![0; BLOCK];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match original.read(&mut block)? {
            0 => break,
            n => encoder.write_all(&block[..n])?,
        }
    }
    encoder.finish().map(Some)
}

/// Runs retention in a thread of its own: compression takes seconds, and log lines must not wait.
pub(crate) struct RetentionThread {
    dir: PathBuf,
    keep_for: Duration,
    clock: Arc<dyn Clock>,
    due: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RetentionThread {
    pub(crate) fn new(dir: PathBuf, keep_for: Duration, clock: Arc<dyn Clock>) -> Self {
        Self {
            dir,
            keep_for,
            clock,
            due: Instant::now() + FIRST_RUN_DELAY,
            stop: Arc::default(),
            thread: None,
        }
    }

    /// Returns the time until the next run.
    pub(crate) fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    pub(crate) fn today(&self) -> String {
        self.clock.now().date()
    }

    pub(crate) fn start(&mut self) {
        self.due = Instant::now() + RUN_INTERVAL;
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (dir, now, keep_for, stop) =
            (self.dir.clone(), self.clock.now(), self.keep_for, self.stop.clone());
        let work = move || match apply_retention(&dir, now, keep_for, &stop) {
            Ok(retention) => {
                info!(packed = retention.packed, removed = retention.removed, "applied log retention")
            }
            Err(error) => warn!(%error, dir = %dir.display(), "cannot compress or remove old logs"),
        };
        self.thread = thread::Builder::new().name("log-keeper".into()).spawn(work).ok();
    }
}

impl Drop for RetentionThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by the hook.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::day_files::{format_line, open};
    use crate::log::files::DayRange;
    use crate::log::reader::read;
    use crate::testing::{at, query_on};
    use crate::{LogKind, QueryRecord};

    static NEVER: AtomicBool = AtomicBool::new(false);
    const QUARTER: Duration = Duration::from_secs(90 * 86_400);

    /// Creates a log of that day with this many lines, last modified at the end of the day.
    fn write(dir: &Path, day: &str, lines: usize) {
        let mut file = open(dir, LogKind::Queries, day).unwrap();
        for n in 0..lines {
            file.write_all(&format_line(query_on(&format!("q{n}"), day), 7).unwrap()).unwrap();
        }
        let end = at(&format!("{day}T23:59:59Z"));
        file.set_modified(SystemTime::UNIX_EPOCH + end.since(Timestamp::EPOCH)).unwrap();
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = entries.filter(|name| name != "LOCK").collect();
        names.sort();
        names
    }

    fn count(dir: &Path) -> usize {
        read::<QueryRecord>(dir, &DayRange::default()).unwrap().map(Result::unwrap).collect::<Vec<_>>().len()
    }

    #[test]
    fn days_that_ended_are_packed_and_old_ones_removed() {
        let dir = tempfile::tempdir().unwrap();
        let now = at("2026-01-31T12:00:00Z");
        assert_eq!(
            apply_retention(&dir.path().join("none"), now, QUARTER, &NEVER).unwrap(),
            RetentionReport::default()
        );
        for day in ["2025-10-01", "2026-01-29", "2026-01-30", "2026-01-31"] {
            write(dir.path(), day, 100);
        }
        fs::write(dir.path().join("crawl-2020-01-31.log"), "").unwrap();
        let retention = apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap();
        assert_eq!((retention.packed, retention.removed), (2, 1));
        let expected = [
            "crawl-2020-01-31.log",
            "queries-2026-01-29.jsonl.zst",
            "queries-2026-01-30.jsonl.zst",
            "queries-2026-01-31.jsonl",
        ];
        assert_eq!((names(dir.path()), count(dir.path())), (expected.map(String::from).to_vec(), 300));
        assert_eq!(apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap(), RetentionReport::default());
        // The compressed file has the age of its original.
        let later = at("2026-05-05T00:00:00Z");
        assert_eq!(apply_retention(dir.path(), later, QUARTER, &NEVER).unwrap().removed, 3);
    }

    #[test]
    fn an_old_log_that_came_today_stays() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "2004-04-14", 1);
        let now = Timestamp::EPOCH.plus(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap());
        let path = dir.path().join("queries-2004-04-14.jsonl");
        File::options().append(true).open(path).unwrap().set_modified(SystemTime::now()).unwrap();
        assert_eq!(apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap().packed, 1);
        assert_eq!(count(dir.path()), 1);
        let zero = apply_retention(dir.path(), now.plus(2 * QUARTER), Duration::ZERO, &NEVER).unwrap();
        assert_eq!(zero.removed, 0);
    }

    #[test]
    fn remains_of_a_crash_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let now = at("2026-01-31T12:00:00Z");
        write(dir.path(), "2026-01-30", 5);
        let plain = fs::read(dir.path().join("queries-2026-01-30.jsonl")).unwrap();
        // Killed during compression.
        fs::write(dir.path().join("queries-2026-01-30.jsonl.zst.new"), "half").unwrap();
        assert_eq!(count(dir.path()), 5);
        apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap();
        assert_eq!((names(dir.path()), count(dir.path())), (vec!["queries-2026-01-30.jsonl.zst".into()], 5));
        // Killed between renaming and removing.
        fs::write(dir.path().join("queries-2026-01-30.jsonl"), plain).unwrap();
        assert_eq!(count(dir.path()), 5);
        apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap();
        assert_eq!((names(dir.path()), count(dir.path())), (vec!["queries-2026-01-30.jsonl.zst".into()], 5));
    }

    #[test]
    fn a_power_cut_leaves_one_complete_copy() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "2026-01-30", 50);
        let pack = || {
            let now = at("2026-01-31T12:00:00Z");
            assert_eq!(apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap().packed, 1);
        };
        let one_exists = |files: &pharos_files::power_cut::Files| {
            ["jsonl", "jsonl.zst"]
                .iter()
                .any(|suffix| files.contains_key(Path::new(&format!("queries-2026-01-30.{suffix}"))))
        };
        pharos_files::power_cut::check_with(dir.path(), pack, one_exists).unwrap();
    }

    #[test]
    fn files_in_use_by_another_process_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let now = at("2026-01-31T12:00:00Z");
        write(dir.path(), "2026-01-30", 5);
        let writer = open(dir.path(), LogKind::Queries, "2026-01-30").unwrap();
        assert_eq!(apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap(), RetentionReport::default());
        drop(writer);
        let lock = File::open(dir.path().join("LOCK")).unwrap();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap(), RetentionReport::default());
        drop(lock);
        let stop = AtomicBool::new(true);
        assert_eq!(apply_retention(dir.path(), now, QUARTER, &stop).unwrap(), RetentionReport::default());
        assert_eq!(apply_retention(dir.path(), now, QUARTER, &NEVER).unwrap().packed, 1);
    }
}
