//! SimHash (Charikar 2002): 64-bit signatures that differ in few bits if pages differ in few words.

use super::super::hash::{mix, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Maximum number of words read per page.
const MAX_WORDS: usize = 1 << 18;

/// Each byte with its bits spread over the bytes of a word, so that one addition updates eight counters.
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

/// Detects pages with similar sets of words. Distinct words count once: with frequencies, the words of every page (的,
/// the) would decide most bits.
#[derive(Clone, Copy, Debug)]
pub struct SimHash {
    /// Maximum number of differing bits of copies, at most 8. Manku, Jain & Das Sarma (2007) use 3 for eight thousand
    /// million pages.
    pub distance: u32,
    /// Minimum number of distinct words for a signature.
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

    /// Returns the number of signature blocks per key (Manku, Jain & Das Sarma 2007). Of `distance + key_blocks`
    /// blocks, at least `key_blocks` have no differing bit, so one of the tables keyed by that many blocks contains the
    /// pair.
    fn key_blocks(&self) -> usize {
        if self.distance() <= 3 { 3 } else { 2 }
    }
}

/// Returns the `rank`-th subset of `size` elements as a bit set (combinatorial number system; Lehmer 1964).
fn combination(size: usize, mut rank: usize) -> u32 {
    let mut set = 0;
    for size in (1..=size).rev() {
        let mut element = size - 1;
        while combinations(element + 1, size) <= rank {
            element += 1;
        }
        rank -= combinations(element, size);
        set |= 1 << element;
    }
    set
}

/// Returns the binomial coefficient for small numbers.
fn combinations(count: usize, size: usize) -> usize {
    (0..size).fold(1, |product, step| product * (count - step) / (step + 1))
}

/// Returns the bits that more than half of the hashes have.
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
        combinations(self.distance() + self.key_blocks(), self.key_blocks())
    }

    fn key(&self, signature: &u64, band: usize) -> Option<u32> {
        let blocks = self.distance() + self.key_blocks();
        let chosen = combination(self.key_blocks(), band);
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
