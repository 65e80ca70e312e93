//! The frontier (待抓取队列): one page queue per site, refilled in batches from the catalog.
//!
//! A site takes part while it has work. It waits in a heap for the end of its delay. Sites whose delay is over wait
//! in a second heap, ordered by the strategy's [rank](strategy::SiteRank) and then by waiting time: politeness first,
//! then strategy, then fairness. The caller passes in the time and the pages.
//!
//! Every page returned by [`Frontier::next`] is *in progress* until [`Frontier::page_applied`]. A page in progress is
//! never returned again, even if the catalog still lists it as due.
//!
//! [`strategy`] defines the strategy trait and its implementations, [`weight`] the value of a page before and after
//! its first visit.

mod alternate;
mod breadth_first;
mod depth_first;
mod filling;
mod hot_queue;
mod importance;
mod lines;
#[cfg(test)]
mod simulator;
mod site;
mod site_first;
mod strategy;
#[cfg(test)]
mod tests;
pub mod weight;
mod worm;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::time::Duration;

use foldhash::fast::RandomState;
use pharos_core::{PageId, PageUrl, SiteId, Timestamp};
use pharos_store::{DueOrder, DuePage, Removal};

use lines::Lines;
use site::Sites;
pub(crate) use strategy::{Admission, Strategy, chosen};
use strategy::{Overtaking, Queued};

/// Maximum number of parked pages per site; beyond it the whole site is suspended.
const MAX_PARKED: usize = 1_024;

/// The next action of the crawl loop.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Fetch this page. The loop responds with `request_started`, `page_refused`, `park` or `fetch_robots_first`.
    Page(DuePage),
    /// Fetch a robots.txt. The loop responds with `request_started`.
    Robots(RobotsErrand),
    /// Read due pages of these sites and pass them to `refill`.
    Fill(Vec<Draw>),
    /// Wait until this time, or until an event arrives.
    Wait(Option<Timestamp>),
}

/// A request for due pages of a site: order and maximum number for each sub-queue.
#[derive(Debug, PartialEq)]
pub(crate) struct Draw {
    pub(crate) site: SiteId,
    pub(crate) lanes: Vec<(DueOrder, usize)>,
}

/// A pending robots.txt request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RobotsErrand {
    /// The robots.txt of the server whose pages depend on it.
    pub(crate) origin: PageUrl,
    /// The URL to request: `origin`, or the target of its redirects.
    pub(crate) ask: PageUrl,
    /// Number of redirects so far.
    pub(crate) hops: u32,
}

/// The pages of all active sites, and the order in which they are fetched.
pub(crate) struct Frontier {
    admission: Admission,
    sites: Sites,
    lines: Lines,
    releases: BinaryHeap<Reverse<(Timestamp, SiteId)>>,
    held: HashSet<PageId, RandomState>,
    fills: u64,
    given_since_fill: usize,
    queued: usize,
    under_way: usize,
    unabsorbed: usize,
}

impl Frontier {
    /// Creates an empty frontier. `delay` is the initial wait between requests to a site.
    pub(crate) fn new(
        strategy: Box<dyn Strategy>,
        admission: Admission,
        connections_per_host: usize,
        delay: Duration,
    ) -> Self {
        Self {
            admission,
            sites: Sites::new(delay),
            lines: Lines::new(strategy, connections_per_host),
            releases: BinaryHeap::new(),
            held: HashSet::default(),
            fills: 0,
            given_since_fill: 0,
            queued: 0,
            under_way: 0,
            unabsorbed: 0,
        }
    }

    /// Activates a site that has due pages in the catalog.
    pub(crate) fn wake(&mut self, id: SiteId) {
        let site = self.sites.get(id);
        site.dry = false;
        site.stale = self.lines.overtaking == Overtaking::Pages;
        self.lines.line_up(id, site);
    }

    /// Sets the number of concurrent requests per site.
    pub(crate) fn set_connections(&mut self, connections_per_host: usize) {
        self.lines.set_connections(connections_per_host);
    }

