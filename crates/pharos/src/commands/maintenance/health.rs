//! `pharos health`: one request to the local engine, for images and services without curl.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use pharos_core::config::WebConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use crate::cli::{Global, HealthArgs};
use crate::{CommandOutcome, commands, console, settings};

/// Time allowed for the response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn run(global: &Global, args: &HealthArgs) -> anyhow::Result<CommandOutcome> {
    let address = match &args.url {
        Some(url) => url.clone(),
        None => local_url(&settings::load(global)?.web)?,
    };
    let url: Uri = address.parse().with_context(|| format!("invalid URL `{address}`"))?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        bail!("invalid URL `{address}`: expected http:// or https://");
    }
    let answer = commands::runtime()?.block_on(with_timeout(request_status(&url)));
    let (is_good, message) = match answer {
        Ok(status) => (status.is_success(), status.to_string()),
        Err(error) => (false, format!("{error:#}")),
    };
    if global.json {
        console::print_json(&serde_json::json!({ "url": address, "healthy": is_good, "answer": message }))?;
    } else if !is_good {
        console::print_message(global.quiet, &format!("{address}: {message}"));
    }
    Ok(if is_good { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

/// Returns the URL of the engine with these settings on this machine.
fn local_url(web: &WebConfig) -> anyhow::Result<String> {
    let (host, port) = web.listen.rsplit_once(':').filter(|(_, port)| *port != "0").with_context(|| {
        format!("web.listen is {}, which has no fixed port: specify the URL to request", web.listen)
    })?;
    let host = match host {
        "0.0.0.0" => Ipv4Addr::LOCALHOST.to_string(),
        "[::]" => format!("[{}]", Ipv6Addr::LOCALHOST),
        named => named.to_string(),
    };
    let scheme = if web.certificate.is_empty() { "http" } else { "https" };
    Ok(format!("{scheme}://{host}:{port}/healthz"))
}

async fn with_timeout<T>(answer: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match tokio::time::timeout(RESPONSE_TIMEOUT, answer).await {
        Ok(answered) => answered,
        Err(_) => bail!("no response within {} seconds", RESPONSE_TIMEOUT.as_secs()),
    }
}

async fn request_status(url: &Uri) -> anyhow::Result<StatusCode> {
    let is_https = url.scheme_str() == Some("https");
    let host = url.host().context("the URL has no host")?;
    let port = url.port_u16().unwrap_or(if is_https { 443 } else { 80 });
    let name = host.trim_start_matches('[').trim_end_matches(']').to_string();
    let stream = TcpStream::connect((name.as_str(), port)).await.context("cannot connect")?;
    if is_https {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(ring::default_provider())))
            .with_no_client_auth();
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
            .context("TLS handshake failed")?;
        status(stream, url).await
    } else {
        status(stream, url).await
    }
}

async fn status<S>(stream: S, url: &Uri) -> anyhow::Result<StatusCode>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let request = Request::get(path).header(HOST, authority).body(Empty::<Bytes>::new())?;
    Ok(sender.send_request(request).await?.status())
}

/// Accepts any certificate: the certificate names the public host, not this machine, and no confidential data is sent.
#[derive(Debug)]
struct AcceptAnyCertificate(CryptoProvider);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;

    #[test]
    fn the_local_url_follows_the_listen_address() {
        let mut web = Config::default().web;
        assert_eq!(local_url(&web).unwrap(), "http://127.0.0.1:8080/healthz");
        web.listen = "0.0.0.0:80".into();
        web.certificate = "chain.pem".into();
        assert_eq!(local_url(&web).unwrap(), "https://127.0.0.1:80/healthz");
        web.listen = "[::]:8443".into();
        assert_eq!(local_url(&web).unwrap(), "https://[::1]:8443/healthz");
        web.listen = "192.0.2.7:8080".into();
        assert_eq!(local_url(&web).unwrap(), "https://192.0.2.7:8080/healthz");
        web.listen = "127.0.0.1:0".into();
        assert!(local_url(&web).is_err());
    }
}
