//! Which page next, and when: one queue per site, filled in chunks from the catalog, breadth first.
//!
//! A site takes part as long as it has something to do. It waits for its *turn* in a heap ordered by the moment it
//! may be asked again, then by who waited longest: that is both politeness and fairness. No clock and no store in
//! here: the loop hands in the time and the pages.
//!
//! Every page that [`Frontier::next`] gives is *held* until [`Frontier::absorbed`], and a held page is never given
//! again, however often the catalog still calls it due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use pharos_core::{PageId, PageUrl, SiteId, Timestamp};
use pharos_store::{DuePage, Removal};

/// Pages of one site in memory.
const PER_SITE: usize = 256;
/// Pages of all sites in memory; when full, a site still gets one at a time.
const OVERALL: usize = 65_536;
/// Sites filled from the catalog in one go.
const FILLED_AT_ONCE: usize = 64;
/// Pages of one site set aside; with more of them the whole site is.
const MAX_PARKED: usize = 1_024;

/// What to do next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Ask for this page. The loop answers with `started`, `refused`, `park` or `robots_first`.
    Page(DuePage),
    /// Ask for a robots.txt. The loop answers with `started`.
    Robots(RobotsErrand),
    /// Read up to so many due pages of these sites and hand them to `fill`.
    Fill(Vec<(SiteId, usize)>),
    /// Nothing before this moment, or before something happens.
    Wait(Option<Timestamp>),
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

#[derive(Default)]
struct Site {
    pages: VecDeque<DuePage>,
    errands: VecDeque<RobotsErrand>,
    /// Nothing is asked before this moment.
    ready: Timestamp,
    delay: Duration,
    under_way: usize,
    unabsorbed: usize,
    parked: Vec<PageId>,
    /// Its pages wait until a robots.txt is known.
    needs_robots: bool,
    /// The catalog has no more pages due, as far as we know.
    dry: bool,
    /// Set aside as a whole.
    closed: bool,
    /// Stands in `turns` or `hungry`, once.
    waits: bool,
}

pub(crate) struct Frontier {
    sites: HashMap<SiteId, Site>,
    turns: BinaryHeap<Reverse<(Timestamp, u64, SiteId)>>,
    hungry: VecDeque<SiteId>,
    releases: BinaryHeap<Reverse<(Timestamp, SiteId)>>,
    held: HashSet<PageId>,
    connections_per_host: usize,
    delay: Duration,
    turn: u64,
    queued: usize,
    under_way: usize,
    unabsorbed: usize,
}

impl Frontier {
    /// `delay` is the wait between requests to a site of which nothing better is known.
    pub(crate) fn new(connections_per_host: usize, delay: Duration) -> Self {
        Self {
            sites: HashMap::new(),
            turns: BinaryHeap::new(),
            hungry: VecDeque::new(),
            releases: BinaryHeap::new(),
            held: HashSet::new(),
            connections_per_host: connections_per_host.max(1),
            delay,
            turn: 0,
            queued: 0,
            under_way: 0,
            unabsorbed: 0,
        }
    }

    /// The catalog has pages of this site due.
    pub(crate) fn wake(&mut self, id: SiteId) {
        self.site(id).dry = false;
        self.line_up(id);
    }

    pub(crate) fn next(&mut self, now: Timestamp) -> Next {
        while let Some(Reverse((at, _, id))) =
            self.turns.peek().copied().filter(|Reverse((at, ..))| *at <= now)
        {
            self.turns.pop();
            let site = self.site(id);
            site.waits = false;
            if site.ready > at {
                self.line_up(id);
                continue;
            }
            if let Some(errand) = site.errands.pop_front() {
                return Next::Robots(errand);
            }
            if !site.needs_robots
                && let Some(page) = site.pages.pop_front()
            {
                site.unabsorbed += 1;
                self.queued -= 1;
                self.unabsorbed += 1;
                self.held.insert(page.url.id());
                return Next::Page(page);
            }
            self.line_up(id);
        }
        if self.hungry.is_empty() {
            return Next::Wait(self.wakes_at());
        }
        let count = self.hungry.len().min(FILLED_AT_ONCE);
        let room = (OVERALL.saturating_sub(self.queued) / self.hungry.len()).clamp(1, PER_SITE);
        let fill = self.hungry.drain(..count).map(|id| {
            let site = self.sites.get(&id);
            // The catalog still calls these due.
            let held = site.map_or(0, |s| s.unabsorbed + s.parked.len());
            (id, room + held)
        });
        Next::Fill(fill.collect())
    }

