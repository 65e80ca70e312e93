//! Errors of the engine.

use std::path::PathBuf;

use pharos_crawl::CrawlError;
use pharos_graph::GraphError;
use pharos_html::RulesError;
use pharos_index::IndexError;
use pharos_learn::categories::CategoryError;
use pharos_store::StoreError;
use thiserror::Error;

/// Error of an engine operation.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    #[error(transparent)]
    Category(#[from] CategoryError),
    /// The content extraction rules cannot be read.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// A crawl was started without seeds.
    #[error(
        "nothing to crawl: specify at least one URL, for example `pharos {command} https://www.example.org/`"
    )]
    NoSeeds {
        /// The command that was run.
        command: String,
    },
    /// An input or output is unusable.
    #[error("{place}: {problem}")]
    Input { place: String, problem: String },
    /// The output already exists.
    #[error("{} already exists: choose another name or overwrite it with --force", path.display())]
    AlreadyExists { path: PathBuf },
    /// The data directory has no catalog.
    #[error("catalog {} not found: nothing has been stored yet, or the file was moved; the next crawl or import creates it", path.display())]
    NoCatalog { path: PathBuf },
    /// The owner of the data directory did not respond.
    #[error(
        "{owner} is busy and did not respond in time: it installs the new generation later, or the next build does"
    )]
    OwnerUnresponsive { owner: String },
    /// The owner of the data directory could not fulfil a builder request.
    #[error("{owner} could not install the new generation: see its log for the reason")]
    RequestRefused { owner: String },
    /// The owner of the data directory did not pick up an order.
    #[error("{owner} is busy and did not accept the order: try again later, or stop it first")]
    OrderNotAccepted { owner: String },
    /// The owner of the data directory could not execute an order.
    #[error("{owner} could not execute the order: {reason}")]
    OrderRefused { owner: String, reason: String },
    /// No engine is running.
    #[error("no engine is running on this data directory: start one with `pharos up`")]
    NotRunning,
    /// The library lacks records that another store has applied.
    #[error(
        "the library {} is incomplete: {detail}; put the missing volumes back (is the disk mounted?), or accept the loss with `pharos doctor --repair --force`", path.display()
    )]
    LibraryIncomplete { path: PathBuf, detail: String },
    /// There is no library to rebuild from.
    #[error("no library in {}: nothing to rebuild from", path.display())]
    NoLibrary { path: PathBuf },
    /// A restore into the data directory was interrupted.
    #[error("the restore into {} is incomplete: run `pharos restore` with the same backup again", path.display())]
    RestoreIncomplete { path: PathBuf },
    /// The target of a restore is not empty.
    #[error("{} is not empty: restore into a new directory, given with --data", path.display())]
    NotEmpty { path: PathBuf },
    /// A directory is not a backup, or a damaged one.
    #[error("cannot restore {}: {detail}", path.display())]
    BadBackup { path: PathBuf, detail: String },
    /// The target of a backup cannot be used.
    #[error("cannot back up to {}: {problem}; the data and earlier backups are unchanged", path.display())]
    BackupTarget { path: PathBuf, problem: String },
    /// The library changed repeatedly during a backup.
    #[error("the library in {} is being compacted: try again afterwards", path.display())]
    LibraryChanging { path: PathBuf },
    /// An operation needs local files that the configured stores do not have.
    #[error(
        "{operation} is impossible: it needs local files, and the configured store keeps its data elsewhere"
    )]
    NotLocal { operation: &'static str },
    /// The settings are invalid.
    #[error("{0}")]
    Settings(String),
    /// A thread or task ended unexpectedly.
    #[error("the {0} stage failed; stored data is safe, restart to continue")]
    StageFailed(&'static str),
    /// The operation was stopped on request.
    #[error("stopped")]
    Stopped,
}
