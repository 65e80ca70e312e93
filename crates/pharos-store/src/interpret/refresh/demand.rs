//! Finds the threshold θ at which the visits of all pages add up to a budget.

use super::change_history::{MAX_RATE, MIN_RATE};
use super::policy::{Demand, RefreshPolicy};

/// Bins per factor of e, for rates and for weights. Pages within a bin differ by 13 % at most.
const RESOLUTION: f64 = 8.0;

/// Weights outside this range are treated as its ends.
pub const MIN_WEIGHT: f64 = 1.0 / 4096.0;
/// See [`MIN_WEIGHT`].
pub const MAX_WEIGHT: f64 = 4096.0;

/// Number of bins of rates and of weights.
const RATES: usize = 152;
const WEIGHTS: usize = 136;

/// Number of pages by change rate and weight, in logarithmic bins.
#[derive(Clone, Debug)]
pub struct DemandHistogram {
    pages: Vec<u64>,
    total: u64,
}

/// Bounds of every interval, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalBounds {
    pub shortest: f64,
    pub longest: f64,
}

impl IntervalBounds {
    /// Returns the interval within the bounds. The longest interval wins where they contradict each other.
    pub fn apply(&self, interval: f64) -> f64 {
        interval.max(self.shortest).min(self.longest)
    }
}

impl Default for DemandHistogram {
    fn default() -> Self {
        Self { pages: vec![0; RATES * WEIGHTS], total: 0 }
    }
}

impl DemandHistogram {
    /// Returns the bin of a page.
    pub fn bin(page: Demand) -> u16 {
        let index = |value: f64, low: f64, high: f64, bins: usize| {
            let position = (value.clamp(low, high) / low).ln() * RESOLUTION;
            (position as usize).min(bins - 1)
        };
        let rate = index(page.rate, MIN_RATE, MAX_RATE, RATES);
        let weight = index(page.weight, MIN_WEIGHT, MAX_WEIGHT, WEIGHTS);
        (rate * WEIGHTS + weight) as u16
    }

    /// Counts a page in a bin returned by [`bin`](Self::bin).
    pub fn add(&mut self, bin: u16) {
        self.pages[usize::from(bin)] += 1;
        self.total += 1;
    }

    /// Removes a page from the bin in which it was counted.
    pub fn remove(&mut self, bin: u16) {
        let count = &mut self.pages[usize::from(bin)];
        self.total -= (*count).min(1);
        *count = count.saturating_sub(1);
    }

    /// Returns the number of pages.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of pages by change rate: the middle of each bin that is not empty, and its pages.
    pub fn rates(&self) -> Vec<(f64, u64)> {
        let sums = self.pages.chunks(WEIGHTS).map(|weights| weights.iter().sum::<u64>());
        sums.enumerate()
            .filter(|(_, pages)| *pages > 0)
            .map(|(bin, pages)| (middle(bin, MIN_RATE), pages))
            .collect()
    }

    /// Returns the number of visits a day that a policy makes at the threshold θ.
    pub fn visits(&self, policy: &dyn RefreshPolicy, threshold: f64, bounds: &IntervalBounds) -> f64 {
        count_visits(&self.occupied().collect::<Vec<_>>(), policy, threshold, bounds)
    }

    /// Returns the threshold θ at which a policy makes `budget` visits a day, by bisection of ln θ. Where the bounds do
    /// not allow the budget, the result is the nearest threshold.
    pub fn solve(&self, policy: &dyn RefreshPolicy, budget: f64, bounds: &IntervalBounds) -> f64 {
        let pages: Vec<_> = self.occupied().collect();
        let (mut low, mut high) = (-50.0f64, 50.0f64);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if count_visits(&pages, policy, middle.exp(), bounds) > budget {
                low = middle
            } else {
                high = middle
            }
        }
        high.exp()
    }

    /// Returns the weighted mean lag in days that a policy is expected to have: half an interval for each change.
    pub fn expected_lag(&self, policy: &dyn RefreshPolicy, threshold: f64, bounds: &IntervalBounds) -> f64 {
        let (mut lag, mut changes) = (0.0, 0.0);
        for (page, count) in self.occupied() {
            let weight = count * page.weight * page.rate;
            lag += weight * bounds.apply(policy.interval(page, threshold)) / 2.0;
            changes += weight;
        }
        if changes > 0.0 { lag / changes } else { 0.0 }
    }

    fn occupied(&self) -> impl Iterator<Item = (Demand, f64)> {
        self.pages.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, count)| {
            let page =
                Demand { rate: middle(bin / WEIGHTS, MIN_RATE), weight: middle(bin % WEIGHTS, MIN_WEIGHT) };
            (page, *count as f64)
        })
    }
}

