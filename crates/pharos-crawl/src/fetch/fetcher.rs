//! The HTTP client: one GET request with all limits.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, USER_AGENT,
};
use hyper::http::Extensions;
use hyper::{Request, Uri};
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, VERSION};
use pharos_store::RawResponse;
use pharos_store::catalog::Validators;
use pharos_store::interpret::status::is_success;
use pharos_store::library::TruncationReason;
use tokio::time::{Instant, sleep, timeout_at};

use crate::fetch::FetchError;
use crate::fetch::connector::{Connector, Peer};
use crate::rules::content_type::accepts;
use crate::setting_error::SettingError;

/// Maximum size of response headers (hyper counts its whole read buffer).
pub(crate) const MAX_HEADER_BYTES: usize = 128 << 10;
/// Maximum number of header fields; some sites set a hundred cookies.
const MAX_HEADER_FIELDS: usize = 256;
/// Number of open connections above which new ones are closed after one request.
const MAX_KEPT_CONNECTIONS: usize = 256;
/// HTTP/2 flow-control windows, per stream and per connection.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 2 << 20;
const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5";

/// A GET request.
#[derive(Clone, Copy, Debug)]
pub struct FetchRequest<'a> {
    pub url: &'a PageUrl,
    /// Validators of the stored version: the server responds with 304 if it is unchanged.
    pub validators: Option<&'a Validators>,
    /// Limit of the body size that replaces `crawl.body_limit`.
    pub body_limit: Option<usize>,
    /// Media types whose bodies are read (an empty list means all documents); `None` reads every body.
    pub types: Option<&'a [String]>,
}

impl<'a> FetchRequest<'a> {
    /// Creates a request for a page of any type without validators.
    pub fn new(url: &'a PageUrl) -> Self {
        Self { url, validators: None, body_limit: None, types: None }
    }
}

/// Minimum transfer rate of a body.
#[derive(Clone, Copy)]
struct MinSpeed {
    bytes: u64,
    within: Duration,
}

impl MinSpeed {
    fn from_config(config: &CrawlConfig) -> Option<Self> {
        let within = config.low_speed_time;
        let bytes = (config.low_speed.0 as f64 * within.as_secs_f64()).ceil() as u64;
        (bytes > 0).then_some(Self { bytes, within })
    }
}

/// The HTTP client. One per crawl, so that connections are reused; cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    client: Client<Connector, Empty<Bytes>>,
    connector: Connector,
    user_agent: HeaderValue,
    first_byte_timeout: Duration,
    total_timeout: Duration,
    min_speed: Option<MinSpeed>,
    body_limit: usize,
}

impl Fetcher {
    /// Creates a client with the limits of a configuration.
    pub fn new(config: &CrawlConfig) -> Result<Self, SettingError> {
        Ok(Self::with_connector(Connector::new(config)?, config))
    }

    pub(crate) fn with_connector(connector: Connector, config: &CrawlConfig) -> Self {
        // Longer than the usual wait between two requests to a host; otherwise keep-alive has no effect.
        let idle = (config.politeness_limits().day_delay.saturating_mul(2))
            .clamp(Duration::from_secs(5), Duration::from_secs(30));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle)
            .pool_max_idle_per_host(config.connections_per_host.max(1))
            .http1_max_buf_size(MAX_HEADER_BYTES)
            .http1_max_headers(MAX_HEADER_FIELDS)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .http2_max_header_list_size(MAX_HEADER_BYTES as u32)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .build(connector.clone());
        Self {
            client,
            connector,
            user_agent: user_agent(&config.agent, &config.contact),
            first_byte_timeout: config.first_byte_timeout,
            total_timeout: config.total_timeout,
            min_speed: MinSpeed::from_config(config),
            body_limit: config.body_limit.bytes(),
        }
    }

    /// Requests a page. A redirect is a response like any other; the body is as received, up to the limit.
    pub async fn get(&self, url: &PageUrl) -> Result<RawResponse, FetchError> {
        self.fetch(FetchRequest::new(url)).await
    }

    /// Sends a request and reads the response.
    pub async fn fetch(&self, request: FetchRequest<'_>) -> Result<RawResponse, FetchError> {
        let end = deadline_after(self.total_timeout);
        let late = FetchError::TimedOut { after: self.total_timeout, doing: "in total" };
        let answer = timeout_at(end, self.send(request)).await.unwrap_or(Err(late))?;
        let (head, body) = answer.into_parts();
        if let Some(types) = request.types.filter(|_| is_success(head.status.as_u16())) {
            let kind = head.headers.get(CONTENT_TYPE).map(header_text);
            if !accepts(types, kind.as_deref(), request.url.as_url().path()) {
                return Err(FetchError::UnwantedType(media_type(&kind.unwrap_or_default())));
            }
        }
        let (body, truncated) =
            read_body(body, request.body_limit.unwrap_or(self.body_limit), end, self.min_speed).await;
        Ok(RawResponse {
            status: head.status.as_u16(),
            headers: header_fields(&head.headers),
            body,
            address: head.extensions.get::<Peer>().map(|peer| peer.address),
            truncated,
            request: Some(self.request_head(request)?),
            head: None,
        })
    }

    /// Connects (the connector has its own time limit) and waits for the header.
    async fn send(&self, request: FetchRequest<'_>) -> Result<hyper::Response<Incoming>, FetchError> {
        match self.send_once(request).await? {
            Ok(answer) => Ok(answer),
            // A server may close an idle connection at any time; it did so while it was reused.
            Err(error) if is_stale_connection(&error) => {
                self.send_once(request).await?.map_err(|e| FetchError::from_client(&e))
            }
            Err(error) => Err(FetchError::from_client(&error)),
        }
    }

    async fn send_once(
        &self,
        request: FetchRequest<'_>,
    ) -> Result<Result<hyper::Response<Incoming>, legacy::Error>, FetchError> {
        let mut request = self.build_request(request)?;
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
            () = too_late => Err(FetchError::TimedOut { after: self.first_byte_timeout, doing: "waiting for a response" }),
        }
    }

    /// Returns the request head as sent over HTTP/1.1.
    fn request_head(&self, request: FetchRequest<'_>) -> Result<String, FetchError> {
        let fields = header_fields(self.build_request(request)?.headers());
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (path, host) = (request.url.path_and_query(), request.url.site());
        Ok(format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{fields}\r\n", host.as_str()))
    }

    fn build_request(&self, request: FetchRequest<'_>) -> Result<Request<Empty<Bytes>>, FetchError> {
        let uri: Uri = request
            .url
            .as_str()
            .parse()
            .map_err(|e| FetchError::NotHttp(format!("invalid request URL: {e}")))?;
        let mut built = Request::new(Empty::new());
        *built.uri_mut() = uri;
        let fields = built.headers_mut();
        fields.insert(USER_AGENT, self.user_agent.clone());
        fields.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate"));
        let validators =
            request.validators.map(|v| [(IF_NONE_MATCH, &v.etag), (IF_MODIFIED_SINCE, &v.last_modified)]);
        for (name, value) in validators.into_iter().flatten() {
            // A value that is invalid in a header cannot have come from one.
            let value = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok());
            if let Some(value) = value {
                fields.insert(name, value);
            }
        }
        if self.connector.open() > MAX_KEPT_CONNECTIONS {
            fields.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(built)
    }
}

