//! TLS, valid and invalid, and HTTP/2.

use bytes::Bytes;

use crate::hostile::ExpectedOutcome::{AtMost, Failed, Stored};
use crate::hostile::host::{
    CannedResponse, CertificateFault, HostBehaviour, HostileHost, HostileRequest, ResponseEnd, ScriptStep,
    Transport, path_of,
};

/// Number of pages of a good host.
const PAGES: usize = 5;

pub(super) fn hosts() -> Vec<HostileHost> {
    let good = |http2| Transport::Tls { certificate: CertificateFault::Good, http2 };
    let bad = |certificate| Transport::Tls { certificate, http2: false };
    let mut hosts = Vec::new();
    for (label, http2) in [("tls-http-1", false), ("tls-http-2", true)] {
        let mut host = HostileHost::new(label, HostBehaviour::Http(answer)).with_transport(good(http2));
        for number in 0..PAGES {
            let note = "valid TLS for clients that trust the test authority";
            host = host.expect(path_of(number), Stored { status: 200 }, note);
        }
        hosts.push(host);
    }
    for (label, certificate, note) in [
        ("tls-expired", CertificateFault::Expired, "a certificate that has expired"),
        ("tls-wrong-name", CertificateFault::WrongName, "a certificate of another host"),
        ("tls-self-signed", CertificateFault::SelfSigned, "a self-signed certificate"),
    ] {
        let host = HostileHost::new(label, HostBehaviour::Http(answer)).with_transport(bad(certificate));
        hosts.push(host.expect("/", Failed { reason: "certificate" }, note).expect(
            "/",
            AtMost(4),
            "no storm of retries",
        ));
    }
    hosts.push(
        HostileHost::new("tls-cut-handshake", HostBehaviour::Immediate(cut_handshake))
            .with_transport(Transport::ClearInsteadOfTls)
            .expect("/", Failed { reason: "connection" }, "the handshake breaks off")
            .expect("/", AtMost(4), "no storm of retries"),
    );
    hosts.push(
        HostileHost::new("tls-clear-text", HostBehaviour::Immediate(clear_text))
            .with_transport(Transport::ClearInsteadOfTls)
            .expect("/", Failed { reason: "tls" }, "plain text instead of TLS"),
    );
    hosts.push(
        HostileHost::new("tls-stalls", HostBehaviour::Immediate(|_| vec![ScriptStep::Stall]))
            .with_transport(Transport::ClearInsteadOfTls)
            .expect("/", Failed { reason: "timed out" }, "a TLS handshake that never starts"),
    );
    hosts.push(
        HostileHost::new("http-2-resets", HostBehaviour::Http(resets))
            .with_transport(good(true))
            .expect("/", Stored { status: 200 }, "links to streams that are reset")
            .expect("/at-once", Failed { reason: "" }, "the stream is reset before a response")
            .expect(
                "/in-body",
                Stored { status: 200 },
                "the stream is reset in the body: the received part is kept",
            )
            .expect("/after", Stored { status: 200 }, "other streams of the connection are unaffected"),
    );
    hosts
}

fn answer(request: &HostileRequest) -> CannedResponse {
    match (0..PAGES).find(|number| path_of(*number) == request.path) {
        Some(number) => {
            let next = path_of((number + 1) % PAGES);
            CannedResponse::page(&format!("secret number {number} of {}", request.host), &[&next])
        }
        None => CannedResponse::not_found(),
    }
}

/// The response of many servers to a TLS handshake on a plain port.
fn clear_text(_: u64) -> Vec<ScriptStep> {
    let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    vec![ScriptStep::Send(Bytes::from_static(answer)), ScriptStep::Close]
}

/// Sends the beginning of a record with a ServerHello.
fn cut_handshake(_: u64) -> Vec<ScriptStep> {
    let hello = [0x16, 3, 3, 0, 122, 2, 0, 0, 118, 3, 3];
    vec![ScriptStep::Send(Bytes::copy_from_slice(&hello)), ScriptStep::Close]
}

fn resets(request: &HostileRequest) -> CannedResponse {
    let page = CannedResponse::page("a page of a nervous server", &[]);
    match request.path.as_str() {
        "/" => CannedResponse::page("a nervous server", &["/at-once", "/in-body", "/after"]),
        "/at-once" => CannedResponse { end: ResponseEnd::ResetAtOnce, ..page },
        "/in-body" => CannedResponse { end: ResponseEnd::ResetInBody, ..page },
        "/after" => page,
        _ => CannedResponse::not_found(),
    }
}
