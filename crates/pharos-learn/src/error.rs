//! Errors of this crate.

use std::io;
use std::path::{Path, PathBuf};

/// Error in reading a test collection or writing a run.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// An I/O operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// A part of the collection is missing.
    #[error("no {what} in {}: put {advice} there", directory.display())]
    Missing {
        /// Name of the part.
        what: &'static str,
        directory: PathBuf,
        /// File names that are accepted.
        advice: &'static str,
    },
    /// The collection exceeds the memory limit.
    #[error("{} exceeds the limit of {limit} bytes for a collection: split it", path.display())]
    TooLarge {
        path: PathBuf,
        /// In bytes.
        limit: u64,
    },
    /// A line is invalid.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        /// Line number from one.
        line: usize,
        /// The error and the expected format.
        problem: String,
    },
}

impl CollectionError {
    /// Wraps an I/O error with the attempted action and the file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }

    /// Returns an error for an invalid line of a file.
    pub(crate) fn line(path: &Path, line: usize, problem: impl Into<String>) -> Self {
        Self::Line { path: path.to_path_buf(), line, problem: problem.into() }
    }
}
