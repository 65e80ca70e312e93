//! What the stages have done since the engine was opened, for the system log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pharos_crawl::CrawlStatus;
use pharos_mining::system::Readings;

/// Counters that only grow.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    parsed: AtomicU64,
    indexed: AtomicU64,
}

impl Counts {
    pub(crate) fn parsed(&self, pages: usize) {
        self.parsed.fetch_add(pages as u64, Ordering::Relaxed);
    }

    pub(crate) fn indexed(&self, pages: usize) {
        self.indexed.fetch_add(pages as u64, Ordering::Relaxed);
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
