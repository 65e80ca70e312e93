//! Grid search: trains with every combination of given parameter values and keeps the best.

use std::collections::BTreeMap;

use serde::Serialize;

use super::RankingError;
use super::data::{RankingData, split_queries};
use super::evaluate::mean_of;
use super::train::{Algorithm, Trained, Training, train};

/// The values of C of Ranking SVM that the scripts of LETOR try, of which validation selects one.
pub const RANKING_SVM_C: [f64; 19] = [
    1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0,
];

/// Largest number of combinations.
const MAX_POINTS: usize = 10_000;

/// A combination of values with its figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GridPoint {
    pub values: BTreeMap<String, f64>,
    /// Figure on the validation data, or mean over the folds.
    pub figure: f64,
}

/// Tries all combinations and trains the final model on all data with the best.
///
/// Without validation data, each combination is tested by cross-validation over `folds` parts of the queries. Of equal
/// figures the first combination wins.
pub fn search(
    algorithm: Algorithm,
    training: &Training<'_>,
    grid: &[(String, Vec<f64>)],
    data: &RankingData,
    valid: Option<&RankingData>,
    folds: usize,
) -> Result<(Trained, Vec<GridPoint>), RankingError> {
    let combinations = combinations(grid)?;
    let parts = match valid {
        Some(_) => Vec::new(),
        None if data.queries().len() < folds => {
            return Err(RankingError::Data(format!(
                "{} queries cannot be divided into {folds} folds",
                data.queries().len()
            )));
        }
        None => divide(data, folds, training.seed),
    };
    let mut points: Vec<GridPoint> = Vec::new();
    for values in combinations {
        let mut training = training.clone();
        training.parameters.extend(values.clone());
        let figure = |train_on: &RankingData, test_on: &RankingData| -> Result<f64, RankingError> {
            let model = train(algorithm, &training, train_on, Some(test_on))?.model;
            Ok(mean_of(test_on, &model.score(test_on), training.measure, training.relevant_from))
        };
        let figure = match valid {
            Some(valid) => figure(data, valid)?,
            None => {
                let figures: Result<Vec<f64>, _> =
                    parts.iter().map(|(rest, part)| figure(rest, part)).collect();
                figures?.iter().sum::<f64>() / parts.len() as f64
            }
        };
        points.push(GridPoint { values, figure });
    }
    let best = points.iter().fold(None, |best: Option<&GridPoint>, point| match best {
        Some(best) if best.figure >= point.figure => Some(best),
        _ => Some(point),
    });
    let mut training = training.clone();
    training.parameters.extend(best.map(|best| best.values.clone()).unwrap_or_default());
    Ok((train(algorithm, &training, data, valid)?, points))
}

/// Returns for each fold the rest of the data and the fold.
fn divide(data: &RankingData, folds: usize, seed: u64) -> Vec<(RankingData, RankingData)> {
    let parts = split_queries(data, folds, seed);
    let rest = |fold: usize| {
        let mut rest: Vec<usize> =
            (0..folds).filter(|other| *other != fold).flat_map(|other| parts[other].clone()).collect();
        rest.sort_unstable();
        rest
    };
    (0..folds).map(|fold| (data.select(rest(fold)), data.select(parts[fold].iter().copied()))).collect()
}

fn combinations(grid: &[(String, Vec<f64>)]) -> Result<Vec<BTreeMap<String, f64>>, RankingError> {
    let mut all = vec![BTreeMap::new()];
    for (name, values) in grid {
        if all.len().saturating_mul(values.len()) > MAX_POINTS {
            return Err(RankingError::Parameter(format!("more than {MAX_POINTS} combinations of values")));
        }
        let with = |values_so_far: &BTreeMap<String, f64>| {
            let extended = |&value: &f64| {
                let mut extended = values_so_far.clone();
                extended.insert(name.clone(), value);
                extended
            };
            values.iter().map(extended).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_c_of_the_letor_scripts() {
        assert_eq!(RANKING_SVM_C.len(), 19);
        assert_eq!((RANKING_SVM_C[0], RANKING_SVM_C[14], RANKING_SVM_C[18]), (1e-5, 0.5, 10.0));
        let steps = RANKING_SVM_C.windows(2).map(|pair| pair[1] / pair[0]);
        assert!(steps.into_iter().all(|step| (step - 2.0).abs() < 1e-9 || (step - 2.5).abs() < 1e-9));
    }

    #[test]
    fn all_combinations_are_tried() {
        let grid = [("a".to_owned(), vec![1.0, 2.0]), ("b".to_owned(), vec![3.0, 4.0, 5.0])];
        let all = combinations(&grid).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!(all[1], BTreeMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 4.0)]));
        assert!(combinations(&vec![("a".to_owned(), vec![0.0; 101]); 2]).is_err());
    }

    #[test]
    fn the_best_value_is_kept() {
        let mut text = String::new();
        for query in 0..20 {
            for row in 0..6 {
                text.push_str(&format!("{} qid:{query} 1:{row} 2:{}\n", row / 2, (row * 7 + query) % 5));
            }
        }
        let data = RankingData::parse(text.as_bytes()).unwrap();
        let grid = [("lambda".to_owned(), vec![0.1, 10.0])];
        let (trained, points) =
            search(Algorithm::Ridge, &Training::default(), &grid, &data, None, 4).unwrap();
        assert_eq!(points.len(), 2);
        assert!(points.iter().all(|point| point.figure > 0.99), "{points:?}");
        assert_eq!(trained.model.parameters["lambda"], 0.1, "the first of equal values");
        assert!(search(Algorithm::Ridge, &Training::default(), &grid, &data, None, 21).is_err());
    }
}