/// Returns the instant after `limit`, which is bounded to 100 years.
pub(crate) fn deadline_after(limit: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(100 * 365 * 86_400);
    Instant::now() + limit.min(NEVER)
}

/// Returns `true` if the request failed on a connection that had worked before.
fn is_stale_connection(error: &legacy::Error) -> bool {
    let mut extensions = Extensions::new();
    if let Some(connection) = error.connect_info() {
        connection.get_extras(&mut extensions);
    }
    extensions.get::<Peer>().is_some_and(|peer| peer.answered.load(Ordering::Relaxed))
}

/// Reads a body until its end, the limit, the deadline or an error, and returns the bytes received.
async fn read_body(
    mut body: Incoming,
    limit: usize,
    end: Instant,
    min_speed: Option<MinSpeed>,
) -> (Vec<u8>, Option<TruncationReason>) {
    let mut bytes = Vec::new();
    let (mut next_check, mut seen) = (min_speed.map_or(end, |min_speed| deadline_after(min_speed.within)), 0);
    loop {
        let frame = timeout_at(next_check.min(end), body.frame()).await;
        let (is_late, now) = (frame.is_err(), Instant::now());
        match frame {
            Err(_) => {}
            Ok(None) => return (bytes, None),
            Ok(Some(Err(_))) => return (bytes, Some(TruncationReason::Disconnect)),
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                let remaining = limit - bytes.len();
                bytes.extend_from_slice(&data[..data.len().min(remaining)]);
                if data.len() > remaining {
                    return (bytes, Some(TruncationReason::Length));
                }
            }
        }
        if is_late && now >= end {
            return (bytes, Some(TruncationReason::Time));
        }
        if let Some(min_speed) = min_speed.filter(|_| now >= next_check) {
            if ((bytes.len() - seen) as u64) < min_speed.bytes {
                return (bytes, Some(TruncationReason::Time));
            }
            (next_check, seen) = (deadline_after(min_speed.within), bytes.len());
        }
    }
}

/// Decodes a header value as UTF-8, or else as ISO 8859-1.
fn header_text(value: &HeaderValue) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_string(),
        Err(_) => value.as_bytes().iter().copied().map(char::from).collect(),
    }
}

/// Returns the media type of a `Content-Type` value, at most 60 characters.
fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().chars().take(60).collect()
}

/// Returns header fields in the order received (fields of one name together).
fn header_fields(map: &HeaderMap) -> Vec<(String, String)> {
    map.iter().map(|(name, value)| (name.to_string(), header_text(value))).collect()
}

/// Returns the `User-Agent` header: name, version and contact address of the crawler.
pub fn user_agent(agent: &str, contact: &str) -> HeaderValue {
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
    fn the_user_agent_names_crawler_and_contact() {
        let named = user_agent("Pharos", "me@example.org");
        assert_eq!(named, format!("Mozilla/5.0 (compatible; Pharos/{VERSION}; +me@example.org)"));
        assert_eq!(user_agent("Pharos", ""), format!("Mozilla/5.0 (compatible; Pharos/{VERSION})"));
        assert!(!user_agent("Ph\r\naros", "灯塔\n").as_bytes().contains(&b'\n'));
    }

    #[test]
    fn headers_keep_their_order_and_any_bytes() {
        let mut map = HeaderMap::new();
        map.append("x-b", HeaderValue::from_static("1"));
        map.append("x-a", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        map.append("x-c", HeaderValue::from_bytes("灯".as_bytes()).unwrap());
        let list = header_fields(&map);
        assert_eq!(
            list.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>(),
            ["x-b=1", "x-a=café", "x-c=灯"]
        );
    }
}
