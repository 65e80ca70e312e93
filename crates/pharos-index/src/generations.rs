//! The chain of generations and `CURRENT`, the small file that names them.
//!
//! Whoever changes the chain owns the data directory. A builder that does not own it leaves a [`Wish`] in the index
//! directory; the owner fulfils it and removes it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use serde::{Deserialize, Serialize};

use crate::{IndexError, Maxima};

/// Format of `CURRENT` and of the generations it names.
const FORMAT: u32 = 5;

/// The chain: what `CURRENT` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    format: u32,
    /// The generation built in one go, once there is one.
    pub history: Option<History>,
    /// The generations that follow the library, oldest first; the last one is written to, the others are sealed.
    pub latest: Vec<Latest>,
}

/// The history generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Its number.
    pub number: u64,
    /// It knows the library up to here.
    pub to: LibraryPosition,
}

/// A latest generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latest {
    /// Its number.
    pub number: u64,
    /// It knows the library from here on.
    pub from: LibraryPosition,
}

impl Default for Current {
    fn default() -> Self {
        let first = Latest { number: 1, from: LibraryPosition::START };
        Self { format: FORMAT, history: None, latest: vec![first] }
    }
}

impl Current {
    /// The generation that is written to.
    pub fn open(&self) -> Latest {
        self.latest.last().copied().unwrap_or(Latest { number: 1, from: LibraryPosition::START })
    }
}

/// What a builder asks of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wish {
    /// Seal this latest generation.
    Seal(u64),
    /// Put this history generation in place.
    Install(History),
}

/// The index directory.
#[derive(Clone, Debug)]
pub struct Generations {
    dir: PathBuf,
}

impl Generations {
    /// The index directory `dir`, which need not exist yet.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Where a history generation lives.
    pub fn history_dir(&self, number: u64) -> PathBuf {
        self.dir.join(format!("history-{number}"))
    }

    /// Where a latest generation lives.
    pub fn latest_dir(&self, number: u64) -> PathBuf {
        self.dir.join(format!("latest-{number}"))
    }

