//! The client of a request: its address, and the scheme and host it used, from the connection or from trusted proxies.
//!
//! Every proxy adds the address it was contacted from to `X-Forwarded-For` or `Forwarded` (RFC 7239). Only the entries of
//! trusted proxies (`web.behind_proxy`) can be believed. The chain is therefore read from its end: the first address that is
//! not a trusted proxy is the client, and anything before it was sent by the client.

use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CACHE_CONTROL, HOST, VIA};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use pharos_core::config::{TrustedProxies, WebConfig};
use url::{Host, Url};

use crate::state::AppState;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED: HeaderName = HeaderName::from_static("forwarded");

/// Headers that a proxy adds.
const PROXY_HEADERS: [HeaderName; 6] = [
    X_FORWARDED_FOR,
    X_FORWARDED_PROTO,
    X_FORWARDED_HOST,
    FORWARDED,
    HeaderName::from_static("x-real-ip"),
    VIA,
];

/// Maximum length of a host name with its port.
const MAX_HOST: usize = 255;

/// The source of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestSource {
    /// Address of the client, or of the proxy if the client is unknown.
    pub(crate) address: Option<IpAddr>,
    pub(crate) route: Route,
    /// The client used TLS, as reported by a trusted proxy.
    pub(crate) forwarded_https: Option<bool>,
    /// The host that the client requested, as reported by a trusted proxy.
    pub(crate) forwarded_host: Option<String>,
    /// Address of this server in the connection.
    pub(crate) local: Option<IpAddr>,
}

/// The way of a request to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Route {
    /// Without a proxy.
    #[default]
    Direct,
    /// Through trusted proxies, which report the client.
    Proxied,
    /// Through a trusted proxy that reports no usable address of the client.
    UnclearProxy,
    /// With headers of a proxy that is not in `web.behind_proxy`; they are ignored.
    UndeclaredProxy,
}

/// The reason why the address of a client cannot be relied on for access control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unverified {
    UndeclaredProxy,
    UnclearProxy,
    /// A loopback connection with a foreign host name: a page of another site may have made the browser send it
    /// (DNS rebinding).
    ForeignHost,
    UnknownAddress,
}

/// Address of this server in a connection, an extension of its requests.
#[derive(Clone, Copy)]
pub(crate) struct LocalAddress(pub(crate) IpAddr);

impl RequestSource {
    /// Determines the source of a request from the address of its connection and its headers.
    pub(crate) fn new(connection: Option<IpAddr>, headers: &HeaderMap, trusted: &TrustedProxies) -> Self {
        let direct = Self { address: connection.map(|address| address.to_canonical()), ..Self::default() };
        if !PROXY_HEADERS.iter().any(|name| headers.contains_key(name)) {
            return direct;
        }
        let Some(peer) = direct.address.filter(|peer| trusted.contains(*peer)) else {
            return Self { route: Route::UndeclaredProxy, ..direct };
        };
        let Some(client) = forwarded_client(peer, headers, trusted) else {
            return Self { route: Route::UnclearProxy, ..direct };
        };
        Self {
            address: Some(client.address),
            route: Route::Proxied,
            forwarded_https: client.scheme.map(|scheme| scheme.eq_ignore_ascii_case("https")),
            forwarded_host: client.host,
            local: None,
        }
    }

    /// Returns the address whose requests are limited; `None` for the local machine.
    ///
    /// Clients whose address a trusted proxy does not report share the limit of that proxy, even if it runs on this machine.
    pub(crate) fn limited_address(&self) -> Option<IpAddr> {
        let is_exempt = |address: &IpAddr| address.is_loopback() && self.route != Route::UnclearProxy;
        self.address.filter(|address| !is_exempt(address))
    }