    /// Makes a page the next of its site regardless of the strategy, on an operator's request. A page in progress
    /// stays so.
    pub(crate) fn put_first(&mut self, page: DuePage) {
        let queued = Queued::from(page);
        let id = queued.id.site();
        let site = self.sites.get(id);
        let parked = site.parked.len();
        site.parked.retain(|page| *page != queued.id);
        if site.parked.len() < parked {
            site.closed = false;
            self.held.remove(&queued.id);
        }
        if self.held.contains(&queued.id) {
            return;
        }
        let before = site.pages.len();
        site.pages.retain(|other| other.id != queued.id);
        self.queued -= before - site.pages.len();
        site.pages.push_front(queued);
        self.queued += 1;
        self.lines.line_up(id, site);
    }

    /// Returns the next action.
    pub(crate) fn next(&mut self, now: Timestamp) -> Next {
        self.lines.call_up(&self.sites, now);
        loop {
            if self.is_time_to_fill() {
                return self.draw();
            }
            let Some(id) = self.lines.first() else { return Next::Wait(self.wakes_at()) };
            let site = self.sites.get(id);
            site.waits = false;
            if site.ready > now {
                self.lines.line_up(id, site);
                continue;
            }
            if let Some(errand) = site.errands.pop_front() {
                return Next::Robots(errand);
            }
            if site.stale && !site.closed {
                self.lines.starve(id, site);
                continue;
            }
            if !site.needs_robots
                && let Some(queued) = site.pages.pop_front()
            {
                site.unabsorbed += 1;
                if !std::mem::replace(&mut site.asked, true) {
                    self.sites.remember_asked(id);
                }
                self.queued -= 1;
                self.unabsorbed += 1;
                self.given_since_fill += 1;
                self.held.insert(queued.id);
                return Next::Page(queued.page);
            }
            self.lines.line_up(id, site);
        }
    }

    /// Removes queued pages of a removed page or site.
    pub(crate) fn forget(&mut self, removal: &Removal) {
        let (id, page) = match removal {
            Removal::Site(site) => (site.id(), None),
            Removal::Page(url) => (url.id().site(), Some(url.id())),
        };
        let site = self.sites.get(id);
        let before = site.pages.len();
        site.pages.retain(|queued| page.is_some_and(|page| queued.id != page));
        let dropped = before - site.pages.len();
        self.queued -= dropped;
        self.lines.line_up(id, site);
    }

    /// Records the start of a request to the site.
    pub(crate) fn started(&mut self, id: SiteId, now: Timestamp) {
        self.under_way += 1;
        let site = self.sites.get(id);
        site.under_way += 1;
        site.ready = site.ready.max(now.plus(site.delay));
        self.lines.line_up(id, site);
    }

    /// Records the end of a request to the site; the next may start `delay` later.
    pub(crate) fn ended(&mut self, id: SiteId, now: Timestamp, delay: Duration) {
        self.under_way = self.under_way.saturating_sub(1);
        let site = self.sites.get(id);
        site.under_way = site.under_way.saturating_sub(1);
        site.delay = delay;
        site.ready = site.ready.max(now.plus(delay));
        self.lines.line_up(id, site);
    }

    /// Records that the page just returned is refused. A record contains the reason.
    pub(crate) fn refused(&mut self, page: &DuePage) {
        let id = page.url.id().site();
        self.lines.line_up(id, self.sites.get(id));
    }

    /// Returns the page to its queue until the robots.txt of its server is known.
    pub(crate) fn robots_first(&mut self, page: DuePage, errand: RobotsErrand) {
        let id = self.put_back(page);
        self.sites.get(id).needs_robots = true;
        self.sites.forget_asked(id);
        self.errand(errand);
    }

    /// Returns the page to the front of its queue. The site is not requested before `until`.
    pub(crate) fn postpone(&mut self, page: DuePage, until: Timestamp) {
        let id = self.put_back(page);
        let site = self.sites.get(id);
        site.ready = site.ready.max(until);
        self.lines.line_up(id, site);
    }

