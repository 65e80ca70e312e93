//! Hierarchical kNN: neighbours are searched only below the top classes that a text resembles.
//!
//! 《搜索引擎——原理、技术与系统》§11.6: if the similarity to the parent class is below a threshold, its children are skipped.
//! It is several times faster than kNN over all texts, and less accurate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::knn::{Knn, Similarity};
use super::weights::{ClassWeights, LinearWeights};
use super::{SparseVector, TrainingSet};

/// Share of the similarity to the best top class that another one needs to be searched.
const SEARCHED_FROM: f32 = 0.7;

/// A kNN classifier per top class, and the centroids of the top classes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HierarchicalKnn {
    classes: u32,
    centroids: LinearWeights,
    groups: Vec<Knn>,
}

impl HierarchicalKnn {
    /// Stores the texts below the top class of each class: the part of its name before the first `/`.
    pub fn train(data: TrainingSet<'_>, names: &[String], k: usize) -> Self {
        let mut tops: BTreeMap<&str, usize> = BTreeMap::new();
        let top_of: Vec<usize> = names
            .iter()
            .map(|name| {
                let count = tops.len();
                *tops.entry(name.split('/').next().unwrap_or_default()).or_insert(count)
            })
            .collect();
        let mut members: Vec<(Vec<SparseVector>, Vec<Vec<u32>>)> = vec![Default::default(); tops.len()];
        for (vector, labels) in data.vectors.iter().zip(data.labels) {
            let mut of: Vec<usize> = labels.iter().map(|&class| top_of[class as usize]).collect();
            of.sort_unstable();
            of.dedup();
            for top in of {
                let own = labels.iter().copied().filter(|&class| top_of[class as usize] == top);
                members[top].0.push(vector.clone());
                members[top].1.push(own.collect());
            }
        }
        let centroid = |vectors: &[SparseVector]| {
            let pairs = vectors.iter().flat_map(|vector| vector.pairs().iter().copied()).collect();
            let mut sum = SparseVector::from_pairs(pairs);
            sum.normalise();
            ClassWeights { bias: 0.0, weights: sum.pairs().to_vec() }
        };
        let centroids: Vec<ClassWeights> = members.iter().map(|(vectors, _)| centroid(vectors)).collect();
        let group = |(vectors, labels): &(Vec<SparseVector>, Vec<Vec<u32>>)| {
            Knn::train(TrainingSet { vectors, labels, ..data }, k, Similarity::Cosine)
        };
        Self {
            classes: data.classes as u32,
            centroids: LinearWeights::new(data.terms, &centroids),
            groups: members.iter().map(group).collect(),
        }
    }

    /// Completes a classifier that was read from a file. Returns `false` if it does not fit vocabulary and classes.
    pub(crate) fn complete(&mut self, terms: usize, classes: usize) -> bool {
        self.classes as usize == classes
            && self.centroids.is_valid(terms, self.groups.len())
            && self.groups.iter_mut().all(|group| group.complete(terms, classes))
    }

    /// Returns the sum of the similarities of the neighbours of each class.
    pub fn scores(&self, vector: &SparseVector) -> Vec<f32> {
        let similarities = self.centroids.scores(vector);
        let best = similarities.iter().copied().fold(0.0, f32::max);
        let mut scores = vec![0.0; self.classes as usize];
        for (group, similarity) in self.groups.iter().zip(similarities) {
            if similarity >= SEARCHED_FROM * best {
                scores.iter_mut().zip(group.scores(vector)).for_each(|(sum, score)| *sum += score);
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_top_classes_are_searched() {
        let vector = |term| SparseVector::from_pairs(vec![(term, 1.0)]);
        let vectors = [vector(0), vector(1), vector(2)];
        let labels = [vec![0], vec![1], vec![2]];
        let names = ["arts/film", "arts/music", "science/physics"].map(String::from);
        let data = TrainingSet { vectors: &vectors, labels: &labels, classes: 3, terms: 3 };
        let mut knn = HierarchicalKnn::train(data, &names, 20);
        assert_eq!(knn.groups.len(), 2);
        assert_eq!(knn.scores(&vector(1)), [0.0, 1.0, 0.0]);
        assert_eq!(knn.scores(&vector(2)), [0.0, 0.0, 1.0]);
        assert_eq!(knn.scores(&SparseVector::default()), [0.0; 3]);
        assert!(knn.complete(3, 3) && !knn.complete(2, 3));
    }
}
