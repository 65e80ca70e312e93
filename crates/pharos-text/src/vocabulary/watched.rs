//! The file of words, read again when someone has changed it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use thiserror::Error;
use tracing::{info, warn};

use super::editor::read_bytes;
use super::{Problem, Vocabulary};
use crate::dictionary::Dictionary;

/// How often the file is looked at, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Why the words in use are not those of the file.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("the file of words cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It has lines, and none of them could be taken: most likely another file, or another encoding.
    #[error("no line of the file of words could be taken; {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    WhollyBad(Vec<Problem>),
}

/// A file of words and what it says now. A file that is not there says nothing.
pub struct Watched {
    path: PathBuf,
    base: &'static Dictionary,
    normalise: fn(&str) -> String,
    now: RwLock<Arc<Vocabulary>>,
    look: Mutex<Look>,
}

/// What the last look at the file showed.
struct Look {
    at: Instant,
    /// When the file was changed, its length, and which file it is: clocks are coarse.
    stamp: Option<(SystemTime, u64, u64)>,
    problems: Vec<Problem>,
    /// Told once and not every second.
    failed: bool,
}

impl Watched {
    /// Reads the file. What is wrong with it is logged and can be asked for; the words are none then.
    pub fn open(path: impl Into<PathBuf>, base: &'static Dictionary, normalise: fn(&str) -> String) -> Self {
        let watched = Self {
            path: path.into(),
            base,
            normalise,
            now: RwLock::new(Arc::new(Vocabulary::new(base))),
            look: Mutex::new(Look { at: Instant::now(), stamp: None, problems: Vec::new(), failed: false }),
        };
        // Logged; and the next look tries again.
        let _ = watched.reload_if_changed();
        watched
    }

    /// The words as the file says now; as it said a second ago, if it was looked at then.
    pub fn current(&self) -> Arc<Vocabulary> {
        // Who finds another at it goes on with the old words: reading many takes its time.
        if let Ok(mut look) = self.look.try_lock()
            && look.at.elapsed() >= LOOK_EVERY
        {
            let _ = self.look_again(&mut look);
        }
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at the file now. If it was changed and can be read, its words are in use from here on and `true` is
    /// returned; otherwise those from before stay.
    pub fn reload_if_changed(&self) -> Result<bool, LoadError> {
        self.look_again(&mut self.look.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The lines that could not be taken when the file was last read.
    pub fn problems(&self) -> Vec<Problem> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner).problems.clone()
    }

    fn look_again(&self, look: &mut Look) -> Result<bool, LoadError> {
        look.at = Instant::now();
        let result = self.read_if_changed(look);
        if let Err(error) = &result
            && !look.failed
        {
            warn!(path = %self.path.display(), %error, "the words in use stay as they were");
        }
        look.failed = result.is_err();
        result
    }

    fn read_if_changed(&self, look: &mut Look) -> Result<bool, LoadError> {
        let metadata = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && look.stamp.is_none() => {
                return Ok(false);
            }
            other => other?,
        };
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file").into());
        }
        // Taken before reading: what is written meanwhile shows at the next look.
        let stamp = (metadata.modified()?, metadata.len(), metadata.ino());
        if look.stamp == Some(stamp) {
            return Ok(false);
        }
        let bytes = read_bytes(&self.path)?.unwrap_or_default();
        // A bad file is told once and not at every look.
        look.stamp = Some(stamp);
        let (words, problems) =
            Vocabulary::parse(&String::from_utf8_lossy(&bytes), self.base, &self.normalise);
        look.problems.clone_from(&problems);
        if words.is_empty() && !problems.is_empty() {
            return Err(LoadError::WhollyBad(problems));
        }
        if let Some(first) = problems.first() {
            warn!(path = %self.path.display(), lines = problems.len(), %first, "lines of the file of words skipped");
        }
        // Compiled here, so that no page or query waits for it.
        let (own, extension) = (words.own().len(), words.extension().len());
        info!(path = %self.path.display(), own, extension, version = words.version(), "words of this installation");
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(words);
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
        let watched = Watched::open(&path, Dictionary::base(), str::to_lowercase);
        assert!(watched.current().is_empty());
        assert!(matches!(watched.reload_if_changed(), Ok(false)));

        fs::write(&path, "爱心社\n中国\n").unwrap();
        assert!(matches!(watched.reload_if_changed(), Ok(true)));
        assert!(watched.current().contains("爱心社"));
        assert_eq!(watched.problems()[0].line, 2);
        assert!(matches!(watched.reload_if_changed(), Ok(false)));

        // Saved in another encoding.
        fs::write(&path, b"\xb0\xae\xd0\xc4\xc9\xe7\n").unwrap();
        assert!(matches!(watched.reload_if_changed(), Err(LoadError::WhollyBad(_))));
        assert!(watched.current().contains("爱心社"));

        fs::remove_file(&path).unwrap();
        assert!(matches!(watched.reload_if_changed(), Err(LoadError::Unreadable(_))));
        assert!(watched.current().contains("爱心社"));

        fs::write(&path, "# nothing any more\n").unwrap();
        assert!(matches!(watched.reload_if_changed(), Ok(true)));
        assert!(watched.current().is_empty());
    }
}
