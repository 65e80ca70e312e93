//! Naive Bayes (朴素贝叶斯): P(c|d) ∝ P(c) Π P(aᵢ|c), 《搜索引擎——原理、技术与系统》§11.6, formula 11-12.
//!
//! Three forms. *Plain* is the book's: P(aᵢ|c) is the share of the texts of c that contain aᵢ, so that one term that a
//! class never had excludes it. *Smoothed* adds one text with and one without each term to every class (Laplace).
//! *Complement* (Rennie, Shih, Teevan & Karger 2003, §3) learns from the texts of all other classes, which are more,
//! with logarithmic counts.

use serde::{Deserialize, Serialize};

use super::weights::{ClassWeights, LinearWeights};
use super::{SparseVector, TrainingSet};

/// Score of a class that is excluded.
const EXCLUDED: f32 = -1e9;

/// Number added to the weight of each term in [`complement`].
const ALPHA: f64 = 0.3;

/// Number of classes up to which [`complement`] is exact.
const EXACT_UP_TO: usize = 64;

/// The plain and the smoothed form: numbers of texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NaiveBayes {
    is_smoothed: bool,
    /// Number of texts of each class.
    texts: Vec<u32>,
    /// The pairs of term t are `starts[t]..starts[t + 1]`.
    starts: Vec<u32>,
    /// Pairs of class and number of its texts with the term.
    counts: Vec<(u16, u32)>,
}

