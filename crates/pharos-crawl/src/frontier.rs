//! The frontier (待抓取队列): one page queue per site, refilled in batches from the catalog.
//!
//! A site takes part while it has work. It waits in a heap for the end of its delay. Sites whose delay is over wait
//! in a second heap, ordered by the strategy's rank and then by waiting time: politeness first,
//! then strategy, then fairness. The caller passes in the time and the pages.
//!
//! Every page returned by `Frontier::next` is *in progress* until `Frontier::page_applied`. A page in progress is
//! never returned again, even if the catalog still lists it as due.
//!
//! `strategy` defines the strategy trait and its implementations. The value of a page before and after its first visit
//! is computed by [`pharos_store::interpret::weight`].

mod refill;
#[cfg(test)]
mod simulator;
mod site_queue;
mod strategy;
#[cfg(test)]
mod tests;
mod wait_queues;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::time::Duration;

use foldhash::fast::RandomState;
use pharos_core::{PageId, PageUrl, SiteId, Timestamp};
use pharos_store::DuePage;
use pharos_store::catalog::{DueOrder, Removal};

use site_queue::SiteQueues;
pub(crate) use strategy::{PageAdmission, Strategy, strategy_from_config};
use strategy::{Preemption, QueuedPage};
use wait_queues::WaitQueues;

/// Maximum number of parked pages per site; beyond it the whole site is suspended.
const MAX_PARKED: usize = 1_024;

/// The next action of the crawl loop.
#[derive(Debug, PartialEq)]
pub(crate) enum NextAction {
    /// Fetch this page. The loop responds with `request_started`, `page_refused`, `park` or `fetch_robots_first`.
    Page(DuePage),
    /// Fetch a robots.txt. The loop responds with `request_started`.
    Robots(RobotsTask),
    /// Read due pages of these sites and pass them to `refill`.
    Refill(Vec<RefillRequest>),
    /// Wait until this time, or until an event arrives.
    Wait(Option<Timestamp>),
}

/// A request for due pages of a site: order and maximum number for each sub-queue.
#[derive(Debug, PartialEq)]
pub(crate) struct RefillRequest {
    pub(crate) site: SiteId,
    pub(crate) sub_queues: Vec<(DueOrder, usize)>,
}

/// A pending robots.txt request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RobotsTask {
    /// The robots.txt of the server whose pages depend on it.
    pub(crate) origin: PageUrl,
    /// The URL to request: `origin`, or the target of its redirects.
    pub(crate) url: PageUrl,
    /// Number of redirects so far.
    pub(crate) hops: u32,
}

/// The pages of all active sites, and the order in which they are fetched.
pub(crate) struct Frontier {
    admission: PageAdmission,
    sites: SiteQueues,
    queues: WaitQueues,
    releases: BinaryHeap<Reverse<(Timestamp, SiteId)>>,
    in_progress: HashSet<PageId, RandomState>,
    refills: u64,
    returned_since_refill: usize,
    queued: usize,
    requests_in_progress: usize,
    unapplied: usize,
}

impl Frontier {
    /// Creates an empty frontier. `delay` is the initial wait between requests to a site.
    pub(crate) fn new(
        strategy: Box<dyn Strategy>,
        admission: PageAdmission,
        connections_per_host: usize,
        delay: Duration,
    ) -> Self {
        Self {
            admission,
            sites: SiteQueues::new(delay),
            queues: WaitQueues::new(strategy, connections_per_host),
            releases: BinaryHeap::new(),
            in_progress: HashSet::default(),
            refills: 0,
            returned_since_refill: 0,
            queued: 0,
            requests_in_progress: 0,
            unapplied: 0,
        }
    }

    /// Activates a site that has due pages in the catalog.
    pub(crate) fn wake(&mut self, id: SiteId) {
        let site = self.sites.get(id);
        site.exhausted = false;
        site.stale = self.queues.preemption == Preemption::Pages;
        self.queues.enqueue_site(id, site);
    }

    /// Sets the number of concurrent requests per site.
    pub(crate) fn set_connections(&mut self, connections_per_host: usize) {
        self.queues.set_connections(connections_per_host);
    }

