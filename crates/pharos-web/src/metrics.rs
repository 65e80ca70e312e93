//! What is counted and measured, in the text format of Prometheus.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use thiserror::Error;

use crate::server::{CONNECTIONS, TURNED_AWAY};
use crate::service::{Rooms, ServiceError};

pub(crate) const REQUESTS: &str = "pharos_http_requests_total";
pub(crate) const REQUEST_SECONDS: &str = "pharos_http_request_duration_seconds";
pub(crate) const QUERY_SECONDS: &str = "pharos_query_duration_seconds";
pub(crate) const SUGGEST_SECONDS: &str = "pharos_suggest_duration_seconds";
/// The stages of a request, by name.
pub(crate) const STAGE_SECONDS: &str = "pharos_stage_seconds";
pub(crate) const SHED: &str = "pharos_http_shed_total";
const SEARCHABLE_PAGES: &str = "pharos_searchable_pages";

/// Upper edges of the histograms, in seconds: a query takes milliseconds, a request may take ten seconds.
const BUCKETS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// How often samples are folded into the histograms, so that they do not pile up between two looks at `/metrics`.
const UPKEEP: Duration = Duration::from_secs(5);

/// Why nothing can be recorded.
#[derive(Debug, Error)]
#[error("cannot install the metrics recorder: {0}")]
pub struct MetricsError(#[from] BuildError);

/// Reads what all rooms record through the `metrics` facade.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

/// Installs the recorder of this process. Further calls give the same one.
pub fn install_metrics() -> Result<Metrics, MetricsError> {
    static INSTALLED: Mutex<Option<Metrics>> = Mutex::new(None);
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(metrics) = &*installed {
        return Ok(metrics.clone());
    }
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &BUCKETS)?
        .install_recorder()?;
    metrics::describe_counter!(REQUESTS, "Requests answered, by route and status.");
    metrics::describe_histogram!(REQUEST_SECONDS, "Time from request to response, by route.");
    metrics::describe_histogram!(QUERY_SECONDS, "Time a search takes, without waiting for its turn.");
    metrics::describe_histogram!(
        STAGE_SECONDS,
        "Time of each stage of a query: wait (for its turn), understand, candidates, rank, arrange, show, count, correct, page."
    );
    metrics::describe_counter!(SHED, "Requests that were told to come back, because too many waited.");
    metrics::describe_gauge!(CONNECTIONS, "Connections that are open.");
    metrics::describe_counter!(TURNED_AWAY, "Connections closed at once: their address had enough of them.");
    metrics::describe_histogram!(SUGGEST_SECONDS, "Time that suggestions for what was typed take.");
    metrics::describe_counter!("pharos_log_lost_total", "Records that could not be written down, by reason.");
    metrics::describe_gauge!(SEARCHABLE_PAGES, "Pages that can be searched.");
    metrics::describe_counter!(
        "pharos_cache_lookups_total",
        "Looks into what is known from before: answers, lists of results; found or not."
    );
    metrics::describe_gauge!("pharos_cache_bytes", "Memory of what is known from before.");
    metrics::describe_gauge!("pharos_cache_entries", "Answers, lists and results of history that are known.");
    metrics::describe_counter!(
        "pharos_index_searches_total",
        "Searches of the index: of all of it, or of latest alone where history's results are known."
    );
    metrics::describe_counter!(
        "pharos_crawl_requests_total",
        "Requests of the crawl, by status of the answer."
    );
    metrics::describe_histogram!("pharos_crawl_request_seconds", "Time a request of the crawl takes.");
    metrics::describe_gauge!(
        "pharos_crawl_requests_under_way",
        "Requests of the crawl that wait for an answer."
    );
    metrics::describe_gauge!("pharos_crawl_pages_queued", "Pages in memory that wait for their turn.");
    metrics::describe_gauge!("pharos_crawl_sites_active", "Sites that have something to do.");
    metrics::describe_gauge!("pharos_crawl_records_waiting", "Answers that wait to be stored.");
    metrics::describe_gauge!(
        "pharos_crawl_stage_records",
        "Answers that wait for a stage or are in its hands: shelve, read, absorb."
    );
    Ok(installed.insert(Metrics(handle)).clone())
}

impl Metrics {
    /// Folds samples away, for ever.
    pub(crate) async fn keep_up(self) {
        loop {
            tokio::time::sleep(UPKEEP).await;
            self.0.run_upkeep();
        }
    }
}

/// `/metrics`.
pub(crate) async fn metrics(State(rooms): State<Rooms>) -> Result<Response, ServiceError> {
    // Other metrics are still worth reading when the search is not well.
    match rooms.pages_aside().await {
        Ok(pages) => metrics::gauge!(SEARCHABLE_PAGES).set(pages as f64),
        Err(error) => tracing::warn!(%error, "cannot count the searchable pages"),
    }
    let headers = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    Ok((headers, rooms.metrics().0.render()).into_response())
}
