//! The strategy trait, its selection by configuration, and the admission of pages to a crawl.
//!
//! A strategy decides in which orders the pages of a site are read from the catalog, how many at once, and which
//! ready site goes first. It has no influence on when a site is ready: politeness takes precedence over every
//! strategy.

mod alternate;
mod breadth_first;
mod depth_first;
mod hot_queue;
mod importance;
mod site_first;
mod worm;

use std::collections::VecDeque;

use pharos_core::config::{CrawlConfig, RestartPolicy, StrategyName};
use pharos_core::{PageId, Timestamp};
use pharos_store::DuePage;
use pharos_store::catalog::DueOrder;

use alternate::Alternate;
use breadth_first::BreadthFirst;
use depth_first::DepthFirst;
use hot_queue::HotQueue;
use importance::Importance;
use site_first::SiteFirst;
use worm::Worm;

/// Upper bounds on the number of sub-queues and on the share of one.
const MAX_SUB_QUEUES: usize = 8;
const MAX_SHARE: u32 = 100;

/// Chooses the next page. `rank` and `reorder` must depend on their arguments alone, so that a crawl with the same
/// responses takes the same course.
pub(crate) trait Strategy: Send {
    /// Returns the sub-queues of a site, each read from the catalog in its own order.
    fn sub_queues(&self) -> &[SubQueue];

    /// Returns the number of pages read per refill: few where new pages must compete with queued ones.
    fn batch_size(&self) -> usize {
        256
    }

    /// Returns which discoveries overtake queued pages.
    fn preemption(&self) -> Preemption {
        Preemption::Nothing
    }

    /// Sorts pages of a refill by a key that the catalog does not have.
    fn reorder(&self, _drawn: &mut [QueuedPage]) {}

    /// Returns `true` if the strategy fetches this page. Other pages stay due in the catalog.
    fn admits(&self, _page: &DuePage) -> bool {
        true
    }

    /// Returns the rank of a ready site; among equals, the site that waited longest goes first.
    fn rank(&self, _site: &ReadySite<'_>) -> SiteRank {
        SiteRank::FIRST
    }
}

/// A sub-queue of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubQueue {
    /// Order in the catalog. The number of a random order is only a seed: no two refills are alike.
    pub(crate) order: DueOrder,
    /// Number of pages taken before the next sub-queue has its turn.
    pub(crate) share: usize,
}

/// Kinds of discoveries that overtake queued pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preemption {
    /// Nothing: new pages wait until the queue is empty.
    Nothing,
    /// Sites without work are refilled before any site is requested.
    Sites,
    /// As `Sites`, and new pages of the same site: the site is requested again only when all its outcomes are in the
    /// catalog, and refilled if they contained pages of it.
    Pages,
}

/// A ready site.
pub(crate) struct ReadySite<'a> {
    pub(crate) next: &'a DuePage,
    /// `true` if no page of the site was requested so far.
    pub(crate) is_new: bool,
}

/// Position among the ready sites; the smallest goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SiteRank {
    pub(crate) class: u32,
    pub(crate) then: i64,
}

impl SiteRank {
    /// Precedes everything else.
    pub(crate) const FIRST: SiteRank = SiteRank { class: 0, then: i64::MIN };

    /// Creates a rank from the class alone.
    pub(crate) fn class(class: u32) -> Self {
        Self { class, then: 0 }
    }
}

/// A page read from the catalog, with its precomputed id.
#[derive(Debug)]
pub(crate) struct QueuedPage {
    pub(crate) id: PageId,
    pub(crate) page: DuePage,
}

impl From<DuePage> for QueuedPage {
    fn from(page: DuePage) -> Self {
        Self { id: page.url.id(), page }
    }
}

