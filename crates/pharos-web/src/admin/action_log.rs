//! The action log: actions of operators, with time, operator and address (`desk/actions.jsonl` in the data directory).
//!
//! It has a line for every action, executed or refused, and may be written by several processes. Refusals that outsiders can
//! cause are rate-limited, with a count of those left out: they cannot fill the disk or push out older lines.

mod reader;
mod refusal_limit;

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use pharos_core::{Clock as _, SystemClock};
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

pub(super) use self::reader::ActionFilter;
use self::refusal_limit::RefusalLimiter;
use super::desk_dir::DeskDir;
use super::operators::MAX_NAME_LENGTH;

const FILE: &str = "actions.jsonl";

/// Maximum size of a file before rotation, and number of rotated files kept.
const MAX_FILE_SIZE: u64 = 16 << 20;
const ROTATED_FILES: usize = 10;

/// Maximum length of the object and of the details in bytes.
const MAX_TEXT_LENGTH: usize = 2 << 10;

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionOutcome<'a> {
    Done,
    /// With the reason.
    Refused(&'a str),
}

/// An action to be logged.
pub(crate) struct ActionEntry<'a> {
    /// The operator; empty if unknown.
    pub(crate) who: &'a str,
    pub(crate) from: &'a str,
    /// Short name, such as `crawl.pause`.
    pub(crate) action: &'static str,
    /// The object of the action: a site, a URL, a setting.
    pub(crate) what: &'a str,
    pub(crate) detail: &'a str,
    pub(crate) outcome: ActionOutcome<'a>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ActionRecord {
    pub(super) at: String,
    pub(super) who: String,
    pub(super) from: String,
    pub(super) action: String,
    pub(super) what: String,
    pub(super) detail: String,
    pub(super) outcome: String,
}

/// The action log.
pub(crate) struct ActionLog {
    dir: DeskDir,
    refusals: RefusalLimiter,
    max_file_size: u64,
}

impl ActionLog {
    pub(super) fn open(data: &DataDir) -> Self {
        Self {
            dir: DeskDir::at(data.desk()),
            refusals: RefusalLimiter::default(),
            max_file_size: MAX_FILE_SIZE,
        }
    }

    /// Appends an entry. A write error is logged and does not fail the action.
    pub(crate) fn append(&self, action: &ActionEntry<'_>) {
        let mut detail = action.detail.to_string();
        if matches!(action.outcome, ActionOutcome::Refused(_)) {
            let Some(omitted) = self.refusals.allow(action.action, std::time::Instant::now()) else { return };
            if omitted > 0 {
                detail.push_str(if detail.is_empty() { "" } else { "; " });
                detail.push_str(&format!("{omitted} similar entries omitted"));
            }
        }
        let entry = ActionRecord {
            at: SystemClock.now().to_precise(),
            who: action.who.chars().filter(|c| !c.is_control()).take(MAX_NAME_LENGTH).collect(),
            from: truncate(action.from),
            action: truncate(action.action),
            what: truncate(action.what),
            detail: truncate(&detail),
            outcome: match action.outcome {
                ActionOutcome::Done => "done".into(),
                ActionOutcome::Refused(why) => truncate(&format!("refused: {why}")),
            },
        };
        if let Err(error) = self.write_line(&entry) {
            tracing::warn!(%error, action = action.action, what = entry.what, who = entry.who, "cannot write to the action log");
        }
    }

