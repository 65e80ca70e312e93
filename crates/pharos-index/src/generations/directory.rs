//! The index directory: the file `CURRENT`, which lists the chain, and the directories of the generations.
//!
//! Only the owner of the data directory changes the chain. A builder in another process leaves a [`BuilderRequest`]
//! in the index directory; the owner serves and removes it.
//!
//! ```text
//! index/CURRENT         the chain                index/WISH       request to the owner
//! index/history-7/      built in one go          index/BUILD      lock of the builder
//! index/latest-12/ …    follow the library       index/building/  history under construction
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pharos_core::LibraryPositions;
use pharos_files::DirectoryLock;
use pharos_text::dictionary::Dictionary;
use pharos_text::vocabulary::WatchedVocabulary;
use serde::{Deserialize, Serialize};

use crate::generational::{BuilderLock, GenerationStore, ReplacedGenerations};
use crate::generations::builder_request::BuilderRequest;
use crate::generations::chain::{
    FORMAT, GenerationChain, HistoryGeneration, LatestGeneration, OLDEST_FORMAT,
};
use crate::generations::generation::Generation;
use crate::generations::inventory::GenerationInventory;
use crate::generations::manifest;
use crate::generations::verify::{GenerationFlaw, GenerationReport, check_generations, verify_generations};
use crate::read::open_chain;
use crate::write::history_builder::BuildDirectory;
use crate::{IndexError, IndexView, LinkMaxima};

/// Name of the file that lists the chain.
pub(crate) const CURRENT: &str = "CURRENT";
/// File that the builder locks beside the directory.
const BUILDER_LOCK: &str = "BUILD";

/// The index directory.
#[derive(Clone, Debug)]
pub struct Generations {
    dir: PathBuf,
}

impl Generations {
    /// Refers to the index directory `dir`, which need not exist yet.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Returns the directory of a latest generation.
    pub(crate) fn latest_dir(&self, number: u64) -> PathBuf {
        self.dir.join(format!("latest-{number}"))
    }

    /// Returns the directory of the history generation under construction.
    pub(crate) fn building_dir(&self) -> PathBuf {
        self.dir.join("building")
    }

    /// Returns the path of the vocabulary of the installation: `models/words.tsv` in the data directory.
    pub(crate) fn words_file(&self) -> PathBuf {
        self.dir.parent().unwrap_or(Path::new("")).join("models").join("words.tsv")
    }

    /// Returns the path of the directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Seals the open latest generation at `at` and opens the next one.
    pub(crate) fn seal(&self, at: LibraryPositions) -> Result<GenerationChain, IndexError> {
        self.update_chain(|current| Ok(current.sealed(at.clone())))
    }

    /// Restores the history before the last build and removes the current one.
    pub(crate) fn roll_back(&self) -> Result<GenerationChain, IndexError> {
        let back = self.update_chain(|current| {
            if let Some((from, to)) = current.gap() {
                return Err(IndexError::Gap { from, to });
            }
            current.rolled_back().ok_or_else(|| IndexError::NoPrevious { path: self.dir.clone() })
        })?;
        self.remove_replaced(&back);
        Ok(back)
    }

    /// Extends the oldest latest generation to the end of the previous history. Its records are applied, or about to
    /// be replayed.
    pub(crate) fn close_gap(&self, from: &LibraryPositions) -> Result<GenerationChain, IndexError> {
        self.update_chain(|current| Ok(current.widened(from)))
    }

    /// Moves the start of the empty open generation to the end of history.
    pub(crate) fn catch_up(&self) -> Result<GenerationChain, IndexError> {
        self.update_chain(|current| Ok(current.caught_up()))
    }

    /// Removes all generations that `current` does not list.
    fn remove_all_but(&self, current: &GenerationChain) -> Result<(), IndexError> {
        for path in self.unreferenced(current)? {
            fs::remove_dir_all(&path).map_err(IndexError::io("remove", &path))?;
        }
        Ok(())
    }

    /// Moves all generations that `current` does not list to `folder`.
    fn move_all_but(&self, current: &GenerationChain, folder: &Path) -> Result<(), IndexError> {
        for path in self.unreferenced(current)? {
            let to = folder.join(path.file_name().unwrap_or_default());
            pharos_files::rename(&path, &to).map_err(IndexError::io("move", &path))?;
        }
        Ok(())
    }

