//! Refresh policies: the interval between two visits of a page from its change rate and weight.
//!
//! Each policy minimises or balances something under a budget of visits. Its threshold θ is the price of a visit: a higher
//! θ gives longer intervals, and one θ for all pages makes the visits of all pages add up to the budget
//! ([`DemandHistogram`](super::DemandHistogram) finds it). Rates and visits are per day.

use pharos_core::config::RefreshPolicyName;

/// Properties of a page that a policy considers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Change rate λ, in changes per day.
    pub rate: f64,
    /// Weight w: how much a delay of this page costs, relative to other pages.
    pub weight: f64,
}

/// Chooses the interval between two visits of a page.
pub trait RefreshPolicy: Send + Sync {
    /// Returns the interval in days at the threshold θ. Infinite if the page is not worth a visit.
    fn interval(&self, page: Demand, threshold: f64) -> f64;
}

/// Returns the policy of a name. The paper's policy decides by the state of each page
/// ([`VisitControl`](super::VisitControl)); where a page has none, it acts as the uniform policy.
pub fn policy_by_name(name: RefreshPolicyName) -> &'static dyn RefreshPolicy {
    match name {
        RefreshPolicyName::Uniform | RefreshPolicyName::Paper => &Uniform,
        RefreshPolicyName::Proportional => &Proportional,
        RefreshPolicyName::Freshness => &Freshness,
        RefreshPolicyName::Harmonic => &Harmonic,
        RefreshPolicyName::Lag => &Lag,
    }
}

/// The same interval for all pages (统一重访, 《走进搜索引擎》§2.4.5).
pub struct Uniform;

impl RefreshPolicy for Uniform {
    fn interval(&self, _: Demand, threshold: f64) -> f64 {
        threshold
    }
}

/// Visits in proportion to the change rate: λ/f is the same for all pages (个体重访, 《走进搜索引擎》§2.4.5).
///
/// Its mean lag equals that of the uniform policy (Cho & Garcia-Molina, *Effective page refresh policies for web
/// crawlers*, TODS 2003, §4.3).
pub struct Proportional;

impl RefreshPolicy for Proportional {
    fn interval(&self, page: Demand, threshold: f64) -> f64 {
        threshold / page.rate
    }
}

/// Minimises the weighted mean lag: the time from a change to the visit that collects it.
///
/// A change waits half an interval on average, so that f visits a day cost wλ/(2f). The optimum under a budget is
/// f ∝ √(wλ) (Lagrange; Sia, Cho & Cho, *Efficient monitoring algorithm for fast news alerts*, TKDE 2007, §4). The
/// same rule as a priority: a page is due when V = wλτ² reaches θ, τ being the time since the last visit. No page
/// starves.
pub struct Lag;

impl RefreshPolicy for Lag {
    fn interval(&self, page: Demand, threshold: f64) -> f64 {
        (threshold / (page.weight * page.rate)).sqrt()
    }
}

/// Maximises the weighted time in which the stored copy is current (freshness).
///
/// All visited pages have the same marginal gain (w/λ)·[1 − (1 + λ/f)·e^(−λ/f)] = θ (Cho & Garcia-Molina 2003, §4.4).
/// Pages with λ/w ≥ 1/θ change too fast to be kept current and are given up.
pub struct Freshness;

impl RefreshPolicy for Freshness {
    fn interval(&self, page: Demand, threshold: f64) -> f64 {
        let gain = threshold * page.rate / page.weight;
        if gain >= 1.0 { f64::INFINITY } else { changes_at_gain(gain) / page.rate }
    }
}

/// Returns the x > 0 with 1 − (1 + x)·e⁻ˣ = `gain`.
fn changes_at_gain(gain: f64) -> f64 {
    // The left side is x²/2 − x³/3 + … near zero, where it cannot be computed from its definition.
    if gain < 1e-8 {
        return (2.0 * gain.max(0.0)).sqrt();
    }
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..45 {
        let middle = 0.5 * (low + high);
        if 1.0 - (1.0 + middle) * f64::exp(-middle) < gain { low = middle } else { high = middle }
    }
    high
}

/// Minimises a penalty that grows with the harmonic number of missed changes (LambdaCrawl: Kolobov, Peres, Lu &
/// Horvitz, *Staying up to date with online content changes using reinforcement learning for scheduling*, NeurIPS 2019, §4).
///
/// f = ½·(−λ + √(λ² + 4wλ/θ)). Every page is visited.
pub struct Harmonic;

impl RefreshPolicy for Harmonic {
    fn interval(&self, page: Demand, threshold: f64) -> f64 {
        let product = page.weight * page.rate / threshold;
        // 1/f, with the numerator made rational: the difference above loses all digits for a large λ.
        (page.rate + (page.rate * page.rate + 4.0 * product).sqrt()) / (2.0 * product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [&dyn RefreshPolicy; 5] = [&Uniform, &Proportional, &Lag, &Freshness, &Harmonic];

    fn demand(rate: f64, weight: f64) -> Demand {
        Demand { rate, weight }
    }

    #[test]
    fn the_lag_policy_follows_the_square_root_law() {
        // V = w·λ·τ² = 2·0.5·3² = 9.
        assert_eq!(Lag.interval(demand(0.5, 2.0), 9.0), 3.0);
        let (slow, fast) = (Lag.interval(demand(1.0, 1.0), 1.0), Lag.interval(demand(4.0, 1.0), 1.0));
        assert_eq!(slow / fast, 2.0, "four times as many changes get twice as many visits");
    }

    #[test]
    fn the_harmonic_policy_solves_its_quadratic() {
        let (rate, weight, price) = (0.7, 3.0, 0.2);
        let f = 1.0 / Harmonic.interval(demand(rate, weight), price);
        assert!((f * f + rate * f - weight * rate / price).abs() < 1e-9);
    }

    #[test]
    fn the_freshness_policy_equalises_the_marginal_gain_and_gives_up_fast_pages() {
        for (rate, weight) in [(0.1, 1.0), (1.0, 1.0), (3.0, 2.0), (1e-4, 1.0)] {
            let x = rate * Freshness.interval(demand(rate, weight), 0.5);
            let gain = weight / rate * (1.0 - (1.0 + x) * (-x).exp());
            assert!((gain - 0.5).abs() < 1e-4, "{rate} {weight}: {gain}");
        }
        assert_eq!(Freshness.interval(demand(2.0, 1.0), 0.5), f64::INFINITY);
        assert!(Freshness.interval(demand(1.9, 1.0), 0.5).is_finite());
    }

    #[test]
    fn the_individual_policy_keeps_rate_and_visits_in_proportion() {
        let ratio = |rate: f64| rate * Proportional.interval(demand(rate, 1.0), 3.0);
        assert_eq!((ratio(0.5), ratio(2.0)), (3.0, 3.0));
        assert_eq!(Uniform.interval(demand(9.0, 9.0), 3.0), 3.0);
    }

    proptest! {
        #[test]
        fn intervals_are_positive_and_grow_with_the_threshold(
            rate in -11.5f64..7.2, weight in -7.0f64..7.0, theta in -30.0f64..30.0, more in 0.0f64..5.0,
        ) {
            let page = demand(rate.exp(), weight.exp());
            for policy in ALL {
                let (low, high) =
                    (policy.interval(page, theta.exp()), policy.interval(page, (theta + more).exp()));
                prop_assert!(low > 0.0 && high >= low * (1.0 - 1e-6), "{low} {high}");
            }
        }
    }
}
