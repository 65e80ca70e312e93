//! MinHash (Broder 1997) of word shingles, as it scales: one permutation instead of a hundred (Li, Owen & Zhang 2012),
//! empty bins filled (Shrivastava 2017), eight bits kept of each minimum (b-bit MinHash, Li & König 2010), candidates by
//! bands (locality-sensitive hashing, Indyk & Motwani 1998).

use std::num::NonZeroU32;

use super::super::hash::{mix, word_hash};
use super::super::{Extent, Method, PageText};

/// Bins, one byte each. The estimated similarity is off by 0.04 at one half (standard deviation).
const BINS: usize = 128;

/// Words of a page beyond which nothing is looked at.
const MOST_WORDS: usize = 1 << 18;

/// Rows of a band, counted from its first. The differences are all distinct: two bands share one row at most, and are
/// as good as independent.
const ROWS: [usize; 4] = [0, 1, 4, 6];

/// Jaccard from which two pages have the same content on the whole.
const WHOLE: f64 = 0.7;

/// Pages that share enough sequences of words.
///
/// A reprint is often a part of the original, or the original a part of it: the Jaccard similarity of a half and its whole
/// is only 0.5. Since the signature knows how many shingles a page has, the share of the smaller page that stands in the
/// larger one (*containment*) is estimated, too.
#[derive(Clone, Copy, Debug)]
pub struct MinHash {
    /// Words in a shingle.
    pub shingle: usize,
    /// Pages at least so similar (Jaccard) are copies.
    pub threshold: f64,
    /// So are pages of which at least this share stands in the other …
    pub containment: f64,
    /// … if they are at least so similar: below, the estimate is worth little, and a quotation is no copy.
    pub least_similar: f64,
    /// With fewer words, a page has no signature.
    pub least_words: usize,
    /// Keys of a page, at most 128. A pair of similarity s is a candidate with the probability 1 − (1 − s⁴)^bands.
    pub bands: usize,
}

impl Default for MinHash {
    fn default() -> Self {
        Self {
            shingle: 3,
            threshold: 0.5,
            containment: 0.75,
            least_similar: 0.25,
            least_words: 30,
            bands: BINS,
        }
    }
}

/// What is kept of a page: 132 bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MinHashSignature {
    bins: [u8; BINS],
    /// Shingles, repetitions included: sequences of words seldom come twice.
    shingles: NonZeroU32,
}

impl MinHash {
    /// The Jaccard similarity of two pages, estimated from the equal bins, of which one in 256 is equal by chance.
    pub fn similarity(&self, one: &MinHashSignature, other: &MinHashSignature) -> f64 {
        let equal: u32 = one.bins.iter().zip(&other.bins).map(|(a, b)| u32::from(a == b)).sum();
        let chance = 1.0 / 256.0;
        ((f64::from(equal) / BINS as f64 - chance) / (1.0 - chance)).max(0.0)
    }

    /// The hashes of the words in groups of `shingle`; all of them in one if there are fewer.
    fn shingles<'a>(&self, words: &'a [u64]) -> std::slice::Windows<'a, u64> {
        words.windows(self.shingle.clamp(1, 16).min(words.len().max(1)))
    }

    /// The smallest hash in each bin, the bin being the upper seven bits of the hash; `u64::MAX` where there is none.
    fn minima(&self, words: &[u64]) -> [u64; BINS] {
        let mut minima = [u64::MAX; BINS];
        for shingle in self.shingles(words) {
            let joined = shingle.iter().fold(0_u64, |sum, word| sum.rotate_left(23).wrapping_mul(5) ^ word);
            let hash = mix(joined);
            let bin = &mut minima[(hash >> 57) as usize];
            *bin = (*bin).min(hash << 7 >> 7);
        }
        minima
    }
}

