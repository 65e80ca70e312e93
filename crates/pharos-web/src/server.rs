//! Accepts connections and passes their requests to the router.
//!
//! ```text
//! accept ─▶ free slot? ─▶ event loop (`event_loops.rs`) ─▶ TLS, if certificates are configured ─▶ HTTP/1.1 or HTTP/2 ─▶ router
//! ```
//!
//! HTTP/2 is supported in clear text with prior knowledge, as proxies use it, and by ALPN over TLS.

mod access_log;
pub(crate) mod client_address;
pub(crate) mod compression;
mod event_loops;
mod health;
mod line_endings;
pub(crate) mod metrics;
pub(crate) mod network_limit;
mod open_files;
pub(crate) mod origin;
pub(crate) mod rate_limit;
pub(crate) mod response_budget;
pub(crate) mod router;
pub(crate) mod security_headers;
mod timeouts;
pub(crate) mod tls;
pub(crate) mod visitor;
pub(crate) mod worker_pool;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{CONNECTION, TRANSFER_ENCODING};
use axum::http::{HeaderValue, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use pharos_core::config::WebConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use self::client_address::LocalAddress;
use self::event_loops::EventLoops;
use self::network_limit::NetworkLimit;
use self::open_files::raise_limit_for;
use self::timeouts::{ConnectionPhase, TimedStream, Timeouts};
use self::tls::Certificates;
use crate::state::{AppState, Service};

/// Maximum number of connections queued by the kernel; it may queue fewer (`net.core.somaxconn`).
const BACKLOG: u32 = 4096;

/// Time limit for requests in flight after the stop signal.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Pause after an accept error, mostly a lack of file descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// Maximum number of concurrent requests of an HTTP/2 connection.
const MAX_STREAMS: u32 = 100;

/// Maximum number of header fields of a request.
const MAX_FIELDS: usize = 100;

/// Listens on an address such as `127.0.0.1:8080`, with a larger backlog than the default.
///
/// # Errors
/// Returns the error of the last resolved address if none can be bound.
pub async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut refused = io::Error::new(io::ErrorKind::AddrNotAvailable, "the address resolves to nothing");
    for address in lookup_host(address).await? {
        match listen_on(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart need not wait for old connections in TIME_WAIT.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `stop`, then finishes the requests in flight, for at most two seconds. Renderings of stored pages end at once.
///
/// # Errors
/// Fails if certificates or settings are invalid, or if threads cannot be started.
pub async fn serve(
    listener: TcpListener,
    service: Service,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let web = service.config.web.clone();
    if web.behind_proxy.is_boolean() {
        tracing::warn!(
            "`web.behind_proxy = true` trusts proxies in all local and private networks: list their addresses instead, such as \
             [\"127.0.0.1\"]"
        );
    }
    let certificates = Certificates::from_config(&web)?;
    let metrics = service.metrics.clone();
    let app = AppState::new(service)?;
    app.desk().announce(listener.local_addr()?, certificates.is_some());
    let upkeep = tokio::spawn(metrics.run_upkeep());
    let watching = certificates.clone().map(|certificates| tokio::spawn(certificates.watch_files()));
    let slots = raise_limit_for(web.connections);
    let server = Server {
        slots: Arc::new(Semaphore::new(slots)),
        connection_limit: NetworkLimit::of_connections(slots, web.behind_proxy.clone()),
        acceptor: certificates.map(|certificates| certificates.acceptor()).transpose()?,
        builder: builder(&web),
        timeouts: Timeouts::from_config(&web),
        router: router::build(app.clone()),
        graceful: GracefulShutdown::new(),
        event_loops: EventLoops::start(available_parallelism().map_or(2, usize::from))?,
    };
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = server.accept(&listener) => {}
            () = &mut stop => break,
        }
    }
    // New clients get a connection error instead of waiting in the backlog.
    drop(listener);
    app.begin_shutdown();
    tokio::select! {
        () = server.graceful.shutdown() => {}
        () = tokio::time::sleep(SHUTDOWN_GRACE) => {}
    }
    upkeep.abort();
    if let Some(watching) = watching {
        watching.abort();
    }
    app.service().search.stop();
    if let Err(error) = app.api().keys.store.flush() {
        tracing::warn!(%error, "cannot write the usage of API keys");
    }
    Ok(())
}

struct Server {
    slots: Arc<Semaphore>,
    connection_limit: Arc<NetworkLimit>,
    acceptor: Option<TlsAcceptor>,
    builder: Builder<TokioExecutor>,
    timeouts: Timeouts,
    router: Router,
    graceful: GracefulShutdown,
    event_loops: EventLoops,
}

fn builder(web: &WebConfig) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    let head = web.head_limit.bytes().clamp(8 << 10, 1 << 20);
    // The timeouts are enforced in `timeouts.rs`; this one is for connections that send nothing at all.
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(web.idle_timeout.max(web.head_timeout))
        .max_buf_size(head)
        .max_headers(MAX_FIELDS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(head).unwrap_or(u32::MAX));
    builder
}

