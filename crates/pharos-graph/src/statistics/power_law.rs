//! Maximum-likelihood fit of a discrete power law and of its lower bound (Clauset, Shalizi & Newman 2009).

use crate::summation::sum;
use serde::Serialize;

/// The distribution P(x) = x^(−α) / ζ(α, x_min) for integers x ≥ x_min.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PowerLaw {
    /// α, between 1 and [`MAX_EXPONENT`](Self::MAX_EXPONENT). For in-degrees of the web it is about 2.1.
    pub exponent: f64,
    /// Standard error of α, (α − 1)/√n as for the continuous law.
    pub standard_error: f64,
    /// x_min: the smallest degree that follows the law.
    pub from_degree: u64,
    /// Number of pages with at least that degree.
    pub pages: u64,
    /// Kolmogorov–Smirnov distance: the smaller, the better the fit.
    pub distance: f64,
}

/// Maximum number of candidates for x_min, spread over all degrees: trying each degree would be quadratic.
const CANDIDATES: usize = 100;

/// Minimum number of pages in a tail; a smaller tail fits anything.
const MIN_TAIL: u64 = 50;

impl PowerLaw {
    /// Upper bound of the exponent; a steeper tail is not a power law.
    pub const MAX_EXPONENT: f64 = 12.0;

    /// Fits degrees with their page counts, by ascending degree. Degree 0 is skipped, because it has no logarithm. The
    /// x_min with the smallest distance is chosen.
    pub fn fit(counts: &[(u64, u64)]) -> Option<Self> {
        let counts = &counts[counts.partition_point(|&(degree, _)| degree == 0)..];
        let all: u64 = counts.iter().map(|&(_, pages)| pages).sum();
        let mut best: Option<Self> = None;
        for start in candidates(counts.len()) {
            let tail = &counts[start..];
            let pages: u64 = tail.iter().map(|&(_, pages)| pages).sum();
            // The whole distribution is always tried, so that small graphs get an exponent.
            if tail.len() < 2 || (pages < MIN_TAIL.min(all) && start > 0) {
                break;
            }
            let law = Self::of_tail(tail, pages);
            if best.is_none_or(|best| law.distance < best.distance) {
                best = Some(law);
            }
        }
        best
    }

    fn of_tail(tail: &[(u64, u64)], pages: u64) -> Self {
        let from_degree = tail[0].0;
        let least = from_degree as f64;
        let count = pages as f64;
        // In units of x_min: plain logarithms would cancel against ζ for large degrees.
        let logarithms = sum(tail.iter().map(|&(degree, pages)| pages as f64 * (degree as f64 / least).ln()));
        let unlikelihood =
            |exponent: f64| scaled_zeta(exponent, least, least).ln() + exponent * logarithms / count;
        let exponent = minimum(unlikelihood, 1.000_1, Self::MAX_EXPONENT);
        let whole = scaled_zeta(exponent, least, least);
        let (mut below, mut distance) = (0u64, 0f64);
        for &(degree, pages) in tail {
            // Empirical and theoretical distribution functions below this degree.
            let law_above = scaled_zeta(exponent, degree as f64, least) / whole;
            distance = distance.max((below as f64 / count - (1.0 - law_above)).abs());
            below += pages;
            let law_beyond = scaled_zeta(exponent, degree as f64 + 1.0, least) / whole;
            distance = distance.max((below as f64 / count - (1.0 - law_beyond)).abs());
        }
        Self { exponent, standard_error: (exponent - 1.0) / count.sqrt(), from_degree, pages, distance }
    }
}

/// Returns candidate positions in a list: all of a short list, else with growing gaps.
fn candidates(length: usize) -> Vec<usize> {
    if length <= CANDIDATES {
        return (0..length).collect();
    }
    let ratio = (length as f64).ln() / CANDIDATES as f64;
    let mut places: Vec<usize> =
        (0..CANDIDATES).map(|step| ((ratio * step as f64).exp() as usize - 1).min(length - 1)).collect();
    places.dedup();
    places
}

/// Returns Hurwitz's ζ(s, a) = Σ (a + k)^(−s), times unit^s, by the Euler–Maclaurin formula after ten terms.
fn scaled_zeta(s: f64, a: f64, unit: f64) -> f64 {
    const TERMS: u32 = 10;
    let power = |x: f64| (x / unit).powf(-s);
    let head = sum((0..TERMS).map(|k| power(a + f64::from(k))));
    let end = a + f64::from(TERMS);
    let tail = end / (s - 1.0) + 0.5 + s / (12.0 * end) - s * (s + 1.0) * (s + 2.0) / (720.0 * end.powi(3))
        + s * (s + 1.0) * (s + 2.0) * (s + 3.0) * (s + 4.0) / (30_240.0 * end.powi(5));
    head + power(end) * tail
}

/// Returns the minimum of a unimodal function by golden-section search.
fn minimum(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let mut left = high - golden * (high - low);
    let mut right = low + golden * (high - low);
    let (mut at_left, mut at_right) = (function(left), function(right));
    while high - low > 1e-7 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = function(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = function(right);
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zeta_has_its_known_values() {
        let pi = std::f64::consts::PI;
        let apery = 1.202_056_903_159_594;
        let from_five = apery - 1.0 - 1.0 / 8.0 - 1.0 / 27.0 - 1.0 / 64.0;
        assert!((scaled_zeta(2.0, 1.0, 1.0) - pi * pi / 6.0).abs() < 1e-10);
        assert!((scaled_zeta(4.0, 1.0, 1.0) - pi.powi(4) / 90.0).abs() < 1e-10);
        assert!((scaled_zeta(3.0, 5.0, 5.0) / 125.0 - from_five).abs() < 1e-10);
    }

    #[test]
    fn a_planted_law_is_found() {
        for exponent in [2.1, 2.72] {
            // Degrees below 4 are rare: the law holds from 4 on.
            let law = |degree: u64| 1e7 * (degree as f64).powf(-exponent);
            let pages = |degree: u64| if degree < 4 { law(degree) / 5.0 } else { law(degree) };
            let counts: Vec<(u64, u64)> = (1..20_000)
                .map(|degree| (degree, pages(degree).round() as u64))
                .filter(|&(_, pages)| pages > 0)
                .collect();
            let found = PowerLaw::fit(&counts).unwrap();
            assert!((found.exponent - exponent).abs() < 0.03, "{found:?} for {exponent}");
            assert!(found.from_degree >= 4 && found.distance < 0.01, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn any_degrees_give_finite_figures(degrees in prop::collection::btree_map(any::<u64>(), 1u64..1_000_000, 0..30)) {
            let counts: Vec<(u64, u64)> = degrees.into_iter().collect();
            if let Some(law) = PowerLaw::fit(&counts) {
                prop_assert!(law.exponent.is_finite() && law.standard_error.is_finite());
                prop_assert!((0.0..=1.0 + 1e-9).contains(&law.distance), "{:?}", law);
            }
        }
    }
}
