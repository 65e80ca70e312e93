//! The seen set: a cache of known links in front of the catalog (不重复抓取策略; 《走进搜索引擎》§2.4.3).
//!
//! Most links lead to pages that are already known. The seen set remembers them within a fixed memory budget, so that
//! the catalog is queried only for undecided pages:
//!
//! * An exact set in two generations. When the younger is full it becomes the older, and the older is cleared. A page
//!   found in the older moves to the younger, so frequently linked pages stay. 17 bytes for each of 8/7 slots: about
//!   19.4 bytes per page of a full set.
//! * A Bloom filter behind it, which proves that a page is new or reports that it may be known. In the latter case
//!   the catalog decides: a false positive costs a lookup, never a page.
//!
//! The set starts empty, and eviction is harmless: an evicted page is looked up in the catalog. Memory does not grow
//! after [`SeenSet::new`].

use std::collections::HashSet;

use foldhash::fast::RandomState;
use pharos_core::PageId;
use pharos_core::config::ByteSize;

/// Size of a slot of the exact set in bytes: an id and a control byte of hashbrown.
const SLOT: usize = size_of::<PageId>() + 1;
/// Target false-positive rate of the Bloom filter.
const FALSE_POSITIVES: f64 = 0.01;
/// Lower bounds, however small the budget.
const MIN_SLOTS: usize = 16;
const MIN_CELLS: usize = 16;

/// Result of a lookup in the seen set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenState {
    /// Inserted before: the catalog has it.
    Known,
    /// Never inserted.
    New,
    /// Possibly inserted: the catalog decides.
    Maybe,
}

/// Recently seen pages, within a memory budget.
pub struct SeenSet {
    young: HashSet<PageId, RandomState>,
    old: HashSet<PageId, RandomState>,
    /// Number of pages per generation.
    generation: usize,
    filter: BloomFilter,
}

impl SeenSet {
    /// Creates a set and allocates the whole budget: up to five eighths for the exact set, the rest for the filter.
    pub fn new(budget: ByteSize) -> Self {
        let max_slots = budget.bytes() / 8 * 5 / (2 * SLOT);
        let slots = (max_slots + 1).next_power_of_two() / 2;
        let slots = slots.max(MIN_SLOTS);
        // Number of entries hashbrown stores in this many slots before it grows.
        let generation = slots / 8 * 7;
        let table = || HashSet::with_capacity_and_hasher(generation, RandomState::default());
        let bits = budget.bytes().saturating_sub(2 * slots * SLOT).saturating_mul(8);
        Self { young: table(), old: table(), generation, filter: BloomFilter::with_bits(bits) }
    }

    /// Looks up a page. A known page is kept longer.
    pub fn check(&mut self, id: PageId) -> SeenState {
        if self.young.contains(&id) {
            SeenState::Known
        } else if self.old.contains(&id) {
            self.insert_exact(id);
            SeenState::Known
        } else if self.filter.contains(id) {
            SeenState::Maybe
        } else {
            SeenState::New
        }
    }

    /// Inserts a page that the catalog has.
    pub fn insert(&mut self, id: PageId) {
        self.filter.insert(id);
        self.insert_exact(id);
    }

    /// Clears the set.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
        self.filter.bitmap.cells.fill(0);
    }

    /// Returns the allocated memory in bytes, by the layout of the tables.
    pub fn memory(&self) -> usize {
        let slots = |table: &HashSet<PageId, RandomState>| (table.capacity() / 7 * 8).next_power_of_two();
        (slots(&self.young) + slots(&self.old)) * SLOT + self.filter.bitmap.cells.len() * size_of::<u32>()
    }

    fn insert_exact(&mut self, id: PageId) {
        if self.young.len() >= self.generation {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert(id);
    }
}

/// A clone starts empty and small, to avoid doubling the memory. Entries can be looked up again.
impl Clone for SeenSet {
    fn clone(&self) -> Self {
        Self::new(ByteSize(0))
    }
}

impl std::fmt::Debug for SeenSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SeenSet({} bytes)", self.memory())
    }
}

/// A Bloom filter (《走进搜索引擎》§2.4.3): k bits per page; a page with an unset bit was never inserted. The k positions
/// come from the two halves of the id by double hashing.
struct BloomFilter {
    bitmap: Bitmap,
    hashes: u32,
}

