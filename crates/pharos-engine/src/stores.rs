//! The stores of a data directory. This is the one place above `pharos-store` and `pharos-index` that chooses their
//! implementations; everything else works with [`Catalog`], [`Library`] and [`Index`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pharos_core::config::{ByteSize, Config};
use pharos_core::{LibraryPositions, Timestamp};
use pharos_index::{
    BuilderLock, EmbeddedIndex, GenerationStore, GenerationalIndex, Generations, Index, IndexError,
    ReplacedGenerations,
};
use pharos_store::catalog::CatalogReplacement;
use pharos_store::{Catalog, DataDir, DiskLibrary, Library, LibraryWriteOptions, SqliteCatalog, StoreError};
use tracing::{info, warn};

use crate::EngineError;

/// Number of pages read from the catalog at a time.
const CATALOG_BATCH: usize = 1000;

/// The stores of a data directory, as configured.
///
/// Readers open a store when they need it, because its owner may create or replace it meanwhile. The methods of the
/// owner require the lock of the data directory.
#[derive(Clone, Debug)]
pub struct Stores {
    data: DataDir,
    writing: LibraryWriteOptions,
    index_memory: ByteSize,
    body_limit: ByteSize,
}

impl Stores {
    /// Opens the stores of a data directory.
    pub fn open(data: &DataDir, config: &Config) -> Result<Self, EngineError> {
        Ok(Self {
            data: data.clone(),
            writing: LibraryWriteOptions::from(&config.library),
            index_memory: config.index.memory,
            body_limit: config.index.body_limit,
        })
    }

    /// Returns the data directory.
    pub fn data(&self) -> &DataDir {
        &self.data
    }

    /// Opens the catalog for reading. Returns `None` if there is none yet.
    pub fn catalog(&self) -> Result<Option<Arc<dyn Catalog>>, StoreError> {
        let catalog = SqliteCatalog::open_reader(&self.data.catalog())?;
        Ok(catalog.map(|catalog| Arc::new(catalog) as Arc<dyn Catalog>))
    }

    /// Opens the library for reading.
    pub fn library(&self) -> Result<Arc<dyn Library>, StoreError> {
        Ok(Arc::new(DiskLibrary::open_reader(&self.data.library())?))
    }

    /// Opens the index for reading.
    pub fn index(&self) -> Result<Arc<dyn Index>, IndexError> {
        Ok(Arc::new(EmbeddedIndex::open_reader(&self.data.index())?))
    }

    /// Creates an embedded index in an empty directory, for experiments beside the stores.
    pub fn scratch_index(dir: &Path, config: &Config) -> Result<Arc<dyn GenerationalIndex>, IndexError> {
        let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
        Ok(Arc::new(EmbeddedIndex::open_writer(dir, memory, body_limit)?))
    }

    /// Returns the generations of the index, or `None` if it consists of no generations of ours.
    pub fn generations(&self) -> Option<Arc<dyn GenerationStore>> {
        Some(Arc::new(Generations::at(self.data.index())))
    }

    /// Returns the generations of the index for an operation that is impossible without them.
    pub fn require_generations(
        &self,
        operation: &'static str,
    ) -> Result<Arc<dyn GenerationStore>, EngineError> {
        self.generations().ok_or(EngineError::NotLocal { operation })
    }

    /// Takes the lock of the one builder of history generations and link analyses.
    pub fn lock_builder(&self) -> Result<BuilderLock, EngineError> {
        Ok(self.require_generations("building")?.lock_builder()?)
    }

    /// Opens the catalog as its owner and creates or migrates it.
    pub fn own_catalog(&self) -> Result<Arc<dyn Catalog>, StoreError> {
        Ok(Arc::new(SqliteCatalog::open_writer(&self.data.catalog())?))
    }

    /// Creates an empty catalog that can replace the current one, as its owner.
    pub(crate) fn replace_catalog(&self) -> Result<Box<dyn CatalogReplacement>, StoreError> {
        SqliteCatalog::replace(&self.data.catalog())
    }

    /// Opens the library as its owner. It need not be read again up to `known_good`.
    pub fn own_library(
        &self,
        known_good: &LibraryPositions,
        now: Timestamp,
    ) -> Result<Arc<dyn Library>, StoreError> {
        let known_good = known_good.get(0);
        Ok(Arc::new(DiskLibrary::open_writer(&self.data.library(), self.writing, known_good, now)?))
    }

