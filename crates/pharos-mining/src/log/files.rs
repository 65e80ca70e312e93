//! The log files: `queries-2026-01-31.jsonl`, and `.jsonl.zst` once the day has ended.
//!
//! A record for a day that is compressed already goes into a second part, `queries-2026-01-31.2.jsonl`:
//! compressed files are never modified. If a part exists both compressed and uncompressed, compression ended
//! just before the original was removed, and the compressed file is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::log::records::LogKind;

/// Suffix of an uncompressed file.
const PLAIN: &str = ".jsonl";
/// Suffix of a compressed file.
const PACKED: &str = ".jsonl.zst";
/// Suffix of a file that is being compressed.
pub(crate) const UNFINISHED: &str = ".jsonl.zst.new";

/// A log file. Files are ordered by day, and within a day as in [`LogKind::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogFile {
    /// The day in UTC, `2026-01-31`.
    pub day: String,
    pub kind: LogKind,
    /// Number of the part of the day's log, from 1.
    pub part: u32,
    /// `true` if the file is compressed.
    pub compressed: bool,
    pub path: PathBuf,
}

impl LogFile {
    /// Returns the file of a part of a day.
    pub fn new(dir: &Path, kind: LogKind, day: &str, part: u32, compressed: bool) -> Self {
        let ending = if compressed { PACKED } else { PLAIN };
        let part_name = if part > 1 { format!(".{part}") } else { String::new() };
        let path = dir.join(format!("{kind}-{day}{part_name}{ending}"));
        Self { day: day.to_string(), kind, part, compressed, path }
    }

    /// Returns the file name without the directory.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the file of the same part in compressed or uncompressed form.
    pub(crate) fn as_packed(&self, packed: bool) -> Self {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        Self::new(dir, self.kind, &self.day, self.part, packed)
    }

    fn named(dir: &Path, name: &str) -> Option<Self> {
        let (stem, packed) = match name.strip_suffix(PACKED) {
            Some(stem) => (stem, true),
            None => (name.strip_suffix(PLAIN)?, false),
        };
        let (kind, day) = stem.split_once('-')?;
        let (day, part) = match day.split_once('.') {
            Some((day, part)) => (day, part.parse().ok().filter(|part| *part > 1)?),
            None => (day, 1),
        };
        let file = Self::new(dir, LogKind::from_name(kind)?, day, part, packed);
        (is_day(day) && file.name() == name).then_some(file)
    }
}

/// Returns `true` if `text` is a day such as `2026-01-31`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

/// Lists all log files in order, each part once. Returns an empty list if the directory does not exist.
pub fn list_files(dir: &Path) -> io::Result<Vec<LogFile>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut files = Vec::new();
    for entry in entries {
        files.extend(entry?.file_name().to_str().and_then(|name| LogFile::named(dir, name)));
    }
    files.sort();
    // Of two files of a part the compressed one comes second.
    files.reverse();
    files.dedup_by(|a, b| (&a.day, a.kind, a.part) == (&b.day, b.kind, b.part));
    files.reverse();
    Ok(files)
}

/// A range of days, both ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayRange {
    pub from: Option<String>,
    pub to: Option<String>,
}

impl DayRange {
    /// Returns `true` if `day` is in the range.
    pub fn contains(&self, day: &str) -> bool {
        self.from.as_deref().is_none_or(|from| from <= day) && self.to.as_deref().is_none_or(|to| day <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_listed_once_and_other_files_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        assert!(list_files(&dir.path().join("none")).unwrap().is_empty());
        for name in [
            "clicks-2026-01-31.jsonl",
            "queries-2026-01-31.jsonl",
            "queries-2026-01-31.jsonl.zst",
            "queries-2026-01-31.2.jsonl",
            "queries-2026-01-30.jsonl.zst",
            "queries-2026-01-30.jsonl.zst.new",
            "queries-2026-01-30.01.jsonl",
            "queries-2026-02-30.jsonl",
            "crawl-2026-01-31.log",
            "visit-key",
            "queries-.jsonl",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names: Vec<String> = list_files(dir.path()).unwrap().iter().map(LogFile::name).collect();
        assert_eq!(
            names,
            [
                "queries-2026-01-30.jsonl.zst",
                "queries-2026-01-31.jsonl.zst",
                "queries-2026-01-31.2.jsonl",
                "clicks-2026-01-31.jsonl"
            ]
        );
    }

    #[test]
    fn days_are_a_range_with_both_ends() {
        let days = DayRange { from: Some("2026-01-30".into()), to: Some("2026-01-31".into()) };
        let inside = ["2026-01-29", "2026-01-30", "2026-01-31", "2026-02-01"].map(|day| days.contains(day));
        assert_eq!(inside, [false, true, true, false]);
        assert!(DayRange::default().contains("1999-12-31"));
    }
}