impl Server {
    /// Waits for a free slot and accepts a connection.
    async fn accept(&self, listener: &TcpListener) {
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return };
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // The client closed the connection before it was accepted.
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
                return;
            }
        };
        let Some(permit) = self.connection_limit.admit_connection(address.ip()) else {
            for name in REJECTED_CONNECTIONS {
                ::metrics::counter!(name).increment(1);
            }
            return;
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        // Detach from this runtime: the connection is registered with the event loop that gets it.
        let stream = match stream.into_std() {
            Ok(stream) => stream,
            Err(error) => return tracing::warn!(%error, "cannot pass a connection to an event loop"),
        };
        let (builder, router) = (self.builder.clone(), self.router.clone());
        let (acceptor, timeouts, watcher) = (self.acceptor.clone(), self.timeouts, self.graceful.watcher());
        self.event_loops.spawn(async move {
            let _slot = (slot, permit);
            let ends = (address, stream.local_addr().map(|local| LocalAddress(local.ip())).ok());
            let stream = match TcpStream::from_std(stream) {
                Ok(stream) => stream,
                Err(error) => return tracing::warn!(%error, "cannot register a connection"),
            };
            ::metrics::gauge!(CONNECTIONS).increment(1.0);
            match acceptor {
                None => serve_connection(stream, ends, &builder, router, timeouts, watcher).await,
                Some(acceptor) => {
                    serve_tls(acceptor, stream, ends, &builder, router, timeouts, watcher).await
                }
            }
            ::metrics::gauge!(CONNECTIONS).decrement(1.0);
        });
    }
}

pub(crate) const CONNECTIONS: &str = "pharos_http_connections";
/// Connections closed because their client network was at its limit: the name, and that of release 0.1.
pub(crate) const REJECTED_CONNECTIONS: [&str; 2] =
    ["pharos_http_connections_rejected_total", "pharos_http_connections_turned_away_total"];

/// The addresses of the client and of this server in a connection.
type ConnectionEnds = (SocketAddr, Option<LocalAddress>);

async fn serve_tls(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    ends: ConnectionEnds,
    builder: &Builder<TokioExecutor>,
    router: Router,
    timeouts: Timeouts,
    watcher: Watcher,
) {
    match tokio::time::timeout(timeouts.head, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => serve_connection(stream, ends, builder, router, timeouts, watcher).await,
        Ok(Err(error)) => tracing::debug!(%error, address = %ends.0, "TLS handshake failed"),
        Err(_) => tracing::debug!(address = %ends.0, "TLS handshake timed out"),
    }
}

