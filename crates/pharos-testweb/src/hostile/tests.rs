//! Checks with a raw client that each host misbehaves as described.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;

/// Maximum number of bytes read from a response.
const ENOUGH: usize = 1 << 20;
/// Time without data after which a host counts as silent.
const SILENCE: Duration = Duration::from_millis(400);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadEnd {
    Closed,
    Silent,
    Enough,
}
use ReadEnd::{Closed, Enough, Silent};

/// Everything a client received.
struct RawResponse {
    bytes: Vec<u8>,
    ended: ReadEnd,
}

impl RawResponse {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn status(&self) -> u16 {
        let text = self.text();
        text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).map_or(0, |s| s.parse().unwrap_or(0))
    }

    fn header(&self, name: &str) -> String {
        let text = self.text();
        let head = text.split("\r\n\r\n").next().unwrap_or_default();
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        let mut fields = fields.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        fields.next().map_or(String::new(), |(_, value)| value.to_string())
    }

    fn body(&self) -> &[u8] {
        let end = self.bytes.windows(4).position(|four| four == b"\r\n\r\n");
        end.map_or(&[], |end| &self.bytes[end + 4..])
    }

    fn says(&self, text: &str) -> bool {
        self.text().contains(text)
    }
}

/// Returns the last address of each host and port, as a client takes it from `--resolve`.
fn addresses(web: &HostileWeb) -> BTreeMap<String, SocketAddr> {
    let mut addresses = BTreeMap::new();
    for argument in web.resolve_args() {
        let (name, rest) = argument.split_once(':').unwrap();
        let (port, ips) = rest.split_once(':').unwrap();
        let ip = ips.rsplit(',').next().unwrap();
        addresses.entry(name.to_string()).or_insert(format!("{ip}:{port}").parse().unwrap());
    }
    addresses
}

async fn fetch_raw(web: &HostileWeb, name: &str, path: &str, fields: &str) -> RawResponse {
    let address = addresses(web)[name];
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {name}:{}\r\n{fields}\r\n", address.port());
    // A host that closes at once does not read it.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut bytes = Vec::new();
    let ended = loop {
        let mut piece = vec![0; 64 << 10];
        match timeout(SILENCE, stream.read(&mut piece)).await {
            Err(_) => break Silent,
            Ok(Ok(0) | Err(_)) => break Closed,
            Ok(Ok(read)) => bytes.extend_from_slice(&piece[..read]),
        }
        // Drips and endless streams do not end by themselves.
        let drips = bytes.windows(6).filter(|six| six == b"X: y\r\n").count();
        if bytes.len() >= ENOUGH || drips > 3 || bytes.ends_with(b"###") {
            break Enough;
        }
    };
    RawResponse { bytes, ended }
}

/// One check of a plain-text host: host, path and condition.
type HostCheck = (&'static str, &'static str, fn(&RawResponse) -> bool);

