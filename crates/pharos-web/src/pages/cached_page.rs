//! `/snapshot`: cached pages (网页快照), a banner above the stored page.
//!
//! The stored page is foreign HTML. `pharos-html` sanitises it, and it is displayed as if it were not sanitised: as a separate
//! document in a sandboxed frame, with a policy that forbids scripts, loading and access to this origin.
//!
//! `?at=YYYYMMDDhhmmss` selects a version, `?view=text` shows the main content.

mod banner;
pub(crate) mod version_time;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use pharos_core::{PageId, PageUrl, Timestamp};
use pharos_query::IndexedPage;

use self::banner::{BannerPage, CachedPageLink};
use self::version_time::parse_version_time;
use super::error_page::message_page;
use super::frame::{Link, PageFrame, respond};
use crate::messages::Messages;
use crate::server::visitor::{Visitor, link};
use crate::state::cached_copy::{CachedCopy, CachedPageLookup, CachedPageRequest, PageView};
use crate::state::{AppState, ServiceError};

/// Maximum number of versions listed.
const MAX_VERSIONS: usize = 200;

/// Policy of the stored page: it may open links in new windows and use inline styles.
const SANDBOX_POLICY: HeaderValue = HeaderValue::from_static(
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; \
     img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
);

/// Style sheet of the stored page's document.
const STYLE: &str =
    concat!(include_str!("../../static/cached_content.css"), include_str!("../../static/colours.css"));

