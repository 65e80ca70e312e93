//! The five keyword and MD5 algorithms of 《搜索引擎——原理、技术与系统》§7.2: a digest of the abstract or of the top N keywords.
//!
//! The printed formulas of algorithms 3 to 5 and of SIM are illegible. They are **reconstructed** from the surrounding
//! text, and marked as such.
//!
//! A list truncated to N keywords is looser than the whole list, and equality is stricter than similarity: a page whose
//! keywords N and N + 1 swap places is missed. In exchange, one digest per page is compared.

use super::super::hash::{digest_key, md5, md5_of_parts};
use super::super::{Digest, DuplicateDetector, MatchExtent, PageText};

/// Length of an abstract in bytes.
const ABSTRACT_BYTES: usize = 512;

/// Maximum number of keywords sorted.
const MAX_KEYWORDS: usize = 4096;

/// The condition under which two pages are copies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeywordRule {
    /// Algorithm 1: MD5 of the abstract, the first 512 bytes of the visible text.
    Abstract,
    /// Algorithm 2: MD5 of the keywords by descending weight.
    OrderedKeywords,
    /// Algorithm 3 (reconstructed): algorithm 2, and SIM of the weights below δ.
    OrderedKeywordsAndWeights,
    /// Algorithm 4 (reconstructed): algorithm 5, and SIM of the weights below δ.
    KeywordsAndWeights,
    /// Algorithm 5 (reconstructed): MD5 of the keywords in lexicographic order.
    Keywords,
    /// Algorithm 1 or algorithm 5, as the book recommends.
    AbstractOrKeywords,
}

/// One of the five algorithms with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct KeywordDetector {
    pub rule: KeywordRule,
    /// N: number of keywords.
    pub keywords: usize,
    /// δ: threshold of SIM.
    pub delta: f64,
}

impl KeywordDetector {
    /// Creates an algorithm with N = 10 and δ = 0.01.
    pub fn new(rule: KeywordRule) -> Self {
        Self { rule, keywords: 10, delta: 0.01 }
    }

    /// Returns the N keywords of highest weight by descending weight; ties in lexicographic order.
    fn top<'a>(&self, page: &PageText<'a>) -> Vec<(&'a str, f32)> {
        let mut keywords: Vec<(&str, f32)> = page.keywords.iter().take(MAX_KEYWORDS).copied().collect();
        keywords.sort_by(|one, other| one.0.cmp(other.0).then(other.1.total_cmp(&one.1)));
        keywords.dedup_by_key(|(word, _)| *word);
        keywords.sort_by(|one, other| other.1.total_cmp(&one.1));
        keywords.truncate(self.keywords);
        keywords
    }
}

/// Signature of an algorithm: 16 bytes, plus 4 for each weight if weights count, plus 16 if two rules are combined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeywordSignature {
    of_abstract: Option<Digest>,
    of_keywords: Option<Digest>,
    weights: Box<[f32]>,
}

/// Returns SIM (reconstructed): Σ(a − b)² / (Σa² + Σb²), 0 for equal weights, 1 for orthogonal ones.
pub fn weight_distance(one: &[f32], other: &[f32]) -> f64 {
    let at = |weights: &[f32], index: usize| weights.get(index).map_or(0.0, |weight| f64::from(*weight));
    let (mut apart, mut lengths) = (0.0, 0.0);
    for index in 0..one.len().max(other.len()) {
        let (a, b) = (at(one, index), at(other, index));
        apart += (a - b) * (a - b);
        lengths += a * a + b * b;
    }
    if lengths > 0.0 { apart / lengths } else { 0.0 }
}

impl DuplicateDetector for KeywordDetector {
    type PageSignature = KeywordSignature;

    fn name(&self) -> String {
        match self.rule {
            KeywordRule::Abstract => "algorithm 1",
            KeywordRule::OrderedKeywords => "algorithm 2",
            KeywordRule::OrderedKeywordsAndWeights => "algorithm 3 (r)",
            KeywordRule::KeywordsAndWeights => "algorithm 4 (r)",
            KeywordRule::Keywords => "algorithm 5 (r)",
            KeywordRule::AbstractOrKeywords => "algorithm 1 or 5 (r)",
        }
        .to_owned()
    }

    fn fingerprint(&self, page: &PageText) -> Option<KeywordSignature> {
        let mut signature = KeywordSignature::default();
        if matches!(self.rule, KeywordRule::Abstract | KeywordRule::AbstractOrKeywords)
            && !page.body.is_empty()
        {
            let end = page.body.floor_char_boundary(ABSTRACT_BYTES);
            signature.of_abstract = Some(md5(&page.body.as_bytes()[..end]));
        }
        if self.rule != KeywordRule::Abstract {
            let mut top = self.top(page);
            if matches!(
                self.rule,
                KeywordRule::KeywordsAndWeights | KeywordRule::Keywords | KeywordRule::AbstractOrKeywords
            ) {
                top.sort_by_key(|(word, _)| *word);
            }
            if !top.is_empty() {
                signature.of_keywords = Some(md5_of_parts(top.iter().map(|(word, _)| *word)));
            }
            if matches!(self.rule, KeywordRule::OrderedKeywordsAndWeights | KeywordRule::KeywordsAndWeights) {
                // A NaN weight would differ from itself.
                signature.weights =
                    top.iter().map(|(_, weight)| if weight.is_finite() { *weight } else { 0.0 }).collect();
            }
        }
        (signature.of_abstract.is_some() || signature.of_keywords.is_some()).then_some(signature)
    }