    /// Makes a page the next of its site regardless of the strategy, on an operator's request. A page in progress
    /// stays so.
    pub(crate) fn enqueue_first(&mut self, page: DuePage) {
        let queued = QueuedPage::from(page);
        let id = queued.id.site();
        let site = self.sites.get(id);
        let parked = site.parked.len();
        site.parked.retain(|page| *page != queued.id);
        if site.parked.len() < parked {
            site.suspended = false;
            self.in_progress.remove(&queued.id);
        }
        if self.in_progress.contains(&queued.id) {
            return;
        }
        let before = site.pages.len();
        site.pages.retain(|other| other.id != queued.id);
        self.queued -= before - site.pages.len();
        site.pages.push_front(queued);
        self.queued += 1;
        self.queues.enqueue_site(id, site);
    }

    /// Returns the next action.
    pub(crate) fn next(&mut self, now: Timestamp) -> NextAction {
        self.queues.promote_ready(&self.sites, now);
        loop {
            if self.is_refill_due() {
                return self.request_refill();
            }
            let Some(id) = self.queues.pop_ready() else { return NextAction::Wait(self.next_wakeup()) };
            let site = self.sites.get(id);
            site.is_queued = false;
            if site.ready > now {
                self.queues.enqueue_site(id, site);
                continue;
            }
            if let Some(task) = site.robots_tasks.pop_front() {
                return NextAction::Robots(task);
            }
            if site.stale && !site.suspended {
                self.queues.enqueue_refill(id, site);
                continue;
            }
            if !site.needs_robots
                && let Some(queued) = site.pages.pop_front()
            {
                site.unapplied += 1;
                if !std::mem::replace(&mut site.requested, true) {
                    self.sites.remember_requested(id);
                }
                self.queued -= 1;
                self.unapplied += 1;
                self.returned_since_refill += 1;
                self.in_progress.insert(queued.id);
                return NextAction::Page(queued.page);
            }
            self.queues.enqueue_site(id, site);
        }
    }

    /// Removes queued pages of a removed page or site.
    pub(crate) fn remove(&mut self, removal: &Removal) {
        let (id, page) = match removal {
            Removal::Site(site) => (site.id(), None),
            Removal::Page(url) => (url.id().site(), Some(url.id())),
        };
        let site = self.sites.get(id);
        let before = site.pages.len();
        site.pages.retain(|queued| page.is_some_and(|page| queued.id != page));
        let dropped = before - site.pages.len();
        self.queued -= dropped;
        self.queues.enqueue_site(id, site);
    }

    /// Records the start of a request to the site.
    pub(crate) fn request_started(&mut self, id: SiteId, now: Timestamp) {
        self.requests_in_progress += 1;
        let site = self.sites.get(id);
        site.requests_in_progress += 1;
        site.ready = site.ready.max(now.plus(site.delay));
        self.queues.enqueue_site(id, site);
    }

    /// Records the end of a request to the site; the next may start `delay` later.
    pub(crate) fn request_ended(&mut self, id: SiteId, now: Timestamp, delay: Duration) {
        self.requests_in_progress = self.requests_in_progress.saturating_sub(1);
        let site = self.sites.get(id);
        site.requests_in_progress = site.requests_in_progress.saturating_sub(1);
        site.delay = delay;
        site.ready = site.ready.max(now.plus(delay));
        self.queues.enqueue_site(id, site);
    }

    /// Records that the page just returned is refused. A record contains the reason.
    pub(crate) fn page_refused(&mut self, page: &DuePage) {
        let id = page.url.id().site();
        self.queues.enqueue_site(id, self.sites.get(id));
    }

    /// Returns the page to its queue until the robots.txt of its server is known.
    pub(crate) fn fetch_robots_first(&mut self, page: DuePage, task: RobotsTask) {
        let id = self.put_back(page);
        self.sites.get(id).needs_robots = true;
        self.sites.forget_requested(id);
        self.enqueue_robots(task);
    }

    /// Returns the page to the front of its queue. The site is not requested before `until`.
    pub(crate) fn postpone_page(&mut self, page: DuePage, until: Timestamp) {
        let id = self.put_back(page);
        let site = self.sites.get(id);
        site.ready = site.ready.max(until);
        self.queues.enqueue_site(id, site);
    }

