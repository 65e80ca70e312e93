//! Importance first: even where not all pages can be had, all important ones are (003 part 1, D31).
//!
//! The importance of a page is I(P) = α·IB(P) + β·IL(P) (003 part 1, D30). IB is what links say of it: the predicted
//! weight, which knows how many pages refer to it, how good they are, whether its site is an important one and whether
//! it speaks the wanted language. IL is what its address says, by the 10-minus-depth rule (000 part 1, F8).
//! Pages are weighed anew in batches (D32), and the home page of every known site comes before deeper pages
//! (000 part 1, B7).

use pharos_store::{DueOrder, DuePage};

use super::strategy::{Candidate, Lane, Overtaking, Queued, Rank, Strategy};
use super::weight::{INITIAL_WEIGHT, initial_weight, is_home_page};

/// The scale of importance: that of predicted weights.
const SCALE: u64 = 1000;
/// Larger factors than this say no more than smaller ones.
const MAX_FACTOR: u32 = 1_000;

/// The most important first.
pub(crate) struct Importance {
    alpha: u64,
    beta: u64,
}

impl Importance {
    /// With the α and β of I(P), of which only the ratio counts.
    pub(crate) fn new(alpha: u32, beta: u32) -> Self {
        Self { alpha: alpha.min(MAX_FACTOR).into(), beta: beta.min(MAX_FACTOR).into() }
    }

    /// I(P), from 0 to 1,000.
    fn importance(&self, page: &DuePage) -> u32 {
        let popularity = u64::from(page.weight).min(SCALE);
        let form = u64::from(initial_weight(&page.url)) * SCALE / u64::from(INITIAL_WEIGHT);
        let sum = self.alpha * popularity + self.beta * form;
        u32::try_from(sum / (self.alpha + self.beta).max(1)).unwrap_or(u32::MAX)
    }

    fn place(&self, page: &DuePage) -> Rank {
        Rank { class: u32::from(!is_home_page(&page.url)), then: -i64::from(self.importance(page)) }
    }
}

impl Strategy for Importance {
    fn lanes(&self) -> &[Lane] {
        &[Lane { order: DueOrder::Heaviest, share: 1 }]
    }

    fn chunk(&self) -> usize {
        32
    }

    fn overtaking(&self) -> Overtaking {
        Overtaking::Sites
    }

    fn reorder(&self, drawn: &mut [Queued]) {
        drawn.sort_by_cached_key(|queued| self.place(&queued.page));
    }

    fn rank(&self, site: &Candidate<'_>) -> Rank {
        self.place(site.next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::{Web, due_page};
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
    fn the_important_page_is_fetched_first_whoever_has_it() {
        let mut web = Web::new(&[("a/", &["a/1", "a/2", "a/3"]), ("b/", &["b/1"])]);
        web.config.strategy = StrategyName::Importance;
        for (page, weight) in [("a/1", 10), ("a/2", 900), ("a/3", 400), ("b/1", 600)] {
            web.weigh(page, weight);
        }
        assert_eq!(web.crawl(&["a/", "b/"]), ["a/", "b/", "a/2", "b/1", "a/3", "a/1"]);
    }

    /// 000 part 1, B7.
    #[test]
    fn home_pages_of_known_sites_come_before_deeper_pages() {
        let mut web = Web::new(&[("a/", &["a/1", "a/2"]), ("a/1", &["b/", "b/x"]), ("b/", &["c/"])]);
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
