//! The data directory: where each store lives, and who owns it.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// A data directory. Knows names, opens nothing.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// The data directory at `root`, which need not exist yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The configuration file.
    pub fn config(&self) -> PathBuf {
        self.root.join("pharos.toml")
    }

    /// The SQLite catalog.
    pub fn catalog(&self) -> PathBuf {
        self.root.join("catalog.db")
    }

    /// The folder of WARC files.
    pub fn library(&self) -> PathBuf {
        self.root.join("library")
    }

    /// The folder of what the web says about each page: links, ranks, copies.
    pub fn graph(&self) -> PathBuf {
        self.root.join("graph")
    }

    /// The folder of what was learnt: words, books of phrases.
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// The folder of index generations.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// The folder of logs.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The folder of the operator's desk: who may use it, and what was done there.
    pub fn desk(&self) -> PathBuf {
        self.root.join("desk")
    }

    /// Becomes the owner: the one process that writes catalog, library and latest. `command` names it to others.
    pub fn own(&self, command: &str) -> Result<Owner, StoreError> {
        fs::create_dir_all(&self.root).map_err(StoreError::io("create", &self.root))?;
        let path = self.root.join("LOCK");
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = file.read_to_string(&mut owner);
                let owner =
                    if owner.trim().is_empty() { "another pharos".into() } else { owner.trim().to_string() };
                return Err(StoreError::InUse { path: self.root.clone(), owner });
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", &path)(e)),
        }
        let line = format!("`pharos {command}` (process {})\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(line.as_bytes()))
            .map_err(StoreError::io("write", &path))?;
        Ok(Owner { _lock: file })
    }
}

/// Proof of owning a data directory. The kernel releases the lock when the process ends, however it ends.
#[derive(Debug)]
pub struct Owner {
    _lock: File,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        let first = data.own("crawl").unwrap();
        let error = data.own("up").unwrap_err().to_string();
        assert!(error.contains("`pharos crawl` (process "), "{error}");
        drop(first);
        data.own("up").unwrap();
    }
}
