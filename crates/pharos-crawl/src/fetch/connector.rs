//! The connector: the only place that opens a socket.
//!
//! Resolves the host, checks its addresses and connects to a checked address only.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use pharos_core::config::CrawlConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::fetch::FetchError;
use crate::fetch::address::{AddressRanges, is_public};
use crate::fetch::deadline_after;
use crate::fetch::dns::HostResolver;
use crate::fetch::overrides::HostOverrides;
use crate::setting_error::SettingError;

/// Maximum number of addresses tried per host.
const MAX_ADDRESSES: usize = 4;

/// ALPN name of HTTP/2.
const HTTP2: &[u8] = b"h2";

/// Opens connections for hyper's client.
///
/// The checked address is the one connected to, so that a name with changing DNS responses (DNS rebinding) gains
/// nothing.
#[derive(Clone)]
pub(crate) struct Connector(Arc<ConnectorInner>);

struct ConnectorInner {
    resolver: HostResolver,
    tls: TlsConnector,
    /// For protocols other than HTTP.
    other_tls: TlsConnector,
    ranges: AddressRanges,
    allow_private: bool,
    has_contact: bool,
    timeout: Duration,
    open: Arc<AtomicUsize>,
}

/// The connection of a response, stored in its extensions.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    /// `true` once a response was received over this connection.
    pub(crate) answered: Arc<AtomicBool>,
}

impl Connector {
    pub(crate) fn new(config: &CrawlConfig) -> Result<Self, SettingError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::with_roots(roots, config)
    }

    pub(crate) fn with_roots(roots: RootCertStore, config: &CrawlConfig) -> Result<Self, SettingError> {
        let resolver = HostResolver::new(HostOverrides::parse(&config.resolve, &config.connect_to)?);
        Self::with_resolver(resolver, roots, config)
    }

    pub(crate) fn with_resolver(
        resolver: HostResolver,
        mut roots: RootCertStore,
        config: &CrawlConfig,
    ) -> Result<Self, SettingError> {
        if !config.extra_ca.is_empty() {
            add_authorities(&mut roots, &config.extra_ca)?;
        }
        let mut other_tls = tls_config(roots.clone(), false);
        other_tls.alpn_protocols.clear();
        Ok(Self(Arc::new(ConnectorInner {
            resolver,
            tls: TlsConnector::from(Arc::new(tls_config(roots, config.http2))),
            other_tls: TlsConnector::from(Arc::new(other_tls)),
            ranges: AddressRanges::parse(config)?,
            allow_private: config.allow_private,
            has_contact: !config.contact.trim().is_empty(),
            timeout: config.connect_timeout,
            open: Arc::default(),
        })))
    }

    /// Opens a connection for a protocol other than HTTP, without TLS.
    pub(crate) async fn open_plain(&self, host: &str, port: u16) -> Result<TcpStream, FetchError> {
        let limit = self.0.timeout;
        let late = FetchError::TimedOut { after: limit, doing: "connecting" };
        let opened = timeout(limit, async {
            let (found, port) = self.0.resolver.resolve(host, port).await?;
            let allowed = self.0.permitted_addresses(&found, &Uri::default())?;
            let (stream, _) = self.0.connect_to_first(&allowed, port).await?;
            Ok(stream)
        });
        opened.await.unwrap_or(Err(late))
    }

    /// Starts TLS on a connection of a protocol other than HTTP.
    pub(crate) async fn start_tls(
        &self,
        stream: TcpStream,
        host: &str,
    ) -> Result<TlsStream<TcpStream>, FetchError> {
        let limit = self.0.timeout;
        let late = FetchError::TimedOut { after: limit, doing: "starting TLS" };
        timeout(limit, encrypt(&self.0.other_tls, stream, host)).await.unwrap_or(Err(late))
    }

    /// Returns the number of open connections, including idle ones.
    pub(crate) fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }
}

