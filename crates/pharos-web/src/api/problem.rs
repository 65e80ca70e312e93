//! Errors as problem documents (RFC 9457).

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::service::ServiceError;

/// What did not work, and what to do.
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// What kind of problem it is, for people.
    title: String,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What did not work this time, and what to do.
    detail: String,
}

/// A problem document.
pub(crate) fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let (title, detail) = (title.to_string(), detail.to_string());
    let problem = Problem { kind: "about:blank", title, status: status.as_u16(), detail };
    let body = serde_json::to_string(&problem).unwrap_or_default();
    let mut response = (status, body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

/// A problem document about a request that asks for nothing we could do.
pub(crate) fn bad_request(detail: &str) -> Response {
    Refusal::bad(detail).into_response()
}

/// Why a request to the API is not answered as it hoped.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// For the client to hear.
    Told {
        status: StatusCode,
        detail: String,
        /// Seconds after which it may be worth to ask again.
        retry_after: Option<u64>,
    },
    /// For the log.
    Failed(ServiceError),
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Told { status, detail: detail.into(), retry_after: None }
    }

    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }
}

impl From<ServiceError> for Refusal {
    fn from(error: ServiceError) -> Self {
        Self::Failed(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Told { status, detail, retry_after } => {
                let mut response = problem(status, status.canonical_reason().unwrap_or_default(), &detail);
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
            Self::Failed(error) => error.into_response(),
        }
    }
}
