//! The files of curation, read again when they change.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use pharos_core::Timestamp;
use tracing::warn;

use super::active::ActiveCuration;
use super::file::CurationFile;
use super::records::{CurationError, CurationRecords};
use super::stop_words::{StopWords, parse_stop_words, stop_words_file};
use super::store::CurationStore;
use super::synonyms::{SynonymSets, synonyms_file};

/// Minimum interval between two checks of the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Modification time, length and inode of a file; `None` if it does not exist.
type FileStamp = Option<(SystemTime, u64, u64)>;

/// A file with its last readable content.
struct WatchedFile<T> {
    path: PathBuf,
    stamp: FileStamp,
    content: Arc<T>,
}

impl<T: Default> WatchedFile<T> {
    fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), stamp: None, content: Arc::default() }
    }

    /// Reads the file if it has changed. Returns `true` if there is new content. A file that cannot be used is reported
    /// once, and the previous content stays in use.
    fn refresh(&mut self, read: impl FnOnce() -> Result<T, CurationError>) -> bool {
        // Taken before reading: a change made meanwhile is detected by the next check.
        let stamp = stamp_of(&self.path);
        if stamp == self.stamp {
            return false;
        }
        self.stamp = stamp;
        match read() {
            Ok(content) => {
                self.content = Arc::new(content);
                true
            }
            Err(error) => {
                warn!(path = %self.path.display(), %error, "cannot use the file; keeping its previous content");
                false
            }
        }
    }
}

fn stamp_of(path: &Path) -> FileStamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

/// All files, and the time of the last check.
struct WatchedFiles {
    checked: Instant,
    store: CurationStore,
    records: WatchedFile<CurationRecords>,
    synonyms: WatchedFile<SynonymSets>,
    stop_words: WatchedFile<StopWords>,
    synonyms_file: CurationFile,
    stop_words_file: CurationFile,
}

impl WatchedFiles {
    fn new(models: &Path) -> Self {
        let store = CurationStore::at(models);
        let (synonyms_file, stop_words_file) = (synonyms_file(models), stop_words_file(models));
        Self {
            checked: Instant::now(),
            records: WatchedFile::new(store.path()),
            synonyms: WatchedFile::new(synonyms_file.path()),
            stop_words: WatchedFile::new(stop_words_file.path()),
            store,
            synonyms_file,
            stop_words_file,
        }
    }

    /// Reads changed files. Returns `true` if anything is new.
    fn refresh(&mut self) -> bool {
        self.checked = Instant::now();
        let records = self.records.refresh(|| self.store.load());
        let synonyms = self.synonyms.refresh(|| {
            let (sets, problems) = SynonymSets::parse(&self.synonyms_file.read_text()?);
            if let Some(first) = problems.first() {
                warn!(lines = problems.len(), %first, "skipped invalid lines of the synonym file");
            }
            Ok(sets)
        });
        let stop_words = self.stop_words.refresh(|| Ok(parse_stop_words(&self.stop_words_file.read_text()?)));
        records || synonyms || stop_words
    }

    fn compile(&self, records: &CurationRecords, now: Timestamp) -> ActiveCuration {
        let mut active = ActiveCuration::compile(records, now);
        active.synonyms = Arc::clone(&self.synonyms.content);
        active.stop_words = Arc::clone(&self.stop_words.content);
        active
    }
}

/// The curation of a search service. Without files it is empty.
#[derive(Default)]
pub(crate) struct WatchedCuration {
    current: ArcSwap<ActiveCuration>,
    files: Option<Mutex<WatchedFiles>>,
}

impl WatchedCuration {
    /// Opens the files in the directory of models. Files that cannot be used are reported and ignored.
    pub(crate) fn open(models: &Path, now: Timestamp) -> Self {
        let files = Some(Mutex::new(WatchedFiles::new(models)));
        let watched = Self { files, ..Self::default() };
        watched.reload(now);
        watched
    }

    /// Returns what is in force. Files are checked at most once per second, and never by two threads at once.
    pub(crate) fn current(&self, now: Timestamp) -> Arc<ActiveCuration> {
        if let Some(mut files) = self.files.as_ref().and_then(Mutex::try_lock) {
            let is_due = files.checked.elapsed() >= CHECK_INTERVAL;
            let is_new = is_due && files.refresh();
            if is_new || !self.current.load().is_valid_at(now) {
                self.store(&files, now);
            }
        }
        self.current.load_full()
    }

    /// Reads changed files now.
    pub(crate) fn reload(&self, now: Timestamp) {
        let Some(files) = &self.files else { return };
        let mut files = files.lock();
        if files.refresh() {
            self.store(&files, now);
        }
    }

    /// Compiles other entries with the current synonyms and stop words, for a preview.
    pub(crate) fn compile(&self, records: &CurationRecords, now: Timestamp) -> ActiveCuration {
        match &self.files {
            Some(files) => files.lock().compile(records, now),
            None => ActiveCuration::compile(records, now),
        }
    }

    fn store(&self, files: &WatchedFiles, now: Timestamp) {
        self.current.store(Arc::new(files.compile(&files.records.content, now)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curation::records::{CurationChange, CurationRule};

    #[test]
    fn changes_are_seen_and_a_damaged_file_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::EPOCH;
        let watched = WatchedCuration::open(dir.path(), now);
        let hidden = || watched.current(now).for_query("x").hidden.len();
        assert_eq!(hidden(), 0);
        let before = watched.current(now);
        watched.reload(now);
        assert!(Arc::ptr_eq(&before, &watched.current(now)), "nothing has changed");
        let rule = CurationRule::Hide { query: None, url: "http://a.example/".into() };
        let change = CurationChange { rule, until: None, by: "Keeper".into(), at: now };
        CurationStore::at(dir.path()).change(|records| records.add(change)).unwrap();
        fs::write(dir.path().join("synonyms.tsv"), "a,b\nwrong\n").unwrap();
        fs::write(dir.path().join("stop_words.txt"), "pharos").unwrap();
        watched.reload(now);
        assert_eq!(hidden(), 1);
        assert!(!watched.current(now).synonyms.is_empty() && !watched.current(now).stop_words.is_empty());
        fs::write(dir.path().join("curation.json"), "damaged").unwrap();
        watched.reload(now);
        assert_eq!(hidden(), 1, "the previous entries stay in use");
        fs::remove_file(dir.path().join("curation.json")).unwrap();
        watched.reload(now);
        assert_eq!(hidden(), 0, "without the file there are no entries");
    }
}
