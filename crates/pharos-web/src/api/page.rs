//! `/api/v1/page`: what is known of one page.
//!
//! What concerns the crawl alone stays inside: how a page was found, where it stands in the library, why it failed.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use pharos_core::{PageObject, Timestamp};
use pharos_engine::{Kept, StoredVersion};
use pharos_store::PageState;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::params::Params;
use super::problem::Refusal;
use super::search::Switch;
use crate::known::Known;
use crate::service::Rooms;
use crate::visitor::Visitor;

/// What a page is asked for with.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct PageParams {
    /// The address of the page, written in full.
    #[param(
        pattern = r"^https?://([A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(:[0-5]?[0-9]{1,4})?(/[!-~]*)?$",
        max_length = 2047,
        example = "https://www.example.org/"
    )]
    url: String,
    /// The page object, too: text, links and more.
    #[param(required = false, value_type = Switch)]
    object: bool,
}

/// What is known of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageAnswer {
    /// Its address as we write it.
    url: String,
    /// Where it stands.
    state: Standing,
    /// Whether it can be found by searching.
    searchable: bool,
    /// Its title, where it can be found.
    #[schema(required)]
    title: Option<String>,
    /// Its language, where it can be found; empty where that cannot be told.
    #[schema(required)]
    lang: Option<String>,
    /// When the copy that can be found was fetched, or else when the page was last visited.
    #[schema(required, format = DateTime)]
    fetched: Option<String>,
    /// When it was first heard of.
    #[schema(required, format = DateTime)]
    found: Option<String>,
    /// The status of its server's last answer.
    #[schema(required)]
    status: Option<u16>,
    /// The page of ours that shows the stored copy.
    #[schema(required)]
    cached_url: Option<String>,
    /// What its server answered, newest first; the latest 20.
    versions: Vec<PageVersion>,
    /// The page object of the stored copy, where asked for; null where it may not be shown or is no HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PageObjectWords>)]
    object: Option<Option<PageObject>>,
}

/// Where a page stands.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = PageState)]
pub(crate) enum Standing {
    /// Known, not yet asked for.
    Waiting,
    /// Its server answered.
    Stored,
    /// No answer came.
    Failed,
    /// Not asked for, by a rule: its server's or ours.
    Refused,
    /// Gone.
    Deleted,
}

/// One answer of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageVersion {
    /// When it was given.
    #[schema(format = DateTime)]
    at: String,
    /// Its status.
    status: u16,
    /// A hash of what it said: versions with the same say the same.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    digest: String,
    /// What is there of it.
    kept: VersionKept,
    /// Bytes of what is there.
    #[schema(required)]
    size: Option<usize>,
    /// The page of ours that shows it.
    #[schema(required)]
    snapshot_url: Option<String>,
}

/// What is there of a version.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionKept {
    /// All of it.
    Whole,
    /// It is the same as an earlier version.
    Unchanged,
    /// Nothing any more.
    Dropped,
    /// It cannot be read.
    Damaged,
}

/// What is left of a page once it has been understood, as `pharos clean --json` prints it.
#[derive(ToSchema)]
#[schema(as = PageObject)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct PageObjectWords {
    url: String,
    title: String,
    /// The heading of the content itself.
    content_title: String,
    keywords: Vec<String>,
    #[schema(rename = "abstract")]
    summary: String,
    /// The cleaned text, paragraphs separated by line feeds.
    text: String,
    /// The cleaned content as HTML. It is the page's own and not safe to show as it is.
    html: String,
    links: Vec<PageLink>,
    /// Links to pages on the same subject.
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
    /// Address of the picture that stands for the page.
    image: String,
    #[schema(required)]
    canonical: Option<String>,
    robots: String,
    category: String,
    #[schema(value_type = Vec<Object>)]
    blocks: Vec<BTreeMap<String, String>>,
    /// The page in other languages.
    #[schema(required = false)]
    alternates: Vec<PageAlternate>,
    #[schema(required = false)]
    feeds: Vec<String>,
    #[schema(required = false)]
    headings: Vec<String>,
    #[schema(required = false)]
    emphasised: Vec<String>,
    /// The words that matter most, the weightiest first.
    #[schema(required = false)]
    terms: Vec<PageTerm>,
    /// A fingerprint of the layout.
    #[schema(required = false)]
    layout: u32,
    #[schema(required = false)]
    format: String,
    /// Parts of the text, in bytes, that must not be quoted.
    #[schema(required = false)]
    unquotable: Vec<PageRange>,
    /// Why there is no text.
    #[schema(required = false)]
    unread: String,
}

/// A link out of a page.
#[derive(ToSchema)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct PageLink {
    url: String,
    anchor: String,
    /// `page`, `frame` or `resource`.
    kind: String,
    #[schema(required = false)]
    rel: String,
}

/// The same page in another language.
#[derive(ToSchema)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct PageAlternate {
    lang: String,
    url: String,
}

/// A word of a page with its importance there.
#[derive(ToSchema)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct PageTerm {
    term: String,
    weight: f32,
}

/// A part of a text, in bytes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct PageRange {
    start: usize,
    end: usize,
}

