//! API keys as objects: `desk/api_keys.json` in the data directory, changed by several processes.
//!
//! A key is a random text of which only the SHA-256 digest is stored. It has a name, a scope (endpoints, sites), and
//! optionally a rate and an end. Uses are counted in `desk/api_key_usage.json`, written every few seconds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::admin::desk_dir::{DeskDir, read_limited};
use crate::admin::operators::{fold_name, is_valid_name};
use crate::admin::secret::{digest_secret, random_token};

const FILE: &str = "api_keys.json";
const USAGE_FILE: &str = "api_key_usage.json";
/// Maximum size of each file in bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;
/// Maximum number of keys.
const MAX_KEYS: usize = 500;
/// Maximum number of sites of a key.
const MAX_SITES: usize = 50;
/// Maximum rate of a key in requests per second.
pub const MAX_RATE: u32 = 100_000;
/// Beginning of every key, by which scanners of source code recognise it.
const PREFIX: &str = "pharos_";
/// Minimum interval between two checks of the file.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Minimum interval between two writes of the counters.
const FLUSH_INTERVAL: Duration = Duration::from_secs(5);

/// Names of the endpoints that a key can be limited to.
pub const ENDPOINTS: [&str; 7] = ["search", "page", "similar", "stats", "queries", "submit", "metrics"];

/// An API key without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeyRecord {
    pub id: u64,
    pub name: String,
    /// SHA-256 digest of the key in hexadecimal.
    digest: String,
    /// Endpoints that the key permits; empty for all.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// Sites whose pages the key permits, with their subdomains; empty for all.
    #[serde(default)]
    pub sites: Vec<String>,
    /// Requests per second; `None` for `web.key_rate`.
    #[serde(default)]
    pub rate: Option<u32>,
    /// Time from which the key is refused.
    #[serde(default)]
    pub until: Option<String>,
    /// Operator who created the key or its current secret, and the time.
    pub by: String,
    pub at: String,
    /// Time at which it was revoked.
    #[serde(default)]
    pub revoked: Option<String>,
    /// Number of changes of scope, rate and end, so that concurrent changes are detected.
    #[serde(default)]
    pub version: u64,
}

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiKeyState {
    Active,
    Ended,
    Revoked,
}

impl ApiKeyRecord {
    /// Returns the state of the key.
    pub fn state(&self, now: Timestamp) -> ApiKeyState {
        if self.revoked.is_some() {
            return ApiKeyState::Revoked;
        }
        let until = self.until.as_deref().map(|until| Timestamp::parse(until).unwrap_or(Timestamp::EPOCH));
        if until.is_some_and(|until| until <= now) { ApiKeyState::Ended } else { ApiKeyState::Active }
    }

    /// Returns `true` if the key permits an endpoint.
    pub(crate) fn permits_endpoint(&self, endpoint: &str) -> bool {
        self.endpoints.is_empty() || self.endpoints.iter().any(|permitted| permitted == endpoint)
    }

