//! Serves a web on real sockets.

mod cache;
mod log;
mod response;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub use log::{LoggedRequest, ServerCounters};

use crate::clock::TestClock;
use crate::model::{PageNo, Web};
use crate::render::http_date;
use crate::truth::Truth;
use response::PageResponse;

/// Options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address to listen on; port 0 selects a free port. With `own_addresses` only the port is used.
    pub listen: SocketAddr,
    /// Every host listens on its own 127.x.y.z, on the same port; otherwise all share one address and are
    /// distinguished by the `Host` header.
    pub own_addresses: bool,
    /// Time of the web.
    pub clock: TestClock,
    /// Maximum number of logged requests.
    pub log_capacity: usize,
    /// Maximum size of cached pages.
    pub cache_bytes: usize,
    /// Maximum number of open connections; further ones wait.
    pub max_connections: usize,
    /// Delay of every response, as of a distant host.
    pub latency: Duration,
    /// Compress pages for clients that accept it.
    pub gzip: bool,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            own_addresses: false,
            clock: TestClock::at_start(),
            log_capacity: 200_000,
            cache_bytes: 256 << 20,
            max_connections: 4096,
            latency: Duration::ZERO,
            gzip: true,
        }
    }
}

/// A web that is being served.
pub struct Server {
    shared: Arc<ServerState>,
    address: SocketAddr,
    own_addresses: bool,
    stop: watch::Sender<bool>,
    listeners: JoinSet<()>,
}

/// State shared by all connections.
struct ServerState {
    web: Arc<Web>,
    port: u16,
    clock: TestClock,
    latency: Duration,
    gzip: bool,
    cache: cache::PageCache,
    log: log::RequestLog,
    counters: log::AtomicCounters,
    names: Vec<Arc<str>>,
    in_flight: Vec<AtomicU32>,
    date: Mutex<(u64, HeaderValue)>,
}

impl Server {
    /// Binds the addresses and starts serving, on the current tokio runtime.
    pub async fn start(web: impl Into<Arc<Web>>, options: ServeOptions) -> io::Result<Server> {
        let web: Arc<Web> = web.into();
        let listeners = bind(&web, &options).await?;
        let address = listeners[0].local_addr()?;
        let shared = Arc::new(ServerState {
            port: address.port(),
            clock: options.clock,
            latency: options.latency,
            gzip: options.gzip,
            cache: cache::PageCache::new(options.cache_bytes),
            log: log::RequestLog::new(options.log_capacity),
            counters: log::AtomicCounters::default(),
            names: web.hosts.iter().map(|host| host.name.as_str().into()).collect(),
            in_flight: web.hosts.iter().map(|_| AtomicU32::new(0)).collect(),
            date: Mutex::new((u64::MAX, HeaderValue::from_static(""))),
            web,
        });
        let (stop, stopped) = watch::channel(false);
        let permits = Arc::new(Semaphore::new(options.max_connections));
        let mut tasks = JoinSet::new();
        for listener in listeners {
            tasks.spawn(listen(listener, shared.clone(), permits.clone(), stopped.clone()));
        }
        Ok(Server { shared, address, own_addresses: options.own_addresses, stop, listeners: tasks })
    }

    /// Returns the listening address, or the first of several.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the port of all URLs.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the web that is served.
    pub fn web(&self) -> &Web {
        &self.shared.web
    }

    /// Returns the clock of the web; moving it changes the web.
    pub fn clock(&self) -> &TestClock {
        &self.shared.clock
    }

    /// Returns the home page of every host.
    pub fn seeds(&self) -> Vec<String> {
        self.web().seeds(self.port())
    }

    /// Returns `HOST:PORT:ADDR` for every host, as for `--resolve` of curl and of the crawler.
    pub fn resolve_args(&self) -> Vec<String> {
        let port = self.port();
        let address =
            |host: &crate::Host| if self.own_addresses { host.address.into() } else { self.address.ip() };
        self.web().hosts.iter().map(|host| format!("{}:{port}:{}", host.name, address(host))).collect()
    }

    /// Returns the truth at the current time of the web.
    pub fn truth(&self) -> Truth {
        self.web().truth_at(self.port(), self.clock().now())
    }

    /// Renders and compresses every page within the cache size, so that a benchmark measures its client and not this
    /// server.
    pub fn warm(&self) {
        for page in 0..self.web().pages.len() {
            response::prepare(&self.shared, page as PageNo);
        }
    }

