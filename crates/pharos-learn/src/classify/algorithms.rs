//! Classifiers: each maps the vector of a text to a score per class (m-ary output, m 元); thresholds make decisions of it.

pub mod decision_tree;
pub mod hierarchical_knn;
pub mod knn;
pub mod linear_svm;
pub mod naive_bayes;
pub mod rocchio;
pub mod weights;

use super::features::vector::SparseVector;

/// Vectors of texts with their classes, from which a classifier learns.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSet<'a> {
    pub vectors: &'a [SparseVector],
    /// Classes of each text, each below `classes`.
    pub labels: &'a [Vec<u32>],
    pub classes: usize,
    /// Number of features.
    pub terms: usize,
}

impl TrainingSet<'_> {
    /// Returns the number of texts of each class.
    pub fn texts_per_class(&self) -> Vec<u32> {
        let mut counts = vec![0; self.classes];
        for &class in self.labels.iter().flatten() {
            counts[class as usize] += 1;
        }
        counts
    }
}
