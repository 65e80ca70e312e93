//! Appends whole lines to the files of days, concurrently with other processes.
//!
//! Every writer holds a shared lock on its file. A writer that finds an incomplete last line when it opens a
//! file (its writer was killed) truncates it if no other process has the file open, and otherwise ends it
//! with a line feed: at most that one line is lost. Compression holds an exclusive lock, so that nothing is
//! written to a file that is about to be removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;
use thiserror::Error;

use crate::log::files::{LogFile, is_day};
use crate::log::privacy;
use crate::log::reader::MAX_LINE;
use crate::log::records::{LogKind, LogRecord};

/// Maximum number of parts of one day's log.
const MAX_PARTS: u32 = 1000;
/// Attempts to open a locked file before the next part is begun.
const TRIES: usize = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// The target of appended lines: a file, or a failing substitute in tests.
pub(crate) trait LineSink: Send {
    /// Appends some of the bytes at once and returns their number.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Writes appended data to stable storage.
    fn sync(&mut self) -> io::Result<()>;
}

impl LineSink for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(self, bytes)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

pub(crate) type Opener = fn(&Path, LogKind, &str) -> io::Result<Box<dyn LineSink>>;

/// Error: lines could not be written.
#[derive(Debug, Error)]
#[error("cannot write the {kind} log of {day} in {}: {error}", dir.display())]
pub struct AppendError {
    pub kind: LogKind,
    pub day: String,
    pub dir: PathBuf,
    pub error: io::Error,
    /// Number of lines written before the failure.
    pub written: u64,
}

/// The open log files: at most one per log.
pub(crate) struct DayFiles {
    pub(crate) dir: PathBuf,
    opener: Opener,
    open: Vec<OpenFile>,
}

struct OpenFile {
    kind: LogKind,
    day: String,
    file: Box<dyn LineSink>,
    dirty: bool,
}

impl DayFiles {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self::with(dir, |dir, kind, day| Ok(Box::new(open(dir, kind, day)?)))
    }

    pub(crate) fn with(dir: PathBuf, opener: Opener) -> Self {
        Self { dir, opener, open: Vec::new() }
    }

    /// Appends whole lines. After a failure the next call opens the file again and repairs it.
    pub(crate) fn write(&mut self, kind: LogKind, day: &str, lines: &[u8]) -> Result<(), AppendError> {
        let mut written = 0;
        self.try_write(kind, day, lines, &mut written).map_err(|error| {
            self.open.retain(|open| open.kind != kind);
            let whole = lines[..written].iter().filter(|byte| **byte == b'\n').count() as u64;
            AppendError { kind, day: day.to_string(), dir: self.dir.clone(), error, written: whole }
        })
    }

    fn try_write(&mut self, kind: LogKind, day: &str, lines: &[u8], written: &mut usize) -> io::Result<()> {
        let position = self.open.iter().position(|open| open.kind == kind && open.day == day);
        let position = match position {
            Some(position) => position,
            None => {
                self.close(|open| open.kind == kind);
                let file = (self.opener)(&self.dir, kind, day)?;
                self.open.push(OpenFile { kind, day: day.to_string(), file, dirty: false });
                self.open.len() - 1
            }
        };
        let open = &mut self.open[position];
        while *written < lines.len() {
            match open.file.append(&lines[*written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => *written += more,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            open.dirty = true;
        }
        Ok(())
    }

    /// Writes everything to stable storage.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for open in self.open.iter_mut().filter(|open| open.dirty) {
            // A second attempt would not recover the data that the kernel has dropped.
            open.dirty = false;
            result = open.file.sync().and(result);
        }
        result
    }

    /// Closes the files of other days, so that they can be compressed.
    pub(crate) fn keep_open(&mut self, today: &str) {
        self.close(|open| open.day != today);
    }

    fn close(&mut self, done: impl Fn(&OpenFile) -> bool) {
        for open in self.open.iter_mut().filter(|open| open.dirty && done(open)) {
            // The data is written, but may not survive a power failure.
            let _ = open.file.sync();
        }
        self.open.retain(|open| !done(open));
    }
}

