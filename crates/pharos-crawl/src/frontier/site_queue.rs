//! Queues and state of the active sites.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use foldhash::fast::RandomState;
use pharos_core::{PageId, SiteId, Timestamp};

use super::RobotsTask;
use super::strategy::{QueuedPage, ReadySite, SiteRank, Strategy};

/// Maximum number of sites remembered as requested after their other state is dropped.
const MAX_REQUESTED: usize = 1 << 18;

/// Queued pages and state of one site.
#[derive(Default)]
pub(super) struct SiteQueue {
    pub(super) pages: VecDeque<QueuedPage>,
    pub(super) robots_tasks: VecDeque<RobotsTask>,
    /// Earliest time of the next request.
    pub(super) ready: Timestamp,
    pub(super) delay: Duration,
    pub(super) requests_in_progress: usize,
    pub(super) unapplied: usize,
    pub(super) parked: Vec<PageId>,
    /// Number of pages in the last refill that are not for this crawl.
    pub(super) skipped: usize,
    /// Maximum number of queued pages.
    pub(super) capacity: usize,
    /// A page of the site was returned before.
    pub(super) requested: bool,
    /// Pages wait for the robots.txt.
    pub(super) needs_robots: bool,
    /// The catalog has no more due pages, as far as known.
    pub(super) exhausted: bool,
    /// Pages were discovered since the last refill, and the strategy considers them first.
    pub(super) stale: bool,
    /// The whole site is parked.
    pub(super) suspended: bool,
    /// The site is in one of the wait queues.
    pub(super) is_queued: bool,
}

impl SiteQueue {
    /// Returns the rank of the site among the ready sites. A robots.txt precedes all pages.
    pub(super) fn rank(&self, strategy: &dyn Strategy) -> SiteRank {
        match self.pages.front() {
            Some(QueuedPage { page, .. }) if self.robots_tasks.is_empty() => {
                strategy.rank(&ReadySite { next: page, is_new: !self.requested && !page.visited })
            }
            _ => SiteRank::FIRST,
        }
    }

    /// Returns `true` if there is no state to keep.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        let waits = self.is_queued || self.suspended || self.needs_robots || self.ready > now;
        let has = self.requests_in_progress
            + self.unapplied
            + self.parked.len()
            + self.pages.len()
            + self.robots_tasks.len();
        !waits && has == 0
    }
}

/// The active sites.
pub(super) struct SiteQueues {
    queues: HashMap<SiteId, SiteQueue, RandomState>,
    /// Sites of which a page was returned.
    requested: HashSet<SiteId, RandomState>,
    delay: Duration,
}

impl SiteQueues {
    /// Creates an empty set. `delay` is the initial wait between requests to a site.
    pub(super) fn new(delay: Duration) -> Self {
        Self { queues: HashMap::default(), requested: HashSet::default(), delay }
    }

    pub(super) fn get(&mut self, id: SiteId) -> &mut SiteQueue {
        let (delay, requested) = (self.delay, &self.requested);
        self.queues.entry(id).or_insert_with(|| SiteQueue {
            delay,
            requested: requested.contains(&id),
            ..SiteQueue::default()
        })
    }

    pub(super) fn peek(&self, id: SiteId) -> Option<&SiteQueue> {
        self.queues.get(&id)
    }

    pub(super) fn remember_requested(&mut self, id: SiteId) {
        if self.requested.len() >= MAX_REQUESTED {
            // A site taken for new again gets one page out of turn, which is better than unbounded growth.
            self.requested.clear();
        }
        self.requested.insert(id);
    }

    pub(super) fn forget_requested(&mut self, id: SiteId) {
        self.get(id).requested = false;
        self.requested.remove(&id);
    }

    /// Drops sites without state.
    pub(super) fn prune(&mut self, now: Timestamp) {
        self.queues.retain(|_, site| !site.is_idle(now));
    }
}
