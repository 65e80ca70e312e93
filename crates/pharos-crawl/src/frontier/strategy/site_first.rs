//! New servers first, the strategy of WebCrawler (Pinkerton 1994).
//!
//! One page of each new site is fetched before anything else. When all known sites were visited, they take turns
//! until a new one appears. This covers many servers early and spreads the load.

use pharos_store::catalog::DueOrder;

use super::{Preemption, ReadySite, SiteRank, Strategy, SubQueue};

/// One page of every new site, then round robin.
pub(crate) struct SiteFirst;

impl Strategy for SiteFirst {
    fn sub_queues(&self) -> &[SubQueue] {
        &[SubQueue { order: DueOrder::Nearest, share: 1 }]
    }

    fn batch_size(&self) -> usize {
        64
    }

    fn preemption(&self) -> Preemption {
        Preemption::Sites
    }

    fn rank(&self, site: &ReadySite<'_>) -> SiteRank {
        SiteRank::class(u32::from(!site.is_new))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator::SimulatedWeb;
    use pharos_core::config::StrategyName;

    /// Survey of robot-based Web indexing and search, §3.3 (WebCrawler): a new server precedes the list.
    #[test]
    fn a_page_of_a_new_site_comes_before_anything_else() {
        let mut web = SimulatedWeb::new(&[
            ("a/", &["a/1", "a/2", "a/3"]),
            ("b/", &["b/1", "b/2"]),
            ("a/2", &["new/deep/page", "new/other"]),
        ]);
        web.config.strategy = StrategyName::SiteFirst;
        let order = web.crawl(&["a/", "b/"]);
        let expected =
            ["a/", "b/", "a/1", "b/1", "a/2", "new/deep/page", "b/2", "a/3", "new/other"].map(String::from);
        assert_eq!(order, expected);
    }

    /// Survey of robot-based Web indexing and search, §3.3: both servers were visited, so they take turns.
    #[test]
    fn known_sites_take_turns() {
        let mut web = SimulatedWeb::discovery_example();
        web.config.strategy = StrategyName::SiteFirst;
        assert_eq!(web.crawl(&["one/a", "two/e"]), ["one/a", "two/e", "one/b", "two/d", "one/c", "two/f"]);
    }
}
