//! The basic weight WB (基本权值): term frequency by HTML tag, inverse document frequency and page length
//! (《搜索引擎——原理、技术与系统》§10.3).
//!
//! An occurrence weighs W0 plus the weights of the enclosing tags; WB′ = WBT · log(Smax/S) · log(N/T). The index
//! stores zones instead of tags, so each zone is represented by its typical tag.
//!
//! Two values that the source leaves open are bounded: Smax is a setting, because one huge page would make all others
//! equal, and WBT is limited to [`MAX_OCCURRENCE_WEIGHT`], so that repetition stops paying. The longest page would
//! have log 1 = 0; log(1 + Smax/S) avoids that. WB is WB′ relative to its resulting maximum.

use std::collections::HashMap;
use std::sync::LazyLock;

use pharos_index::document::zones::Zone;

/// Weight of a plain occurrence (W0).
const PLAIN_WEIGHT: f64 = 1.0;

/// Maximum weight of a word on a page: in the title, in a heading and about twenty times in the text.
pub(crate) const MAX_OCCURRENCE_WEIGHT: f64 = 80.0;

static TAG_WEIGHTS: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| {
    let lines = include_str!("tag_weights.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(tag, w)| Some((tag, w.parse().ok()?)))
        .collect()
});

/// Returns the weight of an occurrence inside these tags (WBT of one occurrence).
fn occurrence_weight(tags: &[&str]) -> f64 {
    PLAIN_WEIGHT + tags.iter().map(|tag| TAG_WEIGHTS.get(tag).copied().unwrap_or_default()).sum::<f64>()
}

/// Returns the weight of an occurrence in a zone.
fn zone_weight(zone: Zone) -> f64 {
    match zone {
        Zone::Title => occurrence_weight(&["TITLE"]),
        Zone::Heading => occurrence_weight(&["H2"]),
        Zone::Emphasis => occurrence_weight(&["B"]) - PLAIN_WEIGHT,
        Zone::Anchor => occurrence_weight(&["A"]),
        Zone::Url | Zone::Body => occurrence_weight(&[]),
    }
}

/// Returns the weight of all occurrences of a word on a page (WBT), by zone.
pub(crate) fn occurrences_weight(times: &[f64; 6]) -> f64 {
    Zone::ALL
        .iter()
        .map(|zone| times[*zone as usize] * zone_weight(*zone))
        .sum::<f64>()
        .min(MAX_OCCURRENCE_WEIGHT)
}

/// Lengths of pages (S, Smax).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageLengths {
    pub(crate) page: f64,
    pub(crate) longest: f64,
}

/// Returns the basic weight of a word on a page, between 0 and 1, for N pages of which T contain the word.
pub(crate) fn basic_weight(occurrences: f64, lengths: PageLengths, pages: f64, with_word: f64) -> f64 {
    let length_factor =
        |length: f64| (1.0 + lengths.longest / length.clamp(1.0, lengths.longest.max(1.0))).ln();
    let rarity = |with_word: f64| (1.0 + pages / with_word.max(1.0)).ln();
    let largest = MAX_OCCURRENCE_WEIGHT * length_factor(1.0) * rarity(1.0);
    (occurrences * length_factor(lengths.page) * rarity(with_word) / largest).clamp(0.0, 1.0)
}

/// The AND/OR structure of the words of a query (R), with word numbers as leaves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueryShape {
    Word(usize),
    And(Vec<QueryShape>),
    Or(Vec<QueryShape>),
}

impl QueryShape {
    /// Returns WB(q, p) = R(WB(t₁, p), …, WB(tₘ, p)): the weight of a page with these word weights.
    pub(crate) fn weight(&self, words: &[f64]) -> f64 {
        let weights_of =
            |parts: &[QueryShape]| parts.iter().map(|part| part.weight(words)).collect::<Vec<f64>>();
        match self {
            QueryShape::Word(nth) => words.get(*nth).copied().unwrap_or_default(),
            QueryShape::And(parts) => and(&weights_of(parts)),
            QueryShape::Or(parts) => or(&weights_of(parts)),
        }
    }
}

/// AND: the mean of the weights.
fn and(weights: &[f64]) -> f64 {
    if weights.is_empty() { 0.0 } else { weights.iter().sum::<f64>() / weights.len() as f64 }
}

/// OR: the maximum of the weights.
fn or(weights: &[f64]) -> f64 {
    weights.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_source() {
        let expected = [
            ("TITLE", 40.0),
            ("CITE", 8.0),
            ("EM", 2.0),
            ("STRONG", 4.0),
            ("B", 4.0),
            ("I", 2.0),
            ("BIG", 4.0),
            ("H1", 12.0),
            ("H2", 8.0),
            ("H3", 4.0),
            ("H4", 1.0),
            ("H5", 1.0),
            ("DT", 4.0),
            ("LI", 4.0),
            ("UL", 4.0),
            ("A", 4.0),
            ("FONT SIZE=7", 16.0),
            ("FONT SIZE=6", 12.0),
            ("FONT SIZE=5", 8.0),
            ("FONT SIZE=4", 4.0),
            ("FONT SIZE=3", 1.0),
            ("FONT SIZE=2", 1.0),
            ("FONT SIZE=1", 1.0),
            ("FONT SIZE=+1", 4.0),
        ];
        assert_eq!(TAG_WEIGHTS.len(), expected.len());
        expected.iter().for_each(|(tag, weight)| assert_eq!(TAG_WEIGHTS.get(tag), Some(weight), "{tag}"));
    }

    #[test]
    fn tags_inside_each_other_add_up() {
        assert_eq!(occurrence_weight(&["BIG", "B"]), PLAIN_WEIGHT + 4.0 + 4.0);
        assert_eq!(occurrence_weight(&["IMG"]), PLAIN_WEIGHT);
    }

    #[test]
    fn the_longest_page_weighs_something() {
        let lengths = |page| PageLengths { page, longest: 1000.0 };
        let longest = basic_weight(5.0, lengths(1000.0), 100.0, 3.0);
        assert!(longest > 0.0, "log(Smax/S) alone would be 0");
        assert_eq!(basic_weight(5.0, lengths(5000.0), 100.0, 3.0), longest, "Smax is capped");
        assert!(basic_weight(5.0, lengths(10.0), 100.0, 3.0) > longest);
        assert_eq!(
            basic_weight(occurrences_weight(&[9.0, 0.0, 0.0, 9.0, 9.0, 1e9]), lengths(1.0), 100.0, 1.0),
            1.0
        );
    }

    #[test]
    fn and_is_the_mean_and_or_the_largest() {
        assert!((and(&[0.2, 0.6]) - 0.4).abs() < 1e-12);
        assert_eq!(or(&[0.2, 0.6]), 0.6);
        assert_eq!((and(&[]), or(&[])), (0.0, 0.0));
        // a (b OR c)
        let shape = QueryShape::And(vec![
            QueryShape::Word(0),
            QueryShape::Or(vec![QueryShape::Word(1), QueryShape::Word(2)]),
        ]);
        assert!((shape.weight(&[0.2, 0.1, 0.6]) - 0.4).abs() < 1e-12);
    }
}
