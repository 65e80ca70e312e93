//! Health checks.

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::response::{IntoResponse, Response};

use crate::service::Rooms;

/// `GET /healthz`: liveness, for process supervisors. Always `ok`.
pub(crate) async fn healthz() -> Response {
    said(StatusCode::OK, "ok\n")
}

/// `GET /readyz`: readiness, for load balancers. `ready` if queries can be answered.
pub(crate) async fn readyz(State(rooms): State<Rooms>) -> Response {
    if rooms.is_crowded() {
        return said(StatusCode::SERVICE_UNAVAILABLE, "the query queue is full\n");
    }
    match rooms.pages_aside().await {
        Ok(_) => said(StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::error!(%error, "the index cannot be searched");
            said(StatusCode::SERVICE_UNAVAILABLE, "the index cannot be searched; see the log\n")
        }
    }
}

fn said(status: StatusCode, line: &'static str) -> Response {
    let mut response = (status, [(CACHE_CONTROL, "no-store")], line).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}
