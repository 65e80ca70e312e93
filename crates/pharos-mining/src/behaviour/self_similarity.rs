//! Self-similarity (自相似) of the query stream: autocorrelation, aggregated series, R/S analysis and the Hurst exponent
//! (《搜索引擎——原理、技术与系统》§9.2, formulas 9-7 to 9-10; Leland et al. 1994).
//!
//! The series is the number of distinct queries in each group of 500, 1,000 or 2,000 queries. A slope between 0.5 and 1 of
//! ln(R/S) over ln n means self-similarity; above 0.7 it is strong. The source measured 0.67.

use std::collections::HashSet;

use serde::Serialize;

use super::concentration::{LineFit, fit_line};

/// Group sizes of the source.
pub const GROUPS: [usize; 3] = [500, 1000, 2000];
/// Shortest block of an R/S analysis.
const MIN_BLOCK: usize = 4;
/// Shortest series that is analysed.
const MIN_SERIES: usize = 16;

/// Returns the number of distinct queries in each complete group.
pub fn distinct_per_group(queries: &[u32], size: usize) -> Vec<f64> {
    let distinct = |group: &[u32]| group.iter().collect::<HashSet<_>>().len() as f64;
    queries.chunks_exact(size.max(1)).map(distinct).collect()
}

/// Returns the aggregated series X^(m): means of m consecutive values.
pub fn aggregate(series: &[f64], m: usize) -> Vec<f64> {
    series.chunks_exact(m.max(1)).map(|group| group.iter().sum::<f64>() / group.len() as f64).collect()
}

/// Returns the autocorrelation ρ(τ) for τ = 0 … `most`. Empty if the series is constant.
pub fn autocorrelation(series: &[f64], most: usize) -> Vec<f64> {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n.max(1.0);
    let variance: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
    if variance <= f64::EPSILON {
        return Vec::new();
    }
    let lags = 0..=most.min(series.len() - 1);
    let product =
        |lag: usize| series.iter().zip(&series[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    lags.map(|lag| product(lag) / variance).collect()
}

/// Returns the rescaled range R/S of a series: [max(0, W_1 … W_n) − min(0, W_1 … W_n)] / S with W_k = Σ_{i ≤ k} X_i − k·mean.
/// Returns `None` if the series is constant.
pub fn rescaled_range(series: &[f64]) -> Option<f64> {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n;
    let deviation = (series.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let (mut sum, mut low, mut high) = (0.0_f64, 0.0_f64, 0.0_f64);
    for x in series {
        sum += x - mean;
        (low, high) = (low.min(sum), high.max(sum));
    }
    (deviation > f64::EPSILON).then(|| (high - low) / deviation)
}

/// Returns H = 1 − β/2 for an autocorrelation that decays as τ^−β.
pub fn hurst_from_decay(beta: f64) -> f64 {
    1.0 - beta / 2.0
}

/// An R/S analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RangeAnalysis {
    /// Queries in a group of the series.
    pub group: usize,
    /// ln n and ln of the mean R/S over all blocks of length n.
    pub points: Vec<(f64, f64)>,
    /// The line whose slope is the Hurst exponent.
    pub fit: LineFit,
}

/// Analyses the number of distinct queries per group. Returns `None` if the log is too short or too regular.
pub fn analyse_range(queries: &[u32], group: usize) -> Option<RangeAnalysis> {
    let series = distinct_per_group(queries, group);
    if series.len() < MIN_SERIES {
        return None;
    }
    let lengths =
        std::iter::successors(Some(MIN_BLOCK), |n| Some(n * 3 / 2)).take_while(|n| *n <= series.len());
    let points: Vec<(f64, f64)> = lengths
        .filter_map(|n| {
            let ranges: Vec<f64> =
                series.chunks_exact(n).filter_map(rescaled_range).filter(|range| *range > 0.0).collect();
            let mean = ranges.iter().sum::<f64>() / ranges.len() as f64;
            (!ranges.is_empty()).then(|| ((n as f64).ln(), mean.ln()))
        })
        .collect();
    let fit = fit_line(&points)?;
    (points.len() >= 3).then_some(RangeAnalysis { group, points, fit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_500_aggregate_to_2000_with_m_4() {
        let m = 2000 / 500;
        assert_eq!(m, 4);
        assert_eq!(aggregate(&[1.0, 3.0, 5.0, 7.0, 2.0, 2.0, 2.0, 2.0, 9.0], m), [4.0, 2.0]);
    }

    #[test]
    fn the_published_exponent_and_its_decay() {
        assert!((hurst_from_decay(0.66) - 0.67).abs() < 1e-12);
        let is_self_similar = |h: f64| 0.5 < h && h < 1.0;
        assert!(is_self_similar(hurst_from_decay(0.66)) && !is_self_similar(hurst_from_decay(1.2)));
    }

    #[test]
    fn a_rescaled_range_by_hand() {
        // Mean 2.5; sums −1.5, −2, −1.5, 0; S = √1.25.
        assert!((rescaled_range(&[1.0, 2.0, 3.0, 4.0]).unwrap() - 2.0 / 1.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(rescaled_range(&[2.0, 2.0]), None);
        let correlation = autocorrelation(&[1.0, -1.0, 1.0, -1.0], 2);
        assert_eq!(correlation, [1.0, -0.75, 0.5]);
        assert!(autocorrelation(&[], 3).is_empty());
    }

    #[test]
    fn independent_values_have_an_exponent_near_one_half() {
        // A linear congruential generator (Knuth, MMIX).
        let mut state = 7_u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % 900
        };
        let queries: Vec<u32> = (0..400_000).map(|_| next()).collect();
        let analysis = analyse_range(&queries, 500).unwrap();
        assert!((0.4..0.72).contains(&analysis.fit.slope), "{:?}", analysis.fit);
        assert_eq!(analyse_range(&queries[..4000], 500), None);
        assert_eq!(analyse_range(&vec![1; 100_000], 500), None, "a constant series");
    }
}
