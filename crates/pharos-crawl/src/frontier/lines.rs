//! Where sites wait: for the end of their delay, for their turn, or for a refill.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use pharos_core::{SiteId, Timestamp};

use super::site::{Site, Sites};
use super::strategy::{Overtaking, Rank, Strategy};

/// The wait queues. Every site is in at most one of them, at most once.
pub(super) struct Lines {
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) overtaking: Overtaking,
    /// Sites in their delay, by the end of it and then by arrival.
    turns: BinaryHeap<Reverse<(Timestamp, u64, SiteId)>>,
    /// Sites that may be requested now, by strategy rank, waiting time and arrival.
    ready: BinaryHeap<Reverse<(Rank, Timestamp, u64, SiteId)>>,
    /// Sites without queued pages that may have due pages in the catalog.
    pub(super) hungry: VecDeque<SiteId>,
    connections_per_host: usize,
    came: u64,
    now: Timestamp,
}

impl Lines {
    pub(super) fn new(strategy: Box<dyn Strategy>, connections_per_host: usize) -> Self {
        Self {
            overtaking: strategy.overtaking(),
            strategy,
            turns: BinaryHeap::new(),
            ready: BinaryHeap::new(),
            hungry: VecDeque::new(),
            connections_per_host: connections_per_host.max(1),
            came: 0,
            now: Timestamp::EPOCH,
        }
    }

    /// Sets the number of concurrent requests per site.
    pub(super) fn set_connections(&mut self, connections_per_host: usize) {
        self.connections_per_host = connections_per_host.max(1);
    }

    /// Adds a site to the queue it belongs to.
    ///
    /// A site with queued work waits for its delay or its turn, and an empty one for a refill. A site that waits for
    /// something else, or has the maximum number of concurrent requests, is in no queue.
    pub(super) fn line_up(&mut self, id: SiteId, site: &mut Site) {
        let one_by_one = self.overtaking == Overtaking::Pages;
        if site.waits || site.under_way >= self.connections_per_host || (one_by_one && site.unabsorbed > 0) {
            return;
        }
        let has_pages = !site.pages.is_empty() && !site.needs_robots;
        if has_pages || !site.errands.is_empty() {
            site.waits = true;
            self.came += 1;
            if site.ready <= self.now {
                let rank = site.rank(self.strategy.as_ref());
                self.ready.push(Reverse((rank, site.ready, self.came, id)));
            } else {
                self.turns.push(Reverse((site.ready, self.came, id)));
            }
        } else if site.pages.is_empty() && !site.dry && !site.closed {
            self.starve(id, site);
        }
    }

    /// Queues a site for a refill from the catalog.
    pub(super) fn starve(&mut self, id: SiteId, site: &mut Site) {
        site.waits = true;
        self.hungry.push_back(id);
    }

    /// Moves sites whose delay is over to the ready queue.
    pub(super) fn call_up(&mut self, sites: &Sites, now: Timestamp) {
        self.now = now;
        while let Some(Reverse((at, came, id))) =
            self.turns.peek().copied().filter(|Reverse((at, ..))| *at <= now)
        {
            self.turns.pop();
            let rank = sites.peek(id).map_or(Rank::FIRST, |site| site.rank(self.strategy.as_ref()));
            self.ready.push(Reverse((rank, at, came, id)));
        }
    }

    /// Removes and returns the first ready site.
    pub(super) fn first(&mut self) -> Option<SiteId> {
        self.ready.pop().map(|Reverse((.., id))| id)
    }

    pub(super) fn nobody_is_ready(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns the end of the earliest delay.
    pub(super) fn next_moment(&self) -> Option<Timestamp> {
        self.turns.peek().map(|Reverse((at, ..))| *at)
    }

    /// Returns the number of waiting sites.
    pub(super) fn len(&self) -> usize {
        self.turns.len() + self.ready.len() + self.hungry.len()
    }
}
