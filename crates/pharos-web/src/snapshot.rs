//! Page snapshot (网页快照): our banner above, the stored page below.
//!
//! The stored page is somebody else's HTML. It has been made harmless by `pharos-html`, and is shown as if it had
//! not been: a document of its own in a sandboxed frame, with a policy that lets it run, load and reach nothing.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use pharos_core::{PageId, PageObject, PageUrl};
use pharos_html::robots_tag;
use pharos_query::Card;

use crate::failure::message;
use crate::page::{Frame, Link, respond};
use crate::service::{Rooms, ServiceError, Stored, StoredCopy};
use crate::visitor::{Visitor, link};
use crate::words::{Words, fill};

/// Query words that get a colour of their own: `w0` to `w9` in `colours.css`.
const COLOURS: usize = 10;

/// What the stored page may do: open links in new windows, be styled inline.
const CAGE: HeaderValue = HeaderValue::from_static(
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; \
     img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
);

/// The style of the stored page's document.
const STYLE: &str = concat!(include_str!("../static/stored.css"), include_str!("../static/colours.css"));

/// `/snapshot?url=…`: leads to the snapshot of the page at an address.
pub(crate) async fn by_address(
    State(rooms): State<Rooms>,
    visitor: Visitor,
) -> Result<Response, ServiceError> {
    let url = visitor.param("url").and_then(|text| PageUrl::parse(text.trim()).ok());
    let Some(url) = url else { return Ok(missing(&visitor, &rooms)) };
    let id = url.id();
    Ok(match rooms.page(url).await? {
        Some(_) => Redirect::to(&format!("/snapshot/{id}")).into_response(),
        None => missing(&visitor, &rooms),
    })
}

