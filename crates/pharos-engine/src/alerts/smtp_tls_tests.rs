//! Mail over TLS to a server with a certificate generated for the test.

use std::sync::Arc;

use pharos_core::config::{CrawlConfig, SmtpSecurity};
use pharos_crawl::fetch::outgoing::Outgoing;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use super::smtp::{Envelope, SmtpServer, send_mail};

/// A mail server for one connection, which returns the lines it received.
struct TestServer {
    port: u16,
    authority: String,
    lines: JoinHandle<Vec<String>>,
}

/// Starts a server. With `injected`, it sends these bytes together with its reply to STARTTLS.
async fn start(security: SmtpSecurity, injected: &'static str) -> TestServer {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec!["mail.example".to_string()]).unwrap();
    let certificate = parameters.signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
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
    let lines = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut lines = Vec::new();
        if security == SmtpSecurity::StartTls {
            stream.write_all(b"220 test\r\n").await.unwrap();
            lines.extend(talk(&mut stream, &format!("220 go on\r\n{injected}")).await);
        }
        if let Ok(mut stream) = acceptor.accept(stream).await {
            if security == SmtpSecurity::Tls {
                stream.write_all(b"220 test\r\n").await.unwrap();
            }
            lines.extend(talk(&mut stream, "500 no\r\n").await);
        }
        lines
    });
    TestServer { port, authority: authority.pem(), lines }
}

/// Answers commands until the client starts TLS or ends. Returns the lines received.
async fn talk(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), starttls: &str) -> Vec<String> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    let mut is_content = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return lines;
        }
        let line = line.trim_end().to_string();
        let reply = match line.split(' ').next().unwrap_or_default() {
            "." => "250 accepted\r\n",
            _ if is_content => "",
            "EHLO" => "250-test\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n",
            "AUTH" => "235 welcome\r\n",
            "DATA" => "354 go on\r\n",
            "STARTTLS" => starttls,
            "QUIT" => "221 bye\r\n",
            _ => "250 ok\r\n",
        };
        is_content = (is_content || line == "DATA") && line != ".";
        let _ = stream.write_all(reply.as_bytes()).await;
        let _ = stream.flush().await;
        let is_end = line == "STARTTLS" || line == "QUIT";
        lines.push(line);
        if is_end {
            return lines;
        }
    }
}

async fn send(server: &TestServer, host: &str, security: SmtpSecurity, trusted: bool) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, &server.authority).unwrap();
    let crawl = CrawlConfig {
        resolve: vec![format!("{host}:{}:127.0.0.1", server.port)],
        extra_ca: if trusted { file.display().to_string() } else { String::new() },
        ..CrawlConfig::default()
    };
    let outgoing = Outgoing::new(&crawl, true).unwrap();
    let login = Some(("ada".to_string(), "lamp".to_string()));
    let server = SmtpServer { host: host.into(), port: server.port, security, login };
    let to = ["b@example.org".to_string()];
    let envelope = Envelope { from: "a@example.org", to: &to, message: "Subject: x\r\n\r\nbody\r\n" };
    send_mail(&outgoing, &server, &envelope).await
}

#[tokio::test]
async fn passwords_and_mails_are_sent_after_tls_only() {
    for security in [SmtpSecurity::StartTls, SmtpSecurity::Tls] {
        let server = start(security, "").await;
        send(&server, "mail.example", security, true).await.unwrap();
        let lines = server.lines.await.unwrap();
        let password = lines.iter().position(|line| line.starts_with("AUTH PLAIN ")).unwrap();
        let start = lines.iter().position(|line| line == "STARTTLS");
        assert!(start.is_none_or(|start| start < password), "{lines:?}");
        assert_eq!(start.is_some(), security == SmtpSecurity::StartTls);
        assert!(lines.contains(&"MAIL FROM:<a@example.org>".to_string()), "{lines:?}");
        assert!(lines.contains(&"body".to_string()), "{lines:?}");
    }
}

#[tokio::test]
async fn servers_that_cannot_be_trusted_get_nothing() {
    for (host, trusted, injected) in [
        ("mail.example", false, ""),
        ("other.example", true, ""),
        ("mail.example", true, "250 injected before TLS\r\n"),
    ] {
        let server = start(SmtpSecurity::StartTls, injected).await;
        let error = send(&server, host, SmtpSecurity::StartTls, trusted).await.unwrap_err();
        assert!(error.contains("tls") || error.contains("before TLS"), "{error}");
        let lines = server.lines.await.unwrap();
        assert_eq!(lines, ["EHLO pharos", "STARTTLS"], "{host} {trusted} {injected}");
    }
}
