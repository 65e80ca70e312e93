//! A series of backups in one directory, each in a directory named after its time, with retention.
//!
//! A backup is written to `pharos-20260131-033000.incomplete` and renamed when it is complete, so that an unfinished one
//! never looks whole. Unchanged files are shared with the previous backup of the same data directory by hard links.
//! Retention deletes only directories of this form that contain a manifest of the same data directory.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pharos_core::config::Config;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_files::DirectoryLock;
use pharos_store::{DataDir, StoreError};
use tracing::warn;

use super::copy::{EarlierBackup, copy_data, source_name};
use super::manifest::{BACKUP_MARKER, BackupManifest};
use super::target::{self, check_space};
use super::{BackupProgress, BackupSummary, check_source};
use crate::{EngineError, Stores};

const PREFIX: &str = "pharos-";
/// Form of the time in the name of a backup.
const TIME_FORM: &str = "00000000-000000";
/// Suffix of a backup that is being written or deleted.
const INCOMPLETE: &str = ".incomplete";
const LOCK: &str = "pharos-backup.lock";

/// Directory and retention of a series, from the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPlan {
    pub directory: PathBuf,
    /// Number of backups to keep; 0 keeps all.
    pub keep: usize,
    /// Free space that a backup on the disk of the data directory leaves.
    pub disk_floor: u64,
}

impl SeriesPlan {
    /// Returns the plan of the settings `backup.*`.
    pub fn from_config(config: &Config) -> Result<Self, EngineError> {
        let directory = PathBuf::from(&config.backup.directory);
        if config.backup.directory.is_empty() {
            let missing = "no directory for backups: set backup.directory to one on another disk";
            return Err(EngineError::Settings(missing.into()));
        }
        if !directory.is_absolute() {
            let relative = format!(
                "`backup.directory` must be an absolute path such as /mnt/backup, not `{}`",
                config.backup.directory
            );
            return Err(EngineError::Settings(relative));
        }
        Ok(Self { directory, keep: config.backup.keep, disk_floor: config.engine.disk_floor.0 })
    }
}

/// A complete backup of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBackup {
    pub path: PathBuf,
    /// Time at which it was begun.
    pub taken: String,
    pub files: u64,
    pub bytes: u64,
}

/// Returns the complete backups of a data directory in a directory, oldest first.
pub fn list_backups(data: &DataDir, directory: &Path) -> Vec<ListedBackup> {
    let backups = own_backups(&source_name(data), directory).into_iter();
    backups
        .map(|(path, manifest)| ListedBackup {
            path,
            files: manifest.files.len() as u64,
            bytes: manifest.bytes(),
            taken: manifest.taken,
        })
        .collect()
}

/// Adds a backup to the series and deletes those beyond the retention. Returns its directory.
///
/// `progress` returns `false` to stop. A backup that fails or stops is removed; data and earlier backups stay.
pub fn add_backup(
    stores: &Stores,
    plan: &SeriesPlan,
    progress: &mut dyn FnMut(BackupProgress) -> bool,
) -> Result<(PathBuf, BackupSummary), EngineError> {
    check_source(stores)?;
    let added = add_to_directory(stores, plan, progress);
    added.map_err(|error| target::explain(&plan.directory, error))
}

fn add_to_directory(
    stores: &Stores,
    plan: &SeriesPlan,
    progress: &mut dyn FnMut(BackupProgress) -> bool,
) -> Result<(PathBuf, BackupSummary), EngineError> {
    let directory = &plan.directory;
    refuse_unsuitable(stores.data(), directory)?;
    pharos_files::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
    let lock = DirectoryLock::try_acquire(directory, LOCK).map_err(StoreError::io("lock", directory))?;
    let _lock = lock.ok_or_else(|| target::problem(directory, "another backup to it is running"))?;
    remove_incomplete(directory);
    let floor = if is_same_disk(stores.data(), directory) { plan.disk_floor } else { 0 };
    check_space(directory, floor)?;
    let (name, path) = next_name(directory, SystemClock.now());
    let incomplete = directory.join(format!("{name}{INCOMPLETE}"));
    let summary = write_backup(stores, directory, &incomplete, &mut |reached| {
        check_space(directory, floor)?;
        if progress(reached) { Ok(()) } else { Err(EngineError::Stopped) }
    });
    let summary = summary.and_then(|summary| {
        pharos_files::install_directory(&incomplete, &path).map_err(StoreError::io("rename", &incomplete))?;
        Ok(summary)
    });
    if summary.is_err() {
        // The remains are removed by the next backup if this fails.
        let _ = fs::remove_dir_all(&incomplete);
    }
    let summary = summary?;
    apply_retention(stores.data(), directory, plan.keep);
    Ok((path, summary))
}

