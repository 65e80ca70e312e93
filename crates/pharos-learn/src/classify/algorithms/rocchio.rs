//! Rocchio classifier: one prototype vector per class (《搜索引擎——原理、技术与系统》§11.6; Rocchio 1971).
//!
//! The prototype is the mean of the vectors of the class less a quarter of the mean of the other vectors (β = 16 and
//! γ = 4, Buckley, Salton & Allan 1994). Its cosine with the vector of a text is the score.

use super::TrainingSet;
use super::weights::{ClassWeights, LinearWeights};

/// Weight of the texts of other classes, relative to that of its own texts.
const OTHERS: f32 = 0.25;

/// Returns the prototypes, of length 1.
pub fn prototypes(data: TrainingSet<'_>) -> Vec<ClassWeights> {
    let mut all = vec![0.0f32; data.terms];
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); data.classes];
    for (at, (vector, labels)) in data.vectors.iter().zip(data.labels).enumerate() {
        for &(term, weight) in vector.pairs() {
            all[term as usize] += weight;
        }
        for &class in labels {
            members[class as usize].push(at);
        }
    }
    let keep = LinearWeights::MAX_WEIGHTS / data.classes.max(1);
    let prototype = |members: &Vec<usize>| {
        let own = members.len().max(1) as f32;
        let others = data.vectors.len().saturating_sub(members.len()).max(1) as f32;
        let mut sum: Vec<f32> = all.iter().map(|&weight| -OTHERS * weight / others).collect();
        for &(term, weight) in members.iter().flat_map(|&at| data.vectors[at].pairs()) {
            sum[term as usize] += weight / own + OTHERS * weight / others;
        }
        let norm = sum.iter().map(|weight| weight * weight).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        let weights = (0u32..).zip(sum).filter(|&(_, weight)| weight != 0.0);
        let mut class = ClassWeights { bias: 0.0, weights: weights.map(|(t, w)| (t, w / norm)).collect() };
        class.prune(keep);
        class
    };
    members.iter().map(prototype).collect()
}

#[cfg(test)]
mod tests {
    use super::super::SparseVector;
    use super::*;

    #[test]
    fn prototype_of_a_worked_example() {
        let vector = |term| SparseVector::from_pairs(vec![(term, 1.0)]);
        let vectors = [vector(0), vector(1), vector(2)];
        let labels = [vec![0], vec![0], vec![1]];
        let prototypes = prototypes(TrainingSet { vectors: &vectors, labels: &labels, classes: 2, terms: 3 });
        // (1/2, 1/2, −1/4) of length 3/4.
        let weights: Vec<f32> = prototypes[0].weights.iter().map(|w| w.1).collect();
        let expected = [2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0];
        assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{weights:?}");
    }
}
