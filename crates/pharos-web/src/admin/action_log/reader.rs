//! Reads the action log backwards, newest line first, and no more of it than necessary.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::{ActionLog, ActionRecord, ROTATED_FILES, file_name};

/// Bytes read at once, and bytes read at most per page.
const CHUNK: u64 = 64 << 10;
const MAX_READ: u64 = 48 << 20;

/// Longer lines are skipped.
const MAX_LINE: usize = 64 << 10;

/// A filter on entries; empty fields match everything.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ActionFilter {
    /// Part of the operator's name.
    pub(in super::super) who: String,
    /// Prefix of the action name.
    pub(in super::super) action: String,
    /// Text that occurs anywhere in the entry.
    pub(in super::super) text: String,
}

/// A page of entries, newest first.
pub(in super::super) struct ActionPage {
    pub(in super::super) entries: Vec<ActionRecord>,
    pub(in super::super) has_more: bool,
    /// The scan stopped at its byte limit, so older matches may exist.
    pub(in super::super) is_incomplete: bool,
}

impl ActionFilter {
    fn matches(&self, entry: &ActionRecord) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let texts =
            [&entry.who, &entry.from, &entry.action, &entry.what, &entry.detail, &entry.outcome, &entry.at];
        has(&entry.who, &self.who)
            && entry.action.starts_with(&self.action)
            && (self.text.is_empty() || texts.into_iter().any(|text| has(text, &self.text)))
    }
}

impl ActionLog {
    /// Returns up to `count` matching entries, newest first, after skipping `skip` of them.
    pub(in super::super) fn read(
        &self,
        filter: &ActionFilter,
        skip: usize,
        count: usize,
    ) -> io::Result<ActionPage> {
        let mut page = ActionPage { entries: Vec::new(), has_more: false, is_incomplete: false };
        let (mut skipped, mut budget) = (0, MAX_READ);
        let mut take = |line: &[u8]| {
            let Some(entry) = serde_json::from_slice(line).ok().filter(|entry| filter.matches(entry)) else {
                return true;
            };
            if skipped < skip {
                skipped += 1;
            } else if page.entries.len() < count {
                page.entries.push(entry);
            } else {
                page.has_more = true;
            }
            !page.has_more
        };
        for age in 0..=ROTATED_FILES {
            let file = match File::open(self.dir.file(&file_name(age))) {
                Ok(file) => file,
                // Nothing was written yet, or a power cut interrupted a rotation.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
                {
                    continue;
                }
                Err(error) => return Err(error),
            };
            match scan_backwards(file, &mut budget, &mut take)? {
                ScanEnd::StartOfFile => {}
                ScanEnd::Enough => break,
                ScanEnd::BudgetExhausted => {
                    page.is_incomplete = true;
                    break;
                }
            }
        }
        Ok(page)
    }
}

enum ScanEnd {
    StartOfFile,
    Enough,
    BudgetExhausted,
}

/// Passes the lines of a file to `take`, last line first, until it returns `false`.
fn scan_backwards(
    mut file: File,
    budget: &mut u64,
    take: &mut impl FnMut(&[u8]) -> bool,
) -> io::Result<ScanEnd> {
    let mut at = file.metadata()?.len();
    // The end of a line that begins in the previous chunk.
    let mut rest = Vec::new();
    while at > 0 {
        let length = at.min(CHUNK);
        if *budget < length {
            return Ok(ScanEnd::BudgetExhausted);
        }
        *budget -= length;
        at -= length;
        let mut chunk = vec![0; usize::try_from(length).unwrap_or_default()];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut chunk)?;
        chunk.append(&mut rest);
        let mut lines = chunk.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        if !lines.rev().filter(|line| !line.is_empty()).all(&mut *take) {
            return Ok(ScanEnd::Enough);
        }
        rest = if first.len() > MAX_LINE { Vec::new() } else { first.to_vec() };
    }
    Ok(if rest.is_empty() || take(&rest) { ScanEnd::StartOfFile } else { ScanEnd::Enough })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use pharos_store::DataDir;

    use super::*;

    fn write(log: &ActionLog, count: usize) {
        let _lock = log.dir.lock().unwrap();
        let mut file = log.dir.append(&file_name(0)).unwrap();
        let lines: String = (0..count)
            .map(|n| {
                let who = if n % 2 == 0 { "Keeper" } else { "Mate" };
                let entry = ActionRecord {
                    at: format!("2026-01-31T12:00:00.{:03}Z", n % 1000),
                    who: who.into(),
                    from: "::1".into(),
                    action: if n % 3 == 0 { "crawl.pause" } else { "login" }.into(),
                    what: n.to_string(),
                    detail: "x".repeat(n % 300),
                    outcome: "done".into(),
                };
                serde_json::to_string(&entry).unwrap() + "\n"
            })
            .collect();
        file.write_all(lines.as_bytes()).unwrap();
    }

    #[test]
    fn the_newest_come_first_page_by_page_across_pieces() {
        let temp = tempfile::tempdir().unwrap();
        let log = ActionLog::open(&DataDir::at(temp.path()));
        write(&log, 2_000);
        let mut seen = Vec::new();
        loop {
            let page = log.read(&ActionFilter::default(), seen.len(), 300).unwrap();
            seen.extend(page.entries.into_iter().map(|entry| entry.what));
            if !page.has_more {
                break;
            }
        }
        let expected: Vec<_> = (0..2_000).rev().map(|n| n.to_string()).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn entries_are_filtered_by_operator_action_and_text() {
        let temp = tempfile::tempdir().unwrap();
        let log = ActionLog::open(&DataDir::at(temp.path()));
        write(&log, 600);
        let count = |who: &str, action: &str, text: &str| {
            let filter = ActionFilter { who: who.into(), action: action.into(), text: text.into() };
            log.read(&filter, 0, 10_000).unwrap().entries.len()
        };
        assert_eq!(count("", "", ""), 600);
        assert_eq!(
            (count("keeper", "", ""), count("", "crawl.", ""), count("mate", "login", "")),
            (300, 200, 200)
        );
        assert_eq!((count("", "", "PAUSE"), count("", "", "no such thing")), (200, 0));
    }

    #[test]
    fn invalid_lines_are_skipped() {
        let temp = tempfile::tempdir().unwrap();
        let log = ActionLog::open(&DataDir::at(temp.path()));
        write(&log, 3);
        let mut file = log.dir.append(&file_name(0)).unwrap();
        file.write_all(&[0xff; 300_000]).unwrap();
        file.write_all(b"\n\n{}\n[]\nnull\n").unwrap();
        write(&log, 2);
        let page = log.read(&ActionFilter::default(), 0, 10).unwrap();
        assert_eq!((page.entries.len(), page.has_more, page.is_incomplete), (5, false, false));
    }
}
