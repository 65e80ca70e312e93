//! Is the engine able to answer?

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};

use crate::service::Rooms;

/// `/healthz`: `ok` when the search can answer.
pub(crate) async fn healthz(State(rooms): State<Rooms>) -> Response {
    let (status, line) = match rooms.pages().await {
        Ok(_) => (StatusCode::OK, "ok\n"),
        Err(error) => {
            tracing::error!(%error, "the search cannot answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the search cannot answer; the log says why\n")
        }
    };
    (status, [(CACHE_CONTROL, "no-store")], line).into_response()
}
