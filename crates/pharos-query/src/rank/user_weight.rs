//! The user weight WU of a page, derived from clicks (用户评价权值; 《搜索引擎——原理、技术与系统》§10.3).
//!
//! A click counts more on later result pages, which fewer users see. Clicks decay daily. A page that is new to a
//! query starts with a share of the best page. Only pages of one query are compared, and without clicks there is no
//! weight. A query without clicks uses the words of other queries that led to a page ([`ClickWords`]), and if there are
//! none, the clicks for any query ([`hot_clicks`]). For pages similar to one, the queries that led to it count.
//!
//! [`hot_clicks`]: super::hot_clicks
//!
//! Clicks are counted in memory by concurrent threads. The numbers of queries and of pages per query are bounded;
//! entries with the fewest clicks are evicted.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use pharos_core::PageId;
use pharos_core::config::RankConfig;
use pharos_mining::clicks::click_words::query_words;
use pharos_mining::clicks::learnt::LearntClicks;

use super::hot_clicks::{HotClicks, PageClicks, drop_coldest};

/// Weight of a click on the nth result page (table 10-3): the inverse of the relative number of views.
const COMPENSATION: [f64; 10] = [1.00, 3.88, 6.39, 9.46, 12.78, 16.31, 19.71, 23.65, 27.82, 40.00];

/// Maximum number of queries with click counts.
const MAX_QUERIES: usize = 100_000;

/// Maximum number of pages with click counts for each query.
const MAX_PAGES: usize = 1_000;

/// Maximum number of pages that are similar to one by common queries.
const MAX_SIMILAR: usize = 200;

/// Click counts by query: before today, and today (WUA₁ and WUD₀).
#[derive(Debug)]
pub struct Clicks {
    /// Distinguishes this instance from one that replaces it.
    instance: u64,
    queries: RwLock<HashMap<String, QueryClicks>>,
    hot: HotClicks,
    learnt: RwLock<Arc<LearntClicks>>,
    days: AtomicU64,
}

#[derive(Debug, Default)]
struct QueryClicks {
    pages: HashMap<PageId, PageClicks>,
    times: u64,
}

/// The parameters of click weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClickRules {
    /// Daily decay factor (k): 0 forgets immediately, 1 never.
    pub decay: f64,
    /// Initial weight of a page without clicks (l), as a share of the best.
    pub start: f64,
    /// Share of the weight for the words of queries that led to a page.
    pub words: f64,
}

impl ClickRules {
    /// Returns the rules of the settings.
    pub(crate) fn from_config(rank: &RankConfig) -> Self {
        Self { decay: rank.click_decay, start: rank.click_start, words: rank.click_words }
    }
}

/// A version of the click counts for one query. It changes when clicks have grown by a tenth, when a day ends, or
/// when the counts are replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClickStamp {
    instance: u64,
    days: u64,
    is_own: bool,
    steps: u64,
}

impl Default for Clicks {
    fn default() -> Self {
        static CREATED: AtomicU64 = AtomicU64::new(1);
        Self {
            instance: CREATED.fetch_add(1, Ordering::Relaxed),
            queries: RwLock::default(),
            hot: HotClicks::default(),
            learnt: RwLock::default(),
            days: AtomicU64::new(0),
        }
    }
}

impl Clicks {
    /// Records a click on a page from the nth result page of a query, counted from 1.
    pub fn click(&self, query: &str, page: PageId, nth: usize) {
        let compensation = COMPENSATION[nth.clamp(1, COMPENSATION.len()) - 1];
        let query = pharos_text::normalise(query);
        let mut queries = self.queries.write();
        let query_clicks = queries.entry(query).or_default();
        query_clicks.times += 1;
        query_clicks.pages.entry(page).or_default().today += compensation;
        drop_coldest(&mut query_clicks.pages, MAX_PAGES, |clicked| clicked.today + clicked.before);
        drop_coldest(&mut queries, MAX_QUERIES, |query_clicks| {
            query_clicks.pages.values().map(|clicked| clicked.today + clicked.before).sum()
        });
        drop(queries);
        self.hot.click(page, compensation);
    }