fn write_backup(
    stores: &Stores,
    directory: &Path,
    to: &Path,
    progress: &mut super::copy::OnProgress<'_>,
) -> Result<BackupSummary, EngineError> {
    let previous = own_backups(&source_name(stores.data()), directory).pop();
    pharos_files::create_dir_all(to).map_err(StoreError::io("create", to))?;
    let marker = to.join(BACKUP_MARKER);
    pharos_files::replace(&marker, b"").map_err(StoreError::io("create", &marker))?;
    let nothing = BackupManifest::default();
    let earlier = match &previous {
        Some((dir, manifest)) => EarlierBackup { dir, manifest },
        None => EarlierBackup { dir: directory, manifest: &nothing },
    };
    copy_data(stores, to, earlier, progress)
}

/// Refuses a target inside the data directory, which would be lost together with it, and one below a file.
fn refuse_unsuitable(data: &DataDir, directory: &Path) -> Result<(), EngineError> {
    // The directory may not exist yet.
    let existing = directory.ancestors().find_map(|path| fs::canonicalize(path).ok());
    if existing.as_ref().is_some_and(|path| !path.is_dir()) {
        return Err(target::problem(directory, "a part of the path is a file: choose another directory"));
    }
    let data = fs::canonicalize(data.root()).ok();
    if existing.zip(data).is_some_and(|(target, data)| target.starts_with(data)) {
        return Err(target::problem(
            directory,
            "it is inside the data directory: choose one on another disk",
        ));
    }
    Ok(())
}

fn is_same_disk(data: &DataDir, directory: &Path) -> bool {
    let disk = |path: &Path| fs::metadata(path).map(|file| file.dev()).ok();
    disk(data.root()) == disk(directory)
}

/// Returns name and path of a backup begun at `at`. The name sorts after those of all earlier backups, also if they were
/// begun in the same second or the clock was set back.
fn next_name(directory: &Path, at: Timestamp) -> (String, PathBuf) {
    let newest = dated_directories(directory, "").pop().and_then(|path| time_of(&path));
    let at = newest.map_or(at, |newest| at.max(newest.plus(Duration::from_secs(1))));
    let digits: String = at.to_string().chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at(8);
    let name = format!("{PREFIX}{date}-{time}");
    let path = directory.join(&name);
    (name, path)
}

/// Returns the time in the name of a backup.
fn time_of(path: &Path) -> Option<Timestamp> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    let part = |from: usize, to: usize| name.get(from..to);
    let (date, time) =
        ((part(0, 4)?, part(4, 6)?, part(6, 8)?), (part(9, 11)?, part(11, 13)?, part(13, 15)?));
    Timestamp::parse(&format!("{}-{}-{}T{}:{}:{}Z", date.0, date.1, date.2, time.0, time.1, time.2))
}

/// Returns the names in a directory that have the form of a backup followed by `suffix`. Symbolic links do not count.
fn dated_directories(directory: &Path, suffix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_dated = |name: &str| {
        let time = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(suffix));
        time.is_some_and(|time| {
            time.len() == TIME_FORM.len()
                && time.bytes().zip(TIME_FORM.bytes()).all(|(byte, form)| match form {
                    b'0' => byte.is_ascii_digit(),
                    _ => byte == form,
                })
        })
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name().to_str().is_some_and(is_dated))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

