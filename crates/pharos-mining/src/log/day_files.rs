//! Appending whole lines to the files of days, beside other processes that do the same.
//!
//! Every writer holds a shared lock on the file it writes to. Whoever finds an unfinished last line when it opens a file
//! (someone was killed while writing) cuts it off if it is alone, and otherwise ends it with a line feed: at most that one
//! line is spoilt. Whoever packs a file holds it alone, so that nothing is written into what is about to be removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;
use thiserror::Error;

use crate::files::{LogFile, is_day};
use crate::privacy;
use crate::reader::MAX_LINE;
use crate::record::{Kind, Record};

/// Parts of one day's log.
const MAX_PARTS: u32 = 1000;
/// How often a file that somebody holds alone is tried, before the next part is begun.
const TRIES: usize = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// What lines are appended to: a file, or something that fails, in tests.
pub(crate) trait Append: Send {
    /// Appends some of the bytes, at once; says how many.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Until this returns, what was appended may be lost with the machine.
    fn sync(&mut self) -> io::Result<()>;
}

impl Append for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(self, bytes)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

pub(crate) type Opener = fn(&Path, Kind, &str) -> io::Result<Box<dyn Append>>;

/// A write that failed.
#[derive(Debug, Error)]
#[error("cannot write the log of {kind} of {day} in {}: {error}", dir.display())]
pub struct AppendError {
    /// Which log.
    pub kind: Kind,
    /// Of which day.
    pub day: String,
    /// In which folder.
    pub dir: PathBuf,
    /// What went wrong.
    pub error: io::Error,
    /// Lines that were written before.
    pub written: u64,
}

/// The open files of the logs: one for each kind at most.
pub(crate) struct Appender {
    pub(crate) dir: PathBuf,
    opener: Opener,
    open: Vec<OpenFile>,
}

struct OpenFile {
    kind: Kind,
    day: String,
    file: Box<dyn Append>,
    dirty: bool,
}

impl Appender {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self::with(dir, |dir, kind, day| Ok(Box::new(open(dir, kind, day)?)))
    }

    pub(crate) fn with(dir: PathBuf, opener: Opener) -> Self {
        Self { dir, opener, open: Vec::new() }
    }

    /// Appends whole lines. After a failure the file is opened, and mended, anew by the next call.
    pub(crate) fn write(&mut self, kind: Kind, day: &str, lines: &[u8]) -> Result<(), AppendError> {
        let mut written = 0;
        self.try_write(kind, day, lines, &mut written).map_err(|error| {
            self.open.retain(|open| open.kind != kind);
            let whole = lines[..written].iter().filter(|byte| **byte == b'\n').count() as u64;
            AppendError { kind, day: day.to_string(), dir: self.dir.clone(), error, written: whole }
        })
    }

    fn try_write(&mut self, kind: Kind, day: &str, lines: &[u8], written: &mut usize) -> io::Result<()> {
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

    /// Brings everything to the disk. Says whether that worked.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for open in self.open.iter_mut().filter(|open| open.dirty) {
            // A second try would not bring back what the kernel gave up.
            open.dirty = false;
            result = open.file.sync().and(result);
        }
        result
    }

    /// Lets go of the files of other days than this one, so that they can be packed.
    pub(crate) fn keep_open(&mut self, today: &str) {
        self.close(|open| open.day != today);
    }

    fn close(&mut self, done: impl Fn(&OpenFile) -> bool) {
        for open in self.open.iter_mut().filter(|open| open.dirty && done(open)) {
            // Written all the same; the machine may lose it.
            let _ = open.file.sync();
        }
        self.open.retain(|open| !done(open));
    }
}

