//! RankNet: a network of one hidden layer, trained on the cross entropy of pairs (Burges et al. 2005, "Learning to rank
//! using gradient descent"), with the gradients of all pairs of a query summed per result (Burges 2010, §2.1).

use crate::random::Random;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, add_scaled, dot};
use crate::ranking::model::{NetworkScorer, Scorer};
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;

/// Parameters of RankNet.
pub(crate) const PARAMETERS: [Parameter; 4] = [
    Parameter::whole("hidden", 10, 1, 1000, "number of hidden units"),
    Parameter::whole("rounds", 100, 1, 10_000, "largest number of passes over the queries"),
    Parameter::real("learning-rate", 0.01, 1e-9, 10.0, "factor of the mean gradient of the pairs of a query"),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of first weights and of the order of queries"),
];

/// Returns the cross entropy of a pair whose better result leads by this difference of scores.
pub fn pair_loss(difference: f64) -> f64 {
    (-difference).exp().ln_1p()
}

/// Trains RankNet.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let mut random = Random::new(parameters.whole("seed") as u64);
    let mut network = Network::random(rows.columns(), parameters.whole("hidden"), &mut random);
    let (rounds, rate) = (parameters.whole("rounds"), parameters.get("learning-rate"));
    let mut order: Vec<usize> = (0..data.queries().len()).collect();
    let mut best = network.scorer(&rows);
    watch.begin(rounds, 0.0);
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &query in &order {
            let range = data.queries()[query].rows.clone();
            let x: Vec<&[f64]> = range.clone().map(|row| rows.row(row)).collect();
            network.step(&x, &data.grades()[range], rate);
        }
        let scorer = network.scorer(&rows);
        watch.set_scores(|data, row| scorer.score(data.row(row)));
        let is_done = watch.is_done()?;
        if watch.is_best() {
            best = scorer;
        }
        if is_done {
            break;
        }
    }
    Ok(Scorer::Network(best))
}

/// Σ vₕ tanh(wₕ·x + bₕ).
struct Network {
    hidden: Vec<Vec<f64>>,
    biases: Vec<f64>,
    output: Vec<f64>,
}

impl Network {
    fn random(columns: usize, hidden: usize, random: &mut Random) -> Self {
        let scale = 1.0 / (columns.max(1) as f64).sqrt();
        let mut draw = |scale: f64| (2.0 * random.unit() - 1.0) * scale;
        let weights = (0..hidden).map(|_| (0..columns).map(|_| draw(scale)).collect()).collect();
        let output = (0..hidden).map(|_| draw(1.0 / (hidden as f64).sqrt())).collect();
        Self { hidden: weights, biases: vec![0.0; hidden], output }
    }

    fn activations(&self, x: &[f64]) -> Vec<f64> {
        self.hidden.iter().zip(&self.biases).map(|(weights, bias)| (dot(weights, x) + bias).tanh()).collect()
    }

    /// Descends the mean loss of the pairs of a query.
    fn step(&mut self, x: &[&[f64]], grades: &[u32], rate: f64) {
        let active: Vec<Vec<f64>> = x.iter().map(|x| self.activations(x)).collect();
        let scores: Vec<f64> = active.iter().map(|active| dot(active, &self.output)).collect();
        let (lambdas, pairs) = lambdas(&scores, grades);
        if pairs == 0 {
            return;
        }
        let rate = rate / (pairs as f64).sqrt();
        let output = self.output.clone();
        for ((x, active), lambda) in x.iter().zip(&active).zip(lambdas) {
            for unit in 0..output.len() {
                let back = rate * lambda * output[unit] * (1.0 - active[unit] * active[unit]);
                add_scaled(&mut self.hidden[unit], back, x);
                self.biases[unit] += back;
            }
            add_scaled(&mut self.output, rate * lambda, active);
        }
    }

    fn scorer(&self, rows: &StandardisedData) -> NetworkScorer {
        let units = self.hidden.iter().zip(&self.biases).map(|(weights, &bias)| rows.scorer(weights, bias));
        NetworkScorer { units: units.collect(), output: self.output.clone() }
    }
}

/// Returns minus the derivative of the loss by each score, and the number of pairs.
fn lambdas(scores: &[f64], grades: &[u32]) -> (Vec<f64>, usize) {
    let mut lambdas = vec![0.0; scores.len()];
    let mut pairs = 0;
    for (better, &high) in grades.iter().enumerate() {
        for (worse, &low) in grades.iter().enumerate() {
            if high > low {
                let wrong = 1.0 / (1.0 + (scores[better] - scores[worse]).exp());
                lambdas[better] += wrong;
                lambdas[worse] -= wrong;
                pairs += 1;
            }
        }
    }
    (lambdas, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_the_loss() {
        let grades = [2, 0, 1];
        let scores = [0.3, 0.5, -0.2];
        let loss = |scores: &[f64]| {
            [(0, 1), (0, 2), (2, 1)].iter().map(|&(a, b)| pair_loss(scores[a] - scores[b])).sum::<f64>()
        };
        let (found, pairs) = lambdas(&scores, &grades);
        assert_eq!(pairs, 3);
        for (place, found) in found.iter().enumerate() {
            let (mut up, mut down) = (scores, scores);
            up[place] += 1e-6;
            down[place] -= 1e-6;
            assert!((found + (loss(&up) - loss(&down)) / 2e-6).abs() < 1e-8);
        }
    }
}