/// Serves the requests of a connection until it ends.
async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    (address, local): ConnectionEnds,
    builder: &Builder<TokioExecutor>,
    router: Router,
    timeouts: Timeouts,
    watcher: Watcher,
) {
    let phase = Arc::new(ConnectionPhase::default());
    let stream = TimedStream::new(stream, Arc::clone(&phase), timeouts);
    let service = service_fn(move |mut request: Request<Incoming>| {
        phase.head_complete(request.version() >= Version::HTTP_2);
        request.extensions_mut().insert(ConnectInfo(address));
        if let Some(local) = local {
            request.extensions_mut().insert(local);
        }
        // `line_endings.rs` cannot find the end of a body without a length.
        let is_last =
            request.version() < Version::HTTP_2 && request.headers().contains_key(TRANSFER_ENCODING);
        let response = router.clone().oneshot(request);
        async move {
            let mut response = response.await?;
            if is_last {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, %address, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::testing::engine;

    struct Running {
        _dir: tempfile::TempDir,
        address: SocketAddr,
        stop: Option<oneshot::Sender<()>>,
        server: JoinHandle<io::Result<()>>,
    }

    async fn start(config: Config) -> Running {
        let (dir, service) = engine(&[], config);
        let listener = listen("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(serve(listener, service, async move { stopped.await.unwrap_or(()) }));
        Running { _dir: dir, address, stop: Some(stop), server }
    }

    async fn send(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), close: bool) -> String {
        let connection = if close { "Connection: close\r\n" } else { "" };
        let request = format!("GET /favicon.svg HTTP/1.1\r\nHost: localhost\r\n{connection}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        if close {
            let _ = stream.read_to_end(&mut answer).await;
        } else {
            let mut part = [0; 64 << 10];
            let read = stream.read(&mut part).await.unwrap();
            answer.extend_from_slice(&part[..read]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[tokio::test]
    async fn the_server_stops_on_request() {
        let mut running = start(Config::default()).await;
        // An idle connection delays the shutdown no longer than the grace period.
        let _idle = TcpStream::connect(running.address).await.unwrap();
        running.stop.take().unwrap().send(()).unwrap();
        tokio::time::timeout(SHUTDOWN_GRACE * 2, running.server).await.unwrap().unwrap().unwrap();
        assert!(TcpStream::connect(running.address).await.is_err());
    }

    #[tokio::test]
    async fn slow_connections_are_closed_and_idle_ones_kept() {
        let mut config = Config::default();
        config.web.head_timeout = Duration::from_millis(300);
        config.web.idle_timeout = Duration::from_secs(60);
        let running = start(config).await;
        let mut slow = TcpStream::connect(running.address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nHost: lo").await.unwrap();
        let mut patient = TcpStream::connect(running.address).await.unwrap();
        assert!(send(&mut patient, false).await.starts_with("HTTP/1.1 200"));
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(30), slow.read_to_end(&mut rest)).await;
        closed.expect("the slow connection is closed").ok();
        assert!(rest.is_empty(), "no response");
        // Longer than the head timeout, but idle.
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert!(send(&mut patient, true).await.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn idle_connections_are_closed() {
        let mut config = Config::default();
        config.web.idle_timeout = Duration::from_millis(300);
        config.web.timeout = Duration::from_millis(100);
        config.web.head_timeout = Duration::from_millis(200);
        let running = start(config).await;
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        assert!(send(&mut stream, false).await.starts_with("HTTP/1.1 200"));
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut rest)).await;
        closed.expect("it is closed").ok();
    }

    #[tokio::test]
    async fn connections_beyond_the_slots_wait() {
        let mut config = Config::default();
        config.web.connections = 1;
        let running = start(config).await;
        let mut first = TcpStream::connect(running.address).await.unwrap();
        assert!(send(&mut first, false).await.starts_with("HTTP/1.1 200"));
        let mut second = TcpStream::connect(running.address).await.unwrap();
        let waiting = tokio::spawn(async move { send(&mut second, true).await });
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!waiting.is_finished());
        drop(first);
        assert!(waiting.await.unwrap().starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn clear_text_http_2_is_supported() {
        let running = start(Config::default()).await;
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        // The connection preface and an empty SETTINGS frame.
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).await.unwrap();
        assert_eq!(frame[3], 4, "the server sends SETTINGS: {frame:?}");
    }

    #[tokio::test]
    async fn certificates_enable_tls_and_are_reloaded() {
        use tokio_rustls::TlsConnector;
        use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
        use tokio_rustls::rustls::{ClientConfig, RootCertStore};

        let files = tempfile::tempdir().unwrap();
        let (chain, key) = (files.path().join("chain.pem"), files.path().join("key.pem"));
        let renew = || {
            let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
            std::fs::write(&chain, made.cert.pem()).unwrap();
            std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
            made.cert.der().clone()
        };
        let connect = |trusted: CertificateDer<'static>, address| async move {
            let mut roots = RootCertStore::empty();
            roots.add(trusted).unwrap();
            let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
            let stream = TcpStream::connect(address).await.unwrap();
            TlsConnector::from(Arc::new(config))
                .connect(ServerName::try_from("localhost").unwrap(), stream)
                .await
        };
        let mut config = Config::default();
        config.web.certificate = chain.display().to_string();
        config.web.key = key.display().to_string();
        let first = renew();
        let running = start(config).await;
        let answer = send(&mut connect(first.clone(), running.address).await.unwrap(), true).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("strict-transport-security: "), "{answer}");
        let second = renew();
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        while connect(second.clone(), running.address).await.is_err() {
            assert!(std::time::Instant::now() < deadline, "the new certificate is not loaded");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(connect(first, running.address).await.is_err());
    }

    #[tokio::test]
    async fn invalid_certificates_are_reported_at_start() {
        let files = tempfile::tempdir().unwrap();
        let rubbish = files.path().join("rubbish.pem");
        std::fs::write(&rubbish, "rubbish").unwrap();
        let [one, other] = ["one", "other"].map(|name| {
            let made = rcgen::generate_simple_self_signed([name.to_string()]).unwrap();
            let file = files.path().join(name);
            std::fs::write(&file, made.cert.pem() + &made.signing_key.serialize_pem()).unwrap();
            file.display().to_string()
        });
        for (certificate, key, said) in [
            (one, other, "other does not belong to the certificate"),
            (rubbish.display().to_string(), rubbish.display().to_string(), "rubbish.pem"),
            (files.path().join("none.pem").display().to_string(), rubbish.display().to_string(), "none.pem"),
            (rubbish.display().to_string(), String::new(), "web.key"),
            (String::new(), rubbish.display().to_string(), "web.certificate"),
        ] {
            let mut config = Config::default();
            (config.web.certificate, config.web.key) = (certificate, key);
            let error = start(config).await.server.await.unwrap().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
