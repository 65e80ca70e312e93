//! Evaluation of cleaning: compares a cleaned text with text marked by a person.
//!
//! There are three metrics: multisets of four-word shingles (English news, as in the article extraction benchmark),
//! multisets of lower-case words (pages of many types), and multisets of four-character shingles without whitespace
//! (Chinese). The outcome measures of the PageClean thesis, §5.5, are computed as well: whether noise is left, and
//! whether cleaning had any effect.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::{BlockKind, CleaningExplanation, LineExplanation};

/// Length of a shingle.
const SHINGLE: usize = 4;

/// Number of bootstrap samples.
const SAMPLES: usize = 1_000;

/// Metric for comparing a text with the gold text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Shingles of four words; precision and recall are averaged over the pages, and F1 is computed from the
    /// averages.
    WordShingles,
    /// Single lower-case words; F1 of each page, averaged.
    Words,
    /// Shingles of four characters without whitespace; otherwise as [`Metric::WordShingles`].
    CharShingles,
}

/// Score of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExtractionScore {
    /// Share of the text that is gold.
    pub precision: f64,
    /// Share of the gold text that was extracted.
    pub recall: f64,
}

impl ExtractionScore {
    /// Returns the harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        let sum = self.precision + self.recall;
        if sum > 0.0 { 2.0 * self.precision * self.recall / sum } else { 0.0 }
    }
}

/// Effect of cleaning on a page, in the three outcomes of the PageClean thesis, §5.5 (正确、错误、无效果).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleaningOutcome {
    /// Hardly any noise is left and most of the gold text is kept.
    Correct,
    /// Much noise is left or much of the gold text is lost.
    Wrong,
    /// The text is the whole page although the page has noise.
    NoEffect,
}

impl Metric {
    /// Compares a text with the gold text.
    pub fn score(self, text: &str, gold: &str) -> ExtractionScore {
        match self {
            Metric::WordShingles => compare(&shingles(&words(text, false)), &shingles(&words(gold, false))),
            Metric::Words => {
                compare(&shingles_of::<_, 1>(&words(text, true)), &shingles_of::<_, 1>(&words(gold, true)))
            }
            Metric::CharShingles => compare(&shingles(&characters(text)), &shingles(&characters(gold))),
        }
    }

    /// Returns the aggregate score of many pages.
    pub fn mean(self, scores: &[ExtractionScore]) -> f64 {
        self.mean_of(scores.len(), |i| scores[i])
    }

    fn mean_of(self, count: usize, score: impl Fn(usize) -> ExtractionScore) -> f64 {
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
            _ => ExtractionScore { precision: precision / n, recall: recall / n }.f1(),
        }
    }

    /// Returns the 95 % confidence interval of the aggregate score, by drawing pages with replacement (bootstrap,
    /// Efron 1979).
    pub fn interval(self, scores: &[ExtractionScore]) -> (f64, f64) {
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

/// Returns the outcome of a page by the PageClean thesis, §5.5, from the lengths of the cleaned text and of the
/// visible text before.
pub fn classify_outcome(score: ExtractionScore, text_chars: usize, visible_chars: usize) -> CleaningOutcome {
    /// Minimum precision and recall of a correct page.
    const ENOUGH: f64 = 0.8;
    if score.precision >= ENOUGH && score.recall >= ENOUGH {
        CleaningOutcome::Correct
    } else if text_chars * 100 >= visible_chars * 95 {
        CleaningOutcome::NoEffect
    } else {
        CleaningOutcome::Wrong
    }
}

fn compare<K: Hash + Eq>(text: &HashMap<K, usize>, gold: &HashMap<K, usize>) -> ExtractionScore {
    let total = |bag: &HashMap<K, usize>| bag.values().sum::<usize>();
    let shared: usize = text.iter().map(|(k, n)| *n.min(gold.get(k).unwrap_or(&0))).sum();
    let (in_text, in_gold) = (total(text), total(gold));
    if in_text == 0 && in_gold == 0 {
        return ExtractionScore { precision: 1.0, recall: 1.0 };
    }
    ExtractionScore {
        precision: shared as f64 / in_text.max(1) as f64,
        recall: shared as f64 / in_gold.max(1) as f64,
    }
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

/// Counts shingles; a text shorter than a shingle is one shingle.
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

/// Returns the share of lines classified correctly as body or not (正确识别的内容块). A line belongs to the body if more
/// than half of its eight-character shingles occur in the gold text.
pub fn line_accuracy(explanation: &CleaningExplanation, gold: &str) -> f64 {
    const LENGTH: usize = 8;
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
    let gold = letters(gold);
    let known: HashSet<&[char]> = gold.windows(LENGTH).collect();
    let is_right = |line: &&LineExplanation| {
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
    explanation.lines.iter().filter(is_right).count() as f64 / explanation.lines.len().max(1) as f64
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
        let scores = [
            ExtractionScore { precision: 1.0, recall: 0.5 },
            ExtractionScore { precision: 0.5, recall: 1.0 },
        ];
        assert_eq!(Metric::WordShingles.mean(&scores), 0.75);
        assert!((Metric::Words.mean(&scores) - 2.0 / 3.0).abs() < 1e-9);
        let (low, high) = Metric::Words.interval(&scores);
        assert!(low <= high);
    }
}
