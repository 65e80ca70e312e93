//! API keys: if keys exist, in the settings or as objects, most of the API requires one.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pharos_core::{Clock as _, PageUrl, SystemClock};
use pharos_store::DataDir;
use ring::digest::{Digest, SHA256, digest};

use super::key_store::{ApiKeyRecord, ApiKeyState, ApiKeyStore, find_secret};
use super::openapi;
use super::problem::ApiError;
use crate::state::AppState;

pub(super) const HEADER: HeaderName = HeaderName::from_static("api-key");

/// Endpoints that need no key: those used by the pages of this server, and the document.
const PUBLIC: [&str; 4] = [openapi::PATH, "/api/v1/suggest", "/api/v1/hot", "/api/v1/click"];

/// Returns `true` if this path requires a key when keys exist.
pub(super) fn requires_key(path: &str) -> bool {
    !PUBLIC.contains(&path)
}

/// The identity of a key, for its rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyId {
    /// Index in `web.api_keys`.
    Setting(usize),
    /// Id of the object.
    Object(u64),
}

/// A valid key of a request.
#[derive(Clone, Debug)]
pub(crate) struct ValidKey {
    pub(crate) id: KeyId,
    /// `None` for a key of the settings, which permits everything.
    pub(crate) record: Option<ApiKeyRecord>,
}

/// The result of looking for a key in a request.
#[derive(Clone, Debug)]
pub(crate) enum KeyCheck {
    Valid(Box<ValidKey>),
    /// The request has no key.
    Missing,
    /// No key has this secret.
    Wrong,
    Ended(String),
    Revoked,
    /// The file of the keys cannot be read.
    Unreadable,
}

impl KeyCheck {
    /// Returns the key if it is valid.
    pub(crate) fn into_valid(self) -> Option<ValidKey> {
        match self {
            Self::Valid(key) => Some(*key),
            _ => None,
        }
    }
}

/// The keys of the settings and the store of key objects.
pub(crate) struct ApiKeys {
    /// Digests, so that comparing takes the same time for all of them.
    settings: Vec<Digest>,
    pub(crate) store: ApiKeyStore,
}

impl ApiKeys {
    pub(super) fn new(keys: &[String], data: &DataDir) -> Self {
        let keys = keys.iter().map(|key| key.trim()).filter(|key| !key.is_empty());
        let settings = keys.map(|key| digest(&SHA256, key.as_bytes())).collect();
        Self { settings, store: ApiKeyStore::at(data) }
    }

    /// Returns `true` if any key exists, even a revoked one: revoking the last key must not open the API.
    pub(crate) fn are_required(&self) -> bool {
        !self.settings.is_empty() || self.store.load().map_or(true, |keys| !keys.is_empty())
    }

    /// Looks up the key that a request carries.
    pub(crate) fn check(&self, headers: &HeaderMap) -> KeyCheck {
        let Some(given) = request_key(headers).filter(|key| !key.is_empty()) else {
            return KeyCheck::Missing;
        };
        let hash = digest(&SHA256, given);
        // All keys are compared, to take constant time.
        let fits = |(place, key): (usize, &Digest)| (key.as_ref() == hash.as_ref()).then_some(place);
        let found = self.settings.iter().enumerate().map(fits).fold(None, |found, place| found.or(place));
        if let Some(nth) = found {
            return KeyCheck::Valid(Box::new(ValidKey { id: KeyId::Setting(nth), record: None }));
        }
        let keys = match self.store.load() {
            Ok(keys) => keys,
            Err(error) => {
                tracing::error!(%error, "cannot read the API keys");
                return KeyCheck::Unreadable;
            }
        };
        let Some(key) = str::from_utf8(given).ok().and_then(|given| find_secret(&keys, given)) else {
            return KeyCheck::Wrong;
        };
        match key.state(SystemClock.now()) {
            ApiKeyState::Revoked => KeyCheck::Revoked,
            ApiKeyState::Ended => KeyCheck::Ended(key.until.clone().unwrap_or_default()),
            ApiKeyState::Active => {
                let (id, record) = (KeyId::Object(key.id), Some(key.clone()));
                KeyCheck::Valid(Box::new(ValidKey { id, record }))
            }
        }
    }
}

/// The key of a request, if it limits what the request may see.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyScope(Option<ApiKeyRecord>);