    /// Returns `true` if the key permits pages of this URL's site.
    pub(crate) fn permits_page(&self, url: &PageUrl) -> bool {
        let site = url.site();
        let is_within = |permitted: &String| {
            let site = site.as_str();
            site == permitted || site.strip_suffix(permitted.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        self.sites.is_empty() || self.sites.iter().any(is_within)
    }
}

/// The uses of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeyUsage {
    pub requests: u64,
    /// Time of the last use; empty if there is none.
    pub last: String,
}

/// The properties of a new key.
#[derive(Clone, Debug, Default)]
pub struct NewApiKey {
    pub name: String,
    pub endpoints: Vec<String>,
    pub sites: Vec<String>,
    pub rate: Option<u32>,
    pub until: Option<Timestamp>,
    pub by: String,
}

/// A key that was created or changed, with its secret, which is stored nowhere.
#[derive(Clone, Debug)]
pub struct IssuedApiKey {
    pub record: ApiKeyRecord,
    pub secret: String,
}

/// A reason why keys cannot be read or changed.
#[derive(Debug, Error)]
pub enum ApiKeyError {
    #[error("cannot {what} {path}: {source}")]
    Io { what: &'static str, path: String, source: io::Error },
    #[error("{path} is damaged: {why}; restore it from a backup, or delete it to start without keys")]
    Damaged { path: String, why: String },
    #[error("the name must have 1 to 64 characters")]
    InvalidName,
    #[error("a key with this name exists already")]
    Taken,
    #[error("`{0}` is not an endpoint: use {list}", list = ENDPOINTS.join(", "))]
    InvalidEndpoint(String),
    #[error("`{0}` is not a site: enter a host name such as www.example.org")]
    InvalidSite(String),
    #[error("the rate must be a number from 1 to {MAX_RATE}")]
    InvalidRate,
    #[error("there are too many keys or sites: remove some first")]
    Full,
    #[error("no key has this name")]
    Missing,
    #[error("the key was changed meanwhile: check it again")]
    Conflict,
}

#[derive(Default, Serialize, Deserialize)]
struct KeysFile {
    /// Id of the last key created.
    last_id: u64,
    keys: Vec<ApiKeyRecord>,
}

/// Inode, length and modification time of the file; `None` if it does not exist.
type FileStamp = Option<(u64, u64, i64, i64)>;

#[derive(Default)]
struct CachedKeys {
    checked: Option<Instant>,
    stamp: FileStamp,
    keys: Arc<Vec<ApiKeyRecord>>,
}

/// Uses that are not written yet.
#[derive(Default)]
struct PendingUses {
    uses: BTreeMap<u64, ApiKeyUsage>,
    written: Option<Instant>,
}

/// The store of API keys.
pub struct ApiKeyStore {
    dir: DeskDir,
    cached: Mutex<CachedKeys>,
    pending: Mutex<PendingUses>,
    /// Held while counters move from memory to the file, so that none is missed or counted twice.
    flushing: Mutex<()>,
}

impl ApiKeyStore {
    /// Returns the store of a data directory. Nothing is created before the first change.
    pub fn at(data: &DataDir) -> Self {
        let dir = DeskDir::at(data.desk());
        Self { dir, cached: Mutex::default(), pending: Mutex::default(), flushing: Mutex::default() }
    }

    /// Returns all keys. The file is checked at most twice per second.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn load(&self) -> Result<Arc<Vec<ApiKeyRecord>>, ApiKeyError> {
        let mut cached = self.cached.lock();
        if cached.checked.is_some_and(|checked| checked.elapsed() < CHECK_INTERVAL) {
            return Ok(Arc::clone(&cached.keys));
        }
        let stamp = self.stamp()?;
        if cached.checked.is_none() || stamp != cached.stamp {
            // After an error the next call tries again.
            cached.checked = None;
            cached.keys = Arc::new(self.read()?.keys);
            cached.stamp = stamp;
        }
        cached.checked = Some(Instant::now());
        Ok(Arc::clone(&cached.keys))
    }

    fn stamp(&self) -> Result<FileStamp, ApiKeyError> {
        match std::fs::metadata(self.dir.file(FILE)) {
            Ok(about) => Ok(Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("stat")(error)),
        }
    }

    fn read(&self) -> Result<KeysFile, ApiKeyError> {
        let path = self.dir.file(FILE);
        let text = match read_limited(&path, MAX_FILE_SIZE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(KeysFile::default()),
            other => other.map_err(self.failed("read"))?,
        };
        let damaged = |why: String| ApiKeyError::Damaged { path: path.display().to_string(), why };
        let file: KeysFile = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if file.keys.len() > MAX_KEYS {
            return Err(damaged(format!("more than {MAX_KEYS} keys")));
        }
        Ok(file)
    }

    /// Changes the keys under the lock of the directory.
    fn change<T>(
        &self,
        edit: impl FnOnce(&mut KeysFile) -> Result<T, ApiKeyError>,
    ) -> Result<T, ApiKeyError> {
        let _lock = self.dir.lock().map_err(self.failed("lock"))?;
        let mut file = self.read()?;
        let result = edit(&mut file)?;
        let mut text =
            serde_json::to_vec_pretty(&file).map_err(|error| self.failed("write")(error.into()))?;
        text.push(b'\n');
        self.dir.replace(FILE, &text).map_err(self.failed("write"))?;
        self.cached.lock().checked = None;
        Ok(result)
    }

    /// Creates a key.
    pub fn add(&self, new: NewApiKey) -> Result<IssuedApiKey, ApiKeyError> {
        let new = validated(new)?;
        let secret = self.new_secret()?;
        let record = self.change(|file| {
            if find(&file.keys, &new.name).is_some() {
                return Err(ApiKeyError::Taken);
            }
            if file.keys.len() >= MAX_KEYS {
                return Err(ApiKeyError::Full);
            }
            file.last_id += 1;
            let record = ApiKeyRecord {
                id: file.last_id,
                name: new.name,
                digest: hex_digest(&secret),
                endpoints: new.endpoints,
                sites: new.sites,
                rate: new.rate,
                until: new.until.map(|until| until.to_string()),
                by: new.by,
                at: SystemClock.now().to_string(),
                revoked: None,
                version: 0,
            };
            file.keys.push(record.clone());
            Ok(record)
        })?;
        Ok(IssuedApiKey { record, secret })
    }

