//! Figures about the refresh of all stored pages.

use pharos_core::{PageUrl, SiteName, Timestamp};

use crate::interpret::refresh::DemandHistogram;

/// Upper bounds of the intervals that are counted together, in days, with their names.
pub const INTERVAL_CLASSES: [(f64, &str); 8] = [
    (1.0 / 24.0, "1 h"),
    (0.25, "6 h"),
    (1.0, "1 day"),
    (3.0, "3 days"),
    (7.0, "7 days"),
    (30.0, "30 days"),
    (90.0, "90 days"),
    (f64::INFINITY, "more"),
];

/// Known URLs of a site that no longer exist (死链).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLinks {
    pub site: SiteName,
    /// Visited pages whose last response was 404 or 410.
    pub dead: u64,
    pub visited: u64,
}

/// Change rates, intervals and visits of the stored pages that have a next visit.
#[derive(Clone, Debug, Default)]
pub struct RefreshSample {
    /// Pages by change rate and weight.
    pub demands: DemandHistogram,
    /// Visits per day at the fixed intervals of the page classes.
    pub fixed_visits: f64,
    /// Visits per day as they are scheduled.
    pub scheduled_visits: f64,
    /// Pages with at least two comparable visits.
    pub learned: u64,
    /// Pages whose weight users or operators raised.
    pub raised: u64,
    /// Visits after the first, and those that found a changed text.
    pub revisits: u64,
    pub changes: u64,
    /// Pages by scheduled interval, as in [`INTERVAL_CLASSES`].
    pub intervals: [u64; INTERVAL_CLASSES.len()],
    /// Pages that are due now.
    pub due: u64,
    /// Time of the oldest last visit, and its page.
    pub longest_unvisited: Option<(Timestamp, PageUrl)>,
    /// Pages whose next visit was moved.
    pub rescheduled: u64,
}

impl RefreshSample {
    /// Returns the number of pages.
    pub fn pages(&self) -> u64 {
        self.demands.total()
    }

    /// Returns the share of revisits that found no change.
    pub fn useless_share(&self) -> f64 {
        if self.revisits == 0 {
            0.0
        } else {
            1.0 - self.changes.min(self.revisits) as f64 / self.revisits as f64
        }
    }

    pub(super) fn count_interval(&mut self, days: f64) {
        let class = INTERVAL_CLASSES.iter().position(|(bound, _)| days <= bound * 1.001);
        self.intervals[class.unwrap_or(INTERVAL_CLASSES.len() - 1)] += 1;
        self.scheduled_visits += 1.0 / days.max(1e-4);
    }
}
