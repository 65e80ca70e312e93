//! A hash table from n-grams of symbols to their weights, made once and read often.

use std::hint::select_unpredictable;

use super::atoms::{SYMBOL_BITS, Symbol};
use super::lanes::shifted;

/// An entry's flags fill the lowest bits of its mark.
const FLAGS: u32 = 0b111;
/// Entries of a group that are looked at together.
const BYTES: usize = 8;
/// Entries of a group on average: few groups then have more than eight.
const AVERAGE: usize = 4;
/// Far beyond what happens by chance; a file made to collide is refused.
const MAX_GROUP: u32 = 64;

/// The symbols of an n-gram (at most four) as one number.
#[inline]
pub(super) fn key(symbols: &[Symbol]) -> u64 {
    symbols.iter().fold(0, |key, &symbol| key << SYMBOL_BITS | u64::from(symbol))
}

/// The n-grams of one length, with the weights of all tags side by side.
///
/// Keys fall into small groups. A group knows where its entries begin and one byte of the hash of each: one
/// comparison of eight bytes finds the entry, or that there is none, without a branch that nobody can foresee
/// (the idea of Abseil's Swiss tables). Entries stand without gaps, because most of the time goes into waiting for
/// memory. They do not keep their keys but a part of the hash: one look-up in many millions takes a stranger's
/// weights, which moves a border at worst.
pub(super) struct Table<const WEIGHTS: usize> {
    /// And one more, which begins where the last one ends.
    groups: Vec<Group>,
    /// And one more, for what is not found.
    entries: Vec<Entry<WEIGHTS>>,
}

#[derive(Clone, Copy, Default)]
struct Group {
    /// Number of its first entry.
    first: u32,
    /// Of its first entries; zero where there is none.
    bytes: [u8; BYTES],
}

/// What is known of an n-gram.
#[derive(Clone, Copy)]
pub(super) struct Entry<const WEIGHTS: usize> {
    /// 29 bits of the hash, three flags.
    mark: u32,
    /// As [`shifted`] makes them.
    pub(super) weights: [u8; WEIGHTS],
}

impl<const WEIGHTS: usize> Entry<WEIGHTS> {
    /// Are any of these flags set?
    #[inline]
    pub(super) fn has(&self, flags: u8) -> bool {
        self.mark & u32::from(flags) != 0
    }
}

/// Where a key belongs.
struct Place {
    group: usize,
    byte: u8,
    mark: u32,
}

impl<const WEIGHTS: usize> Table<WEIGHTS> {
    /// A table of `grams` (key, flags, weights), whose keys differ; `None` if they collide beyond reason.
    pub(super) fn new(
        grams: impl ExactSizeIterator<Item = (u64, u8, [i8; WEIGHTS])> + Clone,
    ) -> Option<Self> {
        let group_count = grams.len() / AVERAGE + 1;
        // Weights of nothing are alike for all tags, and no flag is set.
        let nothing = Entry { mark: 0, weights: [shifted(0); WEIGHTS] };
        let mut entries = vec![nothing; grams.len() + 1];
        let mut sizes = vec![0_u32; group_count];
        for (key, ..) in grams.clone() {
            sizes[place(key, group_count).group] += 1;
        }
        if sizes.iter().any(|&size| size > MAX_GROUP) {
            return None;
        }
        let mut groups = vec![Group::default(); group_count + 1];
        for (group, size) in sizes.iter().enumerate() {
            groups[group + 1].first = groups[group].first + size;
        }
        for (key, flags, weights) in grams {
            let Place { group, byte, mark } = place(key, group_count);
            sizes[group] -= 1;
            let within = sizes[group] as usize;
            let group = &mut groups[group];
            if let Some(own) = group.bytes.get_mut(within) {
                *own = byte;
            }
            entries[group.first as usize + within] =
                Entry { mark: mark | u32::from(flags) & FLAGS, weights: weights.map(shifted) };
        }
        Some(Table { groups, entries })
    }

    /// The entry of `key`, or one without weights and flags.
    #[inline]
    pub(super) fn get(&self, key: u64) -> &Entry<WEIGHTS> {
        self.entry(self.confirm(self.candidate(key), key))
    }

    /// The number of the entry that `key` probably has.
    ///
    /// The three steps of a look-up can be taken for many keys each: memory then answers many questions at once.
    #[inline]
    pub(super) fn candidate(&self, key: u64) -> u32 {
        const LOW: u64 = 0x0101_0101_0101_0101;
        let Place { group, byte, mark } = place(key, self.groups.len() - 1);
        let Group { first, bytes } = self.groups[group];
        // The lowest zero byte of the difference is marked exactly (Mycroft's test); others may follow.
        let difference = u64::from_le_bytes(bytes) ^ (LOW * u64::from(byte));
        let matches = difference.wrapping_sub(LOW) & !difference & LOW << 7;
        if (matches == 0) & (bytes[BYTES - 1] != 0) {
            return self.search(group, mark);
        }
        let found = first + matches.trailing_zeros() / 8;
        select_unpredictable(matches == 0, self.nothing(), found)
    }

    /// The number of the entry of `key`, whose candidate is known.
    #[inline]
    pub(super) fn confirm(&self, candidate: u32, key: u64) -> u32 {
        let Place { group, mark, .. } = place(key, self.groups.len() - 1);
        let differs = (self.entry(candidate).mark ^ mark) & !FLAGS != 0;
        if differs & (candidate != self.nothing()) { self.search(group, mark) } else { candidate }
    }

    /// An entry by its number.
    #[inline]
    pub(super) fn entry(&self, number: u32) -> &Entry<WEIGHTS> {
        &self.entries[number as usize]
    }

    /// Looks at every entry of a group.
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
fn place(key: u64, group_count: usize) -> Place {
    // Fibonacci hashing (Knuth, volume 3, 6.4): the upper half chooses the group, bits below it tell members apart.
    let hash = (key ^ key >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Place {
        group: (((hash >> 32) * group_count as u64) >> 32) as usize,
        byte: ((hash >> 24) as u8).max(1),
        mark: (hash >> 8) as u32 & !FLAGS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let keys: Vec<u64> = (1..5_000).map(|n| n * n * 31).collect();
        let table = Table::<2>::new(keys.iter().map(|&k| (k, (k % 8) as u8, [k as i8, 1]))).unwrap();
        for &k in &keys {
            let entry = table.get(k);
            assert_eq!((entry.mark & FLAGS, entry.weights), ((k % 8) as u32, [shifted(k as i8), shifted(1)]));
        }
        let strangers = (1..5_000).filter(|n| table.get(n * n * 31 + 7).weights != [shifted(0); 2]);
        assert!(strangers.count() < 3);
        assert!(!Table::<0>::new([].into_iter()).unwrap().get(5).has(7));
    }

    #[test]
    fn keys_that_all_collide_are_refused() {
        assert!(Table::<1>::new((0..5_000).map(|_| (1, 0, [1]))).is_none());
    }
}
