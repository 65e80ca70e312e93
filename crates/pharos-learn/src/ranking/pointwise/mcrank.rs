//! McRank: boosted trees that estimate the probability of each grade; the score is the expected grade (Li, Burges & Wu 2007,
//! "McRank: Learning to rank using multiple classification and gradient boosting").

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::model::{ClassScorer, Scorer};
use crate::ranking::parameters::Parameters;
use crate::ranking::train::Watch;
use crate::ranking::trees::boost::{BoostOptions, draw_columns};
use crate::ranking::trees::{BinnedData, Gradient, Grower, TreeEnsemble, tree_parameters};

/// Returns Σ k P(k) for the scores of the grades, with P(k) = exp(s_k) / Σ exp(s_j).
pub fn expected_grade(scores: &[f64]) -> f64 {
    probabilities(scores).iter().enumerate().map(|(grade, probability)| grade as f64 * probability).sum()
}

fn probabilities(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// Trains one ensemble per grade on −Σ [g = k] ln P(k), one tree of each per round.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let options: BoostOptions = tree_parameters::options(parameters);
    let classes = data.max_grade() as usize + 1;
    let binned = BinnedData::new(data);
    let mut grower = Grower::new(&binned, options.grow);
    let mut random = Random::new(options.seed);
    let mut model = ClassScorer { classes: vec![TreeEnsemble::default(); classes] };
    // Scores of all grades, row after row; beginning with the logarithms of their shares.
    for (grade, ensemble) in model.classes.iter_mut().enumerate() {
        let count = data.grades().iter().filter(|&&each| each as usize == grade).count();
        ensemble.base = ((count as f64 + 1.0) / (data.len() + classes) as f64).ln();
    }
    let bases: Vec<f64> = model.classes.iter().map(|ensemble| ensemble.base).collect();
    let mut scores = bases.repeat(data.len());
    let mut valid_scores: Vec<f64> = Vec::new();
    let mut gradients = vec![Gradient::default(); data.len()];
    let factor = classes as f64 / (classes as f64 - 1.0).max(1.0);
    watch.begin(options.rounds, 0.0);
    for _ in 0..options.rounds {
        let estimates: Vec<Vec<f64>> = scores.chunks(classes).map(probabilities).collect();
        for grade in 0..classes {
            for ((gradient, estimate), &label) in gradients.iter_mut().zip(&estimates).zip(data.grades()) {
                let p = estimate[grade];
                let first = p - f64::from(u8::from(label as usize == grade));
                *gradient = Gradient { first: first as f32, second: (factor * p * (1.0 - p)) as f32 };
            }
            let uses_column = draw_columns(binned.columns(), options.feature_share, &mut random);
            let grown = grower.grow(&gradients, 0..data.len() as u32, &uses_column);
            let mut tree = grown.tree;
            for (value, &(start, end)) in tree.leaves.iter_mut().zip(&grown.leaf_rows) {
                *value *= options.learning_rate;
                for &row in &grown.order[start..end] {
                    scores[row as usize * classes + grade] += *value;
                }
            }
            model.classes[grade].trees.push(tree);
        }
        watch.add_scores(|rows, out| {
            if valid_scores.is_empty() {
                valid_scores = bases.repeat(rows.len());
            }
            for (row, (scores, out)) in valid_scores.chunks_mut(classes).zip(out).enumerate() {
                for (score, ensemble) in scores.iter_mut().zip(&model.classes) {
                    *score += ensemble.trees.last().map_or(0.0, |tree| tree.value(rows.row(row)));
                }
                *out = expected_grade(scores);
            }
        });
        if watch.is_done()? {
            break;
        }
    }
    for ensemble in &mut model.classes {
        ensemble.trees.truncate(watch.best_round());
    }
    Ok(Scorer::Classes(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_expected_grade() {
        assert!((expected_grade(&[0.0, 0.0, 0.0]) - 1.0).abs() < 1e-12);
        assert!((expected_grade(&[0.0, 3.0_f64.ln()]) - 0.75).abs() < 1e-12);
        assert!((expected_grade(&[-1e9, -1e9, 0.0]) - 2.0).abs() < 1e-12);
    }
}
