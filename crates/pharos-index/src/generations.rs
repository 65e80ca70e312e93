//! The index directory: `CURRENT`, the small file that names the chain, and the folders of the generations.
//!
//! Whoever changes the chain owns the data directory. A builder that does not own it leaves a [`Wish`] in the index
//! directory; the owner fulfils it and removes it.
//!
//! ```text
//! index/CURRENT         the chain                index/WISH    what the owner is asked for
//! index/history-7/      built in one go          index/BUILD   the builder's lock
//! index/latest-12/ …    follow the library       index/building/   a history that nobody sees yet
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use serde::{Deserialize, Serialize};

use crate::current::{Current, FORMAT, History, Wish};
use crate::{IndexError, Maxima, manifest};

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

    /// Where a history generation lives while it is being built.
    pub(crate) fn building_dir(&self) -> PathBuf {
        self.dir.join("building")
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
        self.change(|current| Ok(current.sealed(at)))
    }

    /// Puts a finished history generation in place. The one before is kept for going back, with what belonged to it;
    /// what was kept until now is dropped.
    pub fn install(&self, history: History) -> Result<Current, IndexError> {
        let path = self.history_dir(history.number);
        if !manifest::exists(&path) {
            let missing = io::Error::new(io::ErrorKind::NotFound, "it is not finished, or was removed");
            return Err(IndexError::io("put in place", &path)(missing));
        }
        let installed = self.change(|current| {
            Ok(if current.history == Some(history) { current.clone() } else { current.installed(history) })
        })?;
        self.sweep(&installed);
        Ok(installed)
    }

    /// Puts the history before the last build in its place again, and drops the one that it goes back from.
    pub fn roll_back(&self) -> Result<Current, IndexError> {
        let back = self.change(|current| {
            if let Some((from, to)) = current.gap() {
                return Err(IndexError::Gap { from, to });
            }
            current.rolled_back().ok_or_else(|| IndexError::NoPrevious { path: self.dir.clone() })
        })?;
        self.sweep(&back);
        Ok(back)
    }

    /// The latest generations have, or are about to get, what lies between them and the history before the last build.
    pub(crate) fn close_gap(&self, from: LibraryPosition) -> Result<Current, IndexError> {
        self.change(|current| Ok(current.widened(from)))
    }

    /// The open generation, which has nothing yet, goes on from where history ends.
    pub(crate) fn catch_up(&self) -> Result<Current, IndexError> {
        self.change(|current| Ok(current.caught_up()))
    }

    /// Begins a new chain: this history, if any, and one empty latest generation behind it. Every other generation is
    /// dropped. The caller owns the data directory and is the one builder. `CURRENT` need not be readable.
    pub fn start_over(&self, history: Option<History>) -> Result<Current, IndexError> {
        let (last, histories) = (self.last("latest")?, self.last("history")?);
        let known = self.current().unwrap_or_default();
        let latest = last.max(known.open().number) + 1;
        let current = Current::beginning(history, latest, histories.max(known.histories()));
        self.replace(&current)?;
        self.remove_unnamed(&current)?;
        self.discard_build()?;
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
        let members = self.members()?.into_iter();
        Ok(members
            .filter(|(kind, number, _)| !names(current, kind, *number))
            .map(|(.., path)| path)
            .collect())
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

    /// The highest number of a directory of this kind.
    fn last(&self, kind: &str) -> Result<u64, IndexError> {
        Ok(self
            .members()?
            .into_iter()
            .filter(|member| member.0 == kind)
            .map(|(_, n, _)| n)
            .max()
            .unwrap_or(0))
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

    /// The number that a new history generation gets: one that none had before, whether it is still there or somebody
    /// has it open.
    pub fn next_history(&self) -> Result<u64, IndexError> {
        Ok(self.current()?.histories().max(self.last("history")?) + 1)
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

    /// Takes this wish away. One that somebody else has left meanwhile stays: whoever was killed waits for nothing, and
    /// the next builder may be quicker than the owner.
    pub(crate) fn done_with(&self, wish: Wish) {
        if self.waiting() == Some(wish) {
            self.wish_done();
        }
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

    fn change(
        &self,
        change: impl FnOnce(&Current) -> Result<Current, IndexError>,
    ) -> Result<Current, IndexError> {
        let current = self.current()?;
        let next = change(&current)?;
        if next != current {
            self.replace(&next)?;
        }
        Ok(next)
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

    /// Removes generations that `current` does not name, but for a history that waits to be put in place. Readers that
    /// have them open keep them open.
    fn sweep(&self, current: &Current) {
        let Ok(unnamed) = self.members() else { return };
        for (kind, number, path) in unnamed {
            let waits = kind == "history" && number > current.histories();
            if !waits && !names(current, &kind, number) {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

fn names(current: &Current, kind: &str, number: u64) -> bool {
    match kind {
        "history" => current.named_histories().any(|history| history.number == number),
        _ => current.named_latest().any(|latest| latest.number == number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> LibraryPosition {
        LibraryPosition { file: 1, offset }
    }

    /// A finished generation, as far as its folder shows.
    fn finish(generations: &Generations, to: u64) -> History {
        let number = generations.next_history().unwrap();
        fs::create_dir(generations.history_dir(number)).unwrap();
        manifest::write(&generations.history_dir(number), 0).unwrap();
        History { number, to: at(to) }
    }

    fn folders(generations: &Generations) -> Vec<String> {
        let members = generations.members().unwrap();
        members.into_iter().map(|(kind, number, _)| format!("{kind}-{number}")).collect()
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
        let history = finish(&generations, 100);
        let switched = generations.install(history).unwrap();
        assert_eq!((history.number, switched.history), (2, Some(history)));
        assert_eq!(generations.current().unwrap(), switched);
        assert_eq!(folders(&generations), ["history-2", "latest-2"]);
        assert_eq!(generations.next_history().unwrap(), 3);
        assert_eq!(generations.install(history).unwrap(), switched, "it is in place already");
    }

    #[test]
    fn the_one_before_is_kept_until_the_next_and_can_be_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        for (round, to) in [100, 200, 300].into_iter().enumerate() {
            fs::create_dir(generations.latest_dir(round as u64 + 1)).unwrap();
            generations.seal(at(to)).unwrap();
            generations.install(finish(&generations, to)).unwrap();
        }
        fs::create_dir(generations.latest_dir(4)).unwrap();
        assert_eq!(folders(&generations), ["history-2", "history-3", "latest-3", "latest-4"]);
        let waiting = finish(&generations, 400);
        let back = generations.roll_back().unwrap();
        assert_eq!(back.history.map(|h| h.number), Some(2));
        assert_eq!(folders(&generations), ["history-2", "history-4", "latest-3", "latest-4"]);
        let error = generations.roll_back().unwrap_err().to_string();
        assert!(error.contains("pharos index build"), "{error}");
        fs::remove_dir_all(generations.history_dir(waiting.number)).unwrap();
        assert_eq!(generations.next_history().unwrap(), 4, "3 was in use");
    }

    #[test]
    fn wishes_wait_for_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        assert_eq!(generations.waiting(), None);
        for wish in [Wish::Seal(3), Wish::Rollback(2)] {
            generations.wish(wish).unwrap();
            assert_eq!(generations.waiting(), Some(wish));
        }
        generations.done_with(Wish::Seal(3));
        assert_eq!(generations.waiting(), Some(Wish::Rollback(2)), "another was left meanwhile");
        generations.done_with(Wish::Rollback(2));
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
