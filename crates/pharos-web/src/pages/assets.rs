//! Static files: style sheets, scripts, icons, robots.txt, and the OpenSearch description.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use askama::Template;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::server::compression::ContentCoding;
use crate::server::origin::{UnknownHost, origin};
use crate::server::visitor::Visitor;
use crate::state::AppState;

const STYLE: &str = concat!(
    include_str!("../../static/style.css"),
    include_str!("../../static/clean.css"),
    include_str!("../../static/pages.css"),
    include_str!("../../static/colours.css")
);
const SCRIPT: &str = include_str!("../../static/pharos.js");
const DESK_STYLE: &str = include_str!("../../static/desk.css");
const DESK_SCRIPT: &str = include_str!("../../static/desk.js");
const ICON_SVG: &str = include_str!("../../static/favicon.svg");
const ICON_ICO: &[u8] = include_bytes!("../../static/favicon.ico");

/// Result pages and cached pages are derived from other sites, where crawlers find the originals.
const ROBOTS: &str = "User-agent: *\nDisallow: /search\nDisallow: /snapshot\nDisallow: /clean\nDisallow: /api/\n\
                      Disallow: /suggest\nDisallow: /bot?\nDisallow: /admin\n";

const ONE_DAY: &str = "public, max-age=86400";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

static STYLE_FILE: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::text("text/css; charset=utf-8", STYLE));
static SCRIPT_FILE: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::text("text/javascript; charset=utf-8", SCRIPT));
static DESK_STYLE_FILE: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::text("text/css; charset=utf-8", DESK_STYLE));
static DESK_SCRIPT_FILE: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::text("text/javascript; charset=utf-8", DESK_SCRIPT));
static ICON_SVG_FILE: LazyLock<StaticFile> = LazyLock::new(|| StaticFile::text("image/svg+xml", ICON_SVG));
static ICON_ICO_FILE: LazyLock<StaticFile> = LazyLock::new(|| StaticFile::image("image/x-icon", ICON_ICO));
static ROBOTS_FILE: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::text("text/plain; charset=utf-8", ROBOTS));
static SCRIPT_HREF: LazyLock<String> =
    LazyLock::new(|| format!("/static/pharos.js?v={}", SCRIPT_FILE.version));
static STYLE_HREF: LazyLock<String> = LazyLock::new(|| format!("/static/style.css?v={}", STYLE_FILE.version));

static DESK_STYLE_HREF: LazyLock<String> =
    LazyLock::new(|| format!("/static/desk.css?v={}", DESK_STYLE_FILE.version));
static DESK_SCRIPT_HREF: LazyLock<String> =
    LazyLock::new(|| format!("/static/desk.js?v={}", DESK_SCRIPT_FILE.version));

/// A static file, compressed once in every supported coding.
struct StaticFile {
    kind: &'static str,
    plain: &'static [u8],
    version: String,
    compressed: Vec<(ContentCoding, Bytes)>,
}

impl StaticFile {
    fn text(kind: &'static str, text: &'static str) -> Self {
        let compress =
            |coding: ContentCoding| Some((coding, Bytes::from(coding.compress_best(text.as_bytes()).ok()?)));
        let compressed = [ContentCoding::Brotli, ContentCoding::Gzip].into_iter().filter_map(compress);
        let compressed = compressed.filter(|(_, compressed)| compressed.len() < text.len()).collect();
        Self { compressed, ..Self::image(kind, text.as_bytes()) }
    }

    /// Images are compressed already.
    fn image(kind: &'static str, plain: &'static [u8]) -> Self {
        Self { kind, plain, version: version(plain), compressed: Vec::new() }
    }

