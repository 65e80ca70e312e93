//! Floating-point sums whose rounding error does not grow with their length.

/// Compensated summation (Neumaier 1974). The error is about one rounding of the result, for any number of terms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    compensation: f64,
}

impl CompensatedSum {
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.compensation +=
            if self.sum.abs() >= term.abs() { (self.sum - sum) + term } else { (term - sum) + self.sum };
        self.sum = sum;
    }

    pub(crate) fn value(self) -> f64 {
        self.sum + self.compensation
    }
}

/// Returns the compensated sum of all terms.
pub(crate) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = CompensatedSum::default();
    terms.into_iter().for_each(|term| total.add(term));
    total.value()
}

/// Number of terms added without compensation.
const BLOCK: usize = 1024;

/// Upper bound on the roundings that a term of [`gather`] goes through.
pub(crate) const GATHER_ROUNDINGS: f64 = (BLOCK / 4 + 8) as f64;

/// Returns the sum of `values[i]` for all `i` in `row`. Blocks are summed in four lanes, and block sums are added with
/// compensation. As fast as a plain loop, and the error does not grow with the row.
pub(crate) fn gather(row: &[u32], values: &[f64]) -> f64 {
    if row.len() <= BLOCK {
        return gather_block(row, values);
    }
    sum(row.chunks(BLOCK).map(|block| gather_block(block, values)))
}

fn gather_block(row: &[u32], values: &[f64]) -> f64 {
    let (fours, rest) = row.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for lane in 0..4 {
            sums[lane] += values[four[lane] as usize];
        }
    }
    let rest: f64 = rest.iter().map(|&index| values[index as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Number of terms added in `f32`.
const F32_BLOCK: usize = 256;

/// Like [`gather`] for `f32` values: the error is a few `f32` roundings for any length of the row.
pub(crate) fn gather_f32(row: &[u32], values: &[f32]) -> f64 {
    let sum_block = |block: &[u32]| {
        let (eights, rest) = block.as_chunks::<8>();
        let mut sums = [0.0f32; 8];
        for eight in eights {
            for lane in 0..8 {
                sums[lane] += values[eight[lane] as usize];
            }
        }
        let rest: f32 = rest.iter().map(|&index| values[index as usize]).sum();
        let halves: [f32; 4] = std::array::from_fn(|lane| sums[lane] + sums[lane + 4]);
        f64::from((halves[0] + halves[1]) + (halves[2] + halves[3]) + rest)
    };
    if row.len() <= F32_BLOCK {
        return sum_block(row);
    }
    row.chunks(F32_BLOCK).map(sum_block).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_beside_a_large_one_are_not_lost() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        let values = [1e-16, 1.0];
        let row: Vec<u32> = std::iter::once(1).chain(std::iter::repeat_n(0, 1_000_000)).collect();
        assert!((gather(&row, &values) - (1.0 + 1e-10)).abs() < 1e-13);
    }
}
