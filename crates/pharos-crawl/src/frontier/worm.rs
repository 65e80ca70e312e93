//! Levels: the way of the World Wide Web Worm (001 F113, F114).
//!
//! `wwww archive levels HTML1 HTML2 …` reads the start pages and what they refer to, down to a number of levels (here
//! `crawl.max_depth`), and never again what stands in the archive of the last run (here: what answered before, even
//! where a visit is due again). What nobody refers to, or what lies deeper, is not found (F116).

use pharos_store::{DueOrder, DuePage};

use super::strategy::{Candidate, Lane, Rank, Strategy};

/// Level by level, and nothing twice.
pub(crate) struct Worm;

impl Strategy for Worm {
    fn lanes(&self) -> &[Lane] {
        &[Lane { order: DueOrder::Nearest, share: 1 }]
    }

    fn admits(&self, page: &DuePage) -> bool {
        !page.visited
    }

    fn rank(&self, site: &Candidate<'_>) -> Rank {
        Rank::class(site.next.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::Web;
    use pharos_core::config::StrategyName;

    /// 001 F113, F116.
    #[test]
    fn what_is_deeper_than_the_levels_is_not_found() {
        let mut web = Web::chain(10);
        web.known("s/unreferenced-and-deep", 3);
        web.config.strategy = StrategyName::Worm;
        web.config.max_depth = 2;
        assert_eq!(web.crawl(&["s/0"]), ["s/0", "s/1", "s/2"]);
    }

    /// 001 F114.
    #[test]
    fn what_was_read_is_not_read_again() {
        let mut web = Web::tree();
        web.config.strategy = StrategyName::Worm;
        assert_eq!(web.crawl(&["s/0"]).len(), 7);
        web.all_due_again();
        web.known("s/7", 1);
        assert_eq!(web.crawl(&[]), ["s/7"]);
        web.config.strategy = StrategyName::BreadthFirst;
        assert_eq!(web.crawl(&[]).len(), 7);
    }
}
