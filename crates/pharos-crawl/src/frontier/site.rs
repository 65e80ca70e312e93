//! Queues and state of the active sites.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use foldhash::fast::RandomState;
use pharos_core::{PageId, SiteId, Timestamp};

use super::RobotsErrand;
use super::strategy::{Candidate, Queued, Rank, Strategy};

/// Maximum number of sites remembered as requested after their other state is dropped.
const MAX_ASKED: usize = 1 << 18;

/// Queued pages and state of one site.
#[derive(Default)]
pub(super) struct Site {
    pub(super) pages: VecDeque<Queued>,
    pub(super) errands: VecDeque<RobotsErrand>,
    /// Earliest time of the next request.
    pub(super) ready: Timestamp,
    pub(super) delay: Duration,
    pub(super) under_way: usize,
    pub(super) unabsorbed: usize,
    pub(super) parked: Vec<PageId>,
    /// Number of pages in the last refill that are not for this crawl.
    pub(super) passed_over: usize,
    /// Maximum number of queued pages.
    pub(super) room: usize,
    /// A page of the site was returned before.
    pub(super) asked: bool,
    /// Pages wait for the robots.txt.
    pub(super) needs_robots: bool,
    /// The catalog has no more due pages, as far as known.
    pub(super) dry: bool,
    /// Pages were discovered since the last refill, and the strategy considers them first.
    pub(super) stale: bool,
    /// The whole site is parked.
    pub(super) closed: bool,
    /// The site is in one of the wait queues.
    pub(super) waits: bool,
}

impl Site {
    /// Returns the rank of the site among the ready sites. A robots.txt precedes all pages.
    pub(super) fn rank(&self, strategy: &dyn Strategy) -> Rank {
        match self.pages.front() {
            Some(Queued { page, .. }) if self.errands.is_empty() => {
                strategy.rank(&Candidate { next: page, is_new: !self.asked && !page.visited })
            }
            _ => Rank::FIRST,
        }
    }

    /// Returns `true` if there is no state to keep.
    pub(super) fn is_forgettable(&self, now: Timestamp) -> bool {
        let waits = self.waits || self.closed || self.needs_robots || self.ready > now;
        let has =
            self.under_way + self.unabsorbed + self.parked.len() + self.pages.len() + self.errands.len();
        !waits && has == 0
    }
}

/// The active sites.
pub(super) struct Sites {
    known: HashMap<SiteId, Site, RandomState>,
    /// Sites of which a page was returned.
    asked: HashSet<SiteId, RandomState>,
    delay: Duration,
}

impl Sites {
    /// Creates an empty set. `delay` is the initial wait between requests to a site.
    pub(super) fn new(delay: Duration) -> Self {
        Self { known: HashMap::default(), asked: HashSet::default(), delay }
    }

    pub(super) fn get(&mut self, id: SiteId) -> &mut Site {
        let (delay, asked) = (self.delay, &self.asked);
        self.known.entry(id).or_insert_with(|| Site { delay, asked: asked.contains(&id), ..Site::default() })
    }

    pub(super) fn peek(&self, id: SiteId) -> Option<&Site> {
        self.known.get(&id)
    }

    pub(super) fn remember_asked(&mut self, id: SiteId) {
        if self.asked.len() >= MAX_ASKED {
            // A site taken for new again gets one page out of turn, which is better than unbounded growth.
            self.asked.clear();
        }
        self.asked.insert(id);
    }

    pub(super) fn forget_asked(&mut self, id: SiteId) {
        self.get(id).asked = false;
        self.asked.remove(&id);
    }

    /// Drops sites without state.
    pub(super) fn prune(&mut self, now: Timestamp) {
        self.known.retain(|_, site| !site.is_forgettable(now));
    }
}
