//! Trust in the signals of a site: sitemap and feed dates, and notices that a page changed.
//!
//! A signal arrives for a change with probability r (recall), and without a change at the rate ν (false alarms). After n
//! signals, the probability that a page is unchanged falls by the factor (ν/(ν + rλ))ⁿ (arXiv:2502.02430). As a page that is
//! not announced is unchanged after τ days with probability e^(−λτ), a signal is worth ln(1 + rλ/ν)/λ days. Both numbers are
//! learned for each site from its visits.

/// Share of the observations that remains after one more visit: about the last 50 visits of a site count.
const MEMORY: f64 = 0.98;

/// Assumed before the first visit: four of five changes are announced, and a false alarm occurs once in 1,000 days.
const PRIOR_RECALL: f64 = 0.8;
const PRIOR_FALSE_ALARMS: f64 = 0.1;
const PRIOR_DAYS: f64 = 100.0;

/// Longest time between two visits that is counted, in days.
const MAX_ELAPSED: f64 = 366.0;

/// Evidence about the signals of a site from its visits, with forgetting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteSignals {
    /// Visits that found a change that was announced.
    pub confirmed: f64,
    /// Visits that found no change although one was announced.
    pub false_alarms: f64,
    /// Visits that found a change that was not announced.
    pub missed: f64,
    /// Days between these visits and the previous ones.
    pub days: f64,
}

/// A visit that can be compared with the previous one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalObservation {
    /// Days since the previous visit.
    pub elapsed: f64,
    pub is_announced: bool,
    pub changed: bool,
}

impl SiteSignals {
    /// Adds a visit.
    pub fn observe(&mut self, visit: &SignalObservation) {
        if !(visit.elapsed > 0.0 && visit.elapsed.is_finite()) {
            return;
        }
        for sum in [&mut self.confirmed, &mut self.false_alarms, &mut self.missed, &mut self.days] {
            *sum *= MEMORY;
        }
        self.days += visit.elapsed.min(MAX_ELAPSED);
        match (visit.is_announced, visit.changed) {
            (true, true) => self.confirmed += 1.0,
            (true, false) => self.false_alarms += 1.0,
            (false, true) => self.missed += 1.0,
            (false, false) => {}
        }
    }

    /// Returns the estimated share of changes that are announced (r).
    pub fn recall(&self) -> f64 {
        (self.confirmed + PRIOR_RECALL) / (self.confirmed + self.missed + 1.0)
    }

    /// Returns the estimated number of false alarms per page and day (ν).
    pub fn false_alarm_rate(&self) -> f64 {
        (self.false_alarms + PRIOR_FALSE_ALARMS) / (self.days + PRIOR_DAYS)
    }

    /// Returns the estimated share of signals that are right.
    pub fn precision(&self) -> f64 {
        (self.confirmed + 1.0) / (self.confirmed + self.false_alarms + 1.0)
    }

    /// Returns by how many days a signal brings the next visit of a page with change rate λ forward.
    ///
    /// The time of the model is multiplied by the share of signals that are right, so that a site that announces changes
    /// which never happen loses its influence after a few visits, before the rates of its pages are known.
    pub fn advance(&self, rate: f64) -> f64 {
        let days = (self.recall() * rate / self.false_alarm_rate()).ln_1p() / rate * self.precision();
        if days.is_finite() { days.max(0.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(visits: &[(bool, bool)]) -> SiteSignals {
        let mut site = SiteSignals::default();
        for (is_announced, changed) in visits {
            site.observe(&SignalObservation { elapsed: 7.0, is_announced: *is_announced, changed: *changed });
        }
        site
    }

    #[test]
    fn a_signal_is_worth_what_the_model_says() {
        let site = SiteSignals { confirmed: 8.2, false_alarms: 0.0, missed: 0.8, days: 0.0 };
        // r = 0.9, ν = 0.001: ln(1 + 0.9·0.1/0.001)/0.1 = 45.1.
        assert!((site.recall() - 0.9).abs() < 1e-9 && (site.false_alarm_rate() - 0.001).abs() < 1e-9);
        assert!((site.advance(0.1) - 91.0f64.ln() / 0.1).abs() < 1e-9);
    }

    #[test]
    fn signals_are_believed_at_first_and_a_lying_site_loses_its_influence() {
        let new = SiteSignals::default();
        for (rate, interval) in [(0.01, 90.0), (1.0 / 7.0, 7.0), (2.0, 1.0)] {
            assert!(new.advance(rate) > interval, "a page with {rate} changes a day is visited at once");
        }
        let liar = after(&[(true, false); 5]);
        assert!(liar.advance(1.0 / 7.0) < 0.25 * 7.0, "{}", liar.advance(1.0 / 7.0));
        assert!(after(&[(true, false); 20]).advance(1.0 / 7.0) < 0.06 * 7.0);
        let reformed: Vec<_> = std::iter::repeat_n((true, false), 20).chain([(true, true); 60]).collect();
        assert!(after(&reformed).advance(1.0 / 7.0) > 7.0);
    }

    #[test]
    fn changes_that_were_not_announced_lower_the_recall() {
        assert!(after(&[(false, true); 10]).recall() < 0.1);
        assert_eq!(after(&[(false, false); 10]).recall(), PRIOR_RECALL);
    }

    proptest! {
        #[test]
        fn hostile_visits_give_finite_numbers(
            visits in prop::collection::vec((any::<f64>(), any::<bool>(), any::<bool>()), 0..60), rate in 1e-5f64..1_440.0,
        ) {
            let mut site = SiteSignals::default();
            for (elapsed, is_announced, changed) in visits {
                site.observe(&SignalObservation { elapsed, is_announced, changed });
            }
            prop_assert!(site.advance(rate) >= 0.0 && site.advance(rate).is_finite());
        }
    }
}