    /// Ends a day: WUA = WUD₀ + k·WUA₁.
    pub fn end_day(&self, rules: &ClickRules) {
        let mut queries = self.queries.write();
        queries
            .values_mut()
            .flat_map(|query_clicks| query_clicks.pages.values_mut())
            .for_each(|c| c.end_day(rules));
        drop(queries);
        self.hot.end_day(rules);
        self.days.fetch_add(1, Ordering::Relaxed);
    }

    /// Replaces what builds have learnt from clicks.
    pub fn set_learnt(&self, learnt: Arc<LearntClicks>) {
        if learnt.is_empty() && self.learnt.read().is_empty() {
            return;
        }
        *self.learnt.write() = learnt;
        // Scores computed before are outdated.
        self.days.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the relevance of pages for a query by the words of other queries that led to them.
    fn by_words(
        &self,
        query: &str,
        rules: &ClickRules,
        pages: impl Iterator<Item = PageId>,
    ) -> HashMap<PageId, f64> {
        let learnt = Arc::clone(&self.learnt.read());
        if rules.words <= 0.0 || learnt.words.is_empty() {
            return HashMap::new();
        }
        let query = query_words(&pharos_text::normalise(query));
        let relevance = |page| (page, learnt.words.relevance(&query, page));
        pages.map(relevance).filter(|(_, value)| *value > 0.0).collect()
    }

    /// Returns the pages that the queries of some pages led to as well, with their probabilities.
    pub(crate) fn similar_pages(&self, pages: &[PageId]) -> HashMap<PageId, f64> {
        let learnt = Arc::clone(&self.learnt.read());
        let mut similar: HashMap<PageId, f64> = HashMap::new();
        for (page, mass) in pages.iter().flat_map(|page| learnt.similar_pages(*page, MAX_SIMILAR)) {
            *similar.entry(page).or_default() += mass;
        }
        similar
    }

    /// Returns the click weights of pages similar to some pages, or `None` if no query led to others as well.
    pub(crate) fn weights_like(&self, pages: &[PageId], rules: &ClickRules) -> Option<ClickWeights> {
        let share = self.learnt.read().similarity_weight();
        ClickWeights::new(self.similar_pages(pages), share, rules)
    }

    /// Returns the click weights of pages for one query, or `None` if none of them has clicks.
    pub(crate) fn weights_for(
        &self,
        query: &str,
        rules: ClickRules,
        pages: impl Iterator<Item = PageId> + Clone,
    ) -> Option<ClickWeights> {
        if self.hot.times() == 0 && self.learnt.read().words.is_empty() {
            return None;
        }
        let queries = self.queries.read();
        let own = queries.get(&pharos_text::normalise(query)).map(|query_clicks| {
            let clicked = query_clicks.pages.iter();
            clicked.map(|(page, clicked)| (*page, clicked.total(&rules))).collect::<HashMap<PageId, f64>>()
        });
        drop(queries);
        let weights = |totals, share| ClickWeights::new(totals, share, &rules);
        own.and_then(|totals| weights(totals, 1.0))
            .or_else(|| weights(self.by_words(query, &rules, pages.clone()), rules.words))
            .or_else(|| weights(self.hot.totals(pages, &rules), 1.0))
    }

    /// Returns the current [`ClickStamp`].
    pub(crate) fn stamp(&self, query: &str) -> ClickStamp {
        let (instance, days) = (self.instance, self.days.load(Ordering::Relaxed));
        let all = self.hot.times();
        if all == 0 {
            return ClickStamp { instance, days, ..ClickStamp::default() };
        }
        let queries = self.queries.read();
        let own = queries.get(&pharos_text::normalise(query)).map(|query_clicks| query_clicks.times);
        ClickStamp { instance, days, is_own: own.is_some(), steps: growth_step(own.unwrap_or(all)) }
    }
}

/// Each of the first ten clicks is a step, then each growth by a tenth.
fn growth_step(times: u64) -> u64 {
    if times <= 10 { times } else { 10 + ((times as f64 / 10.0).ln() / 1.1f64.ln()) as u64 }
}

/// The click weights of pages for one query.
pub(crate) struct ClickWeights {
    totals: HashMap<PageId, f64>,
    most: f64,
    start: f64,
    share: f64,
}

impl ClickWeights {
    /// Creates the weights from totals, or returns `None` if no page has any. All weights are multiplied by `share`.
    fn new(totals: HashMap<PageId, f64>, share: f64, rules: &ClickRules) -> Option<Self> {
        let most = totals.values().copied().fold(0.0, f64::max);
        let (start, share) = (rules.start.clamp(0.0, 1.0), share.clamp(0.0, 1.0));
        (most > 0.0).then_some(Self { totals, most, start, share })
    }

