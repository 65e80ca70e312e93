//! A trained classifier.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::algorithms::TrainingSet;
use super::algorithms::weights::DENSE_UP_TO;
use super::dataset::Dataset;
use super::evaluation::{Measures, evaluate};
use super::features::selection::{LabelledVectors, select};
use super::features::vector::SparseVector;
use super::features::vocabulary::Vocabulary;
use super::fitting::{HeldOut, Scorer, fit, held_out_scores};
use super::options::{Algorithm, ThresholdStrategy, TrainingOptions};
use super::thresholds::{Thresholds, best, tune_scut};

/// Size of the features and weights of a model in bytes: 20 MB with the rest.
const MAX_FEATURE_BYTES: usize = 19_000_000;

/// Maximum number of features.
const MAX_FEATURES: usize = 1 << 20;

/// Error that prevents the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainingError {
    /// There are no usable texts.
    #[error("no text with a class: expected lines with a text, a tab and a class")]
    NoTexts,
    /// All texts belong to one class.
    #[error("all texts belong to one class: at least two classes are required")]
    OneClass,
}

/// A class of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub class: u32,
    /// Estimated probability that the text belongs to the class.
    pub confidence: f32,
}

/// A term of a text and what it contributes to the score of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecisiveTerm {
    pub term: String,
    pub contribution: f32,
}

/// Figures of the training of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// Number of texts.
    pub examples: usize,
    /// Number of texts without any word.
    pub empty: usize,
    /// Number of texts that also occur with other classes.
    pub contradictory: usize,
    pub features: usize,
    /// Results on texts that were held out of the training; `None` with fewer than ten texts.
    pub held_out: Option<HeldOutSummary>,
}

/// Results on held-out texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOutSummary {
    pub examples: u64,
    pub accuracy: f64,
    pub micro_f1: f64,
    pub macro_f1: f64,
}

/// A trained classifier: features, algorithm, thresholds and calibration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassifierModel {
    pub(super) classes: Vec<String>,
    /// Separator of several classes of a text; `None` if each has one.
    pub(super) separator: Option<char>,
    pub(super) algorithm: Algorithm,
    pub(super) vocabulary: Vocabulary,
    pub(super) scorer: Scorer,
    pub(super) thresholds: Thresholds,
    /// Factor of scores before they become probabilities (temperature scaling, Guo, Pleiss, Sun & Weinberger 2017).
    pub(super) sharpness: f32,
    pub(super) summary: TrainingSummary,
}

impl ClassifierModel {
    /// Trains a classifier. The same texts and options give the same model.
    pub fn train(data: &Dataset, options: &TrainingOptions) -> Result<Self, TrainingError> {
        let examples: Vec<(&str, &Vec<u32>)> =
            data.examples.iter().map(|example| (example.text.as_str(), &example.classes)).collect();
        if examples.is_empty() {
            return Err(TrainingError::NoTexts);
        }
        let texts: Vec<&str> = examples.iter().map(|example| example.0).collect();
        let terms = options.terms.unwrap_or(options.algorithm.default_terms());
        let limit = (MAX_FEATURE_BYTES / (data.classes.len().min(DENSE_UP_TO) + 9)).min(MAX_FEATURES);
        let mut vocabulary = Vocabulary::build(terms, &texts, limit);
        if options.algorithm.needs_length() {
            vocabulary = vocabulary.without_unit_length();
        }
        let mut summary = TrainingSummary {
            examples: examples.len(),
            contradictory: contradictory(&examples),
            ..TrainingSummary::default()
        };
        let (mut vectors, labels) = vectors(&vocabulary, &examples);
        if let Some((method, size)) = options.selection {
            let (classes, terms) = (data.classes.len(), vocabulary.len());
            let labelled = LabelledVectors { vectors: &vectors, labels: &labels, classes, terms };
            vocabulary = vocabulary.restricted(&select(labelled, method, size));
            vectors = self::vectors(&vocabulary, &examples).0;
        }
        // Texts without a feature say nothing about their class.
        let (vectors, labels): (Vec<SparseVector>, Vec<Vec<u32>>) =
            vectors.into_iter().zip(labels).filter(|(vector, _)| !vector.is_empty()).unzip();
        summary.empty = examples.len() - vectors.len();
        summary.features = vocabulary.len();
        let training = TrainingSet {
            vectors: &vectors,
            labels: &labels,
            classes: data.classes.len(),
            terms: vocabulary.len(),
        };
        let mut counts = training.texts_per_class();
        counts.retain(|&count| count > 0);
        match counts.len() {
            0 => return Err(TrainingError::NoTexts),
            1 => return Err(TrainingError::OneClass),
            _ => {}
        }
        let held_out = held_out_scores(training, &data.classes, options);
        let decided = decide_on_held_out(training, held_out, data, options);
        let scorer = fit(training, &data.classes, options, &[decided.mix]).swap_remove(0);
        summary.held_out = decided.summary;
        Ok(Self {
            classes: data.classes.clone(),
            separator: data.separator,
            algorithm: options.algorithm,
            vocabulary,
            scorer,
            thresholds: decided.thresholds,
            sharpness: decided.sharpness,
            summary,
        })
    }

