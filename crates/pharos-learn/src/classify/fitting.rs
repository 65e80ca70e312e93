//! Fitting of a classifier: the algorithm that was chosen, and scores of texts that it did not learn from.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::algorithms::TrainingSet;
use super::algorithms::decision_tree::DecisionTrees;
use super::algorithms::hierarchical_knn::HierarchicalKnn;
use super::algorithms::knn::{Knn, Similarity};
use super::algorithms::linear_svm::{self, SvmParameters};
use super::algorithms::naive_bayes::{self, NaiveBayes};
use super::algorithms::rocchio;
use super::algorithms::weights::{ClassWeights, LinearWeights};
use super::features::vector::SparseVector;
use super::options::{Algorithm, TrainingOptions};
use crate::random::Random;

/// Weights of complement naive Bayes beside the SVM that are tried.
pub(super) const MIXES: [f32; 4] = [0.0, 0.25, 0.5, 0.75];

/// Number of classes up to which mixes are tried.
const MIXED_UP_TO: usize = 64;

/// Number of texts up to which every text is held out once, in five parts.
const FIVE_PARTS_UP_TO: usize = 20_000;

/// Maximum number of scores of held-out texts (80 MB).
const MAX_SCORES: usize = 20_000_000;

/// A fitted classifier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Scorer {
    Linear(LinearWeights),
    Bayes(NaiveBayes),
    Knn(Knn),
    HierarchicalKnn(HierarchicalKnn),
    Trees(DecisionTrees),
}

impl Scorer {
    /// Returns the score of each class.
    pub(super) fn scores(&self, vector: &SparseVector) -> Vec<f32> {
        match self {
            Self::Linear(weights) => weights.scores(vector),
            Self::Bayes(bayes) => bayes.scores(vector),
            Self::Knn(knn) => knn.scores(vector),
            Self::HierarchicalKnn(knn) => knn.scores(vector),
            Self::Trees(trees) => trees.scores(vector),
        }
    }

    /// Completes a classifier that was read from a file. Returns `false` if it does not fit vocabulary and classes.
    pub(super) fn complete(&mut self, terms: usize, classes: usize) -> bool {
        match self {
            Self::Linear(weights) => weights.is_valid(terms, classes),
            Self::Bayes(bayes) => bayes.is_valid(terms, classes),
            Self::Knn(knn) => knn.complete(terms, classes),
            Self::HierarchicalKnn(knn) => knn.complete(terms, classes),
            Self::Trees(trees) => trees.is_valid(classes),
        }
    }
}

/// Fits one classifier per mix. Algorithms other than [`Algorithm::Linear`] ignore the mix.
pub(super) fn fit(
    data: TrainingSet<'_>,
    names: &[String],
    options: &TrainingOptions,
    mixes: &[f32],
) -> Vec<Scorer> {
    let linear = |classes: &[ClassWeights]| Scorer::Linear(LinearWeights::new(data.terms, classes));
    let svm = || {
        let parameters = SvmParameters { cost: options.cost, seed: options.seed, ..SvmParameters::default() };
        linear_svm::train(data, parameters)
    };
    let scorer = match options.algorithm {
        Algorithm::Linear => {
            let svm = svm();
            let bayes =
                if mixes.iter().any(|&mix| mix > 0.0) { naive_bayes::complement(data) } else { Vec::new() };
            let mixed = |&mix: &f32| match bayes.is_empty() || mix == 0.0 {
                true => linear(&svm),
                false => linear(&mix_weights(data, &svm, &bayes, mix)),
            };
            return mixes.iter().map(mixed).collect();
        }
        Algorithm::Svm => linear(&svm()),
        Algorithm::BayesPlain => Scorer::Bayes(NaiveBayes::train(data, false)),
        Algorithm::Bayes => Scorer::Bayes(NaiveBayes::train(data, true)),
        Algorithm::BayesComplement => linear(&naive_bayes::complement(data)),
        Algorithm::Rocchio => linear(&rocchio::prototypes(data)),
        Algorithm::Knn => Scorer::Knn(Knn::train(data, options.k, Similarity::Cosine)),
        Algorithm::KnnEuclid => Scorer::Knn(Knn::train(data, options.k, Similarity::Euclid)),
        Algorithm::KnnCanberra => Scorer::Knn(Knn::train(data, options.k, Similarity::Canberra)),
        Algorithm::KnnHierarchical => Scorer::HierarchicalKnn(HierarchicalKnn::train(data, names, options.k)),
        Algorithm::Tree => Scorer::Trees(DecisionTrees::train(data)),
    };
    vec![scorer]
}

