//! The hostile web: every misbehaviour of servers, each on its own host.
//!
//! A set of hosts on loopback, each with one fault, and some good ones beside them. Like the rest of the test web it
//! knows the truth: for each URL the result of a careful crawler, and for each host the permitted number of requests
//! ([`Expectation`]). The request log records the actual requests, for tests of politeness.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! use pharos_testweb::hostile::{HostileOptions, HostileWeb};
//!
//! let web = HostileWeb::start(HostileOptions::default()).await?;
//! println!("crawl {:?} with --resolve {:?}", web.seeds(), web.resolve_args());
//! // … crawl, then compare:
//! for expectation in web.expectations() {
//!     println!("{} should be {:?}: {}", expectation.url, expectation.outcome, expectation.note);
//! }
//! web.stop().await;
//! # Ok(()) }
//! ```
//!
//! `host` defines how hosts are described, `groups/` describes them, and `wire` and `script` serve them on sockets.
//!
//! # Invariants
//! * Every host has its own registrable domain under the reserved `.test`, its own address in 127.66.0.0/16 (which
//!   only Linux has by default), and a free port.
//! * Nothing is sent outside loopback, whatever a host's redirects and links name.
//! * Everything ends: a connection after [`HostileOptions::connection_timeout`] at the latest, all of them with
//!   [`HostileWeb::stop`]. A large response is generated once, on its first request.

mod certificates;
mod groups;
mod host;
mod log;
mod script;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub use log::HostileLogEntry;

use certificates::Authority;
use groups::{all_hosts, redirects};
use host::{HostUrls, HostileHost, Transport};
use wire::{HostileState, ServedHost, listen};

/// Limits of a hostile web.
#[derive(Clone, Debug)]
pub struct HostileOptions {
    /// Maximum number of logged requests.
    pub log_capacity: usize,
    /// Maximum number of open connections; further ones wait.
    pub max_connections: usize,
    /// Maximum lifetime of a connection.
    pub connection_timeout: Duration,
}

impl Default for HostileOptions {
    fn default() -> HostileOptions {
        HostileOptions {
            log_capacity: 200_000,
            max_connections: 4096,
            connection_timeout: Duration::from_secs(5 * 60),
        }
    }
}

/// Expected result of a careful crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedOutcome {
    /// A response with this status is stored, possibly truncated.
    Stored { status: u16 },
    /// There is no response, and the recorded reason contains this text.
    Failed { reason: &'static str },
    /// A rule forbids the request, and the recorded reason contains this text.
    Refused { reason: &'static str },
    /// Either a response or a reason, for hosts that fail at times.
    Settled,
    /// The server must never see a request for it.
    NeverRequested,
    /// Maximum number of requests to the host of the URL, including robots.txt.
    AtMost(usize),
    /// Maximum number of requests to these hosts together.
    AtMostTogether { hosts: &'static [&'static str], requests: usize },
}

/// The expectation about one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The URL; for [`ExpectedOutcome::AtMost`] any URL of the host.
    pub url: String,
    pub outcome: ExpectedOutcome,
    /// Text contained in the stored page.
    pub text: Option<&'static str>,
    /// Reason for the expectation.
    pub note: &'static str,
}

/// A hostile web that is being served.
pub struct HostileWeb {
    state: Arc<HostileState>,
    hosts: Vec<(Arc<ServedHost>, SocketAddr)>,
    decoys: Vec<SocketAddr>,
    ca_pem: String,
    stop: watch::Sender<bool>,
    listeners: JoinSet<()>,
}

impl HostileWeb {
    /// Binds all addresses, all of them loopback, and starts serving on the current tokio runtime.
    pub async fn start(options: HostileOptions) -> io::Result<HostileWeb> {
        let authority = Authority::new()?;
        let mut bound = Vec::new();
        for (number, host) in (0u16..).zip(all_hosts()) {
            let listener = TcpListener::bind((address(number, 0), 0)).await?;
            let address = listener.local_addr()?;
            bound.push((host, address, listener));
        }
        let mut urls = HostUrls::default();
        for (host, address, _) in &bound {
            for name in &host.names {
                let port = if host.default_port { String::new() } else { format!(":{}", address.port()) };
                let base = format!("{}://{name}{port}", host.scheme());
                urls.0.insert((host.scheme(), name.clone()), base);
            }
        }
        let (decoys, decoy_listeners) = decoys(&mut urls).await?;
        let state = Arc::new(HostileState {
            log: Arc::new(log::RequestLog::new(options.log_capacity)),
            urls: Arc::new(urls),
            removed_pages: Mutex::new(HashSet::new()),
            connections: AtomicU64::new(0),
            permits: Arc::new(Semaphore::new(options.max_connections)),
            connection_timeout: options.connection_timeout,
        });
        let (stop, stopped) = watch::channel(false);
        let (mut hosts, mut listeners) = (Vec::new(), JoinSet::new());
        for (host, address, listener) in bound {
            let served = Arc::new(served(host, &authority)?);
            listeners.spawn(listen(listener, served.clone(), state.clone(), stopped.clone()));
            hosts.push((served, address));
        }
        for (listener, address) in decoy_listeners.into_iter().zip(&decoys) {
            let decoy = Arc::new(served(redirects::decoy(*address), &authority)?);
            listeners.spawn(listen(listener, decoy, state.clone(), stopped.clone()));
        }
        Ok(HostileWeb { state, hosts, decoys, ca_pem: authority.pem(), stop, listeners })
    }

