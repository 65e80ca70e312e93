//! Serves hosts on real sockets: well-formed HTTP by hyper, everything else by script.

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::host::{
    CannedResponse, HostBehaviour, HostUrls, HostileHost, HostileRequest, ResponseEnd, Transport,
};
use super::log::{HostileLogEntry, LogGuard, RequestLog};
use super::script;

/// Delay before a reset, because a reset overtakes unsent bytes.
const BEFORE_RESET: Duration = Duration::from_millis(100);

/// A host on its listener.
pub(super) struct ServedHost {
    pub(super) host: HostileHost,
    pub(super) acceptor: Option<TlsAcceptor>,
    pub(super) requests: AtomicU64,
    pub(super) connections: AtomicU64,
}

/// State shared by all hosts.
pub(super) struct HostileState {
    pub(super) log: Arc<RequestLog>,
    pub(super) urls: Arc<HostUrls>,
    /// URLs of removed pages.
    pub(super) removed_pages: Mutex<HashSet<String>>,
    pub(super) connections: AtomicU64,
    pub(super) permits: Arc<Semaphore>,
    /// Maximum lifetime of a connection.
    pub(super) connection_timeout: Duration,
}

/// Parts of a request head used by the log and the hosts.
#[derive(Default)]
pub(super) struct RequestHead {
    pub(super) path: String,
    pub(super) host: Option<String>,
    pub(super) user_agent: String,
    pub(super) if_none_match: Option<String>,
    pub(super) if_modified_since: Option<String>,
    pub(super) version: &'static str,
}

impl HostileState {
    /// Logs a request and returns it as the host needs it.
    pub(super) fn log_request(
        &self,
        served: &ServedHost,
        head: RequestHead,
        connection: u64,
    ) -> (HostileRequest, LogGuard) {
        let authority = head.host.unwrap_or_else(|| served.host.names[0].clone());
        let name = authority.rsplit_once(':').map_or(authority.as_str(), |(name, _)| name).to_lowercase();
        let guard = self.log.log_request(HostileLogEntry {
            at: Instant::now(),
            duration: None,
            host: name.as_str().into(),
            path: head.path.as_str().into(),
            connection,
            version: head.version,
            user_agent: head.user_agent.into(),
        });
        let url = format!("{}{}", self.urls.base(served.host.scheme(), &name), head.path);
        let is_removed = self.removed_pages.lock().contains(&url);
        let request = HostileRequest {
            host: name,
            path: head.path,
            if_none_match: head.if_none_match,
            if_modified_since: head.if_modified_since,
            earlier: served.requests.fetch_add(1, Ordering::Relaxed),
            is_removed,
            urls: self.urls.clone(),
        };
        (request, guard)
    }

    /// Logs a connection without a request.
    pub(super) fn log_connection(&self, served: &ServedHost, connection: u64, at: Instant) -> LogGuard {
        self.log.log_request(HostileLogEntry {
            at,
            duration: None,
            host: served.host.names[0].as_str().into(),
            path: "".into(),
            connection,
            version: "",
            user_agent: "".into(),
        })
    }
}

/// Accepts connections until stopped; the connections end with the listener.
pub(super) async fn listen(
    listener: TcpListener,
    served: Arc<ServedHost>,
    state: Arc<HostileState>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.changed() => return,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &state.permits) => accepted,
        };
        if let Some((stream, permit)) = accepted {
            let (served, state) = (served.clone(), state.clone());
            connections.spawn(async move {
                let connection_timeout = state.connection_timeout;
                // Ending by itself or by the time limit makes no difference.
                let _ = timeout(connection_timeout, serve_connection(stream, served, state)).await;
                drop(permit);
            });
        }
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    // Accepting precedes the permit: otherwise idle listeners would hold all permits.
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permits.clone().acquire_owned().await.ok()?)),
        Err(_) => {
            // Mostly out of file descriptors: give other connections time to close.
            sleep(Duration::from_millis(10)).await;
            None
        }
    }
}

