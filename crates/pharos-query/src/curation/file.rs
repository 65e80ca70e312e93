//! Files of curation: read with a size limit, and replaced under a lock.

use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;

use super::records::CurationError;

/// A file of curation with its size limit.
#[derive(Clone, Debug)]
pub struct CurationFile {
    path: PathBuf,
    max_bytes: u64,
}

impl CurationFile {
    pub(crate) fn new(path: PathBuf, max_bytes: u64) -> Self {
        Self { path, max_bytes }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file; empty if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is too long.
    pub fn read(&self) -> Result<Vec<u8>, CurationError> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(self.failed("open"))?,
        };
        let mut bytes = Vec::new();
        file.take(self.max_bytes + 1).read_to_end(&mut bytes).map_err(self.failed("read"))?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(CurationError::LongFile(self.max_bytes));
        }
        Ok(bytes)
    }

    /// Reads the file as text, with invalid characters replaced.
    pub fn read_text(&self) -> Result<String, CurationError> {
        Ok(String::from_utf8_lossy(&self.read()?).into_owned())
    }

    /// Replaces a text if its stamp is still `stamp`; see [`text_stamp`].
    ///
    /// # Errors
    /// Returns [`CurationError::FileConflict`] if the text has changed.
    pub fn replace_text(&self, stamp: &str, text: &str) -> Result<(), CurationError> {
        let _lock = self.lock()?;
        if text_stamp(&self.read_text()?) != stamp {
            return Err(CurationError::FileConflict);
        }
        self.replace(text.as_bytes())
    }

    /// Locks the file against other writers until the returned file is dropped.
    pub(super) fn lock(&self) -> Result<File, CurationError> {
        if let Some(folder) = self.path.parent() {
            pharos_files::create_dir_all(folder).map_err(self.failed("create the directory of"))?;
        }
        let path = self.path.with_extension("lock");
        let lock = File::options().create(true).append(true).open(path).map_err(self.failed("lock"))?;
        lock.lock().map_err(self.failed("lock"))?;
        Ok(lock)
    }

    /// Replaces the content durably. The caller must hold the lock.
    pub(super) fn replace(&self, content: &[u8]) -> Result<(), CurationError> {
        if content.len() as u64 > self.max_bytes {
            return Err(CurationError::LongFile(self.max_bytes));
        }
        pharos_files::replace(&self.path, content).map_err(self.failed("write"))
    }

    pub(super) fn failed(&self, what: &'static str) -> impl FnOnce(io::Error) -> CurationError {
        let path = self.path.display().to_string();
        move |source| CurationError::Io { what, path, source }
    }
}

/// Returns a stamp that changes with the text, for forms that replace it.
pub fn text_stamp(text: &str) -> String {
    format!("{:016x}", FixedState::default().hash_one(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_editors_is_refused_and_a_cut_leaves_a_whole_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = CurationFile::new(dir.path().join("models/synonyms.tsv"), 100);
        let empty = text_stamp(&file.read_text().unwrap());
        file.replace_text(&empty, "a\tb\n").unwrap();
        assert!(matches!(file.replace_text(&empty, "c\td\n"), Err(CurationError::FileConflict)));
        let stamp = text_stamp("a\tb\n");
        assert!(matches!(file.replace_text(&stamp, &"x".repeat(101)), Err(CurationError::LongFile(100))));
        pharos_files::power_cut::check(dir.path(), || file.replace_text(&stamp, "c\td\n").unwrap()).unwrap();
        assert_eq!(file.read_text().unwrap(), "c\td\n");
        std::fs::write(file.path(), vec![b'x'; 101]).unwrap();
        assert!(matches!(file.read(), Err(CurationError::LongFile(_))));
    }
}
