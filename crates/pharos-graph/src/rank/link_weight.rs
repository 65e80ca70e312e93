//! The link weight of 《搜索引擎—原理、技术与系统》 §10.3: in-links from elsewhere, with something added for new pages,
//! to which nobody could link yet.
//!
//! WL'(p) = log(LHN(p) + 1) + WLT(p), divided by the largest of all pages; LHN comes from
//! [`link_counts`](crate::rank::link_counts).

use crate::GraphError;

/// How new pages are compensated. Times are seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshnessOptions {
    /// Pages older than this get nothing: Tnow − Tst of the book, which gives no value. Thirty days are ours.
    pub window_seconds: i64,
    /// No page counts as younger than this. The book's formula is infinite for a page published now; with a day and
    /// thirty days, the newest page is worth as much as 29 in-links.
    pub youngest_seconds: i64,
}

impl Default for FreshnessOptions {
    fn default() -> Self {
        Self { window_seconds: 30 * 86_400, youngest_seconds: 86_400 }
    }
}

/// WLT(p) = log(Tnow − Tst) − log(Tnow − T(p)) for a page published after the threshold Tst, else 0.
///
/// A page of unknown time gets nothing; one from the future counts as published now, and now is clamped, see
/// [`FreshnessOptions::youngest_seconds`].
pub fn time_compensation(published: Option<i64>, now: i64, rules: FreshnessOptions) -> f64 {
    let Some(published) = published else { return 0.0 };
    let age = now.saturating_sub(published).max(rules.youngest_seconds).max(1);
    if age >= rules.window_seconds {
        return 0.0;
    }
    (rules.window_seconds as f64).ln() - (age as f64).ln()
}

/// WL(p) of every page, from 0 to 1.
pub fn link_weights(
    link_hits: &[u32],
    published: &[Option<i64>],
    now: i64,
    rules: FreshnessOptions,
) -> Result<Vec<f64>, GraphError> {
    let (found, expected) = (published.len(), link_hits.len());
    if found != expected {
        return Err(GraphError::TableLength { table: "times of publication", found, expected });
    }
    let weight =
        |(&hits, &time): (&u32, &Option<i64>)| f64::from(hits).ln_1p() + time_compensation(time, now, rules);
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
        let rules = FreshnessOptions::default();
        let compensation = |published| time_compensation(published, NOW, rules);
        assert_eq!(compensation(Some(NOW - 30 * DAY)), 0.0);
        assert_eq!(compensation(Some(0)), 0.0);
        assert_eq!(compensation(None), 0.0);
        assert!((compensation(Some(NOW - 15 * DAY)) - 2f64.ln()).abs() < 1e-12);
        assert!((compensation(Some(NOW)) - 30f64.ln()).abs() < 1e-12);
        assert_eq!(compensation(Some(NOW + DAY)), compensation(Some(NOW)));
    }

    #[test]
    fn the_heaviest_page_weighs_one() {
        let rules = FreshnessOptions::default();
        let weights = link_weights(&[0, 3, 59], &[Some(NOW), None, None], NOW, rules).unwrap();
        assert!((weights[0] - 30f64.ln() / 60f64.ln()).abs() < 1e-12);
        assert_eq!(weights[2], 1.0);
        assert_eq!(link_weights(&[0, 0], &[None, None], NOW, rules).unwrap(), [0.0, 0.0]);
        assert!(link_weights(&[0], &[], NOW, rules).is_err());
    }

    proptest! {
        #[test]
        fn any_times_and_rules_give_finite_values(
            published in any::<Option<i64>>(), now in any::<i64>(), window in any::<i64>(), youngest in any::<i64>(),
        ) {
            let rules = FreshnessOptions { window_seconds: window, youngest_seconds: youngest };
            let found = time_compensation(published, now, rules);
            prop_assert!(found.is_finite() && found >= 0.0);
        }
    }
}
