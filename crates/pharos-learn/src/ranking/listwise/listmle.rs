//! ListMLE: a linear model that maximises the likelihood of the right order (Xia, Liu, Wang, Zhang & Li 2008, "Listwise
//! approach to learning to rank: Theory and algorithm").

use super::listnet::descend;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::model::Scorer;
use crate::ranking::parameters::Parameters;
use crate::ranking::train::Watch;

/// Trains ListMLE. Results of equal grade follow each other in the order of the current scores, which is the most probable
/// of the right orders.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    descend(data, parameters, watch, |scores, grades| {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| grades[b].cmp(&grades[a]).then(scores[b].total_cmp(&scores[a])));
        // Places among irrelevant results do not matter.
        let lowest = grades.iter().min().copied().unwrap_or(0);
        let counted = order.iter().take_while(|&&row| grades[row] > lowest).count();
        let in_order: Vec<f64> = order.iter().map(|&row| scores[row]).collect();
        let mut slopes = vec![0.0; scores.len()];
        for (place, slope) in likelihood_slopes(&in_order, counted).into_iter().enumerate() {
            slopes[order[place]] = slope / counted.max(1) as f64;
        }
        slopes
    })
}

/// Returns the derivatives of the logarithm of the probability that the first `counted` places are as given, by each score.
pub fn likelihood_slopes(scores: &[f64], counted: usize) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let mut rest: f64 = powers.iter().sum();
    let mut inverse_sum = 0.0;
    let mut slopes = Vec::with_capacity(scores.len());
    for (place, power) in powers.iter().enumerate() {
        if place < counted {
            inverse_sum += 1.0 / rest.max(1e-300);
            rest -= power;
        }
        slopes.push(f64::from(u8::from(place < counted)) - power * inverse_sum);
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::listwise::listnet::permutation_probability;

    #[test]
    fn slopes_are_those_of_the_likelihood() {
        let scores = [0.2, 1.0, -0.5, 0.1];
        let found = likelihood_slopes(&scores, 4);
        for place in 0..4 {
            let (mut up, mut down) = (scores, scores);
            up[place] += 1e-6;
            down[place] -= 1e-6;
            let slope = (permutation_probability(&up).ln() - permutation_probability(&down).ln()) / 2e-6;
            assert!((found[place] - slope).abs() < 1e-6, "{found:?} {slope}");
        }
    }
}
