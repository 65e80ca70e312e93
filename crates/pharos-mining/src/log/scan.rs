//! Going over the lines of logs as they stand, good and bad: for checking, printing and counting.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::files::{Days, LogFile, list};
use crate::reader::{BrokenLine, Flaw, Lines};
use crate::record::{AnyRecord, Kind};

/// A record and the line it was read from.
pub struct Scanned<'l> {
    /// As it stands.
    pub line: &'l [u8],
    /// What it says.
    pub record: AnyRecord,
}

/// What a line is: a record, or why it is none.
pub type ScannedLine<'l> = Result<Scanned<'l>, BrokenLine>;

/// Hands over every line of these logs, days in order.
pub fn scan(
    dir: &Path,
    kinds: &[Kind],
    days: &Days,
    take: &mut dyn FnMut(&LogFile, ScannedLine<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for file in list(dir)?.iter().filter(|file| kinds.contains(&file.kind) && days.contain(&file.day)) {
        let mut lines = match Lines::open(file) {
            Ok(lines) => lines,
            // Removed for its age a moment ago.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => {
                let flaw = Flaw::Unreadable(e.to_string());
                take(file, Err(BrokenLine { file: file.name(), line: 1, flaw }))?;
                continue;
            }
        };
        while let Some((number, line)) = lines.next_line() {
            let scanned = match line {
                Ok(line) => match AnyRecord::parse(file.kind, line) {
                    Ok(record) => Ok(Scanned { line, record }),
                    Err(error) => Err(Flaw::invalid(&error)),
                },
                Err(flaw) => Err(flaw),
            };
            take(file, scanned.map_err(|flaw| BrokenLine { file: file.name(), line: number, flaw }))?;
        }
    }
    Ok(())
}

/// What a check found in the logs of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Files.
    pub files: u64,
    /// Lines that are records.
    pub records: u64,
    /// Lines that are not.
    pub broken: u64,
    /// Last lines without an end: being written, or left by a crash.
    pub unfinished: u64,
}

/// Reads every line of every log. `tell` is told of each that is no record.
pub fn check(dir: &Path, tell: &mut dyn FnMut(&BrokenLine)) -> io::Result<BTreeMap<&'static str, Checked>> {
    let mut checked: BTreeMap<&'static str, Checked> =
        Kind::ALL.into_iter().map(|kind| (kind.name(), Checked::default())).collect();
    for file in list(dir)? {
        checked.entry(file.kind.name()).or_default().files += 1;
    }
    scan(dir, &Kind::ALL, &Days::default(), &mut |file, line| {
        let of = checked.entry(file.kind.name()).or_default();
        match line {
            Ok(_) => of.records += 1,
            Err(line) => {
                match line.flaw {
                    Flaw::Unfinished => of.unfinished += 1,
                    _ => of.broken += 1,
                }
                tell(&line);
            }
        }
        Ok(())
    })?;
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append::line;
    use crate::testing::asked;
    use std::fs;

    #[test]
    fn a_check_counts_and_names() {
        let dir = tempfile::tempdir().unwrap();
        let good = line(asked("tea", "2026-01-31"), 7).unwrap();
        let lines = [&good[..], b"\n{}\n", &good, &good[..20]].concat();
        fs::write(LogFile::of(dir.path(), Kind::Queries, "2026-01-31", 1, false).path, lines).unwrap();
        fs::write(LogFile::of(dir.path(), Kind::Clicks, "2026-01-31", 1, true).path, "no zstd").unwrap();
        let mut told = Vec::new();
        let checked = check(dir.path(), &mut |line| told.push(line.to_string())).unwrap();
        assert_eq!(checked["queries"], Checked { files: 1, records: 2, broken: 1, unfinished: 1 });
        assert_eq!((checked["clicks"].broken, checked["system"].files), (1, 0));
        assert!(told[0].starts_with("queries-2026-01-31.jsonl:3: not a record: missing field"), "{told:?}");
        assert_eq!(told[1], "queries-2026-01-31.jsonl:5: unfinished");
        assert!(told[2].starts_with("clicks-2026-01-31.jsonl.zst:1: cannot be read any further"), "{told:?}");
    }
}
