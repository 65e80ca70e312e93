//! The only place that opens a socket: finds the host, checks where that is, connects there and nowhere else.

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
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use crate::address::is_public;
use crate::dns::Names;
use crate::fetch::{FetchError, after};
use crate::overrides::{OverrideError, Overrides};

/// Addresses of one host that are tried.
const MAX_ADDRESSES: usize = 4;

/// Opens connections for hyper's client. The address that was checked is the one that is connected to, so that a
/// name which answers differently the second time gains nothing.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Inner>);

struct Inner {
    names: Names,
    tls: TlsConnector,
    allow_private: bool,
    has_contact: bool,
    timeout: Duration,
    open: Arc<AtomicUsize>,
}

/// The connection a response came over; found in its extensions.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Where it leads.
    pub(crate) address: IpAddr,
    /// Whether an answer ever came over it.
    pub(crate) answered: Arc<AtomicBool>,
}

impl Connector {
    pub(crate) fn new(config: &CrawlConfig) -> Result<Self, OverrideError> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Self::trusting(roots, config)
    }

    pub(crate) fn trusting(roots: RootCertStore, config: &CrawlConfig) -> Result<Self, OverrideError> {
        Ok(Self(Arc::new(Inner {
            names: Names::new(Overrides::parse(&config.resolve, &config.connect_to)?),
            tls: TlsConnector::from(Arc::new(tls_config(roots))),
            allow_private: config.allow_private,
            has_contact: !config.contact.trim().is_empty(),
            timeout: config.connect_timeout,
            open: Arc::default(),
        })))
    }

    /// Connections open now, idle ones too.
    pub(crate) fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }
}

fn tls_config(roots: RootCertStore) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the protocol versions compiled in fit the suites of ring")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
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

impl Inner {
    async fn connect(&self, uri: &Uri) -> Result<Socket, FetchError> {
        let host = uri.host().unwrap_or_default();
        let is_https = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let (found, port) = self.names.find(host, port).await?;
        let allowed = self.check(&found)?;
        let (stream, address) = self.connect_to_first(&allowed, port).await?;
        // Small requests must not wait for acknowledgements; failing that they are only slower.
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Stream> =
            if is_https { Box::new(self.encrypt(stream, host).await?) } else { Box::new(stream) };
        self.open.fetch_add(1, Ordering::Relaxed);
        let peer = Peer { address, answered: Arc::default() };
        Ok(Socket { stream: TokioIo::new(stream), peer, open: self.open.clone() })
    }

    /// The addresses we may go to.
    fn check(&self, found: &[IpAddr]) -> Result<Vec<IpAddr>, FetchError> {
        let may_go = |address: &IpAddr| match is_public(*address) {
            true if self.has_contact => Ok(*address),
            true => Err(FetchError::NoContact(*address)),
            false if self.allow_private => Ok(*address),
            false => Err(FetchError::PrivateAddress(*address)),
        };
        let allowed: Vec<IpAddr> = found.iter().filter_map(|a| may_go(a).ok()).take(MAX_ADDRESSES).collect();
        match (allowed.is_empty(), found.first()) {
            (false, _) => Ok(allowed),
            (true, Some(refused)) => Err(may_go(refused).err().unwrap_or(FetchError::NameNotFound)),
            (true, None) => Err(FetchError::NameNotFound),
        }
    }

    /// Tries one address after the other; each gets its share of the time that is left.
    async fn connect_to_first(
        &self,
        addresses: &[IpAddr],
        port: u16,
    ) -> Result<(TcpStream, IpAddr), FetchError> {
        let end = after(self.timeout);
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

    /// The certificate must be the URL's host's, wherever an operator sent the connection.
    async fn encrypt(&self, stream: TcpStream, host: &str) -> Result<impl Stream + use<>, FetchError> {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
        let name = ServerName::try_from(host)
            .map_err(|_| FetchError::Tls("no certificate can be for this name".into()))?;
        self.tls.connect(name, stream).await.map_err(|e| tls_failure(&e))
    }
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
        Some(InvalidMessage(_)) => "the server does not speak it",
        Some(other) => return FetchError::Tls(other.to_string()),
        None => return FetchError::from_io(error),
    };
    FetchError::Tls(reason.into())
}

/// What a connection runs over: TCP, or TLS over TCP.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An open connection.
pub(crate) struct Socket {
    stream: TokioIo<Box<dyn Stream>>,
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
        Connected::new().extra(self.peer.clone())
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
        let config = CrawlConfig { allow_private, contact: contact.into(), ..Default::default() };
        let found: Vec<IpAddr> = found.iter().map(|a| a.parse().unwrap()).collect();
        let allowed = Connector::new(&config).unwrap().0.check(&found).map_err(|e| e.to_string())?;
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
        assert!(error.contains("--contact you@example.org"), "{error}");
        assert_eq!(check(true, "", &[]).unwrap_err(), "name not found");
    }
}