impl BloomFilter {
    /// Creates a filter with this many bits.
    ///
    /// It serves n pages at the false-positive rate p: m = −n·ln p / (ln 2)² bits, of which k = m/n·ln 2 are set per
    /// page. With more pages the rate rises.
    fn with_bits(bits: usize) -> Self {
        let bits_for_a_page = -FALSE_POSITIVES.ln() / std::f64::consts::LN_2.powi(2);
        let hashes = (bits_for_a_page * std::f64::consts::LN_2).round().max(1.0) as u32;
        Self { bitmap: Bitmap::with_cells(bits / u32::BITS as usize), hashes }
    }

    fn contains(&self, id: PageId) -> bool {
        self.contains_all(self.positions(id))
    }

    fn insert(&mut self, id: PageId) {
        self.insert_all(self.positions(id));
    }

    fn contains_all(&self, mut positions: impl Iterator<Item = u64>) -> bool {
        positions.all(|position| self.bitmap.contains(position))
    }

    fn insert_all(&mut self, positions: impl Iterator<Item = u64>) {
        positions.for_each(|position| self.bitmap.insert(position));
    }

    fn positions(&self, id: PageId) -> impl Iterator<Item = u64> + use<> {
        // The first half is the same for all pages of a site, so it is never used alone.
        let (site, page) = (id.site().0, id.page());
        let step = (site ^ page.rotate_left(32)) | 1;
        (0..u64::from(self.hashes)).map(move |n| page.wrapping_add(n.wrapping_mul(step)))
    }
}

/// A bitmap (《走进搜索引擎》§2.4.3): one bit per signature instead of one cell, 1/32 of the memory.
struct Bitmap {
    cells: Vec<u32>,
}

impl Bitmap {
    fn with_cells(cells: usize) -> Self {
        Self { cells: vec![0; cells.max(MIN_CELLS)] }
    }

    /// Returns cell and bit of a signature.
    ///
    /// `cell = (sig >> 5) & (cells - 1)` if the number of cells is a power of two, and the remainder otherwise;
    /// `bit = sig & 31`.
    fn cell_and_bit(&self, signature: u64) -> (usize, u32) {
        let cell = (signature >> 5) % self.cells.len() as u64;
        (cell as usize, (signature & 31) as u32)
    }

    fn contains(&self, signature: u64) -> bool {
        let (cell, bit) = self.cell_and_bit(signature);
        self.cells[cell] & (1 << bit) != 0
    }

