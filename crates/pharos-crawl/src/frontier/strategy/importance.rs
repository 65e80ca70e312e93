//! Importance first: even if not all pages can be fetched, the important ones are (《走进搜索引擎》§2.4.4, 抓取优先策略).
//!
//! The importance of a page is I(P) = α·IB(P) + β·IL(P). IB is the popularity of the page: its predicted weight, from
//! the number and quality of referring pages, important sites and wanted languages. IL is the value of its URL by the
//! 10-minus-depth rule of TSE (《搜索引擎——原理、技术与系统》§3.5). Queues are reordered in batches (Cho, Garcia-Molina
//! & Page 1998). The home page of every known site precedes deeper pages.

use pharos_store::DuePage;
use pharos_store::catalog::DueOrder;

use super::{Preemption, QueuedPage, ReadySite, SiteRank, Strategy, SubQueue};
use pharos_store::interpret::weight::{INITIAL_WEIGHT, initial_weight, is_home_page};

/// Scale of importance: that of predicted weights.
const SCALE: u64 = 1000;
/// Upper bound on α and β.
const MAX_FACTOR: u32 = 1_000;

/// Most important page first.
pub(crate) struct Importance {
    alpha: u64,
    beta: u64,
}

impl Importance {
    /// Creates the strategy with the α and β of I(P). Only their ratio matters.
    pub(crate) fn new(alpha: u32, beta: u32) -> Self {
        Self { alpha: alpha.min(MAX_FACTOR).into(), beta: beta.min(MAX_FACTOR).into() }
    }

    /// Returns I(P), from 0 to 1,000.
    fn importance(&self, page: &DuePage) -> u32 {
        let popularity = u64::from(page.weight).min(SCALE);
        let form = u64::from(initial_weight(&page.url)) * SCALE / u64::from(INITIAL_WEIGHT);
        let sum = self.alpha * popularity + self.beta * form;
        u32::try_from(sum / (self.alpha + self.beta).max(1)).unwrap_or(u32::MAX)
    }

    fn rank_page(&self, page: &DuePage) -> SiteRank {
        SiteRank { class: u32::from(!is_home_page(&page.url)), then: -i64::from(self.importance(page)) }
    }
}

impl Strategy for Importance {
    fn sub_queues(&self) -> &[SubQueue] {
        &[SubQueue { order: DueOrder::Heaviest, share: 1 }]
    }

    fn batch_size(&self) -> usize {
        32
    }

    fn preemption(&self) -> Preemption {
        Preemption::Sites
    }

    fn reorder(&self, drawn: &mut [QueuedPage]) {
        drawn.sort_by_cached_key(|queued| self.rank_page(&queued.page));
    }

    fn rank(&self, site: &ReadySite<'_>) -> SiteRank {
        self.rank_page(site.next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator::{SimulatedWeb, due_page};
    use super::*;
    use pharos_core::config::StrategyName;

    #[test]
    fn importance_is_linear_in_popularity_and_form() {
        let page = |url: &str, weight| DuePage { weight, ..due_page(url) };
        let both = Importance::new(1, 1);
        assert_eq!(both.importance(&page("s/", 500)), (500 + 1000) / 2);
        assert_eq!(both.importance(&page("s/a/b", 500)), (500 + 800) / 2);
        assert_eq!(Importance::new(1, 0).importance(&page("s/a/b", 500)), 500);
        assert_eq!(Importance::new(0, 7).importance(&page("s/a/b", 500)), 800);
        assert_eq!(Importance::new(3, 1).importance(&page("s/a/b", 500)), (3 * 500 + 800) / 4);
        assert_eq!(Importance::new(u32::MAX, u32::MAX).importance(&page("s/", u32::MAX)), 1000);
        assert_eq!(Importance::new(0, 0).importance(&page("s/", 1000)), 0);
    }

    #[test]
    fn the_most_important_page_of_all_sites_is_fetched_first() {
        let mut web = SimulatedWeb::new(&[("a/", &["a/1", "a/2", "a/3"]), ("b/", &["b/1"])]);
        web.config.strategy = StrategyName::Importance;
        for (page, weight) in [("a/1", 10), ("a/2", 900), ("a/3", 400), ("b/1", 600)] {
            web.weigh(page, weight);
        }
        assert_eq!(web.crawl(&["a/", "b/"]), ["a/", "b/", "a/2", "b/1", "a/3", "a/1"]);
    }

    /// 《搜索引擎——原理、技术与系统》§2.5: home pages first.
    #[test]
    fn home_pages_of_known_sites_come_before_deeper_pages() {
        let mut web = SimulatedWeb::new(&[("a/", &["a/1", "a/2"]), ("a/1", &["b/", "b/x"]), ("b/", &["c/"])]);
        web.config.strategy = StrategyName::Importance;
        web.weigh("a/2", 1000);
        web.weigh("a/1", 1000);
        web.weigh("b/x", 1000);
        web.weigh("b/", 1);
        let order = web.crawl(&["a/"]);
        let place = |page: &str| order.iter().position(|p| p == page).unwrap();
        assert!(place("b/") == place("a/1") + 1 && place("c/") == place("b/") + 1, "{order:?}");
    }
}
