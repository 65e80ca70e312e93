//! `pharos health`: one question to the engine of this machine, for images and services that have no curl.

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
use crate::{Outcome, console, settings};

/// Who is alive answers sooner, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(global: &Global, args: &HealthArgs) -> anyhow::Result<Outcome> {
    let address = match &args.url {
        Some(url) => url.clone(),
        None => of_this_machine(&settings::load(global)?.web)?,
    };
    let url: Uri = address.parse().with_context(|| format!("`{address}` is no address"))?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        bail!("`{address}` does not begin with http:// or https://");
    }
    let answer = super::runtime()?.block_on(in_time(ask(&url)));
    let (is_good, told) = match answer {
        Ok(status) => (status.is_success(), status.to_string()),
        Err(error) => (false, format!("{error:#}")),
    };
    if global.json {
        console::print_json(&serde_json::json!({ "url": address, "healthy": is_good, "answer": told }))?;
    } else if !is_good {
        console::say(global.quiet, &format!("{address}: {told}"));
    }
    Ok(if is_good { Outcome::Good } else { Outcome::NothingFound })
}

/// Where the engine of these settings is reached from its own machine.
fn of_this_machine(web: &WebConfig) -> anyhow::Result<String> {
    let (host, port) = web.listen.rsplit_once(':').filter(|(_, port)| *port != "0").with_context(|| {
        format!("web.listen is {}, which names no port: give the address to ask", web.listen)
    })?;
    let host = match host {
        "0.0.0.0" => Ipv4Addr::LOCALHOST.to_string(),
        "[::]" => format!("[{}]", Ipv6Addr::LOCALHOST),
        named => named.to_string(),
    };
    let scheme = if web.certificate.is_empty() { "http" } else { "https" };
    Ok(format!("{scheme}://{host}:{port}/healthz"))
}

async fn in_time<T>(answer: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(answered) => answered,
        Err(_) => bail!("no answer within {} seconds", PATIENCE.as_secs()),
    }
}

async fn ask(url: &Uri) -> anyhow::Result<StatusCode> {
    let is_secret = url.scheme_str() == Some("https");
    let host = url.host().context("the address names no host")?;
    let port = url.port_u16().unwrap_or(if is_secret { 443 } else { 80 });
    let name = host.trim_start_matches('[').trim_end_matches(']').to_string();
    let stream = TcpStream::connect((name.as_str(), port)).await.context("cannot connect")?;
    if is_secret {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody(ring::default_provider())))
            .with_no_client_auth();
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        let stream =
            TlsConnector::from(Arc::new(config)).connect(name, stream).await.context("cannot speak TLS")?;
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

/// Takes any certificate: ours names the public host, not this machine, and nothing is told that is worth hearing.
#[derive(Debug)]
struct Anybody(CryptoProvider);

impl ServerCertVerifier for Anybody {
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
    fn the_engine_is_asked_where_it_listens() {
        let mut web = Config::default().web;
        assert_eq!(of_this_machine(&web).unwrap(), "http://127.0.0.1:8080/healthz");
        web.listen = "0.0.0.0:80".into();
        web.certificate = "chain.pem".into();
        assert_eq!(of_this_machine(&web).unwrap(), "https://127.0.0.1:80/healthz");
        web.listen = "[::]:8443".into();
        assert_eq!(of_this_machine(&web).unwrap(), "https://[::1]:8443/healthz");
        web.listen = "192.0.2.7:8080".into();
        assert_eq!(of_this_machine(&web).unwrap(), "https://192.0.2.7:8080/healthz");
        web.listen = "127.0.0.1:0".into();
        assert!(of_this_machine(&web).is_err());
    }
}