/// `/snapshot/ID`: the banner and the frame.
pub(crate) async fn banner(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, ServiceError> {
    show(&rooms, &visitor, &id, |query, copy| {
        let frame = Frame::new(&visitor, rooms.config());
        respond(&visitor, StatusCode::OK, &SnapshotPage::new(frame, &id, query, copy))
    })
    .await
}

/// `/snapshot/ID/content`: the stored page.
pub(crate) async fn content(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, ServiceError> {
    show(&rooms, &visitor, &id, |_, copy| {
        caged(respond(&visitor, StatusCode::OK, &StoredPage::new(copy, visitor.words())))
    })
    .await
}

/// Shows a stored copy by `page`, or says why there is none to show.
async fn show(
    rooms: &Rooms,
    visitor: &Visitor,
    id: &str,
    page: impl FnOnce(&str, &StoredCopy) -> Response,
) -> Result<Response, ServiceError> {
    let query = visitor.query(rooms.config().query.max_length);
    Ok(match look_up(rooms, id, &query).await? {
        Stored::Missing => missing(visitor, rooms),
        Stored::Withheld(found) => withheld(visitor, rooms, &found),
        Stored::Copy(copy) => page(&query, &copy),
    })
}

async fn look_up(rooms: &Rooms, id: &str, query: &str) -> Result<Stored<StoredCopy>, ServiceError> {
    match page_id(id) {
        Some(id) => rooms.stored(id, query.to_string(), COLOURS).await,
        None => Ok(Stored::Missing),
    }
}

/// Exactly the form that ids are printed in, so that a page has one snapshot address.
fn page_id(text: &str) -> Option<PageId> {
    let id: PageId = text.parse().ok()?;
    (id.to_string() == text).then_some(id)
}

fn missing(visitor: &Visitor, rooms: &Rooms) -> Response {
    let words = visitor.words();
    let (title, text) = (words.not_in_library_title, words.not_in_library_text);
    message(visitor, rooms.config(), StatusCode::NOT_FOUND, title, text, None)
}

/// Says that the page's author wants no copy of it to be shown.
pub(crate) fn withheld(visitor: &Visitor, rooms: &Rooms, found: &Card) -> Response {
    let words = visitor.words();
    let live = live_link(found).map(|href| Link { text: href.clone(), href });
    message(visitor, rooms.config(), StatusCode::FORBIDDEN, words.withheld_title, words.withheld_text, live)
}

/// The page itself, where its address is one to link to.
pub(crate) fn live_link(found: &Card) -> Option<String> {
    PageUrl::parse(&found.url).ok().map(|url| url.as_str().to_string())
}

fn caged(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // The language is the stored page's own, not the visitor's.
    headers.remove(CONTENT_LANGUAGE);
    headers.insert(CONTENT_SECURITY_POLICY, CAGE);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    response
}

#[derive(Template)]
#[template(path = "snapshot.html")]
struct SnapshotPage {
    frame: Frame,
    title: String,
    lang: String,
    stored_on: String,
    url: String,
    live: Option<String>,
    legend: Vec<LegendWord>,
    /// Address of the frame's document.
    content: String,
    /// Address of the cleaned view.
    clean: String,
    /// Where the visitor came from.
    back: String,
}

/// A query word, its colour and how often it stands in the page.
struct LegendWord {
    text: String,
    class: String,
    /// Leads the frame to the first occurrence.
    href: String,
    count: usize,
}

impl SnapshotPage {
    fn new(frame: Frame, id: &str, query: &str, copy: &StoredCopy) -> Self {
        let found = &copy.found;
        let asked = (!query.is_empty()).then_some(("q", query));
        let content = link(&format!("/snapshot/{id}/content"), asked);
        let legend = copy.words.iter().enumerate().map(|(number, text)| LegendWord {
            text: text.clone(),
            class: format!("w{number}"),
            href: format!("{content}#w{number}"),
            count: copy.html.matches(&opening(number)).count(),
        });
        Self {
            title: if found.title.trim().is_empty() { found.url.clone() } else { found.title.clone() },
            lang: found.lang.clone(),
            stored_on: fill(frame.words.snapshot_stored, &[&frame.lang.date(&found.fetched.date())]),
            url: found.url.clone(),
            live: live_link(found),
            clean: link("/clean", [("url", found.url.as_str())].into_iter().chain(asked)),
            legend: legend.collect(),
            back: if query.is_empty() { "/".into() } else { link("/search", asked) },
            content,
            frame,
        }
    }
}

#[derive(Template)]
#[template(path = "stored.html")]
struct StoredPage<'a> {
    title: &'a str,
    lang: &'a str,
    style: &'static str,
    content: String,
    /// Said where there is nothing to show: the stored file is neither HTML nor text.
    nothing: &'static str,
}

impl<'a> StoredPage<'a> {
    fn new(copy: &'a StoredCopy, words: &'static Words) -> Self {
        // The first occurrence of each word is what its entry in the legend leads to.
        let mut content = copy.html.clone();
        for number in 0..copy.words.len() {
            let target = format!("<mark id=\"w{number}\" class=\"w{number}\">");
            content = content.replacen(&opening(number), &target, 1);
        }
        Self {
            title: &copy.found.title,
            lang: &copy.found.lang,
            style: STYLE,
            content,
            nothing: words.snapshot_empty,
        }
    }
}

/// How `pharos-html` begins an occurrence of a word.
fn opening(number: usize) -> String {
    format!("<mark class=\"w{number}\">")
}

/// Do these `X-Robots-Tag` headers let `agent` show copies?
pub(crate) fn allows_copies<'a>(headers: impl IntoIterator<Item = &'a str>, agent: &str) -> bool {
    !PageObject { robots: robots_tag(headers, agent), ..PageObject::default() }.no_archive()
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get};

    const PAGE: TestPage = TestPage::new(
        "https://www.example.org/tower",
        "The tower",
        "A lighthouse on a rock. The lighthouse shines.",
    );

    #[tokio::test]
    async fn each_word_has_its_colour_and_a_link_to_its_occurrence() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let router = router(service);
        let here = PAGE.snapshot();

        let banner = get(&router, &format!("{here}?q=lighthouse+rock+ship")).await;
        assert_eq!(banner.status, StatusCode::OK);
        let html = banner.text();
        for part in [
            format!(
                "<a class=\"w0\" href=\"{here}/content?q=lighthouse+rock+ship#w0\" target=\"stored\">lighthouse<small>2</small></a>"
            ),
            format!(
                "<a class=\"w1\" href=\"{here}/content?q=lighthouse+rock+ship#w1\" target=\"stored\">rock<small>1</small></a>"
            ),
            "ship<small>0</small></span>".to_string(),
            "stored on 31 Jan 2026".to_string(),
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
        assert!(html.contains("A <mark id=\"w0\" class=\"w0\">lighthouse</mark> on a <mark id=\"w1\" class=\"w1\">rock</mark>"), "{html}");
        assert!(html.contains("The <mark class=\"w0\">lighthouse</mark> shines"), "{html}");
        for colour in 0..COLOURS {
            assert_eq!(STYLE.matches(&format!(".w{colour}{{background:")).count(), 1);
        }
    }

    #[tokio::test]
    async fn a_stored_page_is_caged() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let content = get(&router(service), &format!("{}/content", PAGE.snapshot())).await;
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
    async fn what_is_not_there_or_not_to_be_shown_is_said() {
        let pages = [
            TestPage { archive: false, ..PAGE },
            TestPage {
                headers: &[("X-Robots-Tag", "noindex"), ("x-robots-tag", "NoArchive")],
                ..TestPage::new("http://a.b/", "t", "lighthouse")
            },
        ];
        let (_dir, service) = engine(&pages, Config::default());
        let router = router(service);
        for page in &pages {
            for path in [page.snapshot(), format!("{}/content", page.snapshot())] {
                let reply = get(&router, &path).await;
                assert_eq!(reply.status, StatusCode::FORBIDDEN);
                assert!(reply.text().contains("asks that no copy"), "{}", reply.text());
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

    #[tokio::test]
    async fn a_page_is_looked_up_by_its_address() {
        let (_dir, service) = engine(&[PAGE], Config::default());
        let router = router(service);
        let page = PAGE.url();
        let reply = get(&router, &format!("/snapshot?url={page}")).await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER);
        assert_eq!(reply.header("location"), PAGE.snapshot());
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
        assert!(reply.text().contains("not in the library"), "{}", reply.text());
        assert_eq!(get(&router, "/api/v1/page?url=nonsense").await.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn robots_tags_speak_to_everyone_or_to_whom_they_name() {
        let allowed = |tags: &[&str]| allows_copies(tags.iter().copied(), "Pharos");
        assert!(allowed(&[]));
        assert!(allowed(&["noindex, nofollow", "unavailable_after: 25 Jun 2030 15:00:00 PST"]));
        assert!(!allowed(&["noindex, NOARCHIVE"]));
        assert!(!allowed(&["all", "none"]));
        assert!(!allowed(&["pharos: noarchive"]));
        assert!(!allowed(&["pharos: nofollow, noarchive"]));
        assert!(allowed(&["otherbot: nofollow, noarchive"]));
        assert!(!allowed(&["otherbot: noarchive", "noarchive"]));
        assert!(!allowed(&["max-snippet: 20, noarchive"]));
    }
}
