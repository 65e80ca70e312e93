//! Sums whose rounding error does not grow with their length.

/// Compensated summation (Neumaier 1974): the error is about one rounding of the result, however many terms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost +=
            if self.sum.abs() >= term.abs() { (self.sum - sum) + term } else { (term - sum) + self.sum };
        self.sum = sum;
    }

    pub(crate) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// The sum of all terms.
pub(crate) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = Sum::default();
    terms.into_iter().for_each(|term| total.add(term));
    total.value()
}

/// Terms of a row that are added plainly before they join the compensated sum.
const BLOCK: usize = 1024;

/// Roundings that a term of [`gather`] goes through at most, generously counted.
pub(crate) const GATHER_ROUNDINGS: f64 = (BLOCK / 4 + 8) as f64;

/// The sum of `values` at the places in `row`: four sums side by side in blocks, blocks compensated. As fast as a plain
/// loop, and the error does not grow with the row.
pub(crate) fn gather<V: Copy + Into<f64>>(row: &[u32], values: &[V]) -> f64 {
    if row.len() <= BLOCK {
        return gather_block(row, values);
    }
    sum(row.chunks(BLOCK).map(|block| gather_block(block, values)))
}

fn gather_block<V: Copy + Into<f64>>(row: &[u32], values: &[V]) -> f64 {
    let (fours, rest) = row.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for lane in 0..4 {
            sums[lane] += values[four[lane] as usize].into();
        }
    }
    let rest: f64 = rest.iter().map(|&place| values[place as usize].into()).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
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
