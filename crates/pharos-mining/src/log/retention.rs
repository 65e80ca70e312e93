//! Keeping house: days that ended are packed, old ones removed.
//!
//! A file is packed under another name, synced, renamed and only then removed, so that whatever happens in between one
//! complete copy is there. One process at a time keeps house (`logs/LOCK`). Age counts from the day in the name or the
//! last change, whichever is later: an old log that was imported today is kept as long as one that was written today.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use pharos_core::{Clock, Timestamp};
use rustix::fs::FlockOperation;
use tracing::{info, warn};

use crate::append::{cut_unfinished, is_at};
use crate::files::{LogFile, UNFINISHED, list};

/// Who is late by less than this still finds the file of yesterday.
const GRACE: Duration = Duration::from_secs(10 * 60);
/// How often days that ended are looked for.
const EVERY: Duration = Duration::from_secs(600);
/// A process that ends within this time leaves the house alone.
const FIRST: Duration = Duration::from_secs(5);
const LEVEL: i32 = 3;
const BLOCK: usize = 1 << 20;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct House {
    /// Files that were packed.
    pub packed: u64,
    /// Files that were removed because they were old.
    pub removed: u64,
}

/// Packs and removes what is due at `now`, unless another process is about it. Ends early when `stop` becomes true.
pub fn keep_house(dir: &Path, now: Timestamp, keep_for: Duration, stop: &AtomicBool) -> io::Result<House> {
    let mut house = House::default();
    if !dir.is_dir() {
        return Ok(house);
    }
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("LOCK"))?;
    if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(house);
    }
    drop_leftovers(dir)?;
    let today = now.minus(GRACE).date();
    for file in list(dir)? {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if is_old(&file, now, keep_for)? {
            house.removed += u64::from(remove(&file)?);
        } else if !file.packed && file.day < today {
            house.packed += u64::from(pack(&file, stop)?);
        }
    }
    Ok(house)
}

