//! A read-only hash table from n-grams of symbols to their weights.

use std::hint::select_unpredictable;

use super::atoms::{SYMBOL_BITS, Symbol};
use super::lanes::shifted;

/// The lowest bits of a mark hold the flags of the entry.
const FLAGS: u32 = 0b111;
/// Number of entries of a group that are compared at once.
const BYTES: usize = 8;
/// Mean number of entries per group: few groups then have more than eight.
const AVERAGE: usize = 4;
/// Maximum size of a group, far beyond chance; a file made to collide is rejected.
const MAX_GROUP: u32 = 64;

/// Packs the symbols of an n-gram (at most four) into one number.
#[inline]
pub(super) fn key(symbols: &[Symbol]) -> u64 {
    symbols.iter().fold(0, |key, &symbol| key << SYMBOL_BITS | u64::from(symbol))
}

/// The n-grams of one length, with the weights of all tags side by side.
///
/// Keys are distributed over small groups. A group stores the index of its first entry and one byte of the
/// hash of each: one comparison of eight bytes finds the entry, or that there is none, without an
/// unpredictable branch (the idea of Abseil's Swiss tables). Entries are stored without gaps, because memory
/// latency dominates. They store a part of the hash instead of their keys: one lookup in many millions
/// returns the weights of another key, which moves a boundary at worst.
pub(super) struct NgramTable<const WEIGHTS: usize> {
    /// With a sentinel that begins where the last group ends.
    groups: Vec<TableGroup>,
    /// With a sentinel for missing keys.
    entries: Vec<NgramEntry<WEIGHTS>>,
}

#[derive(Clone, Copy, Default)]
struct TableGroup {
    /// Index of the first entry.
    first: u32,
    /// Hash bytes of the first entries; zero where there is none.
    bytes: [u8; BYTES],
}

/// The entry of an n-gram.
#[derive(Clone, Copy)]
pub(super) struct NgramEntry<const WEIGHTS: usize> {
    /// 29 bits of the hash, three flags.
    mark: u32,
    /// Encoded by [`shifted`].
    pub(super) weights: [u8; WEIGHTS],
}

impl<const WEIGHTS: usize> NgramEntry<WEIGHTS> {
    /// Returns `true` if any of these flags is set.
    #[inline]
    pub(super) fn has(&self, flags: u8) -> bool {
        self.mark & u32::from(flags) != 0
    }
}

/// The location of a key.
struct TableSlot {
    group: usize,
    byte: u8,
    mark: u32,
}

impl<const WEIGHTS: usize> NgramTable<WEIGHTS> {
    /// Builds a table of `grams` (key, flags, weights) with distinct keys. Returns `None` if too many
    /// collide.
    pub(super) fn new(
        grams: impl ExactSizeIterator<Item = (u64, u8, [i8; WEIGHTS])> + Clone,
    ) -> Option<Self> {
        let group_count = grams.len() / AVERAGE + 1;
        // The weights of a missing key are equal for all tags, and no flag is set.
        let nothing = NgramEntry { mark: 0, weights: [shifted(0); WEIGHTS] };
        let mut entries = vec![nothing; grams.len() + 1];
        let mut sizes = vec![0_u32; group_count];
        for (key, ..) in grams.clone() {
            sizes[place(key, group_count).group] += 1;
        }
        if sizes.iter().any(|&size| size > MAX_GROUP) {
            return None;
        }
        let mut groups = vec![TableGroup::default(); group_count + 1];
        for (group, size) in sizes.iter().enumerate() {
            groups[group + 1].first = groups[group].first + size;
        }
        for (key, flags, weights) in grams {
            let TableSlot { group, byte, mark } = place(key, group_count);
            sizes[group] -= 1;
            let within = sizes[group] as usize;
            let group = &mut groups[group];
            if let Some(own) = group.bytes.get_mut(within) {
                *own = byte;
            }
            entries[group.first as usize + within] =
                NgramEntry { mark: mark | u32::from(flags) & FLAGS, weights: weights.map(shifted) };
        }
        Some(NgramTable { groups, entries })
    }

