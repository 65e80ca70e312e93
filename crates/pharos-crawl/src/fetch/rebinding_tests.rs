//! DNS rebinding: a name server whose responses change from a permitted address to a forbidden one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;
use rustls::RootCertStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use crate::fetch::connector::Connector;
use crate::fetch::dns::HostResolver;
use crate::fetch::{FetchError, Fetcher};

/// A name server on loopback.
struct NameServer {
    address: SocketAddr,
    /// Number of queries for an IPv4 address.
    queries: Arc<AtomicUsize>,
}

/// Starts a name server that responds to the first query with the first address, and so on. The time to live is 0.
async fn name_server(addresses: Vec<Ipv4Addr>) -> NameServer {
    const HEADER: usize = 12;
    const TYPE_A: [u8; 2] = [0, 1];
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let (address, queries) = (socket.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counter = queries.clone();
    tokio::spawn(async move {
        let mut query = [0; 512];
        while let Ok((_, client)) = socket.recv_from(&mut query).await {
            let name_end = HEADER + query[HEADER..].iter().position(|byte| *byte == 0).unwrap() + 1;
            let question = &query[HEADER..name_end + 4];
            let is_v4 = query[name_end..name_end + 2] == TYPE_A;
            // Same id; a recursive response without error; one question; one response for IPv4.
            let mut response = query[..2].to_vec();
            response.extend([0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0]);
            response.extend(question);
            if is_v4 {
                let number = counter.fetch_add(1, Ordering::SeqCst).min(addresses.len() - 1);
                // A pointer to the name in the question, type A, class IN, TTL 0, four bytes.
                response.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                response.extend(addresses[number].octets());
            }
            let _ = socket.send_to(&response, client).await;
        }
    });
    NameServer { address, queries }
}

/// Serves a page at 127.0.0.5 and closes each connection, so that the next request needs a new one.
async fn web_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.5:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 1024]).await;
            let page = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage";
            let _ = stream.write_all(page).await;
        }
    });
    port
}

fn fetcher(server: &NameServer, config: &CrawlConfig) -> Fetcher {
    let resolver = HostResolver::with_name_server(server.address);
    let connector = Connector::with_resolver(resolver, RootCertStore::empty(), config).unwrap();
    Fetcher::with_connector(connector, config)
}

#[tokio::test]
async fn a_name_that_changes_its_address_gains_nothing() {
    let (permitted, forbidden) = (Ipv4Addr::new(127, 0, 0, 5), Ipv4Addr::new(127, 0, 0, 6));
    let server = name_server(vec![permitted, forbidden]).await;
    let port = web_server().await;
    let url = PageUrl::parse(&format!("http://rebind.example:{port}/")).unwrap();
    let forbid_addresses = vec![forbidden.to_string()];
    let config = CrawlConfig { allow_private: true, forbid_addresses, ..CrawlConfig::default() };
    let first = fetcher(&server, &config);
    for _ in 0..3 {
        let response = first.get(&url).await.unwrap();
        assert_eq!(response.address, Some(IpAddr::V4(permitted)), "the checked address is requested");
    }
    assert_eq!(server.queries.load(Ordering::SeqCst), 1, "a time to live of 0 is raised");
    // The next crawl gets the second address, and checks it.
    let error = fetcher(&server, &config).get(&url).await.unwrap_err().to_string();
    assert_eq!(error, "address 127.0.0.6 is in a range of crawl.forbid_addresses");
    assert_eq!(server.queries.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused() {
    let port = web_server().await;
    let url = PageUrl::parse(&format!("http://rebind.example:{port}/")).unwrap();
    for private in [[127, 0, 0, 5], [10, 0, 0, 1], [169, 254, 169, 254], [0, 0, 0, 0]] {
        let server = name_server(vec![private.into()]).await;
        let config = CrawlConfig { contact: "me@example.org".into(), ..CrawlConfig::default() };
        let error = fetcher(&server, &config).get(&url).await.unwrap_err();
        assert!(matches!(error, FetchError::PrivateAddress(_)), "{error}");
    }
}
