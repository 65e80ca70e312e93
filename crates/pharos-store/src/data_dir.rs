//! The data directory: paths of the stores, and the lock of the owner process.

use std::fs;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};

use pharos_files::DirectoryLock;

use crate::StoreError;

/// File that names the owner process.
const LOCK_FILE: &str = "LOCK";

/// A data directory. It only builds paths and opens no store.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// Creates a handle for the directory `root`, which need not exist yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of the configuration file.
    pub fn config(&self) -> PathBuf {
        self.root.join("pharos.toml")
    }

    /// Returns the path of the SQLite catalog.
    pub fn catalog(&self) -> PathBuf {
        self.root.join("catalog.db")
    }

    /// Returns the directory of WARC files.
    pub fn library(&self) -> PathBuf {
        self.root.join("library")
    }

    /// Returns the directory of link analysis results: links, ranks, duplicate groups.
    pub fn graph(&self) -> PathBuf {
        self.root.join("graph")
    }

    /// Returns the directory of models: dictionaries and phrase indexes.
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// Returns the path of the custom words of the installation.
    pub fn words(&self) -> PathBuf {
        self.models().join("words.tsv")
    }

    /// Returns the directory of index generations.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// Returns the directory of logs.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Returns the directory of the operator's desk: operators and their actions.
    pub fn desk(&self) -> PathBuf {
        self.root.join("desk")
    }

    /// Locks the directory for the owner: the only process that writes catalog, library and latest. `command`
    /// identifies it to other processes.
    ///
    /// # Errors
    /// Returns [`StoreError::InUse`] if another process owns the directory.
    pub fn own(&self, command: &str) -> Result<OwnerLock, StoreError> {
        pharos_files::create_dir_all(&self.root).map_err(StoreError::io("create", &self.root))?;
        let path = self.lock_file();
        let acquired =
            DirectoryLock::try_acquire(&self.root, LOCK_FILE).map_err(StoreError::io("lock", &path))?;
        let Some(mut lock) = acquired else {
            let owner = fs::read_to_string(&path).unwrap_or_default();
            let owner = if owner.trim().is_empty() { "another pharos process" } else { owner.trim() };
            return Err(StoreError::InUse { path: self.root.clone(), owner: owner.to_string() });
        };
        let line = format!("`pharos {command}` (process {})\n", std::process::id());
        let file = lock.file();
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(line.as_bytes()))
            .map_err(StoreError::io("write", &path))?;
        Ok(OwnerLock { _lock: lock })
    }

    /// Returns `true` if a process owns the directory.
    pub fn is_owned(&self) -> bool {
        DirectoryLock::is_held(&self.root, LOCK_FILE)
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join(LOCK_FILE)
    }
}

/// The lock of the owner of a data directory. The kernel releases it when the process ends in any way.
#[derive(Debug)]
pub struct OwnerLock {
    _lock: DirectoryLock,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_gets_an_error_that_names_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        let first = data.own("crawl").unwrap();
        let error = data.own("up").unwrap_err().to_string();
        assert!(error.contains("`pharos crawl` (process "), "{error}");
        fs::remove_file(data.lock_file()).unwrap();
        assert!(matches!(data.own("up"), Err(StoreError::InUse { .. })), "deleting the file does not help");
        assert!(data.is_owned());
        drop(first);
        data.own("up").unwrap();
    }
}
