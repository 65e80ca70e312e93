//! What can stop the engine.

use pharos_crawl::CrawlError;
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
    /// The crawl could not go on.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// There is nothing to start from.
    #[error("nothing to crawl: give at least one address, as in `pharos {command} https://www.example.org/`")]
    NoSeeds {
        /// The command that was given.
        command: String,
    },
    /// The owner of the data directory does not react.
    #[error("{owner} does not answer: stop it and start again")]
    OwnerSilent {
        /// Who owns it.
        owner: String,
    },
    /// A thread or task ended in a way it must not.
    #[error("the {0} stage broke down; what was stored is safe, start again")]
    Stage(&'static str),
    /// The person stopped it.
    #[error("stopped")]
    Stopped,
}
