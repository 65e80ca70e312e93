//! Linear support vector machine by dual coordinate descent (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, algorithm 3).
//!
//! One machine per class separates it from the others (one-vs-rest). The squared hinge loss is minimised:
//! ½‖w‖² + C Σ max(0, 1 − yᵢ w·xᵢ)².

use rayon::prelude::*;

use super::weights::{ClassWeights, LinearWeights};
use super::{SparseVector, TrainingSet};
use crate::random::Random;

/// Parameters of the training.
#[derive(Clone, Copy, Debug)]
pub struct SvmParameters {
    /// Cost C of an error.
    pub cost: f32,
    /// Maximum number of passes over the texts.
    pub max_passes: usize,
    /// Spread of the projected gradient at which training stops.
    pub tolerance: f32,
    pub seed: u64,
}

impl Default for SvmParameters {
    fn default() -> Self {
        Self { cost: 1.0, max_passes: 60, tolerance: 0.02, seed: 1 }
    }
}

/// Number of classes up to which every class learns from all texts.
const ALL_TEXTS_UP_TO: usize = 200;

/// Number of texts of other classes that a class learns from if there are more classes.
const SAMPLED_NEGATIVES: usize = 3000;

/// Trains one machine per class. The weights of all classes together are limited to [`LinearWeights::MAX_WEIGHTS`].
pub fn train(data: TrainingSet<'_>, parameters: SvmParameters) -> Vec<ClassWeights> {
    let keep = LinearWeights::MAX_WEIGHTS / data.classes.max(1);
    let train_class = |class: usize| {
        let (examples, targets) = examples_of(data, class as u32, parameters.seed);
        let mut weights = train_binary(&examples, &targets, data.terms, parameters);
        weights.prune(keep);
        weights
    };
    (0..data.classes).into_par_iter().map(train_class).collect()
}

/// Returns the texts that a class learns from, and which of them belong to it.
fn examples_of<'a>(data: TrainingSet<'a>, class: u32, seed: u64) -> (Vec<&'a SparseVector>, Vec<bool>) {
    let mut random = Random::new(seed ^ u64::from(class));
    let share = if data.classes <= ALL_TEXTS_UP_TO {
        1.0
    } else {
        SAMPLED_NEGATIVES as f64 / data.vectors.len().max(1) as f64
    };
    let labelled =
        data.vectors.iter().zip(data.labels).map(|(vector, labels)| (vector, labels.contains(&class)));
    labelled.filter(|(_, positive)| *positive || share >= 1.0 || random.unit() < share).unzip()
}

/// Separates the examples whose target is `true` from the others.
pub fn train_binary(
    examples: &[&SparseVector],
    targets: &[bool],
    terms: usize,
    parameters: SvmParameters,
) -> ClassWeights {
    let diagonal = 0.5 / parameters.cost;
    let mut w = vec![0.0f32; terms];
    let mut bias = 0.0f32;
    let mut alpha = vec![0.0f32; examples.len()];
    // The constant is the weight of a further feature of value 1.
    let square = |x: &SparseVector| x.pairs().iter().map(|&(_, v)| v * v).sum::<f32>() + 1.0 + diagonal;
    let squares: Vec<f32> = examples.iter().map(|x| square(x)).collect();
    let mut active: Vec<usize> = (0..examples.len()).collect();
    let mut random = Random::new(parameters.seed);
    let mut upper_before = f32::INFINITY;
    for _ in 0..parameters.max_passes {
        random.shuffle(&mut active);
        let (mut upper, mut lower) = (f32::NEG_INFINITY, f32::INFINITY);
        let mut at = 0;
        while let Some(&i) = active.get(at) {
            let y = if targets[i] { 1.0 } else { -1.0 };
            let gradient = y * (examples[i].dot_dense(&w) + bias) - 1.0 + diagonal * alpha[i];
            let projected = if alpha[i] == 0.0 {
                if gradient > upper_before {
                    // Shrinking: the example will very probably keep its zero.
                    active.swap_remove(at);
                    continue;
                }
                gradient.min(0.0)
            } else {
                gradient
            };
            (upper, lower) = (upper.max(projected), lower.min(projected));
            if projected.abs() > 1e-12 {
                let before = alpha[i];
                alpha[i] = (before - gradient / squares[i]).max(0.0);
                let step = (alpha[i] - before) * y;
                for &(term, value) in examples[i].pairs() {
                    w[term as usize] += step * value;
                }
                bias += step;
            }
            at += 1;
        }
        if upper - lower <= parameters.tolerance {
            if active.len() == examples.len() {
                break;
            }
            // Converged without the shrunk examples: check all of them once more.
            active = (0..examples.len()).collect();
            upper_before = f32::INFINITY;
        } else {
            upper_before = if upper > 0.0 { upper } else { f32::INFINITY };
        }
    }
    let weights = (0u32..).zip(w).filter(|&(_, weight)| weight != 0.0).collect();
    ClassWeights { bias, weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(pairs: &[(u32, f32)]) -> SparseVector {
        SparseVector::from_pairs(pairs.to_vec())
    }

    #[test]
    fn two_points_have_the_exact_solution() {
        // Minimise ½w² + ½b² + C Σ max(0, 1 − y(wx + b))² for x = ±1: w = 4C / (1 + 4C) by symmetry, b = 0.
        let (plus, minus) = (vector(&[(0, 1.0)]), vector(&[(0, -1.0)]));
        let parameters = SvmParameters { max_passes: 1000, tolerance: 1e-6, ..SvmParameters::default() };
        let weights = train_binary(&[&plus, &minus], &[true, false], 1, parameters);
        assert!((weights.weights[0].1 - 0.8).abs() < 1e-4, "{weights:?}");
        assert!(weights.bias.abs() < 1e-4);
    }

    #[test]
    fn separable_classes_are_separated_and_training_is_deterministic() {
        let vectors: Vec<SparseVector> = (0..30).map(|i| vector(&[(i % 3, 1.0), (3 + i % 5, 0.3)])).collect();
        let labels: Vec<Vec<u32>> = (0..30).map(|i| vec![i % 3]).collect();
        let data = TrainingSet { vectors: &vectors, labels: &labels, classes: 3, terms: 8 };
        let classes = train(data, SvmParameters::default());
        let weights = LinearWeights::new(8, &classes);
        for (vector, label) in vectors.iter().zip(&labels) {
            let scores = weights.scores(vector);
            let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            assert_eq!(best as u32, label[0]);
        }
        assert_eq!(train(data, SvmParameters::default())[1].weights, classes[1].weights);
    }
}
