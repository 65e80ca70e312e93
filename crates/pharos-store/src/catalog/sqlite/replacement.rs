//! Replacement of the catalog file by one that was rebuilt from the library.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::SqliteCatalog;
use crate::StoreError;
use crate::catalog::{Catalog, CatalogReplacement, LocalCatalog as _};

/// Endings of a database, its write-ahead log and its shared memory.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];

/// A new catalog beside the current one: `catalog.db.work` while it is written, `catalog.db.new` when it is complete.
struct SqliteReplacement {
    path: PathBuf,
    catalog: Arc<SqliteCatalog>,
}

impl SqliteCatalog {
    /// Creates an empty catalog that can replace the one at `path`. The caller must own the data directory.
    pub fn replace(path: &Path) -> Result<Box<dyn CatalogReplacement>, StoreError> {
        let work = with_suffix(path, ".work");
        remove_database(&work)?;
        remove_database(&with_suffix(path, ".new"))?;
        let catalog = Arc::new(SqliteCatalog::open_writer(&work)?);
        Ok(Box::new(SqliteReplacement { path: path.to_path_buf(), catalog }))
    }
}

impl CatalogReplacement for SqliteReplacement {
    fn catalog(&self) -> Arc<dyn Catalog> {
        Arc::clone(&self.catalog) as Arc<dyn Catalog>
    }

    fn install(self: Box<Self>, keep_damaged: bool) -> Result<(), StoreError> {
        let Self { path, catalog } = *self;
        let new = with_suffix(&path, ".new");
        // A backup copy is a single complete file; the catalog just written has a WAL beside it.
        catalog.backup(&new)?;
        drop(catalog);
        remove_database(&with_suffix(&path, ".work"))?;
        install(&new, &path, keep_damaged)
    }
}

/// Installs the new catalog.
///
/// The old catalog is moved away first, because its WAL must never be applied to the new file. Without a catalog the next
/// start builds one, so every intermediate state is safe.
fn install(new: &Path, catalog: &Path, keep_damaged: bool) -> Result<(), StoreError> {
    let old = with_suffix(catalog, if keep_damaged { ".damaged" } else { ".old" });
    remove_database(&old)?;
    for ending in ENDINGS {
        let (from, to) = (with_suffix(catalog, ending), with_suffix(&old, ending));
        match pharos_files::rename(&from, &to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("move", &from)(e)),
            _ => {}
        }
    }
    pharos_files::install(new, catalog).map_err(StoreError::io("install", catalog))?;
    if keep_damaged { Ok(()) } else { remove_database(&old) }
}

/// Removes a SQLite file and its WAL, if present.
pub fn remove_database(path: &Path) -> Result<(), StoreError> {
    for ending in ENDINGS {
        let path = with_suffix(path, ending);
        pharos_files::remove_if_exists(&path).map_err(StoreError::io("remove", &path))?;
    }
    Ok(())
}

/// Returns the path with a suffix appended to its name.
fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_cut_never_joins_a_catalog_with_the_log_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let (catalog, new) = (dir.path().join("catalog.db"), dir.path().join("catalog.db.new"));
        for (path, content) in [(&catalog, "old"), (&with_suffix(&catalog, "-wal"), "old log"), (&new, "new")]
        {
            pharos_files::replace(path, content.as_bytes()).unwrap();
        }
        let is_consistent = |files: &pharos_files::power_cut::Files| {
            let content = |name: &str| files.get(Path::new(name)).map(Vec::as_slice);
            match content("catalog.db") {
                Some(b"new") => content("catalog.db-wal").is_none(),
                found => matches!(found, Some(b"old") | None),
            }
        };
        let replace = || install(&new, &catalog, false).unwrap();
        pharos_files::power_cut::check_states(dir.path(), replace, is_consistent).unwrap();
    }
}
