//! How good cleaning is: a cleaned text against the text that a person marked.
//!
//! Three metrics, named by the data: multisets of four-word shingles (English news, as the article extraction
//! benchmark does), multisets of words in lower case (pages of many types), multisets of four-character shingles
//! without white space (Chinese). The thesis's own measures stand beside them: was noise left, did cleaning do
//! anything at all.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::{BlockKind, Explanation, LineReport};

/// Length of a shingle.
const SHINGLE: usize = 4;

/// Samples drawn for an interval.
const SAMPLES: usize = 1_000;

/// How a text is compared with the gold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Shingles of four words; precision and recall are averaged over the pages, F1 is that of the averages.
    WordShingles,
    /// Single words in lower case; F1 of each page, averaged.
    Words,
    /// Shingles of four characters, white space left out; otherwise as [`Metric::WordShingles`].
    CharShingles,
}

/// How one page came out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Part of the text that is gold.
    pub precision: f64,
    /// Part of the gold that is in the text.
    pub recall: f64,
}

impl Score {
    /// The harmonic mean of the two.
    pub fn f1(&self) -> f64 {
        let sum = self.precision + self.recall;
        if sum > 0.0 { 2.0 * self.precision * self.recall / sum } else { 0.0 }
    }
}

/// What cleaning did to a page, in the thesis's three outcomes (正确、错误、无效果).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Hardly any noise is left, and most of the gold is there.
    Correct,
    /// Much noise is left, or much of the gold is gone.
    Wrong,
    /// The text is all of the page although the page has noise.
    NoEffect,
}

impl Metric {
    /// Compares a text with the gold.
    pub fn score(self, text: &str, gold: &str) -> Score {
        match self {
            Metric::WordShingles => compare(&shingles(&words(text, false)), &shingles(&words(gold, false))),
            Metric::Words => {
                compare(&shingles_of::<_, 1>(&words(text, true)), &shingles_of::<_, 1>(&words(gold, true)))
            }
            Metric::CharShingles => compare(&shingles(&characters(text)), &shingles(&characters(gold))),
        }
    }

    /// The figure for many pages.
    pub fn mean(self, scores: &[Score]) -> f64 {
        self.mean_of(scores.len(), |i| scores[i])
    }

    fn mean_of(self, count: usize, score: impl Fn(usize) -> Score) -> f64 {
        let (mut precision, mut recall, mut f1) = (0.0, 0.0, 0.0);
        for i in 0..count {
            let score = score(i);
            precision += score.precision;
            recall += score.recall;
            f1 += score.f1();
        }
        let n = count.max(1) as f64;
        match self {
            Metric::Words => f1 / n,
            _ => Score { precision: precision / n, recall: recall / n }.f1(),
        }
    }

    /// The interval that holds the figure for 95 of 100 such sets of pages: pages are drawn with replacement
    /// (bootstrap, Efron 1979).
    pub fn interval(self, scores: &[Score]) -> (f64, f64) {
        if scores.is_empty() {
            return (0.0, 0.0);
        }
        let mut rng = StdRng::seed_from_u64(1);
        let mut figures: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let drawn: Vec<usize> = scores.iter().map(|_| rng.random_range(0..scores.len())).collect();
                self.mean_of(drawn.len(), |i| scores[drawn[i]])
            })
            .collect();
        figures.sort_by(f64::total_cmp);
        (figures[SAMPLES * 25 / 1000], figures[SAMPLES * 975 / 1000])
    }
}

/// The thesis's outcome of a page: `text` as cleaned, `visible` what was there before.
pub fn outcome(score: Score, text_chars: usize, visible_chars: usize) -> Outcome {
    /// Of the text, and of the gold, that may be missed.
    const ENOUGH: f64 = 0.8;
    if score.precision >= ENOUGH && score.recall >= ENOUGH {
        Outcome::Correct
    } else if text_chars * 100 >= visible_chars * 95 {
        Outcome::NoEffect
    } else {
        Outcome::Wrong
    }
}

fn compare<K: Hash + Eq>(text: &HashMap<K, usize>, gold: &HashMap<K, usize>) -> Score {
    let total = |bag: &HashMap<K, usize>| bag.values().sum::<usize>();
    let shared: usize = text.iter().map(|(k, n)| *n.min(gold.get(k).unwrap_or(&0))).sum();
    let (in_text, in_gold) = (total(text), total(gold));
    if in_text == 0 && in_gold == 0 {
        return Score { precision: 1.0, recall: 1.0 };
    }
    Score { precision: shared as f64 / in_text.max(1) as f64, recall: shared as f64 / in_gold.max(1) as f64 }
}

fn words(text: &str, lower: bool) -> Vec<String> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_letter(c)).filter(|w| !w.is_empty());
    words.map(|w| if lower { w.to_lowercase() } else { w.to_string() }).collect()
}

fn characters(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn shingles<T: Hash + Eq + Clone>(tokens: &[T]) -> HashMap<Vec<T>, usize> {
    shingles_of::<T, SHINGLE>(tokens)
}

/// A text shorter than a shingle is one shingle.
fn shingles_of<T: Hash + Eq + Clone, const N: usize>(tokens: &[T]) -> HashMap<Vec<T>, usize> {
    let mut bag = HashMap::new();
    if !tokens.is_empty() && tokens.len() < N {
        bag.insert(tokens.to_vec(), 1);
    }
    for window in tokens.windows(N) {
        *bag.entry(window.to_vec()).or_default() += 1;
    }
    bag
}

/// Which part of a page's lines was judged rightly, body or not (正确识别的内容块). A line is body where most of its
/// eight-character shingles stand in the gold.
pub fn verdicts(told: &Explanation, gold: &str) -> f64 {
    const LENGTH: usize = 8;
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
    let gold = letters(gold);
    let known: HashSet<&[char]> = gold.windows(LENGTH).collect();
    let is_right = |line: &&LineReport| {
        let text = letters(&line.text);
        let in_gold = if text.len() < LENGTH {
            gold.windows(text.len().max(1)).any(|window| window == text)
        } else {
            let shingles = text.windows(LENGTH);
            let (all, found) = (shingles.len(), shingles.filter(|s| known.contains(s)).count());
            2 * found > all
        };
        in_gold == (line.kind == BlockKind::Body)
    };
    told.lines.iter().filter(is_right).count() as f64 / told.lines.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_multisets() {
        let score = Metric::WordShingles.score("a b c d e", "a b c d x");
        assert_eq!((score.precision, score.recall), (0.5, 0.5));
        let score = Metric::Words.score("The the cat", "the dog");
        assert!((score.precision - 1.0 / 3.0).abs() < 1e-9 && (score.recall - 0.5).abs() < 1e-9);
        assert_eq!(Metric::CharShingles.score("灯 塔\n很高", "灯塔很高").f1(), 1.0);
        assert_eq!(Metric::Words.score("", "").f1(), 1.0);
        assert_eq!(Metric::WordShingles.score("", "x").f1(), 0.0);
    }

    #[test]
    fn the_mean_of_news_is_the_f1_of_the_means() {
        let scores = [Score { precision: 1.0, recall: 0.5 }, Score { precision: 0.5, recall: 1.0 }];
        assert_eq!(Metric::WordShingles.mean(&scores), 0.75);
        assert!((Metric::Words.mean(&scores) - 2.0 / 3.0).abs() < 1e-9);
        let (low, high) = Metric::Words.interval(&scores);
        assert!(low <= high);
    }
}
