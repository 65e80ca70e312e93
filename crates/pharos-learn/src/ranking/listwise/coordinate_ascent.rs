//! Coordinate ascent: maximises a measure itself, one weight of a linear model at a time (Metzler & Croft 2007, "Linear
//! feature-based models for information retrieval", §4.3).

use rayon::prelude::*;

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::evaluate::mean_of;
use crate::ranking::linear::{StandardisedData, best_of_rounds};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;
use crate::report::Measure;

/// Parameters of coordinate ascent.
pub(crate) const PARAMETERS: [Parameter; 3] = [
    Parameter::whole("rounds", 10, 1, 1000, "largest number of passes over the features"),
    Parameter::real(
        "tolerance",
        1e-4,
        0.0,
        1.0,
        "smallest increase of the measure for which a weight is changed",
    ),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of the order of features"),
];

/// Steps from the current weight; the first is also the weight of every feature at the beginning.
const STEPS: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];

/// Trains coordinate ascent for a measure.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    measure: Measure,
    relevant_from: u32,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let columns = rows.columns();
    let column = |column: usize| -> Vec<f64> { (0..data.len()).map(|row| rows.row(row)[column]).collect() };
    let mut weights = first_weights(data, &rows, measure, relevant_from);
    let mut scores = vec![0.0; data.len()];
    for (number, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
        scores.iter_mut().zip(column(number)).for_each(|(score, value)| *score += weight * value);
    }
    let mut figure = mean_of(data, &scores, measure, relevant_from);
    let mut random = Random::new(parameters.whole("seed") as u64);
    let mut order: Vec<usize> = (0..columns).collect();
    let tolerance = parameters.get("tolerance");
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |_| {
        random.shuffle(&mut order);
        for &number in &order {
            let values = column(number);
            let changes: Vec<f64> =
                STEPS.iter().flat_map(|step| [*step, -step]).chain([-weights[number]]).collect();
            let moved = |change: f64| -> Vec<f64> {
                scores.iter().zip(&values).map(|(score, value)| score + change * value).collect()
            };
            let figures: Vec<f64> = changes
                .par_iter()
                .map(|&change| mean_of(data, &moved(change), measure, relevant_from))
                .collect();
            let best = (0..changes.len())
                .fold(0, |best, each| if figures[each] > figures[best] { each } else { best });
            if figures[best] > figure + tolerance {
                scores = moved(changes[best]);
                weights[number] += changes[best];
                figure = figures[best];
            }
        }
        weights.clone()
    })
}

/// Returns weight 1 for the best single feature, in its better direction.
fn first_weights(
    data: &RankingData,
    rows: &StandardisedData,
    measure: Measure,
    relevant_from: u32,
) -> Vec<f64> {
    let mut weights = vec![0.0; rows.columns()];
    let figure = |(column, side): (usize, f64)| {
        let scores: Vec<f64> = (0..data.len()).map(|row| side * rows.row(row)[column]).collect();
        mean_of(data, &scores, measure, relevant_from)
    };
    let single: Vec<(usize, f64)> =
        (0..rows.columns()).flat_map(|column| [(column, 1.0), (column, -1.0)]).collect();
    let figures: Vec<f64> = single.par_iter().map(|&each| figure(each)).collect();
    let best =
        (0..single.len()).fold(0, |best, each| if figures[each] > figures[best] { each } else { best });
    if let Some(&(column, side)) = single.get(best) {
        weights[column] = side;
    }
    weights
}
