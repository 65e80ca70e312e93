//! What can go wrong with an index.

use std::io;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use thiserror::Error;

/// What can go wrong with an index.
#[derive(Debug, Error)]
pub enum IndexError {
    /// The file system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What came back.
        source: io::Error,
    },
    /// The index library said no.
    #[error("index {}: {source}", path.display())]
    Tantivy {
        /// Which generation.
        path: PathBuf,
        /// What it says.
        source: Box<tantivy::TantivyError>,
    },
    /// The file that names the generations cannot be read.
    #[error("{} is damaged ({detail}): move the index directory away and run `pharos index build`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A generation is not as it was written.
    #[error("{} is damaged ({detail}): `pharos index verify` tells more, `pharos rebuild index` makes it again", path.display())]
    DamagedGeneration {
        /// Its folder.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A generation that was just built is not as it was written.
    #[error(
        "the new generation is not as it was written ({detail}) and was thrown away; searches go on as before: look for trouble with disk or memory and build again"
    )]
    BadBuild {
        /// What is wrong with it.
        detail: String,
    },
    /// There is nothing to go back to.
    #[error(
        "{} has no history from before the last build, so that there is nothing to go back to: `pharos index build` makes a new one", path.display()
    )]
    NoPrevious {
        /// The index directory.
        path: PathBuf,
    },
    /// Going back would lose pages for the moment.
    #[error(
        "what the library has from {from} to {to} is known to the history in place only: stop whoever owns the data directory, then run `pharos index rollback` again"
    )]
    Gap {
        /// The first position that would be missing.
        from: LibraryPosition,
        /// The first that would not.
        to: LibraryPosition,
    },
    /// Written by a newer Pharos.
    #[error("{} has format {found}, this pharos knows formats up to {known}: use a newer pharos", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// What we know.
        known: u32,
    },
    /// Written by an older Pharos, with other fields.
    #[error("{} was written by an older pharos: `pharos rebuild index` makes it again", path.display())]
    OlderFormat {
        /// The file or the generation.
        path: PathBuf,
    },
    /// Somebody else is building.
    #[error("another `pharos index build` is at work on {}: wait for it, or stop it", path.display())]
    BuildRunning {
        /// The index directory.
        path: PathBuf,
    },
    /// A candidate of one snapshot put to another.
    #[error("this candidate comes from another snapshot of the index")]
    ForeignCandidate,
    /// No list is kept of this field.
    #[error("no field {field:?} has lists of terms: choose one of {known}")]
    UnknownField {
        /// What was asked for.
        field: String,
        /// Those that have.
        known: String,
    },
    /// The person stopped it.
    #[error("stopped")]
    Stopped,
    /// A writer's call on a reader.
    #[error("the index is opened for reading only")]
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
