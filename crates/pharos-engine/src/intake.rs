//! The way in: records become part of the library and of all that is derived from it.

use std::sync::Arc;
use std::time::Instant;

use pharos_core::config::Config;
use pharos_core::{Clock, LibraryPosition};
use pharos_crawl::rules_of;
use pharos_index::Generations;
use pharos_store::{Catalog, Library, Record, StoreError, StoredRecord};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::EngineError;
use crate::absorb::Absorber;
use crate::control::IS_NOT_RUNNING;
use crate::inbox::{Inbox, Order};
use crate::readers::Readers;

/// Records, and bytes of their bodies, that are worked on together, at most.
const GROUP: usize = 64;
const GROUP_BYTES: usize = 16 << 20;

/// Takes records in, one group after the other: shelved, read on all cores, absorbed by every store.
pub struct Intake {
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) inbox: Inbox,
    pub(crate) generations: Generations,
    pub(crate) readers: Readers,
    pub(crate) absorber: Absorber,
}

impl Intake {
    /// Takes in records in their order. They are on disk when this returns, and searchable soon after.
    pub fn take(&mut self, records: Vec<Record>) -> Result<(), EngineError> {
        let positions = self.library.append(&records)?;
        let stored = positions.into_iter().zip(records);
        let group =
            stored.map(|((position, next), record)| StoredRecord { position, next, record }).collect();
        self.absorb(group)
    }

    /// Makes everything taken in searchable.
    pub fn finish(&mut self) -> Result<(), EngineError> {
        self.absorber.finish()
    }

    /// Carries out an order.
    pub(crate) fn carry_out(&mut self, order: &Order) -> Result<(), EngineError> {
        let rules = self.catalog.rules()?.unwrap_or_else(|| rules_of(&self.config.borrow().crawl));
        self.take(order.records(self.clock.now(), rules, &*self.catalog))
    }

    /// Carries out the orders that wait.
    pub(crate) fn attend(&mut self) -> Result<(), EngineError> {
        for (path, order) in self.inbox.waiting() {
            if matches!(order, Order::Crawl(_)) {
                self.inbox.answer(&path, Err(&IS_NOT_RUNNING));
                continue;
            }
            let done = self.carry_out(&order).and_then(|()| self.finish());
            self.inbox.answer(&path, done.as_ref().copied().map_err(|e| e as &dyn std::fmt::Display));
            done?;
        }
        Ok(())
    }

    fn absorb(&mut self, group: Vec<StoredRecord>) -> Result<(), EngineError> {
        let (wanted, config) = (self.absorber.wanted(), Arc::clone(&self.config.borrow()));
        self.absorber.absorb(self.readers.read(group, &*self.library, &config, wanted))?;
        self.absorber.tick(&self.generations)
    }

    /// Brings every store up to the end of the library. `go_on` hears of every group of records.
    pub(crate) fn replay(&mut self, go_on: &mut dyn FnMut(u64) -> bool) -> Result<(), EngineError> {
        let (started, first, mut records) = (Instant::now(), self.absorber.behind(), 0);
        let end = self.library.end()?;
        // Where a store has a gap, closing it may bring it a long way forward.
        let mut from = first;
        while from < end {
            let (count, next) = self.replay_file(from, &mut |n| go_on(records + n))?;
            records += count;
            from = next.max(self.absorber.behind());
        }
        if first < end {
            self.absorber.finish()?;
            info!(records, from = %first, took = ?started.elapsed(), "replayed the library");
        }
        Ok(())
    }

    /// Replays the rest of one file. Gives how many records that were and where to go on.
    fn replay_file(
        &mut self,
        from: LibraryPosition,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(u64, LibraryPosition), EngineError> {
        let to = LibraryPosition { file: from.file + 1, offset: 0 };
        let mut scan = self.library.scan(from, Some(to))?;
        let mut records = 0;
        loop {
            let group = next_group(&mut scan)?;
            if group.is_empty() {
                return Ok((records, to));
            }
            records += group.len() as u64;
            self.absorb(group)?;
            if !go_on(records) {
                self.absorber.finish()?;
                return Err(EngineError::Stopped);
            }
        }
    }
}

/// The next records of a scan, as many as are worked on together. Damage is told and costs no more than it hits.
pub(crate) fn next_group(
    scan: &mut dyn Iterator<Item = Result<StoredRecord, StoreError>>,
) -> Result<Vec<StoredRecord>, EngineError> {
    let (mut group, mut bytes) = (Vec::new(), 0);
    for stored in scan {
        match stored {
            Ok(stored) => {
                bytes += stored.record.body_size();
                group.push(stored);
            }
            Err(damage @ StoreError::Damaged { .. }) => warn!("{damage}"),
            Err(error) => return Err(error.into()),
        }
        if group.len() == GROUP || bytes >= GROUP_BYTES {
            break;
        }
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use pharos_core::{PageUrl, Timestamp};
    use pharos_store::{Content, DataDir, DerivedWriter, PageState, Response};
    use tokio::sync::watch;

    use super::*;
    use crate::Engine;

    #[test]
    fn what_a_crawl_did_not_derive_is_derived_by_the_next_who_needs_it() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), Config::default(), "crawl", false).unwrap();
        let url = PageUrl::parse("http://example.org/").unwrap();
        let body = b"<title>Tower</title><p>It stands.".to_vec();
        let response = Response { status: 200, body, ..Response::default() };
        let record = Record::new(url.clone(), Timestamp::EPOCH, Content::Response(response));
        let mut crawl = engine.intake_that_derives(false, &mut |_| true).unwrap();
        crawl.take(vec![record]).unwrap();
        crawl.finish().unwrap();
        assert_eq!(engine.catalog().page(url.id()).unwrap().unwrap().state, PageState::Stored);

        let derived = || DerivedWriter::open(&data.library(), pharos_html::VERSION).unwrap().absorbed();
        let end = engine.library().end().unwrap();
        assert!(derived() < end);
        let crawl = engine.intake_that_derives(false, &mut |_| panic!("nothing to replay")).unwrap();
        assert_eq!(crawl.absorber.behind(), end);
        let (_stop, stopped) = watch::channel(false);
        engine.intake(&stopped).unwrap().finish().unwrap();
        assert_eq!(derived(), end);
    }
}