impl KeyScope {
    /// Returns the sites whose pages may be returned; empty for all.
    pub(crate) fn sites(&self) -> Vec<String> {
        self.0.as_ref().map(|key| key.sites.clone()).unwrap_or_default()
    }

    /// Refuses a page outside the sites of the key.
    pub(crate) fn check_page(&self, url: &PageUrl) -> Result<(), ApiError> {
        match &self.0 {
            Some(key) if !key.permits_page(url) => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                format!("this API key permits pages of {} only", key.sites.join(", ")),
            )),
            _ => Ok(()),
        }
    }
}

impl FromRequestParts<AppState> for KeyScope {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Self::Rejection> {
        // Inserted by `require_key`.
        Ok(parts.extensions.get::<KeyScope>().cloned().unwrap_or_default())
    }
}

/// Middleware that rejects requests without a valid key.
pub(super) async fn require_key(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let keys = &app.api().keys;
    if !requires_key(request.uri().path()) || !keys.are_required() {
        return next.run(request).await;
    }
    let key = match keys.check(request.headers()) {
        KeyCheck::Valid(key) => *key,
        refused => return refuse(&refused),
    };
    if let Some(record) = key.record {
        let endpoint = request.uri().path().rsplit('/').next().unwrap_or_default();
        if !record.permits_endpoint(endpoint) {
            let permitted = record.endpoints.join(", ");
            let detail = format!("this API key does not permit `{endpoint}`, only {permitted}");
            return ApiError::new(StatusCode::FORBIDDEN, detail).into_response();
        }
        count_use(&app, record.id);
        request.extensions_mut().insert(KeyScope(Some(record)));
    }
    let mut response = next.run(request).await;
    // A shared cache does not know the key, and must not give the response to others.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

/// Counts a use, and writes the counters from time to time.
pub(crate) fn count_use(app: &AppState, id: u64) {
    if app.api().keys.store.count_use(id) {
        let app = app.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = app.api().keys.store.flush() {
                tracing::warn!(%error, "cannot write the usage of API keys");
            }
        });
    }
}

