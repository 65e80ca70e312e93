//! `/api/v1/page`: the status of one page.
//!
//! Internals of the crawl are not included: how a page was discovered, its library position, the reason of a failure.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_core::PageObject;
use pharos_engine::status::page_report::{StoredVersion, VersionContent};
use pharos_store::PageState;
use pharos_store::interpret::status::is_success;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_keys::KeyScope;
use super::params::{Params, UrlParam};
use super::problem::ApiError;
use super::search::Switch;
use crate::pages::cached_page::version_time::format_version_time;
use crate::server::visitor::Visitor;
use crate::state::AppState;
use crate::state::page_status::PageStatus;

/// Parameters of `/api/v1/page`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// Full URL of the page.
    #[serde(default)]
    #[param(inline, required, example = "https://www.example.org/")]
    url: UrlParam,
    /// Include the page object: text, links and metadata.
    #[serde(default)]
    #[param(value_type = Switch)]
    object: bool,
}

/// Status of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageAnswer {
    /// Normalised URL.
    url: String,
    /// State of the page in the crawl.
    state: ApiPageState,
    /// `true` if the page can be found by searching.
    searchable: bool,
    /// Title, if the page is searchable.
    #[schema(required)]
    title: Option<String>,
    /// Language code, if the page is searchable; empty if unknown.
    #[schema(required)]
    lang: Option<String>,
    /// Time at which the searchable copy was fetched, otherwise time of the last visit.
    #[schema(required, format = DateTime)]
    fetched: Option<String>,
    /// Time at which the page was discovered.
    #[schema(required, format = DateTime)]
    found: Option<String>,
    /// HTTP status of the latest response.
    #[schema(required)]
    status: Option<u16>,
    /// Path of the cached page.
    #[schema(required)]
    cached_url: Option<String>,
    /// Responses of the server, newest first; at most 20.
    versions: Vec<PageVersion>,
    /// Page object of the stored copy, if requested; null if it may not be shown or is not HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PageObjectSchema>)]
    object: Option<Option<PageObject>>,
}

/// State of a page in the crawl.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = PageState)]
pub(crate) enum ApiPageState {
    /// Discovered, not fetched yet.
    Waiting,
    /// The server responded.
    Stored,
    /// No response.
    Failed,
    /// Not fetched, because robots.txt or a crawl rule forbids it.
    Refused,
    /// Deleted or removed.
    Deleted,
    /// The server responded, but the page could not be analysed.
    Quarantined,
}

/// A response of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageVersion {
    /// Time of the response.
    #[schema(format = DateTime)]
    at: String,
    /// HTTP status.
    status: u16,
    /// Hash of the content; equal for identical content.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    digest: String,
    /// Extent of the stored content.
    kept: VersionKept,
    /// Size of the stored content in bytes.
    #[schema(required)]
    size: Option<usize>,
    /// Path of the cached page of this version.
    #[schema(required)]
    snapshot_url: Option<String>,
}

/// Extent of the stored content of a version.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionKept {
    /// The full content.
    Whole,
    /// Same content as an earlier version.
    Unchanged,
    /// Deleted by the retention policy.
    Dropped,
    /// Unreadable.
    Damaged,
}

/// A page object as printed by `pharos clean --json`.
#[derive(ToSchema)]
#[schema(as = PageObject)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct PageObjectSchema {
    url: String,
    title: String,
    /// Heading of the main content.
    content_title: String,
    keywords: Vec<String>,
    #[schema(rename = "abstract")]
    summary: String,
    /// Main content as text; paragraphs are separated by line feeds.
    text: String,
    /// Main content as HTML of the page itself; sanitise it before display.
    html: String,
    links: Vec<PageLink>,
    /// Links to pages on the same topic.
    related_links: Vec<PageLink>,
    /// `topic`, `hub` or `picture`.
    #[schema(rename = "type")]
    page_type: String,
    lang: String,
    charset: String,
    #[schema(required)]
    published: Option<String>,
    #[schema(required)]
    modified: Option<String>,
    author: String,
    site_name: String,
    /// URL of the representative image.
    image: String,
    #[schema(required)]
    canonical: Option<String>,
    robots: String,
    category: String,
    #[schema(value_type = Vec<Object>)]
    blocks: Vec<BTreeMap<String, String>>,
    /// Versions in other languages.
    #[schema(required = false)]
    alternates: Vec<PageAlternate>,
    #[schema(required = false)]
    feeds: Vec<String>,
    #[schema(required = false)]
    headings: Vec<String>,
    #[schema(required = false)]
    emphasised: Vec<String>,
    /// Most important terms, by descending weight.
    #[schema(required = false)]
    terms: Vec<PageTerm>,
    /// Layout fingerprint.
    #[schema(required = false)]
    layout: u32,
    #[schema(required = false)]
    format: String,
    /// Byte ranges of the text that must not be quoted.
    #[schema(required = false)]
    unquotable: Vec<PageRange>,
    /// Reason why there is no text.
    #[schema(required = false)]
    unread: String,
}

