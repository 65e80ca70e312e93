//! Measures of a simulation.

use serde::Serialize;

use super::super::trace::TracePage;

/// Bins of lags per factor of e; a quantile is accurate to 1 %.
const RESOLUTION: f64 = 100.0;
const BINS: usize = 2_400;

/// Figures of a policy on a trace. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyFigures {
    /// Weighted mean time from a change to the visit that collects it. A change that was never collected counts with the
    /// time until the end of the observation.
    pub mean_lag: f64,
    /// Lag that nine of ten changes, by weight, do not exceed.
    pub p90_lag: f64,
    /// Weighted share of time in which the stored copy was current.
    pub freshness: f64,
    /// Share of visits that found no change.
    pub useless_share: f64,
    /// Longest time in which a page was not visited.
    pub longest_unvisited: f64,
    pub visits: u64,
    pub changes: u64,
    /// Changes that no visit collected.
    pub uncollected: u64,
    /// Cumulative share of changes, by weight, at increasing lags.
    #[serde(skip)]
    pub distribution: Vec<(f64, f64)>,
}

/// Sums from which the figures follow.
pub(super) struct Measures {
    visits: u64,
    useless: u64,
    changes: u64,
    uncollected: u64,
    lag: f64,
    weight_of_changes: f64,
    lags: Vec<f64>,
    fresh: f64,
    observed: f64,
    longest: f64,
}

impl Default for Measures {
    fn default() -> Self {
        Self {
            visits: 0,
            useless: 0,
            changes: 0,
            uncollected: 0,
            lag: 0.0,
            weight_of_changes: 0.0,
            lags: vec![0.0; BINS],
            fresh: 0.0,
            observed: 0.0,
            longest: 0.0,
        }
    }
}

impl Measures {
    /// Records a visit at `now` that collects changes, given in seconds from the start of the page.
    pub(super) fn visit(&mut self, page: &TracePage, last: f64, now: f64, changes: &[u32]) {
        self.visits += 1;
        self.useless += u64::from(changes.is_empty());
        self.add_period(page, last, now, changes);
    }

    /// Records the end of the observation of a page with changes that were not collected.
    pub(super) fn end(&mut self, page: &TracePage, last: f64, changes: &[u32]) {
        self.uncollected += changes.len() as u64;
        self.add_period(page, last, page.to as f64, changes);
    }

    fn add_period(&mut self, page: &TracePage, last: f64, now: f64, changes: &[u32]) {
        let weight = f64::from(page.weight);
        let time = |change: &u32| page.from as f64 + f64::from(*change);
        for change in changes {
            let lag = (now - time(change)).max(0.0);
            self.lag += weight * lag;
            self.weight_of_changes += weight;
            let bin = (lag.max(1.0).ln() * RESOLUTION) as usize;
            self.lags[bin.min(BINS - 1)] += weight;
        }
        self.changes += changes.len() as u64;
        let stale_from = changes.first().map_or(now, time);
        self.fresh += weight * (stale_from - last).max(0.0);
        self.observed += weight * (now - last).max(0.0);
        self.longest = self.longest.max(now - last);
    }

    pub(super) fn figures(&self) -> PolicyFigures {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let mut sum = 0.0;
        let mut distribution = Vec::new();
        for (bin, weight) in self.lags.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            sum += weight;
            let lag = if bin == 0 { 0.0 } else { ((bin as f64 + 0.5) / RESOLUTION).exp() };
            distribution.push((lag, share(sum, self.weight_of_changes)));
        }
        let p90 = distribution.iter().find(|(_, share)| *share >= 0.9 - 1e-9).map_or(0.0, |(lag, _)| *lag);
        PolicyFigures {
            mean_lag: share(self.lag, self.weight_of_changes),
            p90_lag: p90,
            freshness: share(self.fresh, self.observed),
            useless_share: share(self.useless as f64, self.visits as f64),
            longest_unvisited: self.longest,
            visits: self.visits,
            changes: self.changes,
            uncollected: self.uncollected,
            distribution,
        }
    }
}
