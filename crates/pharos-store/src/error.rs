//! Errors of the stores, with advice for the user.

use std::io;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use thiserror::Error;

/// An error of a store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// An I/O error.
    #[error("cannot {action} {}: {source}{}", path.display(), advice(source))]
    Io {
        /// The failed operation.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The process may not read a file. This says nothing about its content.
    #[error("{} cannot be read (permission denied): run it as the user who owns the data directory", path.display())]
    Unreadable { path: PathBuf },
    /// Another process owns the data directory.
    #[error("{} is in use by {owner}: stop that process, or choose another directory with --data", path.display())]
    InUse {
        path: PathBuf,
        /// Process id and command of the owner.
        owner: String,
    },
    #[error("the catalog {} is damaged ({detail}): move it away and restart, it is rebuilt from the library", path.display())]
    CatalogDamaged { path: PathBuf, detail: String },
    /// The catalog rejected a statement.
    #[error("catalog: {0}")]
    Catalog(String),
    #[error("the library is damaged at {position} ({detail}): records after it are intact")]
    Damaged { position: LibraryPosition, detail: String },
    #[error("no record at {0} in the library")]
    NoRecord(LibraryPosition),
    /// The store was written by a newer version of Pharos.
    #[error("{} has format {found}, this version of pharos supports formats up to {known}: use a newer version", path.display())]
    NewerFormat {
        path: PathBuf,
        found: u32,
        /// Newest supported format.
        known: u32,
    },
}

impl StoreError {
    /// Returns a function that wraps an I/O error with the operation and the file.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_path_buf();
        move |source| StoreError::Io { action, path, source }
    }

    /// Returns `true` if the disk is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, StoreError::Io { source, .. } if matches!(source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge))
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; stored data is safe: free disk space and restart"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "; make it writable, or choose another directory with --data"
        }
        _ => "",
    }
}
