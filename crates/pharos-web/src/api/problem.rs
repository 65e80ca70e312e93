//! Errors as problem documents (RFC 9457).

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::state::ServiceError;

/// A problem document (RFC 9457).
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: `status` identifies the problem.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Short description of the problem.
    title: String,
    /// HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Cause of this error and what to do about it.
    detail: String,
}

/// Builds the response with a problem document.
pub(crate) fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let (title, detail) = (title.to_string(), detail.to_string());
    let problem = Problem { kind: "about:blank", title, status: status.as_u16(), detail };
    let body = serde_json::to_string(&problem).unwrap_or_default();
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Builds the response to an invalid request.
pub(crate) fn bad_request_response(detail: &str) -> Response {
    ApiError::bad_request(detail).into_response()
}

/// An error response of the API.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// An error reported to the client.
    Client {
        status: StatusCode,
        detail: String,
        /// Seconds after which a retry makes sense.
        retry_after: Option<u64>,
    },
    /// An internal error, which is only logged.
    Internal(ServiceError),
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Client { status, detail: detail.into(), retry_after: None }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        Self::Internal(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::Client { status, detail, retry_after } => {
                let mut response = problem(status, status.canonical_reason().unwrap_or_default(), &detail);
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
            Self::Internal(error) => error.into_response(),
        }
    }
}
