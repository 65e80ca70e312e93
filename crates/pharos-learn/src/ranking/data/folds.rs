//! Division of data into parts for cross-validation.

use super::RankingData;
use crate::random::Random;

/// Parts of the data that one run of a cross-validation uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pub train: Vec<usize>,
    pub valid: usize,
    pub test: usize,
}

/// Returns the five folds of LETOR over the parts S1 to S5, numbered from 0: fold 1 trains on S1 to S3, validates on S4
/// and tests on S5; the next folds rotate. The result of a model is the mean of the five tests (Qin et al. 2010, §4.3).
pub fn standard_folds() -> [Fold; 5] {
    std::array::from_fn(|fold| Fold {
        train: (0..3).map(|part| (fold + part) % 5).collect(),
        valid: (fold + 3) % 5,
        test: (fold + 4) % 5,
    })
}

/// Divides the queries at random into parts of equal size, give or take one. Returns the numbers of queries of each part.
pub fn split_queries(data: &RankingData, parts: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..data.queries().len()).collect();
    Random::new(seed).shuffle(&mut order);
    let mut split = vec![Vec::new(); parts.max(1)];
    for (place, query) in order.into_iter().enumerate() {
        split[place % parts.max(1)].push(query);
    }
    for part in &mut split {
        part.sort_unstable();
    }
    split
}
