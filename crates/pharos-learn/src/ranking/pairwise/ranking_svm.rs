//! Ranking SVM: min ½|w|² + C Σ ε with w·x ≥ w·x′ + 1 − ε for each result x that is better than x′.
//!
//! Herbrich, Graepel & Obermayer 2000; Joachims 2002, "Optimizing search engines using clickthrough data". The dual is
//! solved by coordinate descent (Hsieh et al. 2008) on features with mean 0 and deviation 1.

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, add_scaled, best_of_rounds};
use crate::ranking::model::Scorer;
use crate::ranking::pairs::{MAX_PAIRS, Pair, preference_pairs};
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;

/// Parameters of Ranking SVM.
pub(crate) const PARAMETERS: [Parameter; 4] = [
    Parameter::real(
        "c",
        0.01,
        1e-9,
        1e6,
        "weight C of a violated pair, as -c of SVMrank with -l 1 times the pairs of a query",
    ),
    Parameter::whole(
        "by-query",
        1,
        0,
        1,
        "1 to divide C by the number of pairs of the query, so that all queries weigh the same",
    ),
    Parameter::whole("rounds", 30, 1, 10_000, "largest number of passes over the pairs"),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of the order of pairs"),
];

/// Trains Ranking SVM.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let seed = parameters.whole("seed") as u64;
    let by_query = parameters.whole("by-query") != 0;
    let grouped = preference_pairs(data, MAX_PAIRS, seed);
    // With weights by query, C is that of a query with the mean number of pairs.
    let total: usize = grouped.iter().map(Vec::len).sum();
    let queries = grouped.iter().filter(|pairs| !pairs.is_empty()).count();
    let mean = total as f64 / queries.max(1) as f64;
    let weighted = |pairs: Vec<Pair>| {
        let factor = if by_query { mean / pairs.len().max(1) as f64 } else { 1.0 };
        pairs.into_iter().map(move |pair| (pair, parameters.get("c") * factor))
    };
    let pairs: Vec<(Pair, f64)> = grouped.into_iter().flat_map(weighted).collect();
    let mut solver = DualSolver::new(&rows, pairs);
    let mut random = Random::new(seed);
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |_| {
        solver.pass(&mut random);
        solver.weights.clone()
    })
}

/// Coordinate descent on the dual: one variable 0 ≤ α ≤ C per pair, w = Σ α (x − x′).
struct DualSolver<'r> {
    rows: &'r StandardisedData,
    pairs: Vec<(Pair, f64)>,
    alphas: Vec<f64>,
    order: Vec<u32>,
    weights: Vec<f64>,
}

impl<'r> DualSolver<'r> {
    fn new(rows: &'r StandardisedData, pairs: Vec<(Pair, f64)>) -> Self {
        let alphas = vec![0.0; pairs.len()];
        let order = (0..pairs.len() as u32).collect();
        Self { rows, pairs, alphas, order, weights: vec![0.0; rows.columns()] }
    }

    fn pass(&mut self, random: &mut Random) {
        random.shuffle(&mut self.order);
        for &number in &self.order {
            let ((better, worse), c) = self.pairs[number as usize];
            let (x, y) = (self.rows.row(better as usize), self.rows.row(worse as usize));
            let (mut margin, mut square) = (0.0, 0.0);
            for ((a, b), weight) in x.iter().zip(y).zip(&self.weights) {
                let difference = a - b;
                margin += weight * difference;
                square += difference * difference;
            }
            if square > 0.0 {
                let alpha = &mut self.alphas[number as usize];
                let new = (*alpha + (1.0 - margin) / square).clamp(0.0, c);
                let change = new - *alpha;
                if change != 0.0 {
                    add_scaled(&mut self.weights, change, x);
                    add_scaled(&mut self.weights, -change, y);
                    *alpha = new;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_of_separable_pairs_is_one() {
        // Standardised: −1, 1. One pair x − x′ = 2: w = ½ has margin 1 if C ≥ ¼.
        let data = RankingData::parse("1 qid:1 1:3\n0 qid:1 1:1\n".as_bytes()).unwrap();
        let rows = StandardisedData::new(&data);
        let solve = |c| {
            let mut solver = DualSolver::new(&rows, vec![((0, 1), c)]);
            solver.pass(&mut Random::new(1));
            solver.weights[0]
        };
        assert!((solve(1.0) - 0.5).abs() < 1e-12);
        assert!((solve(0.1) - 0.2).abs() < 1e-12, "α is limited to C");
    }
}
