//! The plan by which the catalog schedules visits: policy, bounds, fixed intervals and threshold θ.

use std::time::Duration;

use pharos_core::config::{CrawlConfig, InsertedVisit, RefreshConfig, RefreshPolicyName};
use serde::{Deserialize, Serialize};

use super::control::{VisitControl, VisitRhythm};
use super::demand::{IntervalBounds, MAX_WEIGHT, MIN_WEIGHT};
use super::policy::{Demand, policy_by_name};
use super::state::{RefreshState, days};
use super::{PRIOR_STRENGTH, RatePrior, RefreshClass};

/// Share of new links above which a visit of the paper's policy is a hit, and below which it is a miss (v1, v0).
const HIT_SHARE: f64 = 0.1;
const MISS_SHARE: f64 = 0.02;

/// Weight of a page, from 1 to 1000, that counts as an ordinary one.
const ORDINARY_WEIGHT: f64 = 250.0;

/// Range in which the importance of a page changes its weight.
const IMPORTANCE: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// Interval in days that is assumed where the fixed interval is 0, which means never.
const DEFAULT_INTERVAL: f64 = 7.0;

/// The settings of a plan, in days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefreshSettings {
    pub policy: RefreshPolicyName,
    pub inserted_visit: InsertedVisit,
    pub shortest: f64,
    pub longest: f64,
    /// Fixed intervals of pages, home pages, hubs and feeds; 0 means never.
    pub fixed: [f64; 4],
}

/// Settings and threshold θ by which visits are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefreshPlan {
    pub settings: RefreshSettings,
    /// Threshold θ of the policy.
    pub threshold: f64,
}

/// Fixed intervals, which is also the behaviour of a catalog without a plan.
impl Default for RefreshPlan {
    fn default() -> Self {
        let settings = RefreshSettings::new(&CrawlConfig::default(), &RefreshConfig::default());
        Self { settings: RefreshSettings { policy: RefreshPolicyName::Uniform, ..settings }, threshold: 1.0 }
    }
}

impl RefreshSettings {
    /// Reads the settings of a configuration.
    pub fn new(crawl: &CrawlConfig, refresh: &RefreshConfig) -> Self {
        let shortest = days(crawl.refresh_at_most_every);
        let fixed = [crawl.refresh, crawl.refresh_home, crawl.refresh_hub, crawl.refresh_feed]
            .map(|interval| if interval.is_zero() { 0.0 } else { days(interval).max(shortest) });
        let longest = days(refresh.longest).max(shortest).max(1.0 / 86_400.0);
        Self { policy: refresh.policy, inserted_visit: refresh.inserted_visit, shortest, longest, fixed }
    }
}

