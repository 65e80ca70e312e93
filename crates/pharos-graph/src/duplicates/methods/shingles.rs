//! Shingling (Broder 1997): the set of all substrings of N characters, compared by Jaccard similarity.

use super::super::hash::{intersection_size, min_hash, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Maximum number of bytes read per body: a signature takes 8 bytes per character.
const MAX_BYTES: usize = 256 * 1024;

/// Jaccard similarity from which two pages are whole copies.
const WHOLE_THRESHOLD: f64 = 0.8;

/// Number of keys per page, each the minimum shingle under another permutation. At a similarity of 0.2 all miss once in
/// a thousand pairs.
const BANDS: usize = 32;

/// Detects pages that share enough shingles. Exact but expensive: the reference for the detectors that estimate it.
#[derive(Clone, Copy, Debug)]
pub struct Shingles {
    /// N: characters per shingle.
    pub length: usize,
    /// Minimum Jaccard similarity of copies.
    pub threshold: f64,
}

impl Shingles {
    /// Returns the example of 《走进搜索引擎》§3.3.2: 5 characters and a threshold of 0.2. It suits Han characters; five
    /// letters are a word or less, and at this threshold unrelated pages of an alphabetic language are similar.
    pub fn book_example() -> Self {
        Self { length: 5, threshold: 0.2 }
    }
}

impl Default for Shingles {
    fn default() -> Self {
        Self { length: 5, threshold: 0.5 }
    }
}

/// Returns every substring of `length` characters: L − length + 1 for a text of L characters, with repetitions.
pub fn shingles_of(text: &str, length: usize) -> impl Iterator<Item = &str> {
    let length = length.max(1);
    let ends = text.char_indices().map(|(start, sign)| start + sign.len_utf8()).skip(length - 1);
    text.char_indices().zip(ends).map(|((start, _), end)| &text[start..end])
}

/// Returns |A ∩ B| / |A ∪ B| from the sizes of two sets and of their intersection; 0 for two empty sets.
pub fn jaccard(one: usize, other: usize, common: usize) -> f64 {
    let union = (one + other).saturating_sub(common);
    if union == 0 { 0.0 } else { common as f64 / union as f64 }
}

impl DuplicateDetector for Shingles {
    type PageSignature = Box<[u64]>;

    fn name(&self) -> String {
        format!("shingles of {}, J ≥ {}", self.length, self.threshold)
    }

    fn fingerprint(&self, page: &PageText) -> Option<Box<[u64]>> {
        let body = &page.body[..page.body.floor_char_boundary(MAX_BYTES)];
        let mut shingles: Vec<u64> = shingles_of(body, self.length).map(word_hash).collect();
        shingles.sort_unstable();
        shingles.dedup();
        (!shingles.is_empty()).then(|| shingles.into_boxed_slice())
    }

    fn compare(&self, one: &Box<[u64]>, other: &Box<[u64]>) -> Option<MatchExtent> {
        let similarity = jaccard(one.len(), other.len(), intersection_size(one, other));
        if similarity < self.threshold {
            return None;
        }
        Some(if similarity >= WHOLE_THRESHOLD { MatchExtent::Whole } else { MatchExtent::Partial })
    }

    fn bytes(&self, signature: &Box<[u64]>) -> usize {
        size_of_val(&signature[..])
    }

    fn bands(&self) -> usize {
        BANDS
    }

    fn key(&self, signature: &Box<[u64]>, band: usize) -> Option<u32> {
        Some(min_hash(signature, band))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thirty_and_twenty_two_with_four_in_common_are_not_similar() {
        assert_eq!(jaccard(30, 22, 4), 4.0 / 48.0);
        let one: Box<[u64]> = (0..30).collect();
        let other: Box<[u64]> = (26..48).collect();
        assert_eq!(Shingles::book_example().compare(&one, &other), None);
        assert_eq!(Shingles::book_example().compare(&one, &one), Some(MatchExtent::Whole));
    }

    #[test]
    fn a_text_of_seven_characters_has_three_shingles_of_five() {
        let shingles: Vec<&str> = shingles_of("灯塔照亮了夜海", 5).collect();
        assert_eq!(shingles, ["灯塔照亮了", "塔照亮了夜", "照亮了夜海"]);
        assert_eq!(shingles_of("灯塔照亮", 5).count(), 0);
    }

    proptest! {
        #[test]
        fn shingles_number_length_less_n_plus_one(text in ".{0,60}", length in 1_usize..12) {
            let characters = text.chars().count();
            prop_assert_eq!(shingles_of(&text, length).count(), (characters + 1).saturating_sub(length));
        }
    }
}