    fn write_line(&self, entry: &ActionRecord) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let _lock = self.dir.lock()?;
        let mut file = self.dir.append(FILE)?;
        let length = file.metadata()?.len();
        if length >= self.max_file_size {
            self.rotate()?;
            file = self.dir.append(FILE)?;
        } else if length > 0 && !ends_with_newline(&mut file)? {
            // A line truncated by a full disk must not damage the next one.
            line.insert(0, b'\n');
        }
        file.write_all(&line)?;
        file.sync_data()
    }

    /// Renames every file to the next older name.
    fn rotate(&self) -> io::Result<()> {
        for age in (0..ROTATED_FILES).rev() {
            match pharos_files::rename(&self.dir.file(&file_name(age)), &self.dir.file(&file_name(age + 1))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the name of a file by its age; 0 is the current one.
fn file_name(age: usize) -> String {
    if age == 0 { FILE.into() } else { format!("actions-{age}.jsonl") }
}

fn ends_with_newline(file: &mut fs::File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn truncate(text: &str) -> String {
    let mut text: String = text.chars().filter(|c| !c.is_control()).take(MAX_TEXT_LENGTH).collect();
    text.truncate(text.floor_char_boundary(MAX_TEXT_LENGTH));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action_log(temp: &tempfile::TempDir) -> ActionLog {
        ActionLog::open(&DataDir::at(temp.path()))
    }

    fn entry<'a>(what: &'a str, detail: &'a str) -> ActionEntry<'a> {
        ActionEntry {
            who: "Keeper",
            from: "127.0.0.1",
            action: "crawl.pause",
            what,
            detail,
            outcome: ActionOutcome::Done,
        }
    }

    fn all(log: &ActionLog) -> Vec<ActionRecord> {
        log.read(&ActionFilter::default(), 0, 100_000).unwrap().entries
    }

    #[test]
    fn a_line_is_one_line_of_bounded_length() {
        let temp = tempfile::tempdir().unwrap();
        let log = action_log(&temp);
        log.append(&entry("a\nb\u{0}\u{1b}[31m\"<script>", &"灯".repeat(5_000)));
        let text = fs::read_to_string(temp.path().join("desk/actions.jsonl")).unwrap();
        assert_eq!(text.lines().count(), 1);
        let entry = &all(&log)[0];
        assert_eq!((entry.what.as_str(), entry.outcome.as_str()), ("ab[31m\"<script>", "done"));
        assert!(entry.detail.len() <= MAX_TEXT_LENGTH && entry.detail.len() > MAX_TEXT_LENGTH - 3);
    }

    #[test]
    fn two_processes_write_without_losing_a_line() {
        let temp = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for process in 0..2 {
                let log = action_log(&temp);
                scope.spawn(move || {
                    (0..50).for_each(|n| log.append(&entry(&format!("{process} {n}"), "")));
                });
            }
        });
        let mut seen: Vec<_> = all(&action_log(&temp)).into_iter().map(|entry| entry.what).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 100);
    }

    #[test]
    fn files_are_rotated_and_the_oldest_deleted() {
        let temp = tempfile::tempdir().unwrap();
        let log = ActionLog { max_file_size: 300, ..action_log(&temp) };
        (0..100).for_each(|n| log.append(&entry(&n.to_string(), "")));
        let files = fs::read_dir(temp.path().join("desk")).unwrap().count();
        assert_eq!(files, 1 + 1 + ROTATED_FILES, "the lock, the current file and old ones");
        // Every line is in some file after a power cut, except those of the oldest file.
        let lines_of = |age| fs::read(temp.path().join("desk").join(file_name(age))).unwrap();
        let kept: Vec<_> = (0..ROTATED_FILES).map(lines_of).collect();
        let is_kept = |files: &pharos_files::power_cut::Files| {
            kept.iter().all(|lines| files.values().any(|found| found == lines))
        };
        pharos_files::power_cut::check_states(temp.path(), || log.rotate().unwrap(), is_kept).unwrap();
        let left = all(&log);
        assert_eq!(left[0].what, "99");
        assert!((ROTATED_FILES..50).contains(&left.len()), "{} lines remain", left.len());
        assert!(left.iter().rev().map(|entry| entry.what.parse::<usize>().unwrap()).is_sorted());
    }

    #[test]
    fn a_torn_line_damages_no_other() {
        let temp = tempfile::tempdir().unwrap();
        let log = action_log(&temp);
        log.append(&entry("before", ""));
        log.dir.append(FILE).unwrap().write_all(b"{\"at\":\"2026").unwrap();
        log.append(&entry("after", ""));
        let what: Vec<_> = all(&log).into_iter().map(|entry| entry.what).collect();
        assert_eq!(what, ["after", "before"]);
    }

    #[test]
    fn repeated_refusals_do_not_fill_the_disk() {
        let temp = tempfile::tempdir().unwrap();
        let log = action_log(&temp);
        let refusal =
            ActionEntry { outcome: ActionOutcome::Refused("wrong"), action: "login", ..entry("", "attempt") };
        (0..1_000).for_each(|_| log.append(&refusal));
        assert!((10..100).contains(&all(&log).len()), "{} lines", all(&log).len());
        (0..200).for_each(|n| log.append(&entry(&n.to_string(), "")));
        let done = all(&log).into_iter().filter(|entry| entry.outcome == "done").count();
        assert_eq!(done, 200, "executed actions are always logged");
    }

    #[test]
    fn an_unwritable_folder_is_no_error() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("desk"), "a file in place of the directory").unwrap();
        let log = action_log(&temp);
        log.append(&entry("x", ""));
        assert!(log.read(&ActionFilter::default(), 0, 10).is_ok_and(|page| page.entries.is_empty()));
    }
}
