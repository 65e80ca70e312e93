//! k nearest neighbours (k 近邻): y(x, c) = Σ sim(x, dᵢ) over the k most similar texts dᵢ of class c.
//!
//! 《搜索引擎——原理、技术与系统》§11.6, formulas 11-9 and 11-10; the thresholds b of the formula are
//! [SCut](crate::classify::thresholds). Nothing is learnt; classification takes time linear in the texts.

use serde::{Deserialize, Serialize};

use super::{SparseVector, TrainingSet};

/// Similarity of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Similarity {
    /// Cosine of the angle.
    Cosine,
    /// 1 / (1 + Euclidean distance).
    Euclid,
    /// 1 / (1 + Canberra distance, 兰式距离).
    Canberra,
}

/// The texts of the training with their classes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Knn {
    k: u32,
    similarity: Similarity,
    classes: u32,
    vectors: Vec<SparseVector>,
    labels: Vec<Vec<u32>>,
    /// Texts of each term with the weights there, for the cosine.
    #[serde(skip)]
    postings: Vec<Vec<(u32, f32)>>,
}

impl Knn {
    /// Stores the texts. With the cosine, vectors must have length 1.
    pub fn train(data: TrainingSet<'_>, k: usize, similarity: Similarity) -> Self {
        let (vectors, labels) = (data.vectors.to_vec(), data.labels.to_vec());
        let (k, classes) = (k.max(1) as u32, data.classes as u32);
        let mut knn = Self { k, similarity, classes, vectors, labels, postings: Vec::new() };
        knn.index(data.terms);
        knn
    }

    fn index(&mut self, terms: usize) {
        if self.similarity == Similarity::Cosine {
            self.postings = vec![Vec::new(); terms];
            for (text, vector) in (0u32..).zip(&self.vectors) {
                for &(term, weight) in vector.pairs() {
                    self.postings[term as usize].push((text, weight));
                }
            }
        }
    }

    /// Completes a classifier that was read from a file. Returns `false` if it does not fit vocabulary and classes.
    pub(crate) fn complete(&mut self, terms: usize, classes: usize) -> bool {
        let is_valid = self.classes as usize == classes
            && self.vectors.len() == self.labels.len()
            && self.labels.iter().flatten().all(|&class| (class as usize) < classes)
            && self.vectors.iter().all(|vector| {
                vector.pairs().iter().all(|&(term, weight)| (term as usize) < terms && weight.is_finite())
            });
        if is_valid {
            self.index(terms);
        }
        is_valid
    }

    /// Returns the sum of the similarities of the neighbours of each class.
    pub fn scores(&self, vector: &SparseVector) -> Vec<f32> {
        let mut scores = vec![0.0; self.classes as usize];
        for (text, similarity) in self.neighbours(vector) {
            for &class in &self.labels[text as usize] {
                scores[class as usize] += similarity;
            }
        }
        scores
    }

    /// Returns the most similar texts with their similarities, the most similar first.
    pub fn neighbours(&self, vector: &SparseVector) -> Vec<(u32, f32)> {
        let similarities: Vec<f32> = match self.similarity {
            Similarity::Cosine => {
                let mut sums = vec![0.0; self.vectors.len()];
                for &(term, weight) in vector.pairs() {
                    for &(text, other) in self.postings.get(term as usize).map_or(&[][..], Vec::as_slice) {
                        sums[text as usize] += weight * other;
                    }
                }
                sums
            }
            Similarity::Euclid => {
                self.vectors.iter().map(|other| 1.0 / (1.0 + vector.euclidean_distance(other))).collect()
            }
            Similarity::Canberra => {
                self.vectors.iter().map(|other| 1.0 / (1.0 + vector.canberra_distance(other))).collect()
            }
        };
        let mut nearest: Vec<(u32, f32)> = (0u32..).zip(similarities).filter(|&(_, s)| s > 0.0).collect();
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        let k = self.k as usize;
        if nearest.len() > k {
            nearest.select_nth_unstable_by(k, order);
            nearest.truncate(k);
        }
        nearest.sort_unstable_by(order);
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(pairs: &[(u32, f32)]) -> SparseVector {
        let mut vector = SparseVector::from_pairs(pairs.to_vec());
        vector.normalise();
        vector
    }

    #[test]
    fn similarities_of_the_nearest_are_summed_by_class() {
        let vectors = [unit(&[(0, 1.0)]), unit(&[(0, 3.0), (1, 4.0)]), unit(&[(1, 1.0)]), unit(&[(2, 1.0)])];
        let labels = [vec![0], vec![0, 1], vec![1], vec![2]];
        let data = TrainingSet { vectors: &vectors, labels: &labels, classes: 3, terms: 3 };
        let scores = Knn::train(data, 2, Similarity::Cosine).scores(&unit(&[(0, 1.0)]));
        assert!((scores[0] - 1.6).abs() < 1e-6 && (scores[1] - 0.6).abs() < 1e-6 && scores[2] == 0.0);
        // Euclid: distances 0, √0.8, √2, √2.
        let scores = Knn::train(data, 2, Similarity::Euclid).scores(&unit(&[(0, 1.0)]));
        assert!((scores[0] - (1.0 + 1.0 / (1.0 + 0.8f32.sqrt()))).abs() < 1e-5);
        // Canberra: distances 0, 0.4/1.6 + 1, 2, 2.
        let scores = Knn::train(data, 2, Similarity::Canberra).scores(&unit(&[(0, 1.0)]));
        assert!((scores[1] - 1.0 / 2.25).abs() < 1e-5);
    }
}
