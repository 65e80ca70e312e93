//! Cross-origin resource sharing (CORS): the sites whose pages may use the API from a browser, without cookies.

use std::time::Duration;

use axum::Router;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use axum::http::{HeaderValue, Method};
use axum::middleware::map_response;
use axum::response::Response;
use pharos_core::config::WebConfig;
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::api_keys;
use crate::state::AppState;

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Time for which a browser may cache a preflight response.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Adds the CORS layer for the origins in `web.cors`; an empty list allows none.
pub(crate) fn allow_origins(routes: Router<AppState>, web: &WebConfig) -> Router<AppState> {
    let origins = web.cors.iter().map(|origin| origin.trim().trim_end_matches('/'));
    let origins: Vec<&str> = origins.filter(|origin| !origin.is_empty()).collect();
    let allowed = if origins.is_empty() {
        return routes;
    } else if origins.contains(&"*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|origin| {
            HeaderValue::try_from(*origin)
                .inspect_err(|_| tracing::warn!(origin, "invalid origin in `web.cors`"))
                .ok()
        }))
    };
    let layer = CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([CONTENT_TYPE, AUTHORIZATION, api_keys::HEADER])
        .expose_headers([RETRY_AFTER])
        .max_age(LIFETIME);
    routes.layer(layer).layer(map_response(allow_embedding))
}

/// Lets pages of allowed origins also load the response as a resource.
async fn allow_embedding(mut response: Response) -> Response {
    if response.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{engine, get_with, send};

    fn served(cors: &[&str]) -> (tempfile::TempDir, Router) {
        let mut config = Config::default();
        config.web.cors = cors.iter().map(ToString::to_string).collect();
        config.web.api_keys = vec!["key".into()];
        let (dir, service) = engine(&[], config);
        (dir, router(service).unwrap())
    }

    #[tokio::test]
    async fn only_listed_origins_may_read_responses() {
        let (_dir, router) = served(&["https://www.example.org/", "https://b.example"]);
        let from = async |path: &str, origin: &str| get_with(&router, path, &[("origin", origin)]).await;
        for origin in ["https://www.example.org", "https://b.example"] {
            let reply = from("/api/v1/hot", origin).await;
            assert_eq!(reply.header("access-control-allow-origin"), origin);
            assert_eq!(reply.header("cross-origin-resource-policy"), "cross-origin");
            assert_eq!(reply.header("access-control-allow-credentials"), "");
            let refused = from("/api/v1/stats", origin).await;
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
            assert_eq!(refused.header("access-control-allow-origin"), origin, "errors can be read too");
        }
        for (path, origin) in
            [("/api/v1/hot", "https://evil.example"), ("/", "https://b.example"), ("/api/v1/hot", "null")]
        {
            let reply = from(path, origin).await;
            assert_eq!(reply.header("access-control-allow-origin"), "", "{path} {origin}");
            assert_eq!(reply.header("cross-origin-resource-policy"), "same-origin", "{path} {origin}");
        }
        let requested = [
            ("origin", "https://b.example"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type, api-key"),
        ];
        let reply = send(&router, Method::OPTIONS, "/api/v1/submit", &requested, "").await;
        assert_eq!(
            (reply.status, reply.header("access-control-allow-origin")),
            (StatusCode::OK, "https://b.example")
        );
        assert!(reply.header("access-control-allow-headers").contains("api-key"));
    }

    #[tokio::test]
    async fn all_origins_or_none() {
        let (_dir, router) = served(&["*"]);
        let reply = get_with(&router, "/api/v1/hot", &[("origin", "https://any.example")]).await;
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert_eq!(reply.header("cross-origin-resource-policy"), "cross-origin");
        let (_dir, router) = served(&[]);
        let reply = get_with(&router, "/api/v1/hot", &[("origin", "https://any.example")]).await;
        assert_eq!(reply.header("access-control-allow-origin"), "");
        let reply =
            send(&router, Method::OPTIONS, "/api/v1/hot", &[("origin", "https://any.example")], "").await;
        assert_eq!((reply.status, reply.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, "GET,HEAD"));
    }
}
