//! MinHash (Broder 1997) of word shingles, with one permutation (Li, Owen & Zhang 2012), densification of empty bins
//! (Shrivastava 2017), eight bits per minimum (b-bit MinHash, Li & König 2010), and candidates by bands
//! (locality-sensitive hashing, Indyk & Motwani 1998).

use std::num::NonZeroU32;

use super::super::hash::{mix, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Number of bins, one byte each. The standard deviation of the estimated similarity is 0.04 at one half.
const BINS: usize = 128;

/// Maximum number of words read per page.
const MAX_WORDS: usize = 1 << 18;

/// Bins of a band, relative to its first. All differences are distinct: two bands share at most one bin, and are nearly
/// independent.
const BAND_BINS: [usize; 4] = [0, 1, 4, 6];

/// Minimum number of visible bins for a comparison.
const MIN_BINS: u32 = 20;

/// Jaccard threshold for pages that consist of boilerplate.
const BOILERPLATE_THRESHOLD: f64 = 0.9;

/// Margin added to the thresholds if almost no bins are visible.
const UNCERTAINTY_MARGIN: f64 = 0.25;

/// Jaccard similarity from which two pages are whole copies.
const WHOLE_THRESHOLD: f64 = 0.7;

/// Detects pages that share enough word shingles.
///
/// A reprint is often a part of the original, or contains it: the Jaccard similarity of a half and its whole is only
/// 0.5. The signature stores the number of shingles, so the share of the smaller page contained in the larger one
/// (*containment*) is estimated as well.
#[derive(Clone, Copy, Debug)]
pub struct MinHash {
    /// Words per shingle.
    pub shingle: usize,
    /// Minimum Jaccard similarity of copies.
    pub threshold: f64,
    /// Minimum containment of partial copies.
    pub containment: f64,
    /// Minimum Jaccard similarity of partial copies. Below it the estimate is unreliable, and a quotation is not a
    /// copy.
    pub min_similarity: f64,
    /// Minimum number of words for a signature.
    pub min_words: usize,
    /// Number of keys per page, at most 128. A pair of similarity s is a candidate with probability 1 − (1 − s⁴)^bands.
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

/// The minima of a page with 32 bits each, before compression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FullMinHashSignature {
    minima: [u32; BINS],
    shingles: NonZeroU32,
}

impl FullMinHashSignature {
    /// Size of the minima in bytes.
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

    /// Compresses the signature to 8 bits per minimum. `hidden` is a bit set of bins to ignore.
    pub fn compress(&self, hidden: u128) -> MinHashSignature {
        let bins = self.minima.map(|minimum| minimum as u8);
        MinHashSignature { bins, hidden: hidden.to_le_bytes(), shingles: self.shingles }
    }
}

/// The MinHash signature of a page: 148 bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MinHashSignature {
    bins: [u8; BINS],
    /// A bit for each hidden bin.
    hidden: [u8; BINS / 8],
    /// Number of shingles including repetitions, which are rare.
    shingles: NonZeroU32,
}

impl MinHashSignature {
    /// Size of a signature in bytes.
    pub const BYTES: usize = BINS + BINS / 8 + 4;

    /// Returns the stored form of the signature.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (bins, rest) = bytes.split_at_mut(BINS);
        let (hidden, shingles) = rest.split_at_mut(BINS / 8);
        bins.copy_from_slice(&self.bins);
        hidden.copy_from_slice(&self.hidden);
        shingles.copy_from_slice(&self.shingles.get().to_le_bytes());
        bytes
    }

    /// Parses the stored form. Returns `None` if the bytes are not a signature.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bins, rest) = bytes.split_first_chunk()?;
        let (hidden, shingles) = rest.split_first_chunk()?;
        let shingles = u32::from_le_bytes(shingles.try_into().ok()?);
        Some(Self { bins: *bins, hidden: *hidden, shingles: NonZeroU32::new(shingles)? })
    }

    /// Returns `true` if all bins are hidden: the page consists of boilerplate.
    fn is_boilerplate_only(&self) -> bool {
        self.hidden == [u8::MAX; BINS / 8]
    }

    /// Returns the estimated number of shingles in visible bins.
    fn own_shingles(&self) -> f64 {
        let hidden = u128::from_le_bytes(self.hidden).count_ones();
        f64::from(self.shingles.get()) * f64::from(BINS as u32 - hidden) / BINS as f64
    }
}

impl MinHash {
    /// Returns the estimated Jaccard similarity of two pages, corrected for the one bin in 256 that is equal by chance.
    pub fn similarity(&self, one: &MinHashSignature, other: &MinHashSignature) -> f64 {
        estimate(one, other).0
    }

