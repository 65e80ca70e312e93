//! State of the refresh of known pages.

use pharos_core::config::{Config, RefreshPolicyName};
use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_store::catalog::{DeadLinks, INTERVAL_CLASSES, PageDetails, RefreshSample};
use pharos_store::interpret::refresh::{RefreshPlan, SiteSignals, policy_by_name};
use serde::Serialize;

use crate::EngineError;
use crate::stages::refresh_planner::visit_budget;
use crate::stores::Stores;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Maximum number of sites whose signals and dead links are reported.
const MAX_SITES: usize = 20;

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
    /// Pages whose weight users or operators raised.
    pub raised: u64,
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
    /// Trust in the sitemaps, feeds and notices of the sites with the most signals.
    pub signals: Vec<SignalTrust>,
    /// The sites with the most pages that no longer exist.
    pub dead_links: Vec<DeadPages>,
}

/// Known URLs of a site that no longer exist.
#[derive(Clone, Debug, Serialize)]
pub struct DeadPages {
    pub site: SiteName,
    pub dead: u64,
    /// Share of the visited pages of the site.
    pub share: f64,
}

impl DeadPages {
    fn new(links: DeadLinks) -> Self {
        let share = links.dead as f64 / links.visited.max(1) as f64;
        Self { site: links.site, dead: links.dead, share }
    }
}

/// Trust in the signals of a site.
#[derive(Clone, Debug, Serialize)]
pub struct SignalTrust {
    pub site: SiteName,
    /// Visits that followed a signal, with forgetting.
    pub visits: f64,
    /// Share of the signals that were right.
    pub precision: f64,
    /// Share of the changes that were announced (r).
    pub recall: f64,
    /// False alarms per page and day (ν).
    pub false_alarm_rate: f64,
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

/// Reads the state of the refresh of a site or of all sites, or returns `None` if nothing was crawled. All pages are read.
pub fn refresh_report(
    stores: &Stores,
    config: &Config,
    now: Timestamp,
    site: Option<&SiteName>,
) -> Result<Option<RefreshReport>, EngineError> {
    let Some(catalog) = stores.catalog()? else { return Ok(None) };
    let plan = catalog.refresh_plan()?.unwrap_or_default();
    let sample = catalog.refresh_sample(now, site.map(SiteName::id))?;
    let mut report = report(&plan, sample, config);
    report.signals = catalog.site_signals(MAX_SITES)?.into_iter().map(signal_trust).collect();
    report.dead_links = catalog.dead_links(MAX_SITES)?.into_iter().map(DeadPages::new).collect();
    Ok(Some(report))
}

fn signal_trust((site, signals): (SiteName, SiteSignals)) -> SignalTrust {
    SignalTrust {
        site,
        visits: signals.confirmed + signals.false_alarms,
        precision: signals.precision(),
        recall: signals.recall(),
        false_alarm_rate: signals.false_alarm_rate(),
    }
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
        raised: sample.raised,
        budget,
        scheduled_visits: sample.scheduled_visits,
        expected_lag: DAY * sample.demands.expected_lag(policy, threshold, &plan.bounds()),
        useless_share: sample.useless_share(),
        due: sample.due,
        intervals: classes(sample.intervals),
        change_times: classes(change_times),
        signals: Vec::new(),
        dead_links: Vec::new(),
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
    /// Factor of the weight from popular queries, clicks, links and operators.
    pub interest: f64,
    /// `true` if a sitemap, feed or notice announced a change since the last visit.
    pub is_announced: bool,
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
            interest: page.refresh.interest.factor(),
            is_announced: page.refresh.is_announced,
            threshold: plan.threshold,
        })
    }
}
