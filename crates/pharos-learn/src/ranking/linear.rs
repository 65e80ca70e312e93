//! Shared parts of linear models.

use super::RankingError;
use super::data::RankingData;
use super::model::{LinearScorer, Scorer};
use super::train::Watch;

/// A data set whose features have mean 0 and standard deviation 1, in double precision, without constant features.
///
/// Linear models are trained on it, so that their parameters do not depend on the units of features.
pub(crate) struct StandardisedData {
    /// Number of each column as a feature.
    features: Vec<usize>,
    means: Vec<f64>,
    deviations: Vec<f64>,
    values: Vec<f64>,
}

impl StandardisedData {
    pub(crate) fn new(data: &RankingData) -> Self {
        let (mut features, mut means, mut deviations) = (Vec::new(), Vec::new(), Vec::new());
        for feature in 0..data.features() {
            let known = || data.column(feature).filter(|value| !value.is_nan()).map(f64::from);
            let count = known().count().max(1) as f64;
            let mean = known().sum::<f64>() / count;
            let variance = known().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            if variance.sqrt() > 1e-9 * mean.abs().max(1e-9) {
                features.push(feature);
                means.push(mean);
                deviations.push(variance.sqrt());
            }
        }
        let mut values = Vec::with_capacity(data.len() * features.len());
        for row in 0..data.len() {
            let row = data.row(row);
            values.extend(features.iter().zip(means.iter().zip(&deviations)).map(
                |(&feature, (mean, deviation))| {
                    let value = f64::from(row[feature]);
                    if value.is_nan() { 0.0 } else { (value - mean) / deviation }
                },
            ));
        }
        Self { features, means, deviations, values }
    }

    /// Returns the number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.features.len()
    }

    /// Returns a row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let columns = self.columns();
        &self.values[row * columns..(row + 1) * columns]
    }

    /// Returns weights of columns as weights of the features of the file.
    pub(crate) fn scorer(&self, weights: &[f64], bias: f64) -> LinearScorer {
        let width = self.features.last().map_or(0, |last| last + 1);
        let mut scorer = LinearScorer { bias, weights: vec![0.0; width], missing: vec![0.0; width] };
        for (column, &feature) in self.features.iter().enumerate() {
            let weight = weights[column] / self.deviations[column];
            scorer.weights[feature] = weight;
            scorer.missing[feature] = self.means[column];
            scorer.bias -= weight * self.means[column];
        }
        scorer
    }
}

/// Returns the scalar product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `factor` · `b` to `a`.
pub(crate) fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// Runs rounds of training that change the weights of columns, and returns the model of the best round.
pub(crate) fn best_of_rounds(
    rows: &StandardisedData,
    rounds: usize,
    watch: &mut Watch<'_>,
    mut round: impl FnMut(usize) -> Vec<f64>,
) -> Result<Scorer, RankingError> {
    let mut best = vec![0.0; rows.columns()];
    watch.begin(rounds, 0.0);
    for number in 0..rounds {
        let weights = round(number);
        let scorer = rows.scorer(&weights, 0.0);
        watch.set_scores(|data, row| scorer.score(data.row(row)));
        let is_done = watch.is_done()?;
        if watch.is_best() {
            best = weights;
        }
        if is_done {
            break;
        }
    }
    Ok(Scorer::Linear(rows.scorer(&best, 0.0)))
}

/// Solves A x = b for a symmetric positive definite matrix, row after row, by the method of Cholesky. Returns `None` if
/// the matrix is singular.
pub(crate) fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let sum = a[i * n + j] - (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum::<f64>();
            if i == j {
                if sum <= 1e-12 {
                    return None;
                }
                a[i * n + i] = sum.sqrt();
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| a[i * n + k] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i * n + i];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let solution = solve(vec![4.0, 2.0, 2.0, 3.0], vec![10.0, 9.0]).unwrap();
        assert!((solution[0] - 1.5).abs() < 1e-12 && (solution[1] - 2.0).abs() < 1e-12, "{solution:?}");
        assert_eq!(solve(vec![1.0, 1.0, 1.0, 1.0], vec![1.0, 1.0]), None);
    }

    #[test]
    fn scores_agree_with_those_of_standardised_rows() {
        let text = "1 qid:1 1:3 2:7 5:1\n0 qid:1 1:5 2:7 5:NULL\n0 qid:1 1:10 2:7 5:4\n";
        let data = RankingData::parse(text.as_bytes()).unwrap();
        let standardised = StandardisedData::new(&data);
        assert_eq!(standardised.columns(), 2, "the second feature is constant");
        let scorer = standardised.scorer(&[2.0, -1.0], 0.5);
        for row in 0..3 {
            let x = standardised.row(row);
            let expected = 0.5 + 2.0 * x[0] - x[1];
            assert!((scorer.score(data.row(row)) - expected).abs() < 1e-6);
        }
    }
}