    /// Makes the page just returned the next of its site again.
    fn put_back(&mut self, page: DuePage) -> SiteId {
        let queued = Queued::from(page);
        let id = queued.id.site();
        self.held.remove(&queued.id);
        self.settle(id);
        self.queued += 1;
        self.sites.get(id).pages.push_front(queued);
        id
    }

    /// Returns a robots.txt request to the queue. The site is not requested before `until`.
    pub(crate) fn postpone_errand(&mut self, errand: RobotsErrand, until: Timestamp) {
        let id = errand.ask.id().site();
        let site = self.sites.get(id);
        site.errands.push_front(errand);
        site.ready = site.ready.max(until);
        self.lines.line_up(id, site);
    }

    /// Queues a robots.txt request before all pages of the site.
    pub(crate) fn errand(&mut self, errand: RobotsErrand) {
        let id = errand.ask.id().site();
        let site = self.sites.get(id);
        site.errands.push_back(errand);
        self.lines.line_up(id, site);
    }

    /// Records that the robots.txt of a site is known.
    pub(crate) fn robots_known(&mut self, id: SiteId) {
        let site = self.sites.get(id);
        site.needs_robots = false;
        self.lines.line_up(id, site);
    }

    /// Parks the page just returned until `until`, or for the rest of the crawl. It stays due in the catalog.
    pub(crate) fn park(&mut self, page: &DuePage, until: Option<Timestamp>) {
        let id = page.url.id();
        self.settle(id.site());
        let site = self.sites.get(id.site());
        site.parked.push(id);
        if site.parked.len() >= MAX_PARKED {
            site.closed = true;
            let dropped = std::mem::take(&mut site.pages).len();
            self.queued -= dropped;
        }
        if let Some(until) = until {
            self.releases.push(Reverse((until, id.site())));
        }
        self.lines.line_up(id.site(), site);
    }

    /// Releases parked pages whose time has come. Returns the number of sites.
    pub(crate) fn release(&mut self, now: Timestamp) -> usize {
        let mut sites = 0;
        while let Some(Reverse((_, id))) = self.releases.peek().copied().filter(|Reverse((at, _))| *at <= now)
        {
            self.releases.pop();
            let site = self.sites.get(id);
            site.closed = false;
            let parked = std::mem::take(&mut site.parked);
            sites += usize::from(!parked.is_empty());
            for page in parked {
                self.held.remove(&page);
            }
            self.wake(id);
        }
        sites
    }

    /// Records that the catalog contains the outcome of this page.
    pub(crate) fn absorbed(&mut self, page: PageId) {
        if self.held.remove(&page) {
            self.settle(page.site());
            if self.lines.overtaking == Overtaking::Pages {
                self.lines.line_up(page.site(), self.sites.get(page.site()));
            }
        }
    }

    /// Returns `true` if no site waits, no request is in progress and every outcome is in the catalog.
    pub(crate) fn is_idle(&self) -> bool {
        self.lines.len() == 0 && self.under_way == 0 && self.unabsorbed == 0
    }

    /// Returns the number of queued pages.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Returns the number of sites that wait or have requests in progress.
    pub(crate) fn active_sites(&self) -> usize {
        self.lines.len() + self.under_way
    }

    /// Drops sites without state.
    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.sites.prune(now);
    }

    fn wakes_at(&self) -> Option<Timestamp> {
        let release = self.releases.peek().map(|Reverse((at, _))| *at);
        [self.lines.next_moment(), release].into_iter().flatten().min()
    }

    /// Decrements the counts of pages whose outcome is outstanding.
    fn settle(&mut self, id: SiteId) {
        self.unabsorbed = self.unabsorbed.saturating_sub(1);
        let site = self.sites.get(id);
        site.unabsorbed = site.unabsorbed.saturating_sub(1);
    }
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier")
            .field("sites_in_line", &self.lines.len())
            .field("queued", &self.queued)
            .field("under_way", &self.under_way)
            .field("unabsorbed", &self.unabsorbed)
            .field("held", &self.held.len())
            .finish()
    }
}
