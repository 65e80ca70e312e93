//! The action log: actions of operators, with time, operator and address (`desk/actions.jsonl` in the data directory).
//!
//! It has a line for every action, executed or refused, and may be written by several processes. Refusals that outsiders can
//! cause are rate-limited, with a count of those left out: they cannot fill the disk or push out older lines.

mod flood;
mod read;

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use pharos_core::{Clock as _, SystemClock};
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

use self::flood::Flood;
pub(super) use self::read::Filter;
use super::folder::Folder;
use super::operators::LONGEST_NAME;

const FILE: &str = "actions.jsonl";

/// Maximum size of a file before rotation, and number of rotated files kept.
const LONGEST_FILE: u64 = 16 << 20;
const KEPT: usize = 10;

/// Maximum length of the object and of the details in bytes.
const LONGEST_TEXT: usize = 2 << 10;

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<'a> {
    Done,
    /// With the reason.
    Refused(&'a str),
}

/// An action to be logged.
pub(crate) struct Deed<'a> {
    /// The operator; empty if unknown.
    pub(crate) who: &'a str,
    pub(crate) from: &'a str,
    /// Short name, such as `crawl.pause`.
    pub(crate) action: &'static str,
    /// The object of the action: a site, a URL, a setting.
    pub(crate) what: &'a str,
    pub(crate) detail: &'a str,
    pub(crate) outcome: Outcome<'a>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) at: String,
    pub(super) who: String,
    pub(super) from: String,
    pub(super) action: String,
    pub(super) what: String,
    pub(super) detail: String,
    pub(super) outcome: String,
}

/// The action log.
pub(crate) struct Record {
    folder: Folder,
    flood: Flood,
    longest_file: u64,
}

impl Record {
    pub(super) fn of(data: &DataDir) -> Self {
        Self { folder: Folder::at(data.desk()), flood: Flood::default(), longest_file: LONGEST_FILE }
    }

    /// Appends an entry. A write error is logged and does not fail the action.
    pub(crate) fn note(&self, deed: &Deed<'_>) {
        let mut detail = deed.detail.to_string();
        if matches!(deed.outcome, Outcome::Refused(_)) {
            let Some(left_out) = self.flood.passes(deed.action, std::time::Instant::now()) else { return };
            if left_out > 0 {
                detail.push_str(if detail.is_empty() { "" } else { "; " });
                detail.push_str(&format!("{left_out} similar entries omitted"));
            }
        }
        let entry = Entry {
            at: SystemClock.now().to_precise(),
            who: deed.who.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect(),
            from: bounded(deed.from),
            action: bounded(deed.action),
            what: bounded(deed.what),
            detail: bounded(&detail),
            outcome: match deed.outcome {
                Outcome::Done => "done".into(),
                Outcome::Refused(why) => bounded(&format!("refused: {why}")),
            },
        };
        if let Err(error) = self.write(&entry) {
            tracing::warn!(%error, action = deed.action, what = entry.what, who = entry.who, "cannot write to the action log");
        }
    }

    fn write(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let _lock = self.folder.lock()?;
        let mut file = self.folder.append(FILE)?;
        let length = file.metadata()?.len();
        if length >= self.longest_file {
            self.rotate()?;
            file = self.folder.append(FILE)?;
        } else if length > 0 && !ends_a_line(&mut file)? {
            // A line truncated by a full disk must not damage the next one.
            line.insert(0, b'\n');
        }
        file.write_all(&line)?;
        file.sync_data()
    }

    /// Renames every file to the next older name.
    fn rotate(&self) -> io::Result<()> {
        for age in (0..KEPT).rev() {
            match fs::rename(self.folder.file(&aged(age)), self.folder.file(&aged(age + 1))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the name of a file by its age; 0 is the current one.
fn aged(age: usize) -> String {
    if age == 0 { FILE.into() } else { format!("actions-{age}.jsonl") }
}

fn ends_a_line(file: &mut fs::File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn bounded(text: &str) -> String {
    let mut text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_TEXT).collect();
    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(dir: &tempfile::TempDir) -> Record {
        Record::of(&DataDir::at(dir.path()))
    }

    fn deed<'a>(what: &'a str, detail: &'a str) -> Deed<'a> {
        Deed { who: "Keeper", from: "127.0.0.1", action: "crawl.pause", what, detail, outcome: Outcome::Done }
    }

    fn all(record: &Record) -> Vec<Entry> {
        record.read(&Filter::default(), 0, 100_000).unwrap().entries
    }

    #[test]
    fn a_line_is_one_line_of_bounded_length() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(&dir);
        record.note(&deed("a\nb\u{0}\u{1b}[31m\"<script>", &"灯".repeat(5_000)));
        let text = fs::read_to_string(dir.path().join("desk/actions.jsonl")).unwrap();
        assert_eq!(text.lines().count(), 1);
        let entry = &all(&record)[0];
        assert_eq!((entry.what.as_str(), entry.outcome.as_str()), ("ab[31m\"<script>", "done"));
        assert!(entry.detail.len() <= LONGEST_TEXT && entry.detail.len() > LONGEST_TEXT - 3);
    }

    #[test]
    fn two_processes_write_without_losing_a_line() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for process in 0..2 {
                let record = record(&dir);
                scope.spawn(move || {
                    (0..50).for_each(|n| record.note(&deed(&format!("{process} {n}"), "")));
                });
            }
        });
        let mut seen: Vec<_> = all(&record(&dir)).into_iter().map(|entry| entry.what).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 100);
    }

    #[test]
    fn files_are_rotated_and_the_oldest_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let record = Record { longest_file: 300, ..record(&dir) };
        (0..100).for_each(|n| record.note(&deed(&n.to_string(), "")));
        let files = fs::read_dir(dir.path().join("desk")).unwrap().count();
        assert_eq!(files, 1 + 1 + KEPT, "the lock, the current file and old ones");
        let left = all(&record);
        assert_eq!(left[0].what, "99");
        assert!((KEPT..50).contains(&left.len()), "{} lines remain", left.len());
        assert!(left.iter().rev().map(|entry| entry.what.parse::<usize>().unwrap()).is_sorted());
    }

    #[test]
    fn a_torn_line_damages_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(&dir);
        record.note(&deed("before", ""));
        record.folder.append(FILE).unwrap().write_all(b"{\"at\":\"2026").unwrap();
        record.note(&deed("after", ""));
        let what: Vec<_> = all(&record).into_iter().map(|entry| entry.what).collect();
        assert_eq!(what, ["after", "before"]);
    }

    #[test]
    fn repeated_refusals_do_not_fill_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(&dir);
        let knock = Deed { outcome: Outcome::Refused("wrong"), action: "login", ..deed("", "knock") };
        (0..1_000).for_each(|_| record.note(&knock));
        assert!((10..100).contains(&all(&record).len()), "{} lines", all(&record).len());
        (0..200).for_each(|n| record.note(&deed(&n.to_string(), "")));
        let done = all(&record).into_iter().filter(|entry| entry.outcome == "done").count();
        assert_eq!(done, 200, "executed actions are always logged");
    }

    #[test]
    fn an_unwritable_folder_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("desk"), "a file where the folder would be").unwrap();
        let record = record(&dir);
        record.note(&deed("x", ""));
        assert!(record.read(&Filter::default(), 0, 10).is_ok_and(|page| page.entries.is_empty()));
    }
}
