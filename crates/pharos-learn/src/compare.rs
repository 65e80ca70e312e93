//! Comparison of two engines, and its reliability.
//!
//! Both engines answer the same queries, and each query gives a pair of values. The [paired t-test](paired_t_test)
//! shows whether the difference is more than chance. The [error rate](error_rate) estimates how often another
//! selection of queries would give the opposite result (Buckley & Voorhees 2000).
//!
//! ```
//! use pharos_learn::compare::paired_t_test;
//!
//! let test = paired_t_test(&[0.9, 0.8, 0.7, 0.9], &[0.5, 0.3, 0.4, 0.4])?;
//! assert!(test.is_significant());
//! # Ok::<(), pharos_learn::compare::CompareError>(())
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::random::Random;
use crate::student_t;

/// Significance level: a difference counts if chance alone causes it in less than one of twenty cases (95 %
/// confidence).
const SIGNIFICANT_BELOW: f64 = 0.05;

/// Error that prevents a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CompareError {
    /// The values belong to different queries.
    #[error("the two runs cover different queries: evaluate both on one collection")]
    OtherQueries,
    /// Too few queries.
    #[error("a comparison needs at least two queries with a relevant document, found {0}")]
    TooFew(usize),
    /// A value is infinite or not a number.
    #[error("the value of query number {0} is not a finite number")]
    NotFinite(usize),
}

/// Result of a paired t-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// Mean of first minus second.
    pub mean_difference: f64,
    /// Mean difference in units of its standard error; infinite if all differences are equal.
    pub t: f64,
    /// Number of pairs minus one.
    pub degrees_of_freedom: usize,
    /// Two-sided probability of a difference at least this large by chance alone.
    pub p: f64,
}

impl PairedTest {
    /// Returns `true` if there is a difference at 95 % confidence.
    pub fn is_significant(&self) -> bool {
        self.p < SIGNIFICANT_BELOW
    }
}

impl fmt::Display for PairedTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match (self.is_significant(), self.mean_difference > 0.0) {
            (false, _) => "no significant difference",
            (true, true) => "the first is better",
            (true, false) => "the second is better",
        };
        let Self { mean_difference, t, degrees_of_freedom, p } = self;
        let p = if *p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") };
        write!(f, "{verdict} (mean difference {mean_difference:+.4}, t = {t:.3}, ")?;
        write!(f, "{degrees_of_freedom} degrees of freedom, {p})")
    }
}

/// Tests whether the values of `first` and `second`, query by query, differ by more than chance.
pub fn paired_t_test(first: &[f64], second: &[f64]) -> Result<PairedTest, CompareError> {
    check(first, second)?;
    let count = first.len();
    if count < 2 {
        return Err(CompareError::TooFew(count));
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let mean_difference = mean(&differences);
    let squares: f64 = differences.iter().map(|difference| (difference - mean_difference).powi(2)).sum();
    let degrees_of_freedom = count - 1;
    let standard_error = (squares / degrees_of_freedom as f64 / count as f64).sqrt();
    let t = if mean_difference == 0.0 { 0.0 } else { mean_difference / standard_error };
    let p = student_t::two_sided(t, degrees_of_freedom as f64);
    Ok(PairedTest { mean_difference, t, degrees_of_freedom, p })
}

/// Parameters of the experiments behind an error rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExperimentRules {
    /// Number of experiments.
    pub experiments: usize,
    /// Number of queries drawn per experiment without replacement; all if there are fewer.
    pub queries: usize,
    /// Means that differ by at most this share of the larger one are equal.
    pub fuzziness: f64,
    /// Seed of the random generator.
    pub seed: u64,
}

impl Default for ExperimentRules {
    /// About a hundred queries are recommended in the literature; 25 show the effect of fewer.
    fn default() -> Self {
        Self { experiments: 1000, queries: 25, fuzziness: 0.05, seed: 1 }
    }
}

/// Numbers of experiments in which each of two engines was better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentOutcomes {
    /// A>B|.
    pub first_better: usize,
    /// B>A|.
    pub second_better: usize,
    /// A==B|.
    pub equal: usize,
}

/// Compares two engines repeatedly, each time on a random selection of the queries.
pub fn run_experiments(
    first: &[f64],
    second: &[f64],
    rules: &ExperimentRules,
) -> Result<ExperimentOutcomes, CompareError> {
    check(first, second)?;
    let mut queries: Vec<usize> = (0..first.len()).collect();
    let drawn = rules.queries.clamp(1, queries.len().max(1));
    let mut random = Random::new(rules.seed);
    let mut outcomes = ExperimentOutcomes::default();
    for _ in 0..rules.experiments {
        for place in 0..drawn.min(queries.len()) {
            let left = queries.len() - place;
            queries.swap(place, place + random.below(left));
        }
        let sum_of = |figures: &[f64]| queries.iter().take(drawn).map(|&query| figures[query]).sum::<f64>();
        let (a, b) = (sum_of(first), sum_of(second));
        if (a - b).abs() <= rules.fuzziness * a.abs().max(b.abs()) {
            outcomes.equal += 1;
        } else if a > b {
            outcomes.first_better += 1;
        } else {
            outcomes.second_better += 1;
        }
    }
    Ok(outcomes)
}

