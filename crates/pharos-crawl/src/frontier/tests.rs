//! Properties of every strategy: no page twice, no site too soon, bounded memory.

use super::refill::{MAX_QUEUED, MAX_SITES_PER_REFILL};
use super::simulator::due_page;
use super::*;
use pharos_core::config::{CrawlConfig, StrategyName};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};

fn page(site: usize, number: usize) -> DuePage {
    due_page(&format!("s{site}/{number}"))
}

fn site(number: usize) -> SiteId {
    page(number, 0).url.id().site()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Pages that breadth first reads per refill.
const CHUNK: usize = 256;
const DELAY: Duration = Duration::from_millis(100);

fn with(config: &CrawlConfig, connections: usize, delay: Duration) -> Frontier {
    Frontier::new(
        strategy_from_config(config),
        PageAdmission::new(config, Timestamp::EPOCH),
        connections,
        delay,
    )
}

fn breadth_first(delay: Duration) -> Frontier {
    with(&CrawlConfig::default(), 1, delay)
}

fn frontier() -> Frontier {
    breadth_first(DELAY)
}

/// Refills every site from `catalog` on demand, then returns the next action.
fn next(frontier: &mut Frontier, catalog: &BTreeMap<SiteId, Vec<DuePage>>, now: Timestamp) -> NextAction {
    loop {
        match frontier.next(now) {
            NextAction::Refill(sites) => {
                for RefillRequest { site, sub_queues } in sites {
                    let due = |limit| catalog.get(&site).into_iter().flatten().take(limit).cloned().collect();
                    frontier.refill(site, sub_queues.into_iter().map(|(_, limit)| due(limit)).collect());
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
    assert_eq!(next(&mut frontier, &catalog, at(0)), NextAction::Page(page(1, 1)));
    frontier.request_started(site(1), at(0));
    assert_eq!(next(&mut frontier, &catalog, at(5000)), NextAction::Wait(None), "one request at a time");
    frontier.request_ended(site(1), at(5000), DELAY);
    assert_eq!(next(&mut frontier, &catalog, at(5099)), NextAction::Wait(Some(at(5100))));
    assert_eq!(next(&mut frontier, &catalog, at(5100)), NextAction::Page(page(1, 2)));
    frontier.request_started(site(1), at(5100));
    frontier.request_ended(site(1), at(5200), DELAY * 3);
    frontier.wake(site(1));
    // Only pages in progress are due, and that is detected before the delay is over.
    assert_eq!(next(&mut frontier, &catalog, at(5200)), NextAction::Wait(None));
}

#[test]
fn the_wait_outlasts_an_empty_queue() {
    let mut frontier = frontier();
    frontier.wake(site(1));
    let first = catalog(&[page(1, 1)]);
    assert_eq!(next(&mut frontier, &first, at(0)), NextAction::Page(page(1, 1)));
    frontier.request_started(site(1), at(0));
    frontier.request_ended(site(1), at(10), DELAY);
    assert_eq!(next(&mut frontier, &first, at(10)), NextAction::Wait(None));
    frontier.page_applied(page(1, 1).url.id());
    frontier.prune(at(20));
    frontier.wake(site(1));
    let second = catalog(&[page(1, 2)]);
    assert_eq!(next(&mut frontier, &second, at(20)), NextAction::Wait(Some(at(110))));
    assert_eq!(next(&mut frontier, &second, at(110)), NextAction::Page(page(1, 2)));
}

#[test]
fn requested_pages_come_first_and_once() {
    let pages: Vec<DuePage> = (0..5).map(|number| page(1, number)).collect();
    let (mut frontier, catalog) = (breadth_first(Duration::ZERO), catalog(&pages));
    frontier.wake(site(1));
    let mut given = Vec::new();
    for wanted in [None, Some(4), None, Some(4), None, None] {
        if let Some(number) = wanted {
            frontier.enqueue_first(page(1, number));
        }
        if let NextAction::Page(page) = next(&mut frontier, &catalog, at(0)) {
            frontier.request_started(site(1), at(0));
            frontier.request_ended(site(1), at(0), Duration::ZERO);
            given.push(page.url.to_string());
        }
    }
    let number = |n: usize| page(1, n).url.to_string();
    assert_eq!(given, [0, 4, 1, 2, 3].map(number), "a page in progress is not started again");
    // A parked page is taken back.
    let mut frontier = breadth_first(Duration::ZERO);
    frontier.wake(site(1));
    let NextAction::Page(first) = next(&mut frontier, &catalog, at(0)) else { panic!("a page is due") };
    frontier.park(&first, None);
    frontier.enqueue_first(first.clone());
    assert_eq!(next(&mut frontier, &catalog, at(0)), NextAction::Page(first));
    assert_eq!(frontier.queued(), 4);
}

#[test]
fn sites_take_turns() {
    let mut frontier = breadth_first(Duration::ZERO);
    let pages: Vec<DuePage> = (1..=3).flat_map(|s| (1..=3).map(move |n| page(s, n))).collect();
    let catalog = catalog(&pages);
    for s in 1..=3 {
        frontier.wake(site(s));
    }
    let mut order = Vec::new();
    while let NextAction::Page(page) = next(&mut frontier, &catalog, at(0)) {
        let id = page.url.id().site();
        frontier.request_started(id, at(0));
        frontier.request_ended(id, at(0), Duration::ZERO);
        order.push((1..=3).find(|s| site(*s) == id).unwrap());
    }
    assert_eq!(order, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
}

#[test]
fn robots_come_first_and_other_sites_go_on() {
    let mut frontier = frontier();
    let catalog = catalog(&[page(1, 1), page(2, 1)]);
    frontier.wake(site(1));
    let NextAction::Page(first) = next(&mut frontier, &catalog, at(0)) else { panic!() };
    let robots_txt = first.url.robots_txt();
    let task = RobotsTask { origin: robots_txt.clone(), url: robots_txt.clone(), hops: 0 };
    frontier.fetch_robots_first(first.clone(), task.clone());
    assert_eq!(next(&mut frontier, &catalog, at(0)), NextAction::Robots(task));
    frontier.request_started(site(1), at(0));
    frontier.request_ended(site(1), at(10), DELAY);
    // Redirected to another site: that site is requested at its own pace, and the pages keep waiting.
    let moved = RobotsTask { origin: robots_txt, url: page(2, 9).url.robots_txt(), hops: 1 };
    frontier.enqueue_robots(moved.clone());
    frontier.wake(site(2));
    assert_eq!(next(&mut frontier, &catalog, at(500)), NextAction::Robots(moved));
    frontier.request_started(site(2), at(500));
    frontier.request_ended(site(2), at(510), DELAY);
    assert_eq!(next(&mut frontier, &catalog, at(600)), NextAction::Wait(Some(at(610))));
    frontier.robots_known(site(1));
    assert_eq!(next(&mut frontier, &catalog, at(600)), NextAction::Page(first));
    assert_eq!(next(&mut frontier, &catalog, at(610)), NextAction::Page(page(2, 1)));
}

#[test]
fn parked_pages_do_not_hide_others_and_come_back() {
    let mut frontier = breadth_first(Duration::ZERO);
    let pages: Vec<DuePage> = (0..CHUNK + 5).map(|n| page(1, n)).collect();
    let catalog = catalog(&pages);
    frontier.wake(site(1));
    let mut given = 0;
    while let NextAction::Page(page) = next(&mut frontier, &catalog, at(0)) {
        frontier.park(&page, Some(at(1000)));
        given += 1;
    }
    assert_eq!(given, CHUNK + 5);
    assert!(frontier.is_idle());
    assert_eq!(frontier.next(at(0)), NextAction::Wait(Some(at(1000))));
    assert_eq!(frontier.release_parked(at(999)), 0);
    assert_eq!(frontier.release_parked(at(1000)), 1);
    assert_eq!(next(&mut frontier, &catalog, at(1000)), NextAction::Page(page(1, 0)));
}

#[test]
fn a_site_with_too_many_parked_pages_is_suspended() {
    let mut frontier = breadth_first(Duration::ZERO);
    let pages: Vec<DuePage> = (0..2 * MAX_PARKED).map(|n| page(1, n)).collect();
    let catalog = catalog(&pages);
    frontier.wake(site(1));
    let mut given = 0;
    while let NextAction::Page(page) = next(&mut frontier, &catalog, at(0)) {
        frontier.park(&page, None);
        given += 1;
    }
    assert_eq!(given, MAX_PARKED);
    frontier.wake(site(1));
    assert_eq!(next(&mut frontier, &catalog, at(0)), NextAction::Wait(None));
    assert!(frontier.is_idle() && frontier.queued() == 0);
}

#[test]
fn memory_is_bounded_with_many_sites() {
    let mut frontier = frontier();
    for s in 0..1000 {
        frontier.wake(site(s));
    }
    let NextAction::Refill(sites) = frontier.next(at(0)) else { panic!() };
    assert_eq!(sites.len(), MAX_SITES_PER_REFILL);
    assert_eq!(sites[0].sub_queues, [(DueOrder::Nearest, MAX_QUEUED / 1000)]);
}

proptest! {
    /// Under any sequence of events: no page is returned twice, no site is requested too soon or too often at once,
    /// and every page is returned in the end.
    #[test]
    fn invariants_hold_for_every_strategy(steps in proptest::collection::vec((0..5u8, 0..8usize, 0..150i64), 0..200), connections in 1..3usize, strategy in 0..7usize) {
        let pages: Vec<DuePage> = (0..3).flat_map(|s| (0..8).map(move |n| page(s, n))).collect();
        let mut due = catalog(&pages);
        use StrategyName::*;
            let strategy = [BreadthFirst, DepthFirst, Importance, Alternate, HotQueue, SiteFirst, Worm][strategy];
            let mut frontier = with(&CrawlConfig { strategy, ..CrawlConfig::default() }, connections, DELAY);
        for s in 0..3 {
            frontier.wake(site(s));
        }
        let (mut requests_in_progress, mut unapplied, mut now) = (Vec::<DuePage>::new(), Vec::<DuePage>::new(), 0);
        let mut ended = BTreeMap::new();
        let mut given = HashSet::new();
        let remaining = (0..400).map(|n| ([1, 0, 2, 1][n % 4], 0, 150));
        for (what, which, wait) in steps.into_iter().chain(remaining) {
            now += wait;
            match what {
                0 if !requests_in_progress.is_empty() => {
                    let page = requests_in_progress.remove(which % requests_in_progress.len());
                    frontier.request_ended(page.url.id().site(), at(now), DELAY);
                    ended.insert(page.url.id().site(), now);
                    unapplied.push(page);
                }
                2 if !unapplied.is_empty() => {
                    let page = unapplied.remove(which % unapplied.len());
                    due.entry(page.url.id().site()).or_default().retain(|p| *p != page);
                    frontier.page_applied(page.url.id());
                }
                3 => frontier.wake(site(which % 3)),
                4 => frontier.prune(at(now)),
                _ => {
                    if let NextAction::Page(page) = next(&mut frontier, &due, at(now)) {
                        let id = page.url.id().site();
                        prop_assert!(given.insert(page.url.id()), "{:?} twice", page.url);
                        prop_assert!(ended.get(&id).is_none_or(|end| now >= end + 100), "too soon");
                        frontier.request_started(id, at(now));
                        requests_in_progress.push(page);
                        prop_assert!(requests_in_progress.iter().filter(|p| p.url.id().site() == id).count() <= connections);
                    }
                }
            }
        }
        prop_assert_eq!(given.len(), pages.len());
        prop_assert!(frontier.is_idle() && frontier.queued() == 0 && frontier.in_progress.is_empty());
    }
}

/// An empty site is refilled although others have enough pages, and a new one is not forgotten.
#[test]
fn an_empty_site_is_refilled_in_time() {
    let mut frontier = breadth_first(Duration::ZERO);
    let pages: Vec<DuePage> = (0..1000).map(|n| page(1, n)).chain([page(2, 0)]).collect();
    let catalog = catalog(&pages);
    frontier.wake(site(1));
    for step in 0..CHUNK {
        let NextAction::Page(given) = next(&mut frontier, &catalog, at(0)) else { panic!() };
        let id = given.url.id().site();
        if id == site(2) {
            return;
        }
        frontier.request_started(id, at(0));
        frontier.request_ended(id, at(0), Duration::ZERO);
        if step == 10 {
            frontier.wake(site(2));
        }
    }
    panic!("the second site was never requested");
}

/// Returns the CPU time of this thread, so that other load on the machine matters little.
fn busy() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// `cargo test --release -p pharos-crawl --lib how_many_steps -- --ignored --nocapture`
///
/// A cycle is `next`, `request_started`, `request_ended` and `page_applied`, with its share of `refill`. Pages are
/// reused, so that none are created on the way.
#[test]
#[ignore = "a measurement"]
fn how_many_steps_a_second() {
    use StrategyName::*;
    const SITES: usize = 5_000;
    const PAGES: usize = 20;
    const CYCLES: usize = 2_000_000;
    let all = [BreadthFirst, DepthFirst, Importance, Alternate, HotQueue, SiteFirst, Worm];
    for (strategy, delay) in all.map(|strategy| (strategy, 0)).into_iter().chain([(BreadthFirst, 1000)]) {
        let config = CrawlConfig { strategy, ..CrawlConfig::default() };
        let mut frontier = with(&config, 1, Duration::from_millis(delay));
        let mut waiting: HashMap<SiteId, Vec<DuePage>, RandomState> =
            (0..SITES).map(|s| (site(s), (0..PAGES).map(|n| page(s, n)).collect())).collect();
        waiting.keys().for_each(|id| frontier.wake(*id));
        let (mut now, mut given) = (0, 0);
        let began = busy();
        while given < CYCLES {
            match frontier.next(at(now)) {
                NextAction::Page(page) => {
                    let id = page.url.id();
                    frontier.request_started(id.site(), at(now));
                    frontier.request_ended(id.site(), at(now), Duration::from_millis(delay));
                    frontier.page_applied(id);
                    waiting.entry(id.site()).or_default().push(page);
                    given += 1;
                }
                NextAction::Refill(requests) => {
                    for RefillRequest { site, sub_queues } in requests {
                        let pages = waiting.entry(site).or_default();
                        let drawn = sub_queues
                            .into_iter()
                            .map(|(_, n)| pages.split_off(pages.len().saturating_sub(n)));
                        let drawn = drawn.collect();
                        frontier.refill(site, drawn);
                    }
                }
                NextAction::Wait(until) => now = until.unwrap().millis(),
                NextAction::Robots(_) => unreachable!(),
            }
        }
        let rate = given as f64 / (busy() - began).as_secs_f64() / 1e6;
        println!(
            "{strategy:>13}, {delay:>4} ms delay: {rate:.2} million cycles a second, {} queued",
            frontier.queued()
        );
    }
}
