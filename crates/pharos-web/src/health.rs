//! Is the process alive, and is it able to answer?

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::response::{IntoResponse, Response};

use crate::service::Rooms;

/// `/healthz`: `ok` as long as the process answers at all. Who restarts processes asks this.
pub(crate) async fn healthz() -> Response {
    said(StatusCode::OK, "ok\n")
}

/// `/readyz`: `ready` when queries can be answered. Who spreads requests over several asks this.
pub(crate) async fn readyz(State(rooms): State<Rooms>) -> Response {
    if rooms.is_crowded() {
        return said(StatusCode::SERVICE_UNAVAILABLE, "too many queries wait for their turn\n");
    }
    match rooms.pages_aside().await {
        Ok(_) => said(StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::error!(%error, "the search cannot answer");
            said(StatusCode::SERVICE_UNAVAILABLE, "the search cannot answer; the log says why\n")
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
