//! Intervals by the control law of the paper (a refresh strategy based on the Poisson process).

use pharos_core::config::InsertedVisit;
use pharos_store::interpret::refresh::{IntervalBounds, VisitControl, VisitRhythm, new_link_share};

use super::super::trace::{Trace, TracePage};
use super::{SimulatedVisit, SimulationOptions, VisitIntervals};

/// Number of links of a page of a trace; each change adds a new one.
const LINKS: u32 = 20;

/// Range of intervals, relative to the interval at which all pages would use the budget.
const SHORTEST: f64 = 1.0 / 16.0;
const LONGEST: f64 = 8.0;

/// Smallest share of visits in an hour, relative to the mean.
const LEAST_HOUR: f64 = 0.1;

/// The paper's policy: one interval per page, shortened and lengthened by the share of new links, and more visits in the
/// hours of the day in which pages change.
pub struct PaperIntervals {
    control: VisitControl,
    first_interval: f64,
    pages: Vec<(VisitRhythm, f32, f32)>,
    hours: HourlyRates,
}

/// Changes and observed hours by hour of the day (UTC).
#[derive(Clone, Debug)]
struct HourlyRates {
    changes: [f64; 24],
    hours: [f64; 24],
    shares: [f64; 24],
}

impl PaperIntervals {
    /// Creates the policy. `place` is where an additional visit is inserted.
    pub fn new(trace: &Trace, options: &SimulationOptions, place: InsertedVisit) -> Self {
        let number = trace.pages().len().max(1) as f64;
        let first_interval = number / options.budget;
        let mean = trace.pages().iter().map(|page| f64::from(page.weight)).sum::<f64>() / number;
        // More relevant pages are visited more often; the bounds are applied to the result.
        let factor =
            |page: &TracePage| (f64::from(page.weight) / mean).sqrt().recip().clamp(0.1, 10.0) as f32;
        let pages = trace.pages().iter().map(|page| (VisitRhythm::default(), factor(page), 0.0)).collect();
        let bounds =
            IntervalBounds { shortest: first_interval * SHORTEST, longest: first_interval * LONGEST };
        let control = VisitControl { v1: 0.1, v0: 0.02, inserted_visit: place, bounds };
        Self { control, first_interval, pages, hours: HourlyRates::default() }
    }
}

impl VisitIntervals for PaperIntervals {
    fn start(&mut self, number: usize, _: &TracePage) -> f64 {
        let (rhythm, factor, wait) = &mut self.pages[number];
        let interval = self.control.bounds.apply(self.first_interval * f64::from(*factor));
        rhythm.interval = interval as f32;
        *wait = interval as f32;
        interval
    }

    fn next(&mut self, number: usize, visit: &SimulatedVisit) -> f64 {
        self.hours.add(visit);
        let (rhythm, _, wait) = &mut self.pages[number];
        let next = self.control.next_visit(rhythm, new_link_share(visit.changes, LINKS));
        *wait = next as f32;
        next
    }

    fn plan(&mut self) -> bool {
        self.hours.plan();
        false
    }

    fn current(&self, number: usize) -> f64 {
        f64::from(self.pages[number].2)
    }

    fn hour_share(&self, hour: usize) -> f64 {
        self.hours.shares[hour % 24]
    }
}

impl Default for HourlyRates {
    fn default() -> Self {
        Self { changes: [0.0; 24], hours: [0.0; 24], shares: [1.0 / 24.0; 24] }
    }
}

impl HourlyRates {
    /// Distributes a visit over the hours since the previous one. Longer intervals say nothing about the time of day.
    fn add(&mut self, visit: &SimulatedVisit) {
        let hours = visit.elapsed * 24.0;
        if !(hours > 0.0 && hours <= 12.0) {
            return;
        }
        let (mut from, to) = (visit.at / 3600.0 - hours, visit.at / 3600.0);
        while from < to {
            let until = (from.floor() + 1.0).min(to);
            let hour = from.floor().rem_euclid(24.0) as usize % 24;
            self.hours[hour] += until - from;
            if visit.changes > 0 {
                self.changes[hour] += (until - from) / hours;
            }
            from = until;
        }
    }

    /// Chooses the visits per hour by the square-root law.
    fn plan(&mut self) {
        let (changes, hours): (f64, f64) = (self.changes.iter().sum(), self.hours.iter().sum());
        if changes < 240.0 || self.hours.iter().any(|hours| *hours <= 0.0) {
            return;
        }
        let mean = changes / hours;
        let mut shares: [f64; 24] =
            std::array::from_fn(|hour| (self.changes[hour] / self.hours[hour] / mean).sqrt().max(LEAST_HOUR));
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        self.shares = shares;
    }
}
