//! FRank: boosting with the fidelity loss (Tsai, Liu, Qin, Chen & Ma 2007, "FRank: A ranking method with fidelity loss").
//!
//! F = 1 − √P for the modelled probability P = 1 / (1 + exp(−(H(x) − H(x′)))) that the better result x precedes x′. It is
//! bounded, so that hopeless pairs do not dominate. Of all weak rankers, the one with the steepest descent is added.

use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::model::Scorer;
use crate::ranking::pairs::{MAX_PAIRS, preference_pairs};
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;
use crate::ranking::trees::stumps::{StumpSearch, stump};
use crate::ranking::trees::{BinnedData, TreeEnsemble};

/// Parameters of FRank.
pub(crate) const PARAMETERS: [Parameter; 2] = [
    Parameter::whole("rounds", 300, 1, 100_000, "largest number of weak rankers"),
    Parameter::whole(
        "seed",
        1,
        0,
        u32::MAX,
        "seed of the choice of pairs, if there are more than four million",
    ),
];

/// Returns the fidelity loss of a pair with this difference of scores.
pub fn fidelity_loss(difference: f64) -> f64 {
    1.0 - probability(difference).sqrt()
}

fn probability(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

/// Returns minus the derivative of the loss: ½ √P (1 − P).
fn weight(difference: f64) -> f64 {
    let p = probability(difference);
    0.5 * p.sqrt() * (1.0 - p)
}

/// Trains FRank. The weight of a weak ranker is ½ ln(W⁺ / W⁻), where W⁺ and W⁻ are the weights of the pairs that it orders
/// rightly and wrongly. All queries have the same weight.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let binned = BinnedData::new(data);
    let search = StumpSearch::new(&binned);
    let pairs = preference_pairs(data, MAX_PAIRS, parameters.whole("seed") as u64);
    let rounds = parameters.whole("rounds");
    let mut ensemble = TreeEnsemble::default();
    let mut scores = vec![0.0; data.len()];
    watch.begin(rounds, 0.0);
    for _ in 0..rounds {
        let weights: Vec<(u32, u32, f64)> = pairs
            .iter()
            .flat_map(|pairs| {
                let share = 1.0 / pairs.len().max(1) as f64;
                let difference = |better: u32, worse: u32| scores[better as usize] - scores[worse as usize];
                pairs
                    .iter()
                    .map(move |&(better, worse)| (better, worse, share * weight(difference(better, worse))))
            })
            .collect();
        let mut potentials = vec![0.0; data.len()];
        for &(better, worse, weight) in &weights {
            potentials[better as usize] += weight;
            potentials[worse as usize] -= weight;
        }
        let Some(best) = search.best(&potentials) else { break };
        let unit = stump(&best, 1.0);
        let values: Vec<f64> = (0..data.len()).map(|row| unit.value(data.row(row))).collect();
        let (mut right, mut wrong) = (0.0, 0.0);
        for (better, worse, weight) in weights {
            let difference = values[better as usize] - values[worse as usize];
            right += if difference > 0.0 { weight } else { 0.0 };
            wrong += if difference < 0.0 { weight } else { 0.0 };
        }
        let smooth = 1e-3 * (right + wrong);
        let alpha = 0.5 * ((right + smooth) / (wrong + smooth)).ln();
        scores.iter_mut().zip(&values).for_each(|(score, value)| *score += alpha * value);
        let tree = stump(&best, alpha);
        watch.add_scores(|rows, out| {
            out.iter_mut().enumerate().for_each(|(row, score)| *score += tree.value(rows.row(row)));
        });
        ensemble.trees.push(tree);
        if watch.is_done()? {
            break;
        }
    }
    ensemble.trees.truncate(watch.best_round());
    Ok(Scorer::Trees(ensemble))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_is_bounded_and_its_slope_vanishes_for_hopeless_pairs() {
        assert!((fidelity_loss(0.0) - (1.0 - 0.5_f64.sqrt())).abs() < 1e-12);
        assert!(fidelity_loss(50.0) < 1e-12 && fidelity_loss(-50.0) <= 1.0);
        assert!(weight(-50.0) < weight(-1.0) && weight(50.0) < weight(-1.0));
        let slope = (fidelity_loss(0.3 + 1e-6) - fidelity_loss(0.3 - 1e-6)) / 2e-6;
        assert!((slope + weight(0.3)).abs() < 1e-9);
    }
}
