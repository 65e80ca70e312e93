//! Discounts counts of the click log, so that unseen events get a part of them (Good 1953; Gao et al. 2009, §4;
//! 《走进搜索引擎》§6.4.6).
//!
//! Applied to the features that queries give to a page, such as the number of queries that led to it, and never to the
//! click counts themselves: there is no end of possible queries, and the clicks would dominate the text.

use std::collections::BTreeMap;

/// Discounted counts r* = (r + 1) · n_{r+1} / n_r below a cut-off; larger counts are reliable and kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discounts {
    by_count: Vec<f64>,
}

impl Discounts {
    /// Estimates the discounts from the count of every item, zeros included. Where n_r or n_{r+1} is zero, the count is kept.
    pub fn estimate(counts: impl IntoIterator<Item = u64>, cutoff: u64) -> Self {
        let mut items: BTreeMap<u64, u64> = BTreeMap::new();
        counts.into_iter().for_each(|count| *items.entry(count).or_default() += 1);
        let n = |r: u64| items.get(&r).copied().unwrap_or(0) as f64;
        let mut before = 0.0_f64;
        let discount = |r: u64| {
            let usable = n(r) > 0.0 && n(r + 1) > 0.0;
            let value = if usable { (r + 1) as f64 * n(r + 1) / n(r) } else { r as f64 };
            // A larger count never becomes smaller than a discounted smaller one.
            before = value.min((r.max(1)) as f64).max(before);
            before
        };
        Self { by_count: (0..cutoff.min(1000)).map(discount).collect() }
    }

    /// Returns the discounted count.
    pub fn discounted(&self, count: u64) -> f64 {
        usize::try_from(count)
            .ok()
            .and_then(|count| self.by_count.get(count))
            .copied()
            .unwrap_or(count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_queries_get_a_part_of_those_with_one() {
        // Ten pages without a query, four with one, two with two, one with nine.
        let counts = [vec![0; 10], vec![1; 4], vec![2; 2], vec![9]].concat();
        let discounts = Discounts::estimate(counts, 5);
        assert_eq!(discounts.discounted(0), 0.4);
        assert_eq!(discounts.discounted(1), 1.0);
        assert_eq!((discounts.discounted(2), discounts.discounted(9)), (2.0, 9.0));
        assert_eq!(Discounts::default().discounted(3), 3.0);
    }
}
