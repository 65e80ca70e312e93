//! Status of a crawl: written by the crawl loop, read by the progress line, the desk and the metrics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, Timestamp};
use tokio::sync::Notify;

use crate::notices::{CrawlNotice, NoticeLog, ProblemCounts};

/// Maximum number of servers whose next robots.txt request is published.
const MAX_ROBOTS_RETRIES: usize = 200;

/// Counters of a running crawl, and its controls: pause, number of fetchers, settings.
#[derive(Debug, Default)]
pub struct CrawlStatus {
    pub(crate) pages: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) sites: AtomicU64,
    pub(crate) queued: AtomicU64,
    disk_low: AtomicBool,
    paused: AtomicBool,
    full: AtomicBool,
    /// 0 means the configured number.
    fetchers: AtomicUsize,
    /// New settings not yet applied by the crawl.
    settings: ArcSwapOption<CrawlConfig>,
    notices: Mutex<NoticeLog>,
    /// `true` while nothing is due, and the time of the next visit in milliseconds; 0 if there is none.
    idle: AtomicBool,
    next_visit: AtomicI64,
    /// Time of the next request of unreachable robots.txt files.
    robots_retries: Mutex<BTreeMap<PageUrl, Timestamp>>,
    pub(crate) changed: Notify,
}

/// Values of the counters at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlStatusReport {
    /// Number of page responses passed on to be stored, without robots.txt files.
    pub pages: u64,
    /// Total size of their bodies.
    pub bytes: u64,
    /// Number of requests without a response.
    pub failed: u64,
    /// Number of pages refused by a rule.
    pub refused: u64,
    /// Number of requests in progress.
    pub in_flight: u64,
    /// Number of active sites.
    pub sites: u64,
    /// Number of queued pages in memory.
    pub queued: u64,
    /// `true` if every known page is fetched and none is due.
    pub idle: bool,
    /// Time of the next visit while the crawl is idle.
    pub next_visit: Option<Timestamp>,
    /// Number of problems by kind.
    pub problems: ProblemCounts,
    /// `true` if no new requests are started.
    pub paused: bool,
    /// `true` if an operator paused the crawl.
    pub paused_by_operator: bool,
}

impl CrawlStatus {
    /// Pauses or resumes the crawl for lack of disk space.
    pub fn set_disk_low(&self, paused: bool) {
        self.disk_low.store(paused, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Pauses or resumes the crawl on behalf of an operator, independently of [`set_paused`](Self::set_paused).
    pub fn set_paused(&self, held: bool) {
        self.paused.store(held, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Resets the flags of an earlier crawl.
    pub fn begin(&self) {
        self.full.store(false, Ordering::Relaxed);
        self.paused.store(false, Ordering::Relaxed);
        self.set_idle(false, None);
    }

    /// Ends the crawl because the disk limit is reached.
    pub fn set_full(&self) {
        self.full.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Returns `true` if the crawl is paused for lack of disk space.
    pub fn is_disk_low(&self) -> bool {
        self.disk_low.load(Ordering::Relaxed)
    }

    /// Returns `true` if an operator paused the crawl.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Changes the settings of the running crawl: politeness, limits, site settings.
    ///
    /// Rules that decide which pages are known are recorded and arrive through the catalog. Strategy, restart mode
    /// and memory limits keep their values until the next crawl.
    pub fn set_settings(&self, settings: Arc<CrawlConfig>) {
        // A changed setting replaces a number set by hand.
        self.fetchers.store(0, Ordering::Relaxed);
        self.settings.store(Some(settings));
        self.changed.notify_one();
    }

    pub(crate) fn take_settings(&self) -> Option<Arc<CrawlConfig>> {
        self.settings.swap(None)
    }

    /// Sets the number of concurrent requests; 0 means the configured number. Requests in progress are not cancelled.
    pub fn set_fetchers(&self, fetchers: usize) {
        self.fetchers.store(fetchers, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Returns the number of concurrent requests, given the configured number.
    pub fn fetchers(&self, configured: usize) -> usize {
        match self.fetchers.load(Ordering::Relaxed) {
            0 => configured.max(1),
            fetchers => fetchers,
        }
    }

    /// Returns the current values of the counters.
    pub fn report(&self) -> CrawlStatusReport {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CrawlStatusReport {
            pages: read(&self.pages),
            bytes: read(&self.bytes),
            failed: read(&self.failed),
            refused: read(&self.refused),
            in_flight: read(&self.in_flight),
            sites: read(&self.sites),
            queued: read(&self.queued),
            idle: self.idle.load(Ordering::Relaxed),
            next_visit: Some(self.next_visit.load(Ordering::Relaxed))
                .filter(|at| *at > 0)
                .map(Timestamp::from_millis),
            problems: self.log().counts,
            paused: self.is_disk_low() || self.is_paused(),
            paused_by_operator: self.is_paused(),
        }
    }

    /// Returns the notices after number `after`, oldest first.
    pub fn notices_after(&self, after: u64) -> Vec<CrawlNotice> {
        self.log().after(after)
    }

    /// Returns the notices and counts. A panic while they were changed leaves them usable.
    pub(crate) fn log(&self) -> MutexGuard<'_, NoticeLog> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes whether the crawl is idle, and until when.
    pub(crate) fn set_idle(&self, idle: bool, next_visit: Option<Timestamp>) {
        self.next_visit.store(next_visit.map_or(0, Timestamp::millis), Ordering::Relaxed);
        self.idle.store(idle, Ordering::Relaxed);
    }

    /// Publishes when an unreachable robots.txt is requested again. Pages of its server wait until then.
    pub(crate) fn set_robots_retry(&self, robots_txt: &PageUrl, at: Timestamp, now: Timestamp) {
        let mut retries = self.robots_retries.lock().unwrap_or_else(PoisonError::into_inner);
        if retries.len() >= MAX_ROBOTS_RETRIES {
            retries.retain(|_, at| *at > now);
        }
        if retries.len() < MAX_ROBOTS_RETRIES || retries.contains_key(robots_txt) {
            retries.insert(robots_txt.clone(), at);
        }
    }

    /// Returns the robots.txt files that are requested again later, with the time. Their number is limited.
    pub fn robots_retries(&self, now: Timestamp) -> BTreeMap<String, Timestamp> {
        let retries = self.robots_retries.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = retries.iter().filter(|(_, at)| **at > now);
        waiting.map(|(robots_txt, at)| (robots_txt.to_string(), *at)).collect()
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
    fn operator_and_disk_pause_independently() {
        let status = CrawlStatus::default();
        status.set_paused(true);
        status.set_disk_low(true);
        status.set_disk_low(false);
        assert!(
            status.report().paused && status.report().paused_by_operator,
            "free disk space does not resume it"
        );
        status.set_paused(false);
        assert!(!status.report().paused);
        status.set_full();
        status.set_paused(true);
        status.begin();
        assert!(!status.is_full() && !status.report().paused, "a new crawl starts with cleared flags");
    }

    #[test]
    fn settings_are_applied_once() {
        let status = CrawlStatus::default();
        status.set_fetchers(3);
        status.set_settings(Arc::new(CrawlConfig { fetchers: 9, ..CrawlConfig::default() }));
        assert_eq!(status.fetchers(9), 9, "a number set by hand does not outlive a setting");
        assert_eq!(status.take_settings().map(|settings| settings.fetchers), Some(9));
        assert_eq!(status.take_settings(), None);
    }
}
