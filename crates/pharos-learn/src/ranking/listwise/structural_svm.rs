//! Structural SVMs for rankings: RankSVM-Struct and SVM-MAP, by the cutting-plane method.
//!
//! min ½|w|² + C ξ, where ξ bounds the mean loss of all queries. Each step adds the most violated constraint and solves the
//! dual of those found so far (Joachims, Finley & Yu 2009, "Cutting-plane training of structural SVMs", §3.1).

use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::linear::{StandardisedData, add_scaled, best_of_rounds, dot};
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;

/// Parameters of both.
pub(crate) const PARAMETERS: [Parameter; 2] = [
    Parameter::real("c", 1.0, 1e-9, 1e9, "weight C of the mean loss of a query"),
    Parameter::whole("rounds", 200, 1, 10_000, "largest number of constraints"),
];

/// Loss that a structural SVM bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StructuralLoss {
    /// Share of wrongly ordered pairs (Joachims 2006, "Training linear SVMs in linear time").
    Pairs,
    /// 1 − average precision (Yue, Finley, Radlinski & Joachims 2007, "A support vector method for optimizing average
    /// precision").
    AveragePrecision,
}

/// A constraint w·ψ ≥ loss − ξ.
struct Constraint {
    psi: Vec<f64>,
    loss: f64,
}

/// Trains a structural SVM.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    loss: StructuralLoss,
    relevant_from: u32,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let rows = StandardisedData::new(data);
    let c = parameters.get("c");
    let mut weights = vec![0.0; rows.columns()];
    let mut constraints: Vec<Constraint> = Vec::new();
    let mut alphas: Vec<f64> = Vec::new();
    let mut gram: Vec<Vec<f64>> = Vec::new();
    best_of_rounds(&rows, parameters.whole("rounds"), watch, |_| {
        let scores: Vec<f64> = (0..data.len()).map(|row| dot(&weights, rows.row(row))).collect();
        let found = most_violated(data, &rows, &scores, loss, relevant_from);
        let slack = constraints.iter().map(|each| each.loss - dot(&weights, &each.psi)).fold(0.0, f64::max);
        // Within ε all constraints hold; further rounds change nothing.
        if found.loss - dot(&weights, &found.psi) > slack + 1e-4 {
            let products: Vec<f64> = constraints.iter().map(|each| dot(&each.psi, &found.psi)).collect();
            for (row, product) in gram.iter_mut().zip(&products) {
                row.push(*product);
            }
            gram.push([&products[..], &[dot(&found.psi, &found.psi)]].concat());
            constraints.push(found);
            alphas.push(0.0);
            let losses: Vec<f64> = constraints.iter().map(|each| each.loss).collect();
            solve_dual(&gram, &losses, c, &mut alphas);
            weights.fill(0.0);
            for (alpha, constraint) in alphas.iter().zip(&constraints) {
                add_scaled(&mut weights, *alpha, &constraint.psi);
            }
        }
        weights.clone()
    })
}

/// Maximises Σ αᵢ lossᵢ − ½ Σ αᵢ αⱼ ψᵢ·ψⱼ with α ≥ 0 and Σ α ≤ C, by steps along the best pair of variables. One variable
/// more, without constraint and loss, takes the rest of C.
fn solve_dual(gram: &[Vec<f64>], losses: &[f64], c: f64, alphas: &mut [f64]) {
    const STEPS: usize = 20_000;
    let mut slopes: Vec<f64> = (0..losses.len()).map(|i| losses[i] - dot(&gram[i], alphas)).collect();
    let mut rest = c - alphas.iter().sum::<f64>();
    for _ in 0..STEPS {
        // The variable to increase has the greatest slope, the one to decrease the smallest of those above 0. The rest
        // has slope 0.
        let up =
            (0..losses.len()).max_by(|&a, &b| slopes[a].total_cmp(&slopes[b])).filter(|&up| slopes[up] > 0.0);
        let down =
            (0..losses.len()).filter(|&i| alphas[i] > 0.0).min_by(|&a, &b| slopes[a].total_cmp(&slopes[b]));
        let down = down.filter(|&down| slopes[down] < 0.0 || rest <= 1e-15 * c);
        let slope = |i: Option<usize>| i.map_or(0.0, |i| slopes[i]);
        if slope(up) - slope(down) < 1e-9 || up == down {
            break;
        }
        let product = |i: Option<usize>, j: Option<usize>| match (i, j) {
            (Some(i), Some(j)) => gram[i][j],
            _ => 0.0,
        };
        let curvature = product(up, up) + product(down, down) - 2.0 * product(up, down);
        let limit = down.map_or(rest, |down| alphas[down]);
        let step = ((slope(up) - slope(down)) / curvature.max(1e-12)).min(limit);
        if step <= 0.0 {
            break;
        }
        match up {
            Some(up) => alphas[up] += step,
            None => rest += step,
        }
        match down {
            Some(down) => alphas[down] = (alphas[down] - step).max(0.0),
            None => rest -= step,
        }
        for (i, slope) in slopes.iter_mut().enumerate() {
            *slope -= step * (product(Some(i), up) - product(Some(i), down));
        }
    }
}