/// What a crash left: unfinished packed files, and originals of finished ones.
fn drop_leftovers(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(UNFINISHED) {
            fs::remove_file(path)?;
        }
    }
    for packed in list(dir)?.into_iter().filter(|file| file.packed) {
        remove_if_there(&packed.as_packed(false).path)?;
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

/// Packs a file that nobody writes to. False where somebody does, or it was stopped.
fn pack(file: &LogFile, stop: &AtomicBool) -> io::Result<bool> {
    let mut original = OpenOptions::new().read(true).write(true).open(&file.path)?;
    if rustix::fs::flock(&original, FlockOperation::NonBlockingLockExclusive).is_err()
        || !is_at(&original, &file.path)?
    {
        return Ok(false);
    }
    let changed = original.metadata()?.modified()?;
    cut_unfinished(&original)?;
    if original.metadata()?.len() == 0 {
        fs::remove_file(&file.path)?;
        return Ok(false);
    }
    let packed = file.as_packed(true);
    let unfinished = unfinished_name(&packed);
    let copied = copy_packed(&mut original, &unfinished, changed, stop);
    if !matches!(copied, Ok(true)) {
        remove_if_there(&unfinished)?;
        return copied;
    }
    fs::rename(&unfinished, &packed.path)?;
    if let Some(dir) = packed.path.parent() {
        File::open(dir)?.sync_all()?;
    }
    fs::remove_file(&file.path)?;
    Ok(true)
}

fn unfinished_name(packed: &LogFile) -> PathBuf {
    let mut path = packed.path.clone().into_os_string();
    path.push(".new");
    path.into()
}

fn copy_packed(original: &mut File, to: &Path, changed: SystemTime, stop: &AtomicBool) -> io::Result<bool> {
    let mut encoder = zstd::Encoder::new(File::create(to)?, LEVEL)?;
    encoder.include_checksum(true)?;
    let mut block = vec![0; BLOCK];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        match original.read(&mut block)? {
            0 => break,
            n => encoder.write_all(&block[..n])?,
        }
    }
    let file = encoder.finish()?;
    file.set_permissions(original.metadata()?.permissions())?;
    file.set_modified(changed)?;
    file.sync_all()?;
    Ok(true)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Has the house kept by a thread of its own: packing takes seconds, and lines wait for nobody.
pub(crate) struct Keeper {
    dir: PathBuf,
    keep_for: Duration,
    clock: Arc<dyn Clock>,
    due: Instant,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(crate) fn new(dir: PathBuf, keep_for: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { dir, keep_for, clock, due: Instant::now() + FIRST, stop: Arc::default(), thread: None }
    }

    /// How long until the house is due.
    pub(crate) fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    pub(crate) fn today(&self) -> String {
        self.clock.now().date()
    }

    pub(crate) fn start(&mut self) {
        self.due = Instant::now() + EVERY;
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let (dir, now, keep_for, stop) =
            (self.dir.clone(), self.clock.now(), self.keep_for, self.stop.clone());
        let work = move || match keep_house(&dir, now, keep_for, &stop) {
            Ok(house) => info!(packed = house.packed, removed = house.removed, "kept the logs"),
            Err(error) => warn!(%error, dir = %dir.display(), "cannot pack or remove old logs"),
        };
        self.thread = thread::Builder::new().name("log-keeper".into()).spawn(work).ok();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there was told by the hook.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append::{line, open};
    use crate::files::Days;
    use crate::reader::read;
    use crate::testing::{asked, at};
    use crate::{Kind, QueryRecord};

    static NEVER: AtomicBool = AtomicBool::new(false);
    const QUARTER: Duration = Duration::from_secs(90 * 86_400);

    /// A log of that day with this many lines, last changed as the day ended.
    fn write(dir: &Path, day: &str, lines: usize) {
        let mut file = open(dir, Kind::Queries, day).unwrap();
        for n in 0..lines {
            file.write_all(&line(asked(&format!("q{n}"), day), 7).unwrap()).unwrap();
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
        read::<QueryRecord>(dir, &Days::default()).unwrap().map(Result::unwrap).collect::<Vec<_>>().len()
    }

    #[test]
    fn days_that_ended_are_packed_and_old_ones_removed() {
        let dir = tempfile::tempdir().unwrap();
        let now = at("2026-01-31T12:00:00Z");
        assert_eq!(keep_house(&dir.path().join("none"), now, QUARTER, &NEVER).unwrap(), House::default());
        for day in ["2025-10-01", "2026-01-29", "2026-01-30", "2026-01-31"] {
            write(dir.path(), day, 100);
        }
        fs::write(dir.path().join("crawl-2020-01-31.log"), "").unwrap();
        let house = keep_house(dir.path(), now, QUARTER, &NEVER).unwrap();
        assert_eq!((house.packed, house.removed), (2, 1));
        let expected = [
            "crawl-2020-01-31.log",
            "queries-2026-01-29.jsonl.zst",
            "queries-2026-01-30.jsonl.zst",
            "queries-2026-01-31.jsonl",
        ];
        assert_eq!((names(dir.path()), count(dir.path())), (expected.map(String::from).to_vec(), 300));
        assert_eq!(keep_house(dir.path(), now, QUARTER, &NEVER).unwrap(), House::default());
        // The packed one is as old as its original was.
        let later = at("2026-05-05T00:00:00Z");
        assert_eq!(keep_house(dir.path(), later, QUARTER, &NEVER).unwrap().removed, 3);
    }

    #[test]
    fn an_old_log_that_came_today_stays() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "2004-04-14", 1);
        let now = Timestamp::EPOCH.plus(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap());
        let path = dir.path().join("queries-2004-04-14.jsonl");
        File::options().append(true).open(path).unwrap().set_modified(SystemTime::now()).unwrap();
        assert_eq!(keep_house(dir.path(), now, QUARTER, &NEVER).unwrap().packed, 1);
        assert_eq!(count(dir.path()), 1);
        let zero = keep_house(dir.path(), now.plus(2 * QUARTER), Duration::ZERO, &NEVER).unwrap();
        assert_eq!(zero.removed, 0);
    }

    #[test]
    fn whatever_a_crash_left_is_put_right() {
        let dir = tempfile::tempdir().unwrap();
        let now = at("2026-01-31T12:00:00Z");
        write(dir.path(), "2026-01-30", 5);
        let plain = fs::read(dir.path().join("queries-2026-01-30.jsonl")).unwrap();
        // Killed while packing.
        fs::write(dir.path().join("queries-2026-01-30.jsonl.zst.new"), "half").unwrap();
        assert_eq!(count(dir.path()), 5);
        keep_house(dir.path(), now, QUARTER, &NEVER).unwrap();
        assert_eq!((names(dir.path()), count(dir.path())), (vec!["queries-2026-01-30.jsonl.zst".into()], 5));
        // Killed between renaming and removing.
        fs::write(dir.path().join("queries-2026-01-30.jsonl"), plain).unwrap();
        assert_eq!(count(dir.path()), 5);
        keep_house(dir.path(), now, QUARTER, &NEVER).unwrap();
        assert_eq!((names(dir.path()), count(dir.path())), (vec!["queries-2026-01-30.jsonl.zst".into()], 5));
    }

    #[test]
    fn what_is_written_to_or_kept_by_another_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let now = at("2026-01-31T12:00:00Z");
        write(dir.path(), "2026-01-30", 5);
        let writer = open(dir.path(), Kind::Queries, "2026-01-30").unwrap();
        assert_eq!(keep_house(dir.path(), now, QUARTER, &NEVER).unwrap(), House::default());
        drop(writer);
        let lock = File::open(dir.path().join("LOCK")).unwrap();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(keep_house(dir.path(), now, QUARTER, &NEVER).unwrap(), House::default());
        drop(lock);
        let stop = AtomicBool::new(true);
        assert_eq!(keep_house(dir.path(), now, QUARTER, &stop).unwrap(), House::default());
        assert_eq!(keep_house(dir.path(), now, QUARTER, &NEVER).unwrap().packed, 1);
    }
}