    fn respond(&self, request: &HeaderMap, lifetime: &'static str) -> Response {
        // Weak, because the same content is sent in different codings.
        let tag = format!("W/\"{}\"", self.version);
        let is_current = request
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|v| v.to_str().ok())
            .flat_map(|line| line.split(','))
            .any(|given| given.trim() == tag);
        let headers =
            [(CACHE_CONTROL, lifetime.to_string()), (ETAG, tag), (VARY, "Accept-Encoding".to_string())];
        if is_current {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        let codings: Vec<ContentCoding> = self.compressed.iter().map(|(coding, _)| *coding).collect();
        let preferred = ContentCoding::preferred(request, &codings);
        let kind = (CONTENT_TYPE, self.kind);
        match self.compressed.iter().find(|(coding, _)| Some(*coding) == preferred) {
            Some((coding, compressed)) => {
                (headers, [kind, (CONTENT_ENCODING, coding.name())], compressed.clone()).into_response()
            }
            None => (headers, [kind], self.plain).into_response(),
        }
    }
}

/// Compresses the files of public pages, so that the first request does not wait for it.
pub(crate) fn prepare() {
    for file in [&STYLE_FILE, &SCRIPT_FILE, &ICON_SVG_FILE, &ICON_ICO_FILE, &ROBOTS_FILE] {
        LazyLock::force(file);
    }
}

/// Returns the URL of the style sheet, which contains its version, so that browsers may cache it for good.
pub(crate) fn style_href() -> &'static str {
    &STYLE_HREF
}

/// `GET /static/style.css`.
pub(crate) async fn style(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&STYLE_FILE.version) { IMMUTABLE } else { ONE_DAY };
    STYLE_FILE.respond(&headers, lifetime)
}

/// Returns the URL of the script, with its version.
pub(crate) fn script_href() -> &'static str {
    &SCRIPT_HREF
}

/// `GET /static/pharos.js`.
pub(crate) async fn script(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&SCRIPT_FILE.version) { IMMUTABLE } else { ONE_DAY };
    SCRIPT_FILE.respond(&headers, lifetime)
}

/// Returns the URL of the desk's style sheet, which is loaded after that of all pages.
pub(crate) fn desk_style_href() -> &'static str {
    &DESK_STYLE_HREF
}

/// `GET /static/desk.css`.
pub(crate) async fn desk_style(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&DESK_STYLE_FILE.version) { IMMUTABLE } else { ONE_DAY };
    DESK_STYLE_FILE.respond(&headers, lifetime)
}

/// Returns the URL of the desk's script, with its version.
pub(crate) fn desk_script_href() -> &'static str {
    &DESK_SCRIPT_HREF
}

/// `GET /static/desk.js`.
pub(crate) async fn desk_script(visitor: Visitor, headers: HeaderMap) -> Response {
    let lifetime = if visitor.param("v") == Some(&DESK_SCRIPT_FILE.version) { IMMUTABLE } else { ONE_DAY };
    DESK_SCRIPT_FILE.respond(&headers, lifetime)
}

/// `GET /favicon.svg`.
pub(crate) async fn icon_svg(headers: HeaderMap) -> Response {
    ICON_SVG_FILE.respond(&headers, ONE_DAY)
}

/// `GET /favicon.ico`.
pub(crate) async fn icon_ico(headers: HeaderMap) -> Response {
    ICON_ICO_FILE.respond(&headers, ONE_DAY)
}

/// `GET /robots.txt`.
pub(crate) async fn robots(headers: HeaderMap) -> Response {
    ROBOTS_FILE.respond(&headers, ONE_DAY)
}

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearch<'a> {
    origin: String,
    description: &'a str,
}

/// `GET /opensearch.xml`: lets browsers add this server to their search engines.
pub(crate) async fn opensearch(State(app): State<AppState>, visitor: Visitor) -> Response {
    let Some(origin) = origin(&visitor, &app.config().web) else {
        return UnknownHost.into_response();
    };
    let page = OpenSearch { origin, description: visitor.messages().description };
    let headers = [
        (CONTENT_TYPE, "application/opensearchdescription+xml; charset=utf-8"),
        (CACHE_CONTROL, "private, max-age=86400"),
    ];
    match page.render() {
        Ok(xml) => (headers, xml).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Returns a hash of the content. The hasher's keys are fixed, so all processes of one build agree.
fn version(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
