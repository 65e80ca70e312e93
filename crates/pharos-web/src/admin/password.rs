//! Passwords: which are taken, and their hashes (Argon2id, RFC 9106, with the parameters that OWASP asks for).
//!
//! A hash takes 19 MB of memory and tens of milliseconds on purpose. So few are made at once, away from the threads that
//! serve, and who comes when many wait is told to come back.

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

/// Kilobytes, rounds and lanes.
const MEMORY: u32 = 19_456;
const ROUNDS: u32 = 2;
const LANES: u32 = 1;

/// Hashes that are made at once.
const AT_ONCE: usize = 2;

/// And as many may wait for their turn.
const WAITING: usize = 32;

/// Characters of a password.
pub(super) const SHORTEST: usize = 10;
pub(super) const LONGEST: usize = 200;

/// The hash that is checked where there is no operator of a name, so that it takes as long as where there is one. No
/// password is known that fits it, and none would be let in.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Is this a password for somebody of this name? Nothing is asked of it but that it is long, and not the name.
pub(super) fn is_good(password: &str, name: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&password.chars().count()) && folded(password) != folded(name)
}

/// Is this text a hash that we can check?
pub(super) fn is_hash(text: &str) -> bool {
    let hash = PasswordHash::new(text).ok().filter(|hash| hash.salt.is_some() && hash.hash.is_some());
    hash.is_some_and(|hash| hash.algorithm == Algorithm::Argon2id.ident() && Params::try_from(&hash).is_ok())
}

/// Where hashes are made.
pub(super) struct Hashing {
    places: Arc<Semaphore>,
    line: Semaphore,
    /// How many were made.
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

    /// The hash of a password, as it is kept.
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

    /// Does the password fit the hash? Without a hash it does not, and takes as long.
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
        // Who goes away leaves a hash that is being made, and its place is taken until it is.
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

/// The same password from every keyboard (RFC 8265).
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
            "typed on another machine"
        );
        assert!(!hashing.fits("a lighthouse e", Some(&hash)).await.unwrap());
        assert!(!hashing.fits("", Some(&hash)).await.unwrap());
        assert_eq!(hashing.made.load(Ordering::Relaxed), 6);
    }

    #[tokio::test]
    async fn nobody_takes_as_much_work_as_somebody() {
        let hashing = Hashing::new();
        assert!(is_hash(NOBODY), "else it would be no work");
        let hash = hashing.hash("0123456789").await.unwrap();
        let params = |hash: &str| Params::try_from(&PasswordHash::new(hash).unwrap()).unwrap();
        assert_eq!(params(NOBODY), params(&hash));
        assert!(!hashing.fits("0123456789", None).await.unwrap());
        assert_eq!(hashing.made.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn who_comes_when_many_wait_is_told_so() {
        let hashing = Hashing::new();
        let line = hashing.line.try_acquire_many(u32::try_from(AT_ONCE + WAITING).unwrap()).unwrap();
        assert!(matches!(hashing.fits("0123456789", None).await, Err(DeskError::Busy)));
        drop(line);
        assert!(hashing.fits("0123456789", None).await.is_ok());
    }

    #[test]
    fn long_passwords_are_good_and_names_are_not() {
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
