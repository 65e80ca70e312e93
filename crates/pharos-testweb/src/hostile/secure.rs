//! TLS, valid and invalid, and HTTP/2.

use bytes::Bytes;

use super::Outcome::{AtMost, Failed, Stored};
use super::host::{Ask, Carrier, Certificate, End, Host, Reply, Speech, Step, path_of};

/// Number of pages of a good host.
const PAGES: usize = 5;

pub(super) fn hosts() -> Vec<Host> {
    let good = |http2| Carrier::Tls { certificate: Certificate::Good, http2 };
    let bad = |certificate| Carrier::Tls { certificate, http2: false };
    let mut hosts = Vec::new();
    for (label, http2) in [("tls-http-1", false), ("tls-http-2", true)] {
        let mut host = Host::new(label, Speech::Http(answer)).over(good(http2));
        for number in 0..PAGES {
            let note = "good TLS, for whoever believes the test web's authority";
            host = host.expect(path_of(number), Stored { status: 200 }, note);
        }
        hosts.push(host);
    }
    for (label, certificate, note) in [
        ("tls-expired", Certificate::Expired, "a certificate that has expired"),
        ("tls-wrong-name", Certificate::WrongName, "a certificate of another host"),
        ("tls-self-signed", Certificate::SelfSigned, "a certificate that nobody vouches for"),
    ] {
        let host = Host::new(label, Speech::Http(answer)).over(bad(certificate));
        hosts.push(host.expect("/", Failed { reason: "certificate" }, note).expect(
            "/",
            AtMost(4),
            "no storm of retries",
        ));
    }
    hosts.push(
        Host::new("tls-clear-text", Speech::AtOnce(clear_text)).over(Carrier::ClearInsteadOfTls).expect(
            "/",
            Failed { reason: "tls" },
            "clear text where TLS was promised",
        ),
    );
    hosts.push(
        Host::new("tls-stalls", Speech::AtOnce(|_| vec![Step::Stall]))
            .over(Carrier::ClearInsteadOfTls)
            .expect("/", Failed { reason: "timed out" }, "a handshake that never begins"),
    );
    hosts.push(
        Host::new("http-2-resets", Speech::Http(resets))
            .over(good(true))
            .expect("/", Stored { status: 200 }, "leads to streams that are reset")
            .expect("/at-once", Failed { reason: "" }, "the stream is reset before an answer")
            .expect("/in-body", Stored { status: 200 }, "the stream is reset in the body: what came is kept")
            .expect("/after", Stored { status: 200 }, "other streams of the connection are not hurt"),
    );
    hosts
}

fn answer(ask: &Ask) -> Reply {
    match (0..PAGES).find(|number| path_of(*number) == ask.path) {
        Some(number) => {
            let next = path_of((number + 1) % PAGES);
            Reply::page(&format!("secret number {number} of {}", ask.host), &[&next])
        }
        None => Reply::not_found(),
    }
}

/// What many servers respond to a TLS handshake on a plain port.
fn clear_text(_: u64) -> Vec<Step> {
    let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    vec![Step::Send(Bytes::from_static(answer)), Step::Close]
}

fn resets(ask: &Ask) -> Reply {
    let page = Reply::page("a page of a nervous server", &[]);
    match ask.path.as_str() {
        "/" => Reply::page("a nervous server", &["/at-once", "/in-body", "/after"]),
        "/at-once" => Reply { end: End::ResetAtOnce, ..page },
        "/in-body" => Reply { end: End::ResetInBody, ..page },
        "/after" => page,
        _ => Reply::not_found(),
    }
}