    /// Returns the address of the client, if it can be relied on for access control. `host` is the requested host.
    pub(crate) fn verified_address(&self, host: &str, web: &WebConfig) -> Result<IpAddr, Unverified> {
        match self.route {
            Route::UndeclaredProxy => return Err(Unverified::UndeclaredProxy),
            Route::UnclearProxy => return Err(Unverified::UnclearProxy),
            Route::Direct | Route::Proxied => {}
        }
        let address = self.address.ok_or(Unverified::UnknownAddress)?;
        if self.route == Route::Direct && address.is_loopback() && !is_own_host(host, web) {
            return Err(Unverified::ForeignHost);
        }
        Ok(address)
    }

    /// Returns `true` if this server may repeat `host` in a response: a name of the local machine or in the settings, or the
    /// address of this server. Anything else may have been chosen by the client to mislead others who share a cache with it.
    pub(crate) fn is_known_host(&self, host: &str, web: &WebConfig) -> bool {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
        if host.is_empty() || host.len() > MAX_HOST || !host.bytes().all(is_plain) {
            return false;
        }
        let Some(url) = Url::parse(&format!("http://{host}/")).ok() else { return false };
        let is_address = |address: IpAddr| address.is_loopback() || self.local == Some(address);
        match url.host() {
            Some(Host::Ipv4(address)) if is_address(address.into()) => true,
            Some(Host::Ipv6(address)) if is_address(address.into()) => true,
            Some(Host::Domain(name)) if is_local_name(name) => true,
            Some(_) => is_listed_host(&url, web),
            None => false,
        }
    }
}

