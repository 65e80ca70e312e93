//! Concentration of a log on few queries: the cumulative share of the most frequent ones, and a fitted power law
//! (《搜索引擎——原理、技术与系统》§9.2, formulas 9-1 and 9-2).

use serde::Serialize;

/// Points of a curve.
const STEPS: usize = 100;
/// Values of −a/b, the start of the curve, that the fit tries.
const STARTS: usize = 60;

/// Returns the curve Y(x) = Σ_{i ≤ ⌊mx⌋} c_i / Σ c_i for x from 0 to 1 in steps of 0.01: the most frequent share x of the
/// m distinct items makes up the share Y of all observations. `counts` need not be sorted.
pub fn cumulative_share(counts: &[u64]) -> Vec<(f64, f64)> {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let total: u64 = sorted.iter().sum();
    if total == 0 {
        return Vec::new();
    }
    let (mut taken, mut sum) = (0, 0);
    (0..=STEPS)
        .map(|step| {
            let wanted = sorted.len() * step / STEPS;
            sum += sorted[taken..wanted].iter().sum::<u64>();
            taken = wanted;
            (step as f64 / STEPS as f64, sum as f64 / total as f64)
        })
        .collect()
}

/// The curve y = (a + b·x)^c.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PowerFit {
    pub a: f64,
    pub b: f64,
    pub c: f64,
    /// Coefficient of determination R² in the original scale.
    pub r_squared: f64,
}

impl PowerFit {
    /// Returns y, or `None` where the base is negative.
    pub fn value(&self, x: f64) -> Option<f64> {
        let base = self.a + self.b * x;
        (base >= 0.0).then(|| base.powf(self.c))
    }
}

/// Fits y = (a + b·x)^c by least squares of ln y over ln(x − s), where s = −a/b is searched. Returns `None` if fewer than
/// three points are positive.
pub fn fit_power(points: &[(f64, f64)]) -> Option<PowerFit> {
    let points: Vec<(f64, f64)> = points.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0).collect();
    if points.len() < 3 {
        return None;
    }
    let first = points.iter().map(|(x, _)| *x).fold(f64::INFINITY, f64::min);
    // s below the first point, of both signs, more densely around zero.
    let starts = (0..STARTS).flat_map(|nth| {
        let part = (nth as f64 / STARTS as f64).powi(3) * 0.999;
        [first * part, -part]
    });
    let fits = starts.filter_map(|start| {
        let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| ((x - start).ln(), y.ln())).collect();
        let line = fit_line(&logs)?;
        // ln y = c·ln(x − s) + c·ln b
        let c = line.slope;
        if c.abs() < f64::EPSILON {
            return None;
        }
        let b = (line.intercept / c).exp();
        let fit = PowerFit { a: -start * b, b, c, r_squared: 0.0 };
        let fitted: Vec<(f64, f64)> = points.iter().filter_map(|(x, y)| Some((*y, fit.value(*x)?))).collect();
        Some(PowerFit { r_squared: r_squared(&fitted), ..fit })
    });
    fits.filter(|fit| fit.r_squared.is_finite()).max_by(|a, b| a.r_squared.total_cmp(&b.r_squared))
}

/// The line y = slope·x + intercept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LineFit {
    pub slope: f64,
    pub intercept: f64,
    pub r_squared: f64,
}

/// Fits a line by least squares. Returns `None` without two different abscissae.
pub fn fit_line(points: &[(f64, f64)]) -> Option<LineFit> {
    let n = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|(x, _)| x).sum::<f64>() / n, points.iter().map(|(_, y)| y).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let xy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    if points.len() < 2 || xx <= f64::EPSILON || !xx.is_finite() {
        return None;
    }
    let slope = xy / xx;
    let intercept = mean_y - slope * mean_x;
    let fitted: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*y, slope * x + intercept)).collect();
    Some(LineFit { slope, intercept, r_squared: r_squared(&fitted) })
}

/// Returns 1 − Σ(y − ŷ)² / Σ(y − ȳ)² for pairs of observed and fitted values.
fn r_squared(pairs: &[(f64, f64)]) -> f64 {
    let mean = pairs.iter().map(|(y, _)| y).sum::<f64>() / pairs.len().max(1) as f64;
    let total: f64 = pairs.iter().map(|(y, _)| (y - mean).powi(2)).sum();
    let rest: f64 = pairs.iter().map(|(y, fitted)| (y - fitted).powi(2)).sum();
    if total <= f64::EPSILON { if rest <= f64::EPSILON { 1.0 } else { 0.0 } } else { 1.0 - rest / total }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fit of the source.
    const PUBLISHED: PowerFit = PowerFit { a: -0.041_03, b: 1.016_89, c: 0.1346, r_squared: 1.0 };

    #[test]
    fn the_published_curve_has_its_published_value() {
        assert!((PUBLISHED.value(0.2).unwrap() - 0.783).abs() < 5e-4);
        assert_eq!(PUBLISHED.value(0.0403), None);
        assert!(PUBLISHED.value(0.0404).is_some());
    }

    #[test]
    fn the_published_curve_is_found_again() {
        let points: Vec<(f64, f64)> = (5..=100)
            .filter_map(|x| Some((f64::from(x) / 100.0, PUBLISHED.value(f64::from(x) / 100.0)?)))
            .collect();
        let fit = fit_power(&points).unwrap();
        assert!(fit.r_squared > 0.999 && (fit.c - PUBLISHED.c).abs() < 0.02, "{fit:?}");
        assert!((fit.value(0.2).unwrap() - 0.783).abs() < 0.01);
    }

    #[test]
    fn one_of_four_queries_is_asked_most() {
        let curve = cumulative_share(&[1, 7, 1, 1]);
        assert_eq!((curve[25], curve[50], curve[100]), ((0.25, 0.7), (0.5, 0.8), (1.0, 1.0)));
        assert_eq!(
            (cumulative_share(&[]), fit_power(&[]), fit_line(&[(1.0, 1.0), (1.0, 2.0)])),
            (vec![], None, None)
        );
        assert_eq!(
            fit_line(&[(0.0, 1.0), (1.0, 3.0)]).map(|fit| (fit.slope, fit.intercept)),
            Some((2.0, 1.0))
        );
    }
}