    /// Returns the entry of `key`, or one without weights and flags.
    #[inline]
    pub(super) fn get(&self, key: u64) -> &NgramEntry<WEIGHTS> {
        self.entry(self.confirm(self.candidate(key), key))
    }

    /// Returns the index of the entry that `key` probably has.
    ///
    /// The three steps of a lookup can be executed for many keys each, which overlaps the memory latencies.
    #[inline]
    pub(super) fn candidate(&self, key: u64) -> u32 {
        const LOW: u64 = 0x0101_0101_0101_0101;
        let TableSlot { group, byte, mark } = place(key, self.groups.len() - 1);
        let TableGroup { first, bytes } = self.groups[group];
        // The lowest zero byte of the difference is marked exactly (Mycroft's test); others may follow.
        let difference = u64::from_le_bytes(bytes) ^ (LOW * u64::from(byte));
        let matches = difference.wrapping_sub(LOW) & !difference & LOW << 7;
        if (matches == 0) & (bytes[BYTES - 1] != 0) {
            return self.search(group, mark);
        }
        let found = first + matches.trailing_zeros() / 8;
        select_unpredictable(matches == 0, self.nothing(), found)
    }

    /// Returns the index of the entry of `key`, given its candidate.
    #[inline]
    pub(super) fn confirm(&self, candidate: u32, key: u64) -> u32 {
        let TableSlot { group, mark, .. } = place(key, self.groups.len() - 1);
        let differs = (self.entry(candidate).mark ^ mark) & !FLAGS != 0;
        if differs & (candidate != self.nothing()) { self.search(group, mark) } else { candidate }
    }

    /// Returns an entry by index.
    #[inline]
    pub(super) fn entry(&self, number: u32) -> &NgramEntry<WEIGHTS> {
        &self.entries[number as usize]
    }

    /// Compares every entry of a group.
    #[cold]
    fn search(&self, group: usize, mark: u32) -> u32 {
        let range = self.groups[group].first..self.groups[group + 1].first;
        let is_it = |&number: &u32| (self.entry(number).mark ^ mark) & !FLAGS == 0;
        range.into_iter().find(is_it).unwrap_or(self.nothing())
    }

    #[inline]
    fn nothing(&self) -> u32 {
        (self.entries.len() - 1) as u32
    }
}

#[inline]
fn place(key: u64, group_count: usize) -> TableSlot {
    // Fibonacci hashing (Knuth, volume 3, 6.4): the upper half selects the group, lower bits distinguish its
    // entries.
    let hash = (key ^ key >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    TableSlot {
        group: (((hash >> 32) * group_count as u64) >> 32) as usize,
        byte: ((hash >> 24) as u8).max(1),
        mark: (hash >> 8) as u32 & !FLAGS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_inserted_keys_are_found() {
        let keys: Vec<u64> = (1..5_000).map(|n| n * n * 31).collect();
        let table = NgramTable::<2>::new(keys.iter().map(|&k| (k, (k % 8) as u8, [k as i8, 1]))).unwrap();
        for &k in &keys {
            let entry = table.get(k);
            assert_eq!((entry.mark & FLAGS, entry.weights), ((k % 8) as u32, [shifted(k as i8), shifted(1)]));
        }
        let strangers = (1..5_000).filter(|n| table.get(n * n * 31 + 7).weights != [shifted(0); 2]);
        assert!(strangers.count() < 3);
        assert!(!NgramTable::<0>::new([].into_iter()).unwrap().get(5).has(7));
    }

    #[test]
    fn keys_that_all_collide_are_refused() {
        assert!(NgramTable::<1>::new((0..5_000).map(|_| (1, 0, [1]))).is_none());
    }
}