fn count_visits(
    pages: &[(Demand, f64)],
    policy: &dyn RefreshPolicy,
    threshold: f64,
    bounds: &IntervalBounds,
) -> f64 {
    pages.iter().map(|(page, count)| count / bounds.apply(policy.interval(*page, threshold))).sum()
}

fn middle(bin: usize, low: f64) -> f64 {
    low * ((bin as f64 + 0.5) / RESOLUTION).exp()
}

#[cfg(test)]
mod tests {
    use super::super::policy::{Freshness, Harmonic, Lag, Proportional, Uniform};
    use super::*;

    const OPEN: IntervalBounds = IntervalBounds { shortest: 0.0, longest: f64::INFINITY };

    fn pages(rates: &[f64]) -> DemandHistogram {
        let mut histogram = DemandHistogram::default();
        rates
            .iter()
            .for_each(|rate| histogram.add(DemandHistogram::bin(Demand { rate: *rate, weight: 1.0 })));
        histogram
    }

    #[test]
    fn the_bins_cover_all_rates_and_weights() {
        for (rate, weight) in [(MIN_RATE, MIN_WEIGHT), (MAX_RATE, MAX_WEIGHT), (0.1, 1.0)] {
            let mut histogram = DemandHistogram::default();
            histogram.add(DemandHistogram::bin(Demand { rate, weight }));
            let (found, _) = histogram.occupied().next().unwrap();
            assert!((found.rate / rate).ln().abs() < 0.13 && (found.weight / weight).ln().abs() < 0.13);
        }
        assert!(RATES as f64 > (MAX_RATE / MIN_RATE).ln() * RESOLUTION);
        assert!(WEIGHTS as f64 > (MAX_WEIGHT / MIN_WEIGHT).ln() * RESOLUTION);
    }

    #[test]
    fn the_visits_of_every_policy_add_up_to_the_budget() {
        let rates: Vec<f64> = (0..200).map(|page| 0.01 * 1.05f64.powi(page)).collect();
        let histogram = pages(&rates);
        for policy in [&Uniform as &dyn RefreshPolicy, &Proportional, &Lag, &Harmonic, &Freshness] {
            let threshold = histogram.solve(policy, 17.0, &OPEN);
            let visits = histogram.visits(policy, threshold, &OPEN);
            assert!((visits / 17.0 - 1.0).abs() < 0.06, "{visits}");
        }
    }

    #[test]
    fn bounds_hold_and_leave_a_budget_unused() {
        let histogram = pages(&[1.0; 10]);
        let bounds = IntervalBounds { shortest: 0.5, longest: 4.0 };
        let visits = |budget| histogram.visits(&Lag, histogram.solve(&Lag, budget, &bounds), &bounds);
        assert_eq!((visits(1e6), visits(0.001)), (20.0, 2.5));
    }

    /// The mean lag of the proportional policy equals that of the uniform one, and the lag policy has (E√λ)²/E[λ] of it.
    #[test]
    fn only_the_square_root_law_reduces_the_lag() {
        let histogram = pages(&[0.01, 0.1, 1.0, 10.0]);
        let lag = |policy: &dyn RefreshPolicy| {
            histogram.expected_lag(policy, histogram.solve(policy, 2.0, &OPEN), &OPEN)
        };
        let (uniform, proportional, best) = (lag(&Uniform), lag(&Proportional), lag(&Lag));
        assert!((proportional / uniform - 1.0).abs() < 0.01);
        let roots: f64 = histogram.occupied().map(|(page, _)| page.rate.sqrt()).sum();
        let rates: f64 = histogram.occupied().map(|(page, _)| page.rate).sum();
        assert!((best / uniform - roots * roots / (4.0 * rates)).abs() < 0.01);
    }

    #[test]
    fn pages_can_be_moved_between_bins() {
        let mut histogram = pages(&[1.0]);
        let bin = DemandHistogram::bin(Demand { rate: 1.0, weight: 1.0 });
        histogram.remove(bin);
        histogram.remove(bin);
        assert_eq!(histogram.total(), 0);
    }
}
