//! What the stages have done since the engine was opened, and what waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use pharos_crawl::CrawlStatus;
use pharos_mining::system::Readings;

/// A stage that records wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Shelve,
    Read,
    Absorb,
}

impl Stage {
    pub(crate) const ALL: [Stage; 3] = [Stage::Shelve, Stage::Read, Stage::Absorb];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Shelve => "shelve",
            Self::Read => "read",
            Self::Absorb => "absorb",
        }
    }
}

/// Counters of one engine.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    parsed: AtomicU64,
    indexed: AtomicU64,
    /// Records that wait for each stage or are in its hands.
    waiting: [AtomicI64; Stage::ALL.len()],
}

impl Counts {
    pub(crate) fn parsed(&self, pages: usize) {
        self.parsed.fetch_add(pages as u64, Ordering::Relaxed);
    }

    pub(crate) fn indexed(&self, pages: usize) {
        self.indexed.fetch_add(pages as u64, Ordering::Relaxed);
    }

    /// Records come to a stage, or leave it.
    pub(crate) fn moved(&self, stage: Stage, records: i64) {
        let now = self.waiting[stage as usize].fetch_add(records, Ordering::Relaxed) + records;
        metrics::gauge!("pharos_crawl_stage_records", "stage" => stage.name()).set(now as f64);
    }

    /// How many records wait for a stage or are in its hands.
    pub(crate) fn waiting(&self, stage: Stage) -> u64 {
        self.waiting[stage as usize].load(Ordering::Relaxed).try_into().unwrap_or_default()
    }
}

/// Reads them whenever it is called.
pub(crate) fn readings(
    counts: Arc<Counts>,
    status: Arc<CrawlStatus>,
) -> impl Fn() -> Readings + Send + Sync + 'static {
    move || {
        let crawl = status.snapshot();
        Readings {
            fetched: crawl.pages,
            parsed: counts.parsed.load(Ordering::Relaxed),
            indexed: counts.indexed.load(Ordering::Relaxed),
            errors: crawl.failed,
            ..Readings::default()
        }
    }
}
