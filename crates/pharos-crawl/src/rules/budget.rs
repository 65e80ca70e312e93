//! Site budgets: limits the number of pages of crawler traps, which generate endless pages with the same content.
//!
//! A site starts with a budget, and every page with new content enlarges it: a site with content never exhausts its
//! budget, a calendar does. New content is detected by sketches of the text (simhash: Charikar 2002; Manku, Jain &
//! Das Sarma 2007), so that pages which differ only in a date count as one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZeroUsize;

use lru::LruCache;
use pharos_core::{PageId, SiteId};

/// Number of sketches per site that new ones are compared with.
const MAX_SKETCHES: usize = 256;
/// Maximum Hamming distance of near-duplicate sketches.
const NEAR_DISTANCE: u32 = 6;
/// Number of pages that each new text adds to the budget.
const PAGES_PER_TEXT: u64 = 10;
/// Number of words of a text used for its sketch.
const SKETCH_WORDS: usize = 1_024;
/// Maximum number of sites; the least recently used are evicted.
const MAX_SITES: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

/// Pages and distinct texts of one site.
#[derive(Default)]
struct SiteContent {
    pages: u64,
    texts: u64,
    sketches: VecDeque<u64>,
}

/// The budgets of all sites.
pub(crate) struct SiteBudgets {
    /// Initial budget of every site; 0 means unlimited.
    first: u64,
    sites: LruCache<SiteId, SiteContent>,
    /// Pages requested for the first time whose records are not applied yet. Each takes a page of the budget, because
    /// hundreds may be on the way from the server to the catalog.
    pending: HashSet<PageId>,
    pending_of_site: HashMap<SiteId, u64>,
}

/// State of a site's budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BudgetState {
    Open,
    /// Pages on the way may exhaust the budget, or enlarge it.
    Pending,
    /// The reason why no new page of the site is fetched.
    Exhausted(String),
}

impl SiteBudgets {
    pub(crate) fn new(first: u64) -> Self {
        Self {
            first,
            sites: LruCache::new(MAX_SITES),
            pending: HashSet::new(),
            pending_of_site: HashMap::new(),
        }
    }

    /// Sets the initial budget of every site.
    pub(crate) fn set_initial(&mut self, first: u64) {
        self.first = first;
    }

    /// Restores the numbers of pages and of distinct texts of a site.
    pub(crate) fn restore(&mut self, site: SiteId, pages: u64, texts: u64) {
        let content = self.sites.get_or_insert_mut(site, SiteContent::default);
        (content.pages, content.texts) = (pages, texts);
    }

    /// Adds a stored page of the site, with its sketch if it has text.
    pub(crate) fn add_page(&mut self, site: SiteId, sketch: Option<u64>) {
        let content = self.sites.get_or_insert_mut(site, SiteContent::default);
        content.pages += 1;
        let Some(sketch) = sketch else { return };
        if content.sketches.iter().all(|known| (known ^ sketch).count_ones() > NEAR_DISTANCE) {
            content.texts += 1;
            content.sketches.push_back(sketch);
            if content.sketches.len() > MAX_SKETCHES {
                content.sketches.pop_front();
            }
        }
    }

    /// Reserves a page of the budget for a page that is requested for the first time.
    pub(crate) fn reserve(&mut self, page: PageId) {
        if self.pending.insert(page) {
            *self.pending_of_site.entry(page.site()).or_default() += 1;
        }
    }

    /// Releases the reservation of a page whose outcome is known.
    pub(crate) fn release(&mut self, page: PageId) {
        if !self.pending.remove(&page) {
            return;
        }
        if let Some(count) = self.pending_of_site.get_mut(&page.site()) {
            *count -= 1;
            if *count == 0 {
                self.pending_of_site.remove(&page.site());
            }
        }
    }