/// Each empty bin takes the minimum of another, which is drawn the same way for all pages.
fn fill_empty(minima: &mut [u64; BINS]) {
    let found = *minima;
    for (bin, minimum) in minima.iter_mut().enumerate().filter(|(_, minimum)| **minimum == u64::MAX) {
        // A page with one full bin of 128 is missed by all these draws once in 10¹⁰ bins, and then goes without.
        let drawn = (0..3000).map(|attempt| found[(mix((bin << 32 | attempt) as u64) >> 57) as usize]);
        *minimum = drawn.into_iter().find(|minimum| *minimum != u64::MAX).unwrap_or(u64::MAX);
    }
}

impl Method for MinHash {
    type Signature = MinHashSignature;

    fn name(&self) -> String {
        format!("MinHash, J ≥ {}", self.threshold)
    }

    fn fingerprint(&self, page: &PageText) -> Option<MinHashSignature> {
        if page.words.len() < self.least_words.max(1) {
            return None;
        }
        let words: Vec<u64> = page.words.iter().take(MOST_WORDS).map(|word| word_hash(word)).collect();
        let shingles = NonZeroU32::new(self.shingles(&words).len() as u32)?;
        let mut minima = self.minima(&words);
        fill_empty(&mut minima);
        Some(MinHashSignature { bins: minima.map(|minimum| minimum as u8), shingles })
    }

    fn compare(&self, one: &MinHashSignature, other: &MinHashSignature) -> Option<Extent> {
        let similarity = self.similarity(one, other);
        if similarity >= self.threshold {
            return Some(if similarity >= WHOLE { Extent::Whole } else { Extent::Partial });
        }
        let (one, other) = (f64::from(one.shingles.get()), f64::from(other.shingles.get()));
        let common = similarity * (one + other) / (1.0 + similarity);
        let is_part = similarity >= self.least_similar && common >= self.containment * one.min(other);
        is_part.then_some(Extent::Partial)
    }

    fn bytes(&self, signature: &MinHashSignature) -> usize {
        size_of_val(signature)
    }

    fn bands(&self) -> usize {
        self.bands.clamp(1, BINS)
    }

    fn key(&self, signature: &MinHashSignature, band: usize) -> u32 {
        u32::from_le_bytes(ROWS.map(|row| signature.bins[(band + row) % BINS]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(numbers: std::ops::Range<u32>) -> Vec<String> {
        numbers.map(|number| format!("w{number}")).collect()
    }

    fn sign(words: &[String]) -> MinHashSignature {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        MinHash::default().fingerprint(&PageText { words: &words, ..PageText::default() }).unwrap()
    }

    #[test]
    fn a_signature_and_the_place_for_none_take_132_bytes() {
        assert_eq!(size_of::<Option<MinHashSignature>>(), 132);
    }

    #[test]
    fn a_half_is_a_part_and_a_sixth_is_a_quotation() {
        let method = MinHash::default();
        let whole = sign(&words(0..1200));
        assert_eq!(method.compare(&whole, &whole), Some(Extent::Whole));
        assert_eq!(method.compare(&whole, &sign(&words(500..1100))), Some(Extent::Partial));
        assert_eq!(method.compare(&whole, &sign(&words(500..700))), None);
        assert_eq!(method.compare(&whole, &sign(&words(900..2100))), None);
    }

    proptest! {
        #[test]
        fn the_estimate_is_near_the_similarity(start in 0_u32..1000, length in 200_u32..2000, moved in 0_u32..200) {
            let (one, other) = (words(start..start + length), words(start + moved..start + moved + length));
            let shingles = f64::from(length - 2);
            let common = (shingles - f64::from(moved)).max(0.0);
            let similarity = common / (2.0 * shingles - common);
            // Five standard deviations.
            let estimate = MinHash::default().similarity(&sign(&one), &sign(&other));
            prop_assert!((estimate - similarity).abs() < 0.23, "{estimate} for {similarity}");
        }

        #[test]
        fn short_pages_fill_all_bins(length in 1_u32..40) {
            let method = MinHash { least_words: 1, ..MinHash::default() };
            let words = words(0..length);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let hashes: Vec<u64> = words.iter().map(|word| word_hash(word)).collect();
            let mut minima = method.minima(&hashes);
            fill_empty(&mut minima);
            prop_assert!(minima.iter().all(|minimum| *minimum != u64::MAX));
        }
    }
}