/// What is known of a page.
#[utoipa::path(
    get,
    path = "/api/v1/page",
    tag = "Pages",
    params(PageParams),
    responses(
        (status = 200, description = "What is known of it", body = PageAnswer),
        (status = 400, description = "A parameter is missing or wrong"),
        (status = 404, description = "Nothing is known of such a page")
    )
)]
pub(crate) async fn page(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, Refusal> {
    let params = Params(&visitor);
    let url = params.address("url")?;
    let wants_object = params.switch("object")?;
    let Some(known) = rooms.known(url.clone()).await? else {
        return Err(Refusal::not_found("nothing is known of such a page"));
    };
    let object = if wants_object { Some(rooms.object(url).await?) } else { None };
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(PageAnswer::new(&known, object))).into_response())
}

impl PageAnswer {
    fn new(known: &Known, object: Option<Option<PageObject>>) -> Self {
        let (card, page) = (known.card.as_ref(), known.story.as_ref().map(|story| &story.page));
        let snapshot = known.snapshot();
        let versions = known.story.as_ref().map(|story| story.versions.as_slice()).unwrap_or_default();
        let fetched = card.map(|card| card.fetched).or_else(|| page.and_then(|page| page.visited_at));
        Self {
            url: known.url.as_str().to_string(),
            state: page.map_or(Standing::Stored, |page| Standing::of(page.state)),
            searchable: card.is_some(),
            title: card.map(|card| card.title.clone()),
            lang: card.map(|card| card.lang.clone()),
            fetched: fetched.map(|at| at.to_string()),
            found: page.map(|page| page.found_at.to_string()),
            status: page.and_then(|page| page.status),
            versions: versions.iter().map(|version| PageVersion::new(version, snapshot.as_deref())).collect(),
            cached_url: snapshot,
            object,
        }
    }
}

impl Standing {
    fn of(state: PageState) -> Self {
        match state {
            PageState::Waiting => Self::Waiting,
            PageState::Stored => Self::Stored,
            PageState::Failed => Self::Failed,
            PageState::Refused => Self::Refused,
            PageState::Deleted | PageState::Removed => Self::Deleted,
        }
    }
}

impl PageVersion {
    fn new(stored: &StoredVersion, snapshot: Option<&str>) -> Self {
        let (kept, size) = match stored.kept {
            Kept::Whole(bytes) => (VersionKept::Whole, Some(bytes)),
            Kept::Unchanged => (VersionKept::Unchanged, None),
            Kept::Dropped => (VersionKept::Dropped, None),
            Kept::Damaged => (VersionKept::Damaged, None),
        };
        let version = &stored.version;
        // Only what a page said has a snapshot, not that there was none.
        let can_be_shown = (200..300).contains(&version.status)
            && matches!(kept, VersionKept::Whole | VersionKept::Unchanged);
        Self {
            at: version.at.to_string(),
            status: version.status,
            digest: format!("{:016x}", version.digest),
            kept,
            size,
            snapshot_url: snapshot
                .filter(|_| can_be_shown)
                .map(|snapshot| format!("{snapshot}?at={}", moment(version.at))),
        }
    }
}

/// `20260131120000`, as addresses of versions name a moment.
fn moment(at: Timestamp) -> String {
    at.to_string().chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use pharos_core::{Config, PageUrl};
    use pharos_store::{Answered, Change, Found, Outcome, Removal};
    use serde_json::{Value, json};

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get, know};

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

    fn visited(url: &PageUrl, at: Timestamp, outcome: Outcome) -> Change {
        Change::Visited { url: url.clone(), at, outcome, next_due: None }
    }

    #[tokio::test]
    async fn a_page_tells_its_story_and_nothing_else() {
        let (dir, service) = engine(&PAGES, Config::default());
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let position = service.search.page(PAGES[0].url().id()).unwrap().unwrap().position;
        let url = |path: &str| PageUrl::parse(&format!("https://www.example.org/{path}")).unwrap();
        let answered =
            Answered { status: 200, position, digest: 255, indexable: true, ..Answered::default() };
        let mut changes: Vec<Change> = ["a", "waiting", "failed", "refused", "removed"]
            .map(|path| {
                Change::Found(Found { anchor: "secret anchor".into(), ..Found::new(url(path), 7, at) })
            })
            .into();
        let reason = "private address 10.0.0.1".to_string();
        changes.push(visited(&url("a"), at, Outcome::Answered(answered)));
        changes.push(visited(&url("failed"), at, Outcome::Failed { reason: reason.clone(), attempt: 1 }));
        changes.push(visited(&url("refused"), at, Outcome::Refused { reason }));
        changes.push(Change::Removed(Removal::Page(url("removed"))));
        know(&dir, &changes);
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
        let snapshot = PAGES[0].snapshot();
        assert_eq!(
            a,
            json!({
                "url": "https://www.example.org/a", "state": "stored", "searchable": true, "title": "Lighthouse", "lang": "en",
                "fetched": "2026-01-31T12:00:00Z", "found": "2026-01-31T12:00:00Z", "status": 200, "cached_url": snapshot,
                "versions": [{
                    "at": "2026-01-31T12:00:00Z", "status": 200, "digest": "00000000000000ff", "kept": "whole", "size": size,
                    "snapshot_url": format!("{snapshot}?at=20260131120000"),
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
    async fn the_page_object_is_given_where_a_copy_may_be_shown() {
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