    /// The words of the installation, beside the index in the data directory: `models/words.tsv`.
    pub fn words_file(&self) -> PathBuf {
        self.dir.parent().unwrap_or(Path::new("")).join("models").join("words.tsv")
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The chain as it is. Without a file it is one empty latest generation.
    pub fn current(&self) -> Result<Current, IndexError> {
        let path = self.dir.join("CURRENT");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Current::default()),
            Err(e) => return Err(IndexError::io("read", &path)(e)),
        };
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let damaged =
            |e: serde_json::Error| IndexError::Damaged { path: path.clone(), detail: e.to_string() };
        let Format { format: found } = serde_json::from_slice(&text).map_err(damaged)?;
        if found > FORMAT {
            return Err(IndexError::NewerFormat { path, found, known: FORMAT });
        }
        if found < FORMAT {
            return Err(IndexError::OlderFormat { path });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    /// Ends the open latest generation at `at` and opens the next.
    pub fn seal(&self, at: LibraryPosition) -> Result<Current, IndexError> {
        let mut current = self.current()?;
        let number = current.open().number + 1;
        current.latest.push(Latest { number, from: at });
        self.replace(&current)?;
        Ok(current)
    }

    /// Puts a finished history generation in place and drops what it replaces.
    pub fn install(&self, history: History) -> Result<Current, IndexError> {
        let path = self.history_dir(history.number);
        if !path.join("meta.json").exists() {
            let missing = io::Error::new(io::ErrorKind::NotFound, "it is not finished, or was removed");
            return Err(IndexError::io("put in place", &path)(missing));
        }
        let mut current = self.current()?;
        current.history = Some(history);
        let open = current.open();
        current.latest.retain(|l| l.from >= history.to || l.number == open.number);
        self.replace(&current)?;
        self.sweep(&current);
        Ok(current)
    }

    /// Begins a new chain: this history, if any, and one empty latest generation behind it. Every other generation is
    /// dropped. The caller owns the data directory and is the one builder. `CURRENT` need not be readable.
    pub fn start_over(&self, history: Option<History>) -> Result<Current, IndexError> {
        let last = self.members()?.into_iter().filter(|(kind, ..)| kind == "latest").map(|(_, n, _)| n).max();
        let known = self.current().map(|current| current.open().number).unwrap_or_default();
        let number = last.unwrap_or_default().max(known) + 1;
        let from = history.map_or(LibraryPosition::START, |h| h.to);
        let current = Current { format: FORMAT, history, latest: vec![Latest { number, from }] };
        self.replace(&current)?;
        self.remove_unnamed(&current)?;
        Ok(current)
    }

    /// Removes every generation that `current` does not name; the caller is the one builder.
    pub fn remove_unnamed(&self, current: &Current) -> Result<(), IndexError> {
        for path in self.unnamed(current)? {
            fs::remove_dir_all(&path).map_err(IndexError::io("remove", &path))?;
        }
        Ok(())
    }

    /// The generations that `current` does not name.
    pub(crate) fn unnamed(&self, current: &Current) -> Result<Vec<PathBuf>, IndexError> {
        let named = |kind: &str, number: u64| match kind {
            "history" => current.history.is_some_and(|h| h.number == number),
            _ => current.latest.iter().any(|l| l.number == number),
        };
        let members = self.members()?.into_iter();
        Ok(members.filter(|(kind, number, _)| !named(kind, *number)).map(|(.., path)| path).collect())
    }

    /// Every directory that is named like a generation.
    pub(crate) fn members(&self) -> Result<Vec<(String, u64, PathBuf)>, IndexError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(IndexError::io("read", &self.dir)(e)),
        };
        let mut members = Vec::new();
        for entry in entries {
            let path = entry.map_err(IndexError::io("read", &self.dir))?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let Some((kind @ ("history" | "latest"), number)) = name.split_once('-') else { continue };
            if let Ok(number) = number.parse() {
                members.push((kind.to_string(), number, path.clone()));
            }
        }
        members.sort();
        Ok(members)
    }

    /// Is a builder at work?
    pub fn is_building(&self) -> bool {
        let Ok(file) = File::open(self.dir.join("BUILD")) else { return false };
        matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
    }

    /// What the figures of pages are measured by: those of the history in place.
    pub(crate) fn maxima(&self) -> Result<Maxima, IndexError> {
        match self.current()?.history {
            Some(history) => Maxima::read(&self.history_dir(history.number)),
            None => Ok(Maxima::default()),
        }
    }

    /// The number that a new history generation gets.
    pub fn next_history(&self) -> Result<u64, IndexError> {
        Ok(self.current()?.history.map_or(1, |h| h.number + 1))
    }

    /// Leaves a wish for the owner.
    pub fn wish(&self, wish: Wish) -> Result<(), IndexError> {
        self.write_atomically("WISH", &wish)
    }

    /// The wish that waits, if any.
    pub fn waiting(&self) -> Option<Wish> {
        serde_json::from_slice(&fs::read(self.dir.join("WISH")).ok()?).ok()
    }

    /// Takes the wish away: it is fulfilled, or nobody waits for it any more.
    pub fn wish_done(&self) {
        let _ = fs::remove_file(self.dir.join("WISH"));
    }

    /// Becomes the one builder. The kernel releases the lock when the process ends.
    pub fn lock_builder(&self) -> Result<File, IndexError> {
        fs::create_dir_all(&self.dir).map_err(IndexError::io("create", &self.dir))?;
        let path = self.dir.join("BUILD");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(IndexError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Err(IndexError::BuildRunning { path: self.dir.clone() }),
            Err(fs::TryLockError::Error(e)) => Err(IndexError::io("lock", &path)(e)),
        }
    }

    fn replace(&self, current: &Current) -> Result<(), IndexError> {
        self.write_atomically("CURRENT", current)
    }

    fn write_atomically(&self, name: &str, value: &impl Serialize) -> Result<(), IndexError> {
        fs::create_dir_all(&self.dir).map_err(IndexError::io("create", &self.dir))?;
        let path = self.dir.join(name);
        let new = self.dir.join(format!("{name}.new"));
        let text = serde_json::to_vec(value)
            .map_err(|e| IndexError::Damaged { path: path.clone(), detail: e.to_string() })?;
        File::create(&new)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(&self.dir)?.sync_all())
            .map_err(IndexError::io("write", &path))
    }

    /// Removes generations that `current` does not name. Readers that have them open keep them open.
    fn sweep(&self, current: &Current) {
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some((kind, number)) = name.to_str().and_then(|n| n.split_once('-')) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            let named = match kind {
                "history" => current.history.is_none_or(|h| number >= h.number),
                "latest" => current.latest.iter().any(|l| l.number == number),
                _ => true,
            };
            if !named {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> LibraryPosition {
        LibraryPosition { file: 1, offset }
    }

    #[test]
    fn a_build_seals_and_switches_while_pages_go_on_coming() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        assert_eq!(generations.current().unwrap(), Current::default());
        let sealed = generations.seal(at(100)).unwrap();
        assert_eq!(sealed.latest.len(), 2);
        for name in ["latest-1", "latest-2", "history-1"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let unfinished = generations.install(History { number: 1, to: at(100) }).unwrap_err();
        assert!(unfinished.to_string().contains("not finished"), "{unfinished}");
        fs::write(dir.path().join("history-1/meta.json"), "{}").unwrap();
        let history = History { number: generations.next_history().unwrap(), to: at(100) };
        let switched = generations.install(history).unwrap();
        assert_eq!(switched.history, Some(history));
        assert_eq!(switched.latest, [Latest { number: 2, from: at(100) }]);
        assert_eq!(generations.current().unwrap(), switched);
        assert!(!dir.path().join("latest-1").exists() && dir.path().join("latest-2").exists());
        assert_eq!(generations.next_history().unwrap(), 2);
    }

    #[test]
    fn wishes_wait_for_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        assert_eq!(generations.waiting(), None);
        generations.wish(Wish::Seal(3)).unwrap();
        assert_eq!(generations.waiting(), Some(Wish::Seal(3)));
        generations.wish_done();
        assert_eq!(generations.waiting(), None);
    }

    #[test]
    fn there_is_one_builder() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        let first = generations.lock_builder().unwrap();
        assert!(matches!(generations.lock_builder(), Err(IndexError::BuildRunning { .. })));
        drop(first);
        generations.lock_builder().unwrap();
    }

    #[test]
    fn damage_and_other_formats_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        fs::write(dir.path().join("CURRENT"), "rubbish").unwrap();
        assert!(generations.current().unwrap_err().to_string().contains("pharos index build"));
        fs::write(dir.path().join("CURRENT"), "{\"format\":99,\"planets\":9}").unwrap();
        assert!(matches!(generations.current(), Err(IndexError::NewerFormat { found: 99, .. })));
        fs::write(dir.path().join("CURRENT"), "{\"format\":1}").unwrap();
        assert!(generations.current().unwrap_err().to_string().contains("pharos rebuild index"));
    }
}
