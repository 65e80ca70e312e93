//! The book of raised alerts, stored in the file `ALERTS`. Acknowledgements are in a file of their own, because operators
//! may use the desk of another process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_store::{DataDir, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Alert, AlertKind};
use crate::EngineError;

const FILE: &str = "ALERTS";
const ACKNOWLEDGED: &str = "acknowledged.json";
/// Maximum size of each file.
const MAX_BYTES: u64 = 256 << 10;
/// Maximum length of the value of an alert, in characters.
const MAX_VALUE: usize = 300;

/// The raised alerts by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct AlertBook(BTreeMap<AlertKind, BookEntry>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BookEntry {
    #[serde(flatten)]
    alert: Alert,
    /// Time since which the condition does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    absent_since: Option<Timestamp>,
}

/// The alerts that an operator acknowledged, with the times at which they were raised.
type Acknowledgements = BTreeMap<AlertKind, (Timestamp, String)>;

impl AlertBook {
    /// Reads the book of a data directory. An unreadable one counts as empty.
    pub(super) fn read(data: &DataDir) -> Self {
        read_json(&book_path(data))
    }

    pub(super) fn write(&self, data: &DataDir) -> Result<(), StoreError> {
        write_json(&book_path(data), self)
    }

    /// Takes the conditions that hold now. Returns the alerts that are new.
    pub(super) fn update(
        &mut self,
        found: Vec<(AlertKind, String)>,
        clear_after: Duration,
        now: Timestamp,
    ) -> Vec<Alert> {
        let mut new = Vec::new();
        for (kind, entry) in &mut self.0 {
            let holds = found.iter().any(|(found, _)| found == kind);
            entry.absent_since = if holds { None } else { entry.absent_since.or(Some(now)) };
        }
        self.0.retain(|_, entry| entry.absent_since.is_none_or(|absent| now.since(absent) < clear_after));
        for (kind, value) in found {
            let value: String = value.chars().take(MAX_VALUE).collect();
            match self.0.get_mut(&kind) {
                Some(entry) => entry.alert.value = value,
                None => {
                    let alert =
                        Alert { kind, value, since: now, acknowledged_by: None, undelivered: Vec::new() };
                    new.push(alert.clone());
                    self.0.insert(kind, BookEntry { alert, absent_since: None });
                }
            }
        }
        new
    }

    /// Records the error of an endpoint that did not accept an alert, or that it accepted it.
    pub(super) fn set_outcome(
        &mut self,
        kind: AlertKind,
        since: Timestamp,
        endpoint: &str,
        error: Option<String>,
    ) {
        if let Some(entry) = self.0.get_mut(&kind).filter(|entry| entry.alert.since == since) {
            let prefix = format!("{endpoint}: ");
            entry.alert.undelivered.retain(|other| !other.starts_with(&prefix));
            entry.alert.undelivered.extend(error.map(|error| format!("{prefix}{error}")));
        }
    }

    /// Returns the alerts that an endpoint has not accepted yet.
    pub(super) fn undelivered(&self) -> Vec<Alert> {
        let alerts = self.0.values().map(|entry| &entry.alert);
        alerts.filter(|alert| !alert.undelivered.is_empty()).cloned().collect()
    }
}

/// Returns the raised alerts of a data directory, oldest first.
pub fn read_alerts(data: &DataDir) -> Vec<Alert> {
    let acknowledged: Acknowledgements = read_json(&acknowledged_path(data));
    let mut alerts: Vec<Alert> = AlertBook::read(data).0.into_values().map(|entry| entry.alert).collect();
    for alert in &mut alerts {
        let own = acknowledged.get(&alert.kind).filter(|(since, _)| *since == alert.since);
        alert.acknowledged_by = own.map(|(_, operator)| operator.clone());
    }
    alerts.sort_by_key(|alert| alert.since);
    alerts
}

/// Acknowledges a raised alert. Returns `false` if there is none of this kind.
pub fn acknowledge_alert(data: &DataDir, kind: AlertKind, operator: &str) -> Result<bool, EngineError> {
    let Some(alert) = read_alerts(data).into_iter().find(|alert| alert.kind == kind) else {
        return Ok(false);
    };
    let path = acknowledged_path(data);
    let mut acknowledged: Acknowledgements = read_json(&path);
    acknowledged.insert(kind, (alert.since, operator.to_string()));
    let folder = path.parent().unwrap_or(data.root());
    pharos_files::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
    write_json(&path, &acknowledged)?;
    tracing::info!(alert = kind.name(), operator, at = %SystemClock.now(), "alert acknowledged");
    Ok(true)
}

fn book_path(data: &DataDir) -> PathBuf {
    data.root().join(FILE)
}

fn acknowledged_path(data: &DataDir) -> PathBuf {
    data.root().join("desk").join(ACKNOWLEDGED)
}

fn read_json<T: DeserializeOwned + Default>(path: &Path) -> T {
    let is_small = fs::metadata(path).is_ok_and(|file| file.len() <= MAX_BYTES);
    let text = is_small.then(|| fs::read(path).ok()).flatten().unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn write_json(path: &Path, content: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_vec(content).map_err(|error| StoreError::io("write", path)(error.into()))?;
    pharos_files::replace(path, &text).map_err(StoreError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn an_alert_is_new_once_until_it_has_cleared() {
        let mut book = AlertBook::default();
        let now = Timestamp::EPOCH;
        let disk = |value: &str| vec![(AlertKind::DiskNearlyFull, value.to_string())];
        let mut update =
            |found, minutes: u32| book.update(found, 10 * MINUTE, now.plus(MINUTE * minutes)).len();
        assert_eq!(update(disk("1MB"), 0), 1);
        assert_eq!(update(disk("2MB"), 1), 0, "it holds still");
        assert_eq!(update(Vec::new(), 2), 0);
        assert_eq!(update(disk("1MB"), 5), 0, "absent for a moment");
        assert_eq!(update(Vec::new(), 6), 0);
        assert_eq!(update(Vec::new(), 16), 0, "now it has cleared");
        assert_eq!(update(disk("1MB"), 17), 1, "and is raised again");
    }

    #[test]
    fn acknowledgements_belong_to_one_occurrence() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let kind = AlertKind::BuildFailed;
        assert!(!acknowledge_alert(&data, kind, "ada").unwrap(), "nothing is raised");
        let raise = |at: u64| {
            let mut book = AlertBook::default();
            book.update(vec![(kind, "no space".into())], MINUTE, Timestamp::from_millis(at as i64));
            let since = Timestamp::from_millis(at as i64);
            book.set_outcome(kind, since, "webhook", Some("refused".into()));
            book.set_outcome(kind, since, "mail", Some("late".into()));
            book.set_outcome(kind, since, "mail", None);
            assert_eq!(book.undelivered().len(), 1);
            book.write(&data).unwrap();
        };
        pharos_files::power_cut::check(dir.path(), || raise(5)).unwrap();
        let alert = &read_alerts(&data)[0];
        assert_eq!((alert.value.as_str(), &alert.acknowledged_by), ("no space", &None));
        assert_eq!(alert.undelivered, ["webhook: refused"]);
        assert!(acknowledge_alert(&data, kind, "ada").unwrap());
        assert_eq!(read_alerts(&data)[0].acknowledged_by.as_deref(), Some("ada"));
        assert_eq!(AlertBook::read(&data).update(vec![(kind, "x".into())], MINUTE, Timestamp::EPOCH), []);
        raise(6);
        assert_eq!(read_alerts(&data)[0].acknowledged_by, None, "another occurrence");
        fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(read_alerts(&data), []);
    }
}