    /// Makes the page just returned the next of its site again.
    fn put_back(&mut self, page: DuePage) -> SiteId {
        let queued = QueuedPage::from(page);
        let id = queued.id.site();
        self.in_progress.remove(&queued.id);
        self.mark_settled(id);
        self.queued += 1;
        self.sites.get(id).pages.push_front(queued);
        id
    }

    /// Returns a robots.txt request to the queue. The site is not requested before `until`.
    pub(crate) fn postpone_robots(&mut self, task: RobotsTask, until: Timestamp) {
        let id = task.url.id().site();
        let site = self.sites.get(id);
        site.robots_tasks.push_front(task);
        site.ready = site.ready.max(until);
        self.queues.enqueue_site(id, site);
    }

    /// Queues a robots.txt request before all pages of the site.
    pub(crate) fn enqueue_robots(&mut self, task: RobotsTask) {
        let id = task.url.id().site();
        let site = self.sites.get(id);
        site.robots_tasks.push_back(task);
        self.queues.enqueue_site(id, site);
    }

    /// Records that the robots.txt of a site is known.
    pub(crate) fn robots_known(&mut self, id: SiteId) {
        let site = self.sites.get(id);
        site.needs_robots = false;
        self.queues.enqueue_site(id, site);
    }

    /// Parks the page just returned until `until`, or for the rest of the crawl. It stays due in the catalog.
    pub(crate) fn park(&mut self, page: &DuePage, until: Option<Timestamp>) {
        let id = page.url.id();
        self.mark_settled(id.site());
        let site = self.sites.get(id.site());
        site.parked.push(id);
        if site.parked.len() >= MAX_PARKED {
            site.suspended = true;
            let dropped = std::mem::take(&mut site.pages).len();
            self.queued -= dropped;
        }
        if let Some(until) = until {
            self.releases.push(Reverse((until, id.site())));
        }
        self.queues.enqueue_site(id.site(), site);
    }

    /// Releases parked pages whose time has come. Returns the number of sites.
    pub(crate) fn release_parked(&mut self, now: Timestamp) -> usize {
        let mut sites = 0;
        while let Some(Reverse((_, id))) = self.releases.peek().copied().filter(|Reverse((at, _))| *at <= now)
        {
            self.releases.pop();
            let site = self.sites.get(id);
            site.suspended = false;
            let parked = std::mem::take(&mut site.parked);
            sites += usize::from(!parked.is_empty());
            for page in parked {
                self.in_progress.remove(&page);
            }
            self.wake(id);
        }
        sites
    }

    /// Returns the time at which the next parked page is considered again.
    pub(crate) fn next_release(&self) -> Option<Timestamp> {
        self.releases.peek().map(|Reverse((at, _))| *at)
    }

    /// Records that the catalog contains the outcome of this page.
    pub(crate) fn page_applied(&mut self, page: PageId) {
        if self.in_progress.remove(&page) {
            self.mark_settled(page.site());
            if self.queues.preemption == Preemption::Pages {
                self.queues.enqueue_site(page.site(), self.sites.get(page.site()));
            }
        }
    }

    /// Returns `true` if no site waits, no request is in progress and every outcome is in the catalog.
    pub(crate) fn is_idle(&self) -> bool {
        self.queues.len() == 0 && self.requests_in_progress == 0 && self.unapplied == 0
    }

    /// Returns the number of queued pages.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Returns the number of sites that wait or have requests in progress.
    pub(crate) fn active_sites(&self) -> usize {
        self.queues.len() + self.requests_in_progress
    }

    /// Drops sites without state.
    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.sites.prune(now);
    }

    fn next_wakeup(&self) -> Option<Timestamp> {
        let release = self.releases.peek().map(|Reverse((at, _))| *at);
        [self.queues.next_ready_at(), release].into_iter().flatten().min()
    }

    /// Decrements the counts of pages whose outcome is outstanding.
    fn mark_settled(&mut self, id: SiteId) {
        self.unapplied = self.unapplied.saturating_sub(1);
        let site = self.sites.get(id);
        site.unapplied = site.unapplied.saturating_sub(1);
    }
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier")
            .field("waiting_sites", &self.queues.len())
            .field("queued", &self.queued)
            .field("requests_in_progress", &self.requests_in_progress)
            .field("unapplied", &self.unapplied)
            .field("in_progress", &self.in_progress.len())
            .finish()
    }
}
