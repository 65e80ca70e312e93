//! Size of a data directory: pages, sites and bytes, for readers alongside the owner.

use std::fs;
use std::path::Path;

use pharos_index::generations::GenerationChain;
use pharos_store::catalog::{CatalogCounts, SiteCounts};
use serde::Serialize;

use crate::status::collection::StoredPages;
use crate::{EngineError, Stores};

/// Numbers about a data directory.
#[derive(Clone, Debug, Serialize)]
pub struct DataDirStatus {
    pub catalog: CatalogCounts,
    /// The largest sites.
    pub sites: Vec<SiteCounts>,
    /// Number of links refused by each crawl rule.
    pub filtered: Vec<(String, u64)>,
    /// Pages in the index.
    pub searchable: u64,
    /// Stored pages as an explained sum.
    pub collection: StoredPages,
    pub generations: GenerationChain,
    pub library_bytes: u64,
    pub catalog_bytes: u64,
    pub index_bytes: u64,
}

/// Counts pages, sites and bytes of a data directory.
pub fn data_dir_status(stores: &Stores) -> Result<DataDirStatus, EngineError> {
    let (data, catalog) = (stores.data(), stores.catalog()?);
    let (counts, unsearchable, sites, filtered) = match &catalog {
        Some(catalog) => {
            (catalog.counts()?, catalog.unsearchable()?, catalog.sites(10)?, catalog.filtered()?)
        }
        None => Default::default(),
    };
    let searchable = stores.index()?.view()?.pages()?;
    let chain = stores.generations().map(|generations| generations.current()).transpose()?;
    Ok(DataDirStatus {
        collection: StoredPages::new(counts.stored, searchable, unsearchable),
        catalog: counts,
        sites,
        filtered,
        searchable,
        generations: chain.unwrap_or_default(),
        library_bytes: disk_usage(&data.library()),
        catalog_bytes: disk_usage(&data.catalog()),
        index_bytes: disk_usage(&data.index()),
    })
}

/// Returns the size of a file, or of all files of a directory. Files that vanish meanwhile do not count.
pub(crate) fn disk_usage(path: &Path) -> u64 {
    let Ok(meta) = fs::metadata(path) else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    fs::read_dir(path).map_or(0, |entries| entries.flatten().map(|e| disk_usage(&e.path())).sum())
}
