//! Sparse vectors of texts.

use serde::{Deserialize, Serialize};

/// Sparse vector: pairs of term index and weight, sorted by index, each index once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SparseVector(Vec<(u32, f32)>);

impl SparseVector {
    /// Creates a vector from pairs in any order. Weights of equal indexes are added.
    pub fn from_pairs(mut pairs: Vec<(u32, f32)>) -> Self {
        pairs.sort_unstable_by_key(|&(index, _)| index);
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self(pairs)
    }

    /// Returns the pairs of index and weight in ascending order of index.
    pub fn pairs(&self) -> &[(u32, f32)] {
        &self.0
    }

    /// Returns `true` if no term has a weight.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the Euclidean length.
    pub fn norm(&self) -> f32 {
        self.0.iter().map(|&(_, weight)| weight * weight).sum::<f32>().sqrt()
    }

    /// Scales the vector to length 1. The zero vector stays as it is.
    pub fn normalise(&mut self) {
        let norm = self.norm();
        if norm > 0.0 {
            for (_, weight) in &mut self.0 {
                *weight /= norm;
            }
        }
    }

    /// Returns the inner product with a dense vector. Indexes beyond its end count as 0.
    pub fn dot_dense(&self, dense: &[f32]) -> f32 {
        self.0
            .iter()
            .map(|&(index, weight)| dense.get(index as usize).map_or(0.0, |other| weight * other))
            .sum()
    }

    /// Calls `f` with both weights of each index that one of the vectors contains.
    fn for_each_union(&self, other: &Self, mut f: impl FnMut(f32, f32)) {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            match (a.peek().copied(), b.peek().copied()) {
                (None, None) => return,
                (Some(&(i, x)), Some(&(j, y))) if i == j => {
                    f(x, y);
                    a.next();
                    b.next();
                }
                (Some(&(i, x)), other) if other.is_none_or(|&(j, _)| i < j) => {
                    f(x, 0.0);
                    a.next();
                }
                (_, Some(&(_, y))) => {
                    f(0.0, y);
                    b.next();
                }
                (Some(_), None) => a.next().map_or((), |_| ()),
            }
        }
    }

    /// Returns the inner product with another vector.
    pub fn dot(&self, other: &Self) -> f32 {
        let mut sum = 0.0;
        self.for_each_union(other, |x, y| sum += x * y);
        sum
    }

    /// Returns the cosine of the angle to another vector, 0 if one of them is zero.
    pub fn cosine(&self, other: &Self) -> f32 {
        let norms = self.norm() * other.norm();
        if norms > 0.0 { self.dot(other) / norms } else { 0.0 }
    }

    /// Returns the Euclidean distance to another vector.
    pub fn euclidean_distance(&self, other: &Self) -> f32 {
        let mut sum = 0.0;
        self.for_each_union(other, |x, y| sum += (x - y) * (x - y));
        sum.sqrt()
    }

    /// Returns the Canberra distance (兰式距离, Lance & Williams 1967): the sum of |x − y| / (|x| + |y|) over the terms
    /// that one of the vectors contains.
    pub fn canberra_distance(&self, other: &Self) -> f32 {
        let mut sum = 0.0;
        self.for_each_union(other, |x, y| {
            let scale = x.abs() + y.abs();
            if scale > 0.0 {
                sum += (x - y).abs() / scale;
            }
        });
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_a_worked_example() {
        let a = SparseVector::from_pairs(vec![(0, 3.0), (2, 4.0)]);
        let b = SparseVector::from_pairs(vec![(2, 4.0), (1, 3.0)]);
        assert_eq!(a.norm(), 5.0);
        assert_eq!(a.dot(&b), 16.0);
        assert!((a.cosine(&b) - 16.0 / 25.0).abs() < 1e-6);
        assert!((a.euclidean_distance(&b) - 18f32.sqrt()).abs() < 1e-6);
        // |3 − 0| / 3 + |0 − 3| / 3 + 0.
        assert_eq!(a.canberra_distance(&b), 2.0);
        assert_eq!(a.dot_dense(&[1.0, 1.0]), 3.0);
    }

    #[test]
    fn weights_of_equal_terms_are_added_and_zero_is_safe() {
        let mut vector = SparseVector::from_pairs(vec![(5, 1.0), (1, 2.0), (5, 3.0)]);
        assert_eq!(vector.pairs(), [(1, 2.0), (5, 4.0)]);
        vector.normalise();
        assert!((vector.norm() - 1.0).abs() < 1e-6);
        let mut zero = SparseVector::default();
        zero.normalise();
        assert_eq!((zero.norm(), zero.cosine(&vector)), (0.0, 0.0));
    }
}