/// Returns ErrorRate = Σ min(|A>B|, |B>A|) / Σ (|A>B| + |B>A| + |A==B|) over one or more pairs of engines; 0
/// without experiments. It is at most one half.
pub fn error_rate(pairs: &[ExperimentOutcomes]) -> f64 {
    let wrong: usize = pairs.iter().map(|pair| pair.first_better.min(pair.second_better)).sum();
    let all: usize = pairs.iter().map(|pair| pair.first_better + pair.second_better + pair.equal).sum();
    if all == 0 { 0.0 } else { wrong as f64 / all as f64 }
}

fn check(first: &[f64], second: &[f64]) -> Result<(), CompareError> {
    if first.len() != second.len() {
        return Err(CompareError::OtherQueries);
    }
    match first.iter().zip(second).position(|(a, b)| !(a - b).is_finite()) {
        Some(before) => Err(CompareError::NotFinite(before + 1)),
        None => Ok(()),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hours of sleep gained with two drugs by ten patients (Student 1908, the first paired t-test).
    const FIRST_DRUG: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SECOND_DRUG: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    #[test]
    fn students_own_example() {
        let test = paired_t_test(&FIRST_DRUG, &SECOND_DRUG).unwrap();
        assert!((test.mean_difference + 1.58).abs() < 1e-12);
        assert!((test.t + 4.0621).abs() < 5e-5);
        assert_eq!(test.degrees_of_freedom, 9);
        assert!((test.p - 0.002_833).abs() < 5e-7);
        assert!(test.is_significant());
        assert_eq!(
            test.to_string(),
            "the second is better (mean difference -1.5800, t = -4.062, 9 degrees of freedom, p = 0.0028)"
        );
    }

    #[test]
    fn random_differences_are_not_significant() {
        let test = paired_t_test(&[0.5, 0.4, 0.6, 0.5], &[0.4, 0.5, 0.5, 0.6]).unwrap();
        assert!(!test.is_significant());
        assert!(test.to_string().starts_with("no significant difference"));
    }

    #[test]
    fn differences_that_are_all_the_same() {
        let same = paired_t_test(&[0.5, 0.25], &[0.5, 0.25]).unwrap();
        assert_eq!((same.t, same.p, same.is_significant()), (0.0, 1.0, false));
        let shifted = paired_t_test(&[0.5, 0.75], &[0.25, 0.5]).unwrap();
        assert_eq!((shifted.t, shifted.p, shifted.is_significant()), (f64::INFINITY, 0.0, true));
        assert!(shifted.to_string().ends_with("1 degrees of freedom, p < 0.0001)"));
    }

    #[test]
    fn incomparable_values_are_rejected() {
        assert_eq!(paired_t_test(&[1.0], &[]), Err(CompareError::OtherQueries));
        assert_eq!(paired_t_test(&[1.0], &[0.5]), Err(CompareError::TooFew(1)));
        assert_eq!(paired_t_test(&[1.0, f64::NAN], &[0.5, 0.5]), Err(CompareError::NotFinite(2)));
    }

    #[test]
    fn error_rate_counts_the_rarer_answer() {
        let clear = ExperimentOutcomes { first_better: 90, second_better: 4, equal: 6 };
        let close = ExperimentOutcomes { first_better: 30, second_better: 40, equal: 30 };
        assert_eq!(error_rate(&[clear]), 0.04);
        assert_eq!(error_rate(&[clear, close]), 34.0 / 200.0);
        assert_eq!(error_rate(&[]), 0.0);
    }

    #[test]
    fn a_consistently_better_engine_has_no_error_rate() {
        let outcomes = run_experiments(&[0.9; 50], &[0.5; 50], &ExperimentRules::default()).unwrap();
        assert_eq!(outcomes, ExperimentOutcomes { first_better: 1000, second_better: 0, equal: 0 });
        let fuzzy = run_experiments(&[0.50; 50], &[0.49; 50], &ExperimentRules::default()).unwrap();
        assert_eq!((fuzzy.equal, error_rate(&[fuzzy])), (1000, 0.0));
    }

    #[test]
    fn fewer_queries_err_more() {
        // Better for two of three queries, a little worse for the others.
        let first: Vec<f64> = (0..99).map(|query| if query % 3 == 0 { 0.2 } else { 0.6 }).collect();
        let rate = |queries| {
            let rules = ExperimentRules { queries, ..ExperimentRules::default() };
            error_rate(&[run_experiments(&first, &[0.45; 99], &rules).unwrap()])
        };
        let rates = [3, 20, 99].map(rate);
        assert!(rates[0] > rates[1] && rates[1] >= rates[2], "{rates:?}");
        assert_eq!(rates[2], 0.0, "all queries always give the same result");
    }

    proptest! {
        #[test]
        fn same_seed_gives_same_outcomes(
            pairs in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 0..30),
            queries in 0..40_usize,
            seed: u64,
        ) {
            let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let rules = ExperimentRules { experiments: 20, queries, fuzziness: 0.05, seed };
            let outcomes = run_experiments(&first, &second, &rules).unwrap();
            prop_assert_eq!(outcomes, run_experiments(&first, &second, &rules).unwrap());
            prop_assert_eq!(outcomes.first_better + outcomes.second_better + outcomes.equal, 20);
            prop_assert!((0.0..=0.5).contains(&error_rate(&[outcomes])));
            if let Ok(test) = paired_t_test(&first, &second) {
                prop_assert!((0.0..=1.0).contains(&test.p));
            }
        }
    }
}
