//! Levels: the strategy of the World Wide Web Worm (McBryan 1994).
//!
//! `wwww archive levels HTML1 HTML2 …` reads the start pages and the pages they refer to, down to a number of levels
//! (here `crawl.max_depth`), and never again a page in the archive of the last run (here: a page visited before, even if a
//! visit is due again). Pages without referrers and deeper pages are not found.

use pharos_store::DuePage;
use pharos_store::catalog::DueOrder;

use super::{ReadySite, SiteRank, Strategy, SubQueue};

/// Level by level, and no page twice.
pub(crate) struct Worm;

impl Strategy for Worm {
    fn sub_queues(&self) -> &[SubQueue] {
        &[SubQueue { order: DueOrder::Nearest, share: 1 }]
    }

    fn admits(&self, page: &DuePage) -> bool {
        !page.visited
    }

    fn rank(&self, site: &ReadySite<'_>) -> SiteRank {
        SiteRank::class(site.next.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator::SimulatedWeb;
    use pharos_core::config::StrategyName;

    /// World Wide Web Worm (McBryan 1994): the number of levels limits the depth.
    #[test]
    fn pages_below_the_last_level_are_not_found() {
        let mut web = SimulatedWeb::chain(10);
        web.known("s/unreferenced-and-deep", 3);
        web.config.strategy = StrategyName::Worm;
        web.config.max_depth = 2;
        assert_eq!(web.crawl(&["s/0"]), ["s/0", "s/1", "s/2"]);
    }

    /// World Wide Web Worm (McBryan 1994): a page read once is never read again.
    #[test]
    fn visited_pages_are_not_fetched_again() {
        let mut web = SimulatedWeb::tree();
        web.config.strategy = StrategyName::Worm;
        assert_eq!(web.crawl(&["s/0"]).len(), 7);
        web.all_due_again();
        web.known("s/7", 1);
        assert_eq!(web.crawl(&[]), ["s/7"]);
        web.config.strategy = StrategyName::BreadthFirst;
        assert_eq!(web.crawl(&[]).len(), 7);
    }
}
