//! What can stop the engine.

use std::path::PathBuf;

use pharos_crawl::CrawlError;
use pharos_graph::GraphError;
use pharos_html::RulesError;
use pharos_index::IndexError;
use pharos_store::StoreError;
use thiserror::Error;

/// What can stop the engine.
#[derive(Debug, Error)]
pub enum EngineError {
    /// A store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index said no.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The graph said no.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The crawl could not go on.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// Pages cannot be understood by rules that cannot be read.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// There is nothing to start from.
    #[error("nothing to crawl: give at least one address, as in `pharos {command} https://www.example.org/`")]
    NoSeeds {
        /// The command that was given.
        command: String,
    },
    /// Something that was to be read or written is not what it should be.
    #[error("{place}: {problem}")]
    Input {
        /// Which.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What was to be written is there already.
    #[error("{} is there already: choose another name, or overwrite it with --force", path.display())]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// There is a data directory without a catalog.
    #[error("there is no catalog {}: nothing was ever stored here, or it was moved away; the next crawl or import makes it again", path.display())]
    NoCatalog {
        /// Where it should be.
        path: PathBuf,
    },
    /// The owner of the data directory does not react.
    #[error(
        "{owner} is busy and did not answer in time: what was built is put in place when it looks, or by the next build"
    )]
    OwnerSilent {
        /// Who owns it.
        owner: String,
    },
    /// The owner of the data directory could not do what the builder asked for.
    #[error("{owner} could not put the new generation in place: its messages tell why")]
    WishRefused {
        /// Who owns it.
        owner: String,
    },
    /// The owner of the data directory did not look for orders.
    #[error("{owner} is busy and did not take the order: try again when it is done, or stop it first")]
    OrderUnread {
        /// Who owns it.
        owner: String,
    },
    /// The owner of the data directory could not carry out an order.
    #[error("{owner} could not do it: {reason}")]
    OrderRefused {
        /// Who owns it.
        owner: String,
        /// Why not.
        reason: String,
    },
    /// Nothing runs that could be steered.
    #[error("no engine runs on this data directory: start one with `pharos up`")]
    NotRunning,
    /// A store knows more than the library, from which it was made.
    #[error("{} knows more than the library holds: the library has lost its end; move {} away and start again, it is rebuilt from what is left", path.display(), path.display())]
    Ahead {
        /// The store.
        path: PathBuf,
    },
    /// Without a library nothing can be rebuilt, and what there is must not be thrown away.
    #[error("there is no library in {}: nothing to rebuild from", path.display())]
    NoLibrary {
        /// The data directory.
        path: PathBuf,
    },
    /// A restore was interrupted here.
    #[error("{} is half restored: run `pharos restore` with the same backup again", path.display())]
    Unrestored {
        /// The data directory.
        path: PathBuf,
    },
    /// Nothing is restored over what is there.
    #[error("{} is not empty: restore into a new directory, named with --data", path.display())]
    NotEmpty {
        /// The data directory.
        path: PathBuf,
    },
    /// A directory that is no backup, or a damaged one.
    #[error("{} cannot be restored: {detail}", path.display())]
    BadBackup {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Somebody changes the library faster than it is copied.
    #[error("the library in {} is being compacted: try again when that is done", path.display())]
    Moving {
        /// The data directory.
        path: PathBuf,
    },
    /// The settings that came with a backup cannot be used.
    #[error("{0}")]
    Settings(String),
    /// A thread or task ended in a way it must not.
    #[error("the {0} stage broke down; what was stored is safe, start again")]
    Stage(&'static str),
    /// The person stopped it.
    #[error("stopped")]
    Stopped,
}
