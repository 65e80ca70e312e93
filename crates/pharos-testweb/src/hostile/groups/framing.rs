//! Wrong message framing: lengths, chunks, headers and connections.

use bytes::Bytes;

use crate::hostile::ExpectedOutcome::{AtMost, Failed, Settled, Stored};
use crate::hostile::host::{
    CannedResponse, HostBehaviour, HostileHost, HostileRequest, ScriptStep, for_home_page, page, path_of,
};

/// Number of pages of the host that closes after every response.
const SHORT_LIVED_PAGES: usize = 6;

pub(super) fn hosts() -> Vec<HostileHost> {
    let part = Stored { status: 200 };
    let not_http = Failed { reason: "not HTTP" };
    let no_answer = Failed { reason: "closed" };
    let host = |label: &str, script: fn(&HostileRequest) -> Vec<ScriptStep>| {
        HostileHost::new(label, HostBehaviour::Script(script))
    };
    let mut hosts = vec![
        host("length-too-long", |request| {
            for_home_page(request, || with_fields(&["Content-Length: 100000"]))
        })
        .expect("/", part, "closes before the announced length: the received part is kept")
        .with_text("a page in a bad frame"),
        host("length-too-short", |request| for_home_page(request, || with_fields(&["Content-Length: 90"])))
            .expect("/", part, "sends more than the announced length: the rest is ignored"),
        host("length-negative", |request| for_home_page(request, || with_fields(&["Content-Length: -5"])))
            .expect("/", not_http, "a negative length"),
        host("length-not-a-number", |request| {
            for_home_page(request, || with_fields(&["Content-Length: many"]))
        })
        .expect("/", not_http, "a length that is no number"),
        host("length-huge", |request| {
            for_home_page(request, || with_fields(&["Content-Length: 99999999999999999999999"]))
        })
        .expect("/", not_http, "a length that overflows every integer"),
        host("lengths-differ", |request| {
            for_home_page(request, || with_fields(&["Content-Length: 20", "Content-Length: 9000"]))
        })
        .expect("/", not_http, "two lengths: ambiguous, as used in request smuggling"),
        host("length-and-chunks", |request| for_home_page(request, length_and_chunks))
            .expect("/", part, "a length and chunks: the chunks take precedence (RFC 9112 §6.3)")
            .with_text("a page in a bad frame"),
        host("chunk-size-garbage", |request| for_home_page(request, || chunked("zzz\r\nmore\r\n")))
            .expect("/", part, "a chunk without a size: the part before it is kept")
            .with_text("a page in a bad frame"),
        host("chunk-size-huge", |request| {
            for_home_page(request, || chunked("fffffffffffffffff1\r\nmore\r\n"))
        })
        .expect("/", part, "a chunk size that overflows: the part before it is kept")
        .with_text("a page in a bad frame"),
        host("chunk-cut", |request| for_home_page(request, || chunked("1000\r\nonly this much")))
            .expect("/", part, "closes inside a chunk: the received part is kept")
            .with_text("a page in a bad frame"),
        host("no-last-chunk", |request| for_home_page(request, || chunked("")))
            .expect("/", part, "closes before the last chunk: the received part is kept")
            .with_text("a page in a bad frame"),
        host("no-length", |request| for_home_page(request, || with_fields(&[])))
            .expect("/", part, "no length at all: the end of the connection is the end of the page")
            .with_text("a page in a bad frame"),
        host("garbage", |request| {
            for_home_page(request, || vec![ScriptStep::Send(noise()), ScriptStep::Close])
        })
        .expect("/", not_http, "noise instead of HTTP"),
        host("garbage-from-the-start", |_| vec![ScriptStep::Send(noise()), ScriptStep::Close]).expect(
            "/",
            Failed { reason: "robots.txt" },
            "noise even for robots.txt: the rules are not known",
        ),
        host("no-header", |request| {
            for_home_page(request, || {
                vec![ScriptStep::Send(page("no header", &[]).into()), ScriptStep::Close]
            })
        })
        .expect("/", not_http, "a page without a header, as before HTTP/1.0"),
        host("closes-without-answer", |request| for_home_page(request, || vec![ScriptStep::Close]))
            .expect("/", no_answer, "accepts the request and closes")
            .expect("/", AtMost(4), "no storm of retries"),
        host("closes-in-header", |request| {
            for_home_page(request, || {
                vec![
                    ScriptStep::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-Ty")),
                    ScriptStep::Close,
                ]
            })
        })
        .expect("/", no_answer, "closes inside the header"),
        host("odd-status", |request| for_home_page(request, || answer_with("HTTP/1.1 299 Odd", &[]))).expect(
            "/",
            Stored { status: 299 },
            "an unregistered status",
        ),
        host("negative-status", |request| for_home_page(request, || answer_with("HTTP/1.1 -200 Odd", &[])))
            .expect("/", not_http, "a negative status"),
        host("huge-status", |request| for_home_page(request, || answer_with("HTTP/1.1 65736 Odd", &[])))
            .expect("/", not_http, "a status that is 200 in 16 bits"),
        host("unknown-status", |request| for_home_page(request, || answer_with("HTTP/1.1 999 Odd", &[])))
            .expect("/", Settled, "a status outside the standard"),
        host("old-http", |request| for_home_page(request, || answer_with("HTTP/1.0 200 OK", &[])))
            .expect("/", part, "HTTP/1.0 and no Host needed")
            .with_text("a page in a bad frame"),
        host("header-10-kb", |request| {
            for_home_page(request, || with_fields(&[&format!("X-Long: {}", "long".repeat(2500))]))
        })
        .expect("/", part, "ten kilobytes of header are odd, and allowed"),
        host("header-500-fields", |request| for_home_page(request, five_hundred_fields)).expect(
            "/",
            Settled,
            "five hundred header fields: stored or refused, with a reason",
        ),
        HostileHost::new("closes-at-once", HostBehaviour::Immediate(|_| vec![ScriptStep::Close]))
            .expect("/", Failed { reason: "robots.txt" }, "closes every connection at once")
            .expect("/", AtMost(4), "no storm of retries"),
    ];
    let mut short_lived = host("keeps-no-connection", short_lived);
    for number in 0..SHORT_LIVED_PAGES {
        let note = "each connection is closed before its second request, without notice";
        short_lived = short_lived.expect(path_of(number), part, note);
    }
    hosts.push(short_lived);
    hosts
}

