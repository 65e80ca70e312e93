//! Ordinal regression with large margins between the grades.
//!
//! Shashua & Levin 2002, "Ranking with large margin principle: Two approaches", fixed margin: one direction w and a
//! threshold between each two neighbouring grades, which the results of both keep a distance from.

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, add_scaled, best_of_rounds, dot};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;

/// Parameters of large-margin ordinal regression.
pub(crate) const PARAMETERS: [Parameter; 3] = [
    Parameter::real("lambda", 1e-4, 1e-9, 1e3, "weight λ of ½|w|² beside the mean loss of a row"),
    Parameter::whole("rounds", 50, 1, 10_000, "largest number of passes over the data"),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of the order of rows"),
];

/// Returns the sides on which a row of this grade must be: +1 above the threshold below its grade, −1 below the one above.
fn constraints(grade: usize, thresholds: usize) -> impl Iterator<Item = (usize, f64)> {
    let below = (grade > 0).then(|| (grade - 1, 1.0));
    let above = (grade < thresholds).then_some((grade, -1.0));
    below.into_iter().chain(above)
}

/// Minimises ½λ|w|² + mean of max(0, 1 − s(w·x − b)) by stochastic subgradient descent with averaging
/// (Shalev-Shwartz, Singer & Srebro 2007).
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let lambda = parameters.get("lambda");
    let mut weights = vec![0.0; rows.columns()];
    let mut thresholds = vec![0.0; data.max_grade() as usize];
    let mut mean = weights.clone();
    let mut order: Vec<usize> = (0..data.len()).collect();
    let mut random = Random::new(parameters.whole("seed") as u64);
    let mut step = 0.0;
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |_| {
        random.shuffle(&mut order);
        for &row in &order {
            step += 1.0;
            let rate = 1.0 / (lambda * (step + 1.0 / lambda)).max(1.0) * 0.1;
            let x = rows.row(row);
            let score = dot(&weights, x);
            let mut sum = 0.0;
            let grade = data.grades()[row] as usize;
            for (number, side) in constraints(grade, thresholds.len()) {
                if side * (score - thresholds[number]) < 1.0 {
                    sum += side;
                    thresholds[number] -= rate * side;
                }
            }
            for weight in &mut weights {
                *weight *= 1.0 - rate * lambda;
            }
            add_scaled(&mut weights, rate * sum, x);
            for (mean, weight) in mean.iter_mut().zip(&weights) {
                *mean += (weight - *mean) / step;
            }
        }
        mean.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_neighbouring_thresholds_matter() {
        let of = |grade| constraints(grade, 2).collect::<Vec<_>>();
        assert_eq!(of(0), [(0, -1.0)]);
        assert_eq!(of(1), [(0, 1.0), (1, -1.0)]);
        assert_eq!(of(2), [(1, 1.0)]);
    }
}
