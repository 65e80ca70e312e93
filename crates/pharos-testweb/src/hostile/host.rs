//! Description of a host and its misbehaviour.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::ExpectedOutcome;

/// A host: its names, transport, behaviour and expectations.
pub(super) struct HostileHost {
    /// All of them reach the same listener. `*.many.test` means every name with this suffix.
    pub(super) names: Vec<String>,
    pub(super) transport: Transport,
    pub(super) behaviour: HostBehaviour,
    /// URLs have no port: connections to 80 or 443 are redirected to the listener by `--connect-to`.
    pub(super) default_port: bool,
    /// The name also resolves to another address, tried first, without a listener.
    pub(super) half_dead: bool,
    /// Index of the name, and path.
    pub(super) seeds: Vec<(usize, String)>,
    pub(super) expectations: Vec<HostExpectation>,
}

/// The expectation about one URL of a host.
pub(super) struct HostExpectation {
    pub(super) name: usize,
    pub(super) path: String,
    pub(super) outcome: ExpectedOutcome,
    pub(super) text: Option<&'static str>,
    pub(super) note: &'static str,
}

/// Transport of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// Plain TCP.
    Clear,
    /// TLS; HTTP/1.1 alone by ALPN, or HTTP/2 as well.
    Tls { certificate: CertificateFault, http2: bool },
    /// TCP for a URL that promises TLS.
    ClearInsteadOfTls,
}

/// Fault of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CertificateFault {
    Good,
    /// Expired years ago.
    Expired,
    /// Issued for another host.
    WrongName,
    /// Without an issuer.
    SelfSigned,
}

/// Behaviour of a host.
#[derive(Clone, Copy)]
pub(super) enum HostBehaviour {
    /// Well-formed HTTP.
    Http(fn(&HostileRequest) -> CannedResponse),
    /// Arbitrary bytes by a script per request; only over [`Transport::Clear`].
    Script(fn(&HostileRequest) -> Vec<ScriptStep>),
    /// A script that does not wait for a request; it gets the number of the connection to this host, from 0.
    Immediate(fn(u64) -> Vec<ScriptStep>),
}

/// One step of a script. After the last one the next request of the connection is read.
#[derive(Clone, Debug)]
pub(super) enum ScriptStep {
    Send(Bytes),
    /// The same bytes repeatedly, with a pause before each.
    Drip(Bytes, Duration),
    /// The same bytes as fast as the client reads them.
    Endless(Bytes),
    /// Nothing, until the client disconnects.
    Stall,
    Close,
    /// Waits for a request and responds well; for scripts that start at once.
    Respond(fn(&HostileRequest) -> CannedResponse),
}

/// A request, as far as hosts need it.
pub(super) struct HostileRequest {
    /// Without port, in lower case.
    pub(super) host: String,
    /// Path and query.
    pub(super) path: String,
    pub(super) if_none_match: Option<String>,
    pub(super) if_modified_since: Option<String>,
    /// Number of earlier requests to this host.
    pub(super) earlier: u64,
    /// `true` after [`remove_page`](super::HostileWeb::remove_page) for this URL.
    pub(super) is_removed: bool,
    pub(super) urls: Arc<HostUrls>,
}

impl HostileRequest {
    pub(super) fn is_robots_txt(&self) -> bool {
        self.path == "/robots.txt"
    }
}

