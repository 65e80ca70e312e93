//! The ingest pipeline: stores records in the library and applies them to all stores, without a crawl.

use std::sync::Arc;
use std::time::Instant;

use pharos_core::config::Config;
use pharos_core::{Clock, LibraryPosition};
use pharos_crawl::rules_from_config;
use pharos_store::{Catalog, Library, LibraryRecord, StoreError, StoredRecord};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::EngineError;
use crate::control::dispatch::NOT_RUNNING;
use crate::control::orders::{Order, OrderQueue};
use crate::stages::analysis_pool::AnalysisPool;
use crate::stages::apply_stage::RecordApplier;
use crate::stages::record_appender::RecordAppender;

/// Maximum number of records in a group, and of bytes of their bodies.
const GROUP: usize = 64;
const GROUP_BYTES: usize = 16 << 20;

/// Ingests records in groups: appends them to the library, analyses them on all cores, applies them to every store.
pub struct IngestPipeline {
    pub(crate) config: watch::Receiver<Arc<Config>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) orders: OrderQueue,
    pub(crate) appender: RecordAppender,
    pub(crate) pool: AnalysisPool,
    pub(crate) applier: RecordApplier,
}

impl IngestPipeline {
    /// Ingests records in order. They are durable when this returns, and searchable after the next commit.
    pub fn append(&mut self, records: Vec<LibraryRecord>) -> Result<(), EngineError> {
        let group = self.appender.append(records)?;
        self.apply(group)
    }

    /// Commits everything ingested so far, which makes it searchable.
    pub fn finish(&mut self) -> Result<(), EngineError> {
        self.applier.finish()
    }

    /// Executes an order.
    pub(crate) fn execute_order(&mut self, order: &Order) -> Result<(), EngineError> {
        let rules = self.catalog.rules()?.unwrap_or_else(|| rules_from_config(&self.config.borrow().crawl));
        self.append(order.records(self.clock.now(), rules, &*self.catalog))
    }

    /// Executes pending orders.
    pub(crate) fn execute_pending_orders(&mut self) -> Result<(), EngineError> {
        for (path, order) in self.orders.pending() {
            if matches!(order, Order::Crawl(_)) {
                self.orders.resolve(&path, Err(&NOT_RUNNING));
                continue;
            }
            let done = self.execute_order(&order).and_then(|()| self.finish());
            self.orders.resolve(&path, done.as_ref().copied().map_err(|e| e as &dyn std::fmt::Display));
            done?;
        }
        Ok(())
    }

    fn apply(&mut self, group: Vec<StoredRecord>) -> Result<(), EngineError> {
        let (depth, config) = (self.applier.analysis_depth(), Arc::clone(&self.config.borrow()));
        self.applier.apply(self.pool.analyse(group, &*self.library, &config, depth)?)?;
        self.applier.tick()
    }

    /// Applies all records that the stores have not applied. `keep_going` receives the progress after each group.
    pub(crate) fn replay(
        &mut self,
        keep_going: &mut dyn FnMut(ReplayProgress) -> bool,
    ) -> Result<(), EngineError> {
        let (started, first, mut records) = (Instant::now(), self.applier.replay_start(), 0);
        let ends = self.library.end()?;
        for end in ends.iter() {
            // Closing a gap can advance a store far beyond the replayed volume.
            let mut from = first.get(end.log);
            while from < end {
                let file_size = self.config.borrow().library.file_size.0;
                let start = first.get(end.log);
                let total = distance(start, end, file_size);
                let (count, next) = self.replay_volume(from, &mut |n, reached| {
                    let done = distance(start, reached, file_size).min(total);
                    keep_going(ReplayProgress { records: records + n, done, total })
                })?;
                records += count;
                from = next.later(self.applier.replay_start().get(end.log));
            }
        }
        if !first.covers_all(&ends) {
            self.applier.finish()?;
            info!(records, from = %first, took = ?started.elapsed(), "replayed the library");
        }
        Ok(())
    }

    /// Replays the rest of one volume. Returns the number of records and the position to continue at.
    fn replay_volume(
        &mut self,
        from: LibraryPosition,
        keep_going: &mut dyn FnMut(u64, LibraryPosition) -> bool,
    ) -> Result<(u64, LibraryPosition), EngineError> {
        let to = from.next_volume();
        let mut scan = self.library.scan(from, Some(to))?;
        let mut records = 0;
        loop {
            let group = next_group(&mut scan)?;
            if group.is_empty() {
                return Ok((records, to));
            }
            records += group.len() as u64;
            let reached = group.last().map_or(from, |last| last.next);
            let applied = self.apply(group);
            if matches!(applied, Err(EngineError::Stopped))
                || (applied.is_ok() && !keep_going(records, reached))
            {
                self.applier.finish()?;
                return Err(EngineError::Stopped);
            }
            applied?;
        }
    }
}

/// Progress of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayProgress {
    /// Number of records applied.
    pub records: u64,
    /// Bytes of the library applied, and to apply; estimates if the library has several files.
    pub done: u64,
    pub total: u64,
}

/// Returns the approximate number of bytes between two positions, given the size of library files.
pub(crate) fn distance(from: LibraryPosition, to: LibraryPosition, file_size: u64) -> u64 {
    // The first volume has number 1.
    let files = u64::from(to.volume.saturating_sub(from.volume.max(1)));
    files.saturating_mul(file_size).saturating_add(to.offset).saturating_sub(from.offset)
}

/// Returns the next group of a scan. Damaged records are reported and skipped.
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
    use pharos_store::{DataDir, DerivedWriter, PageState, RawResponse, RecordContent};
    use tokio::sync::watch;

    use super::*;
    use crate::Engine;

    #[test]
    fn data_that_a_crawl_did_not_derive_is_derived_later() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), Config::default(), "crawl", false).unwrap();
        let url = PageUrl::parse("http://example.org/").unwrap();
        let body = b"<title>Tower</title><p>It is tall.".to_vec();
        let response = RawResponse { status: 200, body, ..RawResponse::default() };
        let record = LibraryRecord::new(url.clone(), Timestamp::EPOCH, RecordContent::Response(response));
        let mut crawl = engine.ingest_deriving(false, &mut |_| true).unwrap();
        crawl.append(vec![record]).unwrap();
        crawl.finish().unwrap();
        assert_eq!(engine.catalog().page(url.id()).unwrap().unwrap().state, PageState::Stored);

        let derived =
            || DerivedWriter::open(&data.library(), pharos_html::VERSION).unwrap().durable_position();
        let ends = engine.library().end().unwrap();
        let end = ends.get(0);
        assert!(derived() < end);
        let crawl = engine.ingest_deriving(false, &mut |_| panic!("nothing to replay")).unwrap();
        assert_eq!(crawl.applier.replay_start(), ends);
        let (_stop, stopped) = watch::channel(false);
        engine.ingest(&stopped).unwrap().finish().unwrap();
        assert_eq!(derived(), end);
    }
}