/// A link of a page.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct PageLink {
    url: String,
    anchor: String,
    /// `page`, `frame` or `resource`.
    kind: String,
    #[schema(required = false)]
    rel: String,
}

/// A version of the page in another language.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct PageAlternate {
    lang: String,
    url: String,
}

/// A term with its weight.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct PageTerm {
    term: String,
    weight: f32,
}

/// A byte range.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct PageRange {
    start: usize,
    end: usize,
}

/// Status of a page.
#[utoipa::path(
    get,
    path = "/api/v1/page",
    tag = "Pages",
    params(PageParams),
    responses(
        (status = 200, description = "Status of the page", body = PageAnswer),
        (status = 400, description = "A parameter is missing or invalid"),
        (status = 404, description = "Unknown page"),
        (status = 422, description = "The stored page causes too much work")
    )
)]
pub(crate) async fn page(
    State(app): State<AppState>,
    visitor: Visitor,
    scope: KeyScope,
    Params(params): Params<PageParams>,
) -> Result<Response, ApiError> {
    let url = params.url.parse()?;
    scope.check_page(&url)?;
    let Some(status) = app.page_status(&visitor, url.clone()).await? else {
        return Err(ApiError::not_found("unknown page"));
    };
    let object = if params.object { Some(app.page_object(&visitor, url).await?) } else { None };
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(PageAnswer::new(&status, object))).into_response())
}

impl PageAnswer {
    fn new(status: &PageStatus, object: Option<Option<PageObject>>) -> Self {
        let (indexed, page) = (status.indexed.as_ref(), status.report.as_ref().map(|report| &report.page));
        let cached_page = status.cached_page_path();
        let versions = status.report.as_ref().map(|report| report.versions.as_slice()).unwrap_or_default();
        let fetched =
            indexed.map(|indexed| indexed.fetched).or_else(|| page.and_then(|page| page.visited_at));
        Self {
            url: status.url.as_str().to_string(),
            state: page.map_or(ApiPageState::Stored, |page| ApiPageState::from_catalog(page.state)),
            searchable: indexed.is_some(),
            title: indexed.map(|indexed| indexed.title.clone()),
            lang: indexed.map(|indexed| indexed.lang.clone()),
            fetched: fetched.map(|at| at.to_string()),
            found: page.map(|page| page.found_at.to_string()),
            status: page.and_then(|page| page.status),
            versions: versions
                .iter()
                .map(|version| PageVersion::new(version, cached_page.as_deref()))
                .collect(),
            cached_url: cached_page,
            object,
        }
    }
}

impl ApiPageState {
    fn from_catalog(state: PageState) -> Self {
        match state {
            PageState::Waiting => Self::Waiting,
            PageState::Stored => Self::Stored,
            PageState::Failed => Self::Failed,
            PageState::Refused => Self::Refused,
            PageState::Deleted | PageState::Removed => Self::Deleted,
            PageState::Quarantined => Self::Quarantined,
        }
    }
}

