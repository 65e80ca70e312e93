//! The basic weight WB (基本权值): term frequency by tags, inverse frequency and length (《搜索引擎——原理、技术与系统》
//! §10.3).
//!
//! An occurrence weighs W0 and what the tags around it add; WB′ = WBT · log(Smax/S) · log(N/T). The index knows zones and
//! not single tags, so that a zone stands for its usual tag. Two things are bounded that the source leaves open: Smax is a
//! setting (one huge page would make all others alike), and WBT is cut at [`MOST`], so that repeating a word ends to pay.
//! The longest page would have log 1 = 0; log(1 + Smax/S) smooths that. The largest possible WB′ then follows, and WB is
//! measured by it.

use std::collections::HashMap;
use std::sync::LazyLock;

use pharos_index::Zone;

/// What an occurrence weighs by itself (W0).
const PLAIN: f64 = 1.0;

/// A word on a page weighs no more than this: in the title, in a heading and some twenty times in the text.
pub(crate) const MOST: f64 = 80.0;

static TAGS: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| {
    let lines = include_str!("tag_weights.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(tag, w)| Some((tag, w.parse().ok()?)))
        .collect()
});

/// What an occurrence inside these tags weighs (WBT of one).
fn occurrence(tags: &[&str]) -> f64 {
    PLAIN + tags.iter().map(|tag| TAGS.get(tag).copied().unwrap_or_default()).sum::<f64>()
}

/// What an occurrence in a zone weighs.
fn in_zone(zone: Zone) -> f64 {
    match zone {
        Zone::Title => occurrence(&["TITLE"]),
        Zone::Heading => occurrence(&["H2"]),
        Zone::Emphasis => occurrence(&["B"]) - PLAIN,
        Zone::Anchor => occurrence(&["A"]),
        Zone::Url | Zone::Body => occurrence(&[]),
    }
}

/// What the occurrences of a word on a page weigh (WBT), by zone.
pub(crate) fn of_occurrences(times: &[f64; 6]) -> f64 {
    Zone::ALL.iter().map(|zone| times[*zone as usize] * in_zone(*zone)).sum::<f64>().min(MOST)
}

/// How long pages are (S, Smax).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) page: f64,
    pub(crate) longest: f64,
}

/// The basic weight of a word on a page, between 0 and 1: N pages, T of them with the word.
pub(crate) fn weight(occurrences: f64, lengths: Lengths, pages: f64, with_word: f64) -> f64 {
    let of_length = |length: f64| (1.0 + lengths.longest / length.clamp(1.0, lengths.longest.max(1.0))).ln();
    let rarity = |with_word: f64| (1.0 + pages / with_word.max(1.0)).ln();
    let largest = MOST * of_length(1.0) * rarity(1.0);
    (occurrences * of_length(lengths.page) * rarity(with_word) / largest).clamp(0.0, 1.0)
}

/// How the words of a query belong together (R): numbers of words under AND and OR.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Word(usize),
    And(Vec<Shape>),
    Or(Vec<Shape>),
}

impl Shape {
    /// WB(q, p) = R(WB(t₁, p), …, WB(tₘ, p)): what a page weighs whose words weigh so much.
    pub(crate) fn weight(&self, words: &[f64]) -> f64 {
        let of = |parts: &[Shape]| parts.iter().map(|part| part.weight(words)).collect::<Vec<f64>>();
        match self {
            Shape::Word(nth) => words.get(*nth).copied().unwrap_or_default(),
            Shape::And(parts) => and(&of(parts)),
            Shape::Or(parts) => or(&of(parts)),
        }
    }
}

/// All of the words: the mean of their weights.
fn and(weights: &[f64]) -> f64 {
    if weights.is_empty() { 0.0 } else { weights.iter().sum::<f64>() / weights.len() as f64 }
}

/// One of the words: the largest.
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
        assert_eq!(TAGS.len(), expected.len());
        expected.iter().for_each(|(tag, weight)| assert_eq!(TAGS.get(tag), Some(weight), "{tag}"));
    }

    #[test]
    fn tags_inside_each_other_add_up() {
        assert_eq!(occurrence(&["BIG", "B"]), PLAIN + 4.0 + 4.0);
        assert_eq!(occurrence(&["IMG"]), PLAIN);
    }

    #[test]
    fn the_longest_page_weighs_something() {
        let lengths = |page| Lengths { page, longest: 1000.0 };
        let longest = weight(5.0, lengths(1000.0), 100.0, 3.0);
        assert!(longest > 0.0, "log(Smax/S) alone would be 0");
        assert_eq!(weight(5.0, lengths(5000.0), 100.0, 3.0), longest, "Smax is capped");
        assert!(weight(5.0, lengths(10.0), 100.0, 3.0) > longest);
        assert_eq!(weight(of_occurrences(&[9.0, 0.0, 0.0, 9.0, 9.0, 1e9]), lengths(1.0), 100.0, 1.0), 1.0);
    }

    #[test]
    fn and_is_the_mean_and_or_the_largest() {
        assert!((and(&[0.2, 0.6]) - 0.4).abs() < 1e-12);
        assert_eq!(or(&[0.2, 0.6]), 0.6);
        assert_eq!((and(&[]), or(&[])), (0.0, 0.0));
        // a (b OR c)
        let shape = Shape::And(vec![Shape::Word(0), Shape::Or(vec![Shape::Word(1), Shape::Word(2)])]);
        assert!((shape.weight(&[0.2, 0.1, 0.6]) - 0.4).abs() < 1e-12);
    }
}
