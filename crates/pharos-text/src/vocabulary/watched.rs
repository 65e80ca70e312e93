//! A vocabulary file that is reloaded when it changes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use thiserror::Error;
use tracing::{info, warn};

use super::editor::read_bytes;
use super::{Vocabulary, VocabularyProblem};
use crate::dictionary::Dictionary;

/// Minimum interval between two checks of the file.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Reason why the vocabulary in use differs from the file.
#[derive(Debug, Error)]
pub enum VocabularyLoadError {
    #[error("cannot read the vocabulary file: {0}")]
    Unreadable(#[from] io::Error),
    /// The file has lines, but none is valid: most likely the wrong file or another encoding.
    #[error("no valid line in the vocabulary file; {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    NoValidLine(Vec<VocabularyProblem>),
}

/// A vocabulary file with its current content. A missing file is an empty vocabulary.
pub struct WatchedVocabulary {
    path: PathBuf,
    base: &'static Dictionary,
    normalise: fn(&str) -> String,
    current: ArcSwap<Vocabulary>,
    last_check: Mutex<LastCheck>,
}

/// Result of the last check of the file.
struct LastCheck {
    at: Instant,
    /// Modification time, length and inode: the resolution of the clock alone is too coarse.
    stamp: Option<(SystemTime, u64, u64)>,
    problems: Vec<VocabularyProblem>,
    /// Prevents logging the same failure at every check.
    failed: bool,
}

impl WatchedVocabulary {
    /// Opens the file. Errors are logged and available from [`problems`](Self::problems); the vocabulary is
    /// empty then.
    pub fn open(path: impl Into<PathBuf>, base: &'static Dictionary, normalise: fn(&str) -> String) -> Self {
        let watched = Self {
            path: path.into(),
            base,
            normalise,
            current: ArcSwap::from_pointee(Vocabulary::new(base)),
            last_check: Mutex::new(LastCheck {
                at: Instant::now(),
                stamp: None,
                problems: Vec::new(),
                failed: false,
            }),
        };
        // The error is logged, and the next check tries again.
        let _ = watched.reload_if_changed();
        watched
    }

    /// Returns the current vocabulary. The file is checked at most once per second.
    pub fn current(&self) -> Arc<Vocabulary> {
        // If another thread is reloading, the old vocabulary is used: loading a large file takes time.
        if let Some(mut last_check) = self.last_check.try_lock()
            && last_check.at.elapsed() >= CHECK_INTERVAL
        {
            let _ = self.check_file(&mut last_check);
        }
        self.current.load_full()
    }

    /// Checks the file now. Returns `true` if it has changed and was reloaded. On failure the previous
    /// vocabulary stays in use.
    pub fn reload_if_changed(&self) -> Result<bool, VocabularyLoadError> {
        self.check_file(&mut self.last_check.lock())
    }

    /// Returns the lines that were rejected when the file was last read.
    pub fn problems(&self) -> Vec<VocabularyProblem> {
        self.last_check.lock().problems.clone()
    }

    fn check_file(&self, last_check: &mut LastCheck) -> Result<bool, VocabularyLoadError> {
        last_check.at = Instant::now();
        let result = self.read_if_changed(last_check);
        if let Err(error) = &result
            && !last_check.failed
        {
            warn!(path = %self.path.display(), %error, "cannot reload the vocabulary; keeping the previous one");
        }
        last_check.failed = result.is_err();
        result
    }

    fn read_if_changed(&self, last_check: &mut LastCheck) -> Result<bool, VocabularyLoadError> {
        let metadata = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && last_check.stamp.is_none() => {
                return Ok(false);
            }
            other => other?,
        };
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file").into());
        }
        // Taken before reading: changes made meanwhile are detected by the next check.
        let stamp = (metadata.modified()?, metadata.len(), metadata.ino());
        if last_check.stamp == Some(stamp) {
            return Ok(false);
        }
        let bytes = read_bytes(&self.path)?.unwrap_or_default();
        // An invalid file is reported once, not at every check.
        last_check.stamp = Some(stamp);
        let (words, problems) =
            Vocabulary::parse(&String::from_utf8_lossy(&bytes), self.base, &self.normalise);
        last_check.problems.clone_from(&problems);
        if words.is_empty() && !problems.is_empty() {
            return Err(VocabularyLoadError::NoValidLine(problems));
        }
        if let Some(first) = problems.first() {
            warn!(path = %self.path.display(), lines = problems.len(), %first, "skipped invalid lines of the vocabulary file");
        }
        // Compiled here so that no page or query waits for it.
        let (own, extension) = (words.own().len(), words.extension().len());
        info!(path = %self.path.display(), own, extension, version = words.version(), "loaded the vocabulary of this installation");
        self.current.store(Arc::new(words));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_read_and_a_bad_one_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.tsv");
        let watched = WatchedVocabulary::open(&path, Dictionary::base(), str::to_lowercase);
        assert!(watched.current().is_empty());
        assert!(matches!(watched.reload_if_changed(), Ok(false)));

        fs::write(&path, "爱心社\n中国\n").unwrap();
        assert!(matches!(watched.reload_if_changed(), Ok(true)));
        assert!(watched.current().contains("爱心社"));
        assert_eq!(watched.problems()[0].line, 2);
        assert!(matches!(watched.reload_if_changed(), Ok(false)));

        // Another encoding.
        fs::write(&path, b"\xb0\xae\xd0\xc4\xc9\xe7\n").unwrap();
        assert!(matches!(watched.reload_if_changed(), Err(VocabularyLoadError::NoValidLine(_))));
        assert!(watched.current().contains("爱心社"));

        fs::remove_file(&path).unwrap();
        assert!(matches!(watched.reload_if_changed(), Err(VocabularyLoadError::Unreadable(_))));
        assert!(watched.current().contains("爱心社"));

        fs::write(&path, "# nothing any more\n").unwrap();
        assert!(matches!(watched.reload_if_changed(), Ok(true)));
        assert!(watched.current().is_empty());
    }
}
