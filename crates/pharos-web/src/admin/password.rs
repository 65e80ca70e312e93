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
use super::operators::fold_name;
use super::secret::random_bytes;

/// Memory in KiB, number of passes and parallelism.
const MEMORY: u32 = 19_456;
const ROUNDS: u32 = 2;
const LANES: u32 = 1;

/// Number of hashes computed at once.
const CONCURRENT: usize = 2;

/// Number of requests that may wait for a hash.
const QUEUED: usize = 32;

/// Minimum and maximum length of a password in characters.
pub(super) const MIN_LENGTH: usize = 10;
pub(super) const MAX_LENGTH: usize = 200;

/// Hash that is verified for unknown names, so that the response takes as long as for known ones. No password is known
/// that matches it, and none would be accepted.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Returns `true` if the password is acceptable: long enough, and not the name of the operator.
pub(super) fn is_acceptable(password: &str, name: &str) -> bool {
    (MIN_LENGTH..=MAX_LENGTH).contains(&password.chars().count()) && fold_name(password) != fold_name(name)
}

/// Returns `true` if the text is an Argon2id hash that can be verified.
pub(super) fn is_supported_hash(text: &str) -> bool {
    let hash = PasswordHash::new(text).ok().filter(|hash| hash.salt.is_some() && hash.hash.is_some());
    hash.is_some_and(|hash| hash.algorithm == Algorithm::Argon2id.ident() && Params::try_from(&hash).is_ok())
}

/// Computes hashes with bounded concurrency.
pub(super) struct PasswordHasher {
    slots: Arc<Semaphore>,
    queue: Semaphore,
    /// Number of hashes computed.
    #[cfg(test)]
    pub(super) computed: Arc<AtomicUsize>,
}

impl PasswordHasher {
    pub(super) fn new() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(CONCURRENT)),
            queue: Semaphore::new(CONCURRENT + QUEUED),
            #[cfg(test)]
            computed: Arc::default(),
        }
    }

    /// Returns the hash of a password as a PHC string.
    pub(super) async fn hash(&self, password: &str) -> Result<String, DeskError> {
        let password = normalize(password);
        let hashed = self.run(move || {
            let salt = random_bytes::<16>()?;
            let computed = argon2().and_then(|argon2| {
                argon2.hash_password_with_salt(password.as_bytes(), &salt).map(|hash| hash.to_string())
            });
            computed.map_err(DeskError::from)
        });
        hashed.await?
    }

    /// Returns `true` if the password matches the hash. Without a hash it takes as long and returns `false`.
    pub(super) async fn verify(&self, password: &str, hash: Option<&str>) -> Result<bool, DeskError> {
        let (password, is_known) = (normalize(password), hash.is_some());
        let hash = hash.unwrap_or(DUMMY_HASH).to_string();
        let matches = self.run(move || {
            argon2().is_ok_and(|argon2| argon2.verify_password(password.as_bytes(), hash.as_str()).is_ok())
        });
        Ok(matches.await? && is_known)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, DeskError> {
        let _queued = self.queue.try_acquire().map_err(|_| DeskError::Busy)?;
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| DeskError::Busy)?;
        #[cfg(test)]
        self.computed.fetch_add(1, Ordering::Relaxed);
        // A hash in progress completes and keeps its slot even if the client disconnects.
        let done = tokio::task::spawn_blocking(move || {
            let _slot = slot;
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
fn normalize(password: &str) -> String {
    password.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_fits_its_hash_and_no_other() {
        let hashing = PasswordHasher::new();
        let hash = hashing.hash("a lighthouse é").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && is_supported_hash(&hash), "{hash}");
        assert_ne!(hash, hashing.hash("a lighthouse é").await.unwrap(), "salted");
        assert!(hashing.verify("a lighthouse é", Some(&hash)).await.unwrap());
        assert!(
            hashing.verify("a lighthouse e\u{301}", Some(&hash)).await.unwrap(),
            "decomposed input of another platform"
        );
        assert!(!hashing.verify("a lighthouse e", Some(&hash)).await.unwrap());
        assert!(!hashing.verify("", Some(&hash)).await.unwrap());
        assert_eq!(hashing.computed.load(Ordering::Relaxed), 6);
    }

    #[tokio::test]
    async fn unknown_names_cost_a_hash_too() {
        let hashing = PasswordHasher::new();
        assert!(is_supported_hash(DUMMY_HASH), "otherwise it would cost nothing");
        let hash = hashing.hash("0123456789").await.unwrap();
        let params = |hash: &str| Params::try_from(&PasswordHash::new(hash).unwrap()).unwrap();
        assert_eq!(params(DUMMY_HASH), params(&hash));
        assert!(!hashing.verify("0123456789", None).await.unwrap());
        assert_eq!(hashing.computed.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_are_rejected() {
        let hashing = PasswordHasher::new();
        let queue = hashing.queue.try_acquire_many(u32::try_from(CONCURRENT + QUEUED).unwrap()).unwrap();
        assert!(matches!(hashing.verify("0123456789", None).await, Err(DeskError::Busy)));
        drop(queue);
        assert!(hashing.verify("0123456789", None).await.is_ok());
    }

    #[test]
    fn long_passwords_are_accepted_and_names_are_not() {
        assert!(is_acceptable("0123456789", "keeper") && is_acceptable("灯塔灯塔灯塔灯塔灯塔", "keeper"));
        assert!(
            is_acceptable(&"x".repeat(MAX_LENGTH), "keeper")
                && !is_acceptable(&"x".repeat(MAX_LENGTH + 1), "keeper")
        );
        assert!(!is_acceptable("012345678", "keeper") && !is_acceptable("", "keeper"));
        assert!(!is_acceptable("The Lighthouse Keeper", "the lighthouse keeper"));
        for wrong in ["", "secret", "$argon2id$", "$argon2i$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$AAAA"]
        {
            assert!(!is_supported_hash(wrong), "{wrong}");
        }
    }
}
