//! Error pages in the style of all other pages.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use pharos_core::Config;
use pharos_core::work::WorkExceeded;

use crate::api;
use crate::api::ResultFormat;
use crate::pages::frame::{Link, PageFrame, respond};
use crate::server::origin::UnknownHost;
use crate::server::visitor::Visitor;
use crate::state::AppState;

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    title: &'a str,
    text: &'a str,
    link: Option<Link>,
}

/// Renders a page with one message and an optional link.
pub(crate) fn message_page(
    visitor: &Visitor,
    config: &Config,
    status: StatusCode,
    title: &str,
    text: &str,
    link: Option<Link>,
) -> Response {
    let page =
        MessagePage { frame: PageFrame::new(visitor, config), query: "", focus: false, title, text, link };
    respond(visitor, status, &page)
}

/// Middleware that renders bare error statuses (unknown route, timeout, panic, internal error) as a page, or as a problem
/// document for programs.
pub(crate) async fn render_errors(State(app): State<AppState>, request: Request, next: Next) -> Response {
    // The visitor is parsed only on errors: keeping the request's head is cheaper.
    let (uri, headers, extensions) =
        (request.uri().clone(), request.headers().clone(), request.extensions().clone());
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
    let visitor = Visitor::new(&uri, &headers, &extensions);
    // Programs use these paths.
    let is_api = uri.path().starts_with("/api/")
        || (uri.path() == "/search" && ResultFormat::from_visitor(&visitor).is_some());
    let messages = visitor.messages();
    let (title, text) = match status {
        _ if bare.extensions().get::<WorkExceeded>().is_some() => {
            (messages.too_complex_title, messages.too_complex_text)
        }
        _ if bare.extensions().get::<UnknownHost>().is_some() => {
            (messages.unknown_host_title, messages.unknown_host_text)
        }
        StatusCode::NOT_FOUND => (messages.not_found_title, messages.not_found_text),
        StatusCode::SERVICE_UNAVAILABLE => (messages.busy_title, messages.busy_text),
        StatusCode::TOO_MANY_REQUESTS => (messages.too_many_title, messages.too_many_text),
        _ if status.is_client_error() => (messages.refused_title, messages.refused_text),
        _ => (messages.failed_title, messages.failed_text),
    };
    let mut rendered = if is_api {
        api::problem(status, title, text)
    } else {
        message_page(&visitor, app.config(), status, title, text, None)
    };
    for name in [ALLOW, RETRY_AFTER] {
        if let Some(value) = bare.headers().get(&name) {
            rendered.headers_mut().insert(name, value.clone());
        }
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        rendered.headers_mut().entry(RETRY_AFTER).or_insert(HeaderValue::from_static("5"));
    }
    rendered
}
