//! What a book surely does not have (Bloom 1970, in blocks of one word).
//!
//! Who looks for what was meant asks for hundreds of ways to read or write it, and nearly all are in no book. To find that out
//! by halving an order costs some fifteen keys, each made again from its phrase; here it costs one look at a word of memory.

use xxhash_rust::xxh3::xxh3_64;

/// Bits for every key, and bits that a key sets: of a hundred keys that are not there, one seems to be.
const BITS: usize = 16;
const SET: u32 = 5;

/// Some keys, told apart from nearly all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// Of so many keys at most.
    pub(super) fn of(count: usize, keys: impl IntoIterator<Item = String>) -> Self {
        let mut filter = Self { words: vec![0; (count * BITS).div_ceil(64)] };
        for key in keys {
            if let Some((at, bits)) = filter.place(&key) {
                filter.words[at] |= bits;
            }
        }
        filter
    }

    /// May a key be among them? Where this says no, it is not.
    pub(super) fn may_have(&self, key: &str) -> bool {
        self.place(key).is_some_and(|(at, bits)| self.words[at] & bits == bits)
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    fn place(&self, key: &str) -> Option<(usize, u64)> {
        let hash = xxh3_64(key.as_bytes());
        let at = ((hash >> 32) * self.words.len() as u64) >> 32;
        let bits = (0..SET).fold(0, |bits, nth| bits | 1 << (hash >> (6 * nth) & 63));
        (!self.words.is_empty()).then_some((at as usize, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_never_denied_and_what_is_not_nearly_always() {
        let keys = |from: usize| (from..from + 20_000).map(|n| format!("key {n}"));
        let filter = Filter::of(20_000, keys(0));
        assert!(keys(0).all(|key| filter.may_have(&key)));
        let mistaken = keys(20_000).filter(|key| filter.may_have(key)).count();
        assert!(mistaken < 600, "{mistaken} of 20,000");
        assert!(!Filter::of(0, []).may_have("anything") && !Filter::default().may_have(""));
    }
}
