//! TLS certificates from files, reloaded when they change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use pharos_core::config::WebConfig;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error, ServerConfig};

/// Interval between checks of the files.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The current certificate and its files.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    chain: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    current: Arc<CurrentCertificate>,
}

#[derive(Debug)]
struct CurrentCertificate(ArcSwap<CertifiedKey>);

impl Certificates {
    /// Loads the configured certificate; `None` if there is none.
    pub(crate) fn from_config(web: &WebConfig) -> io::Result<Option<Self>> {
        let (chain, key) = (PathBuf::from(&web.certificate), PathBuf::from(&web.key));
        match (web.certificate.is_empty(), web.key.is_empty()) {
            (true, true) => return Ok(None),
            (false, true) => {
                return Err(invalid_input("web.certificate is set and web.key is not: TLS needs both"));
            }
            (true, false) => {
                return Err(invalid_input("web.key is set and web.certificate is not: TLS needs both"));
            }
            (false, false) => {}
        }
        let provider = Arc::new(ring::default_provider());
        let current = Arc::new(CurrentCertificate(ArcSwap::from_pointee(load(&chain, &key, &provider)?)));
        Ok(Some(Self { chain, key, provider, current }))
    }

    /// Returns the TLS acceptor.
    pub(crate) fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Watches the files in an endless loop. If they cannot be read, the current certificate is kept.
    pub(crate) async fn watch_files(self) {
        let mut seen = self.stamps();
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let stamps = self.stamps();
            if stamps == seen {
                continue;
            }
            match load(&self.chain, &self.key, &self.provider) {
                Ok(certified) => {
                    self.current.0.store(Arc::new(certified));
                    seen = stamps;
                    tracing::info!("loaded a new certificate");
                }
                // Possibly half of a renewal: the other file follows.
                Err(error) => {
                    tracing::warn!(%error, "cannot load the new certificate; the current one is kept")
                }
            }
        }
    }

    /// Returns modification time and length of the files.
    fn stamps(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.chain, &self.key].map(|path| {
            let meta = std::fs::metadata(path).ok()?;
            Some((meta.modified().ok()?, meta.len()))
        })
    }
}

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

fn load(chain: &Path, key: &Path, provider: &CryptoProvider) -> io::Result<CertifiedKey> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        invalid_input(&format!("cannot read {}: {error}", path.display()))
    };
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(chain, &error))?;
    if certificates.is_empty() {
        return Err(unreadable(chain, &"it contains no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    CertifiedKey::from_der(certificates, private, provider).map_err(|error| match error {
        Error::InconsistentKeys(_) => invalid_input(&format!(
            "the key {} does not belong to the certificate {}",
            key.display(),
            chain.display()
        )),
        error => unreadable(key, &error),
    })
}

fn invalid_input(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