    /// Pages the catalog gave for a site that `next` asked to fill. Gives how many are new.
    pub(crate) fn fill(&mut self, id: SiteId, due: Vec<DuePage>) -> usize {
        let held = &self.held;
        let new: VecDeque<DuePage> = due.into_iter().filter(|page| !held.contains(&page.url.id())).collect();
        let count = new.len();
        let site = self.site(id);
        site.waits = false;
        site.dry = count == 0;
        let replaced = std::mem::replace(&mut site.pages, new).len();
        self.queued = self.queued + count - replaced;
        self.line_up(id);
        count
    }

    /// Drops what is queued of something that was taken out for good.
    pub(crate) fn forget(&mut self, removal: &Removal) {
        let (id, page) = match removal {
            Removal::Site(site) => (site.id(), None),
            Removal::Page(url) => (url.id().site(), Some(url.id())),
        };
        let site = self.site(id);
        let before = site.pages.len();
        site.pages.retain(|queued| page.is_some_and(|page| queued.url.id() != page));
        let dropped = before - site.pages.len();
        self.queued -= dropped;
        self.line_up(id);
    }

    /// A request to the site has begun.
    pub(crate) fn started(&mut self, id: SiteId, now: Timestamp) {
        self.under_way += 1;
        let site = self.site(id);
        site.under_way += 1;
        site.ready = site.ready.max(now.plus(site.delay));
        self.line_up(id);
    }

    /// A request to the site has ended; the next may begin `delay` later.
    pub(crate) fn ended(&mut self, id: SiteId, now: Timestamp, delay: Duration) {
        self.under_way = self.under_way.saturating_sub(1);
        let site = self.site(id);
        site.under_way = site.under_way.saturating_sub(1);
        site.delay = delay;
        site.ready = site.ready.max(now.plus(delay));
        self.line_up(id);
    }

    /// The page just given is not asked for; a record says so.
    pub(crate) fn refused(&mut self, page: &DuePage) {
        self.line_up(page.url.id().site());
    }

    /// The page just given waits until the rules of its server are known.
    pub(crate) fn robots_first(&mut self, page: DuePage, errand: RobotsErrand) {
        let id = page.url.id().site();
        self.let_go(page.url.id());
        self.queued += 1;
        let site = self.site(id);
        site.pages.push_front(page);
        site.needs_robots = true;
        self.errand(errand);
    }

    /// Asks a site for a robots.txt, before any page.
    pub(crate) fn errand(&mut self, errand: RobotsErrand) {
        let id = errand.ask.id().site();
        self.site(id).errands.push_back(errand);
        self.line_up(id);
    }

    /// The rules that pages of a site waited for are known.
    pub(crate) fn robots_known(&mut self, id: SiteId) {
        self.site(id).needs_robots = false;
        self.line_up(id);
    }

    /// Sets the page just given aside until then, or for good. It stays due in the catalog.
    pub(crate) fn park(&mut self, page: &DuePage, until: Option<Timestamp>) {
        let id = page.url.id();
        self.unabsorbed = self.unabsorbed.saturating_sub(1);
        let site = self.site(id.site());
        site.unabsorbed = site.unabsorbed.saturating_sub(1);
        site.parked.push(id);
        if site.parked.len() >= MAX_PARKED {
            site.closed = true;
            let dropped = std::mem::take(&mut site.pages).len();
            self.queued -= dropped;
        }
        if let Some(until) = until {
            self.releases.push(Reverse((until, id.site())));
        }
        self.line_up(id.site());
    }

