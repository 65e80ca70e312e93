//! Link weight (《搜索引擎——原理、技术与系统》§10.3): in-links from other domains, with a compensation for new pages.
//!
//! WL'(p) = log(LHN(p) + 1) + WLT(p), divided by the maximum over all pages. LHN comes from
//! [`link_counts`](crate::rank::link_counts); WLT compensates new pages for links that they cannot have yet.

use crate::GraphError;

/// Options of the compensation for new pages. Times are Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshnessOptions {
    /// Age from which a page gets no compensation: Tnow − Tst in the book, which gives no value. Thirty days are the
    /// choice of this implementation.
    pub window_seconds: i64,
    /// Lower bound of a page's age. The formula of the book is infinite for a page published now. With one day and
    /// thirty days, the newest page gets the weight of 29 in-links.
    pub youngest_seconds: i64,
}

impl Default for FreshnessOptions {
    fn default() -> Self {
        Self { window_seconds: 30 * 86_400, youngest_seconds: 86_400 }
    }
}

/// Returns WLT(p) = log(Tnow − Tst) − log(Tnow − T(p)) for a page published after the threshold Tst, else 0.
///
/// A page without a known time gets 0. Times in the future count as now, and ages are at least
/// [`FreshnessOptions::youngest_seconds`].
pub fn time_compensation(published: Option<i64>, now: i64, options: FreshnessOptions) -> f64 {
    let Some(published) = published else { return 0.0 };
    let age = now.saturating_sub(published).max(options.youngest_seconds).max(1);
    if age >= options.window_seconds {
        return 0.0;
    }
    (options.window_seconds as f64).ln() - (age as f64).ln()
}

/// Computes WL(p) of every page, from 0 to 1.
pub fn link_weights(
    link_hits: &[u32],
    published: &[Option<i64>],
    now: i64,
    options: FreshnessOptions,
) -> Result<Vec<f64>, GraphError> {
    let (found, expected) = (published.len(), link_hits.len());
    if found != expected {
        return Err(GraphError::TableLength { table: "publication times", found, expected });
    }
    let weight = |(&hits, &time): (&u32, &Option<i64>)| {
        f64::from(hits).ln_1p() + time_compensation(time, now, options)
    };
    let mut weights: Vec<f64> = link_hits.iter().zip(published).map(weight).collect();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= largest);
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400;
    const NOW: i64 = 1_000 * DAY;

    #[test]
    fn old_pages_get_nothing_and_new_ones_something_finite() {
        let options = FreshnessOptions::default();
        let compensation = |published| time_compensation(published, NOW, options);
        assert_eq!(compensation(Some(NOW - 30 * DAY)), 0.0);
        assert_eq!(compensation(Some(0)), 0.0);
        assert_eq!(compensation(None), 0.0);
        assert!((compensation(Some(NOW - 15 * DAY)) - 2f64.ln()).abs() < 1e-12);
        assert!((compensation(Some(NOW)) - 30f64.ln()).abs() < 1e-12);
        assert_eq!(compensation(Some(NOW + DAY)), compensation(Some(NOW)));
    }

    #[test]
    fn the_heaviest_page_weighs_one() {
        let options = FreshnessOptions::default();
        let weights = link_weights(&[0, 3, 59], &[Some(NOW), None, None], NOW, options).unwrap();
        assert!((weights[0] - 30f64.ln() / 60f64.ln()).abs() < 1e-12);
        assert_eq!(weights[2], 1.0);
        assert_eq!(link_weights(&[0, 0], &[None, None], NOW, options).unwrap(), [0.0, 0.0]);
        assert!(link_weights(&[0], &[], NOW, options).is_err());
    }

    proptest! {
        #[test]
        fn any_times_and_rules_give_finite_values(
            published in any::<Option<i64>>(), now in any::<i64>(), window in any::<i64>(), youngest in any::<i64>(),
        ) {
            let options = FreshnessOptions { window_seconds: window, youngest_seconds: youngest };
            let found = time_compensation(published, now, options);
            prop_assert!(found.is_finite() && found >= 0.0);
        }
    }
}
