//! Restore of a backup into an empty data directory.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use pharos_core::config::Config;
use pharos_files::NewFile;
use pharos_index::ReplacedGenerations;
use pharos_store::{DataDir, StoreError};
use serde::Serialize;
use tokio::sync::watch;

use super::copy::copy_mode;
use super::manifest::{BackupEntry, BackupManifest, checksum};
use crate::{Engine, EngineError, Stores};

/// Marker file of a data directory whose restore is not complete.
pub(super) const RESTORE_MARKER: &str = "RESTORING";

/// The outcome of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RestoreSummary {
    pub files: u64,
    pub bytes: u64,
    /// Time at which the backup was made.
    pub taken: String,
}

/// Returns `true` if a restore into this data directory was interrupted.
pub(crate) fn is_restore_incomplete(data: &DataDir) -> bool {
    data.root().join(RESTORE_MARKER).exists()
}

/// Restores a backup into an empty or missing data directory and replays the records that its stores have not
/// applied yet.
///
/// Every file is verified first. An interrupted restore can be run again.
pub fn restore(
    from: &Path,
    data: &DataDir,
    config: impl FnOnce() -> Result<Config, EngineError>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<RestoreSummary, EngineError> {
    let manifest = BackupManifest::read(from)?;
    let mut done = 0;
    for entry in &manifest.files {
        verify_entry(from, entry)?;
        done += entry.size;
        if !progress(done) {
            return Err(EngineError::Stopped);
        }
    }
    refuse_occupied(data)?;
    let owner = data.own("restore")?;
    let marker = data.root().join(RESTORE_MARKER);
    pharos_files::replace(&marker, b"").map_err(StoreError::io("create", &marker))?;
    clear_directory(data)?;
    let mut summary = RestoreSummary { taken: manifest.taken.clone(), ..RestoreSummary::default() };
    for entry in &manifest.files {
        restore_entry(from, data, entry)?;
        summary.files += 1;
        summary.bytes += entry.size;
        if !progress(summary.bytes) {
            return Err(EngineError::Stopped);
        }
    }
    // Uses the settings that were just restored.
    let config = config()?;
    if let (Some(history), Some(generations)) = (manifest.history, Stores::open(data, &config)?.generations())
    {
        generations.start_over(Some(history), ReplacedGenerations::Remove)?;
    }
    let engine = Engine::open_owned(owner, data.clone(), config, "restore", manifest.searchable)?;
    let (_stop, never) = watch::channel(false);
    engine.ingest(&never)?.finish()?;
    fs::remove_file(&marker).map_err(StoreError::io("remove", &marker))?;
    Ok(summary)
}

fn verify_entry(from: &Path, entry: &BackupEntry) -> Result<(), EngineError> {
    let bad = |detail: String| EngineError::BadBackup { path: from.to_path_buf(), detail };
    match checksum(&from.join(&entry.stored), entry.size) {
        Ok((size, _)) if size != entry.size => {
            Err(bad(format!("{} has {size} bytes instead of {}", entry.stored, entry.size)))
        }
        Ok((_, xxh3)) if xxh3 != entry.xxh3 => Err(bad(format!("{} is damaged", entry.stored))),
        Ok(_) => Ok(()),
        Err(error) => Err(bad(error.to_string())),
    }
}

/// Refuses a data directory with content, unless an earlier restore into it was interrupted.
fn refuse_occupied(data: &DataDir) -> Result<(), EngineError> {
    if is_restore_incomplete(data) {
        return Ok(());
    }
    let names = match fs::read_dir(data.root()) {
        Ok(entries) => entries.flatten().map(|entry| entry.file_name()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("read", data.root())(e).into()),
    };
    // A lock file alone does not count as content.
    for name in names {
        if name != "LOCK" {
            return Err(EngineError::NotEmpty { path: data.root().to_path_buf() });
        }
    }
    Ok(())
}

/// Removes the remains of an interrupted restore.
fn clear_directory(data: &DataDir) -> Result<(), EngineError> {
    let entries = fs::read_dir(data.root()).map_err(StoreError::io("read", data.root()))?;
    for entry in entries {
        let path = entry.map_err(StoreError::io("read", data.root()))?.path();
        let name = path.file_name().unwrap_or_default();
        if name == "LOCK" || name == RESTORE_MARKER {
            continue;
        }
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(StoreError::io("remove", &path))?;
    }
    Ok(())
}

fn restore_entry(from: &Path, data: &DataDir, entry: &BackupEntry) -> Result<(), EngineError> {
    let (from, to) = (from.join(&entry.stored), data.root().join(&entry.path));
    let folder = to.parent().unwrap_or(data.root());
    pharos_files::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
    let source = File::open(&from).map_err(StoreError::io("open", &from))?;
    let mut new = NewFile::create(&to).map_err(StoreError::io("create", &to))?;
    copy_mode(&source, new.file())
        .and_then(|()| io::copy(&mut source.take(entry.size), &mut new))
        .and_then(|_| new.install())
        .map_err(StoreError::io("write", &to))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restored_files_survive_power_cuts() {
        let dir = tempfile::tempdir().unwrap();
        let (from, data) = (dir.path().join("backup"), DataDir::at(dir.path().join("data")));
        pharos_files::create_dir_all(&from).unwrap();
        pharos_files::replace(&from.join("pharos.toml"), b"# settings").unwrap();
        let (path, stored) = ("desk/pharos.toml".to_string(), "pharos.toml".to_string());
        let entry = BackupEntry { path, stored, size: 10, xxh3: String::new(), changed: 0 };
        let restore = || restore_entry(&from, &data, &entry).unwrap();
        pharos_files::power_cut::check(dir.path(), restore).unwrap();
    }
}
