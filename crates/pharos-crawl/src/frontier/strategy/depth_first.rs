//! Limited depth first (深度优先), the second mode of the RBSE spider (Eichmann 1994).
//!
//! The most recently discovered pages are followed first, down to the depth limit. It finds cross references that
//! breadth first reaches late, and suits small, deep sites.

use pharos_store::catalog::DueOrder;

use super::{Preemption, ReadySite, SiteRank, Strategy, SubQueue};

/// Deepest pages first, over all sites, then the most recently discovered.
pub(crate) struct DepthFirst;

impl Strategy for DepthFirst {
    fn sub_queues(&self) -> &[SubQueue] {
        &[SubQueue { order: DueOrder::Deepest, share: 1 }]
    }

    fn batch_size(&self) -> usize {
        16
    }

    fn preemption(&self) -> Preemption {
        Preemption::Pages
    }

    fn rank(&self, site: &ReadySite<'_>) -> SiteRank {
        SiteRank { class: u32::MAX - site.next.depth, then: -site.next.found_at.millis() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator::SimulatedWeb;
    use pharos_core::config::StrategyName;

    fn depth_first(mut web: SimulatedWeb) -> SimulatedWeb {
        web.config.strategy = StrategyName::DepthFirst;
        web
    }

    #[test]
    fn the_latest_discovery_is_followed_to_its_end() {
        let order = depth_first(SimulatedWeb::tree()).crawl(&["s/0"]);
        assert_eq!(order, ["s/0", "s/2", "s/6", "s/5", "s/1", "s/4", "s/3"]);
        let order = depth_first(SimulatedWeb::discovery_example()).crawl(&["one/a", "two/e"]);
        assert_eq!(order, ["one/a", "one/c", "one/b", "two/e", "two/f", "two/d"]);
    }

    #[test]
    fn it_turns_back_at_the_depth_limit() {
        let mut web = depth_first(SimulatedWeb::chain(20));
        web.config.max_depth = 3;
        assert_eq!(web.crawl(&["s/0"]), ["s/0", "s/1", "s/2", "s/3"]);
    }
}
