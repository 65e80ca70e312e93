//! The [`Index`] trait: the contract of an index, checked by the suite in `tests/contract`.

use std::sync::Arc;

use pharos_core::LibraryPositions;
use pharos_text::vocabulary::Vocabulary;

use crate::document::IndexChange;
use crate::error::IndexError;
use crate::generational::GenerationalIndex;
use crate::view::IndexView;

/// A searchable index of page documents.
/// * A commit makes all applied changes visible and durable together, with the library positions they came from.
///   Changes that were applied but not committed are lost with the process and replayed from the library.
/// * Applying the same page twice stores it once.
/// * Views are isolated: later commits and switches of generation do not affect them.
pub trait Index: Send + Sync {
    /// Returns the library positions up to which all changes have been applied and committed.
    fn applied_positions(&self) -> Result<LibraryPositions, IndexError>;

    /// Applies changes in order. They become visible with the next `commit`.
    fn apply(&self, changes: Vec<IndexChange>) -> Result<(), IndexError>;

    /// Makes all applied changes visible and durable, and records `applied` as the library positions they came from.
    fn commit(&self, applied: &LibraryPositions) -> Result<(), IndexError>;

    /// Returns the current vocabulary of the installation. Pages are segmented with the vocabulary of the time at
    /// which they were indexed.
    fn vocabulary(&self) -> Arc<Vocabulary>;

    /// Returns a view of the current state.
    fn view(&self) -> Result<Arc<dyn IndexView>, IndexError>;

    /// Returns the most recently opened view without waiting for changes to be read.
    ///
    /// After [`serve`](Index::serve) the view is at most half a second old. The default implementation returns a
    /// current view.
    fn cached_view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        self.view()
    }

    /// Prepares a long-running process for answering queries. The default implementation does nothing.
    ///
    /// # Errors
    /// Returns an error if the index is damaged and cannot answer queries.
    fn serve(self: Arc<Self>) -> Result<(), IndexError> {
        Ok(())
    }

    /// Returns the operations on generations, or `None` if the index consists of no generations of ours.
    fn generational(&self) -> Option<&dyn GenerationalIndex> {
        None
    }
}
