//! Everything that is the same for everyone: style, icons, robots.txt, the OpenSearch description.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::origin::origin;
use crate::service::Rooms;
use crate::visitor::Visitor;

const STYLE: &str = concat!(
    include_str!("../static/style.css"),
    include_str!("../static/clean.css"),
    include_str!("../static/pages.css"),
    include_str!("../static/colours.css")
);
const SCRIPT: &str = include_str!("../static/pharos.js");
const DESK_STYLE: &str = include_str!("../static/desk.css");
const DESK_SCRIPT: &str = include_str!("../static/desk.js");
const ICON_SVG: &str = include_str!("../static/favicon.svg");
const ICON_ICO: &[u8] = include_bytes!("../static/favicon.ico");

/// Result pages and snapshots are made from other sites' pages; crawlers find those there.
const ROBOTS: &str = "User-agent: *\nDisallow: /search\nDisallow: /snapshot\nDisallow: /clean\nDisallow: /api/\n\
                      Disallow: /suggest\nDisallow: /bot?\nDisallow: /admin\n";

const A_DAY: &str = "public, max-age=86400";
const FOR_GOOD: &str = "public, max-age=31536000, immutable";

static STYLE_VERSION: LazyLock<String> = LazyLock::new(|| version(STYLE.as_bytes()));
static SCRIPT_VERSION: LazyLock<String> = LazyLock::new(|| version(SCRIPT.as_bytes()));
static SCRIPT_HREF: LazyLock<String> = LazyLock::new(|| format!("/static/pharos.js?v={}", *SCRIPT_VERSION));
static STYLE_HREF: LazyLock<String> = LazyLock::new(|| format!("/static/style.css?v={}", *STYLE_VERSION));

/// Where the style sheet is: the address changes with the content, so browsers may keep it for good.
pub(crate) fn style_href() -> &'static str {
    &STYLE_HREF
}

/// `/static/style.css`.
pub(crate) async fn style(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&STYLE_VERSION) { FOR_GOOD } else { A_DAY };
    asset(&headers, "text/css; charset=utf-8", lifetime, STYLE.as_bytes())
}

/// Where the script is.
pub(crate) fn script_href() -> &'static str {
    &SCRIPT_HREF
}

/// `/static/pharos.js`.
pub(crate) async fn script(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&SCRIPT_VERSION) { FOR_GOOD } else { A_DAY };
    asset(&headers, "text/javascript; charset=utf-8", lifetime, SCRIPT.as_bytes())
}

static DESK_STYLE_VERSION: LazyLock<String> = LazyLock::new(|| version(DESK_STYLE.as_bytes()));
static DESK_SCRIPT_VERSION: LazyLock<String> = LazyLock::new(|| version(DESK_SCRIPT.as_bytes()));
static DESK_STYLE_HREF: LazyLock<String> =
    LazyLock::new(|| format!("/static/desk.css?v={}", *DESK_STYLE_VERSION));
static DESK_SCRIPT_HREF: LazyLock<String> =
    LazyLock::new(|| format!("/static/desk.js?v={}", *DESK_SCRIPT_VERSION));

/// Where the style sheet of the desk is, which comes after that of all pages.
pub(crate) fn desk_style_href() -> &'static str {
    &DESK_STYLE_HREF
}

/// `/static/desk.css`.
pub(crate) async fn desk_style(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&DESK_STYLE_VERSION) { FOR_GOOD } else { A_DAY };
    asset(&headers, "text/css; charset=utf-8", lifetime, DESK_STYLE.as_bytes())
}

/// Where the script of the desk is.
pub(crate) fn desk_script_href() -> &'static str {
    &DESK_SCRIPT_HREF
}

/// `/static/desk.js`.
pub(crate) async fn desk_script(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&DESK_SCRIPT_VERSION) { FOR_GOOD } else { A_DAY };
    asset(&headers, "text/javascript; charset=utf-8", lifetime, DESK_SCRIPT.as_bytes())
}

/// `/favicon.svg`.
pub(crate) async fn icon_svg(headers: HeaderMap) -> Response {
    asset(&headers, "image/svg+xml", A_DAY, ICON_SVG.as_bytes())
}

/// `/favicon.ico`.
pub(crate) async fn icon_ico(headers: HeaderMap) -> Response {
    asset(&headers, "image/x-icon", A_DAY, ICON_ICO)
}

/// `/robots.txt`.
pub(crate) async fn robots(headers: HeaderMap) -> Response {
    asset(&headers, "text/plain; charset=utf-8", A_DAY, ROBOTS.as_bytes())
}

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearch<'a> {
    origin: String,
    description: &'a str,
}

/// `/opensearch.xml`: lets a browser add us to its search engines.
pub(crate) async fn opensearch(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let Some(origin) = origin(&visitor, &rooms.config().web) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let page = OpenSearch { origin, description: visitor.words().description };
    let headers = [
        (CONTENT_TYPE, "application/opensearchdescription+xml; charset=utf-8"),
        (CACHE_CONTROL, "private, max-age=86400"),
    ];
    match page.render() {
        Ok(xml) => (headers, xml).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn asset(request: &HeaderMap, kind: &'static str, lifetime: &'static str, body: &'static [u8]) -> Response {
    // Weak, because the same content goes out compressed in different ways.
    let tag = format!("W/\"{}\"", version(body));
    let known = request
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|line| line.split(','))
        .any(|known| known.trim() == tag);
    let headers = [(CACHE_CONTROL, lifetime.to_string()), (ETAG, tag)];
    if known {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, [(CONTENT_TYPE, kind)], body).into_response()
    }
}

/// A name for this content. The hasher's keys are fixed, so every process of one build agrees.
fn version(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
