//! A blocked Bloom filter (Bloom 1970) with blocks of one machine word.
//!
//! Query correction looks up hundreds of possible spellings, and nearly all are missing. A binary search in a
//! sorted list recomputes about fifteen keys; the filter reads one word of memory.

use xxhash_rust::xxh3::xxh3_64;

/// Bits per key, and bits that a key sets. About one missing key in a hundred is a false positive.
const BITS_PER_KEY: usize = 16;
const BITS_SET: u32 = 5;

/// A set of keys with rare false positives.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BloomFilter {
    words: Vec<u64>,
}

impl BloomFilter {
    /// Creates a filter for at most `count` keys.
    pub(super) fn new(count: usize, keys: impl IntoIterator<Item = String>) -> Self {
        let mut filter = Self { words: vec![0; (count * BITS_PER_KEY).div_ceil(64)] };
        for key in keys {
            if let Some((at, bits)) = filter.position(&key) {
                filter.words[at] |= bits;
            }
        }
        filter
    }

    /// Returns `false` only if the key is not in the set.
    pub(super) fn may_contain(&self, key: &str) -> bool {
        self.position(key).is_some_and(|(at, bits)| self.words[at] & bits == bits)
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    fn position(&self, key: &str) -> Option<(usize, u64)> {
        let hash = xxh3_64(key.as_bytes());
        let at = ((hash >> 32) * self.words.len() as u64) >> 32;
        let bits = (0..BITS_SET).fold(0, |bits, nth| bits | 1 << (hash >> (6 * nth) & 63));
        (!self.words.is_empty()).then_some((at as usize, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn present_keys_are_found_and_missing_keys_are_nearly_always_rejected() {
        let keys = |from: usize| (from..from + 20_000).map(|n| format!("key {n}"));
        let filter = BloomFilter::new(20_000, keys(0));
        assert!(keys(0).all(|key| filter.may_contain(&key)));
        let mistaken = keys(20_000).filter(|key| filter.may_contain(key)).count();
        assert!(mistaken < 600, "{mistaken} of 20,000");
        assert!(!BloomFilter::new(0, []).may_contain("anything") && !BloomFilter::default().may_contain(""));
    }
}