    /// Takes back pages that were set aside and whose time has come. Gives how many sites.
    pub(crate) fn release(&mut self, now: Timestamp) -> usize {
        let mut sites = 0;
        while let Some(Reverse((_, id))) = self.releases.peek().copied().filter(|Reverse((at, _))| *at <= now)
        {
            self.releases.pop();
            let site = self.site(id);
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
        if self.held.contains(&page) {
            self.let_go(page);
        }
    }

    /// Nothing waits, nothing is under way, everything given is absorbed.
    pub(crate) fn is_idle(&self) -> bool {
        self.turns.is_empty() && self.hungry.is_empty() && self.under_way == 0 && self.unabsorbed == 0
    }

    /// Pages that wait for their turn.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Sites that wait for their turn or are being asked.
    pub(crate) fn active_sites(&self) -> usize {
        self.turns.len() + self.hungry.len() + self.under_way
    }

    /// Forgets sites of which there is nothing to remember.
    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.sites.retain(|_, site| {
            site.waits
                || site.closed
                || site.needs_robots
                || site.under_way
                    + site.unabsorbed
                    + site.parked.len()
                    + site.pages.len()
                    + site.errands.len()
                    > 0
                || site.ready > now
        });
    }

    fn wakes_at(&self) -> Option<Timestamp> {
        let turn = self.turns.peek().map(|Reverse((at, ..))| *at);
        let release = self.releases.peek().map(|Reverse((at, _))| *at);
        [turn, release].into_iter().flatten().min()
    }

    fn let_go(&mut self, page: PageId) {
        self.held.remove(&page);
        self.unabsorbed = self.unabsorbed.saturating_sub(1);
        let site = self.site(page.site());
        site.unabsorbed = site.unabsorbed.saturating_sub(1);
    }

    fn site(&mut self, id: SiteId) -> &mut Site {
        let delay = self.delay;
        self.sites.entry(id).or_insert_with(|| Site { delay, ..Site::default() })
    }