/// Returns the configured strategy.
pub(crate) fn strategy_from_config(config: &CrawlConfig) -> Box<dyn Strategy> {
    match config.strategy {
        StrategyName::BreadthFirst => Box::new(BreadthFirst),
        StrategyName::DepthFirst => Box::new(DepthFirst),
        StrategyName::Importance => Box::new(Importance::new(config.alpha, config.beta)),
        StrategyName::Alternate => Box::new(Alternate::new(&config.alternate)),
        StrategyName::HotQueue => Box::new(HotQueue::new(&config.queue_ratio)),
        StrategyName::SiteFirst => Box::new(SiteFirst),
        StrategyName::Worm => Box::new(Worm),
    }
}

/// Decides which pages belong to a crawl.
///
/// Together with a strategy it gives the four restart modes of the RBSE spider (Eichmann 1994): from the seeds or
/// from all known unvisited pages, breadth first or depth first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageAdmission {
    max_depth: u32,
    /// Only pages discovered since then are fetched, and seeds.
    found_since: Option<Timestamp>,
}

impl PageAdmission {
    /// Returns the admission rules of a crawl that started at `started`.
    pub(crate) fn new(config: &CrawlConfig, started: Timestamp) -> Self {
        Self {
            max_depth: config.max_depth,
            found_since: (config.restart == RestartPolicy::Seeds).then_some(started),
        }
    }

    pub(crate) fn admits(&self, page: &DuePage) -> bool {
        let is_recent = self.found_since.is_none_or(|since| page.found_at >= since);
        page.depth <= self.max_depth && (is_recent || page.depth == 0)
    }
}

/// Builds sub-queues in these orders with the configured shares, bounded to at least one page each.
///
/// A sub-queue without a share gets one page; surplus shares are ignored.
pub(super) fn build_sub_queues(orders: impl IntoIterator<Item = DueOrder>, shares: &[u32]) -> Vec<SubQueue> {
    let share = |sub_queue| shares.get(sub_queue).copied().unwrap_or(1).clamp(1, MAX_SHARE) as usize;
    let sub_queue = |(number, order)| SubQueue { order, share: share(number) };
    orders.into_iter().take(MAX_SUB_QUEUES).enumerate().map(sub_queue).collect()
}

/// Returns the number of pages in as many whole rounds as fit into `about`, and in at least one.
pub(super) fn whole_rounds(sub_queues: &[SubQueue], about: usize) -> usize {
    let round = sub_queues.iter().map(|sub_queue| sub_queue.share).sum::<usize>().max(1);
    (about / round).max(1) * round
}

/// Merges sub-queues in rounds: the share of the first, the share of the second, and so on. An empty sub-queue is
/// skipped. No page is lost, and each sub-queue keeps its order.
pub(super) fn interleave(mut drawn: Vec<Vec<QueuedPage>>, sub_queues: &[SubQueue]) -> VecDeque<QueuedPage> {
    if drawn.len() == 1 {
        return drawn.pop().map(VecDeque::from).unwrap_or_default();
    }
    let mut queue = VecDeque::with_capacity(drawn.iter().map(Vec::len).sum());
    let mut rest: Vec<_> = drawn.into_iter().map(Vec::into_iter).collect();
    while rest.iter().any(|sub_queue| sub_queue.len() > 0) {
        for (number, sub_queue) in rest.iter_mut().enumerate() {
            let share = sub_queues.get(number).map_or(1, |sub_queue| sub_queue.share.max(1));
            queue.extend(sub_queue.take(share));
        }
    }
    queue
}

#[cfg(test)]
mod tests {
    use super::super::simulator::SimulatedWeb;
    use super::*;
    use proptest::prelude::*;

    fn queued(sub_queue: usize, number: usize) -> QueuedPage {
        QueuedPage::from(super::super::simulator::due_page(&format!("s{sub_queue}/{number}")))
    }

