//! RankBoost: a weighted sum of thresholded features that orders pairs (Freund, Iyer, Schapire & Singer 2003).
//!
//! The weight of a pair is exp(H(x′) − H(x)) for the better result x, so that the sums over the pairs of a query are
//! computed per result, without listing pairs.

use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;
use crate::ranking::trees::stumps::{StumpSearch, stump};
use crate::ranking::trees::{BinnedData, TreeEnsemble};

/// Parameters of RankBoost.
pub(crate) const PARAMETERS: [Parameter; 1] =
    [Parameter::whole("rounds", 300, 1, 100_000, "largest number T of weak rankers")];

/// Returns α = ½ ln((1 + r) / (1 − r)), the weight of a weak ranker that orders pairs with the advantage r.
pub fn alpha(r: f64) -> f64 {
    let r = r.clamp(-0.999_999, 0.999_999);
    0.5 * ((1.0 + r) / (1.0 - r)).ln()
}

/// Trains RankBoost.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let binned = BinnedData::new(data);
    let search = StumpSearch::new(&binned);
    let rounds = parameters.whole("rounds");
    let mut ensemble = TreeEnsemble::default();
    let mut scores = vec![0.0; data.len()];
    watch.begin(rounds, 0.0);
    for _ in 0..rounds {
        let potentials = potentials(data, &scores);
        let Some(best) = search.best(&potentials) else { break };
        let tree = stump(&best, alpha(best.advantage));
        for (row, score) in scores.iter_mut().enumerate() {
            *score += tree.value(data.row(row));
        }
        watch.add_scores(|rows, out| {
            out.iter_mut().enumerate().for_each(|(row, score)| *score += tree.value(rows.row(row)));
        });
        ensemble.trees.push(tree);
        if watch.is_done()? {
            break;
        }
    }
    ensemble.trees.truncate(watch.best_round());
    Ok(Scorer::Trees(ensemble))
}

/// Returns for each row the weights of the pairs in which it is better minus those in which it is worse. The weights of
/// all pairs sum to 1.
fn potentials(data: &RankingData, scores: &[f64]) -> Vec<f64> {
    let mut potentials = vec![0.0; data.len()];
    let mut total = 0.0;
    for query in data.queries() {
        let rows = query.rows.clone();
        let grades = &data.grades()[rows.clone()];
        let (scores, potentials) = (&scores[rows.clone()], &mut potentials[rows]);
        let mut order: Vec<usize> = (0..grades.len()).collect();
        order.sort_by_key(|&row| grades[row]);
        let mut worse = 0.0;
        for group in order.chunk_by(|&a, &b| grades[a] == grades[b]) {
            for &row in group {
                potentials[row] += (-scores[row]).exp() * worse;
                total += (-scores[row]).exp() * worse;
            }
            worse += group.iter().map(|&row| scores[row].exp()).sum::<f64>();
        }
        let mut better = 0.0;
        for group in order.chunk_by(|&a, &b| grades[a] == grades[b]).rev() {
            for &row in group {
                potentials[row] -= scores[row].exp() * better;
            }
            better += group.iter().map(|&row| (-scores[row]).exp()).sum::<f64>();
        }
    }
    if total > 0.0 {
        potentials.iter_mut().for_each(|potential| *potential /= total);
    }
    potentials
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_ordered_wrongly_weigh_more() {
        let data = RankingData::parse("1 qid:1 1:1\n0 qid:1 1:2\n0 qid:1 1:3\n".as_bytes()).unwrap();
        assert_eq!(potentials(&data, &[0.0; 3]), [1.0, -0.5, -0.5]);
        let e = 1.0_f64.exp();
        let found = potentials(&data, &[0.0, 1.0, 0.0]);
        for (found, expected) in found.iter().zip([1.0, -e / (e + 1.0), -1.0 / (e + 1.0)]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn weights_of_weak_rankers() {
        assert_eq!(alpha(0.0), 0.0);
        assert!((alpha(0.5) - 0.5 * 3.0_f64.ln()).abs() < 1e-12);
        assert!(alpha(1.0).is_finite());
    }
}
