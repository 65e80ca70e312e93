//! Secure connections, against a server with certificates made for the test.

use std::sync::{Arc, Mutex};

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::connector::Connector;
use crate::fetch::Fetcher;

struct TlsServer {
    port: u16,
    /// The names that clients asked for.
    asked: Arc<Mutex<Vec<String>>>,
    roots: RootCertStore,
}

/// Serves one page under a certificate for `name`, valid from and until these years.
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
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let names = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            names.lock().unwrap().push(stream.get_ref().1.server_name().unwrap_or_default().to_string());
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret").await;
        }
    });
    TlsServer { port, asked, roots }
}

async fn get(server: &TlsServer, host: &str, roots: RootCertStore) -> Result<String, String> {
    let config = CrawlConfig {
        allow_private: true,
        connect_to: vec![format!("{host}:443:127.0.0.1:{}", server.port)],
        ..Default::default()
    };
    let fetcher = Fetcher::over(Connector::trusting(roots, &config).unwrap(), &config);
    let url = PageUrl::parse(&format!("https://{host}/")).unwrap();
    let response = fetcher.get(&url).await.map_err(|e| e.to_string())?;
    assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
    Ok(String::from_utf8(response.body).unwrap())
}

#[tokio::test]
async fn the_certificate_must_be_the_urls_hosts() {
    let server = serve("secure.example", (2020, 2120)).await;
    assert_eq!(get(&server, "secure.example", server.roots.clone()).await, Ok("secret".into()));
    assert_eq!(*server.asked.lock().unwrap(), ["secure.example"], "not the address an operator sent it to");
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