    proptest! {
        #[test]
        fn sub_queues_keep_order_and_ratio(
            lengths in proptest::collection::vec(0..40usize, 1..5),
            shares in proptest::collection::vec(0..12u32, 0..6),
        ) {
            let sub_queues = build_sub_queues(lengths.iter().map(|_| DueOrder::Nearest), &shares);
            let drawn = lengths.iter().enumerate();
            let drawn = drawn.map(|(sub_queue, n)| (0..*n).map(|k| queued(sub_queue, k)).collect()).collect();
            let merged: Vec<String> = interleave(drawn, &sub_queues).iter().map(|q| q.page.url.to_string()).collect();
            prop_assert_eq!(merged.len(), lengths.iter().sum::<usize>());
            for (sub_queue, length) in lengths.iter().enumerate() {
                let host = format!("//s{sub_queue}.");
                let own: Vec<&String> = merged.iter().filter(|url| url.contains(&host)).collect();
                let expected: Vec<String> = (0..*length).map(|n| format!("http:{host}example/{n}")).collect();
                prop_assert_eq!(own, expected.iter().collect::<Vec<_>>());
            }
            // While every sub-queue has pages, a round contains exactly the shares.
            let rounds = sub_queues.iter().zip(&lengths).map(|(sub_queue, n)| n / sub_queue.share).min().unwrap_or(0);
            for (sub_queue, SubQueue { share, .. }) in sub_queues.iter().enumerate() {
                let host = format!("//s{sub_queue}.");
                let head = &merged[..rounds * whole_rounds(&sub_queues, 0)];
                prop_assert_eq!(head.iter().filter(|url| url.contains(&host)).count(), rounds * share);
            }
        }
    }

    /// RBSE spider (Eichmann 1994): from a given page or from known unvisited pages, breadth first or limited depth
    /// first.
    #[test]
    fn the_four_restart_modes_of_the_rbse_spider() {
        let order = |strategy, restart| {
            let mut web = SimulatedWeb::new(&[("s/", &["s/1", "s/2"]), ("s/1", &["s/3"]), ("s/2", &["s/4"])]);
            web.known("s/old", 1);
            web.config = CrawlConfig { strategy, restart, ..web.config.clone() };
            web.crawl(&["s/"]).join(" ")
        };
        let (breadth, depth) = (StrategyName::BreadthFirst, StrategyName::DepthFirst);
        assert_eq!(order(breadth, RestartPolicy::Seeds), "s/ s/1 s/2 s/3 s/4");
        assert_eq!(order(depth, RestartPolicy::Seeds), "s/ s/2 s/4 s/1 s/3");
        assert_eq!(order(breadth, RestartPolicy::Known), "s/ s/old s/1 s/2 s/3 s/4");
        assert_eq!(order(depth, RestartPolicy::Known), "s/old s/ s/2 s/4 s/1 s/3");
    }

    #[test]
    fn every_strategy_fetches_every_page_once() {
        use StrategyName::*;
        for strategy in [BreadthFirst, DepthFirst, Importance, Alternate, HotQueue, SiteFirst, Worm] {
            let mut web = SimulatedWeb::discovery_example();
            web.config.strategy = strategy;
            let mut order = web.crawl(&["one/a", "two/e"]);
            order.sort();
            assert_eq!(order, ["one/a", "one/b", "one/c", "two/d", "two/e", "two/f"], "{strategy}");
            assert!(web.crawl(&[]).is_empty(), "{strategy}");
        }
    }

    #[test]
    fn pages_that_are_not_admitted_hide_no_others() {
        let mut web = SimulatedWeb::new(&[("s/", &["s/new"])]);
        for n in 0..1000 {
            web.known(&format!("s/old{n}"), 0);
        }
        web.known("s/seed", 0);
        web.config.max_depth = 1;
        web.config.restart = RestartPolicy::Seeds;
        let order = web.crawl(&["s/"]);
        assert_eq!(order.len(), 1003, "seeds of earlier crawls are seeds");
        let mut web = SimulatedWeb::new(&[("s/", &["s/new"])]);
        for n in 0..1000 {
            web.known(&format!("s/old{n}"), 1);
        }
        web.config.restart = RestartPolicy::Seeds;
        assert_eq!(web.crawl(&["s/"]), ["s/", "s/new"]);
    }
}