/// Base URLs of all hosts (`http://name.test:4711`), by scheme and name.
#[derive(Default)]
pub(super) struct HostUrls(pub(super) HashMap<(&'static str, String), String>);

impl HostUrls {
    pub(super) fn base(&self, scheme: &'static str, name: &str) -> String {
        let known = self.0.get(&(scheme, name.to_string()));
        known.cloned().unwrap_or_else(|| format!("{scheme}://{name}"))
    }

    pub(super) fn http(&self, name: &str) -> String {
        self.base("http", name)
    }
}

/// A well-formed response.
#[derive(Clone)]
pub(super) struct CannedResponse {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
    pub(super) end: ResponseEnd,
}

/// End of a well-formed response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseEnd {
    /// Completely.
    Whole,
    /// Reset before the header: the stream in HTTP/2, the connection in HTTP/1.1.
    ResetAtOnce,
    /// Reset after the bytes of the body, although more were announced.
    ResetInBody,
}

impl CannedResponse {
    pub(super) fn new(status: u16, kind: &str, body: impl Into<Bytes>) -> CannedResponse {
        let fields = vec![("content-type", kind.to_string())];
        CannedResponse { status, fields, body: body.into(), end: ResponseEnd::Whole }
    }

    pub(super) fn html(body: impl Into<Bytes>) -> CannedResponse {
        CannedResponse::new(200, "text/html; charset=utf-8", body)
    }

    /// Returns a small page with a title and links (URL and anchor are the same).
    pub(super) fn page(title: &str, links: &[&str]) -> CannedResponse {
        CannedResponse::html(page(title, links))
    }

    pub(super) fn text(status: u16, body: impl Into<Bytes>) -> CannedResponse {
        CannedResponse::new(status, "text/plain; charset=utf-8", body)
    }

    pub(super) fn redirect(status: u16, target: &str) -> CannedResponse {
        CannedResponse::text(status, "moved\n").field("location", target)
    }

    pub(super) fn not_found() -> CannedResponse {
        CannedResponse::text(404, "there is nothing here\n")
    }

    pub(super) fn field(mut self, name: &'static str, value: impl Into<String>) -> CannedResponse {
        self.fields.push((name, value.into()));
        self
    }

    /// Returns the response as bytes of HTTP/1.1.
    pub(super) fn bytes(&self) -> Bytes {
        let mut out = format!("HTTP/1.1 {} Status\r\n", self.status);
        for (name, value) in &self.fields {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        out.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        let mut out = out.into_bytes();
        out.extend_from_slice(&self.body);
        out.into()
    }
}

/// Returns a page with a title, a paragraph and links.
pub(super) fn page(title: &str, links: &[&str]) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body><h1>{title}</h1>\n<p>This page of the test web is about {title}.</p>\n"
    );
    for link in links {
        out.push_str(&format!("<p><a href=\"{link}\">{link}</a></p>\n"));
    }
    out.push_str("</body></html>\n");
    out
}

/// Returns the script for the home page; there is no robots.txt.
pub(super) fn for_home_page(request: &HostileRequest, script: fn() -> Vec<ScriptStep>) -> Vec<ScriptStep> {
    if request.path == "/" { script() } else { vec![ScriptStep::Send(CannedResponse::not_found().bytes())] }
}

/// Returns the path of a numbered page; the home page is number 0.
pub(super) fn path_of(number: usize) -> String {
    if number == 0 { "/".to_string() } else { format!("/{number}") }
}

impl HostileHost {
    /// Creates a plain-text host `label.test`, with its home page as seed.
    pub(super) fn new(label: &str, behaviour: HostBehaviour) -> HostileHost {
        HostileHost {
            names: vec![format!("{label}.test")],
            transport: Transport::Clear,
            behaviour,
            default_port: false,
            half_dead: false,
            seeds: vec![(0, "/".to_string())],
            expectations: Vec::new(),
        }
    }

    pub(super) fn with_transport(self, transport: Transport) -> HostileHost {
        HostileHost { transport, ..self }
    }

    pub(super) fn also_named(mut self, names: &[&str]) -> HostileHost {
        self.names.extend(names.iter().map(|name| format!("{name}.test")));
        self
    }

    pub(super) fn seeds(self, seeds: &[(usize, &str)]) -> HostileHost {
        HostileHost { seeds: seeds.iter().map(|(name, path)| (*name, path.to_string())).collect(), ..self }
    }

    /// Adds an expectation about a URL under the first name.
    pub(super) fn expect(
        self,
        path: impl Into<String>,
        outcome: ExpectedOutcome,
        note: &'static str,
    ) -> HostileHost {
        self.expect_of(0, path, outcome, note)
    }

    /// Adds an expectation about a URL under one of the names.
    pub(super) fn expect_of(
        mut self,
        name: usize,
        path: impl Into<String>,
        outcome: ExpectedOutcome,
        note: &'static str,
    ) -> HostileHost {
        self.expectations.push(HostExpectation { name, path: path.into(), outcome, text: None, note });
        self
    }

    /// Adds the expected text to the last expectation.
    pub(super) fn with_text(mut self, text: &'static str) -> HostileHost {
        if let Some(last) = self.expectations.last_mut() {
            last.text = Some(text);
        }
        self
    }

    pub(super) fn scheme(&self) -> &'static str {
        if self.transport == Transport::Clear { "http" } else { "https" }
    }
}
