//! The manifest of a backup, and the file names that identify one.

use std::fs;
use std::io;
use std::path::{Component, Path};

use pharos_core::LibraryPositions;
use pharos_index::generations::HistoryGeneration;
use pharos_store::StoreError;
use serde::{Deserialize, Serialize};

use crate::EngineError;

pub(super) const MANIFEST: &str = "MANIFEST.json";
pub(super) const FORMAT: u32 = 1;
/// Marker file of a backup directory, locked while a backup runs.
pub(super) const BACKUP_MARKER: &str = "BACKUP";

/// The contents of a backup, as stored in `MANIFEST.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct BackupManifest {
    pub(super) format: u32,
    /// Version of Pharos that made the backup.
    pub(super) pharos: String,
    pub(super) taken: String,
    /// Path of the data directory. Manifests of earlier releases have none.
    #[serde(default)]
    pub(super) source: String,
    /// Number of backups made into this directory.
    pub(super) round: u64,
    /// Ends of the copied logs of the library.
    pub(super) end: LibraryPositions,
    pub(super) history: Option<HistoryGeneration>,
    /// `true` if the data directory had an index.
    pub(super) searchable: bool,
    pub(super) files: Vec<BackupEntry>,
}

/// One file of a backup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BackupEntry {
    /// Path in the data directory.
    pub(super) path: String,
    /// Path in the backup.
    pub(super) stored: String,
    pub(super) size: u64,
    /// Checksum (XXH3) of the `size` bytes.
    pub(super) xxh3: String,
    /// Modification time of the original in nanoseconds; with the size, it identifies an unchanged file.
    pub(super) changed: i64,
}

impl BackupManifest {
    pub(super) fn read(dir: &Path) -> Result<Self, EngineError> {
        let bad = |detail: String| EngineError::BadBackup { path: dir.to_path_buf(), detail };
        let path = dir.join(MANIFEST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(bad(format!("{MANIFEST} is missing: not a backup, or an incomplete one")));
            }
            Err(e) => return Err(StoreError::io("read", &path)(e).into()),
        };
        let manifest: Self =
            serde_json::from_slice(&text).map_err(|e| bad(format!("{MANIFEST} is damaged: {e}")))?;
        if manifest.format > FORMAT {
            let (found, known) = (manifest.format, FORMAT);
            return Err(StoreError::NewerFormat { path, found, known }.into());
        }
        // The manifest is untrusted input: its paths must stay inside the backup and the data directory.
        let is_inside = |path: &str| {
            !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
        };
        if !manifest.files.iter().all(|entry| is_inside(&entry.path) && is_inside(&entry.stored)) {
            return Err(bad(format!("{MANIFEST} lists paths outside the backup")));
        }
        Ok(manifest)
    }

    pub(super) fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let path = dir.join(MANIFEST);
        let text = serde_json::to_vec_pretty(self).map_err(|e| StoreError::io("write", &path)(e.into()))?;
        pharos_files::replace(&path, &text).map_err(StoreError::io("write", &path))
    }

    pub(super) fn entry(&self, path: &str) -> Option<&BackupEntry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|entry| entry.size).sum()
    }
}

/// Returns length and checksum of the first `size` bytes of a file.
pub(super) fn checksum(path: &Path, size: u64) -> Result<(u64, String), StoreError> {
    let (length, sum) = pharos_files::checksum(path, size).map_err(StoreError::io("read", path))?;
    Ok((length, format!("{sum:016x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_survives_power_cuts() {
        let dir = tempfile::tempdir().unwrap();
        for round in 1..3 {
            let manifest = BackupManifest { round, ..BackupManifest::default() };
            pharos_files::power_cut::check(dir.path(), || manifest.write(dir.path()).unwrap()).unwrap();
        }
    }

    #[test]
    fn a_manifest_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["../evil", "/etc/passwd", ""] {
            let entry = BackupEntry {
                path: path.into(),
                stored: "x".into(),
                size: 0,
                xxh3: String::new(),
                changed: 0,
            };
            let manifest = BackupManifest { format: FORMAT, files: vec![entry], ..BackupManifest::default() };
            manifest.write(dir.path()).unwrap();
            let refused = BackupManifest::read(dir.path()).unwrap_err().to_string();
            assert!(refused.contains("outside"), "{refused}");
        }
    }
}
