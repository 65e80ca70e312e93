//! What a crawl needs, what it is told on the way, and what it gives.

use std::sync::Arc;

use pharos_core::config::CrawlConfig;
use pharos_core::{Clock, PageId, PageUrl, SiteId};
use pharos_store::{Catalog, Record, Removal, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use crate::setting_error::SettingError;
use crate::status::CrawlStatus;

/// Everything a crawl needs. The seeds are in the catalog before it begins.
pub struct Crawl {
    /// Limits and manners.
    pub config: Arc<CrawlConfig>,
    /// Where due pages come from. The crawl only reads it.
    pub catalog: Arc<dyn Catalog>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Where records go, in order. Bounded: a slow taker slows the crawl.
    pub records: mpsc::Sender<Record>,
    /// What the catalog has taken in.
    pub absorbed: mpsc::UnboundedReceiver<Absorbed>,
    /// Counters for others to read.
    pub status: Arc<CrawlStatus>,
    /// When nothing is due, wait for something instead of ending.
    pub keep_going: bool,
    /// Becomes true when the crawl is to end.
    pub stop: watch::Receiver<bool>,
}

/// What the catalog has taken in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absorbed {
    /// Pages whose records it knows now.
    pub pages: Vec<PageId>,
    /// Sites that have new pages due: what [`Catalog::apply`] gave.
    pub woken: Vec<SiteId>,
    /// What was taken out for good and is not to be asked for any more.
    pub removed: Vec<Removal>,
    /// Those of the pages that were answered with success, and what they showed.
    pub shown: Vec<Shown>,
    /// Pages that an operator wants now.
    pub wanted: Vec<PageId>,
    /// Other rules are in force, or they start from other sites.
    pub new_rules: bool,
}

/// What a stored page shows of its site.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The page.
    pub page: PageUrl,
    /// Whether it was there before.
    pub again: bool,
    /// A [`sketch`](crate::sketch) of its text.
    pub sketch: Option<u64>,
}

/// What a crawl did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlSummary {
    /// Answers to pages that were handed on to be stored.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Requests without an answer.
    pub failed: u64,
    /// Pages not asked for, by a rule.
    pub refused: u64,
    /// Why it ended.
    pub ended: Ended,
    /// The last thing that went wrong, with its URL.
    pub last_failure: Option<String>,
}

/// Why a crawl ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Nothing is due now.
    #[default]
    NothingDue,
    /// `crawl.max_pages` is reached.
    MaxPages,
    /// `crawl.run_for` is over.
    Time,
    /// `crawl.max_disk` is reached.
    Disk,
    /// It was told to.
    Stopped,
}

/// Why a crawl cannot go on.
#[derive(Debug, Error)]
pub enum CrawlError {
    /// A setting cannot be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The catalog cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A seed is on the public internet, and nobody whom its owner could reach.
    #[error("{url}: {reason}")]
    NoContact {
        /// The seed.
        url: String,
        /// What to type.
        reason: String,
    },
    /// Whoever takes the records is gone.
    #[error("nobody takes the fetched pages any more: the crawl cannot go on")]
    Closed,
}
