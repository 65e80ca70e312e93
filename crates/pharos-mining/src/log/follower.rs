//! Follows logs as they grow: each record is returned once, across midnight, compression and removal.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use tracing::debug;

use crate::log::files::{LogFile, list_files};
use crate::log::reader::{LineError, LogLines};
use crate::log::records::{AnyRecord, LogKind};

/// Assumed compression ratio.
const PACKED_RATIO: u64 = 8;

/// Tracks the read position in each log file.
pub struct Follower {
    dir: PathBuf,
    kinds: Vec<LogKind>,
    first_day: String,
    read: BTreeMap<(String, LogKind, u32), FileProgress>,
    broken: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct FileProgress {
    /// Bytes of complete lines returned, uncompressed.
    offset: u64,
    /// Reading starts inside a line, which is skipped.
    in_line: bool,
    /// Size of the compressed file that was read to its end.
    packed: Option<u64>,
}

impl Follower {
    /// Follows these logs from `first_day` on. Of the existing content, the newest `limit` bytes are read.
    pub fn new(dir: PathBuf, kinds: &[LogKind], first_day: &str, limit: u64) -> io::Result<Self> {
        let mut follower = Self {
            dir,
            kinds: kinds.to_vec(),
            first_day: first_day.to_string(),
            read: BTreeMap::new(),
            broken: 0,
        };
        follower.skip_all_but(limit)?;
        Ok(follower)
    }

    fn files(&self) -> io::Result<Vec<LogFile>> {
        let wanted = |file: &LogFile| self.kinds.contains(&file.kind) && file.day >= self.first_day;
        Ok(list_files(&self.dir)?.into_iter().filter(wanted).collect())
    }

    fn skip_all_but(&mut self, limit: u64) -> io::Result<()> {
        let mut left = limit;
        for file in self.files()?.into_iter().rev() {
            // Removed meanwhile.
            let Ok(size) = fs::metadata(&file.path).map(|data| data.len()) else { continue };
            let held = size.saturating_mul(if file.compressed { PACKED_RATIO } else { 1 });
            if held > left {
                let progress = match file.compressed {
                    true => FileProgress { packed: Some(size), ..FileProgress::default() },
                    false => FileProgress { offset: size - left, in_line: true, packed: None },
                };
                self.read.insert((file.day, file.kind, file.part), progress);
            }
            left = left.saturating_sub(held);
        }
        Ok(())
    }

    /// Passes every new record since the last call to `take`, days in order. Returns their number.
    pub fn poll(&mut self, take: &mut dyn FnMut(AnyRecord)) -> io::Result<u64> {
        let mut records = 0;
        for file in self.files()? {
            match self.poll_file(&file, take) {
                Ok(more) => records += more,
                Err(error) => debug!(%error, file = %file.path.display(), "cannot read this log now"),
            }
        }
        Ok(records)
    }

    fn poll_file(&mut self, file: &LogFile, take: &mut dyn FnMut(AnyRecord)) -> io::Result<u64> {
        let progress = self.read.entry((file.day.clone(), file.kind, file.part)).or_default();
        let size = fs::metadata(&file.path)?.len();
        if file.compressed {
            if progress.packed == Some(size) {
                return Ok(0);
            }
        } else if size < progress.offset {
            // The file was created again.
            *progress = FileProgress::default();
        } else if size == progress.offset {
            return Ok(0);
        }
        let mut lines = LogLines::open_at(file, progress.offset)?;
        let mut records = 0;
        let mut whole = true;
        while let Some((_, line)) = lines.next_line() {
            let in_line = std::mem::take(&mut progress.in_line);
            match line.map(|line| AnyRecord::parse(file.kind, line)) {
                Err(LineError::Unfinished) => progress.in_line = in_line,
                _ if in_line => {}
                Ok(Ok(record)) => {
                    records += 1;
                    take(record);
                }
                Ok(Err(_)) | Err(LineError::TooLong) => self.broken += 1,
                Err(_) => whole = false,
            }
        }
        progress.offset = lines.consumed();
        if file.compressed {
            self.broken += u64::from(!whole);
            progress.packed = Some(size);
        }
        Ok(records)
    }

