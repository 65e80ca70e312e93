//! Anonymous visit identifiers: a keyed hash whose key is deleted.
//!
//! A plain hash of an IP address can be reversed by hashing all addresses, and a fixed key links all queries
//! of a user. A visit identifier is therefore the HMAC-SHA256 of IP address and user agent under a random key. The
//! key lives for `log.key_lifetime` and is then replaced, in memory and on disk. After that even the operator
//! cannot determine the address of an identifier, or which identifier of the next day belongs to the same
//! user. All processes on a data directory share the key, so that a visit has one identifier. No address is
//! ever written.

mod device;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use parking_lot::RwLock;
use pharos_core::config::LogConfig;
use pharos_core::{Clock, Timestamp};
use pharos_store::DataDir;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::fs::FlockOperation;
use tracing::warn;

pub use self::device::classify_device;

const KEY_BYTES: usize = 32;
/// Length of an identifier in bytes: enough to distinguish the visits of a day.
const NAME_BYTES: usize = 8;
/// Tolerated clock difference. A key from further in the future would live too long.
const CLOCKS_DIFFER: Duration = Duration::from_secs(300);

/// Creates visit identifiers.
pub struct VisitHasher {
    path: PathBuf,
    lifetime: Duration,
    clock: Arc<dyn Clock>,
    key: RwLock<Option<VisitKey>>,
}

/// A visit key. It stays usable for its holder after it has been replaced.
#[derive(Clone)]
pub struct VisitKey {
    made: Timestamp,
    key: hmac::Key,
}

impl VisitKey {
    pub(crate) fn new(made: Timestamp, secret: &[u8]) -> Self {
        Self { made, key: hmac::Key::new(hmac::HMAC_SHA256, secret) }
    }

    /// Returns the identifier for an IP address, or account, and a user agent.
    pub fn name(&self, address: &str, user_agent: &str) -> String {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(address.as_bytes());
        context.update(&[0]);
        context.update(user_agent.as_bytes());
        HEXLOWER.encode(&context.sign().as_ref()[..NAME_BYTES])
    }

    fn is_good(&self, now: Timestamp, lifetime: Duration) -> bool {
        now.since(self.made) < lifetime && self.made <= now.plus(CLOCKS_DIFFER)
    }
}

impl VisitHasher {
    /// Creates the hasher for a data directory, which need not exist yet.
    pub fn open(data: &DataDir, config: &LogConfig, clock: Arc<dyn Clock>) -> Self {
        Self {
            path: data.logs().join("visit-key"),
            lifetime: config.key_lifetime.max(Duration::from_secs(1)),
            clock,
            key: RwLock::new(None),
        }
    }

    /// Returns the identifier of a visit. Empty if the system provides no randomness: a guessable identifier
    /// would be worse.
    pub fn name(&self, address: &str, user_agent: &str) -> String {
        self.key().map(|key| key.name(address, user_agent)).unwrap_or_default()
    }

    /// Returns the current key.
    pub fn key(&self) -> Option<VisitKey> {
        let now = self.clock.now();
        let good = |key: &&VisitKey| key.is_good(now, self.lifetime);
        if let Some(key) = self.key.read().as_ref().filter(good) {
            return Some(key.clone());
        }
        let mut current = self.key.write();
        if !current.as_ref().is_some_and(|key| good(&key)) {
            *current = self.shared_key(now).unwrap_or_else(|error| {
                warn!(%error, path = %self.path.display(), "cannot share the visit key; using a key of this process");
                random_key().map(|secret| VisitKey::new(now, &secret))
            });
        }
        current.clone()
    }

    /// Returns the key shared by all processes; creates or replaces it if it is missing or expired.
    fn shared_key(&self, now: Timestamp) -> io::Result<Option<VisitKey>> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        pharos_files::create_dir_all(dir)?;
        // One process at a time checks and replaces the key. The directory is locked because the file is
        // replaced.
        let folder = File::open(dir)?;
        rustix::fs::flock(&folder, FlockOperation::LockExclusive)?;
        if let Some(key) = read_key(&self.path)?.filter(|key| key.is_good(now, self.lifetime)) {
            return Ok(Some(key));
        }
        let Some(secret) = random_key() else { return Ok(None) };
        write_key(&self.path, now, &secret)?;
        Ok(Some(VisitKey::new(now, &secret)))
    }
}