    /// Puts a site where it belongs: in the heap if it has something to ask, among the hungry if it may have, and
    /// nowhere if it waits for something else or is asked as much as it may be.
    fn line_up(&mut self, id: SiteId) {
        let connections = self.connections_per_host;
        let turn = self.turn;
        let site = self.site(id);
        if site.waits || site.under_way >= connections {
            return;
        }
        let has_pages = !site.pages.is_empty() && !site.needs_robots;
        if has_pages || !site.errands.is_empty() {
            site.waits = true;
            let entry = Reverse((site.ready, turn, id));
            self.turns.push(entry);
            self.turn += 1;
        } else if site.pages.is_empty() && !site.dry && !site.closed {
            site.waits = true;
            self.hungry.push_back(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn page(site: usize, number: usize) -> DuePage {
        let url = PageUrl::parse(&format!("http://s{site}.example/{number}")).unwrap();
        DuePage { url, depth: 0, hops: 0, origin: None, attempts: 0 }
    }

    fn site(number: usize) -> SiteId {
        page(number, 0).url.id().site()
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    const DELAY: Duration = Duration::from_millis(100);

    fn frontier() -> Frontier {
        Frontier::new(1, DELAY)
    }

    /// Fills every site that asks from `catalog`, then gives what is next.
    fn next(frontier: &mut Frontier, catalog: &BTreeMap<SiteId, Vec<DuePage>>, now: Timestamp) -> Next {
        loop {
            match frontier.next(now) {
                Next::Fill(sites) => {
                    for (id, limit) in sites {
                        let due = catalog.get(&id).into_iter().flatten().take(limit).cloned().collect();
                        frontier.fill(id, due);
                    }
                }
                next => return next,
            }
        }
    }

    fn catalog(pages: &[DuePage]) -> BTreeMap<SiteId, Vec<DuePage>> {
        let mut catalog = BTreeMap::<_, Vec<_>>::new();
        for page in pages {
            catalog.entry(page.url.id().site()).or_default().push(page.clone());
        }
        catalog
    }

    #[test]
    fn a_site_waits_from_the_end_of_its_last_request() {
        let mut frontier = frontier();
        let catalog = catalog(&[page(1, 1), page(1, 2)]);
        frontier.wake(site(1));
        assert_eq!(next(&mut frontier, &catalog, at(0)), Next::Page(page(1, 1)));
        frontier.started(site(1), at(0));
        assert_eq!(next(&mut frontier, &catalog, at(5000)), Next::Wait(None), "one request at a time");
        frontier.ended(site(1), at(5000), DELAY);
        assert_eq!(next(&mut frontier, &catalog, at(5099)), Next::Wait(Some(at(5100))));
        assert_eq!(next(&mut frontier, &catalog, at(5100)), Next::Page(page(1, 2)));
        frontier.started(site(1), at(5100));
        frontier.ended(site(1), at(5200), DELAY * 3);
        frontier.wake(site(1));
        // Nothing but what is held is due, and that is seen before the delay is over.
        assert_eq!(next(&mut frontier, &catalog, at(5200)), Next::Wait(None));
    }

    #[test]
    fn the_wait_outlasts_a_site_that_ran_dry() {
        let mut frontier = frontier();
        frontier.wake(site(1));
        let first = catalog(&[page(1, 1)]);
        assert_eq!(next(&mut frontier, &first, at(0)), Next::Page(page(1, 1)));
        frontier.started(site(1), at(0));
        frontier.ended(site(1), at(10), DELAY);
        assert_eq!(next(&mut frontier, &first, at(10)), Next::Wait(None));
        frontier.absorbed(page(1, 1).url.id());
        frontier.prune(at(20));
        frontier.wake(site(1));
        let second = catalog(&[page(1, 2)]);
        assert_eq!(next(&mut frontier, &second, at(20)), Next::Wait(Some(at(110))));
        assert_eq!(next(&mut frontier, &second, at(110)), Next::Page(page(1, 2)));
    }

    #[test]
    fn sites_take_turns() {
        let mut frontier = Frontier::new(1, Duration::ZERO);
        let pages: Vec<DuePage> = (1..=3).flat_map(|s| (1..=3).map(move |n| page(s, n))).collect();
        let catalog = catalog(&pages);
        for s in 1..=3 {
            frontier.wake(site(s));
        }
        let mut order = Vec::new();
        while let Next::Page(page) = next(&mut frontier, &catalog, at(0)) {
            let id = page.url.id().site();
            frontier.started(id, at(0));
            frontier.ended(id, at(0), Duration::ZERO);
            order.push((1..=3).find(|s| site(*s) == id).unwrap());
        }
        assert_eq!(order, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn robots_come_first_and_other_sites_go_on() {
        let mut frontier = frontier();
        let catalog = catalog(&[page(1, 1), page(2, 1)]);
        frontier.wake(site(1));
        let Next::Page(first) = next(&mut frontier, &catalog, at(0)) else { panic!() };
        let robots_txt = first.url.robots_txt();
        let errand = RobotsErrand { origin: robots_txt.clone(), ask: robots_txt.clone(), hops: 0 };
        frontier.robots_first(first.clone(), errand.clone());
        assert_eq!(next(&mut frontier, &catalog, at(0)), Next::Robots(errand));
        frontier.started(site(1), at(0));
        frontier.ended(site(1), at(10), DELAY);
        // Redirected to another site: that one is asked in its own time, and pages wait still.
        let moved = RobotsErrand { origin: robots_txt, ask: page(2, 9).url.robots_txt(), hops: 1 };
        frontier.errand(moved.clone());
        frontier.wake(site(2));
        assert_eq!(next(&mut frontier, &catalog, at(500)), Next::Robots(moved));
        frontier.started(site(2), at(500));
        frontier.ended(site(2), at(510), DELAY);
        assert_eq!(next(&mut frontier, &catalog, at(600)), Next::Wait(Some(at(610))));
        frontier.robots_known(site(1));
        assert_eq!(next(&mut frontier, &catalog, at(600)), Next::Page(first));
        assert_eq!(next(&mut frontier, &catalog, at(610)), Next::Page(page(2, 1)));
    }

    #[test]
    fn pages_set_aside_do_not_hide_others_and_come_back() {
        let mut frontier = Frontier::new(1, Duration::ZERO);
        let pages: Vec<DuePage> = (0..PER_SITE + 5).map(|n| page(1, n)).collect();
        let catalog = catalog(&pages);
        frontier.wake(site(1));
        let mut given = 0;
        while let Next::Page(page) = next(&mut frontier, &catalog, at(0)) {
            frontier.park(&page, Some(at(1000)));
            given += 1;
        }
        assert_eq!(given, PER_SITE + 5);
        assert!(frontier.is_idle());
        assert_eq!(frontier.next(at(0)), Next::Wait(Some(at(1000))));
        assert_eq!(frontier.release(at(999)), 0);
        assert_eq!(frontier.release(at(1000)), 1);
        assert_eq!(next(&mut frontier, &catalog, at(1000)), Next::Page(page(1, 0)));
    }

    #[test]
    fn a_site_with_too_many_pages_set_aside_is_set_aside() {
        let mut frontier = Frontier::new(1, Duration::ZERO);
        let pages: Vec<DuePage> = (0..2 * MAX_PARKED).map(|n| page(1, n)).collect();
        let catalog = catalog(&pages);
        frontier.wake(site(1));
        let mut given = 0;
        while let Next::Page(page) = next(&mut frontier, &catalog, at(0)) {
            frontier.park(&page, None);
            given += 1;
        }
        assert_eq!(given, MAX_PARKED);
        frontier.wake(site(1));
        assert_eq!(next(&mut frontier, &catalog, at(0)), Next::Wait(None));
        assert!(frontier.is_idle() && frontier.queued() == 0);
    }

    #[test]
    fn memory_is_bounded_with_many_sites() {
        let mut frontier = frontier();
        for s in 0..1000 {
            frontier.wake(site(s));
        }
        let Next::Fill(sites) = frontier.next(at(0)) else { panic!() };
        assert_eq!(sites.len(), FILLED_AT_ONCE);
        assert_eq!(sites[0].1, OVERALL / 1000);
    }

    proptest! {
        /// Whatever happens in whatever order: no page is out twice, no site is asked too soon or too often at once,
        /// and in the end every page was given.
        #[test]
        fn promises_hold(steps in proptest::collection::vec((0..5u8, 0..8usize, 0..150i64), 0..200), connections in 1..3usize) {
            let pages: Vec<DuePage> = (0..3).flat_map(|s| (0..8).map(move |n| page(s, n))).collect();
            let mut due = catalog(&pages);
            let mut frontier = Frontier::new(connections, DELAY);
            for s in 0..3 {
                frontier.wake(site(s));
            }
            let (mut under_way, mut unabsorbed, mut now) = (Vec::<DuePage>::new(), Vec::<DuePage>::new(), 0);
            let mut ended = BTreeMap::new();
            let mut given = HashSet::new();
            let patience = (0..400).map(|n| ([1, 0, 2, 1][n % 4], 0, 150));
            for (what, which, wait) in steps.into_iter().chain(patience) {
                now += wait;
                match what {
                    0 if !under_way.is_empty() => {
                        let page = under_way.remove(which % under_way.len());
                        frontier.ended(page.url.id().site(), at(now), DELAY);
                        ended.insert(page.url.id().site(), now);
                        unabsorbed.push(page);
                    }
                    2 if !unabsorbed.is_empty() => {
                        let page = unabsorbed.remove(which % unabsorbed.len());
                        due.entry(page.url.id().site()).or_default().retain(|p| *p != page);
                        frontier.absorbed(page.url.id());
                    }
                    3 => frontier.wake(site(which % 3)),
                    4 => frontier.prune(at(now)),
                    _ => {
                        if let Next::Page(page) = next(&mut frontier, &due, at(now)) {
                            let id = page.url.id().site();
                            prop_assert!(given.insert(page.url.id()), "{:?} twice", page.url);
                            prop_assert!(ended.get(&id).is_none_or(|end| now >= end + 100), "too soon");
                            frontier.started(id, at(now));
                            under_way.push(page);
                            prop_assert!(under_way.iter().filter(|p| p.url.id().site() == id).count() <= connections);
                        }
                    }
                }
            }
            prop_assert_eq!(given.len(), pages.len());
            prop_assert!(frontier.is_idle() && frontier.queued() == 0 && frontier.held.is_empty());
        }
    }
}