const CHECKS: &[HostCheck] = &[
    ("good-1", "/page/19", |h| h.status() == 200 && h.says("/forbidden/page")),
    ("good-2", "/robots.txt", |h| h.says("Disallow: /forbidden/")),
    ("good-3", "/page/20", |h| h.status() == 404),
    ("redirect-chain-3", "/step/2", |h| h.status() == 302 && h.header("location") == "/step/3"),
    ("redirect-chain-20", "/step/19", |h| h.status() == 302 && h.header("location") == "/step/20"),
    ("redirect-loop", "/other", |h| h.status() == 302 && h.header("location") == "/"),
    ("redirect-ring-a", "/", |h| h.header("location").contains("//redirect-ring-b.test:")),
    ("redirect-ring-b", "/", |h| h.header("location").contains("//redirect-ring-a.test:")),
    ("redirect-itself", "/", |h| h.status() == 302 && h.header("location") == "/"),
    ("redirect-private", "/metadata", |h| h.header("location").starts_with("http://169.254.169.254/")),
    ("redirect-away", "/away", |h| h.header("location").contains("//redirect-stranger.test:")),
    ("redirect-stranger", "/landing", |h| h.status() == 200),
    ("redirect-seed", "/", |h| h.status() == 308 && h.header("location").contains("redirect-seed-moved")),
    ("redirect-seed-moved", "/", |h| h.status() == 200),
    ("redirect-nowhere", "/file", |h| h.header("location") == "file:///etc/passwd"),
    ("slow-body", "/robots.txt", |h| h.status() == 404),
    ("slow-header", "/", |h| h.ended == Enough && h.body().is_empty()),
    ("stall-before-header", "/", |h| h.ended == Silent && h.bytes.is_empty()),
    ("stall-in-header", "/", |h| h.ended == Silent && h.text().ends_with("Content-")),
    ("stall-in-body", "/", |h| h.ended == Silent && h.says("half a page")),
    ("endless-body", "/", |h| h.ended == Enough && h.says("half a page")),
    ("endless-chunks", "/", |h| h.ended == Enough && h.says("chunked")),
    ("endless-header", "/", |h| h.ended == Enough && h.body().is_empty()),
    ("endless-header-line", "/", |h| h.ended == Enough && h.text().lines().count() == 2),
    ("endless-continue", "/robots.txt", |h| h.status() == 404),
    ("never-speaks", "/", |h| h.ended == Silent && h.bytes.is_empty()),
    ("bomb-gzip", "/", |h| h.header("content-encoding") == "gzip" && h.body().starts_with(&[0x1f, 0x8b])),
    ("bomb-deflate", "/", |h| h.header("content-encoding") == "deflate"),
    ("bomb-brotli", "/", |h| h.header("content-encoding") == "br"),
    ("bomb-zstd", "/", |h| h.body().starts_with(&[0x28, 0xb5, 0x2f, 0xfd])),
    ("bomb-twice", "/", |h| h.header("content-encoding") == "gzip, gzip"),
    ("length-too-long", "/", |h| h.ended == Closed && h.body().len() < 100_000),
    ("length-too-short", "/", |h| h.header("content-length") == "90" && h.body().len() > 90),
    ("length-negative", "/", |h| h.header("content-length") == "-5"),
    ("length-not-a-number", "/", |h| h.header("content-length") == "many"),
    ("length-huge", "/", |h| h.header("content-length").len() > 20),
    ("lengths-differ", "/", |h| h.text().matches("Content-Length").count() == 2),
    ("length-and-chunks", "/", |h| h.says("Content-Length: 7\r\n") && h.says("chunked")),
    ("chunk-size-garbage", "/", |h| h.says("\r\nzzz\r\n")),
    ("chunk-size-huge", "/", |h| h.says("\r\nfffffffffffffffff1\r\n")),
    ("chunk-cut", "/", |h| h.text().ends_with("only this much") && h.ended == Closed),
    ("no-last-chunk", "/", |h| h.says("chunked") && !h.says("\r\n0\r\n") && h.ended == Closed),
    ("no-length", "/", |h| h.header("content-length").is_empty() && h.ended == Closed),
    ("garbage", "/", |h| h.bytes.len() == 4096 && h.status() == 0),
    ("garbage-from-the-start", "/robots.txt", |h| h.bytes.len() == 4096 && h.status() == 0),
    ("no-header", "/", |h| h.text().starts_with("<!DOCTYPE")),
    ("closes-without-answer", "/", |h| h.bytes.is_empty() && h.ended == Closed),
    ("closes-in-header", "/", |h| h.text().ends_with("Content-Ty") && h.ended == Closed),
    ("odd-status", "/", |h| h.status() == 299),
    ("negative-status", "/", |h| h.text().starts_with("HTTP/1.1 -200 ")),
    ("huge-status", "/", |h| h.text().starts_with("HTTP/1.1 65736 ")),
    ("unknown-status", "/", |h| h.status() == 999),
    ("old-http", "/", |h| h.text().starts_with("HTTP/1.0 200")),
    ("header-10-kb", "/", |h| h.header("x-long").len() == 10_000),
    ("header-500-fields", "/", |h| h.text().matches("X-Field-").count() == 500),
    ("closes-at-once", "/", |h| h.bytes.is_empty() && h.ended == Closed),
    ("keeps-no-connection", "/", |h| h.header("connection") == "keep-alive" && h.ended == Closed),
    ("bomb-pdf", "/", |h| h.header("content-type") == "application/pdf" && h.says("%PDF-1.7")),
    ("broken-html", "/", |h| h.says("words between the ruins</b>") && h.says("</i>")),
    ("nested", "/", |h| h.text().matches("<div>").count() == 100_000),
    ("many-attributes", "/", |h| h.says(" a99999=1>")),
    ("formatting", "/", |h| h.says("<a><b c1><div>")),
    ("million-links", "/", |h| h.ended == Enough && h.says("//out-of-scope.test/20000>")),
    ("large-page", "/", |h| h.header("content-length").parse::<usize>().unwrap() >= 20 << 20),
    ("not-a-page", "/film.mp4", |h| h.header("content-type") == "video/mp4"),
    ("gbk-called-utf-8", "/", |h| is_gbk(h) && h.header("content-type").ends_with("utf-8")),
    ("gbk-meta-utf-8", "/", |h| is_gbk(h) && h.says("<meta charset=\"utf-8\">")),
    ("gbk-undeclared", "/", |h| is_gbk(h) && h.header("content-type") == "text/html"),
    ("utf-8-called-gbk", "/", |h| h.says("灯塔") && h.header("content-type").ends_with("gbk")),
    ("utf-8-undeclared", "/", |h| h.says("灯塔") && h.header("content-type") == "text/html"),
    ("charsets-contradict", "/", |h| h.says("灯塔") && h.says("<meta charset=\"gbk\">")),
    ("charset-unknown", "/", |h| h.says("灯塔") && h.says("x-nobody-knows")),
    ("utf-16", "/", |h| h.body().starts_with(&[0xFF, 0xFE, b'<', 0])),
    ("utf-16-called-utf-8", "/", |h| h.body().starts_with(&[0xFF, 0xFE, b'<', 0])),
    ("calendar", "/month/999999", |h| h.says("/month/1000000")),
    ("growing-path", "/a/b/a/b/", |h| h.status() == 200 && h.says("href=\"a/\"")),
    ("visit-ids", "/page/3?sid=1", |h| h.says("page 3") && h.says("/page/4?sid=")),
    ("visit-ids-in-path", "/page/3;jsessionid=1", |h| h.says("page 3") && h.says("/page/4;jsessionid=")),
    ("tracking", "/", |h| h.text().matches("\"/offer?utm_source=").count() == 10),
    ("soft-404", "/no/such/page", |h| h.status() == 200 && h.says("Oops!")),
    ("0.many-names", "/", |h| h.says("//10.many-names.test:")),
    ("busy-429-seconds", "/", |h| h.status() == 429 && h.header("retry-after") == "3600"),
    ("busy-429-date", "/", |h| h.status() == 429 && h.header("retry-after").ends_with("GMT")),
    ("busy-503-seconds", "/", |h| h.status() == 503 && h.header("retry-after") == "3600"),
    ("busy-503-date", "/", |h| h.status() == 503 && h.header("retry-after").ends_with("GMT")),
    ("busy-429-nonsense", "/", |h| h.status() == 429 && h.header("retry-after").contains("ready")),
    ("failing-500", "/", |h| h.status() == 500),
    // The first connection works, the second does not.
    ("flapping", "/", |h| h.status() == 200),
    ("flapping", "/", |h| h.bytes.is_empty() && h.ended == Closed),
    ("flapping", "/", |h| h.status() == 200),
    ("robots-missing", "/robots.txt", |h| h.status() == 404),
    ("robots-401", "/robots.txt", |h| h.status() == 401),
    ("robots-403", "/robots.txt", |h| h.status() == 403),
    ("robots-410", "/robots.txt", |h| h.status() == 410),
    ("robots-empty", "/robots.txt", |h| h.status() == 200 && h.body().is_empty()),
    ("robots-binary", "/robots.txt", |h| h.body().len() == 4096),
    ("robots-html", "/robots.txt", |h| h.says("<!DOCTYPE")),
    ("robots-redirect-loop", "/robots.txt", |h| h.header("location") == "/robots.txt"),
    ("robots-known", "/robots.txt", |h| h.says("Disallow: /private/")),
    ("robots-gzip", "/robots.txt", |h| {
        h.header("content-encoding") == "gzip" && h.body().starts_with(&[0x1f, 0x8b])
    }),
    ("robots-bom", "/robots.txt", |h| h.body().starts_with("\u{feff}User-agent".as_bytes())),
    ("robots-moved", "/robots.txt", |h| h.status() == 301 && h.header("location") == "/rules.txt"),
    ("robots-elsewhere", "/robots.txt", |h| h.header("location").contains("//robots-source.test:")),
    ("robots-huge", "/robots.txt", |h| h.header("content-length").parse::<usize>().unwrap() >= 2 << 20),
    ("robots-source", "/robots.txt", |h| h.says("Disallow: /private/")),
    ("robots-stalls", "/robots.txt", |h| h.bytes.is_empty() && h.ended == Silent),
    ("robots-closes", "/robots.txt", |h| h.bytes.is_empty() && h.ended == Closed),
    ("robots-cut-length", "/robots.txt", |h| h.says("Disallow: /private/") && h.ended == Closed),
    ("robots-cut-chunk", "/robots.txt", |h| h.says("Disallow: /private/") && h.ended == Closed),
    ("robots-cut-gzip", "/robots.txt", |h| h.header("content-encoding") == "gzip" && h.ended == Closed),
    ("robots-drips", "/robots.txt", |h| h.ended == Enough && h.says("Disallow: /private/")),
    ("robots-500", "/robots.txt", |h| h.status() == 500),
    ("robots-503", "/robots.txt", |h| h.status() == 503),
    ("robots-429", "/robots.txt", |h| h.status() == 429),
    ("tls-clear-text", "/", |h| h.status() == 400),
    ("tls-stalls", "/", |h| h.bytes.is_empty() && h.ended == Silent),
    ("shared-one", "/", |h| h.says("shared-one.test")),
    ("shared-two", "/", |h| h.says("shared-two.test")),
    ("shared-three", "/page", |h| h.says("shared-three.test")),
    ("half-dead", "/", |h| h.says("half-dead.test")),
    ("alias", "/article/3", |h| h.says("article 3")),
    ("www.alias", "/article/3", |h| h.says("article 3")),
    ("second-alias", "/article/3", |h| h.says("article 3")),
    ("link-directives", "/", |h| h.says("rel=\"ugc\"")),
    ("page-directives", "/header-other", |h| h.header("x-robots-tag") == "otherbot: nofollow"),
    ("canonical", "/mobile", |h| h.header("link").ends_with("/article>; rel=\"canonical\"")),
    ("sitemaps", "/robots.txt", |h| h.says("Sitemap: http://sitemaps.test:")),
    ("bad-sitemaps", "/broken.xml", |h| !h.says("</urlset>")),
    ("endless-sitemaps", "/map-1.xml", |h| h.says("/map-1-0.xml")),
    ("sitemap-flood", "/flood-1.xml", |h| h.text().matches("<loc>").count() == 2_000),
    ("feeds", "/news.atom", |h| h.says("/only-in-atom")),
    ("etag", "/", |h| h.status() == 200 && h.header("etag") == "\"the-first-edition\""),
    ("last-modified", "/", |h| h.header("last-modified").ends_with("GMT")),
    ("always-new", "/", |h| h.says("<!-- visitor 0 -->")),
    ("vanishing", "/page", |h| h.status() == 200),
    ("vanished-for-good", "/page", |h| h.status() == 200),
];