impl NaiveBayes {
    /// Counts the terms of each class.
    pub fn train(data: TrainingSet<'_>, is_smoothed: bool) -> Self {
        let mut pairs: Vec<(u32, u16)> = Vec::new();
        for (vector, labels) in data.vectors.iter().zip(data.labels) {
            for &(term, _) in vector.pairs() {
                pairs.extend(labels.iter().map(|&class| (term, class as u16)));
            }
        }
        pairs.sort_unstable();
        let mut starts = vec![0u32; data.terms + 1];
        let mut counts = Vec::new();
        for equal in pairs.chunk_by(|a, b| a == b) {
            counts.push((equal[0].1, equal.len() as u32));
            starts[equal[0].0 as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Self { is_smoothed, texts: data.texts_per_class(), starts, counts }
    }

    /// Returns `true` if the counts of a file fit a vocabulary and classes.
    pub(crate) fn is_valid(&self, terms: usize, classes: usize) -> bool {
        self.texts.len() == classes
            && self.starts.len() == terms + 1
            && self.starts.first() == Some(&0)
            && self.starts.is_sorted()
            && self.starts.last().is_some_and(|&end| end as usize == self.counts.len())
            && self.counts.iter().all(|&(class, _)| usize::from(class) < classes)
    }

    /// Returns log P(c) + Σ log P(aᵢ|c) for each class.
    pub fn scores(&self, vector: &SparseVector) -> Vec<f32> {
        let all: f64 = self.texts.iter().map(|&n| f64::from(n)).sum();
        let terms = vector.pairs().len();
        let mut sums = vec![0.0f64; self.texts.len()];
        let mut found = vec![0usize; self.texts.len()];
        for &(term, _) in vector.pairs() {
            let (Some(&start), Some(&end)) =
                (self.starts.get(term as usize), self.starts.get(term as usize + 1))
            else {
                continue;
            };
            for &(class, count) in &self.counts[start as usize..end as usize] {
                let count = f64::from(count) + if self.is_smoothed { 1.0 } else { 0.0 };
                sums[usize::from(class)] += count.ln();
                found[usize::from(class)] += 1;
            }
        }
        let score = |((&texts, &sum), &found): ((&u32, &f64), &usize)| {
            let texts = f64::from(texts);
            if texts == 0.0 || (!self.is_smoothed && found < terms) {
                return EXCLUDED;
            }
            let texts_of_term = if self.is_smoothed { texts + 2.0 } else { texts };
            ((texts / all.max(1.0)).ln() + sum - terms as f64 * texts_of_term.ln()) as f32
        };
        self.texts.iter().zip(&sums).zip(&found).map(score).collect()
    }
}

/// Trains the complement form, which is linear. The weight of term t for class c is
/// −log((α + S_t − S_tc) / (αV + S − S_c)), where S are sums of vector weights, less its mean over the classes.
///
/// With more than 64 classes only terms of a class have a weight for it, and the denominators, which are nearly
/// equal then, are left out.
pub fn complement(data: TrainingSet<'_>) -> Vec<ClassWeights> {
    let mut of_class: Vec<Vec<(u32, f32)>> = vec![Vec::new(); data.classes];
    let mut of_term = vec![0.0f64; data.terms];
    for (vector, labels) in data.vectors.iter().zip(data.labels) {
        for &class in labels {
            of_class[class as usize].extend_from_slice(vector.pairs());
        }
        for &(term, weight) in vector.pairs() {
            of_term[term as usize] += f64::from(weight) * labels.len() as f64;
        }
    }
    let all: f64 = of_term.iter().sum();
    let sums: Vec<SparseVector> = of_class.into_iter().map(SparseVector::from_pairs).collect();
    let total = |sum: &SparseVector| sum.pairs().iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
    if data.classes > EXACT_UP_TO {
        let keep = LinearWeights::MAX_WEIGHTS / data.classes;
        let class = |sum: &SparseVector| {
            let weight = |&(term, weight): &(u32, f32)| {
                let all = of_term[term as usize];
                (term, -((ALPHA + (all - f64::from(weight)).max(0.0)) / (ALPHA + all)).ln() as f32)
            };
            let mut class = ClassWeights { bias: 0.0, weights: sum.pairs().iter().map(weight).collect() };
            class.prune(keep);
            class
        };
        return sums.iter().map(class).collect();
    }
    let mut mean = vec![0.0f64; data.terms];
    let class = |sum: &SparseVector| {
        let scale = ALPHA * data.terms as f64 + (all - total(sum)).max(0.0);
        let mut weights: Vec<f64> = of_term.iter().map(|&all| -((ALPHA + all) / scale).ln()).collect();
        for &(term, weight) in sum.pairs() {
            let others = (of_term[term as usize] - f64::from(weight)).max(0.0);
            weights[term as usize] = -((ALPHA + others) / scale).ln();
        }
        for (mean, weight) in mean.iter_mut().zip(&weights) {
            *mean += weight / data.classes as f64;
        }
        weights
    };
    let dense: Vec<Vec<f64>> = sums.iter().map(class).collect();
    let centred = |weights: Vec<f64>| {
        let pairs = weights.iter().zip(&mean).map(|(weight, mean)| (weight - mean) as f32);
        ClassWeights { bias: 0.0, weights: (0u32..).zip(pairs).collect() }
    };
    dense.into_iter().map(centred).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Term 0 in both texts of class 0 and one of two of class 1, term 1 in one text of class 0.
    fn example(is_smoothed: bool) -> NaiveBayes {
        let vector = |terms: &[u32]| SparseVector::from_pairs(terms.iter().map(|&t| (t, 1.0)).collect());
        let vectors = [vector(&[0, 1]), vector(&[0]), vector(&[0]), vector(&[2])];
        let labels = [vec![0], vec![0], vec![1], vec![1]];
        let data = TrainingSet { vectors: &vectors, labels: &labels, classes: 2, terms: 3 };
        NaiveBayes::train(data, is_smoothed)
    }

    #[test]
    fn plain_probabilities_are_shares_of_texts() {
        let text = SparseVector::from_pairs(vec![(0, 1.0), (1, 1.0)]);
        let scores = example(false).scores(&text);
        // P(0) · P(t0|0) · P(t1|0) = 1/2 · 1 · 1/2; class 1 never had term 1.
        assert!((scores[0] - 0.25f32.ln()).abs() < 1e-6);
        assert_eq!(scores[1], EXCLUDED);
    }

    #[test]
    fn smoothing_excludes_no_class() {
        let text = SparseVector::from_pairs(vec![(0, 1.0), (1, 1.0)]);
        let scores = example(true).scores(&text);
        // 1/2 · 3/4 · 2/4 and 1/2 · 2/4 · 1/4.
        assert!((scores[0] - 0.1875f32.ln()).abs() < 1e-6 && (scores[1] - 0.0625f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn complement_prefers_the_class_with_the_term() {
        for classes in [3, 70] {
            let vectors: Vec<SparseVector> =
                (0..classes as u32).map(|c| SparseVector::from_pairs(vec![(c, 1.0), (99, 0.5)])).collect();
            let labels: Vec<Vec<u32>> = (0..classes as u32).map(|c| vec![c]).collect();
            let weights = complement(TrainingSet { vectors: &vectors, labels: &labels, classes, terms: 100 });
            let scores = LinearWeights::new(100, &weights).scores(&vectors[2]);
            assert!(scores.iter().enumerate().all(|(class, &score)| class == 2 || score < scores[2]));
        }
    }
}