    fn compare(&self, one: &KeywordSignature, other: &KeywordSignature) -> Option<MatchExtent> {
        let same_abstract = one.of_abstract.is_some() && one.of_abstract == other.of_abstract;
        let same_keywords = one.of_keywords.is_some()
            && one.of_keywords == other.of_keywords
            && (one.weights.is_empty() || weight_distance(&one.weights, &other.weights) < self.delta);
        (same_abstract || same_keywords).then_some(MatchExtent::Whole)
    }

    fn bytes(&self, signature: &KeywordSignature) -> usize {
        let digests = if self.rule == KeywordRule::AbstractOrKeywords { 2 } else { 1 };
        digests * size_of::<Digest>() + size_of_val(&signature.weights[..])
    }

    fn bands(&self) -> usize {
        if self.rule == KeywordRule::AbstractOrKeywords { 2 } else { 1 }
    }

    fn key(&self, signature: &KeywordSignature, band: usize) -> Option<u32> {
        let digests = match self.rule {
            KeywordRule::Abstract => signature.of_abstract,
            KeywordRule::AbstractOrKeywords if band == 0 => signature.of_abstract,
            _ => signature.of_keywords,
        };
        digests.as_ref().map(digest_key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULES: [KeywordRule; 6] = [
        KeywordRule::Abstract,
        KeywordRule::OrderedKeywords,
        KeywordRule::OrderedKeywordsAndWeights,
        KeywordRule::KeywordsAndWeights,
        KeywordRule::Keywords,
        KeywordRule::AbstractOrKeywords,
    ];
    const WORDS: [&str; 10] = ["灯", "塔", "海", "船", "夜", "光", "岸", "雾", "风", "浪"];

    fn same(rule: KeywordRule, one: &[(&str, f32)], other: &[(&str, f32)]) -> bool {
        let method = KeywordDetector::new(rule);
        let sign = |keywords| method.fingerprint(&PageText { keywords, ..PageText::default() }).unwrap();
        method.compare(&sign(one), &sign(other)).is_some()
    }

    fn weighted(weights: impl Iterator<Item = f32>) -> Vec<(&'static str, f32)> {
        WORDS.into_iter().zip(weights).collect()
    }

    #[test]
    fn equal_weights_are_at_distance_zero_and_orthogonal_ones_at_one() {
        assert_eq!(weight_distance(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert_eq!(weight_distance(&[1.0, 0.0], &[0.0, 3.0]), 1.0);
        assert_eq!(weight_distance(&[], &[]), 0.0);
    }

    #[test]
    fn another_order_of_the_same_keywords_is_seen_by_two_and_not_by_five() {
        let falling = weighted((0..10).map(|rank| 20.0 - rank as f32));
        let rising = weighted((0..10).map(|rank| 11.0 + rank as f32));
        assert!(!same(KeywordRule::OrderedKeywords, &falling, &rising));
        assert!(same(KeywordRule::Keywords, &falling, &rising));
        assert!(!same(KeywordRule::KeywordsAndWeights, &falling, &rising));
    }

    #[test]
    fn weights_may_differ_by_less_than_delta() {
        let weights = weighted((0..10).map(|rank| 20.0 - rank as f32));
        let nearly = weighted((0..10).map(|rank| 20.5 - rank as f32));
        let doubled = weighted((0..10).map(|rank| 40.0 - 2.0 * rank as f32));
        for rule in [KeywordRule::OrderedKeywordsAndWeights, KeywordRule::KeywordsAndWeights] {
            assert!(same(rule, &weights, &nearly));
            assert!(!same(rule, &weights, &doubled));
        }
        assert!(same(KeywordRule::OrderedKeywords, &weights, &doubled));
    }

    #[test]
    fn a_page_takes_sixteen_bytes_and_with_ten_weights_fifty_six() {
        let keywords = weighted((0..10).map(|rank| rank as f32));
        let page = PageText { body: "灯塔", keywords: &keywords, ..PageText::default() };
        let bytes = RULES.map(|rule| {
            let method = KeywordDetector::new(rule);
            method.bytes(&method.fingerprint(&page).unwrap())
        });
        assert_eq!(bytes, [16, 16, 56, 56, 16, 32]);
    }

    proptest! {
        #[test]
        fn any_weights_give_a_signature_like_itself(weights in prop::collection::vec(any::<f32>(), 1..10)) {
            let keywords = weighted(weights.into_iter());
            for rule in RULES {
                if rule != KeywordRule::Abstract {
                    prop_assert!(same(rule, &keywords, &keywords));
                }
            }
        }
    }
}