fn the_page() -> String {
    page("a page in a bad frame", &[])
}

/// Sends a page with these header fields, then closes the connection.
fn with_fields(fields: &[&str]) -> Vec<ScriptStep> {
    answer_with("HTTP/1.1 200 OK", fields)
}

fn answer_with(status: &str, fields: &[&str]) -> Vec<ScriptStep> {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let page = the_page();
    let answer = format!("{status}\r\nContent-Type: text/html; charset=utf-8\r\n{fields}\r\n{page}");
    vec![ScriptStep::Send(answer.into()), ScriptStep::Close]
}

/// Sends the page as one valid chunk, then this, then closes the connection.
fn chunked(then: &str) -> Vec<ScriptStep> {
    let page = the_page();
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![ScriptStep::Send(format!("{head}{:x}\r\n{page}\r\n{then}", page.len()).into()), ScriptStep::Close]
}

fn length_and_chunks() -> Vec<ScriptStep> {
    let page = the_page();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 7\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    vec![ScriptStep::Send(format!("{head}{:x}\r\n{page}\r\n0\r\n\r\n", page.len()).into()), ScriptStep::Close]
}

fn five_hundred_fields() -> Vec<ScriptStep> {
    let fields: Vec<String> = (0..500).map(|number| format!("X-Field-{number}: {number}")).collect();
    with_fields(&fields.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns bytes of no protocol.
fn noise() -> Bytes {
    let mut state = 0x9e37_79b9_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..4096).map(|_| byte()).collect()
}

/// Announces keep-alive and closes the connection.
fn short_lived(request: &HostileRequest) -> Vec<ScriptStep> {
    let number = (0..SHORT_LIVED_PAGES).find(|number| path_of(*number) == request.path);
    let reply = match number {
        Some(number) => {
            let next = path_of((number + 1) % SHORT_LIVED_PAGES);
            CannedResponse::page("a page of a host in a hurry", &[&next])
        }
        None => CannedResponse::not_found(),
    };
    vec![ScriptStep::Send(reply.field("connection", "keep-alive").bytes()), ScriptStep::Close]
}