/// Returns `true` if `host` is a name of the local machine, an IP address, or in the settings.
fn is_own_host(host: &str, web: &WebConfig) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else { return false };
    match url.host() {
        Some(Host::Domain(name)) => is_local_name(name) || is_listed_host(&url, web),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns `true` if the host of `url` is that of `web.base_url` or in `web.hosts`. A listed host without a port matches all
/// ports.
fn is_listed_host(url: &Url, web: &WebConfig) -> bool {
    let name = |url: &Url| url.host_str().map(|name| name.trim_end_matches('.').to_string());
    let base = Url::parse(web.base_url.trim()).ok();
    let is_base = base.is_some_and(|base| name(&base) == name(url));
    let is_listed = |entry: &String| {
        let entry = entry.trim();
        let has_port =
            entry.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
        let Ok(listed) = Url::parse(&format!("http://{entry}/")) else { return false };
        name(&listed) == name(url) && (!has_port || listed.port() == url.port())
    };
    is_base || web.hosts.iter().any(is_listed)
}

/// The client as reported by trusted proxies.
struct ForwardedClient {
    address: IpAddr,
    scheme: Option<String>,
    host: Option<String>,
}

/// Reads the headers of the trusted proxy `peer`; `None` if they report no usable address.
///
/// A proxy that writes one of the headers may pass on the other as the client sent it, so they must agree.
fn forwarded_client(peer: IpAddr, headers: &HeaderMap, trusted: &TrustedProxies) -> Option<ForwardedClient> {
    let addresses: Option<Vec<String>> = list(headers, &X_FORWARDED_FOR)?;
    let elements = forwarded_elements(headers)?;
    let by_list = addresses.map(|addresses| {
        let addresses = addresses.iter().map(|entry| parse_node(entry)).collect::<Vec<_>>();
        client_in_chain(peer, &addresses, trusted)
    });
    let by_elements = elements.as_ref().map(|elements| {
        let addresses =
            elements.iter().map(|element| parse_node(element.node.as_deref()?)).collect::<Vec<_>>();
        client_in_chain(peer, &addresses, trusted)
    });
    let (hop, address) = match (by_list, by_elements) {
        (Some(list), Some(elements)) => {
            let (list, elements) = (list?, elements?);
            (list.1 == elements.1).then_some(list)?
        }
        (Some(only), None) | (None, Some(only)) => only?,
        (None, None) => return None,
    };
    let element = elements.and_then(|elements| elements.into_iter().rev().nth(hop)).unwrap_or_default();
    Some(ForwardedClient {
        address,
        scheme: element.scheme.or_else(|| at_hop(headers, &X_FORWARDED_PROTO, hop)),
        host: element.host.or_else(|| at_hop(headers, &X_FORWARDED_HOST, hop)),
    })
}

/// Follows a chain of addresses, nearest last, back to the first one that is not a trusted proxy. Returns its distance from
/// the end, and the address; `None` if an entry on the way is unusable or the chain is empty. If all are trusted, the first
/// one is the client.
fn client_in_chain(
    peer: IpAddr,
    chain: &[Option<IpAddr>],
    trusted: &TrustedProxies,
) -> Option<(usize, IpAddr)> {
    let mut nearest = peer;
    for (hop, entry) in chain.iter().rev().enumerate() {
        let address = (*entry)?;
        // The loopback address of another machine is not that of this one.
        let is_foreign_loopback = address.is_loopback() && !nearest.is_loopback();
        if is_foreign_loopback || address.is_unspecified() || address.is_multicast() {
            return None;
        }
        if !trusted.contains(address) {
            return Some((hop, address));
        }
        nearest = address;
    }
    chain.len().checked_sub(1).map(|hop| (hop, nearest))
}

/// Parses an address with or without port: `192.0.2.9`, `192.0.2.9:5001`, `2001:db8::1`, `[2001:db8::1]:5001`.
fn parse_node(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let address = text.parse().ok().or_else(bracketed);
    let with_port = || {
        let v4 = text.parse::<SocketAddrV4>().ok().map(|node| IpAddr::V4(*node.ip()));
        v4.or_else(|| text.parse::<SocketAddrV6>().ok().map(|node| IpAddr::V6(*node.ip())))
    };
    address.or_else(with_port).map(|address| address.to_canonical())
}

/// Returns the entries of a header with comma-separated values; `Some(None)` if it is absent, `None` if it is not text.
fn list(headers: &HeaderMap, name: &HeaderName) -> Option<Option<Vec<String>>> {
    if !headers.contains_key(name) {
        return Some(None);
    }
    let mut entries = Vec::new();
    for line in headers.get_all(name) {
        entries.extend(line.to_str().ok()?.split(',').map(|entry| entry.trim().to_string()));
    }
    Some(Some(entries))
}

/// Returns the value that the proxy at `hop` added to a header. If proxies replaced it, that of the nearest.
fn at_hop(headers: &HeaderMap, name: &HeaderName, hop: usize) -> Option<String> {
    let entries = list(headers, name)??;
    entries.iter().rev().nth(hop).or(entries.last()).filter(|entry| !entry.is_empty()).cloned()
}

/// An element of `Forwarded` (RFC 7239 §4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ForwardedElement {
    node: Option<String>,
    scheme: Option<String>,
    host: Option<String>,
}

/// Returns the elements of `Forwarded`; `Some(None)` if it is absent, `None` if it is malformed.
fn forwarded_elements(headers: &HeaderMap) -> Option<Option<Vec<ForwardedElement>>> {
    if !headers.contains_key(&FORWARDED) {
        return Some(None);
    }
    let mut elements = Vec::new();
    for line in headers.get_all(&FORWARDED) {
        for element in split_unquoted(line.to_str().ok()?, ',')? {
            elements.push(parse_element(element)?);
        }
    }
    Some(Some(elements))
}

fn parse_element(text: &str) -> Option<ForwardedElement> {
    let mut element = ForwardedElement::default();
    for pair in split_unquoted(text, ';')? {
        if pair.trim().is_empty() {
            continue;
        }
        let (name, value) = pair.split_once('=')?;
        let field = match name.trim().to_ascii_lowercase().as_str() {
            "for" => &mut element.node,
            "proto" => &mut element.scheme,
            "host" => &mut element.host,
            _ => continue,
        };
        // Each parameter occurs at most once.
        if field.replace(unquote(value.trim())?).is_some() {
            return None;
        }
    }
    Some(element)
}

/// Splits at a separator outside quoted strings; `None` if a quoted string does not end.
fn split_unquoted(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if c == separator && !is_quoted => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (!is_quoted).then_some(parts)
}

