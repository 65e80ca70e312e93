//! Counters of the pipeline stages since the engine was opened, and their queue lengths.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use pharos_crawl::CrawlStatus;
use pharos_mining::system::SystemCounters;

/// A pipeline stage with a queue. The names are metric labels and keys of the status file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipelineStage {
    Append,
    Analyse,
    Apply,
}

impl PipelineStage {
    pub(crate) const ALL: [PipelineStage; 3] =
        [PipelineStage::Append, PipelineStage::Analyse, PipelineStage::Apply];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Analyse => "analyse",
            Self::Apply => "apply",
        }
    }

    /// Returns the metric label of release 0.1, which is still reported beside the name.
    const fn old_label(self) -> &'static str {
        match self {
            Self::Append => "shelve",
            Self::Analyse => "read",
            Self::Apply => "absorb",
        }
    }
}

/// Counters of one engine.
#[derive(Debug, Default)]
pub(crate) struct StageMetrics {
    parsed: AtomicU64,
    indexed: AtomicU64,
    /// Records queued for or held by each stage.
    queued: [AtomicI64; PipelineStage::ALL.len()],
}

impl StageMetrics {
    pub(crate) fn add_parsed(&self, pages: usize) {
        self.parsed.fetch_add(pages as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_indexed(&self, pages: usize) {
        self.indexed.fetch_add(pages as u64, Ordering::Relaxed);
    }

    /// Adds records to the queue of a stage, or removes them (negative).
    pub(crate) fn adjust_queue(&self, stage: PipelineStage, records: i64) {
        let now = self.queued[stage as usize].fetch_add(records, Ordering::Relaxed) + records;
        for label in [stage.name(), stage.old_label()] {
            metrics::gauge!("pharos_crawl_stage_records", "stage" => label).set(now as f64);
        }
    }

    /// Returns the number of records queued for or held by a stage.
    pub(crate) fn queued(&self, stage: PipelineStage) -> u64 {
        self.queued[stage as usize].load(Ordering::Relaxed).try_into().unwrap_or_default()
    }
}

/// Returns a function that reads the counters on each call.
pub(crate) fn readings(
    counters: Arc<StageMetrics>,
    status: Arc<CrawlStatus>,
) -> impl Fn() -> SystemCounters + Send + Sync + 'static {
    move || {
        let crawl = status.report();
        SystemCounters {
            fetched: crawl.pages,
            parsed: counters.parsed.load(Ordering::Relaxed),
            indexed: counters.indexed.load(Ordering::Relaxed),
            errors: crawl.failed,
            ..SystemCounters::default()
        }
    }
}
