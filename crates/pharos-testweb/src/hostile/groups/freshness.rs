//! Pages with validators, and pages that disappear.

use crate::clock::START;
use crate::hostile::ExpectedOutcome::Stored;
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest};
use crate::render::http_date;

const ETAG: &str = "\"the-first-edition\"";

pub(super) fn hosts() -> Vec<HostileHost> {
    let stored = Stored { status: 200 };
    let vanishing = |label: &str, answer: fn(&HostileRequest) -> CannedResponse| {
        HostileHost::new(label, HostBehaviour::Http(answer))
            .expect("/", stored, "links to a page that can be removed")
            .expect("/page", stored, "present until it is removed")
    };
    vec![
        HostileHost::new("etag", HostBehaviour::Http(etag)).expect(
            "/",
            stored,
            "304 for a request with its ETag",
        ),
        HostileHost::new("last-modified", HostBehaviour::Http(last_modified)).expect(
            "/",
            stored,
            "304 for a request with a current If-Modified-Since",
        ),
        HostileHost::new("always-new", HostBehaviour::Http(always_new)).expect(
            "/",
            stored,
            "the same text with a new ETag and comment each time",
        ),
        vanishing("vanishing", |request| vanish(request, 404)),
        vanishing("vanished-for-good", |request| vanish(request, 410)),
    ]
}

fn etag(request: &HostileRequest) -> CannedResponse {
    if request.path != "/" {
        return CannedResponse::not_found();
    }
    let known = request.if_none_match.as_deref().is_some_and(|known| known == "*" || known.contains(ETAG));
    answer(known).field("etag", ETAG)
}

fn last_modified(request: &HostileRequest) -> CannedResponse {
    if request.path != "/" {
        return CannedResponse::not_found();
    }
    let changed = http_date(START);
    let since = request.if_modified_since.as_deref().and_then(|date| httpdate::parse_http_date(date).ok());
    let known =
        since.is_some_and(|since| httpdate::parse_http_date(&changed).is_ok_and(|date| since >= date));
    answer(known).field("last-modified", changed)
}

fn answer(is_known: bool) -> CannedResponse {
    let page = CannedResponse::page("a page that never changes", &[]);
    if is_known {
        CannedResponse { status: 304, fields: Vec::new(), body: Default::default(), ..page }
    } else {
        page
    }
}

fn always_new(request: &HostileRequest) -> CannedResponse {
    if request.path != "/" {
        return CannedResponse::not_found();
    }
    let page = crate::hostile::host::page("a page that pretends to change", &[]);
    let etag = format!("\"{}\"", request.earlier);
    CannedResponse::html(format!("{page}<!-- visitor {} -->", request.earlier)).field("etag", etag)
}

fn vanish(request: &HostileRequest, status: u16) -> CannedResponse {
    match request.path.as_str() {
        _ if request.is_removed => CannedResponse::text(status, "there was a page here once\n"),
        "/" => CannedResponse::page(&format!("a page of {} with a link", request.host), &["/page"]),
        "/page" => CannedResponse::page(&format!("a page of {} that may go away", request.host), &[]),
        _ => CannedResponse::not_found(),
    }
}
