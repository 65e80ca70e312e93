//! What is remembered of a site while it takes part.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use foldhash::fast::RandomState;
use pharos_core::{PageId, SiteId, Timestamp};

use super::RobotsErrand;
use super::strategy::{Candidate, Queued, Rank, Strategy};

/// Sites remembered as asked after there is nothing else to remember of them.
const MAX_ASKED: usize = 1 << 18;

#[derive(Default)]
pub(super) struct Site {
    pub(super) pages: VecDeque<Queued>,
    pub(super) errands: VecDeque<RobotsErrand>,
    /// Nothing is asked before this moment.
    pub(super) ready: Timestamp,
    pub(super) delay: Duration,
    pub(super) under_way: usize,
    pub(super) unabsorbed: usize,
    pub(super) parked: Vec<PageId>,
    /// Pages of the last draw that are not for this crawl.
    pub(super) passed_over: usize,
    /// Pages it may have here.
    pub(super) room: usize,
    /// A page of it was given.
    pub(super) asked: bool,
    /// Its pages wait until a robots.txt is known.
    pub(super) needs_robots: bool,
    /// The catalog has no more pages due, as far as we know.
    pub(super) dry: bool,
    /// Pages were found since it was drawn, and the strategy wants to see them first.
    pub(super) stale: bool,
    /// Set aside as a whole.
    pub(super) closed: bool,
    /// Stands in one of the lines.
    pub(super) waits: bool,
}

impl Site {
    /// Its place among the sites that may be asked now. A robots.txt goes before all pages.
    pub(super) fn rank(&self, strategy: &dyn Strategy) -> Rank {
        match self.pages.front() {
            Some(Queued { page, .. }) if self.errands.is_empty() => {
                strategy.rank(&Candidate { next: page, is_new: !self.asked && !page.visited })
            }
            _ => Rank::FIRST,
        }
    }

    /// Is there nothing about it to remember?
    pub(super) fn is_forgettable(&self, now: Timestamp) -> bool {
        let waits = self.waits || self.closed || self.needs_robots || self.ready > now;
        let has =
            self.under_way + self.unabsorbed + self.parked.len() + self.pages.len() + self.errands.len();
        !waits && has == 0
    }
}

/// The sites that take part.
pub(super) struct Sites {
    known: HashMap<SiteId, Site, RandomState>,
    /// Sites of which a page was given.
    asked: HashSet<SiteId, RandomState>,
    delay: Duration,
}

impl Sites {
    /// `delay` is the wait between requests to a site of which nothing better is known.
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
            // A site taken for a new one again gets one page out of turn: less harm than growing for ever.
            self.asked.clear();
        }
        self.asked.insert(id);
    }

    pub(super) fn forget_asked(&mut self, id: SiteId) {
        self.get(id).asked = false;
        self.asked.remove(&id);
    }

    /// Forgets sites of which there is nothing to remember.
    pub(super) fn prune(&mut self, now: Timestamp) {
        self.known.retain(|_, site| !site.is_forgettable(now));
    }
}