    /// Creates a directory beside this one for replaced generations, with a copy of `CURRENT`.
    fn create_replaced_dir(&self) -> Result<PathBuf, IndexError> {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        let mut names = (1..).map(|n: u32| match n {
            1 => self.dir.with_file_name(format!("{name}.replaced")),
            n => self.dir.with_file_name(format!("{name}.replaced-{n}")),
        });
        let folder = names.find(|folder| !folder.exists()).unwrap_or_else(|| self.dir.clone());
        pharos_files::create_dir_all(&folder).map_err(IndexError::io("create", &folder))?;
        match fs::read(self.dir.join(CURRENT)) {
            Ok(chain) => {
                let copy = folder.join(CURRENT);
                pharos_files::replace(&copy, &chain).map_err(IndexError::io("write", &copy))?;
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(IndexError::io("read", &self.dir.join(CURRENT))(e)),
        }
        Ok(folder)
    }

    /// Reads `CURRENT`. Returns `None` if it does not exist.
    fn read_chain(&self) -> Result<Option<Vec<u8>>, IndexError> {
        let path = self.dir.join(CURRENT);
        match fs::read(&path) {
            Ok(text) => Ok(Some(text)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(IndexError::io("read", &path)(e)),
        }
    }

    /// Writes `CURRENT` before the first history is finished, which must not lie beside a missing `CURRENT`.
    pub(crate) fn ensure_chain(&self) -> Result<(), IndexError> {
        match (self.read_chain()?, self.current()) {
            (None, Ok(first)) => self.write_chain(&first),
            // The chain is about to be replaced.
            (None, Err(error)) if !error.is_unreadable_chain() => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the directories of generations that `current` does not list.
    pub(crate) fn unreferenced(&self, current: &GenerationChain) -> Result<Vec<PathBuf>, IndexError> {
        let directories = self.list_directories()?.into_iter();
        Ok(directories
            .filter(|(kind, number, _)| !is_referenced(current, kind, *number))
            .map(|(.., path)| path)
            .collect())
    }

    /// Returns all directories that are named like a generation, with kind and number.
    pub(crate) fn list_directories(&self) -> Result<Vec<(String, u64, PathBuf)>, IndexError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(IndexError::io("read", &self.dir)(e)),
        };
        let mut directories = Vec::new();
        for entry in entries {
            let path = entry.map_err(IndexError::io("read", &self.dir))?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let Some((kind @ ("history" | "latest"), number)) = name.split_once('-') else { continue };
            if let Ok(number) = number.parse() {
                directories.push((kind.to_string(), number, path.clone()));
            }
        }
        directories.sort();
        Ok(directories)
    }

    /// Returns the highest number among the directories of this kind.
    fn highest_number(&self, kind: &str) -> Result<u64, IndexError> {
        Ok(self
            .list_directories()?
            .into_iter()
            .filter(|directory| directory.0 == kind)
            .map(|(_, n, _)| n)
            .max()
            .unwrap_or(0))
    }

    /// Returns the maxima of the current history.
    pub(crate) fn maxima(&self) -> Result<LinkMaxima, IndexError> {
        match self.current()?.history {
            Some(history) => LinkMaxima::read(&self.history_dir(history.number)),
            None => Ok(LinkMaxima::default()),
        }
    }

    /// Returns the number for the next history generation. Numbers are never reused, even if the directory no longer
    /// exists.
    pub(crate) fn next_history(&self) -> Result<u64, IndexError> {
        let known = match self.current() {
            Ok(current) => current.highest_history_number(),
            // The chain is about to be replaced.
            Err(error) if error.is_unreadable_chain() => 0,
            Err(error) => return Err(error),
        };
        Ok(known.max(self.highest_number("history")?) + 1)
    }

    /// Removes this request if it is still pending. A newer request stays: its sender may have replaced that of a
    /// killed builder.
    pub(crate) fn complete_request(&self, request: &BuilderRequest) {
        if self.pending_request().as_ref() == Some(request) {
            self.clear_request();
        }
    }

    fn update_chain(
        &self,
        update: impl FnOnce(&GenerationChain) -> Result<GenerationChain, IndexError>,
    ) -> Result<GenerationChain, IndexError> {
        let current = self.current()?;
        let next = update(&current)?;
        if next != current {
            self.write_chain(&next)?;
        }
        Ok(next)
    }

    fn write_chain(&self, current: &GenerationChain) -> Result<(), IndexError> {
        // Any generation created from now on has the current format.
        self.write_durably(CURRENT, &current.in_current_format())
    }

    fn write_durably(&self, name: &str, value: &impl Serialize) -> Result<(), IndexError> {
        let path = self.dir.join(name);
        let text = serde_json::to_vec(value)
            .map_err(|e| IndexError::Damaged { path: path.clone(), detail: e.to_string() })?;
        pharos_files::create_dir_all(&self.dir)
            .and_then(|()| pharos_files::replace(&path, &text))
            .map_err(IndexError::io("write", &path))
    }

    /// Removes generations that `current` does not list, except a finished history that waits for installation.
    /// Processes that have removed generations open can still read them.
    fn remove_replaced(&self, current: &GenerationChain) {
        let Ok(unreferenced) = self.list_directories() else { return };
        for (kind, number, path) in unreferenced {
            let is_pending = kind == "history" && number > current.highest_history_number();
            if !is_pending && !is_referenced(current, &kind, number) {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

impl GenerationStore for Generations {
    fn current(&self) -> Result<GenerationChain, IndexError> {
        let path = self.dir.join(CURRENT);
        let mut read = self.read_chain()?;
        if read.is_none() {
            // Before the first build there is no `CURRENT` and at most the first latest generation.
            let first = GenerationChain::default();
            if self.unreferenced(&first)?.is_empty() {
                return Ok(first);
            }
            // The owner may have written `CURRENT` and created the next generation in the meantime.
            read = self.read_chain()?;
        }
        let Some(text) = read else { return Err(IndexError::NoCurrent { path }) };
        #[derive(Deserialize)]
        struct FormatVersion {
            format: u32,
        }
        let damaged =
            |e: serde_json::Error| IndexError::Damaged { path: path.clone(), detail: e.to_string() };
        let FormatVersion { format: found } = serde_json::from_slice(&text).map_err(damaged)?;
        if found > FORMAT {
            return Err(IndexError::NewerFormat { path, found, known: FORMAT });
        }
        if found < OLDEST_FORMAT {
            return Err(IndexError::OlderFormat { path });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    fn applied_positions(&self) -> Result<LibraryPositions, IndexError> {
        let current = self.current()?;
        let open = current.open();
        let committed = match Generation::open(&self.latest_dir(open.number))? {
            Some(generation) => generation.applied_positions()?,
            None => None,
        };
        let before = current.history.map(|h| h.to).unwrap_or_default();
        Ok(committed.unwrap_or_else(|| before.highest(&open.from)))
    }

    fn is_empty(&self) -> Result<bool, IndexError> {
        Ok(self.list_directories()?.is_empty())
    }

    fn history_dir(&self, number: u64) -> PathBuf {
        self.dir.join(format!("history-{number}"))
    }

    fn install(&self, history: HistoryGeneration) -> Result<GenerationChain, IndexError> {
        let path = self.history_dir(history.number);
        if !manifest::exists(&path) {
            let missing =
                io::Error::new(io::ErrorKind::NotFound, "the generation is not finished or was removed");
            return Err(IndexError::io("install", &path)(missing));
        }
        let installed = self.update_chain(|current| {
            if let Some(now) = current.history.as_ref().filter(|now| !history.to.covers_all(&now.to)) {
                let (from, to) = (history.to.clone(), now.to.clone());
                return Err(IndexError::CoversLess { path: path.clone(), from, to });
            }
            let is_installed = current.history.as_ref() == Some(&history);
            Ok(if is_installed { current.clone() } else { current.installed(history) })
        })?;
        self.remove_replaced(&installed);
        Ok(installed)
    }

    fn start_over(
        &self,
        history: Option<HistoryGeneration>,
        replaced: ReplacedGenerations,
    ) -> Result<GenerationChain, IndexError> {
        let (last, histories) = (self.highest_number("latest")?, self.highest_number("history")?);
        let previous = self.current().unwrap_or_default();
        let latest = last.max(previous.open().number) + 1;
        let current = GenerationChain::new(history, latest, histories.max(previous.highest_history_number()));
        match replaced {
            ReplacedGenerations::Remove => {
                self.write_chain(&current)?;
                self.remove_all_but(&current)?;
            }
            ReplacedGenerations::SetAside => {
                let folder = self.create_replaced_dir()?;
                self.write_chain(&current)?;
                self.move_all_but(&current, &folder)?;
            }
        }
        self.build_directory().discard()?;
        Ok(current)
    }

    fn is_building(&self) -> bool {
        DirectoryLock::is_held(&self.dir, BUILDER_LOCK)
    }

    fn leave_request(&self, request: BuilderRequest) -> Result<(), IndexError> {
        self.write_durably("WISH", &request)
    }

    fn pending_request(&self) -> Option<BuilderRequest> {
        serde_json::from_slice(&fs::read(self.dir.join("WISH")).ok()?).ok()
    }

    fn clear_request(&self) {
        let _ = fs::remove_file(self.dir.join("WISH"));
    }

    fn lock_builder(&self) -> Result<BuilderLock, IndexError> {
        pharos_files::create_dir_all(&self.dir).map_err(IndexError::io("create", &self.dir))?;
        match DirectoryLock::try_acquire(&self.dir, BUILDER_LOCK) {
            Ok(Some(lock)) => Ok(BuilderLock::new(lock)),
            Ok(None) => Err(IndexError::BuildRunning { path: self.dir.clone() }),
            Err(e) => Err(IndexError::io("lock", &self.dir.join(BUILDER_LOCK))(e)),
        }
    }

    fn remove_unreferenced(&self) -> Result<(), IndexError> {
        self.remove_all_but(&self.current()?)
    }

    fn build_directory(&self) -> BuildDirectory {
        BuildDirectory::of(self)
    }

    fn preview(&self, history: &HistoryGeneration) -> Result<Arc<dyn IndexView>, IndexError> {
        open_chain::preview(self, history)
    }

    fn inventory_of(&self, history: &HistoryGeneration) -> GenerationInventory {
        GenerationInventory::measure_history(&self.history_dir(history.number))
    }

    fn inventory_of_latest(&self, latest: &LatestGeneration) -> GenerationInventory {
        GenerationInventory::measure_latest(&self.latest_dir(latest.number))
    }

    fn check(&self) -> Result<Vec<GenerationFlaw>, IndexError> {
        check_generations(&self.dir)
    }

    fn verify(&self) -> Result<Vec<GenerationReport>, IndexError> {
        verify_generations(&self.dir)
    }
}

fn is_referenced(current: &GenerationChain, kind: &str, number: u64) -> bool {
    match kind {
        "history" => current.named_histories().any(|history| history.number == number),
        _ => current.named_latest().any(|latest| latest.number == number),
    }
}

/// Opens the vocabulary file of the installation and watches it for changes.
pub(crate) fn watch_vocabulary(generations: &Generations) -> WatchedVocabulary {
    WatchedVocabulary::open(generations.words_file(), Dictionary::base(), pharos_text::normalise)
}

#[cfg(test)]
mod tests {
    use pharos_core::LibraryPosition;

    use super::*;

    fn at(offset: u64) -> LibraryPositions {
        LibraryPosition::new(1, offset).into()
    }

    /// Creates a directory that looks like a finished generation.
    fn finish(generations: &Generations, to: u64) -> HistoryGeneration {
        let number = generations.next_history().unwrap();
        fs::create_dir(generations.history_dir(number)).unwrap();
        manifest::write(&generations.history_dir(number), 0).unwrap();
        HistoryGeneration { number, to: at(to) }
    }

    fn folders(generations: &Generations) -> Vec<String> {
        let directories = generations.list_directories().unwrap();
        directories.into_iter().map(|(kind, number, _)| format!("{kind}-{number}")).collect()
    }

    #[test]
    fn a_build_seals_and_switches_while_pages_keep_arriving() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        assert_eq!(generations.current().unwrap(), GenerationChain::default());
        let sealed = generations.seal(at(100)).unwrap();
        assert_eq!(sealed.latest.len(), 2);
        for name in ["latest-1", "latest-2", "history-1"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let unfinished = generations.install(HistoryGeneration { number: 1, to: at(100) }).unwrap_err();
        assert!(unfinished.to_string().contains("not finished"), "{unfinished}");
        let history = finish(&generations, 100);
        let switched = generations.install(history.clone()).unwrap();
        assert_eq!((history.number, &switched.history), (2, &Some(history.clone())));
        assert_eq!(generations.current().unwrap(), switched);
        assert_eq!(folders(&generations), ["history-2", "latest-2"]);
        assert_eq!(generations.next_history().unwrap(), 3);
        assert_eq!(generations.install(history).unwrap(), switched, "it is already installed");
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
    fn a_missing_list_beside_generations_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        fs::create_dir(generations.latest_dir(1)).unwrap();
        assert_eq!(generations.current().unwrap(), GenerationChain::default(), "nothing was built yet");
        generations.seal(at(100)).unwrap();
        generations.install(finish(&generations, 100)).unwrap();
        fs::remove_file(dir.path().join(CURRENT)).unwrap();
        let error = generations.current().unwrap_err();
        assert!(matches!(error, IndexError::NoCurrent { .. }), "{error}");
        assert!(error.to_string().contains("pharos rebuild index"), "{error}");
        assert_eq!(generations.next_history().unwrap(), 2, "a rebuild is possible");
    }

    #[test]
    fn a_history_that_covers_less_is_not_installed() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        generations.seal(at(100)).unwrap();
        let installed = generations.install(finish(&generations, 100)).unwrap();
        let error = generations.install(finish(&generations, 50)).unwrap_err();
        assert!(matches!(error, IndexError::CoversLess { .. }), "{error}");
        assert_eq!(generations.current().unwrap(), installed);
    }

    #[test]
    fn replaced_generations_can_be_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path().join("index"));
        generations.seal(at(100)).unwrap();
        generations.install(finish(&generations, 100)).unwrap();
        let chain = fs::read(generations.dir.join(CURRENT)).unwrap();
        for folder in ["index.replaced", "index.replaced-2"] {
            let worse = finish(&generations, 10);
            let before = folders(&generations);
            generations.start_over(Some(worse.clone()), ReplacedGenerations::SetAside).unwrap();
            assert_eq!(folders(&generations), [format!("history-{}", worse.number)]);
            let aside = dir.path().join(folder);
            assert!(before.iter().any(|name| aside.join(name).exists()), "{before:?}");
            assert!(aside.join(CURRENT).exists());
        }
        assert_eq!(fs::read(dir.path().join("index.replaced").join(CURRENT)).unwrap(), chain);
    }

    #[test]
    fn builder_requests_wait_for_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        assert_eq!(generations.pending_request(), None);
        for request in [BuilderRequest::Seal(3), BuilderRequest::Rollback(2)] {
            generations.leave_request(request.clone()).unwrap();
            assert_eq!(generations.pending_request(), Some(request));
        }
        generations.complete_request(&BuilderRequest::Seal(3));
        assert_eq!(
            generations.pending_request(),
            Some(BuilderRequest::Rollback(2)),
            "another request has replaced it"
        );
        generations.complete_request(&BuilderRequest::Rollback(2));
        assert_eq!(generations.pending_request(), None);
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
    fn damage_and_other_formats_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        fs::write(dir.path().join("CURRENT"), "garbage").unwrap();
        assert!(generations.current().unwrap_err().to_string().contains("pharos index build"));
        fs::write(dir.path().join("CURRENT"), "{\"format\":99,\"planets\":9}").unwrap();
        assert!(matches!(generations.current(), Err(IndexError::NewerFormat { found: 99, .. })));
        fs::write(dir.path().join("CURRENT"), "{\"format\":1}").unwrap();
        assert!(generations.current().unwrap_err().to_string().contains("pharos rebuild index"));
    }
}