/// Returns the complete backups of one data directory with their manifests, oldest first.
fn own_backups(source: &str, directory: &Path) -> Vec<(PathBuf, BackupManifest)> {
    let paths = dated_directories(directory, "").into_iter();
    let complete = paths.filter_map(|path| {
        let manifest = path.join(BACKUP_MARKER).is_file().then(|| BackupManifest::read(&path).ok());
        Some((path, manifest.flatten()?))
    });
    complete.filter(|(_, manifest)| manifest.source == source).collect()
}

/// Removes the remains of interrupted backups and deletions. The caller holds the lock of the directory.
fn remove_incomplete(directory: &Path) {
    for path in dated_directories(directory, INCOMPLETE) {
        // A process may end before it writes the marker; then the directory is empty.
        let removed = if path.join(BACKUP_MARKER).is_file() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_dir(&path)
        };
        if let Err(error) = removed {
            warn!(path = %path.display(), %error, "cannot remove the remains of an interrupted backup");
        }
    }
}

/// Deletes the oldest backups of a data directory beyond `keep`. A failure costs disk space only.
fn apply_retention(data: &DataDir, directory: &Path, keep: usize) {
    let backups = own_backups(&source_name(data), directory);
    let surplus = if keep == 0 { 0 } else { backups.len().saturating_sub(keep) };
    for (path, _) in backups.iter().take(surplus) {
        if let Err(error) = delete_backup(path) {
            warn!(path = %path.display(), %error, "cannot delete an old backup");
        }
    }
}

