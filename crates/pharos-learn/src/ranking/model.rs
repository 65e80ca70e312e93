//! A trained model, and its scores.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::aggregation::Aggregation;
use super::data::RankingData;
use super::data::letor::MAX_FEATURE;
use super::data::normalise::Normalisation;
use super::pointwise::mcrank::expected_grade;
use super::trees::{CompiledTrees, TreeEnsemble};

/// A model with the facts of its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankingModel {
    /// Name of the algorithm, or of the format for a foreign model.
    pub algorithm: String,
    /// Applied to features before scoring.
    #[serde(default)]
    pub normalisation: Normalisation,
    /// Parameters of the training.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// Queries and rows of the training data.
    #[serde(default)]
    pub trained_on: TrainingSize,
    /// Figure on validation data with the name of its measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<(String, f64)>,
    pub scorer: Scorer,
}

/// Size of the training data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingSize {
    pub queries: usize,
    pub rows: usize,
}

/// A scoring function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scorer {
    /// Σ wᵢ xᵢ.
    Linear(LinearScorer),
    /// A sum of trees.
    Trees(TreeEnsemble),
    /// An expected grade.
    Classes(ClassScorer),
    /// A network of one hidden layer.
    Network(NetworkScorer),
    /// A combination of rankings without weights.
    Aggregation(Aggregation),
}

/// Σ k P(k), where trees give the probability of each grade.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassScorer {
    /// Scores of the grades from 0.
    pub classes: Vec<TreeEnsemble>,
}

/// Σ vₕ tanh(uₕ) for hidden units u.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkScorer {
    pub units: Vec<LinearScorer>,
    #[serde(with = "super::exact::list")]
    pub output: Vec<f64>,
}

impl NetworkScorer {
    /// Returns the score of a row.
    pub fn score(&self, row: &[f32]) -> f64 {
        self.units.iter().zip(&self.output).map(|(unit, weight)| weight * unit.score(row).tanh()).sum()
    }
}

/// A weighted sum of features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinearScorer {
    /// Added to every score.
    #[serde(with = "super::exact")]
    pub bias: f64,
    /// Weight of each feature, by its number.
    #[serde(with = "super::exact::list")]
    pub weights: Vec<f64>,
    /// Value used for a missing value of each feature; 0 beyond the end.
    #[serde(default, with = "super::exact::list")]
    pub missing: Vec<f64>,
}

impl LinearScorer {
    /// Returns the score of a row. A feature beyond the end of the row is 0.
    pub fn score(&self, row: &[f32]) -> f64 {
        let value = |(feature, &value): (usize, &f32)| {
            if value.is_nan() { self.missing.get(feature).copied().unwrap_or(0.0) } else { value.into() }
        };
        let values = row.iter().enumerate().map(value);
        self.bias + values.zip(&self.weights).map(|(value, weight)| value * weight).sum::<f64>()
    }

    fn validate(&self) -> Result<(), String> {
        if self.weights.len() > MAX_FEATURE as usize + 1 || self.missing.len() > self.weights.len() {
            return Err("too many weights".to_owned());
        }
        let mut all = self.weights.iter().chain(&self.missing).chain([&self.bias]);
        if all.all(|value| value.is_finite()) {
            Ok(())
        } else {
            Err("a weight is not a finite number".to_owned())
        }
    }
}

impl RankingModel {
    /// Returns the score of each row.
    pub fn score(&self, data: &RankingData) -> Vec<f64> {
        if self.normalisation == Normalisation::None {
            return self.scorer.score(data);
        }
        let mut normalised = data.clone();
        self.normalisation.apply(&mut normalised);
        self.scorer.score(&normalised)
    }

    /// Returns the score of a single row whose features are normalised.
    pub fn score_row(&self, row: &[f32]) -> f64 {
        match &self.scorer {
            Scorer::Linear(linear) => linear.score(row),
            Scorer::Trees(trees) => trees.score(row),
            Scorer::Classes(scorer) => {
                expected_grade(&scorer.classes.iter().map(|class| class.score(row)).collect::<Vec<f64>>())
            }
            Scorer::Network(network) => network.score(row),
            // One result alone has no rank among others.
            Scorer::Aggregation(_) => 0.0,
        }
    }

    /// Returns the weight of each feature in the model as a share of all: gains of splits, or |weight|.
    pub fn importance(&self) -> Vec<f64> {
        let sizes: Vec<f64> = match &self.scorer {
            Scorer::Linear(linear) => linear.weights.iter().map(|weight| weight.abs()).collect(),
            Scorer::Trees(trees) => trees.gains(),
            Scorer::Classes(scorer) => scorer.classes.iter().map(TreeEnsemble::gains).fold(Vec::new(), add),
            Scorer::Network(network) => {
                let unit = |(unit, output): (&LinearScorer, &f64)| {
                    unit.weights.iter().map(|weight| (weight * output).abs()).collect()
                };
                network.units.iter().zip(&network.output).map(unit).fold(Vec::new(), add)
            }
            Scorer::Aggregation(_) => Vec::new(),
        };
        let sum: f64 = sizes.iter().sum();
        sizes.iter().map(|size| if sum > 0.0 { size / sum } else { 0.0 }).collect()
    }

    /// Checks that the model can score any row.
    pub fn validate(&self) -> Result<(), String> {
        self.scorer.validate()
    }
}

/// Rows scored by one thread at a time.
const ROWS_PER_TASK: usize = 1024;

impl Scorer {
    /// Returns the score of each row of normalised data.
    pub fn score(&self, data: &RankingData) -> Vec<f64> {
        match self {
            Self::Linear(linear) => (0..data.len()).map(|row| linear.score(data.row(row))).collect(),
            Self::Trees(trees) => {
                let compiled = CompiledTrees::new(trees);
                let mut scores = vec![0.0; data.len()];
                scores.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, out)| {
                    let first = task * ROWS_PER_TASK;
                    let rows: Vec<&[f32]> = (first..first + out.len()).map(|row| data.row(row)).collect();
                    compiled.score(&rows, out);
                });
                scores
            }
            Self::Classes(scorer) => {
                let expected = |row| {
                    let row = data.row(row);
                    expected_grade(&scorer.classes.iter().map(|class| class.score(row)).collect::<Vec<f64>>())
                };
                (0..data.len()).into_par_iter().map(expected).collect()
            }
            Self::Network(network) => (0..data.len()).map(|row| network.score(data.row(row))).collect(),
            Self::Aggregation(aggregation) => aggregation.score(data),
        }
    }

    fn validate(&self) -> Result<(), String> {
        match self {
            Self::Linear(linear) => linear.validate(),
            Self::Trees(trees) => trees.validate(),
            Self::Classes(scorer) => scorer.classes.iter().try_for_each(TreeEnsemble::validate),
            Self::Network(network) => {
                if network.output.len() != network.units.len()
                    || !network.output.iter().all(|value| value.is_finite())
                {
                    return Err("wrong weights of the output".to_owned());
                }
                network.units.iter().try_for_each(LinearScorer::validate)
            }
            Self::Aggregation(_) => Ok(()),
        }
    }
}

/// Adds two lists, of which the shorter one is continued by 0.
fn add(mut a: Vec<f64>, b: Vec<f64>) -> Vec<f64> {
    a.resize(a.len().max(b.len()), 0.0);
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
    a
}