    /// Changes scope, rate and end of a key, if its version is still `version`; `None` changes any version. The secret
    /// stays the same.
    pub fn change_scope(
        &self,
        name: &str,
        version: Option<u64>,
        edit: impl FnOnce(&mut NewApiKey),
    ) -> Result<ApiKeyRecord, ApiKeyError> {
        self.change(|file| {
            let nth = find(&file.keys, name).ok_or(ApiKeyError::Missing)?;
            let key = &mut file.keys[nth];
            if version.is_some_and(|seen| seen != key.version) {
                return Err(ApiKeyError::Conflict);
            }
            let mut changed = NewApiKey {
                name: key.name.clone(),
                endpoints: key.endpoints.clone(),
                sites: key.sites.clone(),
                rate: key.rate,
                until: key.until.as_deref().and_then(Timestamp::parse),
                by: key.by.clone(),
            };
            edit(&mut changed);
            let changed = validated(changed)?;
            (key.endpoints, key.sites, key.rate) = (changed.endpoints, changed.sites, changed.rate);
            key.until = changed.until.map(|until| until.to_string());
            key.version += 1;
            Ok(key.clone())
        })
    }

    /// Replaces the secret of a key. The old one is refused from now on; a revoked key works again.
    pub fn rotate(&self, name: &str, by: &str) -> Result<IssuedApiKey, ApiKeyError> {
        let secret = self.new_secret()?;
        let record = self.change_key(name, |key| {
            key.digest = hex_digest(&secret);
            (key.by, key.at, key.revoked) = (by.to_string(), SystemClock.now().to_string(), None);
        })?;
        Ok(IssuedApiKey { record, secret })
    }

    /// Revokes a key.
    pub fn revoke(&self, name: &str) -> Result<ApiKeyRecord, ApiKeyError> {
        self.change_key(name, |key| {
            key.revoked.get_or_insert_with(|| SystemClock.now().to_string());
        })
    }

    /// Removes a key. Without any key, the API is open to all again.
    pub fn remove(&self, name: &str) -> Result<ApiKeyRecord, ApiKeyError> {
        self.change(|file| {
            let nth = find(&file.keys, name).ok_or(ApiKeyError::Missing)?;
            Ok(file.keys.remove(nth))
        })
    }

    fn change_key(
        &self,
        name: &str,
        edit: impl FnOnce(&mut ApiKeyRecord),
    ) -> Result<ApiKeyRecord, ApiKeyError> {
        self.change(|file| {
            let nth = find(&file.keys, name).ok_or(ApiKeyError::Missing)?;
            let key = &mut file.keys[nth];
            edit(key);
            Ok(key.clone())
        })
    }

    fn new_secret(&self) -> Result<String, ApiKeyError> {
        Ok(format!("{PREFIX}{}", random_token().map_err(self.failed("create a key for"))?))
    }

    /// Counts a use. Returns `true` if the counters should be written.
    pub(crate) fn count_use(&self, id: u64) -> bool {
        let mut pending = self.pending.lock();
        let usage = pending.uses.entry(id).or_default();
        usage.requests += 1;
        usage.last = SystemClock.now().to_string();
        pending.written.is_none_or(|written| written.elapsed() >= FLUSH_INTERVAL)
    }

    /// Writes the counters. Counters that cannot be written are kept for the next time.
    pub(crate) fn flush(&self) -> Result<(), ApiKeyError> {
        let _flushing = self.flushing.lock();
        let uses = {
            let mut pending = self.pending.lock();
            pending.written = Some(Instant::now());
            std::mem::take(&mut pending.uses)
        };
        if uses.is_empty() {
            return Ok(());
        }
        let written = self.add_uses(&uses);
        if written.is_err() {
            let mut pending = self.pending.lock();
            for (id, usage) in uses {
                merge(pending.uses.entry(id).or_default(), &usage);
            }
        }
        written
    }

