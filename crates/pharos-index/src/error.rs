//! Errors of the index.

use std::io;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPositions;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use thiserror::Error;

/// An error of the index.
#[derive(Debug, Error)]
pub enum IndexError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}{}", path.display(), advice(source))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// tantivy reported an error for a generation.
    #[error("index {}: {source}", path.display())]
    Tantivy { path: PathBuf, source: Box<TantivyError> },
    /// A control file such as `CURRENT` cannot be read.
    #[error("{} is damaged ({detail}): move the index directory away and run `pharos index build`", path.display())]
    Damaged { path: PathBuf, detail: String },
    /// `CURRENT` is missing beside generations, so it is unknown which of them are in use.
    #[error("{} is missing, but there are generations beside it: restore it from a copy, or run `pharos rebuild index` to build the index from the library", path.display())]
    NoCurrent { path: PathBuf },
    /// A generation fails verification.
    #[error("{} is damaged ({detail}): run `pharos index verify` for details or `pharos rebuild index` to rebuild it", path.display())]
    DamagedGeneration { path: PathBuf, detail: String },
    /// A newly built generation fails verification.
    #[error(
        "the new generation fails verification ({detail}) and was discarded; searches continue on the current one: check disk and memory, then build again"
    )]
    BadBuild { detail: String },
    /// A history covers less of the library than the current one.
    #[error(
        "{} ends at {from} of the library, but the current history ends at {to}: it is not installed, because searches would lose pages", path.display()
    )]
    CoversLess { path: PathBuf, from: LibraryPositions, to: LibraryPositions },
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
    /// Returns `true` if the chain of generations cannot be read, so that only a rebuild helps.
    pub fn is_unreadable_chain(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::NoCurrent { .. } | Self::OlderFormat { .. })
    }

    /// Returns `true` if the content of the index is damaged or has an older format, so that a rebuild helps.
    pub fn is_damage(&self) -> bool {
        self.is_unreadable_chain() || matches!(self, Self::Tantivy { .. } | Self::DamagedGeneration { .. })
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IndexError {
        let path = path.to_path_buf();
        move |source| IndexError::Io { action, path, source }
    }

    /// Wraps an error of tantivy. One that the environment caused is an I/O error; any other means damage.
    pub(crate) fn tantivy(path: &Path) -> impl Fn(TantivyError) -> IndexError {
        let path = path.to_path_buf();
        move |source| match io_error(&source) {
            Some(error) => {
                let action = if is_read_failure(&source) { "read" } else { "write" };
                IndexError::Io { action, path: path.clone(), source: error }
            }
            None => IndexError::Tantivy { path: path.clone(), source: Box::new(source) },
        }
    }
}

/// Returns the I/O error behind an error of tantivy if the environment caused it.
fn io_error(error: &TantivyError) -> Option<io::Error> {
    let copy = |error: &io::Error| io::Error::new(error.kind(), error.to_string());
    let cause = io_cause(error).filter(|error| is_environment(error)).map(copy);
    cause.or_else(|| described_io_error(error).filter(is_environment))
}

/// Returns the I/O error that tantivy has turned into text: "… (os error 28)".
fn described_io_error(error: &TantivyError) -> Option<io::Error> {
    let (TantivyError::InternalError(text) | TantivyError::SystemError(text)) = error else { return None };
    let code = text.split_once("(os error ")?.1.split_once(')')?.0;
    Some(io::Error::from_raw_os_error(code.parse().ok()?))
}

fn io_cause(error: &TantivyError) -> Option<&io::Error> {
    Some(match error {
        TantivyError::IoError(error)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. })
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error: error, .. })
        | TantivyError::LockFailure(LockError::IoError(error), _) => error,
        _ => return None,
    })
}

fn is_read_failure(error: &TantivyError) -> bool {
    matches!(error, TantivyError::OpenReadError(_) | TantivyError::OpenDirectoryError(_))
}

/// Returns `true` if the environment caused an error, not the content of files: a full disk, missing permissions, limits of
/// the process.
pub(crate) fn is_environment(error: &io::Error) -> bool {
    /// `ENOMEM`, `ENFILE` and `EMFILE`.
    const LIMITS: [i32; 3] = [12, 23, 24];
    is_disk_full(error)
        || matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        || error.raw_os_error().is_some_and(|code| LIMITS.contains(&code))
}

fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        _ if is_disk_full(error) => "; stored data is safe: free disk space and restart",
        io::ErrorKind::PermissionDenied => "; run it as the user who owns the files",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_full_disk_is_no_damage() {
        let wrapped = |kind: io::ErrorKind| {
            IndexError::tantivy(Path::new("index/latest-1"))(TantivyError::IoError(Arc::new(kind.into())))
        };
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::FileTooLarge, io::ErrorKind::QuotaExceeded] {
            let error = wrapped(kind);
            assert!(!error.is_damage(), "{error}");
            let text = error.to_string();
            assert!(
                text.starts_with("cannot write index/latest-1: ") && text.contains("free disk space"),
                "{text}"
            );
        }
        let described = TantivyError::InternalError("'No space left on device (os error 28)'".into());
        let described = IndexError::tantivy(Path::new("index/latest-1"))(described);
        assert!(described.to_string().contains("free disk space"), "{described}");
        let other = TantivyError::InternalError("a bug (os error )".into());
        assert!(IndexError::tantivy(Path::new("index/latest-1"))(other).is_damage());
        assert!(!wrapped(io::ErrorKind::PermissionDenied).is_damage());
        assert!(wrapped(io::ErrorKind::UnexpectedEof).is_damage());
    }
}
