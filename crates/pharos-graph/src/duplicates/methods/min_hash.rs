//! MinHash (Broder 1997) of word shingles, as it scales: one permutation instead of a hundred (Li, Owen & Zhang 2012),
//! empty bins filled (Shrivastava 2017), eight bits kept of each minimum (b-bit MinHash, Li & König 2010), candidates by
//! bands (locality-sensitive hashing, Indyk & Motwani 1998).

use std::num::NonZeroU32;

use super::super::hash::{mix, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Bins, one byte each. The estimated similarity is off by 0.04 at one half (standard deviation).
const BINS: usize = 128;

/// Words of a page beyond which nothing is looked at.
const MAX_WORDS: usize = 1 << 18;

/// Adjacency of a band, counted from its first. The differences are all distinct: two bands share one row at most, and are
/// as good as independent.
const ROWS: [usize; 4] = [0, 1, 4, 6];

/// Bins without which nothing can be said.
const MIN_BINS: u32 = 20;

/// Jaccard from which pages that have nothing of their own are copies.
const BOILERPLATE_THRESHOLD: f64 = 0.9;

/// What is added to the thresholds where next to no bins can be looked at.
const UNCERTAINTY_MARGIN: f64 = 0.25;

/// Jaccard from which two pages have the same content on the whole.
const WHOLE_THRESHOLD: f64 = 0.7;

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
    pub min_similarity: f64,
    /// With fewer words, a page has no signature.
    pub min_words: usize,
    /// Keys of a page, at most 128. A pair of similarity s is a candidate with the probability 1 − (1 − s⁴)^bands.
    pub bands: usize,
}

impl Default for MinHash {
    fn default() -> Self {
        Self {
            shingle: 3,
            threshold: 0.5,
            containment: 0.75,
            min_similarity: 0.25,
            min_words: 30,
            bands: BINS,
        }
    }
}

/// All that is known of the minima of a page, before most of their bits are left out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FullMinHashSignature {
    minima: [u32; BINS],
    shingles: NonZeroU32,
}

impl FullMinHashSignature {
    /// Bytes of the minima.
    pub(crate) const BYTES: usize = 4 * BINS;

    pub(crate) fn minima(&self) -> &[u32; BINS] {
        &self.minima
    }

    pub(crate) fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (four, minimum) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(self.minima) {
            *four = minimum.to_le_bytes();
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES], shingles: NonZeroU32) -> Self {
        let mut minima = [0; BINS];
        for (minimum, four) in minima.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *minimum = u32::from_le_bytes(*four);
        }
        Self { minima, shingles }
    }

    pub(crate) fn shingles(&self) -> NonZeroU32 {
        self.shingles
    }

    /// What is kept of it, some bins hidden: they say nothing of this page.
    pub fn compress(&self, hidden: u128) -> MinHashSignature {
        let bins = self.minima.map(|minimum| minimum as u8);
        MinHashSignature { bins, hidden: hidden.to_le_bytes(), shingles: self.shingles }
    }
}

/// What is kept of a page: 148 bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MinHashSignature {
    bins: [u8; BINS],
    /// A bit for each bin that is not to be looked at.
    hidden: [u8; BINS / 8],
    /// Shingles, repetitions included: sequences of words seldom come twice.
    shingles: NonZeroU32,
}

impl MinHashSignature {
    /// Bytes of a signature.
    pub const BYTES: usize = BINS + BINS / 8 + 4;

    /// Its bytes, for keeping it outside of memory.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (bins, rest) = bytes.split_at_mut(BINS);
        let (hidden, shingles) = rest.split_at_mut(BINS / 8);
        bins.copy_from_slice(&self.bins);
        hidden.copy_from_slice(&self.hidden);
        shingles.copy_from_slice(&self.shingles.get().to_le_bytes());
        bytes
    }

    /// The signature with these bytes; none if they are of no signature.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bins, rest) = bytes.split_first_chunk()?;
        let (hidden, shingles) = rest.split_first_chunk()?;
        let shingles = u32::from_le_bytes(shingles.try_into().ok()?);
        Some(Self { bins: *bins, hidden: *hidden, shingles: NonZeroU32::new(shingles)? })
    }

    /// Are all bins hidden? Then the page consists of what many pages say.
    fn is_boilerplate_only(&self) -> bool {
        self.hidden == [u8::MAX; BINS / 8]
    }

    /// Shingles in the bins that are looked at.
    fn own_shingles(&self) -> f64 {
        let hidden = u128::from_le_bytes(self.hidden).count_ones();
        f64::from(self.shingles.get()) * f64::from(BINS as u32 - hidden) / BINS as f64
    }
}

impl MinHash {
    /// The Jaccard similarity of two pages, estimated from the equal bins, of which one in 256 is equal by chance.
    pub fn similarity(&self, one: &MinHashSignature, other: &MinHashSignature) -> f64 {
        estimate(one, other).0
    }

    /// Are two pages as similar as a part of a page and the whole may be? Less than [`compare`](DuplicateDetector::compare) asks for.
    pub(crate) fn is_possible_part(&self, one: &MinHashSignature, other: &MinHashSignature) -> bool {
        let (similarity, seen) = estimate(one, other);
        seen >= MIN_BINS && similarity >= self.min_similarity
    }

