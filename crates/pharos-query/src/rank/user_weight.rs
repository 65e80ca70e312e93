//! The weight WU that users give a page by clicking it (用户评价权值; 《搜索引擎——原理、技术与系统》 §10.3).
//!
//! A click counts more, the fewer people look where the page stood; what was clicked long ago counts less from day to day;
//! a page that is new to a query begins with a part of what the best one has. Only pages of one query are compared, and no
//! click at all weighs nothing.

use std::collections::HashMap;

use pharos_core::PageId;

/// What a click on the nth page of results counts (table 10-3): the first is looked at so much more often.
const COMPENSATION: [f64; 10] = [1.00, 3.88, 6.39, 9.46, 12.78, 16.31, 19.71, 23.65, 27.82, 40.00];

/// What users clicked, query by query: history and today (WUA₁ and WUD₀).
#[derive(Clone, Debug, Default)]
pub struct Clicks {
    queries: HashMap<String, HashMap<PageId, Clicked>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Clicked {
    before: f64,
    today: f64,
}

/// How clicks are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClickRules {
    /// What yesterday's clicks count today (k): 0 forgets, 1 never does.
    pub decay: f64,
    /// What a page without clicks begins with (l), as a part of the best.
    pub start: f64,
}

impl Clicks {
    /// Somebody asked this and chose a page from the nth page of results, counted from 1.
    pub fn click(&mut self, query: &str, page: PageId, nth: usize) {
        let compensation = COMPENSATION[nth.clamp(1, COMPENSATION.len()) - 1];
        let pages = self.queries.entry(pharos_text::normalise(query)).or_default();
        pages.entry(page).or_default().today += compensation;
    }

    /// A day is over: WUA = WUD₀ + k·WUA₁.
    pub fn end_day(&mut self, rules: &ClickRules) {
        for pages in self.queries.values_mut() {
            for clicked in pages.values_mut() {
                *clicked = Clicked { before: clicked.total(rules), today: 0.0 };
            }
        }
    }

    /// What the pages of one query weigh; `None` where nobody has clicked any.
    pub(crate) fn of(&self, query: &str, rules: ClickRules) -> Option<ClickWeights<'_>> {
        let pages = self.queries.get(&pharos_text::normalise(query))?;
        let most = pages.values().map(|clicked| clicked.total(&rules)).fold(0.0, f64::max);
        (most > 0.0).then_some(ClickWeights { pages, most, rules })
    }
}

impl Clicked {
    fn total(&self, rules: &ClickRules) -> f64 {
        self.today + rules.decay.clamp(0.0, 1.0) * self.before
    }
}

/// The clicks of one query.
pub(crate) struct ClickWeights<'c> {
    pages: &'c HashMap<PageId, Clicked>,
    most: f64,
    rules: ClickRules,
}

impl ClickWeights<'_> {
    /// WU = (WUA + WUC) / WUmax, where WUC = l·WUAmax for a page without clicks.
    pub(crate) fn weight(&self, page: PageId) -> f64 {
        match self.pages.get(&page) {
            Some(clicked) => clicked.total(&self.rules) / self.most,
            None => self.rules.start.clamp(0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::PageUrl;

    use super::*;

    const RULES: ClickRules = ClickRules { decay: 0.5, start: 0.1 };

    fn page(n: usize) -> PageId {
        PageUrl::parse(&format!("http://a.example/{n}")).unwrap().id()
    }

    #[test]
    fn a_click_far_behind_counts_more() {
        let mut clicks = Clicks::default();
        (0..4).for_each(|_| clicks.click("北京大学", page(1), 1));
        clicks.click("北京大学", page(2), 2);
        clicks.click("北京大学", page(3), 99);
        let weights = clicks.of("北京大学", RULES).unwrap();
        assert_eq!((weights.weight(page(3)), weights.weight(page(1))), (1.0, 0.1));
        assert_eq!(weights.weight(page(2)), 3.88 / 40.0);
        assert_eq!(weights.weight(page(9)), 0.1, "a new page begins with a part of the best");
        assert!(clicks.of("清华大学", RULES).is_none());
    }

    #[test]
    fn days_pass() {
        let mut clicks = Clicks::default();
        clicks.click("Olympics", page(1), 1);
        clicks.end_day(&RULES);
        clicks.end_day(&RULES);
        clicks.click("olympics", page(2), 1);
        // Day 2 had half of day 1, today has half of that.
        let weights = clicks.of("OLYMPICS", RULES).unwrap();
        assert_eq!((weights.weight(page(2)), weights.weight(page(1))), (1.0, 0.25));
    }
}