/// Returns the value of a token or a quoted string.
fn unquote(text: &str) -> Option<String> {
    let Some(quoted) = text.strip_prefix('"') else {
        return (!text.contains('"')).then(|| text.to_string());
    };
    let (mut value, mut chars) = (String::new(), quoted.strip_suffix('"')?.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.push(chars.next()?),
            '"' => return None,
            _ => value.push(c),
        }
    }
    Some(value)
}

/// Middleware that rejects requests without a unique host (RFC 9112 §3.2, RFC 9113 §8.3.1), and determines the source of the
/// others.
pub(crate) async fn identify_client(
    State(app): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(reason) = check_host(request.version(), request.uri(), request.headers()) {
        let uncached = [(CACHE_CONTROL, "no-store")];
        return (StatusCode::BAD_REQUEST, uncached, format!("bad request: {reason}\n")).into_response();
    }
    let extensions = request.extensions();
    let connection = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
    let local = extensions.get::<LocalAddress>().map(|LocalAddress(address)| address.to_canonical());
    let source = RequestSource::new(connection, request.headers(), &app.config().web.behind_proxy);
    request.extensions_mut().insert(RequestSource { local, ..source });
    next.run(request).await
}

fn check_host(version: Version, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    let (host, second) = (hosts.next(), hosts.next());
    if second.is_some() {
        return Err("more than one Host header");
    }
    if version == Version::HTTP_11 && host.is_none() {
        return Err("the Host header is missing");
    }
    // The characters of RFC 3986 §3.2.2, without those of user information.
    let is_valid = |b: &u8| b.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(b);
    if host.is_some_and(|host| host.len() > MAX_HOST || !host.as_bytes().iter().all(is_valid)) {
        return Err("the Host header is invalid");
    }
    let differs = |host: &[u8]| {
        uri.authority().is_some_and(|authority| !host.eq_ignore_ascii_case(authority.as_str().as_bytes()))
    };
    // HTTP/1.1 requires the host of the URI to be used if both are given.
    if version >= Version::HTTP_2 && host.is_some_and(|host| differs(host.as_bytes())) {
        return Err("the Host header differs from the authority");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pharos_core::config::SettingValue as _;

    use super::*;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn source(peer: &str, trusted: &str, list: &[(&'static str, &str)]) -> RequestSource {
        let trusted = TrustedProxies::from_text(trusted).unwrap();
        RequestSource::new(peer.parse().ok(), &headers(list), &trusted)
    }

    /// Returns route and address of a request through the trusted local proxy.
    fn proxied(list: &[(&'static str, &str)]) -> (Route, String) {
        let source = source("127.0.0.1", "127.0.0.0/8, 10.0.0.0/8", list);
        (source.route, source.address.unwrap().to_string())
    }

    const XFF: &str = "x-forwarded-for";

    #[test]
    fn headers_of_others_are_ignored() {
        let spoofed = [(XFF, "127.0.0.1"), ("forwarded", "for=127.0.0.1"), ("x-forwarded-proto", "https")];
        for (peer, trusted) in [("192.0.2.1", ""), ("192.0.2.1", "127.0.0.0/8, 192.0.2.2"), ("10.0.0.1", "")]
        {
            let source = source(peer, trusted, &spoofed);
            assert_eq!((source.route, source.address), (Route::UndeclaredProxy, peer.parse().ok()));
            assert_eq!((source.forwarded_https, source.limited_address()), (None, peer.parse().ok()));
        }
        assert_eq!(source("127.0.0.1", "127.0.0.1", &[]).route, Route::Direct);
    }

    #[test]
    fn the_chain_is_read_from_its_end_past_trusted_proxies() {
        let client = |chain: &str| proxied(&[(XFF, chain)]);
        let is = |address: &str| (Route::Proxied, address.to_string());
        assert_eq!(client("192.0.2.7"), is("192.0.2.7"));
        assert_eq!(client("127.0.0.1, 192.0.2.7"), is("192.0.2.7"), "a client that pretends");
        assert_eq!(client("unknown, 192.0.2.7, 10.0.0.3,10.0.0.2"), is("192.0.2.7"));
        assert_eq!(client("10.0.0.9, 10.0.0.2"), is("10.0.0.9"), "all are trusted");
        assert_eq!(client("127.0.0.1"), is("127.0.0.1"), "a client on this machine");
        assert_eq!(proxied(&[(XFF, "127.0.0.1"), (XFF, "192.0.2.7")]), is("192.0.2.7"), "two lines");
        for with_port in ["192.0.2.9:5001", "::ffff:192.0.2.9", "[::ffff:192.0.2.9]:80", " 192.0.2.9 "] {
            assert_eq!(client(with_port), is("192.0.2.9"), "{with_port}");
        }
        for with_port in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:5001"] {
            assert_eq!(client(with_port), is("2001:db8::1"), "{with_port}");
        }
    }

    #[test]
    fn malformed_entries_give_no_privileges() {
        for wrong in [
            "",
            " ",
            ",",
            "unknown",
            "_hidden",
            "192.0.2.9:",
            "192.0.2.9:x",
            "192.0.2",
            "[2001:db8::1",
            "localhost",
            "192.0.2.9, ",
            "192.0.2.9, unknown",
            "127.0.0.1:80:80",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            // The loopback address of another machine.
            "127.0.0.1, 10.0.0.2",
            "::1, 10.0.0.2",
        ] {
            let source = source("127.0.0.1", "127.0.0.0/8, 10.0.0.0/8", &[(XFF, wrong)]);
            assert_eq!(source.route, Route::UnclearProxy, "{wrong:?}");
            assert!(source.limited_address().is_some(), "{wrong:?} escapes the limits");
            let verified = source.verified_address("localhost", &WebConfig::default());
            assert_eq!(verified, Err(Unverified::UnclearProxy), "{wrong:?}");
        }
        for unclear in [("via", "1.1 proxy"), ("x-real-ip", "127.0.0.1"), ("x-forwarded-proto", "https")] {
            assert_eq!(proxied(&[unclear]).0, Route::UnclearProxy, "{unclear:?}");
        }
    }

    #[test]
    fn forwarded_is_read_too() {
        let client = |text: &str| proxied(&[("forwarded", text)]);
        let is = |address: &str| (Route::Proxied, address.to_string());
        assert_eq!(client("for=192.0.2.60;proto=http;by=203.0.113.43"), is("192.0.2.60"));
        assert_eq!(client("For=\"[2001:db8:cafe::17]:4711\""), is("2001:db8:cafe::17"));
        assert_eq!(client("for=192.0.2.43, for=10.0.0.7"), is("192.0.2.43"));
        assert_eq!(client("for=127.0.0.1, For=\"192.0.2.43:80\""), is("192.0.2.43"));
        assert_eq!(client("for=\"a,b;c=\\\"d\", for=192.0.2.43"), is("192.0.2.43"), "quoted separators");
        for wrong in [
            "",
            "for",
            "for=unknown",
            "for=_hidden",
            "for=\"_gazonk\"",
            "for=\"192.0.2.1",
            "for=\"192.0.2.1\"x",
            "proto=https",
            "for=192.0.2.1;for=192.0.2.2",
            "for=192.0.2.1, proto=http",
            "for=2001:db8::1:",
        ] {
            assert_eq!(client(wrong).0, Route::UnclearProxy, "{wrong}");
        }
        let both = |list: &str, element: &str| proxied(&[(XFF, list), ("forwarded", element)]);
        assert_eq!(both("192.0.2.1", "for=192.0.2.1"), is("192.0.2.1"));
        assert_eq!(both("192.0.2.1", "for=127.0.0.1").0, Route::UnclearProxy, "one was sent by the client");
        assert_eq!(both("192.0.2.1", "for=").0, Route::UnclearProxy);
    }

    #[test]
    fn scheme_and_host_are_those_of_the_client() {
        let source = |list: &[(&'static str, &str)]| {
            let source = source("127.0.0.1", "127.0.0.1, 10.0.0.0/8", list);
            (source.forwarded_https, source.forwarded_host)
        };
        let host = |name: &str| Some(name.to_string());
        assert_eq!(source(&[(XFF, "192.0.2.1")]), (None, None));
        let simple = [(XFF, "192.0.2.1"), ("x-forwarded-proto", "HTTPS"), ("x-forwarded-host", "a.example")];
        assert_eq!(source(&simple), (Some(true), host("a.example")));
        let chain =
            "for=1.1.1.1;proto=http, for=192.0.2.1;proto=https;host=a.example, for=10.0.0.1;proto=http";
        assert_eq!(source(&[("forwarded", chain)]), (Some(true), host("a.example")));
        let lists = [(XFF, "192.0.2.1, 10.0.0.1"), ("x-forwarded-proto", "https, http")];
        assert_eq!(source(&lists), (Some(true), None));
    }

    #[test]
    fn only_known_hosts_are_repeated() {
        let web = WebConfig {
            hosts: vec!["search.lan".into(), "other.lan:8080".into(), "192.0.2.80".into()],
            base_url: "https://search.example.org".into(),
            ..WebConfig::default()
        };
        let source = RequestSource { local: "198.51.100.7".parse().ok(), ..RequestSource::default() };
        for known in [
            "localhost",
            "localhost:8080",
            "desk.localhost",
            "127.0.0.1:8080",
            "[::1]:80",
            "198.51.100.7:8080",
            "search.lan",
            "SEARCH.LAN:99",
            "other.lan:8080",
            "192.0.2.80",
            "search.example.org",
        ] {
            assert!(source.is_known_host(known, &web), "{known}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example",
            "other.lan",
            "other.lan:80",
            "192.0.2.81",
            "xsearch.lan",
            "search.lan.evil.example",
            "user@localhost",
            "localhost/x",
            "a b",
            "[::1",
            "localhost:port",
            "3232235777",
            "<x>",
            "search.lan\"",
        ] {
            assert!(!source.is_known_host(other, &web), "{other}");
        }
        assert!(!source.is_known_host(&"a".repeat(300), &web));
    }

    #[test]
    fn a_request_has_one_host() {
        let check = |version, uri: &str, hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| ("host", *host)).collect::<Vec<_>>();
            check_host(version, &uri.parse().unwrap(), &headers(&hosts)).is_ok()
        };
        assert!(check(Version::HTTP_11, "/", &["a.example:80"]) && check(Version::HTTP_11, "/", &["[::1]"]));
        assert!(check(Version::HTTP_11, "/", &[""]), "allowed, but empty");
        assert!(check(Version::HTTP_10, "/", &[]));
        assert!(check(Version::HTTP_2, "http://a.example/", &["A.example"]));
        for (version, uri, hosts) in [
            (Version::HTTP_11, "/", &[] as &[&str]),
            (Version::HTTP_11, "/", &["a.example", "a.example"]),
            (Version::HTTP_10, "/", &["a.example", "b.example"]),
            (Version::HTTP_11, "/", &["user@a.example"]),
            (Version::HTTP_11, "/", &["a.example/x"]),
            (Version::HTTP_11, "/", &["a b"]),
            (Version::HTTP_2, "http://a.example/", &["b.example"]),
        ] {
            assert!(!check(version, uri, hosts), "{version:?} {uri} {hosts:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_panics_or_gives_loopback(text in "[ -~]{0,60}") {
            for name in [XFF, "forwarded"] {
                let source = source("127.0.0.1", "127.0.0.1", &[(name, &format!("{text}, {text}"))]);
                // Only a literal loopback address is one.
                let is_literal = text.contains("127.") || text.contains("::1") || text.contains("0:1");
                proptest::prop_assert!(source.limited_address().is_some() || is_literal, "{text:?}");
            }
        }
    }
}