    fn add_uses(&self, uses: &BTreeMap<u64, ApiKeyUsage>) -> Result<(), ApiKeyError> {
        let _lock = self.dir.lock().map_err(self.failed("lock"))?;
        let mut all = self.stored_usage();
        for (id, usage) in uses {
            merge(all.entry(*id).or_default(), usage);
        }
        // Ids are never used again, so the counters of removed keys are the oldest ones.
        while all.len() > 2 * MAX_KEYS {
            all.pop_first();
        }
        let text = serde_json::to_vec(&all).map_err(|error| self.failed("write")(error.into()))?;
        self.dir.replace(USAGE_FILE, &text).map_err(self.failed("write"))
    }

    /// Returns the uses of all keys by id, including those not written yet.
    pub fn usage(&self) -> BTreeMap<u64, ApiKeyUsage> {
        let _flushing = self.flushing.lock();
        let mut all = self.stored_usage();
        for (id, usage) in &self.pending.lock().uses {
            merge(all.entry(*id).or_default(), usage);
        }
        all
    }

    /// Reads the counters. Counters that cannot be read start again.
    fn stored_usage(&self) -> BTreeMap<u64, ApiKeyUsage> {
        let text = read_limited(&self.dir.file(USAGE_FILE), MAX_FILE_SIZE).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn failed(&self, what: &'static str) -> impl FnOnce(io::Error) -> ApiKeyError {
        let path = self.dir.file(FILE).display().to_string();
        move |source| ApiKeyError::Io { what, path, source }
    }
}

impl Drop for ApiKeyStore {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "cannot write the usage of API keys");
        }
    }
}

fn merge(all: &mut ApiKeyUsage, more: &ApiKeyUsage) {
    all.requests = all.requests.saturating_add(more.requests);
    if more.last > all.last {
        all.last.clone_from(&more.last);
    }
}

/// Returns the key with this secret. All keys are compared, to take constant time.
pub(super) fn find_secret<'k>(keys: &'k [ApiKeyRecord], secret: &str) -> Option<&'k ApiKeyRecord> {
    let given = hex_digest(secret);
    keys.iter().fold(None, |found, key| found.or((key.digest == given).then_some(key)))
}

fn find(keys: &[ApiKeyRecord], name: &str) -> Option<usize> {
    keys.iter().position(|key| fold_name(&key.name) == fold_name(name))
}

