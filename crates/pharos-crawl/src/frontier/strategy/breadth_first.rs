//! Breadth first (宽度优先), the default: pages nearest to the seeds first.
//!
//! Important pages are near the seeds, every page has a short path, and a crawl that stays near its seeds is closed
//! (《走进搜索引擎》§2.4.2). Cycles end because every page is fetched once and the depth is limited, by default to 17.

use pharos_store::catalog::DueOrder;

use super::{ReadySite, SiteRank, Strategy, SubQueue};

/// Pages nearest to the seeds first, over all sites; within a depth the sites take turns.
pub(crate) struct BreadthFirst;

impl Strategy for BreadthFirst {
    fn sub_queues(&self) -> &[SubQueue] {
        &[SubQueue { order: DueOrder::Nearest, share: 1 }]
    }

    fn rank(&self, site: &ReadySite<'_>) -> SiteRank {
        SiteRank::class(site.next.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator::SimulatedWeb;

    /// 《走进搜索引擎》§2.4.2: breadth-first traversal.
    #[test]
    fn a_tree_with_a_link_back_is_walked_level_by_level_and_ends() {
        let mut web = SimulatedWeb::tree();
        assert_eq!(web.crawl(&["s/0"]), ["s/0", "s/1", "s/2", "s/3", "s/4", "s/5", "s/6"]);
        assert!(web.crawl(&[]).is_empty());
    }

    /// Survey of robot-based Web indexing and search, §3: choice of the next page.
    #[test]
    fn the_first_link_of_the_first_page_is_next() {
        let order = SimulatedWeb::discovery_example().crawl(&["one/a", "two/e"]);
        assert_eq!(order[..3], ["one/a", "two/e", "one/b"]);
        let mut candidates = order[2..].to_vec();
        candidates.sort();
        assert_eq!(candidates, ["one/b", "one/c", "two/d", "two/f"]);
    }

    #[test]
    fn a_near_page_of_one_site_comes_before_a_far_page_of_another() {
        let mut web = SimulatedWeb::new(&[("a/", &["a/1", "b/"]), ("a/1", &["a/2"]), ("b/", &["b/1"])]);
        assert_eq!(web.crawl(&["a/"]), ["a/", "b/", "a/1", "b/1", "a/2"]);
    }

    /// 《走进搜索引擎》§2.4.3: seventeen clicks, the diameter of the Web.
    #[test]
    fn the_links_of_a_page_at_depth_seventeen_are_left_to_other_seeds() {
        let mut chain = SimulatedWeb::chain(20);
        let order = chain.crawl(&["s/0"]);
        assert_eq!((order.len(), order.last().unwrap().as_str()), (18, "s/17"));
        assert_eq!(chain.crawl(&["s/18"]), ["s/18", "s/19", "s/20"]);
    }
}