/// Opens the first uncompressed part of a day, repaired, with a shared lock.
pub(crate) fn open(dir: &Path, kind: LogKind, day: &str) -> io::Result<File> {
    if !is_day(day) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("invalid day `{day}`")));
    }
    pharos_files::create_dir_all(dir)?;
    for part in 1..=MAX_PARTS {
        let plain = LogFile::new(dir, kind, day, part, false);
        let packed = plain.as_packed(true);
        for _ in 0..TRIES {
            if packed.path.exists() {
                break;
            }
            if let Some(file) = open_part(&plain.path)? {
                if !packed.path.exists() {
                    return Ok(file);
                }
            } else {
                thread::sleep(BETWEEN_TRIES);
            }
        }
    }
    Err(io::Error::other(format!("the {kind} log of {day} already has {MAX_PARTS} parts")))
}

/// Opens a part. Returns `None` if it is locked exclusively or has been removed meanwhile.
fn open_part(path: &Path) -> io::Result<Option<File>> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o640).open(path)?;
    let alone = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    if alone {
        truncate_incomplete(&file)?;
    }
    let shared = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared);
    // Other errors indicate a file system without locks: no process gets an exclusive lock there, and nothing
    // is compressed.
    if shared == Err(rustix::io::Errno::WOULDBLOCK) {
        return Ok(None);
    }
    if !is_at(&file, path)? {
        return Ok(None);
    }
    if !alone && incomplete_line_start(&file)?.is_some() {
        file.write_all(b"\n")?;
    }
    Ok(Some(file))
}

/// Returns `true` if the path still refers to this file.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Truncates an incomplete last line. Requires an exclusive lock.
pub(crate) fn truncate_incomplete(file: &File) -> io::Result<()> {
    match incomplete_line_start(file)? {
        Some(start) => file.set_len(start),
        None => Ok(()),
    }
}

/// Returns the start of the last line if it is incomplete.
fn incomplete_line_start(file: &File) -> io::Result<Option<u64>> {
    let len = file.metadata()?.len();
    let mut block = vec![0; 64 << 10];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let bytes = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(bytes, start)?;
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            let line = start + last as u64 + 1;
            return Ok((line < len).then_some(line));
        }
        end = start;
    }
    Ok((len > 0).then_some(0))
}