    /// Returns the state of a site's budget. `cap` limits the pages whatever their content; 0 means no limit.
    pub(crate) fn state(&self, site: SiteId, cap: u64) -> BudgetState {
        let (pages, texts) = self.sites.peek(&site).map_or((0, 0), |content| (content.pages, content.texts));
        let pending = self.pending_of_site.get(&site).copied().unwrap_or(0);
        let budget = self.first.saturating_add(PAGES_PER_TEXT.saturating_mul(texts));
        if cap > 0 && pages >= cap {
            return BudgetState::Exhausted(format!(
                "{cap} pages of this site are stored (crawl.max_pages_per_site)"
            ));
        }
        if self.first > 0 && pages >= budget {
            return BudgetState::Exhausted(format!(
                "{pages} pages of this site have only {texts} different texts: possibly a crawler trap \
                 (crawl.site_budget)"
            ));
        }
        let reserved = pages.saturating_add(pending);
        let may_exceed = (cap > 0 && reserved >= cap) || (self.first > 0 && reserved >= budget);
        if may_exceed { BudgetState::Pending } else { BudgetState::Open }
    }

    /// Returns the reason if the site's budget is exhausted. `cap` is that of [`state`](Self::state).
    pub(crate) fn exhaustion_reason(&self, site: SiteId, cap: u64) -> Option<String> {
        match self.state(site, cap) {
            BudgetState::Exhausted(reason) => Some(reason),
            BudgetState::Open | BudgetState::Pending => None,
        }
    }
}

/// Computes the sketch of a text: texts that share most words have sketches that share most bits.
///
/// Digits are ignored, so that the days of a calendar look alike. Returns `None` for a text too short to compare.
pub fn compute_sketch(text: &str) -> Option<u64> {
    let mut counter_bits = BitCounter { count: 0, counters: [0; 8], sums: [0; 64] };
    let mut previous = 0u64;
    for word in sketch_words(text).take(SKETCH_WORDS) {
        let hash = xxhash_rust::xxh3::xxh3_64(word.as_bytes());
        // Pairs of words: single words are too similar on all pages of a site.
        counter_bits.add(previous.rotate_left(1) ^ hash);
        previous = hash;
    }
    (counter_bits.count >= 4).then(|| counter_bits.majority())
}

/// Counts for each bit how many numbers have it set (Charikar's simhash). Eight bits are counted in one addition, in
/// the eight bytes of a word.
struct BitCounter {
    count: u32,
    /// Sums of up to 255 numbers, one byte per bit.
    counters: [u64; 8],
    sums: [u32; 64],
}

impl BitCounter {
    fn add(&mut self, number: u64) {
        for (counter, byte) in self.counters.iter_mut().zip(number.to_le_bytes()) {
            *counter += SPREAD[usize::from(byte)];
        }
        self.count += 1;
        if self.count.is_multiple_of(255) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let counters = std::mem::take(&mut self.counters);
        let bytes = counters.iter().flat_map(|counter| counter.to_le_bytes());
        for (sum, counter_bits) in self.sums.iter_mut().zip(bytes) {
            *sum += u32::from(counter_bits);
        }
    }

    /// Returns the bits set in more than half of the numbers.
    fn majority(mut self) -> u64 {
        self.flush();
        let bits = self.sums.iter().enumerate().filter(|(_, sum)| **sum * 2 > self.count);
        bits.map(|(bit, _)| 1 << bit).sum()
    }
}

