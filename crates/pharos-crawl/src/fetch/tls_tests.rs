//! TLS connections to a server with certificates generated for the test.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::fetch::Fetcher;
use crate::fetch::connector::Connector;

struct TlsServer {
    port: u16,
    /// Server names and HTTP versions of the requests.
    requests: Arc<Mutex<Vec<(String, Version)>>>,
    roots: RootCertStore,
    /// PEM certificate of the issuing authority.
    authority: String,
}

/// Serves one page under a certificate for `name`, valid between these years, over HTTP/1.1 and HTTP/2.
async fn serve(name: &str, years: (i32, i32)) -> TlsServer {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_string()]).unwrap();
    params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
    let certificate = params.signed_by(&key, &authority).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = requests.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let (log, name) = (log.clone(), stream.get_ref().1.server_name().unwrap_or_default().to_string());
            let answer = service_fn(move |request: Request<_>| {
                log.lock().unwrap().push((name.clone(), request.version()));
                async move { Ok::<_, hyper::Error>(page(request).await) }
            });
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), answer)
                    .await;
            });
        }
    });
    TlsServer { port, requests, roots, authority: authority.pem() }
}

async fn page(request: Request<hyper::body::Incoming>) -> Response<Full<Bytes>> {
    let body = match request.uri().path() {
        "/long" => "x".repeat(100_000),
        _ => "secret".into(),
    };
    // An unusual header must not disturb either protocol.
    let answer = Response::builder().header("X-Odd", "caf\u{e9}").header("Content-Type", "text/html");
    let _ = request.into_body().collect().await;
    answer.body(Full::from(body)).unwrap()
}

fn config(server: &TlsServer, host: &str) -> CrawlConfig {
    CrawlConfig {
        allow_private: true,
        connect_to: vec![format!("{host}:443:127.0.0.1:{}", server.port)],
        ..Default::default()
    }
}

async fn get(server: &TlsServer, host: &str, roots: RootCertStore) -> Result<String, String> {
    let config = config(server, host);
    let fetcher = Fetcher::with_connector(Connector::with_roots(roots, &config).unwrap(), &config);
    let url = PageUrl::parse(&format!("https://{host}/")).unwrap();
    let response = fetcher.get(&url).await.map_err(|e| e.to_string())?;
    assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
    Ok(String::from_utf8(response.body).unwrap())
}

#[tokio::test]
async fn the_certificate_must_be_the_urls_hosts() {
    let server = serve("secure.example", (2020, 2120)).await;
    assert_eq!(get(&server, "secure.example", server.roots.clone()).await, Ok("secret".into()));
    let requests = server.requests.lock().unwrap()[0].0.clone();
    assert_eq!(requests, "secure.example", "not the address an operator sent it to");
    let other = get(&server, "other.example", server.roots.clone()).await;
    assert_eq!(other, Err("tls: the certificate is for another name".into()));
}

#[tokio::test]
async fn the_issuer_must_be_known_and_the_time_right() {
    let server = serve("secure.example", (2020, 2120)).await;
    let public = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let unknown = get(&server, "secure.example", public).await;
    assert_eq!(unknown, Err("tls: the certificate is from an unknown issuer".into()));
    let old = serve("old.example", (2000, 2001)).await;
    assert_eq!(
        get(&old, "old.example", old.roots.clone()).await,
        Err("tls: the certificate has expired".into())
    );
}

#[tokio::test]
async fn an_address_may_have_a_certificate_too() {
    let server = serve("127.0.0.1", (2020, 2120)).await;
    assert_eq!(get(&server, "127.0.0.1", server.roots.clone()).await, Ok("secret".into()));
}

#[tokio::test]
async fn http2_is_used_if_both_sides_support_it() {
    for (http2, spoken) in [(true, Version::HTTP_2), (false, Version::HTTP_11)] {
        let server = serve("secure.example", (2020, 2120)).await;
        let config = CrawlConfig {
            http2,
            body_limit: pharos_core::config::ByteSize(1000),
            ..config(&server, "secure.example")
        };
        let fetcher =
            Fetcher::with_connector(Connector::with_roots(server.roots.clone(), &config).unwrap(), &config);
        for path in ["/", "/long", "/again"] {
            let url = PageUrl::parse(&format!("https://secure.example{path}")).unwrap();
            let response = fetcher.get(&url).await.unwrap();
            assert_eq!((response.status, response.header("x-odd")), (200, Some("café")));
            assert_eq!(response.truncated.is_some(), path == "/long", "{path}");
            assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
        }
        let requests = server.requests.lock().unwrap();
        assert!(
            requests.len() == 3 && requests.iter().all(|(_, version)| *version == spoken),
            "{requests:?}"
        );
    }
}

#[tokio::test]
async fn an_operators_own_authority_is_trusted() {
    let server = serve("secure.example", (2020, 2120)).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, format!("A private authority\n{}", server.authority)).unwrap();
    let config = CrawlConfig { extra_ca: file.display().to_string(), ..config(&server, "secure.example") };
    let url = PageUrl::parse("https://secure.example/").unwrap();
    assert_eq!(Fetcher::new(&config).unwrap().get(&url).await.unwrap().body, b"secret");
}
