//! Refresh policies (网页重访策略): when a stored page is visited again.
//!
//! The policy is consulted after every conclusive visit.

mod change_history;
mod control;
mod demand;
mod fixed_intervals;
mod insertion;
mod interest;
mod plan;
mod policy;
mod signals;
mod state;

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;

use super::status::StatusMeaning;
pub use change_history::{ChangeHistory, MAX_RATE, MIN_RATE, RatePrior};
pub use control::{VisitControl, VisitRhythm, new_link_share};
pub use demand::{DemandHistogram, IntervalBounds, MAX_WEIGHT, MIN_WEIGHT};
pub(crate) use fixed_intervals::FixedIntervals;
pub use insertion::{inserted_share, inserted_visit, total_wait};
pub use interest::{InvalidWeight, OperatorWeights, PageInterest};
pub use plan::{RefreshPlan, RefreshSettings};
pub use policy::{Demand, Freshness, Harmonic, Lag, Proportional, RefreshPolicy, Uniform, policy_by_name};
pub use signals::{SignalObservation, SiteSignals};
pub use state::RefreshState;
pub(crate) use state::SettledVisit;

/// Weight of the prior of a change rate, in changes.
pub const PRIOR_STRENGTH: f64 = 0.3;

/// A conclusive visit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConclusiveVisit {
    pub(crate) class: RefreshClass,
    pub(crate) meaning: StatusMeaning,
}

/// Classes of pages that change at different rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshClass {
    /// The home page of a site.
    Home,
    /// A page that mostly consists of links: new pages of a site appear here first.
    Hub,
    /// A sitemap or a feed.
    Feed,
    /// Any other page.
    #[default]
    Page,
}

impl RefreshClass {
    /// Returns the class of a page by its URL, where its content gives no better one.
    pub fn of_url(url: &PageUrl) -> Self {
        if url.path_and_query() == "/" { Self::Home } else { Self::Page }
    }
}

/// Returns the configured intervals.
pub(crate) fn fixed_intervals(config: &CrawlConfig) -> FixedIntervals {
    FixedIntervals {
        home: config.refresh_home,
        hub: config.refresh_hub,
        feed: config.refresh_feed,
        page: config.refresh,
        shortest: config.refresh_at_most_every,
    }
}
