//! The stores of a data directory. This is the one place above `pharos-store` and `pharos-index` that chooses their
//! implementations; everything else works with [`Catalog`], [`Library`] and [`Index`].

use std::path::Path;
use std::sync::Arc;

use pharos_core::config::{ByteSize, Config};
use pharos_core::{LibraryPositions, Timestamp};
use pharos_index::{
    BuilderLock, EmbeddedIndex, GenerationStore, GenerationalIndex, Generations, Index, IndexError,
};
use pharos_store::catalog::CatalogReplacement;
use pharos_store::{Catalog, DataDir, DiskLibrary, Library, LibraryWriteOptions, SqliteCatalog, StoreError};
use tracing::{info, warn};

use crate::EngineError;

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
                generations.start_over(None)?;
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
