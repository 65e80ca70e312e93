//! Rounds of gradient boosting.

use super::bins::BinnedData;
use super::grow::{Gradient, GrowOptions, Grower};
use super::tree::{Tree, TreeEnsemble};
use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::train::Watch;

/// A loss function over the scores of all rows.
pub(crate) trait Objective {
    /// Returns the score before the first tree.
    fn base(&self) -> f64 {
        0.0
    }

    /// Writes the derivatives of the loss by the score of each row.
    fn gradients(&self, scores: &[f64], out: &mut [Gradient]);
}

/// Options of boosting, with the names of LightGBM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostOptions {
    /// Largest number of trees.
    pub rounds: usize,
    /// Factor of leaf values (shrinkage).
    pub learning_rate: f64,
    pub grow: GrowOptions,
    /// Share of queries that each tree is trained on.
    pub query_share: f64,
    /// Share of features that each tree may use.
    pub feature_share: f64,
    pub seed: u64,
}

/// Trains an ensemble. With validation data, it ends with the round of the best figure.
pub(crate) fn boost(
    data: &RankingData,
    objective: &impl Objective,
    options: &BoostOptions,
    watch: &mut Watch<'_>,
) -> Result<TreeEnsemble, RankingError> {
    let binned = BinnedData::new(data);
    let mut grower = Grower::new(&binned, options.grow);
    let mut random = Random::new(options.seed);
    let mut ensemble = TreeEnsemble { base: objective.base(), trees: Vec::new() };
    let mut scores = vec![ensemble.base; data.len()];
    let mut gradients = vec![Gradient::default(); data.len()];
    watch.begin(options.rounds, ensemble.base);
    for _ in 0..options.rounds {
        objective.gradients(&scores, &mut gradients);
        let uses_column = draw_columns(binned.columns.len(), options.feature_share, &mut random);
        let rows = draw_rows(data, options.query_share, &mut random);
        let sampled = rows.len() < data.len();
        let grown = grower.grow(&gradients, rows.into_iter(), &uses_column);
        let mut tree = grown.tree;
        for value in &mut tree.leaves {
            *value *= options.learning_rate;
        }
        if sampled {
            add_scores(&tree, data, &mut scores);
        } else {
            for (value, &(start, end)) in tree.leaves.iter().zip(&grown.leaf_rows) {
                for &row in &grown.order[start..end] {
                    scores[row as usize] += value;
                }
            }
        }
        // No split is left, so that all further trees would be the same.
        let is_constant = tree.nodes.is_empty();
        watch.add_scores(|rows, out| add_scores(&tree, rows, out));
        ensemble.trees.push(tree);
        if watch.is_done()? || is_constant && !sampled {
            break;
        }
    }
    ensemble.trees.truncate(watch.best_round());
    Ok(ensemble)
}

/// Adds the values of a tree to the scores of all rows.
fn add_scores(tree: &Tree, data: &RankingData, scores: &mut [f64]) {
    for (row, score) in scores.iter_mut().enumerate() {
        *score += tree.value(data.row(row));
    }
}

pub(crate) fn draw_columns(columns: usize, share: f64, random: &mut Random) -> Vec<bool> {
    let drawn = ((columns as f64 * share).ceil() as usize).clamp(columns.min(1), columns);
    let mut uses = vec![true; drawn];
    uses.resize(columns, false);
    if drawn < columns {
        random.shuffle(&mut uses);
    }
    uses
}

fn draw_rows(data: &RankingData, share: f64, random: &mut Random) -> Vec<u32> {
    if share >= 1.0 {
        return (0..data.len() as u32).collect();
    }
    let drawn: Vec<_> = data.queries().iter().filter(|_| random.unit() < share).collect();
    let queries = if drawn.is_empty() { data.queries().iter().collect() } else { drawn };
    queries.into_iter().flat_map(|query| query.rows.start as u32..query.rows.end as u32).collect()
}