    /// Returns the names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the separator of several classes of a text, if texts may have several.
    pub fn separator(&self) -> Option<char> {
        self.separator
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the figures of the training.
    pub fn summary(&self) -> &TrainingSummary {
        &self.summary
    }

    /// Returns the score of each class for a text.
    pub fn scores(&self, text: &str) -> Vec<f32> {
        self.scorer.scores(&self.vocabulary.vector(text))
    }

    /// Returns the classes of a text with their confidence, the most probable first.
    pub fn classify(&self, text: &str) -> Vec<Prediction> {
        let scores = self.scores(text);
        let classes = self.thresholds.decide_one(&scores);
        let confidences = self.confidences(&scores);
        let prediction = |class: u32| Prediction { class, confidence: confidences[class as usize] };
        let mut predictions: Vec<Prediction> = classes.into_iter().map(prediction).collect();
        predictions.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        predictions
    }

    /// Returns the probability of each class for a text, or `None` for a text without a known term.
    pub fn confidences_of(&self, text: &str) -> Option<Vec<f32>> {
        let vector = self.vocabulary.vector(text);
        (!vector.is_empty()).then(|| self.confidences(&self.scorer.scores(&vector)))
    }

    /// Returns the classes of each text, in ascending order, on all processors.
    pub fn classify_all(&self, texts: &[&str]) -> Vec<Vec<u32>> {
        match self.thresholds {
            Thresholds::PCut { .. } => {
                let scores: Vec<Vec<f32>> = texts.par_iter().map(|text| self.scores(text)).collect();
                self.thresholds.decide(&scores)
            }
            _ => texts.par_iter().map(|text| self.thresholds.decide_one(&self.scores(text))).collect(),
        }
    }

    /// Returns the probability of each class: a softmax if a text has one class, else a logistic function of the distance
    /// to the threshold.
    pub fn confidences(&self, scores: &[f32]) -> Vec<f32> {
        match &self.thresholds {
            Thresholds::SCut { least, .. } => {
                let logistic = |(score, least): (&f32, &f32)| {
                    if least.is_finite() {
                        1.0 / (1.0 + (-self.sharpness * (score - least)).exp())
                    } else {
                        0.0
                    }
                };
                scores.iter().zip(least).map(logistic).collect()
            }
            _ => softmax(scores, self.sharpness),
        }
    }

    /// Returns the terms of a text that decide about a class: the largest contributions to its score first. Only linear
    /// classifiers have such terms.
    pub fn decisive_terms(&self, text: &str, class: u32, count: usize) -> Vec<DecisiveTerm> {
        let Scorer::Linear(weights) = &self.scorer else { return Vec::new() };
        let vector = self.vocabulary.vector(text);
        let values: HashMap<u32, f32> = vector.pairs().iter().copied().collect();
        let contribution = |(feature, term): (u32, String)| {
            let value = values.get(&feature).copied().unwrap_or(0.0);
            DecisiveTerm { term, contribution: value * weights.weight(feature, class) }
        };
        let mut terms: Vec<DecisiveTerm> =
            self.vocabulary.known_terms(text).into_iter().map(contribution).collect();
        terms.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        terms.truncate(count);
        terms
    }
}

fn vectors(vocabulary: &Vocabulary, examples: &[(&str, &Vec<u32>)]) -> (Vec<SparseVector>, Vec<Vec<u32>>) {
    examples.par_iter().map(|(text, classes)| (vocabulary.vector(text), classes.to_vec())).unzip()
}

/// Returns the number of texts that also occur with other classes.
fn contradictory(examples: &[(&str, &Vec<u32>)]) -> usize {
    let mut first: HashMap<&str, (&Vec<u32>, bool)> = HashMap::new();
    for &(text, classes) in examples {
        first.entry(text).and_modify(|(of, differs)| *differs |= *of != classes).or_insert((classes, false));
    }
    examples.iter().filter(|(text, _)| first.get(text).is_some_and(|(_, differs)| *differs)).count()
}

/// Choices made with held-out texts.
struct Decided {
    mix: f32,
    thresholds: Thresholds,
    sharpness: f32,
    summary: Option<HeldOutSummary>,
}

/// Scores and right classes of texts.
type ScoredTexts<'a> = (&'a [Vec<f32>], &'a [Vec<u32>]);

fn decide_on_held_out(
    training: TrainingSet<'_>,
    held_out: Option<HeldOut>,
    data: &Dataset,
    options: &TrainingOptions,
) -> Decided {
    let shares = || {
        let counts = training.texts_per_class();
        counts.iter().map(|&count| f64::from(count) / training.vectors.len() as f64).collect()
    };
    let rcut = |k| Thresholds::RCut { k };
    let tuned = |held_out: Option<ScoredTexts<'_>>| match (options.thresholds, held_out) {
        (ThresholdStrategy::RCut(k), _) => rcut(k.max(1)),
        (ThresholdStrategy::PCut(x), _) => Thresholds::PCut { x, shares: shares() },
        (ThresholdStrategy::Auto, _) if data.separator.is_none() => rcut(1),
        (_, None) => rcut(1),
        (_, Some((scores, labels))) => {
            let least = tune_scut(scores, labels, training.classes);
            let candidates = [false, true].map(|at_least_one| {
                let thresholds = Thresholds::SCut { least: least.clone(), at_least_one };
                (summarise(data, &thresholds, scores, labels).micro_f1, thresholds)
            });
            let [(strict, without), (filled, with)] = candidates;
            if filled >= strict { with } else { without }
        }
    };
    let Some(held_out) = held_out else {
        return Decided { mix: 0.0, thresholds: tuned(None), sharpness: 1.0, summary: None };
    };
    let labels: Vec<Vec<u32>> = held_out.texts.iter().map(|&at| training.labels[at].clone()).collect();
    let is_right = |(scores, labels): (&Vec<f32>, &Vec<u32>)| best(scores, 1) == *labels;
    let right = |at: usize| held_out.scores[at].iter().zip(&labels).filter(|pair| is_right(*pair)).count();
    // The smallest mix of those with most right texts.
    let at = (0..held_out.mixes.len()).rev().max_by_key(|&at| right(at)).unwrap_or(0);
    let scores = &held_out.scores[at];
    let thresholds = tuned(Some((scores, &labels)));
    let sharpness = tune_sharpness(&thresholds, scores, &labels);
    let summary = Some(summarise(data, &thresholds, scores, &labels));
    Decided { mix: held_out.mixes[at], thresholds, sharpness, summary }
}

