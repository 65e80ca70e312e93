//! Errors of learning to rank.

use std::io;
use std::path::{Path, PathBuf};

/// Error in reading data or models, or in training.
#[derive(Debug, thiserror::Error)]
pub enum RankingError {
    /// An I/O operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// A line of a data file is invalid.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        /// Line number from one.
        line: usize,
        /// The error and the expected format.
        problem: String,
    },
    /// A model file is invalid.
    #[error("{}: {problem}", path.display())]
    ModelFile { path: PathBuf, problem: String },
    /// The data cannot be used for this purpose.
    #[error("{0}")]
    Data(String),
    /// A parameter is unknown or out of range.
    #[error("{0}")]
    Parameter(String),
    /// The caller stopped the training.
    #[error("training was interrupted")]
    Stopped,
}

impl RankingError {
    /// Wraps an I/O error with the attempted action and the file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }
}
