//! Certificates from files, read anew when they change, as tools that renew them expect.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use pharos_core::config::WebConfig;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The certificate in use, and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    chain: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    current: Arc<Current>,
}

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl Certificates {
    /// Those that the configuration names; nothing where it names none.
    pub(crate) fn of(web: &WebConfig) -> io::Result<Option<Self>> {
        let (chain, key) = (PathBuf::from(&web.certificate), PathBuf::from(&web.key));
        match (web.certificate.is_empty(), web.key.is_empty()) {
            (true, true) => return Ok(None),
            (false, true) => return Err(wrong("web.certificate is set and web.key is not: TLS needs both")),
            (true, false) => return Err(wrong("web.key is set and web.certificate is not: TLS needs both")),
            (false, false) => {}
        }
        let provider = Arc::new(ring::default_provider());
        let current = Arc::new(Current(RwLock::new(Arc::new(read(&chain, &key, &provider)?))));
        Ok(Some(Self { chain, key, provider, current }))
    }

    /// Shakes hands with whoever connects.
    pub(crate) fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Looks at the files, for ever. What cannot be read leaves the certificate as it is.
    pub(crate) async fn keep_up(self) {
        let mut seen = self.written();
        loop {
            tokio::time::sleep(LOOK).await;
            let written = self.written();
            if written == seen {
                continue;
            }
            match read(&self.chain, &self.key, &self.provider) {
                Ok(certified) => {
                    *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
                    seen = written;
                    tracing::info!("a new certificate is in use");
                }
                // Half of a renewal, perhaps: the other file is about to be written.
                Err(error) => tracing::warn!(%error, "the certificate stays as it was"),
            }
        }
    }

    /// When the files were written, and how long they are.
    fn written(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.chain, &self.key].map(|path| {
            let meta = std::fs::metadata(path).ok()?;
            Some((meta.modified().ok()?, meta.len()))
        })
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(chain: &Path, key: &Path, provider: &CryptoProvider) -> io::Result<CertifiedKey> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        wrong(&format!("cannot read {}: {error}", path.display()))
    };
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(chain, &error))?;
    if certificates.is_empty() {
        return Err(unreadable(chain, &"there is no certificate in it"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    // Also says whether key and certificate belong together.
    CertifiedKey::from_der(certificates, private, provider).map_err(|error| unreadable(key, &error))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
