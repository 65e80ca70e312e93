//! Hash functions for words and texts.

use md5::{Digest as _, Md5};
use xxhash_rust::xxh3::xxh3_64;

use super::Digest;

/// Separator between joined parts, so that "ab" + "c" differs from "a" + "bc".
const SEPARATOR: &[u8] = b"\x1f";

pub(super) fn md5(bytes: &[u8]) -> Digest {
    Md5::digest(bytes).into()
}

/// Returns the digest of the joined parts.
pub(super) fn md5_of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Digest {
    let mut digest = Md5::new();
    for part in parts {
        digest.update(part.as_bytes());
        digest.update(SEPARATOR);
    }
    digest.finalize().into()
}

/// Returns the key of a digest: its first four bytes.
pub(super) fn digest_key(digest: &Digest) -> u32 {
    u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
}

pub(super) fn word_hash(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

/// Mixes all bits of a number (the finaliser of SplitMix64; Steele, Lea & Flood 2014).
#[inline]
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Returns the minimum of a set under the `seed`-th permutation. Two sets have the same minimum with the probability of
/// their Jaccard similarity.
pub(super) fn min_hash(set: &[u64], seed: usize) -> u32 {
    let seed = mix(seed as u64 + 1);
    let smallest = set.iter().map(|member| mix(member ^ seed)).min().unwrap_or(0);
    (smallest >> 32) as u32 ^ smallest as u32
}

/// Returns the number of common members of two sorted lists without repetitions.
pub(super) fn intersection_size(one: &[u64], other: &[u64]) -> usize {
    let (mut left, mut right, mut common) = (0, 0, 0);
    while left < one.len() && right < other.len() {
        common += usize::from(one[left] == other[right]);
        let (here, there) = (one[left], other[right]);
        left += usize::from(here <= there);
        right += usize::from(there <= here);
    }
    common
}
