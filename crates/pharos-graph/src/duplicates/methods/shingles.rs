//! Shingles (Broder 1997): every N consecutive characters as a set, compared by Jaccard.

use super::super::hash::{intersection_size, min_hash, word_hash};
use super::super::{DuplicateDetector, MatchExtent, PageText};

/// Bytes of a body beyond which nothing is looked at: a signature takes 8 bytes for each character.
const MAX_BYTES: usize = 256 * 1024;

/// Jaccard from which two pages have the same content on the whole.
const WHOLE_THRESHOLD: f64 = 0.8;

/// Keys of a page, each the min_hash shingle in another order: at a similarity of 0.2 all miss once in a thousand pairs.
const BANDS: usize = 32;

/// Pages that share enough shingles. Exact and dear: the yardstick for the methods that estimate it.
#[derive(Clone, Copy, Debug)]
pub struct Shingles {
    /// N: characters in a shingle.
    pub length: usize,
    /// Pages at least so similar are copies.
    pub threshold: f64,
}

impl Shingles {
    /// The example of the books: 5 characters and a threshold of 0.2. Made for Han characters: five letters are a word or
    /// less, and at this threshold unrelated pages of an alphabetic language are alike.
    pub fn of_the_book() -> Self {
        Self { length: 5, threshold: 0.2 }
    }
}

impl Default for Shingles {
    fn default() -> Self {
        Self { length: 5, threshold: 0.5 }
    }
}

/// Each `length` consecutive characters of a text of L: L − length + 1 of them, repetitions included.
pub fn shingles_of(text: &str, length: usize) -> impl Iterator<Item = &str> {
    let length = length.max(1);
    let ends = text.char_indices().map(|(start, sign)| start + sign.len_utf8()).skip(length - 1);
    text.char_indices().zip(ends).map(|((start, _), end)| &text[start..end])
}

/// |A ∩ B| / |A ∪ B| from the sizes of both and of what they have in common; 0 for two empty sets.
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
        let likeness = jaccard(one.len(), other.len(), intersection_size(one, other));
        if likeness < self.threshold {
            return None;
        }
        Some(if likeness >= WHOLE_THRESHOLD { MatchExtent::Whole } else { MatchExtent::Partial })
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
        assert_eq!(Shingles::of_the_book().compare(&one, &other), None);
        assert_eq!(Shingles::of_the_book().compare(&one, &one), Some(MatchExtent::Whole));
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
