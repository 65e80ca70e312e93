//! AdaRank: boosting of features by a measure, with weights on queries (Xu & Li 2007, "AdaRank: A boosting algorithm for
//! information retrieval").

use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::evaluate::measure_per_query;
use crate::ranking::linear::{StandardisedData, best_of_rounds, dot};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;
use crate::report::Measure;

/// Parameters of AdaRank.
pub(crate) const PARAMETERS: [Parameter; 2] = [
    Parameter::whole("rounds", 300, 1, 100_000, "largest number of weak rankers"),
    Parameter::whole("in-a-row", 5, 1, 1000, "largest number of consecutive selections of one feature"),
];

/// Returns α = ½ ln(Σ P(1 + E) / Σ P(1 − E)) for weights P of queries and figures E of a weak ranker.
pub fn alpha(weights: &[f64], figures: &[f64]) -> f64 {
    let sum = |side: f64| {
        weights.iter().zip(figures).map(|(weight, figure)| weight * (1.0 + side * figure)).sum::<f64>()
    };
    0.5 * (sum(1.0) / sum(-1.0).max(1e-12)).ln()
}

/// Trains AdaRank for a measure. Weak rankers are single features, in rising and in falling order.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    measure: Measure,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let figures_of = |score: &dyn Fn(usize) -> f64| {
        measure_per_query(data, &(0..data.len()).map(score).collect::<Vec<f64>>(), measure)
    };
    let weak: Vec<(usize, f64, Vec<f64>)> = (0..rows.columns())
        .flat_map(|column| [(column, 1.0), (column, -1.0)])
        .map(|(column, side)| (column, side, figures_of(&|row| side * rows.row(row)[column])))
        .collect();
    let queries = weak.first().map_or(0, |(_, _, figures)| figures.len());
    let mut importance = vec![1.0 / queries.max(1) as f64; queries];
    let mut weights = vec![0.0; rows.columns()];
    let (mut last, mut in_a_row) = (usize::MAX, 0);
    let limit = parameters.whole("in-a-row");
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |_| {
        let weighted = |figures: &[f64]| dot(figures, &importance);
        let best = weak
            .iter()
            .filter(|(column, _, _)| *column != last || in_a_row < limit)
            .max_by(|a, b| weighted(&a.2).total_cmp(&weighted(&b.2)).then(b.0.cmp(&a.0)));
        if let Some((column, side, figures)) = best {
            in_a_row = if *column == last { in_a_row + 1 } else { 1 };
            last = *column;
            weights[*column] += side * alpha(&importance, figures);
            let found = figures_of(&|row| dot(&weights, rows.row(row)));
            importance = found.iter().map(|figure| (-figure).exp()).collect();
            let sum: f64 = importance.iter().sum();
            importance.iter_mut().for_each(|weight| *weight /= sum);
        }
        weights.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_rankers_weigh_more() {
        assert_eq!(alpha(&[0.5, 0.5], &[0.0, 0.0]), 0.0);
        assert!((alpha(&[0.5, 0.5], &[0.5, 0.5]) - 0.5 * 3.0_f64.ln()).abs() < 1e-12);
        assert!(alpha(&[0.9, 0.1], &[0.9, 0.1]) > alpha(&[0.1, 0.9], &[0.9, 0.1]));
    }
}