impl PageVersion {
    fn new(stored: &StoredVersion, cached_page: Option<&str>) -> Self {
        let (kept, size) = match stored.kept {
            VersionContent::Whole(bytes) => (VersionKept::Whole, Some(bytes)),
            VersionContent::Unchanged => (VersionKept::Unchanged, None),
            VersionContent::Dropped => (VersionKept::Dropped, None),
            VersionContent::Damaged => (VersionKept::Damaged, None),
        };
        let version = &stored.version;
        // Only successful responses have a cached page.
        let can_be_shown =
            is_success(version.status) && matches!(kept, VersionKept::Whole | VersionKept::Unchanged);
        Self {
            at: version.at.to_string(),
            status: version.status,
            digest: format!("{:016x}", version.digest),
            kept,
            size,
            snapshot_url: cached_page
                .filter(|_| can_be_shown)
                .map(|path| format!("{path}?at={}", format_version_time(version.at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use pharos_core::{Config, PageUrl, Timestamp};
    use pharos_store::catalog::{CatalogChange, DiscoveredLink, Removal, ResponseSummary, VisitOutcome};
    use serde_json::{Value, json};

    use crate::router;
    use crate::testing::{TestPage, apply_changes, engine, get};

    const PAGES: [TestPage; 3] = [
        TestPage::new(
            "https://www.example.org/a",
            "Lighthouse",
            "<h1>Light</h1><a href=/b>Harbour</a> The lighthouse stands.",
        ),
        TestPage { archive: false, ..TestPage::new("https://www.example.org/b", "Harbour", "A harbour.") },
        TestPage {
            headers: &[("content-type", "application/pdf")],
            ..TestPage::new("https://www.example.org/c.pdf", "Paper", "%PDF-")
        },
    ];

    fn visited(url: &PageUrl, at: Timestamp, outcome: VisitOutcome) -> CatalogChange {
        CatalogChange::Visited { url: url.clone(), at, outcome, next_due: None }
    }

    #[tokio::test]
    async fn the_status_contains_no_internals() {
        let (dir, service) = engine(&PAGES, Config::default());
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let position = service.search.processor().page(PAGES[0].url().id()).unwrap().unwrap().position;
        let url = |path: &str| PageUrl::parse(&format!("https://www.example.org/{path}")).unwrap();
        let answered = ResponseSummary {
            status: 200,
            position,
            digest: 255,
            indexable: true,
            ..ResponseSummary::default()
        };
        let mut changes: Vec<CatalogChange> = ["a", "waiting", "failed", "refused", "removed"]
            .map(|path| {
                CatalogChange::Found(DiscoveredLink {
                    anchor: "secret anchor".into(),
                    ..DiscoveredLink::new(url(path), 7, at)
                })
            })
            .into();
        let reason = "private address 10.0.0.1".to_string();
        changes.push(visited(&url("a"), at, VisitOutcome::Responded(answered)));
        changes.push(visited(
            &url("failed"),
            at,
            VisitOutcome::Failed { reason: reason.clone(), attempt: 1 },
        ));
        changes.push(visited(&url("refused"), at, VisitOutcome::Refused { reason }));
        changes.push(CatalogChange::Removed(Removal::Page(url("removed"))));
        apply_changes(&dir, &changes);
        let router = router(service).unwrap();
        let page = async |path: &str| {
            let reply = get(&router, &format!("/api/v1/page?url=https://www.example.org/{path}")).await;
            for secret in ["10.0.0.1", "anchor", "depth", "position", "reason"] {
                assert!(!reply.text().contains(secret), "{secret} in {}", reply.text());
            }
            (reply.status, serde_json::from_slice::<Value>(&reply.bytes).unwrap())
        };
        let (status, a) = page("a").await;
        assert_eq!(status, StatusCode::OK);
        let size = a["versions"][0]["size"].as_u64().unwrap();
        assert!(size > 20, "{a}");
        let cached_page = PAGES[0].cached_page();
        assert_eq!(
            a,
            json!({
                "url": "https://www.example.org/a", "state": "stored", "searchable": true, "title": "Lighthouse", "lang": "en",
                "fetched": "2026-01-31T12:00:00Z", "found": "2026-01-31T12:00:00Z", "status": 200, "cached_url": cached_page,
                "versions": [{
                    "at": "2026-01-31T12:00:00Z", "status": 200, "digest": "00000000000000ff", "kept": "whole", "size": size,
                    "snapshot_url": format!("{cached_page}?at=20260131120000"),
                }],
            })
        );
        for (path, state) in [("waiting", "waiting"), ("failed", "failed"), ("refused", "refused")] {
            let (status, json) = page(path).await;
            assert_eq!(
                (status, &json["state"], &json["searchable"]),
                (StatusCode::OK, &json!(state), &json!(false))
            );
            assert_eq!((&json["title"], &json["cached_url"]), (&Value::Null, &Value::Null));
        }
        let (status, b) = page("b").await;
        assert_eq!((status, &b["state"], &b["cached_url"]), (StatusCode::OK, &json!("stored"), &Value::Null));
        for path in ["removed", "never"] {
            assert_eq!(page(path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(get(&router, "/api/v1/page?url=ftp://x/").await.status, StatusCode::BAD_REQUEST);
    }

    #[tokio::test]
    async fn the_page_object_is_given_if_a_copy_may_be_shown() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let object = async |path: &str| {
            let reply =
                get(&router, &format!("/api/v1/page?object=1&url=https://www.example.org/{path}")).await;
            let json: Value = serde_json::from_slice(&reply.bytes).unwrap();
            assert!(json.as_object().unwrap().contains_key("object"), "{path}");
            json["object"].clone()
        };
        let a = object("a").await;
        assert_eq!(a["title"], "Lighthouse");
        assert_eq!(a["links"][0]["url"], "https://www.example.org/b");
        assert!(a["text"].as_str().unwrap().contains("The lighthouse stands."), "{a}");
        assert_eq!((object("b").await, object("c.pdf").await), (Value::Null, Value::Null));
        let without = get(&router, "/api/v1/page?object=0&url=https://www.example.org/a").await;
        assert!(!without.text().contains("object"));
    }
}
