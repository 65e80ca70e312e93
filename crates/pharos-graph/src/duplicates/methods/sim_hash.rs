//! SimHash (Charikar 2002): 64 bits that differ in few places where pages differ in few words.

use super::super::hash::{mix, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Words of a page beyond which nothing is looked at.
const MAX_WORDS: usize = 1 << 18;

/// A byte with its bits spread over the bytes of a number, so that eight counters take one addition.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            spread[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    spread
};

/// Pages whose sets of words point in nearly the same direction. Distinct words count once: with their frequencies, the
/// words of every page (的, the) would decide most bits.
#[derive(Clone, Copy, Debug)]
pub struct SimHash {
    /// Pages whose signatures differ in at most so many bits are copies, at most 8. Manku, Jain & Das Sarma (2007) take
    /// 3 for eight thousand million pages.
    pub distance: u32,
    /// With fewer distinct words, a page has no signature.
    pub min_words: usize,
}

impl Default for SimHash {
    fn default() -> Self {
        Self { distance: 6, min_words: 20 }
    }
}

impl SimHash {
    fn distance(&self) -> usize {
        self.distance.min(8) as usize
    }

    /// How many blocks of the signature a key is made of. (Manku, Jain & Das Sarma 2007:) of `distance + together` blocks at
    /// least `together` have no bit that differs, so one of the tables with that many blocks as key finds the pair.
    fn together(&self) -> usize {
        if self.distance() <= 3 { 3 } else { 2 }
    }
}

/// The `rank`-th way to take `size` things, as a set of bits (the combinatorial number system; Lehmer 1964).
fn combination(size: usize, mut rank: usize) -> u32 {
    let mut set = 0;
    for size in (1..=size).rev() {
        let mut thing = size - 1;
        while combinations(thing + 1, size) <= rank {
            thing += 1;
        }
        rank -= combinations(thing, size);
        set |= 1 << thing;
    }
    set
}

/// n over k, for small numbers.
fn combinations(count: usize, size: usize) -> usize {
    (0..size).fold(1, |product, step| product * (count - step) / (step + 1))
}

/// For each bit, whether more than half of the hashes have it.
fn majority(hashes: &[u64]) -> u64 {
    let mut ones = [0_u32; 64];
    for few in hashes.chunks(255) {
        let mut counters = [0_u64; 8];
        for hash in few {
            for (counter, byte) in counters.iter_mut().zip(hash.to_le_bytes()) {
                *counter += SPREAD[usize::from(byte)];
            }
        }
        for (sum, counter) in ones.iter_mut().zip(counters.iter().flat_map(|counter| counter.to_le_bytes())) {
            *sum += u32::from(counter);
        }
    }
    let half = hashes.len() as u32 / 2;
    ones.iter().enumerate().fold(0, |bits, (bit, sum)| bits | (u64::from(*sum > half) << bit))
}

impl DuplicateDetector for SimHash {
    type PageSignature = u64;

    fn name(&self) -> String {
        format!("SimHash, ≤ {} bits", self.distance())
    }

    fn fingerprint(&self, page: &PageText) -> Option<u64> {
        let mut hashes: Vec<u64> = page.words.iter().take(MAX_WORDS).map(|word| word_hash(word)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        (hashes.len() >= self.min_words.max(1)).then(|| majority(&hashes))
    }

    fn compare(&self, one: &u64, other: &u64) -> Option<MatchExtent> {
        ((one ^ other).count_ones() as usize <= self.distance()).then_some(MatchExtent::Whole)
    }

    fn bytes(&self, signature: &u64) -> usize {
        size_of_val(signature)
    }

    fn bands(&self) -> usize {
        combinations(self.distance() + self.together(), self.together())
    }

    fn key(&self, signature: &u64, band: usize) -> Option<u32> {
        let blocks = self.distance() + self.together();
        let chosen = combination(self.together(), band);
        let mut kept = 0;
        for block in (0..blocks).filter(|block| chosen >> block & 1 == 1) {
            let (start, end) = (64 * block / blocks, 64 * (block + 1) / blocks);
            kept |= signature & (u64::MAX >> (64 - (end - start)) << start);
        }
        Some((mix(kept) >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_decided_by_the_majority(hashes in prop::collection::vec(any::<u64>(), 1..600)) {
            let signature = majority(&hashes);
            for bit in 0..64 {
                let ones = hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count();
                prop_assert_eq!(signature >> bit & 1 == 1, ones > hashes.len() / 2);
            }
        }

        #[test]
        fn pages_within_the_distance_share_a_key(
            signature: u64,
            flips in prop::collection::vec(0_u32..64, 0..=8),
            distance in 0_u32..=8,
        ) {
            let method = SimHash { distance, ..SimHash::default() };
            let other = flips.iter().take(distance as usize).fold(signature, |bits, flip| bits ^ 1 << flip);
            prop_assert!(method.compare(&signature, &other).is_some());
            prop_assert!((0..method.bands()).any(|band| method.key(&signature, band) == method.key(&other, band)));
        }
    }
}