/// Opens the first part of a day that is not packed, mended, with a shared lock.
pub(crate) fn open(dir: &Path, kind: Kind, day: &str) -> io::Result<File> {
    if !is_day(day) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{day}` is no day that can have a log"),
        ));
    }
    fs::create_dir_all(dir)?;
    for part in 1..=MAX_PARTS {
        let plain = LogFile::of(dir, kind, day, part, false);
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
    Err(io::Error::other(format!("the log of {kind} of {day} has {MAX_PARTS} parts")))
}

/// Nothing where someone holds the file alone, or it was removed meanwhile.
fn open_part(path: &Path) -> io::Result<Option<File>> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o640).open(path)?;
    let alone = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    if alone {
        cut_unfinished(&file)?;
    }
    let shared = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared);
    // Other errors mean a file system without locks: nobody is ever alone there, and nothing is packed.
    if shared == Err(rustix::io::Errno::WOULDBLOCK) {
        return Ok(None);
    }
    if !is_at(&file, path)? {
        return Ok(None);
    }
    if !alone && unfinished_from(&file)?.is_some() {
        file.write_all(b"\n")?;
    }
    Ok(Some(file))
}

/// Does the path still lead to this file?
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Cuts off the last line if it has no end. Only for who holds the file alone.
pub(crate) fn cut_unfinished(file: &File) -> io::Result<()> {
    match unfinished_from(file)? {
        Some(start) => file.set_len(start),
        None => Ok(()),
    }
}

/// Where the last line begins, if it has no end.
fn unfinished_from(file: &File) -> io::Result<Option<u64>> {
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

/// A record as it is written: cleaned, in one line.
pub(crate) fn line<R: Record>(mut record: R, scrub_digits: usize) -> io::Result<Vec<u8>> {
    privacy::clean(&mut record, scrub_digits);
    let mut line = serde_json::to_vec(&record)?;
    if line.len() >= MAX_LINE {
        let message = format!("a record of {} bytes is too long", line.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Days, list};
    use crate::reader::read;
    use crate::testing::{asked, at};
    use crate::{Flaw, QueryRecord};
    use std::sync::atomic::{AtomicI64, Ordering};

    const DAY: &str = "2026-01-31";

    fn queries(dir: &Path) -> (Vec<String>, usize) {
        let records: Vec<_> = read::<QueryRecord>(dir, &Days::default()).unwrap().collect();
        let broken = records.iter().filter(|r| r.is_err()).count();
        (records.into_iter().flatten().map(|r| r.query).collect(), broken)
    }

    #[test]
    fn killed_at_any_byte_every_whole_line_is_read_and_the_next_writer_goes_on() {
        let lines: Vec<Vec<u8>> = ["tea", "灯塔"].map(|text| line(asked(text, DAY), 7).unwrap()).to_vec();
        let log = lines.concat();
        for len in 0..=log.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = LogFile::of(dir.path(), Kind::Queries, DAY, 1, false).path;
            fs::write(&path, &log[..len]).unwrap();
            let whole = usize::from(len >= lines[0].len()) + usize::from(len == log.len());
            let unfinished = usize::from(len > 0 && len != lines[0].len() && len != log.len());
            let (found, broken) = queries(dir.path());
            assert_eq!((found.len(), broken), (whole, unfinished), "{len}");

            let mut appender = Appender::new(dir.path().to_path_buf());
            appender.write(Kind::Queries, DAY, &line(asked("next", DAY), 7).unwrap()).unwrap();
            let (found, broken) = queries(dir.path());
            assert_eq!((found.len(), broken), (whole + 1, 0), "{len}");
            assert_eq!(found.last().unwrap(), "next");
        }
    }

    #[test]
    fn beside_another_writer_an_unfinished_line_is_ended_and_not_cut() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = open(dir.path(), Kind::Queries, DAY).unwrap();
        first.write_all(b"{\"at\"").unwrap();
        let mut second = open(dir.path(), Kind::Queries, DAY).unwrap();
        for file in [&mut second, &mut first] {
            file.write_all(&line(asked("tea", DAY), 7).unwrap()).unwrap();
        }
        let (found, broken) = queries(dir.path());
        assert_eq!((found, broken), (vec!["tea".to_string(), "tea".into()], 1));
    }

    #[test]
    fn a_day_that_is_packed_gets_a_second_part() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(LogFile::of(dir.path(), Kind::Queries, DAY, 1, true).path, "").unwrap();
        let mut appender = Appender::new(dir.path().to_path_buf());
        appender.write(Kind::Queries, DAY, &line(asked("late", DAY), 7).unwrap()).unwrap();
        let names: Vec<String> = list(dir.path()).unwrap().iter().map(LogFile::name).collect();
        assert_eq!(names, ["queries-2026-01-31.jsonl.zst", "queries-2026-01-31.2.jsonl"]);
    }

    #[test]
    fn a_file_that_someone_holds_alone_is_left_to_them() {
        let dir = tempfile::tempdir().unwrap();
        let packing = open(dir.path(), Kind::Queries, DAY).unwrap();
        rustix::fs::flock(&packing, FlockOperation::NonBlockingLockExclusive).unwrap();
        open(dir.path(), Kind::Queries, DAY).unwrap();
        assert!(LogFile::of(dir.path(), Kind::Queries, DAY, 2, false).path.exists());
    }

    #[test]
    fn a_full_disk_spoils_one_line_and_writing_goes_on_when_there_is_room() {
        static ROOM: AtomicI64 = AtomicI64::new(i64::MAX);
        /// A file on a disk with little room.
        struct Tight(File);
        impl Append for Tight {
            fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let room = usize::try_from(ROOM.load(Ordering::Relaxed)).unwrap_or(0).min(bytes.len());
                if room == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                let written = self.0.write(&bytes[..room])?;
                ROOM.fetch_sub(written as i64, Ordering::Relaxed);
                Ok(written)
            }
            fn sync(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let mut appender = Appender::with(dir.path().to_path_buf(), |dir, kind, day| {
            Ok(Box::new(Tight(open(dir, kind, day)?)))
        });
        let one = line(asked("one", DAY), 7).unwrap();
        ROOM.store(one.len() as i64 + 10, Ordering::Relaxed);
        // Another process writes, too: the line is ended, not cut.
        let _other = open(dir.path(), Kind::Queries, DAY).unwrap();
        let failed = appender.write(Kind::Queries, DAY, &[&one[..], &one, &one].concat()).unwrap_err();
        assert_eq!(failed.written, 1);
        assert!(appender.write(Kind::Queries, DAY, &one).is_err());
        ROOM.store(i64::MAX, Ordering::Relaxed);
        appender.write(Kind::Queries, DAY, &one).unwrap();
        let (found, broken) = queries(dir.path());
        assert_eq!((found.len(), broken), (2, 1));
    }

    #[test]
    fn what_cannot_be_a_line_or_a_day_is_an_error() {
        assert!(line(asked(&"a".repeat(MAX_LINE), DAY), 7).is_err());
        let dir = tempfile::tempdir().unwrap();
        assert!(open(dir.path(), Kind::Queries, "../../x").is_err());
        assert!(open(dir.path(), Kind::Queries, "-009999-01-01").is_err());
        let mut odd = asked("a", DAY);
        odd.at = at("9999-12-30T00:00:00Z");
        assert_eq!(odd.at.date(), "9999-12-30");
        assert_eq!(Flaw::Unfinished.to_string(), "unfinished");
    }
}