/// `GET /snapshot?url=…`: redirects to the cached page of a URL.
pub(crate) async fn by_url(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ServiceError> {
    let url = visitor.param("url").and_then(|text| PageUrl::parse(text.trim()).ok());
    let Some(url) = url else { return Ok(missing(&visitor, &app)) };
    let id = url.id();
    let is_stored = app.indexed_page(url).await?.is_some() || app.is_gone_page(id).await?;
    Ok(match is_stored {
        true => Redirect::to(&format!("/snapshot/{id}")).into_response(),
        false => missing(&visitor, &app),
    })
}

/// `GET /snapshot/ID`: the banner and the frame.
pub(crate) async fn banner(
    State(app): State<AppState>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, ServiceError> {
    show_cached_page(&app, &visitor, &id, MAX_VERSIONS, |query, copy| {
        let frame = PageFrame::new(&visitor, app.config());
        let location = CachedPageLink::new(&id, query, &visitor, copy);
        respond(&visitor, StatusCode::OK, &BannerPage::new(frame, &location, copy))
    })
    .await
}

/// `GET /snapshot/ID/content`: the stored page.
pub(crate) async fn content(
    State(app): State<AppState>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, ServiceError> {
    show_cached_page(&app, &visitor, &id, 0, |_, copy| {
        sandboxed(respond(&visitor, StatusCode::OK, &ContentPage::new(copy, visitor.messages())))
    })
    .await
}

/// Renders a cached page with `page`, or a message why there is none.
async fn show_cached_page(
    app: &AppState,
    visitor: &Visitor,
    id: &str,
    versions: usize,
    page: impl FnOnce(&str, &CachedCopy) -> Response,
) -> Result<Response, ServiceError> {
    let Some(page_id) = page_id(id) else { return Ok(missing(visitor, app)) };
    let query = visitor.query(app.config().query.max_length);
    let request = CachedPageRequest {
        id: page_id,
        // An invalid time is earlier than all versions.
        at: requested_time(visitor)
            .map(|text| parse_version_time(text).unwrap_or(Timestamp::from_millis(i64::MIN))),
        view: if visitor.param("view") == Some("text") { PageView::Text } else { PageView::Layout },
        query: query.clone(),
        next: visitor.messages().snapshot_next,
        versions,
    };
    Ok(match app.cached_page(visitor, request).await? {
        CachedPageLookup::Missing => missing(visitor, app),
        CachedPageLookup::NoVersion(indexed) => no_version(visitor, app, id, &query, &indexed),
        CachedPageLookup::Withheld(indexed) => withheld(visitor, app, &indexed),
        CachedPageLookup::Copy(copy) => page(&query, &copy),
    })
}

fn requested_time(visitor: &Visitor) -> Option<&str> {
    visitor.param("at").map(str::trim).filter(|text| !text.is_empty())
}

/// Parses an id only in its canonical form, so that a page has one URL.
pub(super) fn page_id(text: &str) -> Option<PageId> {
    let id: PageId = text.parse().ok()?;
    (id.to_string() == text).then_some(id)
}

fn missing(visitor: &Visitor, app: &AppState) -> Response {
    let messages = visitor.messages();
    let (title, text) = (messages.not_in_library_title, messages.not_in_library_text);
    message_page(visitor, app.config(), StatusCode::NOT_FOUND, title, text, None)
}

fn no_version(visitor: &Visitor, app: &AppState, id: &str, query: &str, indexed: &IndexedPage) -> Response {
    let messages = visitor.messages();
    let query_param = (!query.is_empty()).then_some(("q", query));
    let newest = Link {
        href: link(&format!("/snapshot/{id}"), query_param),
        text: indexed.title_or_url().to_string(),
    };
    let (title, text) = (messages.no_version_title, messages.no_version_text);
    message_page(visitor, app.config(), StatusCode::NOT_FOUND, title, text, Some(newest))
}

/// Renders the message that the author does not allow copies.
pub(crate) fn withheld(visitor: &Visitor, app: &AppState, indexed: &IndexedPage) -> Response {
    let messages = visitor.messages();
    let live = Link { href: indexed.url.to_string(), text: indexed.url.to_string() };
    message_page(
        visitor,
        app.config(),
        StatusCode::FORBIDDEN,
        messages.withheld_title,
        messages.withheld_text,
        Some(live),
    )
}

fn sandboxed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // The language is that of the stored page, not of the visitor.
    headers.remove(CONTENT_LANGUAGE);
    headers.insert(CONTENT_SECURITY_POLICY, SANDBOX_POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    response
}

/// Returns the title, or the URL if there is none.
fn title(title: &str, indexed: &IndexedPage) -> String {
    if title.trim().is_empty() { indexed.url.to_string() } else { title.to_string() }
}

#[derive(Template)]
#[template(path = "cached_content.html")]
struct ContentPage<'a> {
    title: &'a str,
    lang: &'a str,
    style: &'static str,
    content: &'a str,
    /// Shown if the stored file is neither HTML nor text.
    nothing: &'static str,
}

impl<'a> ContentPage<'a> {
    fn new(copy: &'a CachedCopy, messages: &'static Messages) -> Self {
        Self {
            title: &copy.shown.title,
            lang: &copy.indexed.lang,
            style: STYLE,
            content: &copy.shown.html,
            nothing: messages.snapshot_empty,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::Router;
    use pharos_core::{Config, LibraryPosition};
    use pharos_html::cached_page::COLOURS;
    use pharos_store::catalog::{CatalogChange, Removal, ResponseSummary, VisitOutcome};
    use pharos_store::{Catalog, LibraryRecord, RawResponse as Answer, RecordContent};

    use super::banner::LISTED_VERSIONS;
    use super::*;
    use crate::testing::{Reply, TestPage, engine, get};
    use crate::{Service, router};

    const PAGE: TestPage = TestPage::new(
        "https://www.example.org/tower",
        "The tower",
        "A lighthouse on a rock. The lighthouse shines.",
    );

    #[tokio::test]
    async fn each_word_has_its_colour_and_a_link_to_its_occurrence() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let router = router(service).unwrap();
        let here = PAGE.cached_page();

        let banner = get(&router, &format!("{here}?q=lighthouse+rock+ship")).await;
        assert_eq!(banner.status, StatusCode::OK);
        let html = banner.text();
        for part in [
            format!(
                "<a class=\"w0\" href=\"{here}/content?q=lighthouse+rock+ship#w0-1\" target=\"stored\">lighthouse<small>2</small></a>"
            ),
            format!(
                "<a class=\"w1\" href=\"{here}/content?q=lighthouse+rock+ship#w1-1\" target=\"stored\">rock<small>1</small></a>"
            ),
            "<p>Not in the page: <bdi>ship</bdi></p>".to_string(),
            "stored on 31 Jan 2026, 12:00 UTC. ".to_string(),
            "<a href=\"https://www.example.org/tower\">".to_string(),
            "sandbox=\"allow-popups allow-popups-to-escape-sandbox\"".to_string(),
            "<a href=\"/clean?url=https%3A%2F%2Fwww.example.org%2Ftower&#38;q=lighthouse+rock+ship\">Cleaned view</a>"
                .to_string(),
        ] {
            assert!(html.contains(&part), "{part} is missing in {html}");
        }
        let (on_top, below) = html.split_once("<iframe").unwrap();
        assert!(on_top.contains("class=\"banner\"") && below.contains("name=\"stored\""));

        let content = get(&router, &format!("{here}/content?q=lighthouse+rock+ship")).await;
        let html = content.text();
        for part in [
            "A <mark class=\"w0\" id=\"w0-1\"><a href=\"#w0-2\" target=\"_self\">lighthouse</a></mark> on a ",
            "<mark class=\"w1\" id=\"w1-1\"><a href=\"#w1-1\" target=\"_self\">rock</a></mark>",
            "The <mark class=\"w0\" id=\"w0-2\"><a href=\"#w0-1\" target=\"_self\">lighthouse</a></mark> shines",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        for colour in 0..COLOURS {
            assert_eq!(STYLE.matches(&format!(".w{colour}{{background:")).count(), 1);
        }
    }

    #[tokio::test]
    async fn a_stored_page_is_sandboxed() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let content = get(&router(service).unwrap(), &format!("{}/content", PAGE.cached_page())).await;
        let policy = content.header("content-security-policy");
        assert!(
            policy.starts_with("sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';"),
            "{policy}"
        );
        assert!(!policy.contains("allow-scripts") && !policy.contains("allow-same-origin"));
        assert_eq!(content.header("x-content-type-options"), "nosniff");
        assert_eq!(content.header("referrer-policy"), "no-referrer");
        assert_eq!(content.header("x-frame-options"), "SAMEORIGIN");
        assert!(!content.text().contains("x()"), "{}", content.text());
    }

    #[tokio::test]
    async fn missing_and_withheld_pages_are_reported() {
        let pages = [
            TestPage { archive: false, ..PAGE },
            TestPage {
                headers: &[("X-Robots-Tag", "noindex"), ("x-robots-tag", "NoArchive")],
                ..TestPage::new("http://a.b/", "t", "lighthouse")
            },
        ];
        let (_dir, service) = engine(&pages, Config::default());
        let router = router(service).unwrap();
        for page in &pages {
            for path in [page.cached_page(), format!("{}/content", page.cached_page())] {
                let reply = get(&router, &path).await;
                assert_eq!(reply.status, StatusCode::FORBIDDEN);
                assert!(reply.text().contains("does not allow snapshots"), "{}", reply.text());
                assert!(reply.text().contains(&format!("<a href=\"{}\">", page.url)), "{}", reply.text());
                assert!(!reply.text().contains("lighthouse</mark>"));
            }
        }
        let unknown =
            ["00000000000000000000000000000000", "zz", "+0000000000000000000000000000000", "%ff", "1", "é"];
        for id in unknown.map(|id| id.replace('é', "%C3%A9")) {
            for path in [format!("/snapshot/{id}"), format!("/snapshot/{id}/content")] {
                let reply = get(&router, &path).await;
                assert!(reply.status.is_client_error(), "{path}");
                assert!(reply.text().contains("class=\"message\""), "{path}: {}", reply.text());
            }
        }
        assert!(
            get(&router, "/snapshot/00000000000000000000000000000000")
                .await
                .text()
                .contains("not in the library")
        );
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// Returns a catalog that contains the indexed version.
    fn catalog(service: &Service, page: &TestPage) -> Arc<dyn Catalog> {
        let catalog = service.stores.own_catalog().unwrap();
        let stored = service.search.processor().page(page.url().id()).unwrap().unwrap();
        visit(
            service,
            &*catalog,
            page,
            stored.fetched,
            ResponseSummary { position: stored.position, ..answered(page.text) },
        );
        catalog
    }

    fn answered(text: &str) -> ResponseSummary {
        let digest = text.bytes().fold(1, |digest: u64, byte| digest.wrapping_mul(31) + u64::from(byte));
        ResponseSummary { status: 200, digest, ..ResponseSummary::default() }
    }

    fn visit(
        service: &Service,
        catalog: &dyn Catalog,
        page: &TestPage,
        at: Timestamp,
        answered: ResponseSummary,
    ) {
        // The position must not decrease.
        let mut reached = service.library.end().unwrap();
        reached.advance(answered.position);
        let outcome = VisitOutcome::Responded(answered);
        let visited = CatalogChange::Visited { url: page.url(), at, outcome, next_due: None };
        catalog.apply(&[visited], &reached).unwrap();
    }

    /// Stores another version of a page.
    fn store(
        service: &Service,
        catalog: &dyn Catalog,
        page: &TestPage,
        at: Timestamp,
        head: &str,
        text: &str,
    ) {
        let body = format!("<title>At {}</title>{head}<p>{text}", at.date());
        let headers = vec![("Content-Type".to_string(), "text/html".to_string())];
        let response = Answer { status: 200, headers, body: body.into(), ..Answer::default() };
        let record = LibraryRecord::new(page.url(), at, RecordContent::Response(response));
        let position = service.library.append(&[record]).unwrap()[0].0;
        visit(service, catalog, page, at, ResponseSummary { position, ..answered(text) });
    }

    async fn banner_and_content(router: &Router, params: &str) -> (Reply, Reply) {
        let here = PAGE.cached_page();
        let banner = get(router, &format!("{here}?{params}")).await;
        (banner, get(router, &format!("{here}/content?{params}")).await)
    }

    #[tokio::test]
    async fn every_version_can_be_opened() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let catalog = catalog(&service, &PAGE);
        store(&service, &*catalog, &PAGE, at("2025-03-01T08:00:00Z"), "", "An old lighthouse.");
        store(&service, &*catalog, &PAGE, at("2025-04-01T08:00:00.250Z"), "", "An old lighthouse.");
        store(&service, &*catalog, &PAGE, at("2025-05-01T08:00:00Z"), "", "A middle lighthouse.");
        let gone = LibraryPosition::new(7, 0);
        let dropped = ResponseSummary { position: gone, ..answered("dropped") };
        visit(&service, &*catalog, &PAGE, at("2025-06-01T08:00:00Z"), dropped);
        let router = router(service).unwrap();
        let here = PAGE.cached_page();

        let (banner, content) = banner_and_content(&router, "q=lighthouse").await;
        let html = banner.text();
        let current = format!(
            "<a href=\"{here}?q=lighthouse&#38;at=20260131120000\" rel=\"nofollow\" aria-current=\"page\">"
        );
        for part in [
            current.as_str(),
            "at=20250501080000\" rel=\"nofollow\"><time datetime=\"2025-05-01T08:00:00Z\">1 May 2025, 08:00 UTC</time></a>",
            "at=20250301080000\" rel=\"nofollow\" title=\"unchanged until 1 Apr 2025, 08:00 UTC\">",
            "<span class=\"absent\"><time datetime=\"2025-06-01T08:00:00Z\">1 Jun 2025, 08:00 UTC</time> <small>no longer stored</small>",
        ] {
            assert!(html.contains(part), "{part} is missing in {html}");
        }
        assert_eq!((html.matches("<time ").count(), html.matches("aria-current").count()), (4, 2), "{html}");
        assert!(!html.contains("<details"), "{html}");
        assert!(content.text().contains("shines"), "{}", content.text());

        for (moment, title, text, since) in [
            ("20250301080000", "At 2025-03-01", "An old", "20250301080000"),
            ("20250420000000", "At 2025-04-01", "An old", "20250301080000"),
            ("20250501080000", "At 2025-05-01", "A middle", "20250501080000"),
            // The version of June is no longer stored; this is the newest one before it.
            ("20250701000000", "At 2025-05-01", "A middle", "20250501080000"),
            ("20260131120000", "The tower", "shines", "20260131120000"),
            ("20991231235959", "The tower", "shines", "20260131120000"),
        ] {
            let (banner, content) = banner_and_content(&router, &format!("q=lighthouse&at={moment}")).await;
            let (html, shown) = (banner.text(), content.text());
            assert!(shown.contains(text) && shown.contains("id=\"w0-1\""), "{moment}: {shown}");
            let title = if text == "An old" { "<bdi>At 2025-0" } else { title };
            assert!(html.contains(title), "{moment}: {html}");
            let frame = format!("src=\"{here}/content?q=lighthouse&#38;at={since}\"");
            assert!(html.contains(&frame), "{moment}: {frame} is missing in {html}");
            let marked = format!("at={since}\" rel=\"nofollow\" aria-current=\"page\"");
            assert_eq!(html.matches(&marked).count(), 2, "{moment}: the version and the view of it: {html}");
            assert_eq!(content.header("referrer-policy"), "no-referrer", "{moment}");
        }
        let (banner, _) = banner_and_content(&router, "at=20250420000000&lang=zh").await;
        assert!(banner.text().contains("2025年3月1日 08:00 UTC") && banner.text().contains("历史版本"));
        assert!(banner.text().contains("截至 2025年4月1日 08:00 UTC 没有变化"), "{}", banner.text());

        for odd in [
            "20250228235959",
            "0",
            "2025",
            "20251301000000",
            "%ff",
            "yesterday",
            "123456789012345",
            "1234567890123é",
        ] {
            let odd = odd.replace('é', "%C3%A9");
            let (banner, content) = banner_and_content(&router, &format!("q=rock&at={odd}")).await;
            assert_eq!(
                (banner.status, content.status),
                (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND),
                "{odd}"
            );
            assert!(banner.text().contains("Version not found"), "{odd}: {}", banner.text());
            assert!(banner.text().contains(&format!("<a href=\"{here}?q=rock\"><bdi>The tower</bdi></a>")));
        }
        assert_eq!(get(&router, &format!("{here}?at=")).await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn many_versions_are_collapsed() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let catalog = catalog(&service, &PAGE);
        let first = at("2024-01-01T00:00:00Z");
        for day in 0..220 {
            let at = first.plus(Duration::from_secs(86_400) * day);
            store(&service, &*catalog, &PAGE, at, "", &format!("Number {day} of the lighthouse."));
        }
        let html = get(&router(service).unwrap(), &PAGE.cached_page()).await;
        let html = html.text();
        let (listed, all) = html.split_once("<details>").unwrap();
        assert_eq!(
            (listed.matches("<time").count(), all.matches("<time").count()),
            (LISTED_VERSIONS, MAX_VERSIONS)
        );
        assert!(all.contains("<summary>All 221 versions</summary>"), "{all}");
        assert!(all.contains("<li>and 21 older versions</li>"), "{all}");
    }

    #[tokio::test]
    async fn the_author_decides_about_every_version() {
        let noarchive = "<meta name=robots content='index, NoArchive'>";
        for (page, head) in [
            (TestPage { archive: false, ..PAGE }, ""),
            (TestPage { headers: &[("X-Robots-Tag", "none")], ..PAGE }, ""),
            (PAGE, noarchive),
        ] {
            let (_dir, service) = engine(&[TestPage { ..page }], Config::default());
            let catalog = catalog(&service, &page);
            store(&service, &*catalog, &page, at("2025-05-01T08:00:00Z"), head, "An old lighthouse.");
            let (banner, content) = banner_and_content(&router(service).unwrap(), "at=20250601000000").await;
            for reply in [banner, content] {
                assert_eq!(reply.status, StatusCode::FORBIDDEN, "{}", reply.text());
                assert!(!reply.text().contains("An old"), "{}", reply.text());
            }
        }
        // `noarchive` of one version does not affect the others.
        let (_dir, service) = engine(&[PAGE], Config::default());
        let catalog = catalog(&service, &PAGE);
        store(&service, &*catalog, &PAGE, at("2025-05-01T08:00:00Z"), noarchive, "An old lighthouse.");
        let router = router(service).unwrap();
        assert_eq!(get(&router, &PAGE.cached_page()).await.status, StatusCode::OK);

        let removed = CatalogChange::Removed(Removal::Page(PAGE.url()));
        catalog.apply(&[removed], &LibraryPosition::new(9, 0).into()).unwrap();
        for params in ["", "at=20250601000000", "view=text"] {
            let (banner, content) = banner_and_content(&router, params).await;
            assert_eq!((banner.status, content.status), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
        }
    }

    #[tokio::test]
    async fn the_text_view_shows_the_main_content() {
        let prose = "<nav><a href=/a>Zebrafish</a> <a href=/b>Boats</a></nav><p>The lighthouse on the rock was built long ago, \
            and its <a href='/lamp'>lamp of the lighthouse</a> can be seen from far away. Ships that pass at night, in fog or \
            in snow, steer by it; no ship has been lost since it was lit.</p><script>x()</script>";
        let text: &'static str = Box::leak(prose.to_string().into_boxed_str());
        let page = TestPage { text, ..PAGE };
        let (_dir, service) = engine(&[page], Config::default());
        let router = router(service).unwrap();
        let here = PAGE.cached_page();
        let (banner, content) = banner_and_content(&router, "q=lighthouse&view=text").await;
        let html = banner.text();
        for part in [
            format!("<a href=\"{here}?q=lighthouse\" rel=\"nofollow\">Layout</a>"),
            format!(
                "<a href=\"{here}?q=lighthouse&#38;view=text\" rel=\"nofollow\" aria-current=\"page\">Text</a>"
            ),
            format!("src=\"{here}/content?q=lighthouse&#38;view=text\""),
            format!(
                "href=\"{here}/content?q=lighthouse&#38;view=text#w0-1\" target=\"stored\">lighthouse<small>2</small>"
            ),
        ] {
            assert!(html.contains(&part), "{part} is missing in {html}");
        }
        let html = content.text();
        assert!(
            html.contains("<h1>The tower</h1>") && !html.contains("Zebrafish") && !html.contains("x()"),
            "{html}"
        );
        assert!(
            html.contains(
                "<a class=\"next w0\" href=\"#w0-1\" target=\"_self\" aria-label=\"next occurrence\">"
            ),
            "{html}"
        );
        assert!(content.header("content-security-policy").starts_with("sandbox "));
        let (_, layout) = banner_and_content(&router, "q=lighthouse").await;
        assert!(layout.text().contains("Zebrafish"));
    }

    #[tokio::test]
    async fn a_file_without_a_layout_is_shown_as_text() {
        let pdf = TestPage {
            headers: &[("content-type", "application/pdf")],
            ..TestPage::new("https://www.example.org/a.pdf", "A paper", "The lighthouse <of> paper.\nShines.")
        };
        let (_dir, service) = engine(&[TestPage { ..pdf }], Config::default());
        let router = router(service).unwrap();
        let banner = get(&router, &format!("{}?q=lighthouse", pdf.cached_page())).await;
        assert!(!banner.text().contains("class=\"views\""), "{}", banner.text());
        assert!(banner.text().contains("lighthouse<small>1</small>"), "{}", banner.text());
        for view in ["", "&view=text"] {
            let content = get(&router, &format!("{}/content?q=lighthouse{view}", pdf.cached_page())).await;
            let html = content.text();
            assert!(html.contains("<h1>A paper</h1><p>The <mark"), "{html}");
            assert!(html.contains("&lt;of&gt; paper.</p><p>Shines.</p>"), "{html}");
        }
    }

    #[tokio::test]
    async fn a_page_is_found_by_its_url() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let router = router(service).unwrap();
        let page = PAGE.url();
        let reply = get(&router, &format!("/snapshot?url={page}")).await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER);
        assert_eq!(reply.header("location"), PAGE.cached_page());
        let reply = get(&router, &format!("/api/v1/page?url={page}")).await;
        let json: serde_json::Value = serde_json::from_str(reply.text()).unwrap();
        assert_eq!((json["title"].as_str(), json["url"].as_str()), (Some("The tower"), Some(page.as_str())));
        for unknown in ["http://example.org/nowhere", "no address", ""] {
            let reply = get(&router, &format!("/snapshot?url={unknown}").replace(' ', "%20")).await;
            assert_eq!(reply.status, StatusCode::NOT_FOUND);
            assert!(reply.text().contains("not in the library"));
        }
        let reply = get(&router, "/api/v1/page?url=http://example.org/nowhere").await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
        assert!(reply.text().contains("unknown page"), "{}", reply.text());
        assert_eq!(get(&router, "/api/v1/page?url=nonsense").await.status, StatusCode::BAD_REQUEST);
    }
}