fn hex_digest(secret: &str) -> String {
    let mut text = String::new();
    for byte in digest_secret(secret) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn validated(new: NewApiKey) -> Result<NewApiKey, ApiKeyError> {
    let name = new.name.trim().to_string();
    if !is_valid_name(&name) {
        return Err(ApiKeyError::InvalidName);
    }
    if let Some(wrong) = new.endpoints.iter().find(|endpoint| !ENDPOINTS.contains(&endpoint.as_str())) {
        return Err(ApiKeyError::InvalidEndpoint(wrong.clone()));
    }
    if new.rate.is_some_and(|rate| !(1..=MAX_RATE).contains(&rate)) {
        return Err(ApiKeyError::InvalidRate);
    }
    if new.sites.len() > MAX_SITES {
        return Err(ApiKeyError::Full);
    }
    let sites = new.sites.iter().map(|site| valid_site(site)).collect::<Result<_, _>>()?;
    Ok(NewApiKey { name, sites, ..new })
}

fn valid_site(site: &str) -> Result<String, ApiKeyError> {
    let is_host = !site.contains(['/', '?', '#', '@']) && !site.contains(char::is_whitespace);
    let url = PageUrl::parse(&format!("http://{site}/")).ok().filter(|_| is_host);
    url.map(|url| url.site().to_string()).ok_or_else(|| ApiKeyError::InvalidSite(site.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, ApiKeyStore) {
        let dir = tempfile::tempdir().unwrap();
        let store = ApiKeyStore::at(&DataDir::at(dir.path()));
        (dir, store)
    }

    fn new(name: &str) -> NewApiKey {
        NewApiKey { name: name.into(), by: "Keeper".into(), ..NewApiKey::default() }
    }

    #[test]
    fn secrets_are_never_stored_and_change_with_rotation() {
        let (dir, store) = store();
        let issued = store.add(new("Shop")).unwrap();
        assert!(issued.secret.starts_with("pharos_") && issued.secret.len() > 64);
        let text = std::fs::read_to_string(dir.path().join("desk/api_keys.json")).unwrap();
        assert!(!text.contains(&issued.secret) && text.contains("\"Shop\""), "{text}");
        let find = |secret: &str| find_secret(&store.load().unwrap(), secret).map(|key| key.id);
        assert_eq!((find(&issued.secret), find("pharos_"), find("")), (Some(1), None, None));
        assert!(matches!(store.add(new("ＳＨＯＰ")), Err(ApiKeyError::Taken)));
        let rotated = store.rotate("shop", "Mate").unwrap();
        assert_eq!((find(&issued.secret), find(&rotated.secret)), (None, Some(1)));
        assert_eq!(rotated.record.by, "Mate");
        assert_eq!(store.revoke("Shop").unwrap().state(SystemClock.now()), ApiKeyState::Revoked);
        assert_eq!(store.load().unwrap()[0].state(SystemClock.now()), ApiKeyState::Revoked);
        store.remove("Shop").unwrap();
        assert!(store.load().unwrap().is_empty());
        assert!(matches!(store.revoke("Shop"), Err(ApiKeyError::Missing)));
        assert_eq!(store.add(new("Shop")).unwrap().record.id, 2, "ids are never used again");
    }

    #[test]
    fn scope_rate_and_end_are_checked() {
        let (_dir, store) = store();
        let refused = |new: NewApiKey| store.add(new).unwrap_err().to_string();
        assert!(refused(new(" ")).contains("1 to 64"));
        assert!(refused(NewApiKey { endpoints: vec!["hot".into()], ..new("a") }).contains("`hot` is not"));
        assert!(refused(NewApiKey { sites: vec!["a/b".into()], ..new("a") }).contains("`a/b` is not a site"));
        assert!(refused(NewApiKey { rate: Some(0), ..new("a") }).contains("from 1 to"));
        let sites = vec!["Example.org".into(), "localhost:8080".into()];
        let until = Timestamp::parse("2026-01-31T12:00:00Z");
        let endpoints = vec!["search".into()];
        let key = store.add(NewApiKey { sites, until, endpoints, ..new("a") }).unwrap().record;
        assert!(key.permits_endpoint("search") && !key.permits_endpoint("stats"));
        let permits = |url: &str| key.permits_page(&PageUrl::parse(url).unwrap());
        assert!(permits("https://example.org/") && permits("http://www.example.org/a"));
        assert!(permits("http://localhost:8080/") && !permits("http://localhost/"));
        assert!(!permits("http://notexample.org/") && !permits("http://example.org.evil/"));
        let at = |time: &str| key.state(Timestamp::parse(time).unwrap());
        assert_eq!(at("2026-01-31T11:59:59Z"), ApiKeyState::Active);
        assert_eq!(at("2026-01-31T12:00:00Z"), ApiKeyState::Ended);
    }

    #[test]
    fn the_scope_is_changed_and_the_second_of_two_editors_is_refused() {
        let (_dir, store) = store();
        let issued = store.add(NewApiKey { rate: Some(5), ..new("Shop") }).unwrap();
        let limit = |new: &mut NewApiKey| new.endpoints = vec!["search".into()];
        let changed = store.change_scope("shop", Some(0), limit).unwrap();
        assert_eq!(
            (changed.endpoints.as_slice(), changed.rate, changed.version),
            (&["search".into()][..], Some(5), 1)
        );
        assert_eq!(changed.digest, issued.record.digest, "the secret stays");
        assert!(matches!(store.change_scope("shop", Some(0), limit), Err(ApiKeyError::Conflict)));
        let invalid = store.change_scope("shop", None, |new| new.rate = Some(0));
        assert!(matches!(invalid, Err(ApiKeyError::InvalidRate)));
        assert_eq!(store.load().unwrap()[0], changed, "refused changes change nothing");
        assert!(matches!(store.change_scope("none", None, |_| {}), Err(ApiKeyError::Missing)));
    }

    #[test]
    fn uses_are_counted_across_processes() {
        let (dir, ours) = store();
        let theirs = ApiKeyStore::at(&DataDir::at(dir.path()));
        assert!(ours.count_use(1));
        ours.count_use(1);
        theirs.count_use(1);
        ours.flush().unwrap();
        assert!(!ours.count_use(2), "just written");
        theirs.flush().unwrap();
        drop(ours);
        let usage = theirs.usage();
        assert_eq!((usage[&1].requests, usage[&2].requests), (3, 1));
        assert!(!usage[&1].last.is_empty());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_is_not_overwritten() {
        let (dir, store) = store();
        store.add(new("a")).unwrap();
        std::fs::write(dir.path().join("desk/api_keys.json"), "{").unwrap();
        assert!(store.load().unwrap_err().to_string().contains("api_keys.json is damaged"));
        assert!(store.load().is_err(), "still");
        assert!(store.add(new("b")).is_err());
    }
}
