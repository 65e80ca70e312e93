//! Inputs, messages and results of a crawl.

use std::sync::Arc;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock, PageId, PageUrl, SiteId};
use pharos_store::catalog::Removal;
use pharos_store::{Catalog, LibraryRecord, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use crate::notices::ProblemCounts;
use crate::setting_error::SettingError;
use crate::status::CrawlStatus;

/// Inputs of a crawl. The seeds are in the catalog before it starts.
pub struct Crawl {
    pub config: Arc<CrawlConfig>,
    /// Source of due pages. The crawl only reads it.
    pub catalog: Arc<dyn Catalog>,
    pub clock: Arc<dyn Clock>,
    /// Channel for records, in order. It is bounded, so a slow receiver slows the crawl down.
    pub records: mpsc::Sender<LibraryRecord>,
    /// Messages about records applied to the catalog.
    pub applied: mpsc::UnboundedReceiver<AppliedRecords>,
    /// Counters and controls shared with other threads.
    pub status: Arc<CrawlStatus>,
    /// `true`: wait when nothing is due instead of ending.
    pub keep_going: bool,
    /// `true` if the rules changed since the last crawl, so that known pages must be checked.
    pub rules_changed: bool,
    /// Becomes `true` to stop the crawl.
    pub stop: watch::Receiver<bool>,
}

/// Report that records were applied to the catalog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppliedRecords {
    /// Pages whose records were applied.
    pub pages: Vec<PageId>,
    /// Sites with newly due pages, as returned by [`Catalog::apply`].
    pub due_sites: Vec<SiteId>,
    /// Removed pages and sites, which must not be fetched any more.
    pub removed: Vec<Removal>,
    /// Successfully fetched pages among `pages`.
    pub stored_pages: Vec<StoredPageInfo>,
    /// Pages that an operator requested to be fetched now.
    pub requested: Vec<PageId>,
    /// `true` if the rules or the seed sites changed.
    pub new_rules: bool,
}

impl AppliedRecords {
    /// Adds a later report.
    pub fn merge(&mut self, later: AppliedRecords) {
        let AppliedRecords { pages, due_sites, removed, stored_pages, requested, new_rules } = later;
        self.pages.extend(pages);
        self.due_sites.extend(due_sites);
        self.removed.extend(removed);
        self.stored_pages.extend(stored_pages);
        self.requested.extend(requested);
        self.new_rules |= new_rules;
    }
}

/// A stored page, as input for site budgets and mirror detection.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPageInfo {
    pub page: PageUrl,
    /// `true` if the page was stored before.
    pub is_revisit: bool,
    /// [Sketch](crate::rules::budget::compute_sketch) of its text.
    pub sketch: Option<u64>,
}

/// Result of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlSummary {
    /// Number of page responses passed on to be stored.
    pub pages: u64,
    /// Total size of their bodies.
    pub bytes: u64,
    /// Number of requests without a response.
    pub failed: u64,
    /// Number of pages refused by a rule.
    pub refused: u64,
    /// Number of problems by kind.
    pub problems: ProblemCounts,
    pub ended: EndReason,
    /// The last failure, with its URL.
    pub last_failure: Option<String>,
}

/// Reason why a crawl ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    #[default]
    NothingDue,
    /// `crawl.max_pages` was reached.
    MaxPages,
    /// `crawl.run_for` has passed.
    Time,
    /// `crawl.max_disk` was reached.
    Disk,
    /// The caller stopped it.
    Stopped,
}

/// Error that ends a crawl.
#[derive(Debug, Error)]
pub enum CrawlError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A seed is on the public internet, and no contact address is configured.
    #[error("{url}: {reason}")]
    NoContact { url: String, reason: String },
    /// The receiver of records is gone.
    #[error("the receiver of fetched pages is gone: cannot continue the crawl")]
    Closed,
}
