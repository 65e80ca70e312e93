//! Wrong message framing: lengths, chunks, headers and connections.

use bytes::Bytes;

use super::Outcome::{AtMost, Failed, Settled, Stored};
use super::host::{Ask, Host, Reply, Speech, Step, at_home, page, path_of};

/// Number of pages of the host that closes after every response.
const SHORT_LIVED_PAGES: usize = 6;

pub(super) fn hosts() -> Vec<Host> {
    let part = Stored { status: 200 };
    let not_http = Failed { reason: "not HTTP" };
    let no_answer = Failed { reason: "closed" };
    let host = |label: &str, script: fn(&Ask) -> Vec<Step>| Host::new(label, Speech::Script(script));
    let mut hosts = vec![
        host("length-too-long", |ask| at_home(ask, || with(&["Content-Length: 100000"])))
            .expect("/", part, "closes before the length it promised: what came is kept")
            .saying("a page in a bad frame"),
        host("length-too-short", |ask| at_home(ask, || with(&["Content-Length: 90"]))).expect(
            "/",
            part,
            "sends more than the length it promised: the rest is no answer to anything",
        ),
        host("length-negative", |ask| at_home(ask, || with(&["Content-Length: -5"]))).expect(
            "/",
            not_http,
            "a negative length",
        ),
        host("length-not-a-number", |ask| at_home(ask, || with(&["Content-Length: many"]))).expect(
            "/",
            not_http,
            "a length that is no number",
        ),
        host("length-huge", |ask| at_home(ask, || with(&["Content-Length: 99999999999999999999999"])))
            .expect("/", not_http, "a length that fits no number"),
        host("lengths-differ", |ask| at_home(ask, || with(&["Content-Length: 20", "Content-Length: 9000"])))
            .expect(
                "/",
                not_http,
                "two lengths: which one holds is anybody's guess, and an attacker's choice",
            ),
        host("length-and-chunks", |ask| at_home(ask, length_and_chunks))
            .expect("/", part, "a length beside chunks: the chunks hold (RFC 9112 §6.3)")
            .saying("a page in a bad frame"),
        host("chunk-size-garbage", |ask| at_home(ask, || chunked("zzz\r\nmore\r\n")))
            .expect("/", part, "a chunk without a size: what came before it is kept")
            .saying("a page in a bad frame"),
        host("chunk-size-huge", |ask| at_home(ask, || chunked("fffffffffffffffff1\r\nmore\r\n")))
            .expect("/", part, "a chunk larger than any number: what came before it is kept")
            .saying("a page in a bad frame"),
        host("chunk-cut", |ask| at_home(ask, || chunked("1000\r\nonly this much")))
            .expect("/", part, "closes inside a chunk: what came is kept")
            .saying("a page in a bad frame"),
        host("no-last-chunk", |ask| at_home(ask, || chunked("")))
            .expect("/", part, "closes before the last chunk: what came is kept")
            .saying("a page in a bad frame"),
        host("no-length", |ask| at_home(ask, || with(&[])))
            .expect("/", part, "no length at all: the end of the connection is the end of the page")
            .saying("a page in a bad frame"),
        host("garbage", |ask| at_home(ask, || vec![Step::Send(noise()), Step::Close])).expect(
            "/",
            not_http,
            "noise instead of HTTP",
        ),
        host("garbage-from-the-start", |_| vec![Step::Send(noise()), Step::Close]).expect(
            "/",
            Failed { reason: "robots.txt" },
            "noise even for robots.txt: the rules are not known",
        ),
        host("no-header", |ask| {
            at_home(ask, || vec![Step::Send(page("no header", &[]).into()), Step::Close])
        })
        .expect("/", not_http, "a page without a header, as before HTTP/1.0"),
        host("closes-without-answer", |ask| at_home(ask, || vec![Step::Close]))
            .expect("/", no_answer, "takes the request and closes")
            .expect("/", AtMost(4), "no storm of retries"),
        host("closes-in-header", |ask| {
            at_home(ask, || {
                vec![Step::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-Ty")), Step::Close]
            })
        })
        .expect("/", no_answer, "closes inside the header"),
        host("odd-status", |ask| at_home(ask, || answer_with("HTTP/1.1 299 Odd", &[]))).expect(
            "/",
            Stored { status: 299 },
            "a status that nobody registered",
        ),
        host("old-http", |ask| at_home(ask, || answer_with("HTTP/1.0 200 OK", &[])))
            .expect("/", part, "HTTP/1.0 and no Host needed")
            .saying("a page in a bad frame"),
        host("header-10-kb", |ask| at_home(ask, || with(&[&format!("X-Long: {}", "long".repeat(2500))])))
            .expect("/", part, "ten kilobytes of header are odd, and allowed"),
        host("header-500-fields", |ask| at_home(ask, five_hundred_fields)).expect(
            "/",
            Settled,
            "five hundred header fields: stored or refused, with a reason",
        ),
        Host::new("closes-at-once", Speech::AtOnce(|_| vec![Step::Close]))
            .expect("/", Failed { reason: "robots.txt" }, "closes every connection at once")
            .expect("/", AtMost(4), "no storm of retries"),
    ];
    let mut short_lived = host("keeps-no-connection", short_lived);
    for number in 0..SHORT_LIVED_PAGES {
        let note = "each connection is closed before its second request, without a word of warning";
        short_lived = short_lived.expect(path_of(number), part, note);
    }
    hosts.push(short_lived);
    hosts
}

fn the_page() -> String {
    page("a page in a bad frame", &[])
}

/// Sends a page with these header fields, then closes the connection.
fn with(fields: &[&str]) -> Vec<Step> {
    answer_with("HTTP/1.1 200 OK", fields)
}

fn answer_with(status: &str, fields: &[&str]) -> Vec<Step> {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let page = the_page();
    let answer = format!("{status}\r\nContent-Type: text/html; charset=utf-8\r\n{fields}\r\n{page}");
    vec![Step::Send(answer.into()), Step::Close]
}

/// Sends the page as one valid chunk, then this, then closes the connection.
fn chunked(then: &str) -> Vec<Step> {
    let page = the_page();
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![Step::Send(format!("{head}{:x}\r\n{page}\r\n{then}", page.len()).into()), Step::Close]
}

fn length_and_chunks() -> Vec<Step> {
    let page = the_page();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 7\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    vec![Step::Send(format!("{head}{:x}\r\n{page}\r\n0\r\n\r\n", page.len()).into()), Step::Close]
}

fn five_hundred_fields() -> Vec<Step> {
    let fields: Vec<String> = (0..500).map(|number| format!("X-Field-{number}: {number}")).collect();
    with(&fields.iter().map(String::as_str).collect::<Vec<_>>())
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
fn short_lived(ask: &Ask) -> Vec<Step> {
    let number = (0..SHORT_LIVED_PAGES).find(|number| path_of(*number) == ask.path);
    let reply = match number {
        Some(number) => {
            let next = path_of((number + 1) % SHORT_LIVED_PAGES);
            Reply::page("a page of a host in a hurry", &[&next])
        }
        None => Reply::not_found(),
    };
    vec![Step::Send(reply.field("connection", "keep-alive").bytes()), Step::Close]
}