    /// Returns the latest requests, oldest first.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.shared.log.read()
    }

    /// Clears the log; the counters continue.
    pub fn clear_log(&self) {
        self.shared.log.clear();
    }

    /// Returns the counters since the start.
    pub fn counters(&self) -> ServerCounters {
        self.shared.counters.read()
    }

    /// Stops listening and closes every connection.
    pub async fn stop(mut self) {
        // Fails only if every listener has already ended.
        let _ = self.stop.send(true);
        while self.listeners.join_next().await.is_some() {}
    }
}

async fn bind(web: &Web, options: &ServeOptions) -> io::Result<Vec<TcpListener>> {
    if !options.own_addresses {
        return Ok(vec![TcpListener::bind(options.listen).await?]);
    }
    // A free port of the first address may be in use on another: try again with the next free one.
    const TRIES: usize = 20;
    let mut tries = 0;
    loop {
        match bind_own(web, options.listen.port()).await {
            Err(error)
                if options.listen.port() == 0
                    && error.kind() == io::ErrorKind::AddrInUse
                    && tries < TRIES =>
            {
                tries += 1;
            }
            result => return result,
        }
    }
}

async fn bind_own(web: &Web, mut port: u16) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::with_capacity(web.hosts.len());
    for host in &web.hosts {
        let listener = TcpListener::bind((host.address, port)).await?;
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(listeners)
}

/// Accepts connections until stopped; the connections end with the listener.
async fn listen(
    listener: TcpListener,
    shared: Arc<ServerState>,
    permits: Arc<Semaphore>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.changed() => return,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &permits) => accepted,
        };
        if let Some((stream, permit)) = accepted {
            let shared = shared.clone();
            connections.spawn(async move {
                serve_connection(stream, shared).await;
                drop(permit);
            });
        }
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = permits.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(_) => {
            // Mostly out of file descriptors: give other connections time to close.
            tokio::time::sleep(Duration::from_millis(10)).await;
            None
        }
    }
}

/// Serves the requests of one connection in order.
async fn serve_connection(stream: TcpStream, shared: Arc<ServerState>) {
    // Small responses must not wait for acknowledgements; a failure only makes them slower.
    let _ = stream.set_nodelay(true);
    let connection = shared.counters.connection();
    let no_agent: Arc<str> = "".into();
    let last_agent = Mutex::new(no_agent);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let arrived = Instant::now();
        let shared = &shared;
        let user_agent = agent_of(&request, &last_agent);
        async move {
            let response = handle(shared, &request, arrived, user_agent, connection).await;
            Ok::<PageResponse, Infallible>(response)
        }
    });
    // A client that disconnects early is not an error.
    let _ = http1::Builder::new().pipeline_flush(true).serve_connection(TokioIo::new(stream), service).await;
}

/// Returns the user agent; a connection mostly has one, which is then shared.
fn agent_of(request: &hyper::Request<Incoming>, last: &Mutex<Arc<str>>) -> Arc<str> {
    let name = request.headers().get(header::USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
    let mut last = last.lock();
    if last.as_bytes() != name {
        *last = String::from_utf8_lossy(name).into();
    }
    last.clone()
}

async fn handle(
    shared: &ServerState,
    request: &hyper::Request<Incoming>,
    arrived: Instant,
    user_agent: Arc<str>,
    connection: u64,
) -> PageResponse {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let name = host_name(request);
    let (mut response, host, in_flight) = match shared.web.host_named(&name) {
        Some(number) => {
            let counter = &shared.in_flight[number as usize];
            let in_flight = counter.fetch_add(1, Ordering::AcqRel) + 1;
            if !shared.latency.is_zero() {
                tokio::time::sleep(shared.latency).await;
            }
            let response = response::respond(shared, number, request.method(), path, request.headers());
            counter.fetch_sub(1, Ordering::AcqRel);
            (response, shared.names[number as usize].clone(), in_flight)
        }
        None => (response::no_such_host(), name.into(), 0),
    };
    response.headers_mut().insert(header::DATE, shared.date());
    let status = response.status().as_u16();
    let body: &Full<_> = response.body();
    shared.counters.count_response(status, body.size_hint().exact().unwrap_or(0) as usize);
    let path = path.into();
    shared.log.write(LoggedRequest { at: arrived, host, path, status, user_agent, connection, in_flight });
    response
}

fn host_name(request: &hyper::Request<Incoming>) -> String {
    let header = request.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str()).or(header).unwrap_or("");
    let name = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
    name.to_ascii_lowercase()
}

impl ServerState {
    /// Returns the time of the web as a header value.
    fn date(&self) -> HeaderValue {
        let now = self.clock.now();
        let mut date = self.date.lock();
        if date.0 != now {
            *date = (now, HeaderValue::from_str(&http_date(now)).unwrap_or(HeaderValue::from_static("")));
        }
        date.1.clone()
    }
}
