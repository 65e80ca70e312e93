//! One GET, with every limit.

use std::error::Error as _;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HeaderMap, HeaderValue, USER_AGENT};
use hyper::http::Extensions;
use hyper::{Request, Uri};
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, VERSION};
use pharos_store::{Response, Truncated};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout_at};

use crate::connector::{Connector, Peer};
use crate::overrides::OverrideError;

/// Larger headers are no answer (hyper counts its whole read buffer).
const MAX_HEADER_BYTES: usize = 128 << 10;
/// More fields are no answer either; some sites set a hundred cookies.
const MAX_HEADER_FIELDS: usize = 256;
/// With more connections open than this, new ones are not kept for the next request.
const KEPT_CONNECTIONS: usize = 256;
const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5";

/// Why no answer came: a short reason for a person.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FetchError {
    /// The host does not exist.
    #[error("name not found")]
    NameNotFound,
    /// DNS did not work.
    #[error("name server: {0}")]
    NameServer(String),
    /// The host is not on the public internet.
    #[error("private address {0} (allow with --allow-private)")]
    PrivateAddress(IpAddr),
    /// A public host, and nobody whom its owner could reach.
    #[error("{0} is a public address: say who crawls it with --contact you@example.org")]
    NoContact(IpAddr),
    /// The connection did not come about, or broke before an answer.
    #[error("{0}")]
    Connection(String),
    /// It took too long.
    #[error("timed out after {} {doing}", Seconds(*.after))]
    TimedOut {
        /// The limit.
        after: Duration,
        /// At what.
        doing: &'static str,
    },
    /// No secure connection.
    #[error("tls: {0}")]
    Tls(String),
    /// Something came, but no HTTP.
    #[error("{0}")]
    NotHttp(String),
}

impl FetchError {
    pub(crate) fn from_io(error: &io::Error) -> Self {
        Self::Connection(match error.kind() {
            io::ErrorKind::ConnectionRefused => "connection refused".into(),
            io::ErrorKind::ConnectionReset => "connection reset".into(),
            io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
                "the connection closed before an answer came".into()
            }
            io::ErrorKind::HostUnreachable => "host unreachable".into(),
            io::ErrorKind::NetworkUnreachable => "network unreachable".into(),
            io::ErrorKind::TimedOut => "connection timed out".into(),
            _ => error.to_string(),
        })
    }

    fn from_client(error: &legacy::Error) -> Self {
        let mut cause = error.source();
        let mut deepest = error.to_string();
        while let Some(error) = cause {
            if let Some(own) = error.downcast_ref::<FetchError>() {
                return own.clone();
            }
            if let Some(io) = error.downcast_ref::<io::Error>() {
                return Self::from_io(io);
            }
            if let Some(http) = error.downcast_ref::<hyper::Error>() {
                if http.is_parse_too_large() {
                    return Self::NotHttp(format!("the header is longer than {} KB", MAX_HEADER_BYTES >> 10));
                } else if http.is_incomplete_message() {
                    return Self::Connection("the connection closed before an answer came".into());
                } else if http.is_parse() {
                    return Self::NotHttp("the answer is not HTTP".into());
                }
            }
            deepest = error.to_string();
            cause = error.source();
        }
        Self::Connection(deepest)
    }
}

/// `10 s`, `0.5 s`.
struct Seconds(Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0.as_millis() as f64 / 1000.0)
    }
}

/// Asks servers. One for a whole crawl, so that connections are kept; cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    client: Client<Connector, Empty<Bytes>>,
    connector: Connector,
    user_agent: HeaderValue,
    first_byte_timeout: Duration,
    total_timeout: Duration,
    body_limit: usize,
}

impl Fetcher {
    /// With the limits and the manners of a configuration.
    pub fn new(config: &CrawlConfig) -> Result<Self, OverrideError> {
        Ok(Self::over(Connector::new(config)?, config))
    }