fn is_gbk(response: &RawResponse) -> bool {
    let (text, _, broken) = encoding_rs::GBK.decode(response.body());
    std::str::from_utf8(response.body()).is_err() && !broken && text.contains("守塔的老人")
}

#[tokio::test]
async fn each_host_misbehaves_as_it_says() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    let mut wrong = Vec::new();
    for (label, path, check) in CHECKS {
        let keeps_open = if label.starts_with("keeps") { "" } else { "Connection: close\r\n" };
        let response = fetch_raw(&web, &format!("{label}.test"), path, keeps_open).await;
        if !check(&response) {
            let start = response.text().chars().take(300).collect::<String>();
            wrong.push(format!("{label}{path}: {:?} {start:?}", response.ended));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let checked: BTreeSet<String> = CHECKS.iter().map(|(label, ..)| format!("{label}.test")).collect();
    let over_tls = |name: &&String| name.starts_with("tls-") || name.starts_with("http-2");
    let hosts = all_hosts();
    let names = hosts.iter().flat_map(|host| &host.names).filter(|name| !name.starts_with('*'));
    let missing: Vec<&String> = names.filter(|n| !over_tls(n) && !checked.contains(*n)).collect();
    assert!(missing.is_empty(), "no check covers {missing:?}");
    web.stop().await;
}

#[tokio::test]
async fn slow_hosts_continue_slowly_and_stop_on_request() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    for (name, more) in [("slow-body.test", "xxx"), ("endless-continue.test", "100 Continue")] {
        let mut stream = TcpStream::connect(addresses(&web)[name]).await.unwrap();
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n").as_bytes()).await.unwrap();
        let mut response = String::new();
        while response.matches(more).count() < 2 {
            let mut piece = [0; 4096];
            let read = stream.read(&mut piece).await.unwrap();
            assert!(read > 0, "{name} ended");
            response.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    }
    let mut stream = TcpStream::connect(addresses(&web)["never-speaks.test"]).await.unwrap();
    web.stop().await;
    // Closed, with or without a reset.
    assert!(!matches!(stream.read(&mut [0; 16]).await, Ok(read) if read > 0));
}

#[tokio::test]
async fn pages_stay_the_same_until_they_are_removed() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    let close = "Connection: close\r\n";
    let first = fetch_raw(&web, "last-modified.test", "/", close).await;
    let since = format!("{close}If-Modified-Since: {}\r\n", first.header("last-modified"));
    assert_eq!(fetch_raw(&web, "last-modified.test", "/", &since).await.status(), 304);
    let known = format!("{close}If-None-Match: W/\"x\", \"the-first-edition\"\r\n");
    assert_eq!(fetch_raw(&web, "etag.test", "/", &known).await.status(), 304);
    let other = format!("{close}If-None-Match: \"another\"\r\n");
    assert_eq!(fetch_raw(&web, "etag.test", "/", &other).await.status(), 200);
    for (name, status) in [("vanishing.test", 404), ("vanished-for-good.test", 410)] {
        let known = web.expectations();
        let url = &known.iter().find(|e| e.url.contains(name) && e.url.ends_with("/page")).unwrap().url;
        web.remove_page(url);
        assert_eq!(fetch_raw(&web, name, "/page", close).await.status(), status);
        assert_eq!(fetch_raw(&web, name, "/", close).await.status(), 200);
    }
    web.stop().await;
}

