//! Hot clicks (热点击缓存; 《搜索引擎——原理、技术与系统》§9.3): click counts by page, independent of the query.
//!
//! Few pages get most clicks, largely independent of the query, so the page alone is the key. Everything is in
//! memory. Frequently clicked pages weigh more, as in Direct Hit.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::FixedState;
use parking_lot::RwLock;
use pharos_core::PageId;

use super::user_weight::ClickRules;

/// Maximum number of pages with click counts.
const MAX_PAGES: usize = 200_000;

/// The clicks of a page: before today, and today.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageClicks {
    pub(super) before: f64,
    pub(super) today: f64,
}

impl PageClicks {
    pub(super) fn total(&self, rules: &ClickRules) -> f64 {
        self.today + rules.decay.clamp(0.0, 1.0) * self.before
    }

    /// Ends a day: WUA = WUD₀ + k·WUA₁.
    pub(super) fn end_day(&mut self, rules: &ClickRules) {
        *self = Self { before: self.total(rules), today: 0.0 };
    }
}

/// Click counts by page.
#[derive(Debug, Default)]
pub(super) struct HotClicks {
    pages: RwLock<HashMap<PageId, PageClicks, FixedState>>,
    times: AtomicU64,
}

impl HotClicks {
    pub(super) fn click(&self, page: PageId, counts: f64) {
        let mut pages = self.pages.write();
        pages.entry(page).or_default().today += counts;
        drop_coldest(&mut pages, MAX_PAGES, |clicked| clicked.today + clicked.before);
        self.times.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end_day(&self, rules: &ClickRules) {
        let mut pages = self.pages.write();
        pages.values_mut().for_each(|clicked| clicked.end_day(rules));
    }

    /// Returns the total number of clicks.
    pub(super) fn times(&self) -> u64 {
        self.times.load(Ordering::Relaxed)
    }

    /// Returns the click totals of these pages.
    pub(super) fn totals(
        &self,
        of: impl Iterator<Item = PageId>,
        rules: &ClickRules,
    ) -> HashMap<PageId, f64> {
        let pages = self.pages.read();
        of.filter_map(|page| Some((page, pages.get(&page)?.total(rules)))).collect()
    }
}

/// Removes the tenth with the fewest clicks once there are more than `most` entries, so that eviction is not needed
/// at every click.
pub(super) fn drop_coldest<K: Eq + Hash, V, S: BuildHasher>(
    all: &mut HashMap<K, V, S>,
    most: usize,
    heat: impl Fn(&V) -> f64,
) {
    if all.len() <= most {
        return;
    }
    let mut heats: Vec<f64> = all.values().map(&heat).collect();
    let (_, limit, _) = heats.select_nth_unstable_by(most / 10, f64::total_cmp);
    let limit = *limit;
    // Among equal entries, only as many as necessary are removed.
    let mut left = all.len() - (most - most / 10);
    all.retain(|_, value| {
        let goes = left > 0 && heat(value) <= limit;
        left -= usize::from(goes);
        !goes
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coldest_tenth_goes_at_once() {
        let mut all: HashMap<u32, f64> = (0..101).map(|n| (n, f64::from(n))).collect();
        drop_coldest(&mut all, 101, |heat| *heat);
        assert_eq!(all.len(), 101);
        drop_coldest(&mut all, 100, |heat| *heat);
        assert!(all.len() == 90 && all.contains_key(&100) && !all.contains_key(&10));
        let mut alike: HashMap<u32, f64> = (0..101).map(|n| (n, 1.0)).collect();
        drop_coldest(&mut alike, 100, |heat| *heat);
        assert_eq!(alike.len(), 90, "not all of them");
    }
}