fn summarise(
    data: &Dataset,
    thresholds: &Thresholds,
    scores: &[Vec<f32>],
    labels: &[Vec<u32>],
) -> HeldOutSummary {
    let decisions = thresholds.decide(scores);
    let pairs = labels.iter().map(Vec::as_slice).zip(decisions.iter().map(Vec::as_slice));
    let evaluation = evaluate(&data.classes, pairs);
    let Measures { f1: micro_f1, .. } = evaluation.micro_measures;
    HeldOutSummary {
        examples: evaluation.examples,
        accuracy: evaluation.accuracy,
        micro_f1,
        macro_f1: evaluation.macro_f1,
    }
}

/// Returns the probabilities of classes of which one is right.
fn softmax(scores: &[f32], sharpness: f32) -> Vec<f32> {
    let highest = scores.iter().copied().fold(f32::MIN, f32::max);
    let powers: Vec<f32> = scores.iter().map(|score| (sharpness * (score - highest)).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// Returns the factor of scores that gives held-out classes the highest likelihood, by golden-section search of its
/// logarithm.
fn tune_sharpness(thresholds: &Thresholds, scores: &[Vec<f32>], labels: &[Vec<u32>]) -> f32 {
    let sample = scores.len().min(5000);
    let loss = |logarithm: f64| {
        let sharpness = logarithm.exp() as f32;
        let mut loss = 0.0f64;
        for (scores, labels) in scores.iter().zip(labels).take(sample) {
            match thresholds {
                Thresholds::SCut { least, .. } => {
                    for (class, (score, least)) in (0u32..).zip(scores.iter().zip(least)) {
                        if least.is_finite() {
                            let sign = if labels.contains(&class) { -1.0 } else { 1.0 };
                            let x = f64::from(sign * sharpness * (score - least));
                            loss += if x > 30.0 { x } else { x.exp().ln_1p() };
                        }
                    }
                }
                _ => {
                    let probabilities = softmax(scores, sharpness);
                    let of = |&class: &u32| f64::from(probabilities[class as usize]).max(1e-9).ln();
                    loss -= labels.iter().map(of).sum::<f64>();
                }
            }
        }
        loss
    };
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = ((1e-3f64).ln(), (1e3f64).ln());
    for _ in 0..24 {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        if loss(a) < loss(b) { high = b } else { low = a }
    }
    ((low + high) / 2.0).exp() as f32
}
