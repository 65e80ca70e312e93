//! Estimate of a page's change rate λ from its visits, with two numbers per page.
//!
//! Changes are assumed to follow a Poisson process (Cho & Garcia-Molina, *Estimating frequency of change*, TOIT 2003,
//! §2). A visit reveals only whether the page changed at least once since the last visit. The estimate is a Gamma
//! distribution of λ with shape α and rate β. A visit after τ days multiplies its density by e^(−λτ) if the page is
//! unchanged, which gives exactly the Gamma distribution with β + τ, and by 1 − e^(−λτ) if it changed. The result of the
//! latter is replaced by the Gamma distribution of the same mean and variance (assumed-density filtering: Minka, *A
//! family of algorithms for approximate Bayesian inference*, 2001, §3.1). Old visits are forgotten exponentially, so
//! that the estimate follows a page whose habits change.

/// Share of the history that remains after one more visit (γ): about the last 50 visits count.
const MEMORY: f64 = 0.98;

/// Longest time between two visits that is counted, in days. Bounds the effect of a wrong clock.
const MAX_ELAPSED: f64 = 366.0;

/// Largest change rate that is returned, in changes per day: one per minute.
pub const MAX_RATE: f64 = 1_440.0;

/// Smallest change rate that is returned, in changes per day: one in 270 years.
pub const MIN_RATE: f64 = 1e-5;

/// The estimated change rate of a page: a Gamma distribution, with exponential forgetting. Empty before the first visit
/// that can be compared with an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChangeHistory {
    shape: f32,
    days: f32,
}

/// Prior of a change rate: a Gamma distribution, written as changes seen in a number of days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePrior {
    shape: f64,
    days: f64,
}

impl RatePrior {
    /// Creates the prior with this mean, in changes per day, that weighs as much as `strength` observed changes.
    pub fn new(mean: f64, strength: f64) -> Self {
        let mean = mean.clamp(MIN_RATE, MAX_RATE);
        Self { shape: strength, days: strength / mean }
    }

    /// Returns the mean, in changes per day.
    pub fn mean(&self) -> f64 {
        self.shape / self.days
    }
}

impl ChangeHistory {
    /// Adds a visit `elapsed` days after the previous one. Returns the expected number of changes in between. A visit
    /// without elapsed time, or with a time that is not finite, is ignored.
    pub fn observe(&mut self, elapsed: f64, changed: bool, prior: &RatePrior) -> f64 {
        if !(elapsed > 0.0 && elapsed.is_finite()) {
            return 0.0;
        }
        let elapsed = elapsed.min(MAX_ELAPSED);
        let (before_shape, before_days) = self.gamma(prior);
        let shape = before_shape * MEMORY + prior.shape * (1.0 - MEMORY);
        let days = before_days * MEMORY + prior.days * (1.0 - MEMORY);
        let (shape, days) =
            if changed { after_change(shape, days, elapsed) } else { (shape, days + elapsed) };
        (self.shape, self.days) = (shape as f32, days as f32);
        if changed { expected_changes(self.rate(prior) * elapsed) } else { 0.0 }
    }

    /// Returns the estimated change rate λ, in changes per day: the mean of the distribution.
    pub fn rate(&self, prior: &RatePrior) -> f64 {
        let (shape, days) = self.gamma(prior);
        let rate = shape / days;
        if rate.is_finite() { rate.clamp(MIN_RATE, MAX_RATE) } else { prior.mean() }
    }

    fn gamma(&self, prior: &RatePrior) -> (f64, f64) {
        if self.is_empty() {
            (prior.shape, prior.days)
        } else {
            (f64::from(self.shape), f64::from(self.days))
        }
    }

    /// Returns `true` if the page was never visited twice.
    pub fn is_empty(&self) -> bool {
        self.days <= 0.0
    }

    /// Returns the observed time in days, with forgetting and the time of the prior.
    pub fn days(&self) -> f64 {
        f64::from(self.days)
    }

    /// Packs the history into 64 bits.
    pub fn to_bits(self) -> u64 {
        u64::from(self.shape.to_bits()) << 32 | u64::from(self.days.to_bits())
    }

