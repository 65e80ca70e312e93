//! Builds the response to one request.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Response, StatusCode};

use super::ServerState;
use super::cache::RenderedPage;
use crate::model::{Body, Charset, CharsetDeclaration, PageNo};
use crate::render::{http_date, render, style};
use crate::{pictures, urls};

pub(super) type PageResponse = Response<Full<Bytes>>;

/// Returns the response of a host to a request for a path.
pub(super) fn respond(
    shared: &ServerState,
    host: u32,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> PageResponse {
    if method != Method::GET && method != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET and HEAD\n");
    }
    match shared.web.page_at(host, path) {
        Some(page) => respond_page(shared, page, headers),
        None => respond_other(shared, host, path),
    }
}

fn respond_page(shared: &ServerState, number: PageNo, headers: &HeaderMap) -> PageResponse {
    let web = &shared.web;
    let page = web.page(number);
    let moment = shared.clock.now();
    if !page.exists_at(moment) {
        let status = StatusCode::from_u16(page.status_when_absent(number)).unwrap_or(StatusCode::NOT_FOUND);
        return absent(status);
    }
    if let Body::Redirect { status, to } = page.body {
        let target = web.page(to);
        // Both forms are legal (RFC 9110 §10.2.2), so clients must support both.
        let location = if target.host == page.host && number.is_multiple_of(2) {
            target.path.to_string()
        } else {
            urls::url_of(web, target, shared.port)
        };
        let mut response = plain(
            StatusCode::from_u16(status).unwrap_or(StatusCode::FOUND),
            "text/html",
            "<html><body><p>moved</p></body></html>\n",
        );
        if let Ok(location) = HeaderValue::from_str(&location) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        return response;
    }
    send(&rendered(shared, number, moment), headers, shared.gzip)
}

/// Returns the rendered page, or the page it duplicates, from the cache if possible.
fn rendered(shared: &ServerState, number: PageNo, moment: u64) -> Arc<RenderedPage> {
    let source = shared.web.page(number).duplicate_of.unwrap_or(number);
    let (_, since) = shared.web.page(source).version(moment);
    shared.cache.get(source, since, || make(shared, source, since, moment))
}

/// Renders a page into the cache ahead of requests.
pub(super) fn prepare(shared: &ServerState, number: PageNo) {
    let moment = shared.clock.now();
    let page = shared.web.page(number);
    if page.exists_at(moment) && !matches!(page.body, Body::Redirect { .. }) {
        let rendered = rendered(shared, number, moment);
        if shared.gzip {
            rendered.zipped();
        }
    }
}

fn make(shared: &ServerState, number: PageNo, since: u64, moment: u64) -> RenderedPage {
    let page = shared.web.page(number);
    let host = shared.web.host_of(page);
    let body = render(&shared.web, number, moment, shared.port);
    let content_type = match (host.declared, host.charset) {
        (CharsetDeclaration::Meta, _) => HeaderValue::from_static("text/html"),
        (CharsetDeclaration::Header, Charset::Utf8) => HeaderValue::from_static("text/html; charset=utf-8"),
        (CharsetDeclaration::Header, Charset::Gbk) => HeaderValue::from_static("text/html; charset=gbk"),
    };
    let etag = header_value(&format!("W/\"{number:x}-{since:x}\""));
    RenderedPage::new(since, body, content_type, etag, header_value(&http_date(since)))
}

fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

fn send(rendered: &Arc<RenderedPage>, headers: &HeaderMap, gzip: bool) -> PageResponse {
    let fresh = is_unchanged(rendered, headers);
    let (body, zipped) = match headers.get(header::ACCEPT_ENCODING) {
        _ if fresh => (Bytes::new(), false),
        Some(accepted) if gzip && accepts_gzip(accepted) => rendered.zipped(),
        _ => (rendered.body.clone(), false),
    };
    let mut response = Response::new(Full::new(body));
    let out = response.headers_mut();
    out.insert(header::ETAG, rendered.etag.clone());
    out.insert(header::LAST_MODIFIED, rendered.last_modified.clone());
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if fresh {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    out.insert(header::CONTENT_TYPE, rendered.content_type.clone());
    if zipped {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Evaluates If-None-Match if present, else If-Modified-Since (RFC 9110 §13.2.2).
fn is_unchanged(rendered: &RenderedPage, headers: &HeaderMap) -> bool {
    if let Some(tags) = headers.get(header::IF_NONE_MATCH) {
        let known = rendered.etag.to_str().unwrap_or("").trim_start_matches("W/");
        let tags = tags.to_str().unwrap_or("");
        return tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == known);
    }
    let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let since = since.and_then(|text| httpdate::parse_http_date(text).ok());
    let since = since.and_then(|moment| moment.duration_since(std::time::UNIX_EPOCH).ok());
    since.is_some_and(|since| rendered.since <= since.as_secs())
}

fn accepts_gzip(accepted: &HeaderValue) -> bool {
    accepted.to_str().is_ok_and(|list| {
        list.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"))
                && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    })
}

/// Serves robots.txt, icon, style sheet and pictures.
fn respond_other(shared: &ServerState, host: u32, path: &str) -> PageResponse {
    let host = &shared.web.hosts[host as usize];
    match (path, &host.rules) {
        ("/robots.txt", Some(rules)) => plain(StatusCode::OK, "text/plain", rules.text()),
        ("/favicon.ico", _) => plain(StatusCode::OK, "image/x-icon", pictures::draw_icon(&host.name)),
        ("/style.css", _) => plain(StatusCode::OK, "text/css", style(host)),
        _ => match path.strip_prefix("/pictures/").and_then(|name| name.strip_suffix(".svg")) {
            Some(name) => plain(StatusCode::OK, "image/svg+xml", pictures::draw(name)),
            None => absent(StatusCode::NOT_FOUND),
        },
    }
}

/// Returns the response for an unknown host.
pub(super) fn no_such_host() -> PageResponse {
    plain(StatusCode::MISDIRECTED_REQUEST, "text/plain", "no such host on this web\n")
}

fn absent(status: StatusCode) -> PageResponse {
    plain(
        status,
        "text/html",
        "<html><head><title>Not here</title></head><body><p>Not here.</p></body></html>\n",
    )
}

fn plain(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> PageResponse {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_only_to_those_who_want_it() {
        for (accepted, wanted) in [
            ("gzip, br", true),
            ("br;q=1, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(accepts_gzip(&HeaderValue::from_static(accepted)), wanted, "{accepted}");
        }
    }
}