/// Serialises a scrubbed record as one line.
pub(crate) fn format_line<R: LogRecord>(mut record: R, scrub_digits: usize) -> io::Result<Vec<u8>> {
    privacy::scrub_record(&mut record, scrub_digits);
    let mut line = serde_json::to_vec(&record)?;
    if line.len() >= MAX_LINE {
        let message = format!("log record of {} bytes is too long", line.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::files::{DayRange, list_files};
    use crate::log::reader::read;
    use crate::testing::{at, query_on};
    use crate::{LineError, QueryRecord};
    use std::sync::atomic::{AtomicI64, Ordering};

    const DAY: &str = "2026-01-31";

    fn queries(dir: &Path) -> (Vec<String>, usize) {
        let records: Vec<_> = read::<QueryRecord>(dir, &DayRange::default()).unwrap().collect();
        let broken = records.iter().filter(|r| r.is_err()).count();
        (records.into_iter().flatten().map(|r| r.query).collect(), broken)
    }

    #[test]
    fn killed_at_any_byte_every_whole_line_is_read_and_the_next_writer_goes_on() {
        let lines: Vec<Vec<u8>> =
            ["tea", "灯塔"].map(|text| format_line(query_on(text, DAY), 7).unwrap()).to_vec();
        let log = lines.concat();
        for len in 0..=log.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = LogFile::new(dir.path(), LogKind::Queries, DAY, 1, false).path;
            fs::write(&path, &log[..len]).unwrap();
            let whole = usize::from(len >= lines[0].len()) + usize::from(len == log.len());
            let unfinished = usize::from(len > 0 && len != lines[0].len() && len != log.len());
            let (found, broken) = queries(dir.path());
            assert_eq!((found.len(), broken), (whole, unfinished), "{len}");

            let mut appender = DayFiles::new(dir.path().to_path_buf());
            appender.write(LogKind::Queries, DAY, &format_line(query_on("next", DAY), 7).unwrap()).unwrap();
            let (found, broken) = queries(dir.path());
            assert_eq!((found.len(), broken), (whole + 1, 0), "{len}");
            assert_eq!(found.last().unwrap(), "next");
        }
    }

    #[test]
    fn beside_another_writer_an_unfinished_line_is_ended_and_not_truncated() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = open(dir.path(), LogKind::Queries, DAY).unwrap();
        first.write_all(b"{\"at\"").unwrap();
        let mut second = open(dir.path(), LogKind::Queries, DAY).unwrap();
        for file in [&mut second, &mut first] {
            file.write_all(&format_line(query_on("tea", DAY), 7).unwrap()).unwrap();
        }
        let (found, broken) = queries(dir.path());
        assert_eq!((found, broken), (vec!["tea".to_string(), "tea".into()], 1));
    }

    #[test]
    fn a_day_that_is_packed_gets_a_second_part() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(LogFile::new(dir.path(), LogKind::Queries, DAY, 1, true).path, "").unwrap();
        let mut appender = DayFiles::new(dir.path().to_path_buf());
        appender.write(LogKind::Queries, DAY, &format_line(query_on("late", DAY), 7).unwrap()).unwrap();
        let names: Vec<String> = list_files(dir.path()).unwrap().iter().map(LogFile::name).collect();
        assert_eq!(names, ["queries-2026-01-31.jsonl.zst", "queries-2026-01-31.2.jsonl"]);
    }

    #[test]
    fn an_exclusively_locked_file_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let packing = open(dir.path(), LogKind::Queries, DAY).unwrap();
        rustix::fs::flock(&packing, FlockOperation::NonBlockingLockExclusive).unwrap();
        open(dir.path(), LogKind::Queries, DAY).unwrap();
        assert!(LogFile::new(dir.path(), LogKind::Queries, DAY, 2, false).path.exists());
    }

    #[test]
    fn a_full_disk_spoils_one_line_and_writing_resumes_later() {
        static FREE_BYTES: AtomicI64 = AtomicI64::new(i64::MAX);
        /// A file on a disk with little free space.
        struct Tight(File);
        impl LineSink for Tight {
            fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let free = usize::try_from(FREE_BYTES.load(Ordering::Relaxed)).unwrap_or(0).min(bytes.len());
                if free == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                let written = self.0.write(&bytes[..free])?;
                FREE_BYTES.fetch_sub(written as i64, Ordering::Relaxed);
                Ok(written)
            }
            fn sync(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let mut appender = DayFiles::with(dir.path().to_path_buf(), |dir, kind, day| {
            Ok(Box::new(Tight(open(dir, kind, day)?)))
        });
        let one = format_line(query_on("one", DAY), 7).unwrap();
        FREE_BYTES.store(one.len() as i64 + 10, Ordering::Relaxed);
        // Another process also writes: the line is ended, not truncated.
        let _other = open(dir.path(), LogKind::Queries, DAY).unwrap();
        let failed = appender.write(LogKind::Queries, DAY, &[&one[..], &one, &one].concat()).unwrap_err();
        assert_eq!(failed.written, 1);
        assert!(appender.write(LogKind::Queries, DAY, &one).is_err());
        FREE_BYTES.store(i64::MAX, Ordering::Relaxed);
        appender.write(LogKind::Queries, DAY, &one).unwrap();
        let (found, broken) = queries(dir.path());
        assert_eq!((found.len(), broken), (2, 1));
    }

    #[test]
    fn overlong_records_and_invalid_days_are_errors() {
        assert!(format_line(query_on(&"a".repeat(MAX_LINE), DAY), 7).is_err());
        let dir = tempfile::tempdir().unwrap();
        assert!(open(dir.path(), LogKind::Queries, "../../x").is_err());
        assert!(open(dir.path(), LogKind::Queries, "-009999-01-01").is_err());
        let mut odd = query_on("a", DAY);
        odd.at = at("9999-12-30T00:00:00Z");
        assert_eq!(odd.at.date(), "9999-12-30");
        assert_eq!(LineError::Unfinished.to_string(), "incomplete line");
    }
}
