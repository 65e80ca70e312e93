//! Absorbing: what was read becomes catalog and index, in the order of the library.

use std::sync::Arc;
use std::time::Instant;

use pharos_core::LibraryPosition;
use pharos_core::config::Config;
use pharos_crawl::{Absorbed, PageFacts as Facts, Scoping, changes};
use pharos_index::{Change, EmbeddedIndex, Index, IndexError, Wish};
use pharos_store::Catalog;
use tracing::{debug, info, warn};

use crate::EngineError;
use crate::reading::{Read, is_telling};

/// Catalog and latest, and how far each has come.
pub(crate) struct Absorber {
    config: Arc<Config>,
    catalog: Arc<dyn Catalog>,
    scoping: Scoping,
    catalog_at: LibraryPosition,
    index: Option<IndexSide>,
}

struct IndexSide {
    index: Arc<EmbeddedIndex>,
    /// What has been applied; committed or not.
    at: LibraryPosition,
    committed: LibraryPosition,
    last_commit: Instant,
}

impl Absorber {
    pub(crate) fn new(
        config: Arc<Config>,
        catalog: Arc<dyn Catalog>,
        index: Option<Arc<EmbeddedIndex>>,
    ) -> Result<Self, EngineError> {
        let index = match index {
            None => None,
            Some(index) => {
                let at = index.absorbed()?;
                Some(IndexSide { index, at, committed: at, last_commit: Instant::now() })
            }
        };
        let scoping = Scoping::load(&*catalog, &config.crawl)?;
        let catalog_at = catalog.absorbed()?;
        Ok(Self { config, catalog, scoping, catalog_at, index })
    }

    /// Where the library must be read from for both to catch up.
    pub(crate) fn behind(&self) -> LibraryPosition {
        self.index.as_ref().map_or(self.catalog_at, |i| i.at.min(self.catalog_at))
    }

    /// Takes in a group of records, and gives what the crawl wants to know of that.
    pub(crate) fn absorb(&mut self, group: Vec<Read>) -> Result<Absorbed, EngineError> {
        let mut absorbed = Absorbed::default();
        let Some(end) = group.last().map(|r| r.stored.next) else { return Ok(absorbed) };
        let mut all = Vec::new();
        for read in group.iter().filter(|r| r.stored.next > self.catalog_at) {
            let facts = read.page.as_ref().map(|page| Facts {
                links: &page.links,
                indexable: page.document.is_some(),
                digest: page.digest,
            });
            all.extend(changes(&mut self.scoping, &self.config.crawl, &read.stored, facts));
        }
        if end > self.catalog_at {
            absorbed.woken = self.catalog.apply(&all, end)?;
            self.catalog_at = end;
        }
        absorbed.pages = group.iter().map(|r| r.stored.record.url.id()).collect();
        if let Some(side) = &mut self.index
            && end > side.at
        {
            let mut changes = Vec::new();
            for mut read in group.into_iter().filter(|r| r.stored.next > side.at) {
                let mut change = read.index_change();
                if let Some(Change::Put(document)) = &mut change
                    && let Some(story) = self.catalog.page(document.url.id())?
                    && is_telling(&story.anchor)
                {
                    document.anchors.push(story.anchor);
                }
                changes.extend(change);
            }
            side.index.apply(changes)?;
            side.at = end;
        }
        Ok(absorbed)
    }

    /// Called now and then: makes fetched pages searchable, and does what a builder asked for.
    pub(crate) fn tick(&mut self, generations: &pharos_index::Generations) -> Result<(), EngineError> {
        match &mut self.index {
            Some(side) => {
                if side.at > side.committed && side.last_commit.elapsed() >= self.config.index.commit_every {
                    side.commit()?;
                }
                if generations.waiting().is_some() {
                    side.commit()?;
                    told(side.index.fulfil_wish());
                }
            }
            // A crawl that does not index still owns the chain of generations.
            None if generations.waiting().is_some() => match open_index(generations, &self.config) {
                Ok(index) => told(index.fulfil_wish()),
                Err(error) => {
                    generations.wish_done();
                    warn!(%error, "could not do what the builder asked for");
                }
            },
            None => {}
        }
        Ok(())
    }

    /// Makes everything visible and durable.
    pub(crate) fn finish(&mut self) -> Result<(), EngineError> {
        self.index.as_mut().map_or(Ok(()), IndexSide::commit)
    }
}

impl IndexSide {
    fn commit(&mut self) -> Result<(), EngineError> {
        if self.at > self.committed {
            self.index.commit(self.at)?;
            self.committed = self.at;
            debug!(position = %self.at, "committed");
        }
        self.last_commit = Instant::now();
        Ok(())
    }
}

/// A builder's wish that fails is the builder's trouble: the crawl goes on.
fn told(fulfilled: Result<Option<Wish>, IndexError>) {
    match fulfilled {
        Ok(wish) => info!(?wish, "did what the builder asked for"),
        Err(error) => warn!(%error, "could not do what the builder asked for"),
    }
}

/// The index, for whoever owns the data directory.
pub(crate) fn open_index(
    generations: &pharos_index::Generations,
    config: &Config,
) -> Result<EmbeddedIndex, EngineError> {
    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    Ok(EmbeddedIndex::open_writer(generations.dir(), memory, body_limit)?)
}
