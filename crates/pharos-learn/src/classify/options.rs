//! Choices for the training of a classifier.

use serde::{Deserialize, Serialize};

use super::features::selection::{SelectionMethod, SelectionSize};
use super::features::terms::TermKind;

/// A classification algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Linear SVM over n-grams, mixed with complement naive Bayes as far as this helps on held-out texts.
    Linear,
    /// Linear support vector machine.
    Svm,
    /// Naive Bayes of the book, without smoothing.
    BayesPlain,
    /// Naive Bayes with Laplace smoothing.
    Bayes,
    /// Complement naive Bayes.
    BayesComplement,
    Rocchio,
    /// k nearest neighbours by cosine.
    Knn,
    KnnEuclid,
    KnnCanberra,
    /// kNN below similar top classes.
    KnnHierarchical,
    /// Decision tree per class.
    Tree,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 11] = [
        Self::Linear,
        Self::Svm,
        Self::BayesPlain,
        Self::Bayes,
        Self::BayesComplement,
        Self::Rocchio,
        Self::Knn,
        Self::KnnEuclid,
        Self::KnnCanberra,
        Self::KnnHierarchical,
        Self::Tree,
    ];

    /// Returns the name in commands and model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Svm => "svm",
            Self::BayesPlain => "bayes-plain",
            Self::Bayes => "bayes",
            Self::BayesComplement => "bayes-complement",
            Self::Rocchio => "rocchio",
            Self::Knn => "knn",
            Self::KnnEuclid => "knn-euclid",
            Self::KnnCanberra => "knn-canberra",
            Self::KnnHierarchical => "knn-hierarchical",
            Self::Tree => "tree",
        }
    }

    /// Returns the terms that the algorithm uses by default.
    pub fn default_terms(self) -> TermKind {
        match self {
            Self::Linear => TermKind::NGrams,
            _ => TermKind::Words,
        }
    }

    /// Returns `true` if vectors of different length are different texts for the algorithm.
    pub(super) fn needs_length(self) -> bool {
        matches!(self, Self::KnnEuclid | Self::KnnCanberra)
    }
}

/// A threshold strategy, whose parameters are learnt or given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThresholdStrategy {
    /// The best class if every training text has one, else [`SCut`](Self::SCut).
    Auto,
    RCut(usize),
    PCut(f64),
    SCut,
}

/// Options of the training. The default is the classifier to deploy.
#[derive(Clone, Copy, Debug)]
pub struct TrainingOptions {
    pub algorithm: Algorithm,
    /// Kind of terms; `None` for that of the algorithm.
    pub terms: Option<TermKind>,
    /// Feature selection; `None` for all terms, as far as the model stays below its maximum size.
    pub selection: Option<(SelectionMethod, SelectionSize)>,
    pub thresholds: ThresholdStrategy,
    /// Number of neighbours of kNN. 20 is the baseline of the book, 15 its best value.
    pub k: usize,
    /// Cost C of an error of the SVM.
    pub cost: f32,
    pub seed: u64,
}

impl Default for TrainingOptions {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Linear,
            terms: None,
            selection: None,
            thresholds: ThresholdStrategy::Auto,
            k: 20,
            cost: 1.0,
            seed: 1,
        }
    }
}