    /// Checks that the library contains everything that catalog and index have applied. Creates and changes nothing.
    ///
    /// A library that was moved away, or lies on a disk that is not mounted, looks like an empty one. Everything built from
    /// it would replace a complete store.
    ///
    /// # Errors
    /// Returns [`EngineError::LibraryIncomplete`] if records are missing.
    pub(crate) fn check_library(&self) -> Result<(), EngineError> {
        // The library is written first, so it is read last.
        let catalog = SqliteCatalog::read_applied_positions(&self.data.catalog())?;
        let index = self.index_positions()?;
        let library = self.library()?;
        if let Some(applied) = &catalog {
            refuse_behind(&self.data, &*library, &self.data.catalog(), applied)?;
        }
        if let Some(applied) = &index {
            refuse_behind(&self.data, &*library, &self.data.index(), applied)?;
        }
        self.refuse_missing_volumes(&*library)
    }

    /// Returns the positions that the index has applied, or `None` if it is damaged.
    fn index_positions(&self) -> Result<Option<LibraryPositions>, EngineError> {
        let Some(generations) = self.generations() else { return Ok(None) };
        match generations.applied_positions() {
            Ok(applied) => Ok(Some(applied)),
            Err(error) if error.is_damage() => {
                // It is unknown what the generations contain, but it came from a library.
                if self.library()?.volumes()?.is_empty() && !generations.is_empty()? {
                    let detail = format!("it has no volumes, but {} has pages", self.data.index().display());
                    return Err(EngineError::LibraryIncomplete { path: self.data.library(), detail });
                }
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses a library without a volume that contains the current version of a page.
    fn refuse_missing_volumes(&self, library: &dyn Library) -> Result<(), EngineError> {
        let volumes: BTreeSet<u32> = library.volumes()?.iter().map(|start| start.volume).collect();
        let last = volumes.last().copied().unwrap_or_default();
        let missing: BTreeSet<u32> = (1..last).filter(|number| !volumes.contains(number)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        // A catalog that cannot be opened is reported by its own checks.
        let Ok(Some(catalog)) = self.catalog() else { return Ok(()) };
        let mut after = None;
        loop {
            let batch = catalog.pages(None, after, CATALOG_BATCH)?;
            let Some(last) = batch.last() else { return Ok(()) };
            after = Some(last.url.id());
            let lost = batch.iter().find_map(|page| {
                let volume = page.position?.volume;
                missing.contains(&volume).then(|| (volume, page.url.clone()))
            });
            if let Some((volume, url)) = lost {
                let detail =
                    format!("volume {volume:08} is missing, which contains the current version of {url}");
                return Err(EngineError::LibraryIncomplete { path: self.data.library(), detail });
            }
        }
    }

    /// Opens the index as its owner.
    ///
    /// An index of an older format is discarded; replay rebuilds it from the library. A damaged history is replaced by
    /// the previous one.
    pub fn own_index(&self) -> Result<Arc<dyn Index>, EngineError> {
        match self.open_index_writer() {
            // Everything in it is replayed from the library.
            Err(error @ IndexError::OlderFormat { .. }) => {
                info!(%error, "rebuilding the index from the library");
                let generations = Generations::at(self.data.index());
                let _builder = generations.lock_builder()?;
                generations.start_over(None, ReplacedGenerations::Remove)?;
                Ok(self.open_index_writer()?)
            }
            opened => {
                let index = opened?;
                roll_back_damaged_history(&*index)?;
                Ok(index)
            }
        }
    }

    fn open_index_writer(&self) -> Result<Arc<dyn Index>, IndexError> {
        let (memory, body_limit) = (self.index_memory.bytes(), self.body_limit.bytes());
        Ok(Arc::new(EmbeddedIndex::open_writer(&self.data.index(), memory, body_limit)?))
    }
}

/// Refuses a library that ends before the position that a store has applied.
pub(crate) fn refuse_behind(
    data: &DataDir,
    library: &dyn Library,
    store: &Path,
    applied: &LibraryPositions,
) -> Result<(), EngineError> {
    let end = library.end()?;
    if end.covers_all(applied) {
        return Ok(());
    }
    let store = store.display();
    let detail = if library.volumes()?.is_empty() {
        format!("it has no volumes, but {store} has applied it up to {applied}")
    } else {
        format!("it ends at {end}, but {store} has applied it up to {applied}")
    };
    Err(EngineError::LibraryIncomplete { path: data.library(), detail })
}

/// Replaces a damaged history generation by the previous one, permanently.
///
/// If that leaves a gap, the owner replays the library from there, so it must not have started to apply records.
pub(crate) fn roll_back_damaged_history(index: &dyn Index) -> Result<(), EngineError> {
    let Some(index) = index.generational() else { return Ok(()) };
    if let Some(damaged) = index.refused_history()? {
        index.close_gap()?;
        let back = index.roll_back()?;
        let before = back.history.map_or(0, |history| history.number);
        warn!(damaged = damaged.number, before, "rolled back to the previous history generation");
    }
    Ok(())
}

/// Opens the stores of a data directory with default settings.
#[cfg(test)]
pub(crate) fn test_stores(data: &DataDir) -> Stores {
    Stores::open(data, &Config::default()).unwrap()
}