    pub(crate) fn over(connector: Connector, config: &CrawlConfig) -> Self {
        // Longer than the usual wait between two requests to a host, or keeping connections is in vain.
        let idle = (config.politeness.delay() * 2).clamp(Duration::from_secs(5), Duration::from_secs(30));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle)
            .pool_max_idle_per_host(config.connections_per_host.max(1))
            .http1_max_buf_size(MAX_HEADER_BYTES)
            .http1_max_headers(MAX_HEADER_FIELDS)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .build(connector.clone());
        Self {
            client,
            connector,
            user_agent: user_agent(&config.agent, &config.contact),
            first_byte_timeout: config.first_byte_timeout,
            total_timeout: config.total_timeout,
            body_limit: config.body_limit.bytes(),
        }
    }

    /// Asks for a page. A redirect is an answer like any other; the body is as received, up to the limit.
    pub async fn get(&self, url: &PageUrl) -> Result<Response, FetchError> {
        self.get_up_to(url, self.body_limit).await
    }

    /// The same with a body limit of its own.
    pub async fn get_up_to(&self, url: &PageUrl, body_limit: usize) -> Result<Response, FetchError> {
        let end = after(self.total_timeout);
        let late = FetchError::TimedOut { after: self.total_timeout, doing: "in all" };
        let answer = timeout_at(end, self.ask(url)).await.unwrap_or(Err(late))?;
        let (head, body) = answer.into_parts();
        let (body, truncated) = read(body, body_limit, end).await;
        Ok(Response {
            status: head.status.as_u16(),
            headers: headers(&head.headers),
            body,
            address: head.extensions.get::<Peer>().map(|peer| peer.address),
            truncated,
            request: Some(self.request_head(url)?),
            head: None,
        })
    }

    /// Connects (the connector has its own limit) and waits for the header.
    async fn ask(&self, url: &PageUrl) -> Result<hyper::Response<Incoming>, FetchError> {
        match self.ask_once(url).await? {
            Ok(answer) => Ok(answer),
            // A server may close a kept connection at any time, and did so while we used it again.
            Err(error) if was_kept(&error) => {
                self.ask_once(url).await?.map_err(|e| FetchError::from_client(&e))
            }
            Err(error) => Err(FetchError::from_client(&error)),
        }
    }

    async fn ask_once(
        &self,
        url: &PageUrl,
    ) -> Result<Result<hyper::Response<Incoming>, legacy::Error>, FetchError> {
        let mut request = self.request(url)?;
        let mut connection = capture_connection(&mut request);
        let too_late = async {
            drop(connection.wait_for_connection_metadata().await);
            sleep(self.first_byte_timeout).await;
        };
        tokio::select! {
            answer = self.client.request(request) => {
                if let Some(peer) = answer.as_ref().ok().and_then(|a| a.extensions().get::<Peer>()) {
                    peer.answered.store(true, Ordering::Relaxed);
                }
                Ok(answer)
            }
            () = too_late => Err(FetchError::TimedOut { after: self.first_byte_timeout, doing: "waiting for an answer" }),
        }
    }

    /// What was asked, as it stands on the wire of an HTTP/1.1 connection.
    fn request_head(&self, url: &PageUrl) -> Result<String, FetchError> {
        let fields = headers(self.request(url)?.headers());
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (path, host) = (url.path_and_query(), url.site());
        Ok(format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{fields}\r\n", host.as_str()))
    }

    fn request(&self, url: &PageUrl) -> Result<Request<Empty<Bytes>>, FetchError> {
        let uri: Uri =
            url.as_str().parse().map_err(|e| FetchError::NotHttp(format!("cannot be asked for: {e}")))?;
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = uri;
        let fields = request.headers_mut();
        fields.insert(USER_AGENT, self.user_agent.clone());
        fields.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, deflate"));
        if self.connector.open() > KEPT_CONNECTIONS {
            fields.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(request)
    }
}

/// That long from now; a limit longer than a lifetime is none.
pub(crate) fn after(limit: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(100 * 365 * 86_400);
    Instant::now() + limit.min(NEVER)
}

/// Did the request fail on a connection that had worked before?
fn was_kept(error: &legacy::Error) -> bool {
    let mut extensions = Extensions::new();
    if let Some(connection) = error.connect_info() {
        connection.get_extras(&mut extensions);
    }
    extensions.get::<Peer>().is_some_and(|peer| peer.answered.load(Ordering::Relaxed))
}

/// Reads a body until its end, the limit, the last moment or an error, and keeps what came.
async fn read(mut body: Incoming, limit: usize, end: Instant) -> (Vec<u8>, Option<Truncated>) {
    let mut bytes = Vec::new();
    loop {
        let data = match timeout_at(end, body.frame()).await {
            Err(_) => return (bytes, Some(Truncated::Time)),
            Ok(None) => return (bytes, None),
            Ok(Some(Err(_))) => return (bytes, Some(Truncated::Disconnect)),
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        let room = limit - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return (bytes, Some(Truncated::Length));
        }
    }
}

/// Header fields in the order received (those of one name together). What is not UTF-8 is ISO 8859-1, as of old.
fn headers(map: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_string(),
        Err(_) => value.as_bytes().iter().copied().map(char::from).collect(),
    };
    map.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// Who we are, and where to complain.
fn user_agent(agent: &str, contact: &str) -> HeaderValue {
    let plain = |text: &str| text.trim().chars().filter(|c| !c.is_control()).collect::<String>();
    let (agent, contact) = (plain(agent), plain(contact));
    let contact = if contact.is_empty() { String::new() } else { format!("; +{contact}") };
    let text = format!("Mozilla/5.0 (compatible; {agent}/{VERSION}{contact})");
    HeaderValue::from_bytes(text.as_bytes())
        .unwrap_or(HeaderValue::from_static("Mozilla/5.0 (compatible; Pharos)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_say_who_we_are() {
        let named = user_agent("Pharos", "me@example.org");
        assert_eq!(named, format!("Mozilla/5.0 (compatible; Pharos/{VERSION}; +me@example.org)"));
        assert_eq!(user_agent("Pharos", ""), format!("Mozilla/5.0 (compatible; Pharos/{VERSION})"));
        assert!(!user_agent("Ph\r\naros", "灯塔\n").as_bytes().contains(&b'\n'));
    }

    #[test]
    fn reasons_are_short() {
        let late = FetchError::TimedOut { after: Duration::from_secs(10), doing: "connecting" };
        assert_eq!(late.to_string(), "timed out after 10 s connecting");
        let late = FetchError::TimedOut { after: Duration::from_millis(1500), doing: "in all" };
        assert_eq!(late.to_string(), "timed out after 1.5 s in all");
    }

    #[test]
    fn headers_keep_their_order_and_any_bytes() {
        let mut map = HeaderMap::new();
        map.append("x-b", HeaderValue::from_static("1"));
        map.append("x-a", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        map.append("x-c", HeaderValue::from_bytes("灯".as_bytes()).unwrap());
        let list = headers(&map);
        assert_eq!(
            list.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>(),
            ["x-b=1", "x-a=café", "x-c=灯"]
        );
    }
}
