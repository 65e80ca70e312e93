//! URLs submitted by visitors: permission, rate limit and outcome.
//!
//! Nothing is fetched here. Accepted URLs wait in the engine's inbox for the owner process of the data directory.

use std::net::{IpAddr, Ipv4Addr};

use pharos_core::PageUrl;
use pharos_core::config::SubmissionPolicy;
use pharos_engine::Order;
use pharos_engine::control::orders::{Enqueued, enqueue_order, pending_orders};
use pharos_engine::status::crawl_policy::may_be_submitted;
use pharos_store::{Catalog, StoreError};

use super::{AppState, Service, ServiceError};
use crate::server::rate_limit::client_network;
use crate::server::visitor::Visitor;

/// Retry time in seconds when too many submissions are pending.
pub(crate) const FULL_RETRY_SECONDS: u64 = 3600;

/// Outcome of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// An operator will decide.
    Proposed,
    /// Queued for fetching.
    Queued,
    /// Proposed before; the decision is pending.
    ProposedBefore,
    Known,
    /// An operator declined the URL.
    Declined,
    /// Submissions are disabled.
    Off,
    /// The crawler does not fetch this URL.
    OutOfReach,
    /// Rate limit exceeded; seconds to wait.
    TooOften(u64),
    /// Too many submissions are pending.
    Full,
}

impl AppState {
    /// Handles a URL submitted by a visitor.
    pub(crate) async fn submit(&self, visitor: &Visitor, url: PageUrl) -> Result<Submitted, ServiceError> {
        let config = self.config();
        if config.web.submit == SubmissionPolicy::Off {
            return Ok(Submitted::Off);
        }
        if !may_be_submitted(&config.crawl, &url) {
            return Ok(Submitted::OutOfReach);
        }
        if let Err(wait) = self.acquire_submission(visitor) {
            return Ok(Submitted::TooOften(wait));
        }
        self.run_blocking(move |service| submit_url(service, url)).await
    }

    /// Counts a submission of a visitor.
    ///
    /// # Errors
    /// Returns the seconds to wait if the visitor submitted too much.
    pub(crate) fn acquire_submission(&self, visitor: &Visitor) -> Result<(), u64> {
        let address = visitor.client.source.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let acquired = self.api().submissions.acquire(&client_network(address));
        acquired.map_err(|wait| wait.as_secs().saturating_add(1))
    }
}

fn submit_url(service: &Service, url: PageUrl) -> Result<Submitted, ServiceError> {
    let web = &service.config.web;
    let catalog = service.stores.catalog()?;
    let mut undecided = 0;
    if let Some(catalog) = &catalog {
        if catalog.is_removed(&url)? {
            return Ok(Submitted::Declined);
        }
        if is_known(&**catalog, &url)? {
            return Ok(Submitted::Known);
        }
        let submissions = catalog.submissions()?;
        match submissions.iter().find(|submission| submission.url == url).map(|s| s.accepted) {
            Some(None) => return Ok(Submitted::ProposedBefore),
            Some(Some(true)) => return Ok(Submitted::Known),
            Some(Some(false)) => return Ok(Submitted::Declined),
            None => {}
        }
        undecided = submissions.iter().filter(|submission| submission.accepted.is_none()).count();
    }
    if undecided + pending_orders(&service.data) >= web.submissions {
        return Ok(Submitted::Full);
    }
    let (order, submitted) = match web.submit {
        SubmissionPolicy::Off => return Ok(Submitted::Off),
        SubmissionPolicy::Propose => (Order::Propose(vec![url]), Submitted::Proposed),
        SubmissionPolicy::Add => (Order::Add(vec![url]), Submitted::Queued),
    };
    Ok(match enqueue_order(&service.data, &order, web.submissions)? {
        Enqueued::Pending => submitted,
        Enqueued::Full => Submitted::Full,
    })
}

fn is_known(catalog: &dyn Catalog, url: &PageUrl) -> Result<bool, StoreError> {
    Ok(catalog.page(url.id())?.is_some() || catalog.page(url.with_sorted_query().id())?.is_some())
}
