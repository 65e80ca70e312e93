//! What can go wrong with a store, said so that a person knows what to do.

use std::io;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use thiserror::Error;

/// What can go wrong with a store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system said no.
    #[error("cannot {action} {}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What came back.
        source: io::Error,
    },
    /// Somebody else owns the data directory.
    #[error("{} is in use by {owner}: stop that first, or choose another directory with --data", path.display())]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Pid and command of the owner.
        owner: String,
    },
    /// The catalog is damaged.
    #[error("the catalog {} is damaged ({detail}): move it away and start again, it is rebuilt from the library", path.display())]
    CatalogDamaged {
        /// The catalog file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// The catalog refused a statement.
    #[error("catalog: {0}")]
    Catalog(String),
    /// A record that cannot be read.
    #[error("the library is damaged at {position} ({detail}): records after it are intact")]
    Damaged {
        /// Where.
        position: LibraryPosition,
        /// What is wrong.
        detail: String,
    },
    /// Nothing stands at that position.
    #[error("no record at {0} in the library")]
    NoRecord(LibraryPosition),
    /// Written by a newer Pharos.
    #[error("{} has format {found}, this pharos knows formats up to {known}: use a newer pharos", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// What we know.
        known: u32,
    },
}

impl StoreError {
    /// Wraps an I/O error with what was tried on which file.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_path_buf();
        move |source| StoreError::Io { action, path, source }
    }

    /// Is the disk full?
    pub fn is_disk_full(&self) -> bool {
        matches!(self, StoreError::Io { source, .. } if matches!(source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge))
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; what was stored is safe: make room and start again"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "; make it writable, or choose another directory with --data"
        }
        _ => "",
    }
}
