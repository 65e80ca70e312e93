//! Keeps the visits that the refresh policy plans at their budget.
//!
//! A pass over all stored pages applies the plan in small batches and counts the pages by change rate and weight. From these
//! counts follows the threshold θ at which the visits add up to the budget. If it differs from the present one, the next
//! pass applies it. The catalog stores the position of the pass, so that a new process continues it.
//!
//! A pass also stores the interest of users and operators in each page, which is a factor of its weight.

use std::time::{Duration, Instant};

use pharos_core::config::{Config, RefreshPolicyName};
use pharos_core::{PageUrl, Timestamp};
use pharos_store::catalog::RefreshSample;
use pharos_store::interpret::refresh::{
    OperatorWeights, PageInterest, RefreshPlan, RefreshSettings, policy_by_name,
};
use pharos_store::{Catalog, StoreError};
use tracing::{debug, info};

use crate::Stores;
use crate::stages::user_interest::InterestReader;

/// Number of pages in a batch.
const BATCH: usize = 500;

/// Pause between two batches, in which records are applied.
const PAUSE: Duration = Duration::from_millis(50);

/// Pause between two passes that change nothing.
const PASS_INTERVAL: Duration = Duration::from_secs(600);

/// Relative change of the threshold that is applied to pages scheduled already.
const TOLERANCE: f64 = 0.02;

/// Applies the refresh plan and keeps its threshold.
#[derive(Debug, Default)]
pub(crate) struct RefreshPlanner {
    /// Pages of the present pass; `None` if it was begun by another process.
    sample: Option<RefreshSample>,
    /// Pages of a pass that cannot be used.
    discarded: RefreshSample,
    next_batch: Option<Instant>,
    interest: InterestReader,
}

/// Stores the plan of a configuration in a catalog that has another one.
pub(crate) fn store_plan(catalog: &dyn Catalog, config: &Config) -> Result<RefreshPlan, StoreError> {
    let settings = RefreshSettings::new(&config.crawl, &config.refresh);
    let stored = catalog.refresh_plan()?;
    let plan = stored.map_or_else(|| RefreshPlan::new(settings), |plan| plan.with_settings(settings));
    if stored != Some(plan) {
        catalog.set_refresh_plan(&plan)?;
    }
    Ok(plan)
}

impl RefreshPlanner {
    /// Processes a batch if one is due.
    pub(crate) fn tick(
        &mut self,
        catalog: &dyn Catalog,
        stores: &Stores,
        config: &Config,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.interest.poll(stores, config, now) {
            self.next_batch = None;
        }
        if self.next_batch.is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        self.next_batch = Some(Instant::now() + PAUSE);
        let before = catalog.refresh_plan()?;
        let plan = store_plan(catalog, config)?;
        if before != Some(plan) {
            info!(policy = %plan.settings.policy, "refresh plan changed");
            self.sample = Some(RefreshSample::default());
        }
        let sample = self.sample.as_mut().unwrap_or(&mut self.discarded);
        let users = self.interest.latest();
        let operators = OperatorWeights::from_config(&config.crawl, &config.refresh).unwrap_or_default();
        let interest = |url: &PageUrl| {
            users
                .as_ref()
                .map(|users| PageInterest::from_factor(users.factor(url.id()) * operators.factor(url)))
        };
        if catalog.apply_refresh_plan(now, BATCH, &interest, sample)? {
            self.finish_pass(catalog, config, plan)?;
        }
        Ok(())
    }

    fn finish_pass(
        &mut self,
        catalog: &dyn Catalog,
        config: &Config,
        plan: RefreshPlan,
    ) -> Result<(), StoreError> {
        self.discarded = RefreshSample::default();
        let Some(sample) = self.sample.replace(RefreshSample::default()) else { return Ok(()) };
        let threshold = solve_threshold(&sample, config, &plan);
        debug!(pages = sample.pages(), rescheduled = sample.rescheduled, threshold, "refresh plan applied");
        if (threshold / plan.threshold).ln().abs() > TOLERANCE {
            catalog.set_refresh_plan(&RefreshPlan { threshold, ..plan })?;
        } else {
            self.next_batch = Some(Instant::now() + PASS_INTERVAL);
        }
        Ok(())
    }
}

/// Returns the threshold at which the planned visits equal the budget.
fn solve_threshold(sample: &RefreshSample, config: &Config, plan: &RefreshPlan) -> f64 {
    let budget = visit_budget(sample, config);
    let has_threshold =
        !matches!(plan.settings.policy, RefreshPolicyName::Uniform | RefreshPolicyName::Paper);
    if !has_threshold || budget <= 0.0 || sample.pages() == 0 {
        return plan.threshold;
    }
    sample.demands.solve(policy_by_name(plan.settings.policy), budget, &plan.bounds())
}

/// Returns the planned visits per day: the configured number, or as many as the fixed intervals make.
pub(crate) fn visit_budget(sample: &RefreshSample, config: &Config) -> f64 {
    if config.refresh.budget > 0 { config.refresh.budget as f64 } else { sample.fixed_visits }
}
