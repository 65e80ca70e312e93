//! Where sites wait: for the moment they may be asked again, for their turn, or for pages.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use pharos_core::{SiteId, Timestamp};

use super::site::{Site, Sites};
use super::strategy::{Overtaking, Rank, Strategy};

/// Every site stands in one of the lines, once, or in none.
pub(super) struct Lines {
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) overtaking: Overtaking,
    /// Sites that wait for their moment, the earliest first, and who came first.
    turns: BinaryHeap<Reverse<(Timestamp, u64, SiteId)>>,
    /// Sites whose moment has come, as the strategy ranks them, and who waited longest.
    ready: BinaryHeap<Reverse<(Rank, Timestamp, u64, SiteId)>>,
    /// Sites that have no pages here and may have some in the catalog.
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

    /// A site may be asked by so many requests at once from now on.
    pub(super) fn set_connections(&mut self, connections_per_host: usize) {
        self.connections_per_host = connections_per_host.max(1);
    }

    /// Puts a site where it belongs: where it waits for its moment or its turn if it has something to ask, among the
    /// hungry if it may have, and nowhere if it waits for something else or is asked as much as it may be.
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

    /// Its pages are to be drawn from the catalog.
    pub(super) fn starve(&mut self, id: SiteId, site: &mut Site) {
        site.waits = true;
        self.hungry.push_back(id);
    }

    /// Lets the strategy choose among the sites whose moment has come.
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

    /// The site that goes first.
    pub(super) fn first(&mut self) -> Option<SiteId> {
        self.ready.pop().map(|Reverse((.., id))| id)
    }

    pub(super) fn nobody_is_ready(&self) -> bool {
        self.ready.is_empty()
    }

    /// When the next site's moment comes.
    pub(super) fn next_moment(&self) -> Option<Timestamp> {
        self.turns.peek().map(|Reverse((at, ..))| *at)
    }

    /// Sites that wait for anything.
    pub(super) fn len(&self) -> usize {
        self.turns.len() + self.ready.len() + self.hungry.len()
    }
}