    /// Returns WU = (WUA + WUC) / WUmax, where WUC = l·WUAmax for a page without clicks.
    pub(crate) fn weight(&self, page: PageId) -> f64 {
        self.share * self.totals.get(&page).map_or(self.start, |total| total / self.most)
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;
    use pharos_core::PageUrl;
    use pharos_mining::clicks::ClickGraphBuilder;
    use pharos_mining::clicks::days::MergedDays;
    use pharos_mining::clicks::learnt::LearntRules;

    use super::*;

    const RULES: ClickRules = ClickRules { decay: 0.5, start: 0.1, words: 0.5 };

    fn page(n: usize) -> PageId {
        PageUrl::parse(&format!("http://a.example/{n}")).unwrap().id()
    }

    fn weights(clicks: &Clicks, query: &str, pages: &[usize]) -> Option<ClickWeights> {
        clicks.weights_for(query, RULES, pages.iter().map(|n| page(*n)))
    }

    #[test]
    fn a_click_far_behind_counts_more() {
        let clicks = Clicks::default();
        (0..4).for_each(|_| clicks.click("北京大学", page(1), 1));
        clicks.click("北京大学", page(2), 2);
        clicks.click("北京大学", page(3), 99);
        let found = weights(&clicks, "北京大学", &[]).unwrap();
        assert_eq!((found.weight(page(3)), found.weight(page(1))), (1.0, 0.1));
        assert_eq!(found.weight(page(2)), 3.88 / 40.0);
        assert_eq!(found.weight(page(9)), 0.1, "a new page starts with a share of the best");
        assert!(weights(&clicks, "清华大学", &[]).is_none());
    }

    #[test]
    fn where_a_query_has_none_of_its_own_clicks_for_others_count() {
        let clicks = Clicks::default();
        (0..4).for_each(|_| clicks.click("lamp", page(1), 1));
        clicks.click("rock", page(1), 1);
        clicks.click("rock", page(2), 1);
        let found = weights(&clicks, "light", &[1, 2, 7]).unwrap();
        assert_eq!([1, 2, 7].map(|n| found.weight(page(n))), [1.0, 0.2, 0.1]);
        let found = weights(&clicks, "light", &[2, 7]).unwrap();
        assert_eq!(found.weight(page(2)), 1.0, "relative to the best of the matching pages");
        assert!(weights(&clicks, "light", &[7, 8]).is_none());
    }

    fn learnt(edges: &[(&str, &str, f32)]) -> Arc<LearntClicks> {
        let mut graph = ClickGraphBuilder::default();
        edges.iter().for_each(|(query, page, weight)| graph.add(query, page, *weight));
        let merged = MergedDays { graph: graph.finish(), ..MergedDays::default() };
        let mut config = Config::default();
        config.clicks.cutoff = 0;
        Arc::new(LearntClicks::new(merged, LearntRules::from_config(&config)))
    }

    #[test]
    fn pages_of_the_same_queries_have_weights_beside_a_page() {
        let clicks = Clicks::default();
        let url = |n: usize| format!("http://a.example/{n}");
        assert!(clicks.weights_like(&[page(1)], &RULES).is_none());
        clicks.set_learnt(learnt(&[("tea", &url(1), 1.0), ("tea", &url(2), 3.0), ("tea", &url(3), 1.0)]));
        let found = clicks.weights_like(&[page(1)], &RULES).unwrap();
        let expected = [2, 3, 9].map(|n| found.weight(page(n)));
        assert!(expected.iter().zip([0.3, 0.1, 0.03]).all(|(found, right)| (found - right).abs() < 1e-6));
        assert!(clicks.weights_like(&[page(9)], &RULES).is_none());
    }

    #[test]
    fn words_of_other_queries_count_for_a_query_without_clicks() {
        let clicks = Clicks::default();
        let url = |n: usize| format!("http://a.example/{n}");
        let before = clicks.stamp("tea");
        clicks.set_learnt(learnt(&[("green tea", &url(1), 3.0), ("black coffee", &url(2), 9.0)]));
        assert_ne!(clicks.stamp("tea"), before, "cached scores are outdated");
        clicks.click("black coffee", page(2), 1);
        let found = weights(&clicks, "tea", &[1, 2]).unwrap();
        assert_eq!([1, 2].map(|n| found.weight(page(n))), [0.5, 0.05]);
        let off = ClickRules { words: 0.0, ..RULES };
        let found = clicks.weights_for("tea", off, [page(1), page(2)].into_iter()).unwrap();
        assert_eq!([1, 2].map(|n| found.weight(page(n))), [0.1, 1.0], "only the clicks for any query");
    }

    #[test]
    fn days_pass() {
        let clicks = Clicks::default();
        clicks.click("Olympics", page(1), 1);
        clicks.end_day(&RULES);
        clicks.end_day(&RULES);
        clicks.click("olympics", page(2), 1);
        // Day 2 has half of day 1, today has half of that.
        let found = weights(&clicks, "OLYMPICS", &[]).unwrap();
        assert_eq!((found.weight(page(2)), found.weight(page(1))), (1.0, 0.25));
    }

    #[test]
    fn a_click_counts_by_how_few_look_there() {
        let shares = [47.3, 12.2, 7.4, 5.0, 3.7, 2.9, 2.4, 2.0, 1.7];
        for (compensation, share) in COMPENSATION.iter().zip(shares) {
            assert!((compensation - shares[0] / share).abs() < 0.006, "{compensation} for {share} %");
        }
        assert_eq!(COMPENSATION[9], 40.0, "set by hand: the ratio is 33.79");
    }

    #[test]
    fn decay_forgets_at_once_or_never() {
        for (decay, yesterday) in [(0.0, 0.0), (1.0, 1.0)] {
            let rules = ClickRules { decay, start: 0.0, words: 0.0 };
            let clicks = Clicks::default();
            clicks.click("a", page(1), 1);
            clicks.end_day(&rules);
            clicks.click("a", page(2), 1);
            let found = clicks.weights_for("a", rules, [page(1), page(2)].into_iter()).unwrap();
            assert_eq!((found.weight(page(1)), found.weight(page(2))), (yesterday, 1.0));
        }
    }

    #[test]
    fn stamps_change_when_clicks_have_grown_by_a_tenth() {
        let clicks = Clicks::default();
        let none = clicks.stamp("lamp");
        clicks.click("lamp", page(1), 1);
        let one = clicks.stamp("lamp");
        assert_ne!(none, one);
        (0..999).for_each(|_| clicks.click("lamp", page(1), 1));
        let thousand = clicks.stamp("lamp");
        clicks.click("lamp", page(1), 1);
        assert_eq!(clicks.stamp("lamp"), thousand);
        (0..100).for_each(|_| clicks.click("lamp", page(1), 1));
        assert_ne!(clicks.stamp("lamp"), thousand);
        let (other, before) = (Clicks::default(), clicks.stamp("rock"));
        assert_ne!(other.stamp("rock"), before);
        clicks.end_day(&RULES);
        assert_ne!(clicks.stamp("rock"), before);
    }

    #[test]
    fn threads_click_at_once_and_the_coldest_pages_are_forgotten() {
        let clicks = Clicks::default();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let clicks = &clicks;
                scope.spawn(move || {
                    (0..1_000).for_each(|n| clicks.click("lamp", page(thread * 1_000 + n), 1))
                });
            }
            (0..50).for_each(|_| clicks.click("lamp", page(0), 1));
        });
        let kept = clicks.queries.read()["lamp"].pages.len();
        assert!(kept <= MAX_PAGES, "{kept}");
        assert_eq!(weights(&clicks, "lamp", &[]).unwrap().weight(page(0)), 1.0);
    }
}