    /// Stops following days before this one.
    pub fn forget_before(&mut self, day: &str) {
        if self.first_day.as_str() < day {
            self.first_day = day.to_string();
            self.read.retain(|(of, ..), _| of.as_str() >= day);
        }
    }

    /// Returns the number of invalid lines.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::day_files::{DayFiles, format_line};
    use crate::log::retention::apply_retention;
    use crate::testing::{at, query_on};
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn write(dir: &Path, day: &str, query: &str) {
        let line = format_line(query_on(query, day), 7).unwrap();
        DayFiles::new(dir.to_path_buf()).write(LogKind::Queries, day, &line).unwrap();
    }

    fn poll(follower: &mut Follower) -> Vec<String> {
        let mut queries = Vec::new();
        let mut take = |record| match record {
            AnyRecord::Query(record) => queries.push(record.query),
            other => panic!("{other:?}"),
        };
        follower.poll(&mut take).unwrap();
        queries
    }

    fn follow(dir: &Path, limit: u64) -> Follower {
        Follower::new(dir.to_path_buf(), &[LogKind::Queries], "2026-01-30", limit).unwrap()
    }

    #[test]
    fn each_record_comes_once_over_midnight_and_packing() {
        let dir = tempfile::tempdir().unwrap();
        let mut follower = follow(&dir.path().join("logs"), u64::MAX);
        assert!(poll(&mut follower).is_empty());
        let dir = dir.path().join("logs");
        write(&dir, "2026-01-29", "too old");
        write(&dir, "2026-01-31", "a");
        assert_eq!(poll(&mut follower), ["a"]);
        write(&dir, "2026-01-31", "b");
        write(&dir, "2026-02-01", "c");
        assert_eq!(poll(&mut follower), ["b", "c"]);
        write(&dir, "2026-01-31", "late");
        let pack =
            |now| apply_retention(&dir, at(now), Duration::ZERO, &AtomicBool::new(false)).unwrap().packed;
        assert_eq!(pack("2026-02-01T12:00:00Z"), 2);
        assert_eq!(poll(&mut follower), ["late"]);
        write(&dir, "2026-01-31", "later");
        assert_eq!(poll(&mut follower), ["later"]);
        assert!(poll(&mut follower).is_empty());
        assert_eq!(pack("2026-02-02T12:00:00Z"), 2);
        assert!(poll(&mut follower).is_empty());
        follower.forget_before("2026-02-01");
        write(&dir, "2026-01-31", "forgotten");
        write(&dir, "2026-02-02", "d");
        assert_eq!(poll(&mut follower), ["d"]);
    }

    #[test]
    fn unfinished_lines_wait_and_a_recreated_file_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = LogFile::new(dir.path(), LogKind::Queries, "2026-01-31", 1, false).path;
        let (one, two) = (
            format_line(query_on("one", "2026-01-31"), 7).unwrap(),
            format_line(query_on("two", "2026-01-31"), 7).unwrap(),
        );
        let mut follower = follow(dir.path(), u64::MAX);
        fs::write(&path, [&one[..], b"broken\n", &two[..9]].concat()).unwrap();
        assert_eq!((poll(&mut follower), follower.broken()), (vec!["one".to_string()], 1));
        assert!(poll(&mut follower).is_empty());
        fs::write(&path, [&one[..], b"broken\n", &two].concat()).unwrap();
        assert_eq!(poll(&mut follower), ["two"]);
        fs::write(&path, &two).unwrap();
        assert_eq!(poll(&mut follower), ["two"]);
    }

    #[test]
    fn of_long_logs_the_end_is_read() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..10 {
            write(dir.path(), "2026-01-30", &format!("old {n}"));
            write(dir.path(), "2026-01-31", &format!("new {n}"));
        }
        let size = format_line(query_on("new 0", "2026-01-31"), 7).unwrap().len() as u64;
        assert_eq!(poll(&mut follow(dir.path(), 3 * size + 5)), ["new 7", "new 8", "new 9"]);
        let mut all_of_today = follow(dir.path(), 12 * size + 5);
        assert_eq!(poll(&mut all_of_today).len(), 12);
        write(dir.path(), "2026-01-30", "late");
        assert_eq!(poll(&mut all_of_today), ["late"]);
    }
}
