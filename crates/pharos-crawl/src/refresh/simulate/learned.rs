//! Intervals by a policy and learned change rates.

use pharos_store::interpret::refresh::{
    ChangeHistory, Demand, DemandHistogram, IntervalBounds, Lag, MAX_RATE, MIN_RATE, PRIOR_STRENGTH,
    RatePrior, RefreshPolicy,
};

use super::super::trace::{Trace, TracePage};
use super::{SimulatedVisit, SimulationOptions, VisitIntervals};

/// Number of changes of a site at which its own mean counts as much as that of all sites.
const SITE_STRENGTH: f64 = 5.0;

/// A policy that solves for its threshold θ at regular times, with rates learned from the visits or known.
pub struct LearnedIntervals {
    policy: &'static dyn RefreshPolicy,
    budget: f64,
    bounds: IntervalBounds,
    threshold: f64,
    pages: Vec<PageEstimate>,
    /// Changes and days of each site, and of all.
    sites: Vec<(f64, f64)>,
    all: (f64, f64),
    knows_rates: bool,
}

#[derive(Clone, Copy, Debug)]
struct PageEstimate {
    history: ChangeHistory,
    site: u32,
    weight: f32,
    known_rate: f32,
    is_observed: bool,
}

impl LearnedIntervals {
    /// Creates the intervals of a policy.
    pub fn new(policy: &'static dyn RefreshPolicy, trace: &Trace, options: &SimulationOptions) -> Self {
        let pages = trace.pages();
        let mean_weight =
            pages.iter().map(|page| f64::from(page.weight)).sum::<f64>() / pages.len().max(1) as f64;
        let scale = if mean_weight > 0.0 { 1.0 / mean_weight } else { 1.0 };
        let estimate = |page: &TracePage| PageEstimate {
            history: ChangeHistory::default(),
            site: page.site,
            weight: (f64::from(page.weight) * scale) as f32,
            known_rate: page.known_rate() as f32,
            is_observed: false,
        };
        let sites = pages.iter().map(|page| page.site as usize + 1).max().unwrap_or(0);
        // Without any observation, one change between two visits is assumed.
        let prior_days = pages.len().max(1) as f64 / options.budget;
        Self {
            policy,
            budget: options.budget,
            bounds: IntervalBounds { shortest: 0.0, longest: options.longest },
            threshold: prior_days,
            pages: pages.iter().map(estimate).collect(),
            sites: vec![(0.0, 0.0); sites],
            all: (1.0, prior_days),
            knows_rates: false,
        }
    }

    /// Creates the lag policy with known change rates, as a bound of what any estimate can reach.
    pub fn oracle(trace: &Trace, options: &SimulationOptions) -> Self {
        Self { knows_rates: true, ..Self::new(&Lag, trace, options) }
    }

    /// Returns the prior of the pages of a site: its mean change rate, drawn towards that of all sites.
    fn prior(&self, site: u32) -> RatePrior {
        let mean = self.all.0 / self.all.1;
        let (changes, days) = self.sites[site as usize];
        RatePrior::new((changes + SITE_STRENGTH) / (days + SITE_STRENGTH / mean), PRIOR_STRENGTH)
    }

    fn demand(&self, number: usize) -> Demand {
        let page = &self.pages[number];
        let rate = if self.knows_rates {
            f64::from(page.known_rate).clamp(MIN_RATE, MAX_RATE)
        } else {
            page.history.rate(&self.prior(page.site))
        };
        Demand { rate, weight: f64::from(page.weight).max(1e-9) }
    }
}

impl VisitIntervals for LearnedIntervals {
    fn start(&mut self, number: usize, _: &TracePage) -> f64 {
        self.pages[number].is_observed = true;
        self.current(number)
    }

    fn next(&mut self, number: usize, visit: &SimulatedVisit) -> f64 {
        let prior = self.prior(self.pages[number].site);
        let page = &mut self.pages[number];
        let found = page.history.observe(visit.elapsed, visit.changes > 0, &prior);
        let site = &mut self.sites[page.site as usize];
        for sum in [site, &mut self.all] {
            sum.0 += found;
            sum.1 += visit.elapsed;
        }
        self.current(number)
    }

    fn end(&mut self, number: usize) {
        self.pages[number].is_observed = false;
    }

    fn plan(&mut self) -> bool {
        let mut histogram = DemandHistogram::default();
        for number in (0..self.pages.len()).filter(|number| self.pages[*number].is_observed) {
            histogram.add(DemandHistogram::bin(self.demand(number)));
        }
        self.threshold = histogram.solve(self.policy, self.budget, &self.bounds);
        true
    }

    fn current(&self, number: usize) -> f64 {
        self.bounds.apply(self.policy.interval(self.demand(number), self.threshold))
    }
}