/// Explains why a request is refused.
fn refuse(check: &KeyCheck) -> Response {
    let detail = match check {
        KeyCheck::Unreadable => {
            let detail = "the API keys of this server cannot be read: contact its operator";
            return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, detail).into_response();
        }
        KeyCheck::Wrong => {
            "the API key is wrong: check that it is complete, or ask the operator of this server for a new one".into()
        }
        KeyCheck::Ended(until) => {
            format!("the API key ended on {until}: ask the operator of this server for a new one")
        }
        KeyCheck::Revoked => {
            "the API key was revoked: ask the operator of this server for a new one".to_string()
        }
        KeyCheck::Missing | KeyCheck::Valid(_) => {
            "an API key is required: send it as `API-Key: …` or `Authorization: Bearer …`; ask the operator of this server \
             for one"
                .into()
        }
    };
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
    use crate::api::key_store::NewApiKey;
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
        let missing = get(&router, "/api/v1/stats").await;
        assert!(missing.text().contains("an API key is required"), "{}", missing.text());
        let wrong = get_with(&router, "/api/v1/stats", &[("api-key", "guessed")]).await;
        assert!(wrong.text().contains("the API key is wrong"), "{}", wrong.text());
    }

    #[tokio::test]
    async fn keys_are_objects_with_a_scope_that_change_without_a_restart() {
        let pages = [
            TestPage::new("https://www.example.org/a", "Lighthouse", "A lighthouse."),
            TestPage::new("https://b.example/b", "Lighthouse", "Another lighthouse on a rock."),
        ];
        let mut config = Config::default();
        config.web.api_keys = vec!["of the settings".into()];
        let (_dir, service) = engine(&pages, config);
        let other_process = ApiKeyStore::at(&service.data);
        let app = AppState::new(service).unwrap();
        let store = &app.api().keys.store;
        let router = crate::server::router::build(app.clone());
        let with = async |path: &str, secret: &str| {
            get_with(&router, &format!("/api/v1/{path}"), &[("api-key", secret)]).await
        };
        let narrow = NewApiKey {
            name: "Shop".into(),
            endpoints: vec!["search".into(), "page".into(), "similar".into()],
            sites: vec!["example.org".into()],
            ..NewApiKey::default()
        };
        let shop = store.add(narrow).unwrap();
        let found = with("search?q=lighthouse", &shop.secret).await;
        assert_eq!(found.status, StatusCode::OK);
        let found: serde_json::Value = serde_json::from_slice(&found.bytes).unwrap();
        assert_eq!((&found["total"], &found["hits"][0]["site"]), (&1.into(), &"www.example.org".into()));
        let all = with("search?q=lighthouse", "of the settings").await;
        assert!(all.text().contains("b.example"), "keys of the settings keep working");
        for (path, status) in [
            ("stats", StatusCode::FORBIDDEN),
            ("page?url=https://b.example/b", StatusCode::FORBIDDEN),
            ("page?url=https://www.example.org/a", StatusCode::OK),
            ("similar?url=https://b.example/b", StatusCode::FORBIDDEN),
            ("similar?url=https://www.example.org/a", StatusCode::OK),
        ] {
            assert_eq!(with(path, &shop.secret).await.status, status, "{path}");
        }
        let similar = with("similar?url=https://www.example.org/a", &shop.secret).await;
        assert!(!similar.text().contains("https://b.example"), "{}", similar.text());
        assert_eq!(store.usage()[&shop.record.id].requests, 6, "refused endpoints are no use");

        // Another process revokes the key; this one notices within a second.
        other_process.revoke("shop").unwrap();
        let start = std::time::Instant::now();
        while with("search?q=lighthouse", &shop.secret).await.status == StatusCode::OK {
            assert!(start.elapsed() < std::time::Duration::from_secs(20));
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        let revoked = with("search?q=lighthouse", &shop.secret).await;
        assert_eq!(revoked.status, StatusCode::UNAUTHORIZED);
        assert!(revoked.text().contains("was revoked"), "{}", revoked.text());
        let rotated = store.rotate("Shop", "Keeper").unwrap();
        assert_eq!(with("search?q=lighthouse", &rotated.secret).await.status, StatusCode::OK);
        assert!(with("search?q=lighthouse", &shop.secret).await.text().contains("is wrong"));
        let until = pharos_core::Timestamp::parse("2020-01-01T00:00:00Z");
        let ended = store.add(NewApiKey { name: "Old".into(), until, ..NewApiKey::default() }).unwrap();
        assert!(with("stats", &ended.secret).await.text().contains("ended on 2020-01-01T00:00:00Z"));
    }

    #[tokio::test]
    async fn the_first_key_closes_the_api_and_revoking_it_does_not_open_it() {
        let (dir, service) = engine(&[], Config::default());
        let app = AppState::new(service).unwrap();
        let store = &app.api().keys.store;
        let router = crate::server::router::build(app.clone());
        let stats = async || get(&router, "/api/v1/stats").await.status;
        assert_eq!(stats().await, StatusCode::OK);
        assert!(!get(&router, "/api").await.text().contains("API-Key: KEY"));
        let key = NewApiKey { name: "Shop".into(), rate: Some(1), ..NewApiKey::default() };
        let key = store.add(key).unwrap();
        assert_eq!(stats().await, StatusCode::UNAUTHORIZED);
        assert!(get(&router, "/api").await.text().contains("API-Key: KEY"));
        let document = get(&router, "/api/v1/openapi.json").await;
        assert!(document.text().contains("\"401\""), "the document says so");
        let mut statuses = Vec::new();
        for _ in 0..4 {
            statuses.push(get_with(&router, "/api/v1/stats", &[("api-key", &key.secret)]).await.status);
        }
        assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS), "its own rate: {statuses:?}");
        store.revoke("Shop").unwrap();
        assert_eq!(stats().await, StatusCode::UNAUTHORIZED);
        store.remove("Shop").unwrap();
        assert_eq!(stats().await, StatusCode::OK);
        std::fs::write(dir.path().join("desk/api_keys.json"), "damaged").unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(600)).await;
        assert_eq!(stats().await, StatusCode::UNAUTHORIZED, "a damaged file opens nothing");
        let with_key = get_with(&router, "/api/v1/stats", &[("api-key", &key.secret)]).await;
        assert_eq!(with_key.status, StatusCode::SERVICE_UNAVAILABLE);
    }
}