#[tokio::test]
async fn the_log_knows_hosts_connections_and_how_long_it_took() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    fetch_raw(&web, "stall-before-header.test", "/", "User-Agent: tiny/1\r\n").await;
    fetch_raw(&web, "closes-at-once.test", "/", "").await;
    let requests = loop {
        let requests = web.requests();
        if requests.len() == 2 && requests.iter().all(|request| request.duration.is_some()) {
            break requests;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((&*requests[0].host, &*requests[0].path), ("stall-before-header.test", "/"));
    assert_eq!((&*requests[0].user_agent, requests[0].version), ("tiny/1", "HTTP/1.1"));
    assert!(requests[0].duration.unwrap() >= SILENCE, "the server was kept waiting that long");
    assert_eq!((&*requests[1].host, &*requests[1].path), ("closes-at-once.test", ""));
    assert_ne!(requests[0].connection, requests[1].connection);
    web.stop().await;
}

#[tokio::test]
async fn every_seed_and_expectation_is_an_address_that_can_be_reached() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    assert!(web.seeds().len() > 90, "{} seeds", web.seeds().len());
    let resolved: BTreeSet<String> =
        web.resolve_args().iter().map(|a| a.split(':').take(2).collect::<Vec<_>>().join(":")).collect();
    let sent: BTreeSet<String> =
        web.connect_to_args().iter().map(|a| a.split(':').take(2).collect::<Vec<_>>().join(":")).collect();
    let expected = web.expectations().into_iter().map(|e| e.url);
    for url in web.seeds().into_iter().chain(expected) {
        let url = url::Url::parse(&url).unwrap();
        let place = format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap());
        let is_address = matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)));
        assert!(is_address || resolved.contains(&place) || sent.contains(&place), "{url}");
    }
    web.stop().await;
}

