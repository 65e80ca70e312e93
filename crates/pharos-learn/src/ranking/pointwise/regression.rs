//! Linear regression on grades, by least squares, with and without a penalty of large weights.
//!
//! Fuhr 1989, "Optimum polynomial retrieval functions based on the probability ranking principle"; Cossock & Zhang 2006,
//! "Subset ranking using regression"; Hoerl & Kennard 1970, "Ridge regression".

use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, solve};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};

/// Parameters of ridge regression.
pub(crate) const RIDGE_PARAMETERS: [Parameter; 1] =
    [Parameter::real("lambda", 1.0, 0.0, 1e12, "penalty λ of squared weights of standardised features")];

/// Returns the loss (g − f(x))² of a grade g and a prediction f(x). It does not depend on the side of the error.
pub fn squared_loss(grade: f64, predicted: f64) -> f64 {
    (grade - predicted).powi(2)
}

/// Trains linear regression. Features that depend linearly on others are handled by a tiny penalty.
pub(crate) fn train_linear(data: &RankingData) -> Result<Scorer, RankingError> {
    least_squares(data, 1e-6 * data.len() as f64)
}

/// Trains ridge regression.
pub(crate) fn train_ridge(data: &RankingData, parameters: &Parameters) -> Result<Scorer, RankingError> {
    least_squares(data, parameters.get("lambda").max(1e-6 * data.len() as f64))
}

/// Solves (XᵀX + λI) w = Xᵀy.
fn least_squares(data: &RankingData, lambda: f64) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let columns = rows.columns();
    let mean = data.grades().iter().map(|&grade| f64::from(grade)).sum::<f64>() / data.len().max(1) as f64;
    let mut normal = vec![0.0; columns * columns];
    let mut right = vec![0.0; columns];
    for (row, &grade) in data.grades().iter().enumerate() {
        let x = rows.row(row);
        for (i, &value) in x.iter().enumerate() {
            for (cell, other) in normal[i * columns..=i * columns + i].iter_mut().zip(x) {
                *cell += value * other;
            }
            right[i] += value * (f64::from(grade) - mean);
        }
    }
    for i in 0..columns {
        normal[i * columns + i] += lambda;
    }
    let weights = solve(normal, right).ok_or_else(|| {
        RankingError::Data("the features are linearly dependent: use ridge with a larger lambda".into())
    })?;
    Ok(Scorer::Linear(rows.scorer(&weights, mean)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_above_and_below_the_grade_have_the_same_loss() {
        assert_eq!((squared_loss(1.0, 2.0), squared_loss(1.0, 0.0)), (1.0, 1.0));
    }

    #[test]
    fn a_linear_function_is_found() {
        // grade = 2 x₁ − x₂ + 1
        let text = "1 qid:1 1:0 2:0\n3 qid:1 1:1 2:0\n0 qid:1 1:0 2:1\n2 qid:1 1:1 2:1\n5 qid:1 1:3 2:2\n";
        let data = RankingData::parse(text.as_bytes()).unwrap();
        let Scorer::Linear(scorer) = train_linear(&data).unwrap() else { panic!("linear") };
        for (found, expected) in scorer.weights.iter().zip([0.0, 2.0, -1.0]) {
            assert!((found - expected).abs() < 1e-4, "{scorer:?}");
        }
        assert!((scorer.bias - 1.0).abs() < 1e-4);
    }
}
