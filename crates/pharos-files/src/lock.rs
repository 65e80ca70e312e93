//! Locks of directories between processes.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::new_file::is_at;

/// The exclusive advisory lock of a directory. The kernel releases it when the process ends in any way.
///
/// The directory itself is locked, and a file in it that may name the holder. The file alone would not suffice: after it is
/// deleted, another process creates and locks a new one. Earlier releases lock only the file, and some network file
/// systems lock only files.
#[derive(Debug)]
pub struct DirectoryLock {
    _directory: Option<File>,
    file: File,
}

impl DirectoryLock {
    /// Locks a directory by the file `name` in it. Returns `None` if another process holds the lock.
    pub fn try_acquire(directory: &Path, name: &str) -> io::Result<Option<Self>> {
        let directory_file = File::open(directory)?;
        let locked = match directory_file.try_lock() {
            Ok(()) => Some(directory_file),
            Err(TryLockError::WouldBlock) => return Ok(None),
            // The file system locks files only.
            Err(TryLockError::Error(_)) => None,
        };
        let path = directory.join(name);
        loop {
            let file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The file may have been deleted between opening and locking it.
            if is_at(&file, &path)? {
                return Ok(Some(Self { _directory: locked, file }));
            }
        }
    }

    /// Returns `true` if a process holds the lock. Needs no write permission.
    pub fn is_held(directory: &Path, name: &str) -> bool {
        [directory.to_path_buf(), directory.join(name)].iter().any(|path| {
            let opened = File::open(path);
            opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
        })
    }

    /// Returns the file, in which the holder may write its name.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_file_admits_no_second_holder() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!DirectoryLock::is_held(dir.path(), "LOCK"));
        let first = DirectoryLock::try_acquire(dir.path(), "LOCK").unwrap().unwrap();
        for _ in 0..2 {
            assert!(DirectoryLock::try_acquire(dir.path(), "LOCK").unwrap().is_none());
            assert!(DirectoryLock::is_held(dir.path(), "LOCK"));
            let _ = std::fs::remove_file(dir.path().join("LOCK"));
        }
        drop(first);
        assert!(!DirectoryLock::is_held(dir.path(), "LOCK"));
        assert!(DirectoryLock::try_acquire(dir.path(), "LOCK").unwrap().is_some());
    }

    #[test]
    fn a_holder_of_the_file_alone_is_respected() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("LOCK")).unwrap();
        file.lock().unwrap();
        assert!(DirectoryLock::try_acquire(dir.path(), "LOCK").unwrap().is_none());
        assert!(DirectoryLock::is_held(dir.path(), "LOCK"));
    }
}
