//! PRank: ordinal regression by an online perceptron with thresholds (Crammer & Singer 2002, "Pranking with ranking").

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, add_scaled, best_of_rounds, dot};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;

/// Parameters of PRank.
pub(crate) const PARAMETERS: [Parameter; 2] = [
    Parameter::whole("rounds", 50, 1, 10_000, "largest number of passes over the data"),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of the order of rows"),
];

/// Weights ω and thresholds b₀ ≤ … ≤ b₍K−2₎; the last threshold is infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct PRank {
    pub weights: Vec<f64>,
    pub thresholds: Vec<f64>,
}

impl PRank {
    /// Returns the predicted grade: the first whose threshold exceeds ω·x.
    pub fn predict(&self, x: &[f64]) -> usize {
        let score = dot(&self.weights, x);
        self.thresholds.iter().position(|&threshold| score < threshold).unwrap_or(self.thresholds.len())
    }

    /// Returns the scores for which a grade is predicted: from the first number, below the second.
    pub fn interval(&self, grade: usize) -> (f64, f64) {
        let threshold = |number: usize| self.thresholds.get(number).copied().unwrap_or(f64::INFINITY);
        (if grade == 0 { f64::NEG_INFINITY } else { threshold(grade - 1) }, threshold(grade))
    }

    /// Corrects the weights and the violated thresholds after a wrong prediction.
    pub fn update(&mut self, x: &[f64], grade: usize) {
        let score = dot(&self.weights, x);
        let mut sum = 0.0;
        for (number, threshold) in self.thresholds.iter_mut().enumerate() {
            let side = if grade > number { 1.0 } else { -1.0 };
            if (score - *threshold) * side <= 0.0 {
                sum += side;
                *threshold -= side;
            }
        }
        add_scaled(&mut self.weights, sum, x);
    }
}

/// Trains PRank. The result is the mean of the weights after every row, which varies less than the last ones.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let classes = data.max_grade() as usize;
    let mut model = PRank { weights: vec![0.0; rows.columns()], thresholds: vec![0.0; classes] };
    let mut sum = vec![0.0; rows.columns()];
    let mut order: Vec<usize> = (0..data.len()).collect();
    let mut random = Random::new(parameters.whole("seed") as u64);
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |round| {
        random.shuffle(&mut order);
        for &row in &order {
            let (x, grade) = (rows.row(row), data.grades()[row] as usize);
            if model.predict(x) != grade {
                model.update(x, grade);
            }
            add_scaled(&mut sum, 1.0, &model.weights);
        }
        let steps = ((round + 1) * data.len()) as f64;
        sum.iter().map(|weight| weight / steps).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> PRank {
        PRank { weights: vec![0.6, 0.9, 0.1], thresholds: vec![0.7, 3.5] }
    }

    #[test]
    fn a_grade_has_an_interval_of_scores() {
        assert_eq!(example().interval(1), (0.7, 3.5));
        assert_eq!(example().interval(2), (3.5, f64::INFINITY));
        assert_eq!(example().predict(&[1.0, 1.0, 1.0]), 1, "score 1.6");
    }

    #[test]
    fn too_low_a_prediction_lowers_the_threshold_and_raises_the_score() {
        let x = [0.5, 0.2, 0.9];
        let mut model = example();
        assert_eq!(model.predict(&x), 0, "score 0.57");
        model.update(&x, 1);
        assert!((model.thresholds[0] + 0.3).abs() < 1e-12 && model.thresholds[1] == 3.5, "{model:?}");
        assert!(dot(&model.weights, &x) > 0.57);
        assert_eq!(model.predict(&x), 1);
    }
}
