//! Slow and endless responses.

use std::time::Duration;

use bytes::Bytes;

use super::Outcome::{AtMost, Failed, Stored};
use super::host::{Ask, Host, Speech, Step, at_home, page};

const PAUSE: Duration = Duration::from_millis(200);
/// Size of a repeated piece of an endless response.
const PIECE: usize = 64 << 10;

pub(super) fn hosts() -> Vec<Host> {
    let part = Stored { status: 200 };
    let late = Failed { reason: "timed out" };
    let few = AtMost(4);
    let host = |label: &str, script: fn(&Ask) -> Vec<Step>| Host::new(label, Speech::Script(script));
    vec![
        host("slow-body", |ask| at_home(ask, || vec![begun(), Step::Drip(Bytes::from_static(b"x"), PAUSE)]))
            .expect("/", part, "a byte at a time: what came in time is kept")
            .saying("half a page")
            .expect("/", few, "no storm of retries"),
        host("slow-header", |ask| {
            at_home(ask, || {
                let field = Bytes::from_static(b"X: y\r\n");
                vec![Step::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\n")), Step::Drip(field, PAUSE)]
            })
        })
        .expect("/", late, "a header field at a time, and no end of them")
        .expect("/", few, "no storm of retries"),
        host("stall-before-header", |ask| at_home(ask, || vec![Step::Stall]))
            .expect("/", late, "the request is taken and nothing comes")
            .expect("/", few, "no storm of retries"),
        host("stall-in-header", |ask| {
            at_home(ask, || vec![Step::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-")), Step::Stall])
        })
        .expect("/", late, "the header stops in the middle"),
        host("stall-in-body", |ask| at_home(ask, || vec![begun(), Step::Stall]))
            .expect("/", part, "the body stops in the middle: what came is kept")
            .saying("half a page"),
        host("endless-body", |ask| at_home(ask, || vec![begun(), Step::Endless(words())]))
            .expect("/", part, "the body never ends: it is cut at the limit")
            .saying("half a page")
            .expect("/", few, "asked for once"),
        host("endless-chunks", |ask| {
            at_home(ask, || {
                let head =
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
                let chunk = [format!("{PIECE:x}\r\n").as_bytes(), &words(), b"\r\n"].concat();
                vec![Step::Send(Bytes::from_static(head)), Step::Endless(chunk.into())]
            })
        })
        .expect("/", part, "chunks never end: the body is cut at the limit"),
        host("endless-header", |ask| {
            at_home(ask, || {
                let field = Bytes::from(format!("X-Again: {}\r\n", "again ".repeat(100)));
                vec![Step::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\n")), Step::Endless(field)]
            })
        })
        .expect("/", Failed { reason: "header" }, "the header never ends"),
        host("endless-header-line", |ask| {
            at_home(ask, || {
                let head = Bytes::from_static(b"HTTP/1.1 200 OK\r\nX-Long: ");
                vec![Step::Send(head), Step::Endless(words())]
            })
        })
        .expect("/", Failed { reason: "header" }, "one header field never ends"),
        host("endless-continue", |ask| {
            at_home(ask, || vec![Step::Drip(Bytes::from_static(b"HTTP/1.1 100 Continue\r\n\r\n"), PAUSE)])
        })
        .expect("/", late, "it is always about to answer"),
        Host::new("never-speaks", Speech::AtOnce(|_| vec![Step::Stall]))
            .expect("/", Failed { reason: "robots.txt" }, "accepts and never says a word")
            .expect("/", few, "no storm of retries"),
    ]
}

/// Starts a page that announces more than it sends at once.
fn begun() -> Step {
    let page = page("half a page", &[]);
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 9000000000\r\n\r\n";
    Step::Send(format!("{head}{page}").into())
}

fn words() -> Bytes {
    let mut words = b"words without end ".repeat(PIECE / 18 + 1);
    words.truncate(PIECE);
    words.into()
}
