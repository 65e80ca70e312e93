//! Indexes for tests.

use std::path::Path;
use std::sync::Arc;

use pharos_index::{EmbeddedIndex, GenerationalIndex, HistoryBuilder};

/// Opens a small index in a directory for writing.
pub(crate) fn open_index(dir: &Path) -> Arc<dyn GenerationalIndex> {
    Arc::new(EmbeddedIndex::open_writer(dir, 16 << 20, 1 << 20).unwrap())
}

/// Starts the build of a history. The caller must hold the builder's lock.
pub(crate) fn begin_history(index: &dyn GenerationalIndex) -> HistoryBuilder {
    index.generations().build_directory().begin(1, 16 << 20, 1 << 20).unwrap()
}