/// Returns the mean over the queries of the constraint that the scores violate most.
fn most_violated(
    data: &RankingData,
    rows: &StandardisedData,
    scores: &[f64],
    loss: StructuralLoss,
    relevant_from: u32,
) -> Constraint {
    let mut factors = vec![0.0; data.len()];
    let (mut sum, mut queries) = (0.0, 0_usize);
    for query in data.queries() {
        let range = query.rows.clone();
        let (scores, grades) = (&scores[range.clone()], &data.grades()[range.clone()]);
        let found = match loss {
            StructuralLoss::Pairs => violated_pairs(scores, grades, &mut factors[range]),
            StructuralLoss::AveragePrecision => {
                let relevant: Vec<bool> = grades.iter().map(|&grade| grade >= relevant_from.max(1)).collect();
                violated_order(scores, &relevant, &mut factors[range])
            }
        };
        if let Some(loss) = found {
            sum += loss;
            queries += 1;
        }
    }
    let share = 1.0 / queries.max(1) as f64;
    let mut psi = vec![0.0; rows.columns()];
    for (row, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
        add_scaled(&mut psi, factor * share, rows.row(row));
    }
    Constraint { psi, loss: sum * share }
}

/// Writes the factor of each result in ψ, and returns the loss: the share of pairs whose margin is below 1. `None` if all
/// grades are equal.
fn violated_pairs(scores: &[f64], grades: &[u32], factors: &mut [f64]) -> Option<f64> {
    let (mut pairs, mut violated) = (0_usize, 0_usize);
    factors.fill(0.0);
    for (better, high) in grades.iter().enumerate() {
        for (worse, low) in grades.iter().enumerate() {
            if high > low {
                pairs += 1;
                if scores[better] - scores[worse] < 1.0 {
                    violated += 1;
                    factors[better] += 1.0;
                    factors[worse] -= 1.0;
                }
            }
        }
    }
    factors.iter_mut().for_each(|factor| *factor /= pairs.max(1) as f64);
    (pairs > 0).then(|| violated as f64 / pairs as f64)
}

