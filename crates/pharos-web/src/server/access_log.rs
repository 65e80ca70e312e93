//! Counts, times and, if `log.access` is set, logs every request (`logs/access-….jsonl`).

use std::time::Instant;

use axum::body::HttpBody as _;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::USER_AGENT;
use axum::middleware::Next;
use axum::response::Response;
use pharos_mining::log::AccessRecord;
use pharos_mining::visits::classify_device;

use crate::server::client_address::RequestSource;
use crate::server::metrics::{REQUEST_SECONDS, REQUESTS};
use crate::state::AppState;

/// Middleware that records metrics and an access log entry for a request.
///
/// Routes are recorded as patterns, not as paths: their number is bounded and they reveal nothing about the client.
pub(crate) async fn log_request(
    State(app): State<AppState>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let log = &app.config().log;
    let mut record = (log.enabled && log.access).then(|| new_record(&app, &request));
    let response = next.run(request).await;
    let route = matched.as_ref().map_or("other", MatchedPath::as_str);
    let status = response.status();
    metrics::histogram!(REQUEST_SECONDS, "route" => route.to_string()).record(start.elapsed());
    metrics::counter!(REQUESTS, "route" => route.to_string(), "status" => status.as_str().to_string())
        .increment(1);
    if let Some(record) = record.take() {
        app.service().search.logs().writer.access(AccessRecord {
            route: route.to_string(),
            status: status.as_u16(),
            bytes: response.body().size_hint().exact(),
            took_ms: start.elapsed().as_micros() as f64 / 1000.0,
            ..record
        });
    }
    response
}

/// Fills in the fields of the access record that are known before the response.
fn new_record(app: &AppState, request: &Request) -> AccessRecord {
    let (logs, headers) = (app.service().search.logs(), request.headers());
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let address = request.extensions().get::<RequestSource>().and_then(|source| source.address);
    AccessRecord {
        at: logs.now(),
        visit: logs.visits.name(&address.map(|address| address.to_string()).unwrap_or_default(), agent),
        device: classify_device(agent),
        method: request.method().as_str().chars().take(16).collect(),
        protocol: format!("{:?}", request.version()),
        ..AccessRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;
    use pharos_mining::log::records::{AnyRecord, Device};

    use crate::router;
    use crate::testing::{engine, get, get_with};

    /// Returns the content of all access logs.
    fn logged(dir: &std::path::Path) -> String {
        let logs = std::fs::read_dir(dir.join("logs")).into_iter().flatten().flatten();
        let access = logs.filter(|file| file.file_name().to_string_lossy().starts_with("access-"));
        access.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect()
    }

    #[tokio::test]
    async fn requests_are_logged_without_their_query() {
        let (dir, service) = engine(&[], Config::default());
        let log = service.search.logs().writer.clone();
        let router = router(service).unwrap();
        get_with(&router, "/search?q=secret&lang=zh", &[("user-agent", "Mozilla/5.0 (X11; Linux) Firefox")])
            .await;
        get(&router, "/no/secret/path").await;
        log.flush();
        let text = logged(dir.path());
        let lines: Vec<AnyRecord> = text
            .lines()
            .map(|line| AnyRecord::parse(pharos_mining::LogKind::Access, line.as_bytes()).unwrap())
            .collect();
        let [AnyRecord::Access(search), AnyRecord::Access(other)] = lines.as_slice() else {
            panic!("{text}")
        };
        assert_eq!((search.route.as_str(), search.status, search.method.as_str()), ("/search", 200, "GET"));
        assert!(search.bytes.is_some_and(|bytes| bytes > 1000) && search.device == Device::Desktop, "{text}");
        assert_eq!((other.route.as_str(), other.status), ("other", 404));
        assert!(!text.contains("secret"), "{text}");
    }

    #[tokio::test]
    async fn the_access_log_can_be_switched_off() {
        let mut config = Config::default();
        config.log.access = false;
        let (dir, service) = engine(&[], config);
        let log = service.search.logs().writer.clone();
        get(&router(service).unwrap(), "/").await;
        log.flush();
        assert_eq!(logged(dir.path()), "");
    }
}