    /// Unpacks a history. Numbers that no history contains give an empty one.
    pub fn from_bits(bits: u64) -> Self {
        let history = Self { shape: f32::from_bits((bits >> 32) as u32), days: f32::from_bits(bits as u32) };
        let is_valid = |number: f32| number.is_finite() && number > 0.0;
        if is_valid(history.shape) && is_valid(history.days) { history } else { Self::default() }
    }
}

/// Returns the Gamma distribution with the mean and variance of λ after a change within `elapsed` days.
///
/// The density λ^(α−1)·e^(−βλ)·(1 − e^(−τλ)) has the moments E[λ] = α/β·u₁/u₀ and E[λ²] = α(α+1)/β²·u₂/u₀, with
/// uₖ = 1 − (β/(β+τ))^(α+k).
fn after_change(shape: f64, days: f64, elapsed: f64) -> (f64, f64) {
    let log = -(elapsed / days).ln_1p();
    let u = |k: f64| -((shape + k) * log).exp_m1();
    let mean = shape / days * u(1.0) / u(0.0);
    let square = shape * (shape + 1.0) / (days * days) * u(2.0) / u(0.0);
    let variance = square - mean * mean;
    let days_after = mean / variance;
    if variance > 0.0 && days_after.is_finite() && mean.is_finite() {
        (mean * days_after, days_after)
    } else {
        (shape + 1.0, days)
    }
}

/// Returns the expected number of changes of a Poisson process with mean `x`, given that there is at least one.
fn expected_changes(x: f64) -> f64 {
    if x < 1e-6 { 1.0 } else { x / -(-x).exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_change_counts_as_the_changes_expected_given_at_least_one() {
        assert_eq!(expected_changes(0.0), 1.0);
        assert!((expected_changes(1.0) - 1.581_976_7).abs() < 1e-6);
        assert!((expected_changes(50.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn the_prior_decides_before_the_first_visit_and_fades() {
        let prior = RatePrior::new(0.5, 2.0);
        let mut page = ChangeHistory::default();
        assert!((page.rate(&prior) - 0.5).abs() < 1e-9);
        page.observe(4.0, false, &prior);
        assert!(
            (page.rate(&prior) - 2.0 / 8.0).abs() < 1e-6,
            "two changes in four prior and four observed days"
        );
        for _ in 0..400 {
            page.observe(10.0, false, &prior);
        }
        assert!(page.rate(&prior) < 0.005);
    }

    /// Visits at intervals of λτ = 1 find a change with probability 1 − 1/e.
    #[test]
    fn the_estimate_converges_to_the_true_rate() {
        let prior = RatePrior::new(5.0, 0.5);
        let mut page = ChangeHistory::default();
        let (mut credit, mut sum) = (0.0, 0.0);
        for visit in 0..4_000 {
            credit += 1.0 - (-1.0f64).exp();
            let changed = credit >= 1.0;
            credit -= if changed { 1.0 } else { 0.0 };
            page.observe(10.0, changed, &prior);
            sum += if visit >= 2_000 { page.rate(&prior) } else { 0.0 };
        }
        let mean = sum / 2_000.0;
        assert!((mean / 0.1 - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn a_changed_habit_is_followed() {
        let prior = RatePrior::new(1.0, 0.5);
        let mut page = ChangeHistory::default();
        (0..300).for_each(|_| {
            page.observe(1.0, false, &prior);
        });
        let quiet = page.rate(&prior);
        (0..100).for_each(|visit| {
            page.observe(1.0, visit % 2 == 0, &prior);
        });
        assert!(page.rate(&prior) > 50.0 * quiet);
    }

    proptest! {
        #[test]
        fn hostile_input_keeps_the_rate_within_bounds(
            visits in prop::collection::vec((any::<f64>(), any::<bool>()), 0..50), bits: u64,
        ) {
            let prior = RatePrior::new(0.1, 1.0);
            let mut page = ChangeHistory::from_bits(bits);
            for (elapsed, changed) in visits {
                page.observe(elapsed, changed, &prior);
                prop_assert!((MIN_RATE..=MAX_RATE).contains(&page.rate(&prior)));
                let again = ChangeHistory::from_bits(page.to_bits());
                prop_assert!(again == page || again == ChangeHistory::default());
            }
        }
    }
}
