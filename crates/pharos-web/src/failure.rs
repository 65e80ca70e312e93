//! Error pages in the style of all other pages.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use pharos_core::Config;

use crate::api;
use crate::formats::Format;
use crate::page::{Frame, Link, respond};
use crate::service::Rooms;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    frame: Frame,
    query: &'static str,
    focus: bool,
    title: &'a str,
    text: &'a str,
    link: Option<Link>,
}

/// Renders a page with one message and an optional link.
pub(crate) fn message(
    visitor: &Visitor,
    config: &Config,
    status: StatusCode,
    title: &str,
    text: &str,
    link: Option<Link>,
) -> Response {
    let page = MessagePage { frame: Frame::new(visitor, config), query: "", focus: false, title, text, link };
    respond(visitor, status, &page)
}

/// Middleware that renders bare error statuses (unknown route, timeout, panic, internal error) as a page, or as a problem
/// document for programs.
pub(crate) async fn dress(State(rooms): State<Rooms>, request: Request, next: Next) -> Response {
    // The visitor is parsed only on errors: keeping the request's head is cheaper.
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let bare = next.run(request).await;
    let status = bare.status();
    let kind = bare.headers().get(CONTENT_TYPE);
    let is_bare = match kind {
        None => status.is_client_error() || status.is_server_error(),
        // Rejections of the framework (body too long, invalid path) have a line of plain text.
        Some(kind) => status.is_client_error() && kind.as_bytes().starts_with(b"text/plain"),
    };
    if !is_bare {
        return bare;
    }
    let visitor = Visitor::new(&uri, &headers);
    // Programs use these paths.
    let is_api =
        uri.path().starts_with("/api/") || (uri.path() == "/search" && Format::of(&visitor).is_some());
    let words = visitor.words();
    let (title, text) = match status {
        StatusCode::NOT_FOUND => (words.not_found_title, words.not_found_text),
        StatusCode::SERVICE_UNAVAILABLE => (words.busy_title, words.busy_text),
        StatusCode::TOO_MANY_REQUESTS => (words.too_many_title, words.too_many_text),
        _ if status.is_client_error() => (words.refused_title, words.refused_text),
        _ => (words.failed_title, words.failed_text),
    };
    let mut dressed = if is_api {
        api::problem(status, title, text)
    } else {
        message(&visitor, rooms.config(), status, title, text, None)
    };
    for kept in [ALLOW, RETRY_AFTER] {
        if let Some(value) = bare.headers().get(&kept) {
            dressed.headers_mut().insert(kept, value.clone());
        }
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        dressed.headers_mut().entry(RETRY_AFTER).or_insert(HeaderValue::from_static("5"));
    }
    dressed
}