/// Adds `mix` times the weights of the second classifier to those of the first, both scaled to scores of equal spread.
fn mix_weights(
    data: TrainingSet<'_>,
    first: &[ClassWeights],
    second: &[ClassWeights],
    mix: f32,
) -> Vec<ClassWeights> {
    let sample = &data.vectors[..data.vectors.len().min(2000)];
    let factor = |classes: &[ClassWeights]| {
        let weights = LinearWeights::new(data.terms, classes);
        let (mut squares, mut count) = (0.0f64, 0.0f64);
        for vector in sample {
            let scores = weights.scores(vector);
            let mean = scores.iter().sum::<f32>() / scores.len().max(1) as f32;
            squares += scores.iter().map(|score| f64::from(score - mean).powi(2)).sum::<f64>();
            count += scores.len() as f64;
        }
        if squares > 0.0 { (count / squares).sqrt() as f32 } else { 1.0 }
    };
    let (of_first, of_second) = (factor(first), mix * factor(second));
    let add = |(first, second): (&ClassWeights, &ClassWeights)| {
        let scaled = |class: &ClassWeights, factor: f32| {
            class.weights.iter().map(|&(term, weight)| (term, weight * factor)).collect::<Vec<_>>()
        };
        let mut pairs = scaled(first, of_first);
        pairs.extend(scaled(second, of_second));
        ClassWeights {
            bias: first.bias * of_first + second.bias * of_second,
            weights: SparseVector::from_pairs(pairs).pairs().to_vec(),
        }
    };
    first.iter().zip(second).map(add).collect()
}

/// Scores of texts by classifiers that did not learn from them.
pub(super) struct HeldOut {
    /// Places of the texts in the training set.
    pub(super) texts: Vec<usize>,
    /// One list of scores per mix, parallel to `texts`.
    pub(super) scores: Vec<Vec<Vec<f32>>>,
    /// The mixes.
    pub(super) mixes: &'static [f32],
}

/// Fits classifiers to parts of the texts and scores the other parts. Returns `None` for fewer than ten texts.
pub(super) fn held_out_scores(
    data: TrainingSet<'_>,
    names: &[String],
    options: &TrainingOptions,
) -> Option<HeldOut> {
    let count = data.vectors.len();
    if count < 10 || data.classes < 2 {
        return None;
    }
    let single = data.labels.iter().all(|labels| labels.len() == 1);
    let is_mixed = options.algorithm == Algorithm::Linear && single && data.classes <= MIXED_UP_TO;
    let mixes: &'static [f32] = if is_mixed { &MIXES } else { &MIXES[..1] };
    let mut order: Vec<usize> = (0..count).collect();
    Random::new(options.seed).shuffle(&mut order);
    let most = MAX_SCORES / (data.classes * mixes.len());
    let parts: Vec<&[usize]> = if count <= FIVE_PARTS_UP_TO && count <= most {
        order.chunks(count.div_ceil(5)).collect()
    } else {
        vec![&order[..(count / 5).min(most).min(FIVE_PARTS_UP_TO)]]
    };
    let mut held_out = HeldOut { texts: Vec::new(), scores: vec![Vec::new(); mixes.len()], mixes };
    for part in parts {
        let mut is_held_out = vec![false; count];
        part.iter().for_each(|&at| is_held_out[at] = true);
        let learnt = || (0..count).filter(|&at| !is_held_out[at]);
        let vectors: Vec<SparseVector> = learnt().map(|at| data.vectors[at].clone()).collect();
        let labels: Vec<Vec<u32>> = learnt().map(|at| data.labels[at].clone()).collect();
        let training = TrainingSet { vectors: &vectors, labels: &labels, ..data };
        let scorers = fit(training, names, options, mixes);
        for (scorer, scores) in scorers.iter().zip(&mut held_out.scores) {
            scores.par_extend(part.par_iter().map(|&at| scorer.scores(&data.vectors[at])));
        }
        held_out.texts.extend_from_slice(part);
    }
    Some(held_out)
}
