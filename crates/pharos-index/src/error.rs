//! Errors of the index.

use std::io;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPositions;
use thiserror::Error;

/// An error of the index.
#[derive(Debug, Error)]
pub enum IndexError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// tantivy reported an error for a generation.
    #[error("index {}: {source}", path.display())]
    Tantivy { path: PathBuf, source: Box<tantivy::TantivyError> },
    /// A control file such as `CURRENT` cannot be read.
    #[error("{} is damaged ({detail}): move the index directory away and run `pharos index build`", path.display())]
    Damaged { path: PathBuf, detail: String },
    /// A generation fails verification.
    #[error("{} is damaged ({detail}): run `pharos index verify` for details or `pharos rebuild index` to rebuild it", path.display())]
    DamagedGeneration { path: PathBuf, detail: String },
    /// A newly built generation fails verification.
    #[error(
        "the new generation fails verification ({detail}) and was discarded; searches continue on the current one: check disk and memory, then build again"
    )]
    BadBuild { detail: String },
    /// No previous history is kept.
    #[error(
        "{} keeps no history from before the last build, so there is nothing to roll back to: run `pharos index build` to create a new one", path.display()
    )]
    NoPrevious { path: PathBuf },
    /// A rollback would lose pages until the library is replayed.
    #[error(
        "the library range from {from} to {to} is covered by the current history only: stop the owner of the data directory, then run `pharos index rollback` again"
    )]
    Gap {
        /// First library position that would be missing.
        from: LibraryPositions,
        /// First library position after the gap.
        to: LibraryPositions,
    },
    /// Written by a newer version of Pharos.
    #[error("{} has format {found}, but this version of pharos supports formats up to {known}: use a newer version", path.display())]
    NewerFormat { path: PathBuf, found: u32, known: u32 },
    /// Written by an older version of Pharos, with different fields.
    #[error("{} was written by an older version of pharos: run `pharos rebuild index` to rebuild it", path.display())]
    OlderFormat { path: PathBuf },
    /// Another process is building.
    #[error("another `pharos index build` is running on {}: wait for it or stop it", path.display())]
    BuildRunning { path: PathBuf },
    /// A candidate was passed to a view that did not return it.
    #[error("the candidate belongs to another view of the index")]
    ForeignCandidate,
    /// The field has no posting lists.
    #[error("unknown field {field:?}: choose one of {known}")]
    UnknownField {
        field: String,
        /// Fields that have posting lists.
        known: String,
    },
    /// The caller cancelled the operation.
    #[error("stopped")]
    Stopped,
    /// A write operation was called on a reader.
    #[error("the index is open for reading only")]
    ReadOnly,
}

impl IndexError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IndexError {
        let path = path.to_path_buf();
        move |source| IndexError::Io { action, path, source }
    }

    pub(crate) fn tantivy(path: &Path) -> impl Fn(tantivy::TantivyError) -> IndexError {
        let path = path.to_path_buf();
        move |source| IndexError::Tantivy { path: path.clone(), source: Box::new(source) }
    }
}