    /// The minima of a page; none if it has too few words.
    pub fn full_signature(&self, page: &PageText) -> Option<FullMinHashSignature> {
        if page.words.len() < self.min_words.max(1) {
            return None;
        }
        let words: Vec<u64> = page.words.iter().take(MAX_WORDS).map(|word| word_hash(word)).collect();
        let shingles = NonZeroU32::new(self.shingles(&words).len() as u32)?;
        let mut minima = self.minima(&words);
        fill_empty(&mut minima);
        Some(FullMinHashSignature { minima: minima.map(|minimum| minimum as u32), shingles })
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

impl DuplicateDetector for MinHash {
    type PageSignature = MinHashSignature;

    fn name(&self) -> String {
        format!("MinHash, J ≥ {}", self.threshold)
    }

    fn fingerprint(&self, page: &PageText) -> Option<MinHashSignature> {
        self.full_signature(page).map(|wide| wide.compress(0))
    }

    fn compare(&self, one: &MinHashSignature, other: &MinHashSignature) -> Option<MatchExtent> {
        if one.is_boilerplate_only() || other.is_boilerplate_only() {
            let similarity = similarity_of_all(one, other);
            return (similarity >= BOILERPLATE_THRESHOLD).then_some(MatchExtent::Whole);
        }
        let (similarity, seen) = estimate(one, other);
        if seen < MIN_BINS {
            return None;
        }
        // The fewer bins, the worse the estimate, and the surer it has to be.
        let doubt = UNCERTAINTY_MARGIN * (BINS as u32 - seen) as f64 / BINS as f64;
        if similarity >= self.threshold + doubt {
            return Some(if similarity >= WHOLE_THRESHOLD {
                MatchExtent::Whole
            } else {
                MatchExtent::Partial
            });
        }
        let (one, other) = (one.own_shingles(), other.own_shingles());
        let common = similarity * (one + other) / (1.0 + similarity);
        let is_part =
            similarity >= self.min_similarity + doubt && common >= self.containment * one.min(other);
        is_part.then_some(MatchExtent::Partial)
    }

    fn bytes(&self, signature: &MinHashSignature) -> usize {
        size_of_val(signature)
    }

    fn size(&self, signature: &MinHashSignature) -> u64 {
        u64::from(signature.shingles.get())
    }

    fn bands(&self) -> usize {
        self.bands.clamp(1, BINS)
    }

    fn key(&self, signature: &MinHashSignature, band: usize) -> Option<u32> {
        let rows = ROWS.map(|row| (band + row) % BINS);
        let is_hidden = rows.iter().any(|row| signature.hidden[row / 8] >> (row % 8) & 1 == 1);
        (!is_hidden || signature.is_boilerplate_only())
            .then(|| u32::from_le_bytes(rows.map(|row| signature.bins[row])))
    }
}

/// The estimated similarity, and by how many bins.
fn estimate(one: &MinHashSignature, other: &MinHashSignature) -> (f64, u32) {
    let hidden = u128::from_le_bytes(one.hidden) | u128::from_le_bytes(other.hidden);
    let bins = one.bins.iter().zip(&other.bins);
    if hidden == 0 {
        return (similarity_of_all(one, other), BINS as u32);
    }
    let seen = BINS as u32 - hidden.count_ones();
    let equal = bins.enumerate().filter(|(bin, (a, b))| hidden >> bin & 1 == 0 && a == b).count();
    (without_chance(equal as f64 / f64::from(seen.max(1))), seen)
}

fn similarity_of_all(one: &MinHashSignature, other: &MinHashSignature) -> f64 {
    // As many as there are bins fit a byte, so that the compiler counts sixteen at once.
    let equal: u8 = one.bins.iter().zip(&other.bins).map(|(a, b)| u8::from(a == b)).sum();
    without_chance(f64::from(equal) / BINS as f64)
}

/// One bin in 256 is equal by chance.
fn without_chance(equal: f64) -> f64 {
    let chance = 1.0 / 256.0;
    ((equal - chance) / (1.0 - chance)).max(0.0)
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
    fn a_signature_and_the_place_for_none_take_148_bytes() {
        assert_eq!(size_of::<Option<MinHashSignature>>(), 148);
    }

    #[test]
    fn other_bytes_are_no_signature() {
        let bytes = sign(&words(0..100)).to_bytes();
        assert!(MinHashSignature::from_bytes(&bytes).is_some());
        let none = &[0; MinHashSignature::BYTES][..];
        for wrong in [&bytes[1..], &[&bytes[..], &[0]].concat(), &[], none] {
            assert_eq!(MinHashSignature::from_bytes(wrong), None);
        }
    }

    #[test]
    fn a_half_is_a_part_and_a_sixth_is_a_quotation() {
        let method = MinHash::default();
        let whole = sign(&words(0..1200));
        assert_eq!(method.compare(&whole, &whole), Some(MatchExtent::Whole));
        assert_eq!(method.compare(&whole, &sign(&words(500..1100))), Some(MatchExtent::Partial));
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
        fn bytes_keep_all_of_a_signature(length in 30_u32..500) {
            let signature = sign(&words(0..length));
            prop_assert_eq!(MinHashSignature::from_bytes(&signature.to_bytes()), Some(signature));
        }

        #[test]
        fn short_pages_fill_all_bins(length in 1_u32..40) {
            let method = MinHash { min_words: 1, ..MinHash::default() };
            let words = words(0..length);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let hashes: Vec<u64> = words.iter().map(|word| word_hash(word)).collect();
            let mut minima = method.minima(&hashes);
            fill_empty(&mut minima);
            prop_assert!(minima.iter().all(|minimum| *minimum != u64::MAX));
        }
    }
}
