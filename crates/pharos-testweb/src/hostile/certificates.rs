//! A test certificate authority, and certificates with one fault each.

use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::TlsAcceptor;

use super::host::CertificateFault;

/// The authority of all valid certificates of one hostile web.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn new() -> io::Result<Authority> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Pharos test web");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)?;
        Ok(Authority { issuer })
    }

    pub(super) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Returns the TLS acceptor of a host with these names and this certificate.
    pub(super) fn acceptor(
        &self,
        names: &[String],
        certificate: CertificateFault,
        http2: bool,
    ) -> io::Result<TlsAcceptor> {
        let names = match certificate {
            CertificateFault::WrongName => vec!["somebody-else.test".to_string()],
            _ => names.to_vec(),
        };
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        let last_year = if certificate == CertificateFault::Expired { 2001 } else { 2120 };
        params.not_after = rcgen::date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let signed = match certificate {
            CertificateFault::SelfSigned => params.self_signed(&key),
            _ => params.signed_by(&key, &self.issuer),
        };
        let chain = vec![signed.map_err(io::Error::other)?.der().clone()];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key.into()))
                .map_err(io::Error::other)?;
        let newest: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        config.alpn_protocols = newest.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
