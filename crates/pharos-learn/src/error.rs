//! What can go wrong in this room.

use std::io;
use std::path::{Path, PathBuf};

/// Why a test collection could not be read, or a run not be written.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// The file system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What came back.
        source: io::Error,
    },
    /// A part of the collection is not there.
    #[error("no {what} in {}: put {advice} there", directory.display())]
    Missing {
        /// Which part.
        what: &'static str,
        /// Where it was looked for.
        directory: PathBuf,
        /// The files that would do.
        advice: &'static str,
    },
    /// More than is read into memory.
    #[error("{} goes beyond the {limit} bytes that are read of a collection: split it", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes allowed.
        limit: u64,
    },
    /// A line that does not say what it should.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from one.
        line: usize,
        /// What is wrong, and what is expected.
        problem: String,
    },
}

impl CollectionError {
    /// Wraps an I/O error with what was tried on which file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }

    /// A wrong line of a file.
    pub(crate) fn line(path: &Path, line: usize, problem: impl Into<String>) -> Self {
        Self::Line { path: path.to_path_buf(), line, problem: problem.into() }
    }
}
