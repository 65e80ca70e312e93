//! Slow and endless responses.

use std::time::Duration;

use bytes::Bytes;

use crate::hostile::ExpectedOutcome::{AtMost, Failed, Stored};
use crate::hostile::host::{HostBehaviour, HostileHost, HostileRequest, ScriptStep, for_home_page, page};

const PAUSE: Duration = Duration::from_millis(200);
/// Size of a repeated piece of an endless response.
const PIECE: usize = 64 << 10;

pub(super) fn hosts() -> Vec<HostileHost> {
    let part = Stored { status: 200 };
    let late = Failed { reason: "timed out" };
    let few = AtMost(4);
    let host = |label: &str, script: fn(&HostileRequest) -> Vec<ScriptStep>| {
        HostileHost::new(label, HostBehaviour::Script(script))
    };
    vec![
        host("slow-body", |request| {
            for_home_page(request, || vec![begun(), ScriptStep::Drip(Bytes::from_static(b"x"), PAUSE)])
        })
        .expect("/", part, "one byte at a time: the part received in time is kept")
        .with_text("half a page")
        .expect("/", few, "no storm of retries"),
        host("slow-header", |request| {
            for_home_page(request, || {
                let field = Bytes::from_static(b"X: y\r\n");
                vec![
                    ScriptStep::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\n")),
                    ScriptStep::Drip(field, PAUSE),
                ]
            })
        })
        .expect("/", late, "an endless sequence of slow header fields")
        .expect("/", few, "no storm of retries"),
        host("stall-before-header", |request| for_home_page(request, || vec![ScriptStep::Stall]))
            .expect("/", late, "accepts the request and sends nothing")
            .expect("/", few, "no storm of retries"),
        host("stall-in-header", |request| {
            for_home_page(request, || {
                vec![ScriptStep::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-")), ScriptStep::Stall]
            })
        })
        .expect("/", late, "the header stops in the middle"),
        host("stall-in-body", |request| for_home_page(request, || vec![begun(), ScriptStep::Stall]))
            .expect("/", part, "the body stops in the middle: the received part is kept")
            .with_text("half a page"),
        host("endless-body", |request| {
            for_home_page(request, || vec![begun(), ScriptStep::Endless(words())])
        })
        .expect("/", part, "the body never ends: it is truncated at the limit")
        .with_text("half a page")
        .expect("/", few, "requested once"),
        host("endless-chunks", |request| {
            for_home_page(request, || {
                let head =
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
                let chunk = [format!("{PIECE:x}\r\n").as_bytes(), &words(), b"\r\n"].concat();
                vec![ScriptStep::Send(Bytes::from_static(head)), ScriptStep::Endless(chunk.into())]
            })
        })
        .expect("/", part, "chunks never end: the body is truncated at the limit"),
        host("endless-header", |request| {
            for_home_page(request, || {
                let field = Bytes::from(format!("X-Again: {}\r\n", "again ".repeat(100)));
                vec![ScriptStep::Send(Bytes::from_static(b"HTTP/1.1 200 OK\r\n")), ScriptStep::Endless(field)]
            })
        })
        .expect("/", Failed { reason: "header" }, "the header never ends"),
        host("endless-header-line", |request| {
            for_home_page(request, || {
                let head = Bytes::from_static(b"HTTP/1.1 200 OK\r\nX-Long: ");
                vec![ScriptStep::Send(head), ScriptStep::Endless(words())]
            })
        })
        .expect("/", Failed { reason: "header" }, "one header field never ends"),
        host("endless-continue", |request| {
            for_home_page(request, || {
                vec![ScriptStep::Drip(Bytes::from_static(b"HTTP/1.1 100 Continue\r\n\r\n"), PAUSE)]
            })
        })
        .expect("/", late, "an endless sequence of 100 Continue"),
        HostileHost::new("never-speaks", HostBehaviour::Immediate(|_| vec![ScriptStep::Stall]))
            .expect("/", Failed { reason: "robots.txt" }, "accepts connections and sends nothing")
            .expect("/", few, "no storm of retries"),
    ]
}

/// Starts a page that announces more than it sends at once.
fn begun() -> ScriptStep {
    let page = page("half a page", &[]);
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 9000000000\r\n\r\n";
    ScriptStep::Send(format!("{head}{page}").into())
}

fn words() -> Bytes {
    let mut words = b"words without end ".repeat(PIECE / 18 + 1);
    words.truncate(PIECE);
    words.into()
}