fn random_key() -> Option<[u8; KEY_BYTES]> {
    let mut secret = [0; KEY_BYTES];
    SystemRandom::new().fill(&mut secret).ok()?;
    Some(secret)
}

/// Reads the key. Returns `None` if there is none, or it is invalid.
fn read_key(path: &Path) -> io::Result<Option<VisitKey>> {
    let mut text = String::new();
    match File::open(path) {
        Ok(file) => match file.take(1 << 10).read_to_string(&mut text) {
            Err(e) if e.kind() != io::ErrorKind::InvalidData => return Err(e),
            _ => {}
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    }
    let mut parts = text.split_whitespace();
    let made = parts.next().and_then(Timestamp::parse);
    let secret = parts.next().and_then(|hex| HEXLOWER.decode(hex.as_bytes()).ok());
    let secret = secret.filter(|secret| secret.len() == KEY_BYTES);
    Ok(made.zip(secret).map(|(made, secret)| VisitKey::new(made, &secret)))
}

fn write_key(path: &Path, made: Timestamp, secret: &[u8]) -> io::Result<()> {
    let text = format!("{} {}\n", made.to_precise(), HEXLOWER.encode(secret));
    pharos_files::replace_private(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::ManualClock;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn visits(dir: &Path, clock: &ManualClock) -> VisitHasher {
        VisitHasher::open(&DataDir::at(dir), &LogConfig::default(), Arc::new(clock.clone()))
    }

    #[test]
    fn the_key_survives_a_power_cut() {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_000_000_000));
        for _ in 0..2 {
            let make_key = || assert!(visits(dir.path(), &clock).key().is_some());
            pharos_files::power_cut::check(dir.path(), make_key).unwrap();
            clock.advance(Duration::from_secs(2 * 86_400));
        }
    }

    #[test]
    fn processes_agree_and_the_next_day_is_unlinked() {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_000_000_000));
        let (one, two) = (visits(dir.path(), &clock), visits(dir.path(), &clock));
        let name = one.name("192.0.2.7", "Firefox");
        assert_eq!((name.len(), two.name("192.0.2.7", "Firefox")), (16, name.clone()));
        assert_ne!(one.name("192.0.2.8", "Firefox"), name);
        assert_ne!(one.name("192.0.2.7", "Safari"), name);
        assert_ne!(one.name("192.0.2.7F", "irefox"), name);

        let path = dir.path().join("logs/visit-key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let old = fs::read_to_string(&path).unwrap();
        clock.advance(Duration::from_secs(24 * 3600));
        let next = two.name("192.0.2.7", "Firefox");
        assert_ne!(next, name);
        assert_eq!(one.name("192.0.2.7", "Firefox"), next);
        assert_eq!(visits(dir.path(), &clock).name("192.0.2.7", "Firefox"), next);
        let new = fs::read_to_string(&path).unwrap();
        assert!(!new.contains(old.split_whitespace().nth(1).unwrap()));
        assert_eq!(fs::read_dir(dir.path().join("logs")).unwrap().count(), 1);
    }

    #[test]
    fn a_spoilt_key_a_key_of_the_future_and_a_folder_that_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_000_000_000));
        fs::create_dir(dir.path().join("logs")).unwrap();
        let path = dir.path().join("logs/visit-key");
        for text in [&b"\xff\xfe"[..], b"", b"2099-01-01T00:00:00Z abcd", b"2026-01-31"] {
            fs::write(&path, text).unwrap();
            assert_eq!(visits(dir.path(), &clock).name("a", "").len(), 16);
        }
        write_key(&path, clock.now().plus(Duration::from_secs(3600)), &[1; KEY_BYTES]).unwrap();
        assert!(visits(dir.path(), &clock).key().unwrap().made <= clock.now());
        // Without the directory there is no shared key, but identifiers are still created.
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let lonely = visits(&file, &clock);
        assert_eq!(lonely.name("a", ""), lonely.name("a", ""));
        assert_eq!(lonely.name("a", "").len(), 16);
    }
}