/// Adds the certificate authorities of a PEM file.
fn add_authorities(roots: &mut RootCertStore, file: &str) -> Result<(), SettingError> {
    let unusable = |reason: String| SettingError::ExtraCa { file: file.to_string(), reason };
    let bytes = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    match roots.len() > before {
        true => Ok(()),
        false => Err(unusable("no certificate found; expected a PEM file".into())),
    }
}

fn tls_config(roots: RootCertStore, http2: bool) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring supports the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = if http2 { vec![HTTP2.to_vec()] } else { Vec::new() };
    config.alpn_protocols.push(b"http/1.1".to_vec());
    config
}

impl tower::Service<Uri> for Connector {
    type Response = Socket;
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<Socket, FetchError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), FetchError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move {
            let limit = inner.timeout;
            let late = FetchError::TimedOut { after: limit, doing: "connecting" };
            timeout(limit, inner.connect(&uri)).await.unwrap_or(Err(late))
        })
    }
}

impl ConnectorInner {
    async fn connect(&self, uri: &Uri) -> Result<Socket, FetchError> {
        let host = uri.host().unwrap_or_default();
        let is_https = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let (found, port) = self.resolver.resolve(host, port).await?;
        let allowed = self.permitted_addresses(&found, uri)?;
        let (stream, address) = self.connect_to_first(&allowed, port).await?;
        // Small requests must not wait for acknowledgements; a failure only makes them slower.
        let _ = stream.set_nodelay(true);
        let (stream, is_http2): (Box<dyn Stream>, bool) = if is_https {
            let stream = encrypt(&self.tls, stream, host).await?;
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
            (Box::new(stream), is_http2)
        } else {
            (Box::new(stream), false)
        };
        self.open.fetch_add(1, Ordering::Relaxed);
        let peer = Peer { address, answered: Arc::default() };
        Ok(Socket { stream: TokioIo::new(stream), is_http2, peer, open: self.open.clone() })
    }

    /// Returns the permitted addresses.
    fn permitted_addresses(&self, found: &[IpAddr], uri: &Uri) -> Result<Vec<IpAddr>, FetchError> {
        let may_go = |address: &IpAddr| {
            self.ranges.check(*address)?;
            match is_public(*address) {
                true if self.has_contact => Ok(*address),
                true => Err(FetchError::NoContact { address: *address, site: uri.to_string() }),
                false if self.allow_private => Ok(*address),
                false => Err(FetchError::PrivateAddress(*address)),
            }
        };
        let allowed: Vec<IpAddr> = found.iter().filter_map(|a| may_go(a).ok()).take(MAX_ADDRESSES).collect();
        match (allowed.is_empty(), found.first()) {
            (false, _) => Ok(allowed),
            (true, Some(refused)) => Err(may_go(refused).err().unwrap_or(FetchError::NameNotFound)),
            (true, None) => Err(FetchError::NameNotFound),
        }
    }

    /// Tries the addresses in order; each gets an equal share of the remaining time.
    async fn connect_to_first(
        &self,
        addresses: &[IpAddr],
        port: u16,
    ) -> Result<(TcpStream, IpAddr), FetchError> {
        let end = deadline_after(self.timeout);
        let mut last = FetchError::TimedOut { after: self.timeout, doing: "connecting" };
        for (tried, address) in addresses.iter().enumerate() {
            let left = end.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(addresses.len() - tried).unwrap_or(1);
            match timeout(share, TcpStream::connect(SocketAddr::new(*address, port))).await {
                Ok(Ok(stream)) => return Ok((stream, *address)),
                Ok(Err(error)) => last = FetchError::from_io(&error),
                Err(_) => {}
            }
        }
        Err(last)
    }
}

/// Starts TLS. The certificate must be valid for the host of the URL, wherever the connection was redirected.
async fn encrypt(
    tls: &TlsConnector,
    stream: TcpStream,
    host: &str,
) -> Result<TlsStream<TcpStream>, FetchError> {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
    let name = ServerName::try_from(host)
        .map_err(|_| FetchError::Tls("the host is not a valid server name".into()))?;
    tls.connect(name, stream).await.map_err(|e| tls_failure(&e))
}

