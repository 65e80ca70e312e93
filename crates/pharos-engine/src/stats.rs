//! Numbers about a data directory, for a reader beside the owner.

use std::fs;
use std::path::Path;

use pharos_index::{Current, EmbeddedIndex, Generations, Index};
use pharos_store::{Catalog, CatalogCounts, DataDir, SiteCounts, SqliteCatalog};
use serde::Serialize;

use crate::EngineError;

/// Numbers about a data directory.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// What the catalog knows.
    pub catalog: CatalogCounts,
    /// The largest sites.
    pub sites: Vec<SiteCounts>,
    /// How many links each rule of the crawl has refused.
    pub filtered: Vec<(String, u64)>,
    /// Pages that can be found.
    pub searchable: u64,
    /// The chain of generations.
    pub generations: Current,
    /// Bytes on disk.
    pub library_bytes: u64,
    /// Bytes on disk.
    pub catalog_bytes: u64,
    /// Bytes on disk.
    pub index_bytes: u64,
}

/// Counts what there is.
pub fn stats(data: &DataDir) -> Result<Stats, EngineError> {
    let catalog = SqliteCatalog::open_reader(&data.catalog())?;
    let (counts, sites, filtered) = match &catalog {
        Some(catalog) => (catalog.counts()?, catalog.sites(10)?, catalog.filtered()?),
        None => Default::default(),
    };
    let index = EmbeddedIndex::open_reader(&data.index())?;
    Ok(Stats {
        catalog: counts,
        sites,
        filtered,
        searchable: index.snapshot()?.pages()?,
        generations: Generations::at(data.index()).current()?,
        library_bytes: size(&data.library()),
        catalog_bytes: size(&data.catalog()),
        index_bytes: size(&data.index()),
    })
}

/// Bytes of a file, or of all files of a folder; what vanishes meanwhile does not count.
pub(crate) fn size(path: &Path) -> u64 {
    let Ok(meta) = fs::metadata(path) else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    fs::read_dir(path).map_or(0, |entries| entries.flatten().map(|e| size(&e.path())).sum())
}