impl RefreshPlan {
    /// Creates a plan with the threshold at which a page without history is visited at its fixed interval.
    pub fn new(settings: RefreshSettings) -> Self {
        let mut plan = Self { settings, threshold: 1.0 };
        let (page, policy) = (plan.demand(&RefreshState::default(), 0), policy_by_name(settings.policy));
        let interval = plan.class_interval(RefreshClass::Page);
        let (mut low, mut high) = (-50.0f64, 50.0f64);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if policy.interval(page, middle.exp()) < interval { low = middle } else { high = middle }
        }
        plan.threshold = high.exp();
        plan
    }

    /// Returns the plan for new settings. The threshold is kept where it still has a meaning.
    pub fn with_settings(self, settings: RefreshSettings) -> Self {
        let keeps_threshold =
            self.settings.policy == settings.policy && self.settings.fixed == settings.fixed;
        if keeps_threshold { Self { settings, ..self } } else { Self::new(settings) }
    }

    /// Returns the bounds of every interval.
    pub fn bounds(&self) -> IntervalBounds {
        IntervalBounds { shortest: self.settings.shortest, longest: self.settings.longest }
    }

    /// Returns the prior of the change rate of a page: one change in the fixed interval of its class.
    pub fn prior(&self, class: RefreshClass) -> RatePrior {
        RatePrior::new(1.0 / self.class_interval(class), PRIOR_STRENGTH)
    }

    /// Returns the change rate and weight of a page. `weight` is its importance, from 1 to 1000; 0 if it was not computed.
    ///
    /// The fixed interval of a class expresses how much the operator cares about it: home pages and hubs, which lead to new
    /// pages, weigh more. With the prior rate, a page without history is then due at its fixed interval. The interest of
    /// users and operators multiplies the weight.
    pub fn demand(&self, page: &RefreshState, weight: u32) -> Demand {
        let class = self.class_interval(RefreshClass::Page) / self.class_interval(page.class);
        let importance = match weight {
            0 => 1.0,
            weight => (f64::from(weight) / ORDINARY_WEIGHT).clamp(*IMPORTANCE.start(), *IMPORTANCE.end()),
        };
        let weight = (class * importance * page.interest.factor()).clamp(MIN_WEIGHT, MAX_WEIGHT);
        Demand { rate: page.history.rate(&self.prior(page.class)), weight }
    }

    /// Returns the interval until the next visit, or `None` if the fixed interval of the class applies.
    pub fn interval(&self, page: &RefreshState, weight: u32) -> Option<Duration> {
        let interval = match self.settings.policy {
            RefreshPolicyName::Uniform => return None,
            RefreshPolicyName::Paper if page.rhythm.interval > 0.0 => self.control().wait(&page.rhythm),
            RefreshPolicyName::Paper => return None,
            name => policy_by_name(name).interval(self.demand(page, weight), self.threshold),
        };
        let bounded = self.bounds().apply(interval);
        Duration::try_from_secs_f64((bounded * 86_400.0).round()).ok()
    }

    /// Returns the fixed interval of a class in days; 0 means never.
    pub fn fixed_interval(&self, class: RefreshClass) -> f64 {
        let [page, home, hub, feed] = self.settings.fixed;
        match class {
            RefreshClass::Page => page,
            RefreshClass::Home => home,
            RefreshClass::Hub => hub,
            RefreshClass::Feed => feed,
        }
    }

    fn class_interval(&self, class: RefreshClass) -> f64 {
        let fixed = self.fixed_interval(class);
        if fixed > 0.0 { fixed } else { DEFAULT_INTERVAL }
    }

    /// Updates the state of the paper's policy after a visit. A changed text counts as a hit: which links are new is known
    /// only after all records of the batch are applied.
    pub(super) fn step(&self, page: &mut RefreshState, is_compared: bool, changed: bool, fixed: Duration) {
        if self.settings.policy != RefreshPolicyName::Paper {
            page.rhythm = VisitRhythm::default();
        } else if page.rhythm.interval <= 0.0 {
            page.rhythm.interval = self.bounds().apply(days(fixed)) as f32;
        } else if is_compared {
            let _ = self.control().next_visit(&mut page.rhythm, if changed { 1.0 } else { 0.0 });
        }
    }

    fn control(&self) -> VisitControl {
        let (inserted_visit, bounds) = (self.settings.inserted_visit, self.bounds());
        VisitControl { v1: HIT_SHARE, v0: MISS_SHARE, inserted_visit, bounds }
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::SettledVisit;
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn plan(policy: RefreshPolicyName) -> RefreshPlan {
        let refresh = RefreshConfig { policy, ..RefreshConfig::default() };
        RefreshPlan::new(RefreshSettings::new(&CrawlConfig::default(), &refresh))
    }

    fn visit(class: RefreshClass, compared: Option<Duration>, changed: bool) -> SettledVisit {
        SettledVisit { class, fixed: Some(7 * DAY), compared, changed, is_new: true, weight: 0 }
    }

    #[test]
    fn a_page_without_history_is_due_at_its_fixed_interval() {
        for policy in [RefreshPolicyName::Lag, RefreshPolicyName::Uniform] {
            let plan = plan(policy);
            for (class, days) in [
                (RefreshClass::Page, 7.0),
                (RefreshClass::Home, 1.0),
                (RefreshClass::Hub, 1.0),
                (RefreshClass::Feed, 0.25),
            ] {
                let page = RefreshState { class, ..RefreshState::default() };
                let Some(interval) = plan.interval(&page, 0) else { continue };
                assert_eq!(interval.as_secs_f64() / 86_400.0, days, "{class:?}");
            }
        }
    }

    #[test]
    fn changes_shorten_and_rest_lengthens_the_interval_within_the_bounds() {
        let plan = plan(RefreshPolicyName::Lag);
        let (mut busy, mut quiet) = (RefreshState::default(), RefreshState::default());
        let mut last = (7 * DAY, 7 * DAY);
        for _ in 0..200 {
            let next = |page: &mut RefreshState, last: Duration, changed| {
                page.after_visit(&plan, &visit(RefreshClass::Page, Some(last), changed)).unwrap()
            };
            last = (next(&mut busy, last.0, true), next(&mut quiet, last.1, false));
        }
        // A change is no surprise after more than a day, so that the rate rises slowly from there.
        assert!(last.0 < 2 * DAY && last.0 >= Duration::from_secs(3600), "{last:?}");
        assert_eq!(last.1, 90 * DAY, "refresh.longest");
    }

    #[test]
    fn a_visit_applied_again_has_the_same_next_visit() {
        for policy in [RefreshPolicyName::Lag, RefreshPolicyName::Paper, RefreshPolicyName::Harmonic] {
            let (plan, mut page) = (plan(policy), RefreshState::default());
            page.after_visit(&plan, &visit(RefreshClass::Page, None, false));
            let first = page.after_visit(&plan, &visit(RefreshClass::Page, Some(7 * DAY), true));
            let again =
                SettledVisit { compared: None, is_new: false, ..visit(RefreshClass::Page, None, false) };
            assert_eq!(page.after_visit(&plan, &again), first, "{policy}");
        }
    }

    #[test]
    fn the_papers_policy_inserts_a_visit_after_a_change() {
        let (plan, mut page) = (plan(RefreshPolicyName::Paper), RefreshState::default());
        let mut next =
            |changed| page.after_visit(&plan, &visit(RefreshClass::Page, Some(7 * DAY), changed)).unwrap();
        assert_eq!((next(false), next(true), next(false)), (7 * DAY, 7 * DAY / 2, 7 * DAY / 2));
    }

    #[test]
    fn a_page_that_is_not_refreshed_stays_so() {
        let (plan, mut page) = (plan(RefreshPolicyName::Lag), RefreshState::default());
        let never = SettledVisit { fixed: None, ..visit(RefreshClass::Page, Some(DAY), true) };
        assert_eq!(page.after_visit(&plan, &never), None);
    }

    #[test]
    fn new_settings_keep_the_threshold_of_the_same_policy() {
        let plan = RefreshPlan { threshold: 5.0, ..plan(RefreshPolicyName::Lag) };
        let longer = RefreshSettings { longest: 9.0, ..plan.settings };
        assert_eq!(plan.with_settings(longer).threshold, 5.0);
        let other = RefreshSettings { policy: RefreshPolicyName::Harmonic, ..plan.settings };
        assert_ne!(plan.with_settings(other).threshold, 5.0);
    }
}