/// Writes the factor of each result in ψ for the order with the greatest 1 − AP + w·Ψ(order), and returns its 1 − AP.
///
/// Relevant and irrelevant results keep their order by score; each irrelevant result is inserted at the best place, from the
/// greatest score on (Yue et al. 2007, §4.1). `None` if all results are relevant or none.
fn violated_order(scores: &[f64], relevant: &[bool], factors: &mut [f64]) -> Option<f64> {
    factors.fill(0.0);
    let sorted = |wanted: bool| {
        let mut rows: Vec<usize> = (0..scores.len()).filter(|&row| relevant[row] == wanted).collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        rows
    };
    let (good, bad) = (sorted(true), sorted(false));
    if good.is_empty() || bad.is_empty() {
        return None;
    }
    let (r, n) = (good.len() as f64, bad.len() as f64);
    // Place i for the j-th irrelevant result: before it are i relevant ones. Moving it before the i-th relevant result
    // lowers the precision there from i/(i+j−1) to i/(i+j) and turns one pair of Ψ.
    let mut places = Vec::with_capacity(bad.len());
    for (number, &row) in bad.iter().enumerate() {
        let j = number as f64 + 1.0;
        let (mut value, mut best, mut place) = (0.0, 0.0, good.len());
        for (before, &other) in good.iter().enumerate().rev() {
            let i = before as f64 + 1.0;
            value += (i / (i + j - 1.0) - i / (i + j)) / r - 2.0 * (scores[other] - scores[row]) / (r * n);
            if value > best {
                (best, place) = (value, before);
            }
        }
        places.push(place);
    }
    // The optimal places never fall.
    for number in 1..places.len() {
        places[number] = places[number].max(places[number - 1]);
    }
    let mut average = 0.0;
    for (number, &row) in good.iter().enumerate() {
        let before = places.iter().filter(|&&place| place <= number).count();
        average += (number + 1) as f64 / (number + 1 + before) as f64;
        // ψ is Ψ(right order) − Ψ(this order): 2/(r n) for each pair that this order has wrong.
        factors[row] += 2.0 * before as f64 / (r * n);
    }
    for (&row, &place) in bad.iter().zip(&places) {
        factors[row] -= 2.0 * (good.len() - place) as f64 / (r * n);
    }
    Some(1.0 - average / r)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the greatest 1 − AP + w·Ψ − w·Ψ(right order) over all orders of relevant and irrelevant results.
    fn by_enumeration(scores: &[f64], relevant: &[bool]) -> f64 {
        let count = scores.len();
        let mut best = f64::NEG_INFINITY;
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..count {
            orders = orders
                .into_iter()
                .flat_map(|order| {
                    (0..count)
                        .filter(|row| !order.contains(row))
                        .map(|row| [&order[..], &[row]].concat())
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        let r = relevant.iter().filter(|&&each| each).count() as f64;
        let n = count as f64 - r;
        for order in orders {
            let (mut found, mut average, mut psi) = (0.0, 0.0, 0.0);
            for (place, &row) in order.iter().enumerate() {
                if relevant[row] {
                    found += 1.0;
                    average += found / (place + 1) as f64;
                    psi -= order[..place]
                        .iter()
                        .filter(|&&other| !relevant[other])
                        .map(|&other| 2.0 * (scores[row] - scores[other]))
                        .sum::<f64>()
                        / (r * n);
                }
            }
            best = best.max(1.0 - average / r + psi);
        }
        best
    }

    #[test]
    fn the_most_violated_order_is_found() {
        let relevant = [true, false, true, false, false];
        for scores in
            [[0.1, 0.2, 0.3, 0.4, 0.0], [0.0; 5], [2.0, 0.1, 1.0, 0.3, 0.9], [0.5, 0.6, -0.2, 0.1, 0.1]]
        {
            let mut factors = [0.0; 5];
            let loss = violated_order(&scores, &relevant, &mut factors).unwrap();
            let value = loss - dot(&factors, &scores);
            assert!((value - by_enumeration(&scores, &relevant)).abs() < 1e-9, "{scores:?}");
        }
        assert_eq!(violated_order(&[1.0], &[true], &mut [0.0]), None);
    }

    #[test]
    fn pairs_within_the_margin_are_violated() {
        let mut factors = [0.0; 3];
        let loss = violated_pairs(&[3.0, 2.5, 0.0], &[1, 0, 0], &mut factors);
        assert_eq!((loss, factors), (Some(0.5), [0.5, -0.5, 0.0]));
        assert_eq!(violated_pairs(&[1.0, 2.0], &[1, 1], &mut [0.0; 2]), None);
    }

    #[test]
    fn the_dual_is_solved() {
        // max α₁ + ½ α₂ − ½ (2 α₁² + α₂²): α = (½, ½) without a limit, (0.5, 0) … within Σ α ≤ ½: (0.5 + …).
        let gram = vec![vec![2.0, 0.0], vec![0.0, 1.0]];
        let mut alphas = vec![0.0; 2];
        solve_dual(&gram, &[1.0, 0.5], 10.0, &mut alphas);
        assert!((alphas[0] - 0.5).abs() < 1e-6 && (alphas[1] - 0.5).abs() < 1e-6, "{alphas:?}");
        let mut limited = vec![0.0; 2];
        solve_dual(&gram, &[1.0, 0.5], 0.5, &mut limited);
        // Equal slopes 1 − 2α₁ = ½ − α₂ with α₁ + α₂ = ½.
        assert!(
            (limited[0] - 1.0 / 3.0).abs() < 1e-6 && (limited[1] - 1.0 / 6.0).abs() < 1e-6,
            "{limited:?}"
        );
    }
}
