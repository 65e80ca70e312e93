//! `/indexnow`: notices of changed pages by webmasters (indexnow.org). Off by default.
//!
//! A notice is accepted for a site that is crawled, and only if a file on that site contains the key of the notice. The pages
//! are then visited sooner, as far as earlier notices and sitemaps of the site proved right.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use moka::sync::Cache;
use pharos_core::PageUrl;
use pharos_engine::Order;
use pharos_engine::control::indexnow::{covers, is_key, key_file, verify_key};
use pharos_engine::control::orders::{Enqueued, enqueue_order};
use serde::Deserialize;

use super::problem::ApiError;
use crate::server::visitor::Visitor;
use crate::state::submission::FULL_RETRY_SECONDS;
use crate::state::{AppState, ServiceError};

/// Number of verified keys that are remembered, and for how long.
const MAX_KEYS: u64 = 1_000;
const KEY_LIFETIME: Duration = Duration::from_secs(3600);

/// Key files whose content was verified, with their keys.
pub(crate) struct VerifiedKeys(Cache<(PageUrl, String), ()>);

impl Default for VerifiedKeys {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_KEYS).time_to_live(KEY_LIFETIME).build())
    }
}

/// A notice about several pages.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notice {
    host: String,
    key: String,
    key_location: Option<String>,
    url_list: Vec<String>,
}

/// `POST /indexnow` with a JSON body, and `GET /indexnow?url=…&key=…`.
pub(crate) async fn indexnow(
    State(app): State<AppState>,
    visitor: Visitor,
    method: Method,
    body: Bytes,
) -> Result<StatusCode, ApiError> {
    if !app.config().web.indexnow {
        return Err(ApiError::not_found("IndexNow notices are not accepted here (web.indexnow)"));
    }
    let notice = if method == Method::POST { from_body(&body)? } else { from_query(&visitor)? };
    if !is_key(&notice.key) {
        return Err(ApiError::bad_request("the key must have 8 to 128 letters, digits or hyphens"));
    }
    let mut pages = Vec::new();
    for url in &notice.url_list {
        let page = PageUrl::parse(url).map_err(|_| ApiError::bad_request(format!("invalid URL: {url}")))?;
        if !page.host().eq_ignore_ascii_case(&notice.host) {
            return Err(unprocessable("a URL does not belong to the host"));
        }
        pages.push(page);
    }
    let Some(first) = pages.first().cloned() else {
        return Err(ApiError::bad_request("the list of URLs is empty"));
    };
    let Some(file) = key_file(&first, &notice.key, notice.key_location.as_deref()) else {
        return Err(unprocessable("the key file must be on the host"));
    };
    if !pages.iter().all(|page| covers(&file, page)) {
        return Err(unprocessable("a URL is not in the directory of the key file"));
    }
    check_rate(&app, &visitor)?;
    let site = first.site();
    let is_known = app
        .run_blocking(move |service| {
            let Some(catalog) = service.stores.catalog()? else { return Ok(false) };
            Ok(catalog.site(site.id())?.is_some())
        })
        .await?;
    if !is_known {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "this site is not crawled here"));
    }
    let keys = &app.api().indexnow.0;
    let proof = (file.clone(), notice.key.clone());
    if !keys.contains_key(&proof) {
        if !verify_key(&app.config().crawl, &file, &notice.key).await {
            let detail = format!("the key was not found in {file}");
            return Err(ApiError::new(StatusCode::FORBIDDEN, detail));
        }
        keys.insert(proof, ());
    }
    announce(&app, pages).await
}

fn from_body(body: &[u8]) -> Result<Notice, ApiError> {
    serde_json::from_slice(body).map_err(|_| {
        ApiError::bad_request(
            "the body must be JSON with host, key and urlList, as described at indexnow.org",
        )
    })
}

fn from_query(visitor: &Visitor) -> Result<Notice, ApiError> {
    let param = |name| visitor.param(name).unwrap_or_default().to_string();
    let url = param("url");
    let page = PageUrl::parse(&url).map_err(|_| ApiError::bad_request("`url` is not a valid URL"))?;
    Ok(Notice {
        host: page.host().to_string(),
        key: param("key"),
        key_location: visitor.param("keyLocation").map(str::to_string),
        url_list: vec![url],
    })
}

fn unprocessable(detail: &str) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
}

/// Counts a notice as a submission of its sender.
fn check_rate(app: &AppState, visitor: &Visitor) -> Result<(), ApiError> {
    app.acquire_submission(visitor).map_err(|wait| ApiError::Client {
        status: StatusCode::TOO_MANY_REQUESTS,
        detail: "too many notices from your address: send several URLs in one notice".into(),
        retry_after: Some(wait),
    })
}

