//! The outcome of the last backup, stored in the file `LAST_BACKUP` of the data directory, where every desk finds it.

use std::fs;
use std::path::Path;

use pharos_core::Timestamp;
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};
use tracing::debug;

use super::BackupSummary;

const FILE: &str = "LAST_BACKUP";
/// Maximum size of the file.
const MAX_BYTES: u64 = 64 << 10;

/// The last successful backup, and the failure since then, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastBackup {
    pub finished: Option<FinishedBackup>,
    pub failed: Option<FailedBackup>,
}

/// A successful backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FinishedBackup {
    /// Time at which it was complete.
    pub at: Timestamp,
    /// Directory to restore from.
    pub path: String,
    pub files: u64,
    pub bytes: u64,
    /// Bytes that were copied; the others are shared with the backup before.
    pub copied: u64,
}

/// A failed backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedBackup {
    pub at: Timestamp,
    pub reason: String,
}

impl FinishedBackup {
    /// Describes a backup that was completed at `at` in the directory `path`.
    pub(super) fn new(at: Timestamp, path: &Path, summary: &BackupSummary) -> Self {
        let path = path.to_string_lossy().into_owned();
        Self { at, path, files: summary.files, bytes: summary.bytes, copied: summary.copied }
    }
}

/// Returns the outcome of the last backup of a data directory. An unreadable file counts as none.
pub fn read_last_backup(data: &DataDir) -> LastBackup {
    let path = data.root().join(FILE);
    let is_small = fs::metadata(&path).is_ok_and(|file| file.len() <= MAX_BYTES);
    let text = is_small.then(|| fs::read(&path).ok()).flatten().unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

pub(super) fn record_success(data: &DataDir, finished: FinishedBackup) {
    write(data, &LastBackup { finished: Some(finished), failed: None });
}

pub(super) fn record_failure(data: &DataDir, failed: FailedBackup) {
    write(data, &LastBackup { failed: Some(failed), ..read_last_backup(data) });
}

/// Writes the file. A reader of the data directory may lack the permission, and its backup counts nevertheless.
fn write(data: &DataDir, last: &LastBackup) {
    let path = data.root().join(FILE);
    let text = serde_json::to_vec(last).unwrap_or_default();
    if let Err(error) = pharos_files::replace(&path, &text) {
        debug!(%error, "cannot record the outcome of a backup");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_does_not_hide_the_last_success() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        assert_eq!(read_last_backup(&data), LastBackup::default());
        let finished =
            FinishedBackup { at: Timestamp::from_millis(5), files: 3, ..FinishedBackup::default() };
        let failed = FailedBackup { at: Timestamp::from_millis(9), reason: "no space".into() };
        pharos_files::power_cut::check(dir.path(), || record_success(&data, finished.clone())).unwrap();
        record_failure(&data, failed.clone());
        let both = LastBackup { finished: Some(finished.clone()), failed: Some(failed) };
        assert_eq!(read_last_backup(&data), both);
        record_success(&data, finished.clone());
        assert_eq!(read_last_backup(&data), LastBackup { finished: Some(finished), failed: None });
        fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(read_last_backup(&data), LastBackup::default());
    }
}