    /// Returns `true` if one page may be a part of the other. The threshold is lower than that of
    /// [`compare`](DuplicateDetector::compare).
    pub(crate) fn is_possible_part(&self, one: &MinHashSignature, other: &MinHashSignature) -> bool {
        let (similarity, visible) = estimate(one, other);
        visible >= MIN_BINS && similarity >= self.min_similarity
    }

    /// Returns the full signature of a page, or `None` if it has too few words.
    pub fn full_signature(&self, page: &PageText) -> Option<FullMinHashSignature> {
        if page.words.len() < self.min_words.max(1) {
            return None;
        }
        let words: Vec<u64> = page.words.iter().take(MAX_WORDS).map(|word| word_hash(word)).collect();
        let shingles = NonZeroU32::new(self.shingles(&words).len() as u32)?;
        let mut minima = self.minima(&words);
        fill_empty_bins(&mut minima);
        Some(FullMinHashSignature { minima: minima.map(|minimum| minimum as u32), shingles })
    }

    /// Returns the shingles of `shingle` word hashes; a single shingle if there are fewer words.
    fn shingles<'a>(&self, words: &'a [u64]) -> std::slice::Windows<'a, u64> {
        words.windows(self.shingle.clamp(1, 16).min(words.len().max(1)))
    }

    /// Returns the smallest hash in each bin, `u64::MAX` for empty bins. The upper seven bits of a hash select the bin.
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

/// Fills each empty bin with the minimum of another bin, drawn in the same order for all pages.
fn fill_empty_bins(minima: &mut [u64; BINS]) {
    let found = *minima;
    for (bin, minimum) in minima.iter_mut().enumerate().filter(|(_, minimum)| **minimum == u64::MAX) {
        // For a page with one full bin of 128, all draws fail once in 10¹⁰ bins; then the bin stays empty.
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
        self.full_signature(page).map(|full| full.compress(0))
    }

    fn compare(&self, one: &MinHashSignature, other: &MinHashSignature) -> Option<MatchExtent> {
        if one.is_boilerplate_only() || other.is_boilerplate_only() {
            let similarity = similarity_of_all_bins(one, other);
            return (similarity >= BOILERPLATE_THRESHOLD).then_some(MatchExtent::Whole);
        }
        let (similarity, visible) = estimate(one, other);
        if visible < MIN_BINS {
            return None;
        }
        // Fewer bins make the estimate less certain, so the thresholds rise.
        let margin = UNCERTAINTY_MARGIN * (BINS as u32 - visible) as f64 / BINS as f64;
        if similarity >= self.threshold + margin {
            return Some(if similarity >= WHOLE_THRESHOLD {
                MatchExtent::Whole
            } else {
                MatchExtent::Partial
            });
        }
        let (one, other) = (one.own_shingles(), other.own_shingles());
        let common = similarity * (one + other) / (1.0 + similarity);
        let is_part =
            similarity >= self.min_similarity + margin && common >= self.containment * one.min(other);
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
        let bins = BAND_BINS.map(|bin| (band + bin) % BINS);
        let is_hidden = bins.iter().any(|bin| signature.hidden[bin / 8] >> (bin % 8) & 1 == 1);
        (!is_hidden || signature.is_boilerplate_only())
            .then(|| u32::from_le_bytes(bins.map(|bin| signature.bins[bin])))
    }
}

/// Returns the estimated similarity and the number of visible bins.
fn estimate(one: &MinHashSignature, other: &MinHashSignature) -> (f64, u32) {
    let hidden = u128::from_le_bytes(one.hidden) | u128::from_le_bytes(other.hidden);
    let bins = one.bins.iter().zip(&other.bins);
    if hidden == 0 {
        return (similarity_of_all_bins(one, other), BINS as u32);
    }
    let visible = BINS as u32 - hidden.count_ones();
    let equal = bins.enumerate().filter(|(bin, (a, b))| hidden >> bin & 1 == 0 && a == b).count();
    (correct_for_chance(equal as f64 / f64::from(visible.max(1))), visible)
}

fn similarity_of_all_bins(one: &MinHashSignature, other: &MinHashSignature) -> f64 {
    // The count of equal bins fits a byte, so that the compiler vectorises the loop.
    let equal: u8 = one.bins.iter().zip(&other.bins).map(|(a, b)| u8::from(a == b)).sum();
    correct_for_chance(f64::from(equal) / BINS as f64)
}

/// Corrects for the one bin in 256 that is equal by chance.
fn correct_for_chance(equal: f64) -> f64 {
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
            fill_empty_bins(&mut minima);
            prop_assert!(minima.iter().all(|minimum| *minimum != u64::MAX));
        }
    }
}