    /// Returns seeds from which a crawl reaches every host.
    pub fn seeds(&self) -> Vec<String> {
        let seeds = |served: &Arc<ServedHost>| {
            let host = &served.host;
            let url = |(name, path): &(usize, String)| self.url_of(host, *name, path);
            host.seeds.iter().map(url).collect::<Vec<_>>()
        };
        self.hosts.iter().flat_map(|(served, _)| seeds(served)).collect()
    }

    /// Returns `HOST:PORT:ADDR` for every host, as for `--resolve` of curl and of the crawler.
    pub fn resolve_args(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (number, (served, address)) in (0u16..).zip(&self.hosts) {
            let dead =
                if served.host.half_dead { format!("{},", self::address(number, 1)) } else { String::new() };
            for name in &served.host.names {
                // curl supports `*` for all names and no other pattern; each port has one host only.
                let name = if name.starts_with('*') { "*" } else { name.as_str() };
                arguments.push(format!("{name}:{}:{dead}{}", address.port(), address.ip()));
            }
        }
        arguments
    }

    /// Returns `HOST1:PORT1:HOST2:PORT2` for the hosts whose URLs have no port, as for `--connect-to` of curl and of
    /// the crawler.
    pub fn connect_to_args(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (served, address) in self.hosts.iter().filter(|(served, _)| served.host.default_port) {
            let port = if served.host.scheme() == "https" { 443 } else { 80 };
            for name in &served.host.names {
                arguments.push(format!("{name}:{port}:{name}:{}", address.port()));
            }
        }
        arguments
    }

    /// Returns the certificate authority of the TLS hosts in PEM format.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Returns all expectations.
    pub fn expectations(&self) -> Vec<Expectation> {
        let mut all = Vec::new();
        for (served, _) in &self.hosts {
            for expectation in &served.host.expectations {
                let url = self.url_of(&served.host, expectation.name, &expectation.path);
                all.push(Expectation {
                    url,
                    outcome: expectation.outcome,
                    text: expectation.text,
                    note: expectation.note,
                });
            }
        }
        for decoy in &self.decoys {
            let url = format!("http://{decoy}/");
            let note = "only redirects lead to this address, from a host that must not send a crawler there";
            all.push(Expectation { url, outcome: ExpectedOutcome::AtMost(0), text: None, note });
        }
        all
    }

    /// Returns the latest requests, oldest first.
    pub fn requests(&self) -> Vec<HostileLogEntry> {
        self.state.log.read()
    }

    /// Removes a page: its host responds with 404 or 410 from now on. Only the hosts `vanishing.test` (404) and
    /// `vanished-for-good.test` (410) support this.
    pub fn remove_page(&self, url: &str) {
        let mut removed_pages = self.state.removed_pages.lock();
        removed_pages.insert(url.to_string());
    }

    /// Stops listening and closes every connection.
    pub async fn stop(mut self) {
        // Fails only if every listener has already ended.
        let _ = self.stop.send(true);
        while self.listeners.join_next().await.is_some() {}
    }

    fn url_of(&self, host: &HostileHost, name: usize, path: &str) -> String {
        format!("{}{path}", self.state.urls.base(host.scheme(), &host.names[name]))
    }
}

/// Returns the address of a host; its second address has no listener.
fn address(number: u16, which: u8) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(127, 66 + which, high, low.wrapping_add(1))
}

fn served(host: HostileHost, authority: &Authority) -> io::Result<ServedHost> {
    let acceptor = match host.transport {
        Transport::Tls { certificate, http2 } => Some(authority.acceptor(&host.names, certificate, http2)?),
        Transport::Clear | Transport::ClearInsteadOfTls => None,
    };
    Ok(ServedHost { host, acceptor, requests: AtomicU64::new(0), connections: AtomicU64::new(0) })
}

/// Binds addresses that only forbidden redirects lead to, with listeners that would notice a request. IPv6 is omitted
/// if the machine has none.
async fn decoys(urls: &mut HostUrls) -> io::Result<(Vec<SocketAddr>, Vec<TcpListener>)> {
    let mut listeners = vec![TcpListener::bind("127.0.0.1:0").await?];
    listeners.extend(TcpListener::bind("[::1]:0").await.ok());
    let mut addresses = Vec::new();
    for listener in &listeners {
        let address = listener.local_addr()?;
        let name = if address.is_ipv6() { redirects::DECOY_V6 } else { redirects::DECOY_V4 };
        urls.0.insert(("http", name.to_string()), format!("http://{address}"));
        addresses.push(address);
    }
    Ok((addresses, listeners))
}
