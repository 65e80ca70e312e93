//! How a crawl is going: written by the loop, read by the progress line, the desk and the metrics.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pharos_core::config::CrawlConfig;
use tokio::sync::Notify;

/// Counters of a running crawl, and what others may change: whether it pauses, how many fetchers it has, its manners.
#[derive(Debug, Default)]
pub struct CrawlStatus {
    pub(crate) pages: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) under_way: AtomicU64,
    pub(crate) sites: AtomicU64,
    pub(crate) queued: AtomicU64,
    paused: AtomicBool,
    held: AtomicBool,
    full: AtomicBool,
    /// 0: as configured.
    fetchers: AtomicUsize,
    /// Settings that the crawl has not taken up yet.
    settings: Mutex<Option<Arc<CrawlConfig>>>,
    pub(crate) changed: Notify,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusSnapshot {
    /// Answers to pages that were handed on to be stored; robots.txt files do not count.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Requests without an answer.
    pub failed: u64,
    /// Pages not asked for, by a rule.
    pub refused: u64,
    /// Requests under way.
    pub under_way: u64,
    /// Sites with something to do.
    pub sites: u64,
    /// Pages in memory that wait for their turn.
    pub queued: u64,
    /// No new requests are begun.
    pub paused: bool,
    /// That is because an operator said so.
    pub held: bool,
}

impl CrawlStatus {
    /// Begins no new requests until told otherwise, as when the disk is nearly full.
    pub fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Begins no new requests until the operator says otherwise; what the disk says is another matter.
    pub fn set_held(&self, held: bool) {
        self.held.store(held, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// A crawl begins: nothing holds it that held the one before.
    pub fn begin(&self) {
        self.full.store(false, Ordering::Relaxed);
        self.held.store(false, Ordering::Relaxed);
    }

    /// There is as much on the disk as there may be: the crawl ends.
    pub fn set_full(&self) {
        self.full.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Does it pause for want of room on the disk?
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Does it pause because the operator said so?
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    /// Has the crawl go on by other settings: manners, limits, what is said of single sites. What decides which pages are
    /// known at all is recorded and comes by the catalog; strategy, restart and memory stay as they are until the next
    /// crawl.
    pub fn set_settings(&self, settings: Arc<CrawlConfig>) {
        // A number that was set by hand does not outlive a setting that is changed later.
        self.fetchers.store(0, Ordering::Relaxed);
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = Some(settings);
        self.changed.notify_one();
    }

    pub(crate) fn take_settings(&self) -> Option<Arc<CrawlConfig>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Changes how many requests may be under way at once; 0 is what the configuration says. With fewer than
    /// before, those under way end in their own time.
    pub fn set_fetchers(&self, fetchers: usize) {
        self.fetchers.store(fetchers, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// How many requests may be under way at once, where the configuration says `configured`.
    pub fn fetchers(&self, configured: usize) -> usize {
        match self.fetchers.load(Ordering::Relaxed) {
            0 => configured.max(1),
            fetchers => fetchers,
        }
    }

    /// The counters now.
    pub fn snapshot(&self) -> StatusSnapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StatusSnapshot {
            pages: read(&self.pages),
            bytes: read(&self.bytes),
            failed: read(&self.failed),
            refused: read(&self.refused),
            under_way: read(&self.under_way),
            sites: read(&self.sites),
            queued: read(&self.queued),
            paused: self.is_paused() || self.is_held(),
            held: self.is_held(),
        }
    }

    pub(crate) fn add(counter: &AtomicU64, amount: usize) {
        counter.fetch_add(amount as u64, Ordering::Relaxed);
    }

    pub(crate) fn set(counter: &AtomicU64, value: usize) {
        counter.store(value as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operators_word_and_the_disk_are_two_matters() {
        let status = CrawlStatus::default();
        status.set_held(true);
        status.set_paused(true);
        status.set_paused(false);
        assert!(status.snapshot().paused && status.snapshot().held, "room on the disk does not let it go on");
        status.set_held(false);
        assert!(!status.snapshot().paused);
        status.set_full();
        status.set_held(true);
        status.begin();
        assert!(!status.is_full() && !status.snapshot().paused, "a new crawl begins afresh");
    }

    #[test]
    fn settings_are_taken_up_once() {
        let status = CrawlStatus::default();
        status.set_fetchers(3);
        status.set_settings(Arc::new(CrawlConfig { fetchers: 9, ..CrawlConfig::default() }));
        assert_eq!(status.fetchers(9), 9, "a number set by hand does not outlive a setting");
        assert_eq!(status.take_settings().map(|settings| settings.fetchers), Some(9));
        assert_eq!(status.take_settings(), None);
    }
}
