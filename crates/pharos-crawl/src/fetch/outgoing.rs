//! Connections that the engine opens on its own behalf: webhooks and mail. They use the connector of the crawler, with
//! its name resolution, address checks and limits.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use pharos_core::VERSION;
use pharos_core::config::CrawlConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::fetch::FetchError;
use crate::fetch::connector::Connector;
use crate::setting_error::SettingError;

/// Time allowed for a webhook to respond.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Opens connections to endpoints that the operator configured.
#[derive(Clone)]
pub struct Outgoing {
    connector: Connector,
}

/// A connection of any protocol, with or without TLS.
pub trait OutgoingStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> OutgoingStream for S {}

impl Outgoing {
    /// Creates a client with the resolver, the forbidden addresses and the authorities of the crawler. Private
    /// addresses need a permission of their own.
    pub fn new(crawl: &CrawlConfig, allow_private: bool) -> Result<Self, SettingError> {
        let config = CrawlConfig {
            allow_private,
            // The endpoint belongs to the operator: its owner needs no other contact.
            contact: "operator".into(),
            allow_addresses: Vec::new(),
            http2: false,
            ..crawl.clone()
        };
        Ok(Self { connector: Connector::new(&config)? })
    }

    /// Sends a JSON document and returns the status of the response. Redirects are not followed.
    pub async fn post_json(&self, url: &str, body: Vec<u8>) -> Result<u16, FetchError> {
        let uri: Uri = url.parse().map_err(|_| FetchError::Connection("the URL is invalid".into()))?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(uri)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, format!("Pharos/{VERSION}"))
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| FetchError::Connection(error.to_string()))?;
        let client: Client<Connector, Full<Bytes>> =
            Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(self.connector.clone());
        let late = FetchError::TimedOut { after: TIMEOUT, doing: "in total" };
        let response = timeout(TIMEOUT, client.request(request)).await.map_err(|_| late)?;
        Ok(response.map_err(|error| FetchError::from_client(&error))?.status().as_u16())
    }

    /// Opens a connection without TLS.
    pub async fn open(&self, host: &str, port: u16) -> Result<TcpStream, FetchError> {
        self.connector.open_plain(host, port).await
    }

    /// Starts TLS on a connection. The certificate must be valid for `host`.
    pub async fn start_tls(
        &self,
        stream: TcpStream,
        host: &str,
    ) -> Result<Box<dyn OutgoingStream>, FetchError> {
        Ok(Box::new(self.connector.start_tls(stream, host).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn private_endpoints_need_a_permission_of_their_own() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // The permission of the crawler does not extend to webhooks.
        let crawl = CrawlConfig { allow_private: true, ..CrawlConfig::default() };
        let refusing = Outgoing::new(&crawl, false).unwrap();
        let refused = refusing.post_json(&format!("http://127.0.0.1:{port}/"), Vec::new()).await;
        assert!(matches!(refused, Err(FetchError::PrivateAddress(_))), "{refused:?}");
        assert!(refusing.open("127.0.0.1", port).await.is_err());
        let allowing = Outgoing::new(&CrawlConfig::default(), true).unwrap();
        assert!(allowing.open("127.0.0.1", port).await.is_ok());
        assert!(allowing.post_json("not a url", Vec::new()).await.is_err());
    }
}
