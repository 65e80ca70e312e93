//! API keys: if keys are configured, most of the API requires one.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ring::digest::{Digest, SHA256, digest};

use super::openapi;
use super::problem::ApiError;
use crate::state::AppState;

pub(super) const HEADER: HeaderName = HeaderName::from_static("api-key");

/// Endpoints that need no key: those used by the pages of this server, and the document.
const PUBLIC: [&str; 4] = [openapi::PATH, "/api/v1/suggest", "/api/v1/hot", "/api/v1/click"];

/// Returns `true` if this path requires a key when keys are configured.
pub(super) fn requires_key(path: &str) -> bool {
    !PUBLIC.contains(&path)
}

/// Digests of the configured keys, so that comparing takes the same time for all of them.
pub(crate) struct ApiKeys(Vec<Digest>);

impl ApiKeys {
    pub(super) fn new(keys: &[String]) -> Self {
        let keys = keys.iter().map(|key| key.trim()).filter(|key| !key.is_empty());
        Self(keys.map(|key| digest(&SHA256, key.as_bytes())).collect())
    }

    /// Returns the index of the key that a request carries.
    pub(crate) fn index_of(&self, headers: &HeaderMap) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let given = digest(&SHA256, request_key(headers)?);
        // All keys are compared, to take constant time.
        let fits = |(place, key): (usize, &Digest)| (key.as_ref() == given.as_ref()).then_some(place);
        self.0.iter().enumerate().map(fits).fold(None, |found, place| found.or(place))
    }
}

/// Middleware that rejects requests without a valid key.
pub(super) async fn require_key(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let keys = &app.api().keys;
    let is_open = keys.0.is_empty() || !requires_key(request.uri().path());
    if is_open {
        return next.run(request).await;
    }
    if keys.index_of(request.headers()).is_some() {
        let mut response = next.run(request).await;
        // A shared cache does not know the key, and must not give the response to others.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        return response;
    }
    let detail = "an API key is required: send it as `API-Key: …` or `Authorization: Bearer …`; ask the operator of this \
        server for one";
    let mut refused = ApiError::new(StatusCode::UNAUTHORIZED, detail).into_response();
    refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"api\""));
    refused
}

fn request_key(headers: &HeaderMap) -> Option<&[u8]> {
    let bearer = || {
        let (scheme, key) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(key.trim_ascii())
    };
    headers.get(HEADER).map(HeaderValue::as_bytes).or_else(bearer)
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get, get_with};

    #[tokio::test]
    async fn a_key_is_required_if_keys_are_configured() {
        let mut config = Config::default();
        config.web.api_keys = vec!["first key".into(), "second".into(), " ".into()];
        let page = TestPage::new("https://www.example.org/a", "Lighthouse", "A lighthouse.");
        let (_dir, service) = engine(&[page], config);
        let router = router(service).unwrap();
        for path in
            ["search?q=lighthouse", "page?url=https://www.example.org/a", "stats", "submit", "similar"]
        {
            let reply = get(&router, &format!("/api/v1/{path}")).await;
            assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
            assert_eq!(reply.header("content-type"), "application/problem+json");
            assert_eq!(reply.header("www-authenticate"), "Bearer realm=\"api\"");
        }
        for path in ["suggest?q=a", "hot", "openapi.json"] {
            assert_eq!(get(&router, &format!("/api/v1/{path}")).await.status, StatusCode::OK, "{path}");
        }
        assert_eq!(get(&router, "/api").await.status, StatusCode::OK);
        let with = async |name, value| get_with(&router, "/api/v1/stats", &[(name, value)]).await.status;
        assert_eq!(with("api-key", "first key").await, StatusCode::OK);
        let keyed = get_with(&router, "/api/v1/stats", &[("api-key", "second")]).await;
        assert_eq!(keyed.header("cache-control"), "private, no-cache", "not for shared caches");
        for (path, status) in [
            ("/api/v1/stats/", StatusCode::NOT_FOUND),
            ("/api/v1//stats", StatusCode::NOT_FOUND),
            ("/api/v1/%73tats", StatusCode::NOT_FOUND),
            ("/api/v1/hot/../stats", StatusCode::NOT_FOUND),
            ("/API/v1/stats", StatusCode::NOT_FOUND),
            ("/api/v1/stats?api-key=second", StatusCode::UNAUTHORIZED),
            ("/api/v1/stats?path=/api/v1/hot", StatusCode::UNAUTHORIZED),
        ] {
            let reply = get(&router, path).await;
            assert!([status, StatusCode::UNAUTHORIZED].contains(&reply.status), "{path}: {}", reply.status);
        }
        let overridden = [("x-original-url", "/api/v1/hot"), ("x-rewrite-url", "/api/v1/hot")];
        assert_eq!(get_with(&router, "/api/v1/stats", &overridden).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(with("api-key", "second").await, StatusCode::OK);
        assert_eq!(with("authorization", "Bearer second").await, StatusCode::OK);
        assert_eq!(with("authorization", "bearer  second").await, StatusCode::OK);
        for wrong in ["", " ", "First key", "first ke", "first keys", "Bearer second", "灯"] {
            assert_eq!(with("api-key", wrong).await, StatusCode::UNAUTHORIZED, "{wrong}");
        }
        for wrong in ["", "Bearer", "Bearer ", "Basic second", "second", "Bearer second second", "灯灯灯灯"]
        {
            assert_eq!(with("authorization", wrong).await, StatusCode::UNAUTHORIZED, "{wrong}");
        }
    }
}
