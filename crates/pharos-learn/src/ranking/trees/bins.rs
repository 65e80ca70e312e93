//! Division of feature values into bins.

use rayon::prelude::*;

use crate::ranking::data::RankingData;

/// Largest number of bins of values; one more is for missing values.
const MAX_BINS: usize = 254;

/// Smallest number of sampled rows in a bin, unless a feature has fewer.
const MIN_ROWS_PER_BIN: usize = 3;

/// Rows that decide the limits of bins, evenly spaced.
const SAMPLED_ROWS: usize = 200_000;

/// All features as bin numbers, column by column. Constant features are left out.
#[derive(Clone, Debug, Default)]
pub struct BinnedData {
    pub(super) columns: Vec<BinnedColumn>,
}

/// A feature as bin numbers.
#[derive(Clone, Debug)]
pub(super) struct BinnedColumn {
    pub(super) feature: u32,
    /// Values up to `limits[b]` are in bin b or an earlier one; the last bin of values has no limit.
    pub(super) limits: Vec<f32>,
    /// The bin after those of values holds missing values.
    pub(super) has_missing: bool,
    /// Bin of each row.
    pub(super) bins: Vec<u8>,
}

impl BinnedColumn {
    /// Returns the number of bins, including that of missing values.
    pub(super) fn count(&self) -> usize {
        self.limits.len() + 1 + usize::from(self.has_missing)
    }
}

impl BinnedData {
    /// Divides every feature into bins.
    pub fn new(data: &RankingData) -> Self {
        let columns = (0..data.features()).into_par_iter().filter_map(|feature| bin_column(data, feature));
        Self { columns: columns.collect() }
    }

    /// Returns the number of features that are not constant.
    pub(crate) fn columns(&self) -> usize {
        self.columns.len()
    }
}

fn bin_column(data: &RankingData, feature: usize) -> Option<BinnedColumn> {
    let step = data.len().div_ceil(SAMPLED_ROWS).max(1);
    let mut sample: Vec<f32> = data.column(feature).step_by(step).filter(|value| !value.is_nan()).collect();
    let has_missing = data.column(feature).any(f32::is_nan);
    sample.sort_unstable_by(f32::total_cmp);
    let limits = limits_of(&sample);
    if limits.is_empty() && (!has_missing || sample.is_empty()) {
        return None;
    }
    let bins = data.column(feature).map(|value| bin_of(&limits, value)).collect();
    Some(BinnedColumn { feature: feature as u32, limits, has_missing, bins })
}

fn bin_of(limits: &[f32], value: f32) -> u8 {
    let bin = if value.is_nan() { limits.len() + 1 } else { limits.partition_point(|&limit| limit < value) };
    bin as u8
}

/// Returns the upper limits of all bins but the last: one bin per distinct value if possible, otherwise bins of about
/// equal numbers of rows, where frequent values have their own.
fn limits_of(sorted: &[f32]) -> Vec<f32> {
    let mut distinct: Vec<(f32, usize)> = Vec::new();
    for &value in sorted {
        match distinct.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => distinct.push((value, 1)),
        }
    }
    let few = distinct.len() <= MAX_BINS;
    let mean = sorted.len() as f64 / MAX_BINS as f64;
    let is_frequent = |count: usize| !few && count as f64 >= mean;
    let frequent = distinct.iter().filter(|(_, count)| is_frequent(*count));
    let (frequent_bins, frequent_rows) =
        frequent.fold((0, 0), |(bins, rows), (_, count)| (bins + 1, rows + count));
    let size = if few {
        MIN_ROWS_PER_BIN as f64
    } else {
        ((sorted.len() - frequent_rows) as f64 / (MAX_BINS - frequent_bins).max(1) as f64)
            .max(MIN_ROWS_PER_BIN as f64)
    };
    let mut limits = Vec::new();
    let mut rows = 0;
    for pair in distinct.windows(2) {
        let [(value, count), (next, next_count)] = [pair[0], pair[1]];
        rows += count;
        let is_full = rows as f64 >= size || is_frequent(count);
        let is_half_full_before_frequent = is_frequent(next_count) && rows as f64 >= size / 2.0;
        if is_full || is_half_full_before_frequent {
            limits.push(middle(value, next));
            rows = 0;
            if limits.len() + 1 == MAX_BINS {
                break;
            }
        }
    }
    limits
}

/// Returns a number from `low` to `high`, less than `high`.
fn middle(low: f32, high: f32) -> f32 {
    let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
    if middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_values_have_a_bin_each() {
        let sorted: Vec<f32> = [0.0, 1.0, 4.0].iter().flat_map(|&value| [value; 5]).collect();
        assert_eq!(limits_of(&sorted), [0.5, 2.5]);
        assert_eq!(limits_of(&[1.0; 9]), [0.0_f32; 0]);
        assert_eq!(limits_of(&[]), [0.0_f32; 0]);
    }

    #[test]
    fn many_values_share_bins_of_equal_size() {
        let mut sorted: Vec<f32> = (0..10_000).map(|value| value as f32).collect();
        assert_eq!(limits_of(&sorted).len(), 249, "bins of 40 rows: 10,000 / 254 rounded up");
        sorted.extend([20_000.0; 5_000]);
        let limits = limits_of(&sorted);
        assert!(limits.len() < MAX_BINS && limits.last().is_some_and(|&last| last > 9_999.0), "{limits:?}");
    }

    proptest! {
        #[test]
        fn neighbours_are_separated(mut values in proptest::collection::vec(any::<f32>(), 0..600)) {
            values.retain(|value| value.is_finite());
            values.sort_unstable_by(f32::total_cmp);
            let limits = limits_of(&values);
            prop_assert!(limits.len() < MAX_BINS);
            prop_assert!(limits.windows(2).all(|pair| pair[0] < pair[1]));
            for value in values {
                prop_assert!(usize::from(bin_of(&limits, value)) <= limits.len());
            }
        }
    }
}
