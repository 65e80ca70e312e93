//! ListNet: a linear model trained on the cross entropy of top-one probabilities (Cao, Qin, Liu, Tsai & Li 2007,
//! "Learning to rank: From pairwise approach to listwise approach").

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, add_scaled, best_of_rounds, dot};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;

/// Parameters of ListNet and ListMLE.
pub(crate) const PARAMETERS: [Parameter; 3] = [
    Parameter::whole("rounds", 200, 1, 100_000, "largest number of passes over the queries"),
    Parameter::real("learning-rate", 0.01, 1e-9, 10.0, "factor of the gradient of a query"),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of the order of queries"),
];

/// Returns the Plackett-Luce probability of a permutation: Π exp(s_j) / Σ_{k ≥ j} exp(s_k), for the scores in the order of
/// the permutation.
pub fn permutation_probability(scores: &[f64]) -> f64 {
    let mut rest = 0.0;
    let mut probability = 1.0;
    for score in scores.iter().rev() {
        rest += score.exp();
        probability *= score.exp() / rest;
    }
    probability
}

/// Returns exp(s_j) / Σ exp(s_k), the probability that a result is the first.
pub fn top_one_probabilities(scores: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let largest = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.map(|score| (score - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// Trains ListNet by stochastic gradient descent, query by query.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    descend(data, parameters, watch, |scores, grades| {
        let wanted = top_one_probabilities(grades.iter().map(|&grade| f64::from(grade)));
        let found = top_one_probabilities(scores.iter().copied());
        wanted.iter().zip(found).map(|(wanted, found)| wanted - found).collect()
    })
}

/// Descends a listwise loss of a linear model. `ascent` returns minus the derivative of the loss by each score.
pub(super) fn descend(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
    ascent: impl Fn(&[f64], &[u32]) -> Vec<f64>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let rate = parameters.get("learning-rate");
    let mut random = Random::new(parameters.whole("seed") as u64);
    let mut weights = vec![0.0; rows.columns()];
    let mut order: Vec<usize> = (0..data.queries().len()).collect();
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |_| {
        random.shuffle(&mut order);
        for &query in &order {
            let range = data.queries()[query].rows.clone();
            let grades = &data.grades()[range.clone()];
            if grades.iter().all(|&grade| grade == grades[0]) {
                continue;
            }
            let scores: Vec<f64> = range.clone().map(|row| dot(&weights, rows.row(row))).collect();
            for (row, slope) in range.zip(ascent(&scores, grades)) {
                add_scaled(&mut weights, rate * slope, rows.row(row));
            }
        }
        weights.clone()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn permutations(items: &[f64]) -> Vec<Vec<f64>> {
        if items.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for place in 0..items.len() {
            let mut rest = items.to_vec();
            let first = rest.remove(place);
            all.extend(permutations(&rest).into_iter().map(|rest| [vec![first], rest].concat()));
        }
        all
    }

    proptest! {
        #[test]
        fn falling_order_is_the_most_probable_and_rising_the_least(
            mut scores in proptest::collection::vec(-3.0..3.0_f64, 1..6),
        ) {
            let all: Vec<f64> = permutations(&scores).iter().map(|each| permutation_probability(each)).collect();
            prop_assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            scores.sort_by(f64::total_cmp);
            let rising = permutation_probability(&scores);
            scores.reverse();
            let falling = permutation_probability(&scores);
            for probability in all {
                prop_assert!(rising <= probability + 1e-12 && probability <= falling + 1e-12);
            }
        }
    }

    #[test]
    fn top_one_probabilities_sum_over_permutations() {
        let scores = [0.5, -1.0, 2.0];
        let top = top_one_probabilities(scores.into_iter());
        for (place, first) in scores.iter().enumerate() {
            let with_first = permutations(&scores).into_iter().filter(|each| each[0] == *first);
            let sum: f64 = with_first.map(|each| permutation_probability(&each)).sum();
            assert!((sum - top[place]).abs() < 1e-12);
        }
    }
}