/// Deletes a backup, under another name first so that a half-deleted one does not look whole.
fn delete_backup(path: &Path) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_os_string();
    name.push(INCOMPLETE);
    let name = PathBuf::from(name);
    pharos_files::rename(path, &name)?;
    fs::remove_dir_all(&name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::super::tests::{ingest, pages};
    use super::*;
    use crate::restore;
    use crate::stores::test_stores;

    fn plan(directory: &Path, keep: usize) -> SeriesPlan {
        SeriesPlan { directory: directory.to_path_buf(), keep, disk_floor: 0 }
    }

    fn add(data: &DataDir, plan: &SeriesPlan) -> (PathBuf, BackupSummary) {
        add_backup(&test_stores(data), plan, &mut |_| true).unwrap()
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn each_backup_is_whole_and_shares_what_did_not_change() {
        let dir = tempfile::tempdir().unwrap();
        let (data, to) = (DataDir::at(dir.path().join("data")), dir.path().join("backups"));
        ingest(&data, 0..30);
        let (first, made) = add(&data, &plan(&to, 0));
        assert_eq!(made.copied, made.bytes);
        let (unchanged, again) = add(&data, &plan(&to, 0));
        assert!(again.copied < made.copied, "{again:?}");
        let volume = "library/00000001.warc.gz";
        let inode = |path: &Path| fs::metadata(path.join(volume)).unwrap().ino();
        assert_eq!(inode(&first), inode(&unchanged), "one copy of an unchanged file");
        ingest(&data, 30..40);
        let (grown, _) = add(&data, &plan(&to, 0));
        assert_ne!(inode(&first), inode(&grown), "a grown file is copied");
        assert_eq!(list_backups(&data, &to).len(), 3);
        for (backup, expected) in [(&first, 30), (&unchanged, 30), (&grown, 40)] {
            let back = DataDir::at(dir.path().join("back"));
            restore(backup, &back, || Ok(Config::default()), |_| true).unwrap();
            assert_eq!(pages(&back), expected);
            fs::remove_dir_all(back.root()).unwrap();
        }
    }

    #[test]
    fn retention_deletes_only_backups_of_this_data_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (data, other) = (DataDir::at(dir.path().join("data")), DataDir::at(dir.path().join("other")));
        let to = dir.path().join("backups");
        ingest(&data, 0..5);
        ingest(&other, 0..5);
        let (of_other, _) = add(&other, &plan(&to, 1));
        for foreign in
            ["pharos-20200101-000000", "pharos-20200101-000000.incomplete", "holiday", "pharos-old"]
        {
            fs::create_dir(to.join(foreign)).unwrap();
            fs::write(to.join(foreign).join("photo.jpg"), "irreplaceable").unwrap();
        }
        let mut kept = Vec::new();
        for _ in 0..4 {
            kept.push(add(&data, &plan(&to, 2)).0);
        }
        let paths: Vec<PathBuf> = list_backups(&data, &to).into_iter().map(|backup| backup.path).collect();
        assert_eq!(paths, kept[2..], "the newest two");
        assert!(of_other.join("MANIFEST.json").exists());
        for foreign in
            ["pharos-20200101-000000", "pharos-20200101-000000.incomplete", "holiday", "pharos-old"]
        {
            assert!(to.join(foreign).join("photo.jpg").exists(), "{foreign}");
        }
    }

    #[test]
    fn a_backup_that_fails_or_stops_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let (data, to) = (DataDir::at(dir.path().join("data")), dir.path().join("backups"));
        ingest(&data, 0..5);
        let (good, _) = add(&data, &plan(&to, 1));
        let before = names(&to);
        let stopped = add_backup(&test_stores(&data), &plan(&to, 1), &mut |_| false).unwrap_err();
        assert!(matches!(stopped, EngineError::Stopped), "{stopped}");
        let full = SeriesPlan { disk_floor: u64::MAX, ..plan(&to, 1) };
        let full = add_backup(&test_stores(&data), &full, &mut |_| true).unwrap_err().to_string();
        assert!(
            full.contains("engine.disk_floor") && full.contains("earlier backups are unchanged"),
            "{full}"
        );
        assert_eq!(names(&to), before, "the earlier backup and nothing else");

        // The remains of a killed process are removed by the next backup.
        let killed = to.join("pharos-20260131-033000.incomplete");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(BACKUP_MARKER), "").unwrap();
        fs::write(killed.join("catalog-1.db"), "half").unwrap();
        add(&data, &plan(&to, 1));
        assert!(!killed.exists() && !good.exists());
        assert_eq!(list_backups(&data, &to).len(), 1);
    }

    #[test]
    fn unsuitable_directories_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        ingest(&data, 0..5);
        let refuse = |directory: &Path| {
            add_backup(&test_stores(&data), &plan(directory, 1), &mut |_| true).unwrap_err().to_string()
        };
        let inside = refuse(&data.root().join("backups"));
        assert!(inside.contains("inside the data directory"), "{inside}");
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let not_a_directory = refuse(&file.join("backups"));
        assert!(not_a_directory.contains("is a file"), "{not_a_directory}");
        let to = dir.path().join("backups");
        fs::create_dir(&to).unwrap();
        let _held = DirectoryLock::try_acquire(&to, LOCK).unwrap().unwrap();
        assert!(refuse(&to).contains("another backup"), "{}", refuse(&to));

        let mut config = Config::default();
        assert!(SeriesPlan::from_config(&config).unwrap_err().to_string().contains("backup.directory"));
        config.backup.directory = "backups".into();
        assert!(SeriesPlan::from_config(&config).unwrap_err().to_string().contains("absolute"));
        config.backup.directory = "/mnt/backups".into();
        assert_eq!(SeriesPlan::from_config(&config).unwrap().keep, 7);
    }

    #[test]
    fn a_power_cut_leaves_a_whole_backup_or_an_incomplete_one() {
        let dir = tempfile::tempdir().unwrap();
        let (path, incomplete) = (dir.path().join("pharos-1"), dir.path().join("pharos-1.incomplete"));
        pharos_files::create_dir_all(&incomplete).unwrap();
        pharos_files::replace(&incomplete.join("MANIFEST.json"), b"{}").unwrap();
        let is_whole = |files: &pharos_files::power_cut::Files| files.len() == 1;
        let install = || pharos_files::install_directory(&incomplete, &path).unwrap();
        pharos_files::power_cut::check_states(dir.path(), install, is_whole).unwrap();
        delete_backup(&path).unwrap();
        assert!(!path.exists() && !incomplete.exists());
    }
}