    fn insert(&mut self, signature: u64) {
        let (cell, bit) = self.cell_and_bit(signature);
        self.cells[cell] |= 1 << bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::{PageUrl, SiteId};
    use proptest::prelude::*;

    const MEGABYTE: u64 = 1 << 20;

    /// Returns distinct ids of twenty sites, distributed like hashes.
    fn id(number: u64) -> PageId {
        let spread = |n: u64| {
            let n = (n ^ (n >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
        };
        PageId::from_parts(SiteId(spread(number % 20)), spread(number + 1000))
    }

    /// 《走进搜索引擎》§2.4.3: bitmap with signature 34.
    #[test]
    fn the_bitmap_of_the_book() {
        let mut bitmap = Bitmap { cells: vec![0; 8] };
        assert_eq!(bitmap.cell_and_bit(34), (1, 2));
        bitmap.insert(34);
        assert_eq!(bitmap.cells[1], 4);
        assert!(bitmap.contains(34) && !bitmap.contains(35));
        assert_eq!(bitmap.cell_and_bit(34 + 8 * 32), (1, 2), "the cells wrap around");
        let one_cell_each = 8 * 32 * size_of::<u32>();
        assert_eq!(bitmap.cells.len() * size_of::<u32>() * 32, one_cell_each);
    }

    /// 《走进搜索引擎》§2.4.3: Bloom filter with three hash functions.
    #[test]
    fn the_bloom_filter_of_the_book() {
        let mut filter = BloomFilter::with_bits(0);
        let (sohu, sina) = ([1, 3, 7].into_iter(), [1, 3, 6].into_iter());
        filter.insert_all(sohu.clone());
        assert!(!filter.contains_all(sina.clone()), "sina is new");
        assert!(!filter.bitmap.contains(6));
        filter.insert_all(sina);
        assert!(filter.bitmap.contains(6));
        assert!(filter.contains_all(sohu), "sohu was seen");
    }

    /// 《搜索引擎——原理、技术与系统》§6.2: visited URLs as MD5.
    #[test]
    fn a_page_is_sixteen_bytes_like_an_md5() {
        assert_eq!(PageUrl::parse("http://www.pku.edu.cn/").unwrap().id().to_bytes().len(), 16);
        assert_eq!(SLOT, 17);
    }

    #[test]
    fn memory_is_taken_once_and_never_grows() {
        for megabytes in [0, 1, 8, 32, 40] {
            let mut seen = SeenSet::new(ByteSize(megabytes * MEGABYTE));
            let before = seen.memory();
            assert!(before <= (megabytes * MEGABYTE).max(1024) as usize, "{megabytes} MB: {before}");
            assert!(before as u64 >= megabytes * MEGABYTE / 10 * 9, "{megabytes} MB: {before}");
            for number in 0..100_000 {
                seen.insert(id(number));
            }
            assert_eq!(seen.memory(), before, "{megabytes} MB");
        }
        assert!(SeenSet::new(ByteSize(32 * MEGABYTE)).generation >= 450_000);
    }

    #[test]
    fn frequently_linked_pages_stay_known() {
        let mut seen = SeenSet::new(ByteSize(MEGABYTE));
        let hot = id(u64::MAX / 3);
        seen.insert(hot);
        for number in 0..10 * seen.generation as u64 {
            seen.insert(id(number));
            if number % 1000 == 0 {
                assert_eq!(seen.check(hot), SeenState::Known);
            }
        }
        assert_eq!(seen.check(id(0)), SeenState::Maybe, "an evicted page is never reported as new");
    }

    /// A filter that is much too small returns `Maybe` for nearly every page, and still every page enters the
    /// catalog.
    #[test]
    fn false_positives_lose_no_page() {
        let mut seen = SeenSet::new(ByteSize(0));
        let mut catalog = HashSet::new();
        let (mut looks, pages) = (0, 20_000);
        for number in (0..pages).chain(0..pages) {
            let page = id(number);
            let is_new = match seen.check(page) {
                SeenState::Known => false,
                SeenState::New => true,
                SeenState::Maybe => {
                    looks += 1;
                    !catalog.contains(&page)
                }
            };
            assert_eq!(is_new, !catalog.contains(&page));
            if is_new {
                catalog.insert(page);
            }
            seen.insert(page);
        }
        assert_eq!(catalog.len() as u64, pages);
        assert!(looks > pages, "the filter was exercised");
    }

    #[test]
    fn a_filter_of_the_right_size_has_few_false_positives() {
        let mut seen = SeenSet::new(ByteSize(MEGABYTE));
        let fits = (seen.filter.bitmap.cells.len() * 32) as u64 / 10;
        (0..fits).for_each(|number| seen.insert(id(number)));
        let wrong =
            (fits..2 * fits).filter(|number| seen.check(id(*number)) != SeenState::New).count() as u64;
        assert!(wrong < fits / 50, "{wrong} of {fits}");
    }

    /// `cargo test --release -p pharos-crawl --lib how_much_memory -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn how_much_memory() {
        let resident = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_string();
            line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0)
        };
        for millions in [1, 10] {
            let before = resident();
            let mut seen = SeenSet::new(ByteSize(32 * MEGABYTE));
            let began = std::time::Instant::now();
            let (mut known, mut perhaps) = (0, 0);
            for number in 0..millions * 1_000_000 {
                match seen.check(id(number)) {
                    SeenState::Known => known += 1,
                    SeenState::Maybe => perhaps += 1,
                    SeenState::New => {}
                }
                seen.insert(id(number));
            }
            println!(
                "{millions} million ids: {} KB resident, {} KB laid out, {known} known and {perhaps} perhaps of \
                 them when new, {:.0} ns each",
                resident() - before,
                seen.memory() / 1024,
                began.elapsed().as_nanos() as f64 / (millions * 1_000_000) as f64
            );
        }
    }

    proptest! {
        #[test]
        fn inserted_pages_are_never_new(numbers in proptest::collection::vec(0..500u64, 0..400), budget in 0..4096u64) {
            let mut seen = SeenSet::new(ByteSize(budget));
            let mut inserted = HashSet::new();
            for number in numbers {
                match seen.check(id(number)) {
                    SeenState::New => prop_assert!(!inserted.contains(&number)),
                    SeenState::Known => prop_assert!(inserted.contains(&number)),
                    SeenState::Maybe => {}
                }
                seen.insert(id(number));
                inserted.insert(number);
            }
        }
    }
}
