//! Which page next, and when: one queue per site, filled in chunks from the catalog as a strategy says.
//!
//! A site takes part as long as it has something to do. It waits in a heap for the moment it may be asked again; those
//! whose moment has come wait in a second heap, where the strategy's [rank](strategy::Rank) decides who goes first, and
//! among equals who waited longest: that is politeness, then strategy, then fairness. No clock and no store in here:
//! the loop hands in the time and the pages.
//!
//! Every page that [`Frontier::next`] gives is *held* until [`Frontier::absorbed`], and a held page is never given
//! again, however often the catalog still calls it due.
//!
//! [`strategy`] is the contract of the strategies, each of which has a file of its own; [`weight`] is what a page is
//! worth before and after it was seen.

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

/// Pages of one site set aside; with more of them the whole site is.
const MAX_PARKED: usize = 1_024;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Ask for this page. The loop answers with `started`, `refused`, `park` or `robots_first`.
    Page(DuePage),
    /// Ask for a robots.txt. The loop answers with `started`.
    Robots(RobotsErrand),
    /// Read due pages of these sites and hand them to `fill`.
    Fill(Vec<Draw>),
    /// Nothing before this moment, or before something happens.
    Wait(Option<Timestamp>),
}

/// What to read of a site: a list of pages for each lane, in its order and up to its number.
#[derive(Debug, PartialEq)]
pub(crate) struct Draw {
    pub(crate) site: SiteId,
    pub(crate) lanes: Vec<(DueOrder, usize)>,
}

/// On the way to a server's rules.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RobotsErrand {
    /// The robots.txt of the server whose pages wait for it.
    pub(crate) origin: PageUrl,
    /// The address to ask now: the same, or where it was redirected to.
    pub(crate) ask: PageUrl,
    /// Redirects so far.
    pub(crate) hops: u32,
}

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
    /// `delay` is the wait between requests to a site of which nothing better is known.
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

    /// The catalog has pages of this site due.
    pub(crate) fn wake(&mut self, id: SiteId) {
        let site = self.sites.get(id);
        site.dry = false;
        site.stale = self.lines.overtaking == Overtaking::Pages;
        self.lines.line_up(id, site);
    }

    /// A site may be asked by so many requests at once from now on.
    pub(crate) fn set_connections(&mut self, connections_per_host: usize) {
        self.lines.set_connections(connections_per_host);
    }

    /// Makes a page the next of its site, whatever the strategy would say: an operator wants it now. One that is under way
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

    /// Drops what is queued of something that was taken out for good.
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

    /// A request to the site has begun.
    pub(crate) fn started(&mut self, id: SiteId, now: Timestamp) {
        self.under_way += 1;
        let site = self.sites.get(id);
        site.under_way += 1;
        site.ready = site.ready.max(now.plus(site.delay));
        self.lines.line_up(id, site);
    }

    /// A request to the site has ended; the next may begin `delay` later.
    pub(crate) fn ended(&mut self, id: SiteId, now: Timestamp, delay: Duration) {
        self.under_way = self.under_way.saturating_sub(1);
        let site = self.sites.get(id);
        site.under_way = site.under_way.saturating_sub(1);
        site.delay = delay;
        site.ready = site.ready.max(now.plus(delay));
        self.lines.line_up(id, site);
    }

    /// The page just given is not asked for; a record says so.
    pub(crate) fn refused(&mut self, page: &DuePage) {
        let id = page.url.id().site();
        self.lines.line_up(id, self.sites.get(id));
    }

    /// The page just given waits until the rules of its server are known.
    pub(crate) fn robots_first(&mut self, page: DuePage, errand: RobotsErrand) {
        let id = self.put_back(page);
        self.sites.get(id).needs_robots = true;
        self.sites.forget_asked(id);
        self.errand(errand);
    }

    /// The page just given stays the next of its site, which is not asked before then.
    pub(crate) fn postpone(&mut self, page: DuePage, until: Timestamp) {
        let id = self.put_back(page);
        let site = self.sites.get(id);
        site.ready = site.ready.max(until);
        self.lines.line_up(id, site);
    }

    /// Makes the page just given the next of its site again.
    fn put_back(&mut self, page: DuePage) -> SiteId {
        let queued = Queued::from(page);
        let id = queued.id.site();
        self.held.remove(&queued.id);
        self.settle(id);
        self.queued += 1;
        self.sites.get(id).pages.push_front(queued);
        id
    }

    /// The same for a robots.txt.
    pub(crate) fn postpone_errand(&mut self, errand: RobotsErrand, until: Timestamp) {
        let id = errand.ask.id().site();
        let site = self.sites.get(id);
        site.errands.push_front(errand);
        site.ready = site.ready.max(until);
        self.lines.line_up(id, site);
    }

    /// Asks a site for a robots.txt, before any page.
    pub(crate) fn errand(&mut self, errand: RobotsErrand) {
        let id = errand.ask.id().site();
        let site = self.sites.get(id);
        site.errands.push_back(errand);
        self.lines.line_up(id, site);
    }

    /// The rules that pages of a site waited for are known.
    pub(crate) fn robots_known(&mut self, id: SiteId) {
        let site = self.sites.get(id);
        site.needs_robots = false;
        self.lines.line_up(id, site);
    }

    /// Sets the page just given aside until then, or for good. It stays due in the catalog.
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

    /// Takes back pages that were set aside and whose time has come. Gives how many sites.
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

    /// What came of this page is in the catalog.
    pub(crate) fn absorbed(&mut self, page: PageId) {
        if self.held.remove(&page) {
            self.settle(page.site());
            if self.lines.overtaking == Overtaking::Pages {
                self.lines.line_up(page.site(), self.sites.get(page.site()));
            }
        }
    }

    /// Nothing waits, nothing is under way, everything given is absorbed.
    pub(crate) fn is_idle(&self) -> bool {
        self.lines.len() == 0 && self.under_way == 0 && self.unabsorbed == 0
    }

    /// Pages that wait for their turn.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Sites that wait for their turn or are being asked.
    pub(crate) fn active_sites(&self) -> usize {
        self.lines.len() + self.under_way
    }

    /// Forgets sites of which there is nothing to remember.
    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.sites.prune(now);
    }

    fn wakes_at(&self) -> Option<Timestamp> {
        let release = self.releases.peek().map(|Reverse((at, _))| *at);
        [self.lines.next_moment(), release].into_iter().flatten().min()
    }

    /// Nothing has to be awaited any more of a page that was given.
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
