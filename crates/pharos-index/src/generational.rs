//! The traits of an index that consists of generations on local disk: [`GenerationalIndex`], the open index, and
//! [`GenerationStore`], its directory, which a builder manages without opening the index.

use std::path::PathBuf;
use std::sync::Arc;

use pharos_core::LibraryPositions;
use pharos_files::DirectoryLock;

use crate::error::IndexError;
use crate::generations::verify::{GenerationFlaw, GenerationReport};
use crate::generations::{
    BuilderRequest, GenerationChain, GenerationInventory, HistoryGeneration, LatestGeneration,
};
use crate::index::Index;
use crate::statistics::{CountingProgress, IndexStatistics, StatisticsOptions, TermReport};
use crate::view::IndexView;
use crate::write::history_builder::BuildDirectory;

/// An open index that consists of generations. A remote index manages its own segments and implements [`Index`] only.
pub trait GenerationalIndex: Index {
    /// Returns the directory of the generations.
    fn generations(&self) -> &dyn GenerationStore;

    /// Seals the open latest generation and opens the next one, so that a history can be built up to this point.
    ///
    /// All applied changes must be committed. Returns the library positions of the seal.
    fn seal(&self) -> Result<LibraryPositions, IndexError>;

    /// Serves the pending request of a builder or an operator, if any.
    ///
    /// The owner calls this periodically, with all changes committed. A request that fails is removed as well, so
    /// that it is not retried indefinitely; its sender detects the failure.
    fn serve_request(&self) -> Result<Option<BuilderRequest>, IndexError>;

    /// Prepares a rollback to the previous history for an owner that has not started to apply records.
    ///
    /// If a range of the library would be missing after the rollback, the applied positions are moved back to its
    /// start, so that replaying the library restores it. Returns `true` if a replay is required.
    fn close_gap(&self) -> Result<bool, IndexError>;

    /// Rolls back to the history before the last build. The caller must own the data directory.
    fn roll_back(&self) -> Result<GenerationChain, IndexError>;

    /// Returns the current history if it is damaged and the previous one is used instead.
    fn refused_history(&self) -> Result<Option<HistoryGeneration>, IndexError>;

    /// Returns the number of documents in history and in the latest generations, tombstones included.
    fn documents(&self) -> Result<(u64, u64), IndexError>;

    /// Counts terms and measures their lists. Calls `progress` periodically, which returns `false` to cancel.
    fn statistics(
        &self,
        options: &StatisticsOptions,
        progress: &mut dyn FnMut(CountingProgress<'_>) -> bool,
    ) -> Result<IndexStatistics, IndexError>;

    /// Reports the terms of a text, in one field or in all tokenised fields, with the `pages` pages where each occurs
    /// most often.
    fn explain(&self, text: &str, field: Option<&str>, pages: usize) -> Result<TermReport, IndexError>;
}

/// Treatment of the generations that a new chain replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedGenerations {
    /// They are removed: the new chain contains all their pages, or will after a replay.
    Remove,
    /// They are moved to `index.replaced` beside the index, because the new chain has fewer pages.
    SetAside,
}

/// The directory of the generations: the chain, builds, requests to the owner, verification. It opens no index, so
/// that it also works on a damaged one.
pub trait GenerationStore: Send + Sync {
    /// Reads the chain. Before the first build there is no `CURRENT`, and the chain is one latest generation.
    ///
    /// # Errors
    /// Returns [`IndexError::NoCurrent`] if `CURRENT` is missing beside other generations.
    fn current(&self) -> Result<GenerationChain, IndexError>;

    /// Returns the library positions up to which the generations have applied and committed changes.
    ///
    /// Before the first commit of the open generation these are the positions of the generations before it: a history
    /// may extend beyond the point at which the generation was opened.
    fn applied_positions(&self) -> Result<LibraryPositions, IndexError>;

    /// Returns `true` if there are no generations, listed or not.
    fn is_empty(&self) -> Result<bool, IndexError>;

    /// Returns the directory of a history generation.
    fn history_dir(&self, number: u64) -> PathBuf;

    /// Installs a finished history generation.
    ///
    /// The current history is kept for a rollback, together with the generations it replaces. Generations kept so far
    /// are removed.
    ///
    /// # Errors
    /// Returns [`IndexError::CoversLess`] if it covers less of the library than the current history.
    fn install(&self, history: HistoryGeneration) -> Result<GenerationChain, IndexError>;

    /// Starts a new chain of an optional history and one empty latest generation in place of all other generations.
    ///
    /// The caller must own the data directory and hold the builder's lock. `CURRENT` need not be readable.
    fn start_over(
        &self,
        history: Option<HistoryGeneration>,
        replaced: ReplacedGenerations,
    ) -> Result<GenerationChain, IndexError>;

    /// Removes all generations that the chain does not list. The caller must hold the builder's lock.
    fn remove_unreferenced(&self) -> Result<(), IndexError>;

    /// Takes the builder's lock. The kernel releases it when the process ends.
    fn lock_builder(&self) -> Result<BuilderLock, IndexError>;

    /// Returns `true` if a build is running.
    fn is_building(&self) -> bool;

    /// Returns the directory of the history under construction.
    fn build_directory(&self) -> BuildDirectory;

    /// Opens a finished history generation that is not yet installed, for testing and warming it.
    fn preview(&self, history: &HistoryGeneration) -> Result<Arc<dyn IndexView>, IndexError>;

    /// Leaves a request for the owner.
    fn leave_request(&self, request: BuilderRequest) -> Result<(), IndexError>;

    /// Returns the pending request, if any.
    fn pending_request(&self) -> Option<BuilderRequest>;

    /// Removes the pending request, because it was served or its sender has given up.
    fn clear_request(&self);

    /// Returns size and age of a history generation.
    fn inventory_of(&self, history: &HistoryGeneration) -> GenerationInventory;

    /// Returns size and age of a latest generation.
    fn inventory_of_latest(&self, latest: &LatestGeneration) -> GenerationInventory;

    /// Checks the chain and the checksums of all its files, reading each file once.
    ///
    /// Alongside a running owner or build, problems may be transient: call it again to confirm them.
    fn check(&self) -> Result<Vec<GenerationFlaw>, IndexError>;

    /// Verifies every generation that `CURRENT` lists, reading each file once.
    ///
    /// Problems that disappear on a retry, caused by a concurrent commit or switch, are not reported.
    fn verify(&self) -> Result<Vec<GenerationReport>, IndexError>;
}

/// The lock of the one builder of an index, held until it is dropped.
#[derive(Debug)]
pub struct BuilderLock {
    _lock: DirectoryLock,
}

impl BuilderLock {
    pub(crate) fn new(lock: DirectoryLock) -> Self {
        Self { _lock: lock }
    }
}
