//! Weights of linear classifiers, one byte each.
//!
//! A weight w of a class with largest weight m is stored as the code q = round(127 · √(|w| / m)) with the sign of w. The
//! square root keeps small weights apart, of which there are most.

use serde::{Deserialize, Serialize};

use super::SparseVector;

/// Number of classes up to which every pair of term and class has a place.
pub const DENSE_UP_TO: usize = 128;

/// Scores of all classes: a weighted sum of the terms and a constant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinearWeights {
    terms: u32,
    /// Constant of each class.
    bias: Vec<f32>,
    /// Largest absolute weight of each class.
    scale: Vec<f32>,
    codes: Codes,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Codes {
    /// Term-major.
    Dense(Vec<i8>),
    /// The pairs of term t are `starts[t]..starts[t + 1]`.
    Sparse { starts: Vec<u32>, classes: Vec<u16>, codes: Vec<i8> },
}

/// Weights of one class while they are learnt: the constant, and the terms with their weights.
#[derive(Clone, Debug, Default)]
pub struct ClassWeights {
    pub bias: f32,
    /// Pairs of term and weight, ascending by term.
    pub weights: Vec<(u32, f32)>,
}

impl ClassWeights {
    /// Keeps the largest weights.
    pub fn prune(&mut self, keep: usize) {
        if self.weights.len() > keep {
            self.weights.select_nth_unstable_by(keep, |a, b| b.1.abs().total_cmp(&a.1.abs()));
            self.weights.truncate(keep);
            self.weights.sort_unstable_by_key(|&(term, _)| term);
        }
    }
}

impl LinearWeights {
    /// Maximum number of weights of a model: 16 MB.
    pub const MAX_WEIGHTS: usize = 16_000_000;

    /// Encodes the weights of all classes.
    pub fn new(terms: usize, classes: &[ClassWeights]) -> Self {
        let largest = |class: &ClassWeights| class.weights.iter().map(|w| w.1.abs()).fold(0.0, f32::max);
        let scale: Vec<f32> = classes.iter().map(largest).collect();
        let code = |weight: f32, scale: f32| {
            let code = if scale > 0.0 { (127.0 * (weight.abs() / scale).sqrt()).round() } else { 0.0 };
            code.copysign(weight) as i8
        };
        let count = classes.len();
        let codes = if count <= DENSE_UP_TO {
            let mut codes = vec![0; terms * count];
            for (at, class) in classes.iter().enumerate() {
                for &(term, weight) in &class.weights {
                    codes[term as usize * count + at] = code(weight, scale[at]);
                }
            }
            Codes::Dense(codes)
        } else {
            let mut entries: Vec<(u32, u16, i8)> = Vec::new();
            for (at, class) in (0u16..).zip(classes) {
                let coded =
                    class.weights.iter().map(|&(term, w)| (term, at, code(w, scale[usize::from(at)])));
                entries.extend(coded.filter(|entry| entry.2 != 0));
            }
            entries.sort_unstable();
            let mut starts = vec![0u32; terms + 1];
            for entry in &entries {
                starts[entry.0 as usize + 1] += 1;
            }
            for at in 1..starts.len() {
                starts[at] += starts[at - 1];
            }
            let (classes, codes) = entries.into_iter().map(|(_, class, code)| (class, code)).unzip();
            Codes::Sparse { starts, classes, codes }
        };
        Self { terms: terms as u32, bias: classes.iter().map(|class| class.bias).collect(), scale, codes }
    }

    /// Returns `true` if the weights of a file fit a vocabulary and classes.
    pub(crate) fn is_valid(&self, terms: usize, classes: usize) -> bool {
        let shape = self.terms as usize == terms && self.bias.len() == classes && self.scale.len() == classes;
        let finite = self.bias.iter().chain(&self.scale).all(|value| value.is_finite());
        shape
            && finite
            && match &self.codes {
                Codes::Dense(codes) => classes <= DENSE_UP_TO && codes.len() == terms * classes,
                Codes::Sparse { starts, classes: of, codes } => {
                    starts.len() == terms + 1
                        && starts.first() == Some(&0)
                        && starts.is_sorted()
                        && starts.last().is_some_and(|&end| end as usize == codes.len())
                        && of.len() == codes.len()
                        && of.iter().all(|&class| usize::from(class) < classes)
                }
            }
    }

    /// Returns the score of each class.
    pub fn scores(&self, vector: &SparseVector) -> Vec<f32> {
        let mut sums = vec![0.0; self.bias.len()];
        for &(term, value) in vector.pairs() {
            self.add_term(term, value, &mut sums);
        }
        for ((sum, scale), bias) in sums.iter_mut().zip(&self.scale).zip(&self.bias) {
            *sum = *sum * scale + bias;
        }
        sums
    }

    /// Returns the weight of a term for a class.
    pub fn weight(&self, term: u32, class: u32) -> f32 {
        let mut sums = vec![0.0; self.bias.len()];
        self.add_term(term, 1.0, &mut sums);
        let class = class as usize;
        sums.get(class).map_or(0.0, |sum| sum * self.scale[class])
    }

    /// Adds the weights of a term, as shares of the largest ones, to the sums of the classes.
    fn add_term(&self, term: u32, value: f32, sums: &mut [f32]) {
        if term >= self.terms {
            return;
        }
        let term = term as usize;
        match &self.codes {
            Codes::Dense(codes) => {
                let row = &codes[term * sums.len()..(term + 1) * sums.len()];
                for (sum, &code) in sums.iter_mut().zip(row) {
                    *sum += value * decode(code);
                }
            }
            Codes::Sparse { starts, classes, codes } => {
                let span = starts[term] as usize..starts[term + 1] as usize;
                for (&class, &code) in classes[span.clone()].iter().zip(&codes[span]) {
                    sums[usize::from(class)] += value * decode(code);
                }
            }
        }
    }
}

/// Decodes a weight, as a share of the largest one.
fn decode(code: i8) -> f32 {
    let code = f32::from(code);
    code * code.abs() * (1.0 / (127.0 * 127.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(count: usize) -> Vec<ClassWeights> {
        let class =
            |at: usize| ClassWeights { bias: at as f32, weights: vec![(0, 1.0), (2, -0.01 * at as f32)] };
        (0..count).map(class).collect()
    }

    #[test]
    fn dense_and_sparse_weights_give_nearly_exact_scores() {
        let vector = SparseVector::from_pairs(vec![(0, 2.0), (1, 5.0), (2, 1.0), (9, 1.0)]);
        for count in [3, DENSE_UP_TO + 1] {
            let weights = LinearWeights::new(3, &classes(count));
            assert!(
                weights.is_valid(3, count) && !weights.is_valid(4, count) && !weights.is_valid(3, count + 1)
            );
            let scores = weights.scores(&vector);
            assert_eq!(scores[0], 2.0);
            assert!((scores[2] - (2.0 + 2.0 - 0.02)).abs() < 2e-3, "{}", scores[2]);
            assert!((weights.weight(2, 2) + 0.02).abs() < 2e-3);
        }
    }

    #[test]
    fn pruning_keeps_the_largest() {
        let mut class = ClassWeights { bias: 0.0, weights: vec![(1, 0.1), (4, -3.0), (6, 2.0)] };
        class.prune(2);
        assert_eq!(class.weights, [(4, -3.0), (6, 2.0)]);
    }
}
