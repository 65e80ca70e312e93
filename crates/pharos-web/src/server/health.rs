//! Health checks.

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::response::{IntoResponse, Response};

use crate::state::AppState;

/// `GET /healthz`: liveness, for process supervisors. Always `ok`.
pub(crate) async fn healthz() -> Response {
    plain_text(StatusCode::OK, "ok\n")
}

/// `GET /readyz`: readiness, for load balancers. `ready` if queries can be served.
pub(crate) async fn readyz(State(app): State<AppState>) -> Response {
    if app.is_queue_full() {
        return plain_text(StatusCode::SERVICE_UNAVAILABLE, "the query queue is full\n");
    }
    match app.searchable_pages_now().await {
        Ok(_) => plain_text(StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::error!(%error, "the index cannot be searched");
            plain_text(StatusCode::SERVICE_UNAVAILABLE, "the index cannot be searched; see the log\n")
        }
    }
}

fn plain_text(status: StatusCode, line: &'static str) -> Response {
    let mut response = (status, [(CACHE_CONTROL, "no-store")], line).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}
