//! Wait queues of sites: for the end of their delay, for their turn, or for a refill.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use pharos_core::{SiteId, Timestamp};

use super::site_queue::{SiteQueue, SiteQueues};
use super::strategy::{Preemption, SiteRank, Strategy};

/// The wait queues. Every site is in at most one of them, at most once.
pub(super) struct WaitQueues {
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) preemption: Preemption,
    /// Sites in their delay, by the end of it and then by arrival.
    delayed: BinaryHeap<Reverse<(Timestamp, u64, SiteId)>>,
    /// Sites that may be requested now, by strategy rank, waiting time and arrival.
    ready: BinaryHeap<Reverse<(SiteRank, Timestamp, u64, SiteId)>>,
    /// Sites without queued pages that may have due pages in the catalog.
    pub(super) to_refill: VecDeque<SiteId>,
    connections_per_host: usize,
    arrivals: u64,
    now: Timestamp,
}

impl WaitQueues {
    pub(super) fn new(strategy: Box<dyn Strategy>, connections_per_host: usize) -> Self {
        Self {
            preemption: strategy.preemption(),
            strategy,
            delayed: BinaryHeap::new(),
            ready: BinaryHeap::new(),
            to_refill: VecDeque::new(),
            connections_per_host: connections_per_host.max(1),
            arrivals: 0,
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
    pub(super) fn enqueue_site(&mut self, id: SiteId, site: &mut SiteQueue) {
        let one_by_one = self.preemption == Preemption::Pages;
        if site.is_queued
            || site.requests_in_progress >= self.connections_per_host
            || (one_by_one && site.unapplied > 0)
        {
            return;
        }
        let has_pages = !site.pages.is_empty() && !site.needs_robots;
        if has_pages || !site.robots_tasks.is_empty() {
            site.is_queued = true;
            self.arrivals += 1;
            if site.ready <= self.now {
                let rank = site.rank(self.strategy.as_ref());
                self.ready.push(Reverse((rank, site.ready, self.arrivals, id)));
            } else {
                self.delayed.push(Reverse((site.ready, self.arrivals, id)));
            }
        } else if site.pages.is_empty() && !site.exhausted && !site.suspended {
            self.enqueue_refill(id, site);
        }
    }

    /// Queues a site for a refill from the catalog.
    pub(super) fn enqueue_refill(&mut self, id: SiteId, site: &mut SiteQueue) {
        site.is_queued = true;
        self.to_refill.push_back(id);
    }

    /// Moves sites whose delay is over to the ready queue.
    pub(super) fn promote_ready(&mut self, sites: &SiteQueues, now: Timestamp) {
        self.now = now;
        while let Some(Reverse((at, arrivals, id))) =
            self.delayed.peek().copied().filter(|Reverse((at, ..))| *at <= now)
        {
            self.delayed.pop();
            let rank = sites.peek(id).map_or(SiteRank::FIRST, |site| site.rank(self.strategy.as_ref()));
            self.ready.push(Reverse((rank, at, arrivals, id)));
        }
    }

    /// Removes and returns the first ready site.
    pub(super) fn pop_ready(&mut self) -> Option<SiteId> {
        self.ready.pop().map(|Reverse((.., id))| id)
    }

    pub(super) fn has_no_ready_site(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns the end of the earliest delay.
    pub(super) fn next_ready_at(&self) -> Option<Timestamp> {
        self.delayed.peek().map(|Reverse((at, ..))| *at)
    }

    /// Returns the number of waiting sites.
    pub(super) fn len(&self) -> usize {
        self.delayed.len() + self.ready.len() + self.to_refill.len()
    }
}