/// Spreads the bits of a byte over eight bytes.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Returns the words without digits; Chinese text by character.
fn sketch_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).flat_map(|word| {
        let by_character = word.chars().next().is_some_and(|c| c as u32 >= 0x2e80);
        let boundary = if by_character { word.len() } else { 0 };
        let whole = (!by_character).then_some(word);
        word[..boundary].split_inclusive(|_: char| true).chain(whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: SiteId = SiteId(1);

    fn article(n: usize) -> String {
        (0..200)
            .map(|word| format!("{} ", ["tower", "light", "sea", "ship", "wall"][(word * n + word / 3) % 5]))
            .collect()
    }

    #[test]
    fn a_site_with_new_content_never_exhausts_its_budget() {
        let mut budgets = SiteBudgets::new(10);
        for n in 0..10_000u64 {
            budgets.add_page(SITE, Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            assert_eq!(budgets.exhaustion_reason(SITE, 0), None);
        }
    }

    #[test]
    fn a_calendar_exhausts_its_budget() {
        let mut budgets = SiteBudgets::new(100);
        let day = |n: usize| {
            let month = ["January", "February", "March"][n / 30 % 3];
            let text = format!("Events of {month} {n}, 2026. Nothing is planned. {}", article(2));
            compute_sketch(&text)
        };
        let mut pages = 0;
        while budgets.exhaustion_reason(SITE, 0).is_none() && pages < 100_000 {
            budgets.add_page(SITE, day(pages));
            pages += 1;
        }
        assert!((100..300).contains(&pages), "{pages}");
        assert!(budgets.exhaustion_reason(SITE, 0).unwrap().contains("crawl.site_budget"));
        assert_eq!(budgets.exhaustion_reason(SiteId(2), 0), None);
        let mut none = SiteBudgets::new(0);
        (0..1000).for_each(|_| none.add_page(SITE, Some(1)));
        assert_eq!(none.exhaustion_reason(SITE, 0), None);
    }

    #[test]
    fn budgets_are_restored_from_the_catalog() {
        let mut budgets = SiteBudgets::new(100);
        budgets.restore(SITE, 500, 3);
        assert!(budgets.exhaustion_reason(SITE, 0).is_some());
        budgets.restore(SITE, 50, 3);
        assert_eq!(budgets.exhaustion_reason(SITE, 51), None);
        budgets.add_page(SITE, None);
        assert!(budgets.exhaustion_reason(SITE, 51).unwrap().contains("max_pages_per_site"));
    }

    #[test]
    fn pages_on_the_way_take_their_share() {
        let page = |n| PageId::from_parts(SITE, n);
        let mut budgets = SiteBudgets::new(3);
        (0..3).for_each(|n| budgets.reserve(page(n)));
        budgets.reserve(page(2));
        assert_eq!(budgets.state(SITE, 0), BudgetState::Pending);
        budgets.release(page(0));
        budgets.release(page(0));
        assert_eq!(budgets.state(SITE, 0), BudgetState::Open, "the page was missing");
        assert_eq!(budgets.state(SITE, 2), BudgetState::Pending, "crawl.max_pages_per_site");
        budgets.add_page(SITE, None);
        budgets.add_page(SITE, None);
        budgets.add_page(SITE, None);
        (1..3).for_each(|n| budgets.release(page(n)));
        assert!(matches!(budgets.state(SITE, 0), BudgetState::Exhausted(_)));
        assert!(budgets.pending.is_empty() && budgets.pending_of_site.is_empty());
    }

    #[test]
    fn sketches_distinguish_similar_and_different_texts() {
        let distance =
            |a: &str, b: &str| (compute_sketch(a).unwrap() ^ compute_sketch(b).unwrap()).count_ones();
        let (one, two) = (article(2), article(3));
        assert_eq!(distance(&format!("Page 1. {one}"), &format!("Page 2. {one}")), 0, "digits do not count");
        assert!(distance(&one, &two) > NEAR_DISTANCE, "{}", distance(&one, &two));
        let chinese = "灯塔照亮了海面上的船只，也照亮了岸边的城墙。";
        assert!(distance(&chinese.repeat(9), &format!("{}十月", chinese.repeat(9))) <= NEAR_DISTANCE);
        assert_eq!(compute_sketch("one two three"), None);
        assert_eq!(compute_sketch(""), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut budgets = SiteBudgets::new(1);
        let sites = MAX_SITES.get() as u64;
        for n in 0..3 * sites {
            budgets.add_page(SiteId(n), None);
        }
        assert_eq!(budgets.sites.len(), MAX_SITES.get());
        assert!(budgets.sites.contains(&SiteId(3 * sites - 1)));
    }
}