async fn secure(web: &HostileWeb, label: &str, protocols: &[&[u8]]) -> Result<TlsStream<TcpStream>, String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(web.ca_pem().as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let name = format!("{label}.test");
    let stream = TcpStream::connect(addresses(web)[&name]).await.unwrap();
    let name = ServerName::try_from(name).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn certificates_have_the_faults_they_should() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    let newest: &[&[u8]] = &[b"h2", b"http/1.1"];
    for (label, fault) in [
        ("tls-expired", "expired"),
        ("tls-wrong-name", "not valid for name"),
        ("tls-self-signed", "UnknownIssuer"),
        ("tls-clear-text", "InvalidContentType"),
    ] {
        let error = secure(&web, label, newest).await.unwrap_err();
        assert!(error.contains(fault), "{label}: {error}");
    }
    for (label, protocol) in [("tls-http-1", &b"http/1.1"[..]), ("tls-http-2", b"h2")] {
        let stream = secure(&web, label, newest).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol), "{label}");
    }
    let mut stream = secure(&web, "tls-http-1", newest).await.unwrap();
    stream.write_all(b"GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // The end of the connection is not announced, as on many servers.
    let _ = stream.read_to_end(&mut answer).await;
    assert!(String::from_utf8_lossy(&answer).contains("secret number 3"));
    web.stop().await;
}

#[tokio::test]
async fn http_2_streams_are_reset_one_by_one() {
    let web = HostileWeb::start(HostileOptions::default()).await.unwrap();
    let stream = secure(&web, "http-2-resets", &[b"h2"]).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut send = async |path: &str| {
        let request = hyper::Request::get(format!("https://http-2-resets.test{path}"));
        sender.send_request(request.body(Empty::<bytes::Bytes>::new()).unwrap()).await
    };
    assert!(send("/at-once").await.is_err());
    let mut partial = send("/in-body").await.unwrap().into_body();
    assert!(partial.frame().await.unwrap().is_ok());
    assert!(partial.frame().await.unwrap().is_err());
    let whole = send("/after").await.unwrap().into_body().collect().await.unwrap();
    assert!(!whole.to_bytes().is_empty());
    let requests = web.requests();
    assert!(requests.iter().all(|r| r.version == "HTTP/2" && r.connection == requests[0].connection));
    web.stop().await;
}
