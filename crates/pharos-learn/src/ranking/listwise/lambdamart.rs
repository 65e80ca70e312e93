//! LambdaMART: boosted trees whose gradients weigh each pair by the change of nDCG if the pair were swapped.
//!
//! Burges 2010, "From RankNet to LambdaRank to LambdaMART: An overview", §7, with the truncation and the normalisation
//! of LightGBM.

use rayon::prelude::*;

use crate::metrics::gain;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::evaluate::order_by_score;
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;
use crate::ranking::trees::boost::{BoostOptions, Objective, boost};
use crate::ranking::trees::{Gradient, tree_parameters};

/// Parameters beside those of trees.
pub(crate) const PARAMETERS: [Parameter; 3] = [
    Parameter::real("sigma", 1.0, 1e-3, 100.0, "steepness σ of the logistic function of score differences"),
    Parameter::whole("truncation", 30, 1, 10_000, "pairs have at least one result among the first so many"),
    Parameter::whole(
        "normalise-lambdas",
        1,
        0,
        1,
        "1 to divide the gradients of a query by their sum, as LightGBM does",
    ),
];

/// Trains LambdaMART.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let options: BoostOptions = tree_parameters::options(parameters);
    let objective = LambdaObjective::new(
        data,
        parameters.get("sigma"),
        parameters.whole("truncation"),
        parameters.whole("normalise-lambdas") != 0,
    );
    Ok(Scorer::Trees(boost(data, &objective, &options, watch)?))
}

/// The gradients of LambdaRank.
struct LambdaObjective<'d> {
    data: &'d RankingData,
    sigma: f64,
    truncation: usize,
    normalise: bool,
    /// 1 / DCG of the ideal order of each query, within the truncation; 0 without relevant results.
    inverse_ideal: Vec<f64>,
}

impl<'d> LambdaObjective<'d> {
    fn new(data: &'d RankingData, sigma: f64, truncation: usize, normalise: bool) -> Self {
        let inverse = |rows: std::ops::Range<usize>| {
            let mut grades = data.grades()[rows].to_vec();
            grades.sort_unstable_by(|a, b| b.cmp(a));
            let ideal: f64 = grades
                .iter()
                .take(truncation)
                .enumerate()
                .map(|(place, &grade)| gain(grade) * discount(place))
                .sum();
            if ideal > 0.0 { 1.0 / ideal } else { 0.0 }
        };
        let inverse_ideal = data.queries().iter().map(|query| inverse(query.rows.clone())).collect();
        Self { data, sigma, truncation, normalise, inverse_ideal }
    }

    fn query_gradients(&self, query: usize, scores: &[f64], out: &mut [Gradient]) {
        out.fill(Gradient::default());
        let inverse_ideal = self.inverse_ideal[query];
        if inverse_ideal == 0.0 {
            return;
        }
        let grades = &self.data.grades()[self.data.queries()[query].rows.clone()];
        let order = order_by_score(scores);
        let is_spread = scores[order[0]] != scores[order[order.len() - 1]];
        let mut lambdas = vec![(0.0_f64, 0.0_f64); out.len()];
        let mut sum = 0.0;
        for (place, &first) in order.iter().enumerate().take(self.truncation) {
            for (other_place, &second) in order.iter().enumerate().skip(place + 1) {
                if grades[first] == grades[second] {
                    continue;
                }
                let (high, low) =
                    if grades[first] > grades[second] { (first, second) } else { (second, first) };
                let difference = scores[high] - scores[low];
                let change = (gain(grades[high]) - gain(grades[low]))
                    * (discount(place) - discount(other_place)).abs()
                    * inverse_ideal;
                let weight =
                    if self.normalise && is_spread { change / (0.01 + difference.abs()) } else { change };
                let wrong = 1.0 / (1.0 + (self.sigma * difference).exp());
                let lambda = self.sigma * weight * wrong;
                let second_derivative = self.sigma * self.sigma * weight * wrong * (1.0 - wrong);
                lambdas[high].0 -= lambda;
                lambdas[low].0 += lambda;
                lambdas[high].1 += second_derivative;
                lambdas[low].1 += second_derivative;
                sum += 2.0 * lambda;
            }
        }
        let factor = if self.normalise && sum > 0.0 { (1.0 + sum).log2() / sum } else { 1.0 };
        for (gradient, (first, second)) in out.iter_mut().zip(lambdas) {
            *gradient = Gradient { first: (first * factor) as f32, second: (second * factor) as f32 };
        }
    }
}

impl Objective for LambdaObjective<'_> {
    fn gradients(&self, scores: &[f64], out: &mut [Gradient]) {
        let mut parts = Vec::with_capacity(self.data.queries().len());
        let mut rest = out;
        for (number, query) in self.data.queries().iter().enumerate() {
            let (part, after) = rest.split_at_mut(query.rows.len());
            parts.push((number, &scores[query.rows.clone()], part));
            rest = after;
        }
        parts
            .into_par_iter()
            .with_min_len(16)
            .for_each(|(query, scores, out)| self.query_gradients(query, scores, out));
    }
}

/// Returns 1/log2(1+j) of a place counted from zero.
fn discount(place: usize) -> f64 {
    1.0 / (place as f64 + 2.0).log2()
}