fn tls_failure(error: &io::Error) -> FetchError {
    use CertificateError as Bad;
    use rustls::Error::{InvalidCertificate, InvalidMessage};
    let reason = match error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
        Some(InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. })) => "the certificate has expired",
        Some(InvalidCertificate(Bad::NotValidYet | Bad::NotValidYetContext { .. })) => {
            "the certificate is not valid yet"
        }
        Some(InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. })) => {
            "the certificate is for another name"
        }
        Some(InvalidCertificate(Bad::UnknownIssuer)) => "the certificate is from an unknown issuer",
        Some(InvalidMessage(_)) => "the server does not support TLS",
        Some(other) => return FetchError::Tls(other.to_string()),
        None => return FetchError::from_io(error),
    };
    FetchError::Tls(reason.into())
}

/// The transport of a connection: TCP, or TLS over TCP.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An open connection.
pub(crate) struct Socket {
    stream: TokioIo<Box<dyn Stream>>,
    is_http2: bool,
    peer: Peer,
    open: Arc<AtomicUsize>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection for Socket {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.peer.clone());
        if self.is_http2 { connected.negotiated_h2() } else { connected }
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allow_private: bool, contact: &str, found: &[&str]) -> Result<Vec<String>, String> {
        let forbid_addresses = vec!["9.9.9.9".into()];
        let config =
            CrawlConfig { allow_private, contact: contact.into(), forbid_addresses, ..Default::default() };
        let found: Vec<IpAddr> = found.iter().map(|a| a.parse().unwrap()).collect();
        let uri = Uri::from_static("http://a.example/");
        let allowed = Connector::new(&config)
            .unwrap()
            .0
            .permitted_addresses(&found, &uri)
            .map_err(|e| e.to_string())?;
        Ok(allowed.iter().map(IpAddr::to_string).collect())
    }

    #[test]
    fn only_checked_addresses_are_left() {
        assert_eq!(check(false, "me@example.org", &["10.0.0.1", "8.8.8.8"]).unwrap(), ["8.8.8.8"]);
        assert_eq!(check(true, "", &["10.0.0.1", "8.8.8.8"]).unwrap(), ["10.0.0.1"]);
        assert_eq!(check(true, "me@example.org", &["10.0.0.1", "8.8.8.8"]).unwrap(), ["10.0.0.1", "8.8.8.8"]);
        let error = check(false, "me@example.org", &["10.0.0.1", "::1"]).unwrap_err();
        assert_eq!(error, "private address 10.0.0.1 (allow with --allow-private)");
        let error = check(true, " ", &["8.8.8.8"]).unwrap_err();
        assert!(error.ends_with("pharos crawl --contact you@example.org http://a.example/"), "{error}");
        assert_eq!(check(true, "me@example.org", &["9.9.9.9", "8.8.8.8"]).unwrap(), ["8.8.8.8"]);
        let error = check(true, "me@example.org", &["9.9.9.9"]).unwrap_err();
        assert_eq!(error, "address 9.9.9.9 is in a range of crawl.forbid_addresses");
        assert_eq!(check(true, "", &[]).unwrap_err(), "name not found");
    }

    #[test]
    fn unreadable_authorities_are_reported() {
        let error_of = |extra_ca: &str| {
            let config = CrawlConfig { extra_ca: extra_ca.into(), ..Default::default() };
            Connector::new(&config).err().unwrap().to_string()
        };
        assert!(error_of("/nowhere/ca.pem").starts_with("`crawl.extra_ca`: cannot use /nowhere/ca.pem: "));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.pem");
        for (content, reason) in [
            ("", "no certificate found"),
            ("-----BEGIN CERTIFICATE-----\nbm9wZQ==\n-----END CERTIFICATE-----\n", "cannot use"),
            ("-----BEGIN CERTIFICATE-----\nbm9wZQ==\n", "cannot use"),
        ] {
            std::fs::write(&file, content).unwrap();
            let error = error_of(&file.display().to_string());
            assert!(error.contains(reason), "{error}");
        }
    }
}
