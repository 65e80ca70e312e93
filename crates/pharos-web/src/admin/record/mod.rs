//! What was done at the desk, by whom and from where: `desk/actions.jsonl` in the data directory.
//!
//! A line for every action, and for every one that was refused. Several processes may write. What outsiders can bring about
//! is written only so often, with how often it was left out: nobody fills the disk, or drives older lines out, by knocking.

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

/// A new file is begun when the current one is longer, and so many old ones are kept.
const LONGEST_FILE: u64 = 16 << 20;
const KEPT: usize = 10;

/// Bytes of what an action was about, and of what else there is to say.
const LONGEST_TEXT: usize = 2 << 10;

/// How an action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<'a> {
    Done,
    /// And why.
    Refused(&'a str),
}

/// What is written down of an action.
pub(crate) struct Deed<'a> {
    /// The operator; empty where it is nobody known.
    pub(crate) who: &'a str,
    /// The address.
    pub(crate) from: &'a str,
    /// Its short name, such as `crawl.pause`.
    pub(crate) action: &'static str,
    /// What it was done to: a site, an address, a setting.
    pub(crate) what: &'a str,
    /// What else there is to say.
    pub(crate) detail: &'a str,
    pub(crate) outcome: Outcome<'a>,
}

/// A line of the record.
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

/// The record.
pub(crate) struct Record {
    folder: Folder,
    flood: Flood,
    longest_file: u64,
}

impl Record {
    pub(super) fn of(data: &DataDir) -> Self {
        Self { folder: Folder::at(data.desk()), flood: Flood::default(), longest_file: LONGEST_FILE }
    }

    /// Writes an action down. A disk that takes nothing more keeps nobody from acting.
    pub(crate) fn note(&self, deed: &Deed<'_>) {
        let mut detail = deed.detail.to_string();
        if matches!(deed.outcome, Outcome::Refused(_)) {
            let Some(left_out) = self.flood.passes(deed.action, std::time::Instant::now()) else { return };
            if left_out > 0 {
                detail.push_str(if detail.is_empty() { "" } else { "; " });
                detail.push_str(&format!("{left_out} more like this were not written down"));
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
            tracing::warn!(%error, action = deed.action, what = entry.what, who = entry.who, "cannot write down what was done at the desk");
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
            // A line that a full disk cut short takes no other with it.
            line.insert(0, b'\n');
        }
        file.write_all(&line)?;
        file.sync_data()
    }

    /// Every old file becomes one older, and the current one the first of them.
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

/// The name of the file that is so many files old.
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
    fn long_files_grow_old_and_the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let record = Record { longest_file: 300, ..record(&dir) };
        (0..100).for_each(|n| record.note(&deed(&n.to_string(), "")));
        let files = fs::read_dir(dir.path().join("desk")).unwrap().count();
        assert_eq!(files, 1 + 1 + KEPT, "the lock, the current file and old ones");
        let left = all(&record);
        assert_eq!(left[0].what, "99");
        assert!((KEPT..50).contains(&left.len()), "{} lines are left", left.len());
        assert!(left.iter().rev().map(|entry| entry.what.parse::<usize>().unwrap()).is_sorted());
    }

    #[test]
    fn a_torn_line_takes_no_other_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(&dir);
        record.note(&deed("before", ""));
        record.folder.append(FILE).unwrap().write_all(b"{\"at\":\"2026").unwrap();
        record.note(&deed("after", ""));
        let what: Vec<_> = all(&record).into_iter().map(|entry| entry.what).collect();
        assert_eq!(what, ["after", "before"]);
    }

    #[test]
    fn who_knocks_all_the_time_does_not_fill_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(&dir);
        let knock = Deed { outcome: Outcome::Refused("wrong"), action: "login", ..deed("", "knock") };
        (0..1_000).for_each(|_| record.note(&knock));
        assert!((10..100).contains(&all(&record).len()), "{} lines", all(&record).len());
        (0..200).for_each(|n| record.note(&deed(&n.to_string(), "")));
        let done = all(&record).into_iter().filter(|entry| entry.outcome == "done").count();
        assert_eq!(done, 200, "what was done is always written down");
    }

    #[test]
    fn a_folder_that_takes_nothing_stops_nobody() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("desk"), "a file where the folder would be").unwrap();
        let record = record(&dir);
        record.note(&deed("x", ""));
        assert!(record.read(&Filter::default(), 0, 10).is_ok_and(|page| page.entries.is_empty()));
    }
}
