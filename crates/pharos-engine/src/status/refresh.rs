//! State of the refresh of known pages.

use pharos_core::config::{Config, RefreshPolicyName};
use pharos_core::{PageUrl, Timestamp};
use pharos_store::catalog::{INTERVAL_CLASSES, PageDetails, RefreshSample};
use pharos_store::interpret::refresh::{RefreshPlan, policy_by_name};
use serde::Serialize;

use crate::EngineError;
use crate::stages::refresh_planner::visit_budget;
use crate::stores::Stores;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Policy, budget, change rates and intervals of the known pages.
#[derive(Clone, Debug, Serialize)]
pub struct RefreshReport {
    pub policy: RefreshPolicyName,
    /// Threshold θ of the policy.
    pub threshold: f64,
    /// Pages with a next visit.
    pub pages: u64,
    /// Pages with at least two comparable visits.
    pub learned: u64,
    /// Planned visits per day.
    pub budget: f64,
    /// Visits per day at the present intervals.
    pub scheduled_visits: f64,
    /// Weighted mean time from a change to the visit that collects it, in seconds, if the learned rates are right.
    pub expected_lag: f64,
    /// Share of revisits that found no change.
    pub useless_share: f64,
    /// Pages that are due now.
    pub due: u64,
    pub longest_unvisited: Option<UnvisitedPage>,
    pub intervals: Vec<TimeClass>,
    /// Pages by the mean time between two changes, 1/λ.
    pub change_times: Vec<TimeClass>,
}

/// The page with the oldest last visit.
#[derive(Clone, Debug, Serialize)]
pub struct UnvisitedPage {
    pub url: PageUrl,
    pub visited_at: Timestamp,
}

/// Number of pages with a time up to a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimeClass {
    pub up_to: &'static str,
    pub pages: u64,
}

/// Reads the state of the refresh, or returns `None` if nothing was crawled.
pub fn refresh_report(
    stores: &Stores,
    config: &Config,
    now: Timestamp,
) -> Result<Option<RefreshReport>, EngineError> {
    let Some(catalog) = stores.catalog()? else { return Ok(None) };
    let plan = catalog.refresh_plan()?.unwrap_or_default();
    let sample = catalog.refresh_sample(now)?;
    Ok(Some(report(&plan, sample, config)))
}

fn report(plan: &RefreshPlan, sample: RefreshSample, config: &Config) -> RefreshReport {
    let policy = policy_by_name(plan.settings.policy);
    let budget = visit_budget(&sample, config);
    // Fixed intervals and those of the paper's policy follow from no threshold: the mean interval is used.
    let threshold = match plan.settings.policy {
        RefreshPolicyName::Uniform | RefreshPolicyName::Paper => {
            sample.pages() as f64 / sample.scheduled_visits.max(1e-9)
        }
        _ => plan.threshold,
    };
    let mut change_times = [0; INTERVAL_CLASSES.len()];
    for (rate, pages) in sample.demands.rates() {
        let class = INTERVAL_CLASSES.iter().position(|(bound, _)| 1.0 / rate <= *bound);
        change_times[class.unwrap_or(INTERVAL_CLASSES.len() - 1)] += pages;
    }
    RefreshReport {
        policy: plan.settings.policy,
        threshold: plan.threshold,
        pages: sample.pages(),
        learned: sample.learned,
        budget,
        scheduled_visits: sample.scheduled_visits,
        expected_lag: DAY * sample.demands.expected_lag(policy, threshold, &plan.bounds()),
        useless_share: sample.useless_share(),
        due: sample.due,
        intervals: classes(sample.intervals),
        change_times: classes(change_times),
        longest_unvisited: sample
            .longest_unvisited
            .map(|(visited_at, url)| UnvisitedPage { url, visited_at }),
    }
}

fn classes(pages: [u64; INTERVAL_CLASSES.len()]) -> Vec<TimeClass> {
    INTERVAL_CLASSES.iter().zip(pages).map(|((_, up_to), pages)| TimeClass { up_to, pages }).collect()
}

/// Explains when and why a stored page is visited next.
#[derive(Clone, Debug, Serialize)]
pub struct NextVisitReason {
    pub policy: RefreshPolicyName,
    /// Estimated change rate λ, in changes per day.
    pub change_rate: f64,
    /// `true` if the rate is learned from visits, and not assumed from the kind of page.
    pub is_learned: bool,
    /// Weight w in the policy.
    pub weight: f64,
    /// Threshold θ of the policy.
    pub threshold: f64,
}

impl NextVisitReason {
    /// Returns the reason for a page under a plan, or `None` if the page has no next visit by the policy.
    pub fn of_page(page: &PageDetails, plan: &RefreshPlan) -> Option<Self> {
        if page.due.is_none() || page.position.is_none() || page.problem.is_some() {
            return None;
        }
        let demand = plan.demand(&page.refresh, page.weight);
        Some(Self {
            policy: plan.settings.policy,
            change_rate: demand.rate,
            is_learned: !page.refresh.history.is_empty(),
            weight: demand.weight,
            threshold: plan.threshold,
        })
    }
}