async fn serve_connection(stream: TcpStream, served: Arc<ServedHost>, state: Arc<HostileState>) {
    // Small responses must not wait for acknowledgements; a failure only makes them slower.
    let _ = stream.set_nodelay(true);
    let connection = state.connections.fetch_add(1, Ordering::Relaxed);
    let of_host = served.connections.fetch_add(1, Ordering::Relaxed);
    match (served.host.transport, served.host.behaviour, &served.acceptor) {
        (Transport::Tls { .. }, HostBehaviour::Http(answer), Some(acceptor)) => {
            let began = Instant::now();
            match acceptor.accept(stream).await {
                Ok(stream) => {
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    serve(stream, is_http2, answer, &served, &state, connection).await;
                }
                Err(_) => drop(state.log_connection(&served, connection, began)),
            }
        }
        (_, HostBehaviour::Http(answer), _) => {
            serve(stream, false, answer, &served, &state, connection).await
        }
        (_, HostBehaviour::Script(script), _) => {
            script::on_request(stream, script, &served, &state, connection).await;
        }
        (_, HostBehaviour::Immediate(script), _) => {
            script::at_once(stream, script(of_host), &served, &state, connection).await;
        }
    }
}

/// Serves well-formed HTTP over any transport.
async fn serve<S>(
    stream: S,
    is_http2: bool,
    answer: fn(&HostileRequest) -> CannedResponse,
    served: &Arc<ServedHost>,
    state: &Arc<HostileState>,
    connection: u64,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (served, state) = (served.clone(), state.clone());
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (request, guard) = state.log_request(&served, head_of(&request), connection);
        let reply = answer(&request);
        async move { response(reply, guard) }
    });
    let stream = TokioIo::new(stream);
    // A client that disconnects early is not an error, and resets are the purpose of some hosts.
    let _ = if is_http2 {
        http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await
    } else {
        http1::Builder::new().serve_connection(stream, service).await
    };
}

fn head_of(request: &hyper::Request<Incoming>) -> RequestHead {
    let text = |name: HeaderName| text_of(request.headers(), &name);
    let authority = request.uri().authority().map(|authority| authority.to_string());
    RequestHead {
        path: request.uri().path_and_query().map_or("/", |path| path.as_str()).to_string(),
        host: authority.or_else(|| text(header::HOST)),
        user_agent: text(header::USER_AGENT).unwrap_or_default(),
        if_none_match: text(header::IF_NONE_MATCH),
        if_modified_since: text(header::IF_MODIFIED_SINCE),
        version: if request.version() == hyper::Version::HTTP_2 { "HTTP/2" } else { "HTTP/1.1" },
    }
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Builds the response. An error instead makes hyper reset the stream (HTTP/2) or the connection (HTTP/1.1).
fn response(reply: CannedResponse, guard: LogGuard) -> io::Result<hyper::Response<ResponseBody>> {
    if reply.end == ResponseEnd::ResetAtOnce {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let mut response = hyper::Response::builder().status(reply.status);
    for (name, value) in &reply.fields {
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(io::Error::other)?;
        response = response.header(*name, value);
    }
    let fails = (reply.end == ResponseEnd::ResetInBody).then(|| Box::pin(sleep(BEFORE_RESET)));
    let body = ResponseBody { bytes: Some(reply.body), fails, _guard: guard };
    response.body(body).map_err(io::Error::other)
}

/// A body that may break off; the request ends when it is dropped.
struct ResponseBody {
    bytes: Option<Bytes>,
    /// If set, the body breaks off after its bytes and this delay.
    fails: Option<Pin<Box<Sleep>>>,
    _guard: LogGuard,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(bytes) = self.bytes.take().filter(|bytes| !bytes.is_empty()) {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match &mut self.fails {
            Some(pause) => {
                pause.as_mut().poll(context).map(|()| Some(Err(io::ErrorKind::ConnectionReset.into())))
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.fails.is_none() && self.bytes.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.bytes.as_ref().map_or(0, Bytes::len) as u64;
        if self.fails.is_some() { SizeHint::new() } else { SizeHint::with_exact(left) }
    }
}
