//! Security headers, added to every response that does not set them itself.

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;

use crate::admin;
use crate::state::AppState;

const SECURITY_HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; \
             form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    // Sites visited from here do not learn the query.
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("browsing-topics=(), camera=(), geolocation=(), microphone=(), payment=()"),
    ),
];

/// Policy of pages that embed content of other sites in a page of this server: no script runs.
pub(crate) const NO_SCRIPT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-src 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);

/// Makes browsers use TLS for a month. Sent over TLS only.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=2592000");

/// Middleware that adds the headers.
pub(crate) async fn add_security_headers(
    State(app): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let is_desk = admin::is_desk(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if is_desk {
        // Neither the browser cache nor search engines may store pages of the desk.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    }
    for (name, value) in SECURITY_HEADERS {
        headers.entry(name).or_insert(value);
    }
    if !app.config().web.certificate.is_empty() {
        headers.insert(STRICT_TRANSPORT_SECURITY, HSTS);
    }
    response
}
