//! Stores for tests.

use std::path::Path;
use std::sync::Arc;

use pharos_store::{Catalog, SqliteCatalog};

/// Opens an empty catalog in a directory.
pub(crate) fn open_catalog(dir: &Path) -> Arc<dyn Catalog> {
    Arc::new(SqliteCatalog::open_writer(&dir.join("catalog.db")).unwrap())
}
