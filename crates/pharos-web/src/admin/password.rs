//! Password policy and hashing with Argon2id (RFC 9106), with the parameters that OWASP recommends.
//!
//! A hash takes 19 MB of memory and tens of milliseconds on purpose. Only a few are computed at once, on blocking threads,
//! and requests beyond a short queue are rejected.

use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization as _;

use super::DeskError;
use super::operators::folded;
use super::secret::random;

/// Memory in KiB, number of passes and parallelism.
const MEMORY: u32 = 19_456;
const ROUNDS: u32 = 2;
const LANES: u32 = 1;

/// Number of hashes computed at once.
const AT_ONCE: usize = 2;

/// Number of requests that may wait for a hash.
const WAITING: usize = 32;

/// Minimum and maximum length of a password in characters.
pub(super) const SHORTEST: usize = 10;
pub(super) const LONGEST: usize = 200;

/// Hash that is verified for unknown names, so that the response takes as long as for known ones. No password is known
/// that matches it, and none would be accepted.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Returns `true` if the password is acceptable: long enough, and not the name of the operator.
pub(super) fn is_good(password: &str, name: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&password.chars().count()) && folded(password) != folded(name)
}

/// Returns `true` if the text is an Argon2id hash that can be verified.
pub(super) fn is_hash(text: &str) -> bool {
    let hash = PasswordHash::new(text).ok().filter(|hash| hash.salt.is_some() && hash.hash.is_some());
    hash.is_some_and(|hash| hash.algorithm == Algorithm::Argon2id.ident() && Params::try_from(&hash).is_ok())
}

/// Computes hashes with bounded concurrency.
pub(super) struct Hashing {
    places: Arc<Semaphore>,
    line: Semaphore,
    /// Number of hashes computed.
    #[cfg(test)]
    pub(super) made: Arc<AtomicUsize>,
}

impl Hashing {
    pub(super) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(AT_ONCE)),
            line: Semaphore::new(AT_ONCE + WAITING),
            #[cfg(test)]
            made: Arc::default(),
        }
    }

    /// Returns the hash of a password as a PHC string.
    pub(super) async fn hash(&self, password: &str) -> Result<String, DeskError> {
        let password = normal(password);
        let hashed = self.run(move || {
            let salt = random::<16>()?;
            let made = argon2().and_then(|argon2| {
                argon2.hash_password_with_salt(password.as_bytes(), &salt).map(|hash| hash.to_string())
            });
            made.map_err(DeskError::from)
        });
        hashed.await?
    }

    /// Returns `true` if the password matches the hash. Without a hash it takes as long and returns `false`.
    pub(super) async fn fits(&self, password: &str, hash: Option<&str>) -> Result<bool, DeskError> {
        let (password, is_somebody) = (normal(password), hash.is_some());
        let hash = hash.unwrap_or(NOBODY).to_string();
        let fits = self.run(move || {
            argon2().is_ok_and(|argon2| argon2.verify_password(password.as_bytes(), hash.as_str()).is_ok())
        });
        Ok(fits.await? && is_somebody)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, DeskError> {
        let _in_line = self.line.try_acquire().map_err(|_| DeskError::Busy)?;
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| DeskError::Busy)?;
        #[cfg(test)]
        self.made.fetch_add(1, Ordering::Relaxed);
        // A hash in progress completes and keeps its slot even if the client disconnects.
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        Ok(done.await?)
    }
}

fn argon2() -> Result<Argon2<'static>, argon2::password_hash::Error> {
    let params = Params::new(MEMORY, ROUNDS, LANES, None)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Normalises the password, so that it is the same from every keyboard (RFC 8265).
fn normal(password: &str) -> String {
    password.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_fits_its_hash_and_no_other() {
        let hashing = Hashing::new();
        let hash = hashing.hash("a lighthouse é").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && is_hash(&hash), "{hash}");
        assert_ne!(hash, hashing.hash("a lighthouse é").await.unwrap(), "salted");
        assert!(hashing.fits("a lighthouse é", Some(&hash)).await.unwrap());
        assert!(
            hashing.fits("a lighthouse e\u{301}", Some(&hash)).await.unwrap(),
            "decomposed input of another platform"
        );
        assert!(!hashing.fits("a lighthouse e", Some(&hash)).await.unwrap());
        assert!(!hashing.fits("", Some(&hash)).await.unwrap());
        assert_eq!(hashing.made.load(Ordering::Relaxed), 6);
    }

    #[tokio::test]
    async fn unknown_names_cost_a_hash_too() {
        let hashing = Hashing::new();
        assert!(is_hash(NOBODY), "otherwise it would cost nothing");
        let hash = hashing.hash("0123456789").await.unwrap();
        let params = |hash: &str| Params::try_from(&PasswordHash::new(hash).unwrap()).unwrap();
        assert_eq!(params(NOBODY), params(&hash));
        assert!(!hashing.fits("0123456789", None).await.unwrap());
        assert_eq!(hashing.made.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_are_rejected() {
        let hashing = Hashing::new();
        let line = hashing.line.try_acquire_many(u32::try_from(AT_ONCE + WAITING).unwrap()).unwrap();
        assert!(matches!(hashing.fits("0123456789", None).await, Err(DeskError::Busy)));
        drop(line);
        assert!(hashing.fits("0123456789", None).await.is_ok());
    }

    #[test]
    fn long_passwords_are_accepted_and_names_are_not() {
        assert!(is_good("0123456789", "keeper") && is_good("灯塔灯塔灯塔灯塔灯塔", "keeper"));
        assert!(is_good(&"x".repeat(LONGEST), "keeper") && !is_good(&"x".repeat(LONGEST + 1), "keeper"));
        assert!(!is_good("012345678", "keeper") && !is_good("", "keeper"));
        assert!(!is_good("The Lighthouse Keeper", "the lighthouse keeper"));
        for wrong in ["", "secret", "$argon2id$", "$argon2i$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$AAAA"]
        {
            assert!(!is_hash(wrong), "{wrong}");
        }
    }
}
