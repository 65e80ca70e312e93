//! The directory of a generation for tantivy, readable also by a process that may not write there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle,
    WritePtr,
};

/// A directory of memory-mapped files.
///
/// While a reader opens the segments of a commit it locks a file, so that no writer removes them. tantivy creates this file,
/// which fails in a directory without write permission. There the existing file is locked, and without one there has
/// been no reader or writer; a segment that disappears nevertheless is an error, after which the reader tries again.
#[derive(Clone, Debug)]
pub(crate) struct GenerationDirectory {
    path: PathBuf,
    files: MmapDirectory,
}

impl GenerationDirectory {
    pub(crate) fn open(path: &Path) -> tantivy::Result<Self> {
        Ok(Self { path: path.to_path_buf(), files: MmapDirectory::open(path)? })
    }

    fn lock_existing(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let locked = File::open(self.path.join(&lock.filepath)).and_then(|file| file.lock().map(|()| file));
        match locked {
            Ok(file) => Ok(DirectoryLock::from(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DirectoryLock::from(Box::new(()))),
            Err(error) => Err(LockError::IoError(Arc::new(error))),
        }
    }
}

impl Directory for GenerationDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let is_denied = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        };
        match self.files.acquire_lock(lock) {
            Err(LockError::IoError(error)) if lock.filepath == META_LOCK.filepath && is_denied(&error) => {
                self.lock_existing(lock)
            }
            locked => locked,
        }
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(watch_callback)
    }
}
