//! Iterates over the raw lines of logs, valid and invalid, for checking, printing and counting.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::log::files::{DayRange, LogFile, list_files};
use crate::log::reader::{InvalidLine, LineError, LogLines};
use crate::log::records::{AnyRecord, LogKind};

/// A record and its line.
pub struct ScannedRecord<'l> {
    pub line: &'l [u8],
    pub record: AnyRecord,
}

/// A record, or the reason why a line is invalid.
pub type ScannedLine<'l> = Result<ScannedRecord<'l>, InvalidLine>;

/// Passes every line of these logs to `take`, days in order.
pub fn scan(
    dir: &Path,
    kinds: &[LogKind],
    days: &DayRange,
    take: &mut dyn FnMut(&LogFile, ScannedLine<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for file in list_files(dir)?.iter().filter(|file| kinds.contains(&file.kind) && days.contains(&file.day))
    {
        let mut lines = match LogLines::open(file) {
            Ok(lines) => lines,
            // The file has just been removed for its age.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => {
                let error = LineError::Unreadable(e.to_string());
                take(file, Err(InvalidLine { file: file.name(), line: 1, error }))?;
                continue;
            }
        };
        while let Some((number, line)) = lines.next_line() {
            let scanned = match line {
                Ok(line) => match AnyRecord::parse(file.kind, line) {
                    Ok(record) => Ok(ScannedRecord { line, record }),
                    Err(error) => Err(LineError::invalid(&error)),
                },
                Err(error) => Err(error),
            };
            take(file, scanned.map_err(|error| InvalidLine { file: file.name(), line: number, error }))?;
        }
    }
    Ok(())
}

/// Result of checking one log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogCheck {
    pub files: u64,
    /// Number of valid lines.
    pub records: u64,
    /// Number of invalid lines.
    pub broken: u64,
    /// Last lines without a line feed: being written, or left by a crash.
    pub unfinished: u64,
}

/// Reads every line of every log and calls `report` for each invalid one.
pub fn check(
    dir: &Path,
    report: &mut dyn FnMut(&InvalidLine),
) -> io::Result<BTreeMap<&'static str, LogCheck>> {
    let mut checked: BTreeMap<&'static str, LogCheck> =
        LogKind::ALL.into_iter().map(|kind| (kind.name(), LogCheck::default())).collect();
    for file in list_files(dir)? {
        checked.entry(file.kind.name()).or_default().files += 1;
    }
    scan(dir, &LogKind::ALL, &DayRange::default(), &mut |file, line| {
        let of = checked.entry(file.kind.name()).or_default();
        match line {
            Ok(_) => of.records += 1,
            Err(line) => {
                match line.error {
                    LineError::Unfinished => of.unfinished += 1,
                    _ => of.broken += 1,
                }
                report(&line);
            }
        }
        Ok(())
    })?;
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::day_files::format_line;
    use crate::testing::query_on;
    use std::fs;

    #[test]
    fn a_check_counts_and_names() {
        let dir = tempfile::tempdir().unwrap();
        let good = format_line(query_on("tea", "2026-01-31"), 7).unwrap();
        let lines = [&good[..], b"\n{}\n", &good, &good[..20]].concat();
        fs::write(LogFile::new(dir.path(), LogKind::Queries, "2026-01-31", 1, false).path, lines).unwrap();
        fs::write(LogFile::new(dir.path(), LogKind::Clicks, "2026-01-31", 1, true).path, "no zstd").unwrap();
        let mut warned = Vec::new();
        let checked = check(dir.path(), &mut |line| warned.push(line.to_string())).unwrap();
        assert_eq!(checked["queries"], LogCheck { files: 1, records: 2, broken: 1, unfinished: 1 });
        assert_eq!((checked["clicks"].broken, checked["system"].files), (1, 0));
        assert!(
            warned[0].starts_with("queries-2026-01-31.jsonl:3: invalid record: missing field"),
            "{warned:?}"
        );
        assert_eq!(warned[1], "queries-2026-01-31.jsonl:5: incomplete line");
        assert!(
            warned[2].starts_with("clicks-2026-01-31.jsonl.zst:1: cannot read the rest of the file"),
            "{warned:?}"
        );
    }
}
