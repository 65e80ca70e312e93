//! The words in which a host and its misbehaviour are written down.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Outcome;

/// A host: its names, how it is reached, how it talks, and what is true of it.
pub(super) struct Host {
    /// All of them reach the same listener. `*.many.test` stands for every name that ends so.
    pub(super) names: Vec<String>,
    pub(super) carrier: Carrier,
    pub(super) speech: Speech,
    /// URLs have no port: connections to 80 or 443 are sent to the listener by `--connect-to`.
    pub(super) default_port: bool,
    /// The name leads to a second address too, tried first, where nobody listens.
    pub(super) half_dead: bool,
    /// Number of the name, and path.
    pub(super) seeds: Vec<(usize, String)>,
    pub(super) truth: Vec<True>,
}

/// What is true of one URL of a host.
pub(super) struct True {
    pub(super) name: usize,
    pub(super) path: String,
    pub(super) outcome: Outcome,
    pub(super) says: Option<&'static str>,
    pub(super) note: &'static str,
}

/// What HTTP is carried by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// TCP.
    Clear,
    /// TLS; by ALPN HTTP/1.1 alone, or HTTP/2 as well.
    Tls { certificate: Certificate, http2: bool },
    /// TCP where the URL promises TLS.
    ClearInsteadOfTls,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Certificate {
    /// Nothing.
    Good,
    /// It ended years ago.
    Expired,
    /// It is another host's.
    WrongName,
    /// Nobody vouches for it.
    SelfSigned,
}

/// How a host talks.
#[derive(Clone, Copy)]
pub(super) enum Speech {
    /// Well-formed HTTP.
    Http(fn(&Ask) -> Reply),
    /// Whatever bytes the script of a request says; only over [`Carrier::Clear`].
    Script(fn(&Ask) -> Vec<Step>),
    /// A script that does not wait for a request; it is given the number of the connection to this host, from 0.
    AtOnce(fn(u64) -> Vec<Step>),
}

/// One act of a host that writes bytes by hand. After the last the next request of the connection is read.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Send(Bytes),
    /// The same bytes again and again, with a pause before each.
    Drip(Bytes, Duration),
    /// The same bytes as fast as they are taken.
    Endless(Bytes),
    /// Nothing, until the client leaves.
    Stall,
    Close,
    /// Waits for a request and answers it well; for scripts that begin at once.
    Answer(fn(&Ask) -> Reply),
}

/// A request, as far as hosts care.
pub(super) struct Ask {
    /// Without port, in lower case.
    pub(super) host: String,
    /// Path and query.
    pub(super) path: String,
    pub(super) if_none_match: Option<String>,
    pub(super) if_modified_since: Option<String>,
    /// How many requests this host had before.
    pub(super) earlier: u64,
    /// Whether [`take_away`](super::HostileWeb::take_away) was called for this URL.
    pub(super) taken_away: bool,
    pub(super) places: Arc<Places>,
}

impl Ask {
    pub(super) fn is_robots_txt(&self) -> bool {
        self.path == "/robots.txt"
    }
}

/// Where every host is: `http://name.test:4711`, by scheme and name.
#[derive(Default)]
pub(super) struct Places(pub(super) HashMap<(&'static str, String), String>);

impl Places {
    pub(super) fn base(&self, scheme: &'static str, name: &str) -> String {
        let known = self.0.get(&(scheme, name.to_string()));
        known.cloned().unwrap_or_else(|| format!("{scheme}://{name}"))
    }

    pub(super) fn http(&self, name: &str) -> String {
        self.base("http", name)
    }
}

/// A well-formed answer.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
    pub(super) end: End,
}

/// How a well-formed answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Whole,
    /// Reset before the header: the stream in HTTP/2, the connection in HTTP/1.1.
    ResetAtOnce,
    /// Reset after the body's bytes, with more promised.
    ResetInBody,
}

impl Reply {
    pub(super) fn new(status: u16, kind: &str, body: impl Into<Bytes>) -> Reply {
        let fields = vec![("content-type", kind.to_string())];
        Reply { status, fields, body: body.into(), end: End::Whole }
    }

    pub(super) fn html(body: impl Into<Bytes>) -> Reply {
        Reply::new(200, "text/html; charset=utf-8", body)
    }

    /// A small page with a title and links (address and anchor are the same).
    pub(super) fn page(title: &str, links: &[&str]) -> Reply {
        Reply::html(page(title, links))
    }

    pub(super) fn text(status: u16, body: impl Into<Bytes>) -> Reply {
        Reply::new(status, "text/plain; charset=utf-8", body)
    }

    pub(super) fn redirect(status: u16, target: &str) -> Reply {
        Reply::text(status, "moved\n").field("location", target)
    }

    pub(super) fn not_found() -> Reply {
        Reply::text(404, "there is nothing here\n")
    }

    pub(super) fn field(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.fields.push((name, value.into()));
        self
    }

    /// The answer as bytes of HTTP/1.1.
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

/// A page that reads as one: a title, a paragraph and links.
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

/// The script for the home page; there is no robots.txt.
pub(super) fn at_home(ask: &Ask, script: fn() -> Vec<Step>) -> Vec<Step> {
    if ask.path == "/" { script() } else { vec![Step::Send(Reply::not_found().bytes())] }
}

/// The home page is number 0 of a host's pages.
pub(super) fn path_of(number: usize) -> String {
    if number == 0 { "/".to_string() } else { format!("/{number}") }
}

impl Host {
    /// A host in clear text, `label.test`, with its home page as seed.
    pub(super) fn new(label: &str, speech: Speech) -> Host {
        Host {
            names: vec![format!("{label}.test")],
            carrier: Carrier::Clear,
            speech,
            default_port: false,
            half_dead: false,
            seeds: vec![(0, "/".to_string())],
            truth: Vec::new(),
        }
    }

    pub(super) fn over(self, carrier: Carrier) -> Host {
        Host { carrier, ..self }
    }

    pub(super) fn also_named(mut self, names: &[&str]) -> Host {
        self.names.extend(names.iter().map(|name| format!("{name}.test")));
        self
    }

    pub(super) fn seeds(self, seeds: &[(usize, &str)]) -> Host {
        Host { seeds: seeds.iter().map(|(name, path)| (*name, path.to_string())).collect(), ..self }
    }

    /// What is true of a URL under the first name.
    pub(super) fn expect(self, path: impl Into<String>, outcome: Outcome, note: &'static str) -> Host {
        self.expect_of(0, path, outcome, note)
    }

    /// What is true of a URL under one of the names.
    pub(super) fn expect_of(
        mut self,
        name: usize,
        path: impl Into<String>,
        outcome: Outcome,
        note: &'static str,
    ) -> Host {
        self.truth.push(True { name, path: path.into(), outcome, says: None, note });
        self
    }

    /// The last expectation is of a page that reads so.
    pub(super) fn saying(mut self, text: &'static str) -> Host {
        if let Some(last) = self.truth.last_mut() {
            last.says = Some(text);
        }
        self
    }

    pub(super) fn scheme(&self) -> &'static str {
        if self.carrier == Carrier::Clear { "http" } else { "https" }
    }
}