/// Passes the pages to the engine.
async fn announce(app: &AppState, pages: Vec<PageUrl>) -> Result<StatusCode, ApiError> {
    let done = app
        .run_blocking(move |service| {
            let limit = service.config.web.submissions;
            Ok::<_, ServiceError>(enqueue_order(&service.data, &Order::Announce(pages), limit)?)
        })
        .await?;
    match done {
        Enqueued::Pending => Ok(StatusCode::ACCEPTED),
        Enqueued::Full => Err(ApiError::Client {
            status: StatusCode::SERVICE_UNAVAILABLE,
            detail: "too many notices are waiting: try again later".into(),
            retry_after: Some(FULL_RETRY_SECONDS),
        }),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use pharos_core::{Config, Timestamp};
    use pharos_store::catalog::{CatalogChange, DiscoveredLink};
    use serde_json::json;
    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::router;
    use crate::testing::{Reply, apply_changes, engine, get, post};

    const KEY: &str = "0123456789abcdef";

    /// A server that returns the key for every path with `key` in it, and 404 otherwise.
    async fn key_server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).await.unwrap_or_default();
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let is_there = request.split(' ').nth(1).is_some_and(|path| path.contains(KEY));
                let status = if is_there { "200 OK" } else { "404 Not Found" };
                let reply = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{KEY}\n",
                    KEY.len() + 1
                );
                let _ = stream.write_all(reply.as_bytes()).await;
            }
        });
        host
    }

    fn served(host: &str, is_on: bool) -> (TempDir, Router) {
        let mut config = Config::default();
        config.web.indexnow = is_on;
        config.web.submit_rate = 100;
        config.crawl.allow_private = true;
        let (dir, service) = engine(&[], config);
        let url = PageUrl::parse(&format!("http://{host}/")).unwrap();
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        apply_changes(&dir, &[CatalogChange::Found(DiscoveredLink::new(url, 0, at))]);
        (dir, router(service).unwrap())
    }

    async fn notify(router: &Router, host: &str, key: &str, urls: &[String]) -> Reply {
        let name = host.split(':').next().unwrap();
        let body = json!({ "host": name, "key": key, "urlList": urls }).to_string();
        post(router, "/indexnow", "application/json", &body).await
    }

    fn orders(dir: &TempDir) -> Vec<Order> {
        let Ok(files) = std::fs::read_dir(dir.path().join("inbox")) else { return Vec::new() };
        files.flatten().map(|f| serde_json::from_slice(&std::fs::read(f.path()).unwrap()).unwrap()).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_notice_with_a_verified_key_becomes_an_order() {
        let host = key_server().await;
        let (dir, router) = served(&host, true);
        let url = |path: &str| format!("http://{host}/{path}");
        assert_eq!(notify(&router, &host, KEY, &[url("a"), url("b")]).await.status, StatusCode::ACCEPTED);
        let pages = [url("a"), url("b")].map(|url| PageUrl::parse(&url).unwrap());
        assert_eq!(orders(&dir), [Order::Announce(pages.to_vec())]);
        let query = format!("/indexnow?url={}&key={KEY}", url("c").replace(':', "%3A").replace('/', "%2F"));
        assert_eq!(get(&router, &query).await.status, StatusCode::ACCEPTED);
        assert_eq!(orders(&dir).len(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn notices_without_proof_are_refused() {
        let host = key_server().await;
        let (dir, router) = served(&host, true);
        let here = [format!("http://{host}/a")];
        for (key, urls, status) in [
            ("wrong-key-0123", here.to_vec(), StatusCode::FORBIDDEN),
            ("short", here.to_vec(), StatusCode::BAD_REQUEST),
            (KEY, Vec::new(), StatusCode::BAD_REQUEST),
            (KEY, vec!["http://other.example/".to_string()], StatusCode::UNPROCESSABLE_ENTITY),
            (KEY, vec!["x".to_string()], StatusCode::BAD_REQUEST),
        ] {
            assert_eq!(notify(&router, &host, key, &urls).await.status, status, "{key} {urls:?}");
        }
        let unknown = notify(&router, "b.example", KEY, &["http://b.example/".to_string()]).await;
        assert_eq!(unknown.status, StatusCode::FORBIDDEN);
        for body in ["", "{", "[]", "{\"host\":1}"] {
            let reply = post(&router, "/indexnow", "application/json", body).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        }
        assert_eq!(orders(&dir), []);
    }

    #[tokio::test]
    async fn notices_are_off_by_default() {
        assert!(!Config::default().web.indexnow);
        let (_dir, router) = served("a.example", false);
        let reply = notify(&router, "a.example", KEY, &["http://a.example/".to_string()]).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
    }
}
