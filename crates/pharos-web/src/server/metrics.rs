//! Metrics in the text format of Prometheus.

use std::time::Duration;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use parking_lot::Mutex;
use thiserror::Error;

use super::{CONNECTIONS, REJECTED_CONNECTIONS};
use crate::api::api_keys::count_use;
use crate::api::problem;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

pub(crate) const REQUESTS: &str = "pharos_http_requests_total";
pub(crate) const REQUEST_SECONDS: &str = "pharos_http_request_duration_seconds";
pub(crate) const QUERY_SECONDS: &str = "pharos_query_duration_seconds";
pub(crate) const SUGGEST_SECONDS: &str = "pharos_suggest_duration_seconds";
/// Duration of the stages of a query, labelled by stage.
pub(crate) const STAGE_SECONDS: &str = "pharos_stage_seconds";
/// Views of stored pages, labelled by outcome.
pub(crate) const VIEWS: &str = "pharos_views_total";
pub(crate) const SHED: &str = "pharos_http_shed_total";
const SEARCHABLE_PAGES: &str = "pharos_searchable_pages";

/// Bucket boundaries of the histograms in seconds: a query takes milliseconds, a request up to ten seconds.
const BUCKETS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Interval at which samples are folded into the histograms, so that they do not accumulate between scrapes.
const UPKEEP: Duration = Duration::from_secs(5);

/// The metrics recorder cannot be installed.
#[derive(Debug, Error)]
#[error("cannot install the metrics recorder: {0}")]
pub struct MetricsError(#[from] BuildError);

/// Handle to the metrics that all crates record through the `metrics` facade.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

/// Installs the metrics recorder of this process. Further calls return the same one.
///
/// # Errors
/// Fails if another recorder is installed.
pub fn install_metrics() -> Result<Metrics, MetricsError> {
    static INSTALLED: Mutex<Option<Metrics>> = Mutex::new(None);
    let mut installed = INSTALLED.lock();
    if let Some(metrics) = &*installed {
        return Ok(metrics.clone());
    }
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &BUCKETS)?
        .install_recorder()?;
    metrics::describe_counter!(REQUESTS, "Requests handled, by route and status.");
    metrics::describe_histogram!(REQUEST_SECONDS, "Time from request to response, by route.");
    metrics::describe_histogram!(QUERY_SECONDS, "Duration of searches, without queueing.");
    metrics::describe_histogram!(
        STAGE_SECONDS,
        "Duration of each stage of a query: wait (queueing), understand, candidates, rank, arrange, show, count, correct, page."
    );
    metrics::describe_counter!(SHED, "Requests rejected because a queue was full.");
    metrics::describe_counter!(
        VIEWS,
        "Views of stored pages, by outcome: rendered, cached, exceeded, refused, cancelled, shed."
    );
    metrics::describe_gauge!(CONNECTIONS, "Open connections.");
    let [rejected, old_name] = REJECTED_CONNECTIONS;
    metrics::describe_counter!(rejected, "Connections closed because their client network was at its limit.");
    metrics::describe_counter!(old_name, "Old name of pharos_http_connections_rejected_total.");
    metrics::describe_histogram!(SUGGEST_SECONDS, "Duration of suggestion lookups.");
    metrics::describe_counter!("pharos_log_lost_total", "Log records lost, by reason.");
    metrics::describe_gauge!(SEARCHABLE_PAGES, "Searchable pages.");
    metrics::describe_counter!(
        "pharos_cache_lookups_total",
        "Lookups in the query caches, by cache and result."
    );
    metrics::describe_gauge!("pharos_cache_bytes", "Memory used by the query caches.");
    metrics::describe_gauge!("pharos_cache_entries", "Entries of the query caches.");
    metrics::describe_counter!(
        "pharos_index_searches_total",
        "Index searches: of all generations, or of latest alone if the results of history are cached."
    );
    metrics::describe_counter!("pharos_crawl_requests_total", "Crawl requests, by status of the response.");
    metrics::describe_histogram!("pharos_crawl_request_seconds", "Duration of crawl requests.");
    metrics::describe_gauge!("pharos_crawl_requests_in_flight", "Crawl requests in flight.");
    metrics::describe_gauge!(
        "pharos_crawl_requests_under_way",
        "Old name of pharos_crawl_requests_in_flight."
    );
    metrics::describe_gauge!("pharos_crawl_pages_queued", "Pages queued in memory.");
    metrics::describe_gauge!("pharos_crawl_sites_active", "Sites with queued pages.");
    metrics::describe_gauge!("pharos_crawl_records_waiting", "Responses waiting to be stored.");
    metrics::describe_gauge!(
        "pharos_crawl_stage_records",
        "Responses queued or in progress in a stage: append, analyse, apply."
    );
    Ok(installed.insert(Metrics(handle)).clone())
}

impl Metrics {
    /// Folds samples into the histograms in an endless loop.
    pub(crate) async fn run_upkeep(self) {
        loop {
            tokio::time::sleep(UPKEEP).await;
            self.0.run_upkeep();
        }
    }
}

/// Returns `true` if a request has a key that permits `/metrics`, and counts its use.
fn has_key(app: &AppState, headers: &HeaderMap) -> bool {
    let Some(key) = app.api().keys.check(headers).into_valid() else { return false };
    let Some(record) = key.record else { return true };
    let is_permitted = record.permits_endpoint("metrics");
    if is_permitted {
        count_use(app, record.id);
    }
    is_permitted
}

/// `GET /metrics`: for the local machine, the networks in `web.metrics_allow` and clients with an API key.
pub(crate) async fn metrics(
    State(app): State<AppState>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<Response, ServiceError> {
    let (client, web) = (&visitor.client, &app.config().web);
    let address = client.source.verified_address(&client.host, web);
    let is_allowed = address.is_ok_and(|address| web.metrics_allow.contains(address));
    if !is_allowed && !has_key(&app, &headers) {
        let messages = visitor.messages();
        return Ok(problem(StatusCode::FORBIDDEN, messages.refused_title, messages.metrics_refused));
    }
    // The other metrics are useful even if the index fails.
    match app.searchable_pages_now().await {
        Ok(pages) => metrics::gauge!(SEARCHABLE_PAGES).set(pages as f64),
        Err(error) => tracing::warn!(%error, "cannot count the searchable pages"),
    }
    let headers = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    Ok((headers, app.metrics().0.render()).into_response())
}
