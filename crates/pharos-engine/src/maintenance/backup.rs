//! Online backup of a data directory, and restore.
//!
//! A backup takes no lock. The library is append-only, so its files are copied as they are, the last one up to its last
//! complete record. The catalog is copied in one transaction. Derived directories consist of checksummed blocks.
//! History generations and link-analysis results are immutable. Stores that follow the library (catalog, derived stores,
//! index, graph) are copied before it and therefore never ahead of it; restore replays the rest.
//!
//! `MANIFEST.json` is written last, by a rename, and lists every file with length and checksum. A file that only grew
//! since the previous backup is continued. Any other change makes a new copy beside the old one, which is removed once
//! the new manifest is in place, so an interrupted backup leaves the previous one intact.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPositions, SystemClock};
use pharos_files::NewFile;
use pharos_graph::relations::newest_folder;
use pharos_index::ReplacedGenerations;
use pharos_index::generations::HistoryGeneration;
use pharos_store::catalog::remove_database;
use pharos_store::library::LocalLibrary;
use pharos_store::{DataDir, StoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::status::data_dir::disk_usage;
use crate::{Engine, EngineError, Stores};

const MANIFEST: &str = "MANIFEST.json";
const FORMAT: u32 = 1;
/// Marker file of a backup directory, locked while a backup runs.
const BACKUP_MARKER: &str = "BACKUP";
/// Marker file of a data directory whose restore is not complete.
const RESTORE_MARKER: &str = "RESTORING";
/// Number of attempts when compaction or a new generation replaces files during the copy.
const MAX_ATTEMPTS: usize = 5;
/// Optional directories that are copied file by file.
const FOLDERS: &[&str] = &["models", "logs", "desk"];
/// Secret key of the logs, never part of a backup.
const VISIT_KEY: &str = "visit-key";

/// Copies the file mode, so that private files stay private.
fn copy_mode(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

/// The contents of a backup, as stored in `MANIFEST.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct BackupManifest {
    format: u32,
    /// Version of Pharos that made the backup.
    pharos: String,
    taken: String,
    /// Number of backups made into this directory.
    round: u64,
    /// Ends of the copied logs of the library.
    end: LibraryPositions,
    history: Option<HistoryGeneration>,
    /// `true` if the data directory had an index.
    searchable: bool,
    files: Vec<BackupEntry>,
}

/// One file of a backup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BackupEntry {
    /// Path in the data directory.
    path: String,
    /// Path in the backup.
    stored: String,
    size: u64,
    /// Checksum (XXH3) of the `size` bytes.
    xxh3: String,
    /// Modification time of the original in nanoseconds; with the size, it identifies an unchanged file.
    changed: i64,
}

/// The outcome of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackupSummary {
    pub files: u64,
    pub bytes: u64,
    /// Bytes copied by this run; the others were already in the backup.
    pub copied: u64,
    /// Positions up to which the library was copied.
    pub end: LibraryPositions,
}

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

/// Copies a data directory to `to`, also while an engine runs on it.
///
/// `progress` receives the number of bytes copied and returns `false` to stop. Fails if `to` is neither empty nor a
/// backup directory, or if the library keeps changing under compaction.
pub fn backup(
    stores: &Stores,
    to: &Path,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<BackupSummary, EngineError> {
    let data = stores.data();
    if is_restore_incomplete(data) {
        return Err(EngineError::RestoreIncomplete { path: data.root().to_path_buf() });
    }
    // A backup of an incomplete library would replace a complete one.
    stores.check_library()?;
    let _lock = claim_directory(to)?;
    let before = match BackupManifest::read(to) {
        Ok(manifest) => manifest,
        Err(EngineError::BadBackup { .. }) => BackupManifest::default(),
        Err(error) => return Err(error),
    };
    for _ in 0..MAX_ATTEMPTS {
        let copy = BackupRun {
            stores,
            data,
            to,
            before: &before,
            manifest: BackupManifest::default(),
            copied: 0,
            progress: &mut progress,
        };
        if let Some(summary) = copy.run()? {
            return Ok(summary);
        }
    }
    Err(EngineError::LibraryChanging { path: data.root().to_path_buf() })
}

/// Estimates the bytes that a backup to `to` copies: those of files that are new or changed since the last one.
pub fn estimate_backup(stores: &Stores, to: &Path) -> u64 {
    let before = BackupManifest::read(to).unwrap_or_default();
    let known: BTreeMap<&str, u64> =
        before.files.iter().map(|entry| (entry.path.as_str(), entry.size)).collect();
    let data = stores.data();
    let mut folders = vec![data.library(), data.graph()];
    folders.extend(FOLDERS.iter().map(|folder| data.root().join(folder)));
    let history = stores.generations().and_then(|generations| {
        let current = generations.current().ok()?;
        current.history.map(|history| generations.history_dir(history.number))
    });
    folders.extend(history);
    let changed: u64 = folders.iter().map(|folder| changed_bytes(data.root(), folder, &known)).sum();
    changed + disk_usage(&data.catalog())
}

/// Returns the size of the files below a directory, without the parts that a backup has already.
fn changed_bytes(root: &Path, folder: &Path, known: &BTreeMap<&str, u64>) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |path: &Path| {
        let relative = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let copied = known.get(relative.as_ref()).copied().unwrap_or(0);
        fs::metadata(path).map_or(0, |metadata| metadata.len().saturating_sub(copied))
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.map(|path| if path.is_dir() { changed_bytes(root, &path, known) } else { size(&path) }).sum()
}

/// Returns the size of a backup, or 0 if it cannot be read.
pub fn backup_size(from: &Path) -> u64 {
    BackupManifest::read(from).map_or(0, |manifest| manifest.files.iter().map(|entry| entry.size).sum())
}

/// Claims the target directory and locks it.
///
/// Refuses a directory with other content, so that a mistyped path cannot destroy data.
fn claim_directory(to: &Path) -> Result<File, EngineError> {
    let refused = |detail: &'static str| {
        Err(StoreError::io("back up to", to)(io::Error::new(io::ErrorKind::AlreadyExists, detail)).into())
    };
    pharos_files::create_dir_all(to).map_err(StoreError::io("create", to))?;
    let marker = to.join(BACKUP_MARKER);
    let mut entries = fs::read_dir(to).map_err(StoreError::io("read", to))?;
    if !marker.exists() && entries.next().is_some() {
        return refused("the directory is not empty and is not a backup; choose an empty directory");
    }
    let file = File::create(&marker).map_err(StoreError::io("create", &marker))?;
    if file.try_lock().is_err() {
        return refused("another backup into this directory is running");
    }
    Ok(file)
}

impl BackupManifest {
    fn read(dir: &Path) -> Result<Self, EngineError> {
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

    fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let path = dir.join(MANIFEST);
        let text = serde_json::to_vec_pretty(self).map_err(|e| StoreError::io("write", &path)(e.into()))?;
        pharos_files::replace(&path, &text).map_err(StoreError::io("write", &path))
    }

    fn entry(&self, path: &str) -> Option<&BackupEntry> {
        self.files.iter().find(|entry| entry.path == path)
    }
}

/// One attempt to copy everything.
struct BackupRun<'a> {
    stores: &'a Stores,
    data: &'a DataDir,
    to: &'a Path,
    before: &'a BackupManifest,
    manifest: BackupManifest,
    copied: u64,
    progress: &'a mut dyn FnMut(u64) -> bool,
}

/// The part of a file to copy.
#[derive(Clone, Copy, PartialEq)]
enum CopyExtent {
    /// The whole file, at its current length.
    Whole,
    /// The first bytes, up to this length; a previous copy is a prefix of them.
    Grown(u64),
}

impl BackupRun<'_> {
    /// Returns `None` if a file was replaced during the copy.
    fn run(mut self) -> Result<Option<BackupSummary>, EngineError> {
        let round = self.before.round + 1;
        self.manifest = BackupManifest {
            format: FORMAT,
            pharos: pharos_core::VERSION.into(),
            taken: SystemClock.now().to_string(),
            round,
            ..BackupManifest::default()
        };
        let library = self.stores.library()?;
        let library = library.local().ok_or(EngineError::NotLocal { operation: "a backup" })?;
        let files = library.files()?;
        self.copy_file(&self.data.config(), CopyExtent::Whole)?;
        let applied = self.copy_catalog(round)?;
        if !self.copy_history()?
            || !self.copy_graph()?
            || !self.copy_derived()?
            || !self.copy_library(library, &applied)?
        {
            return Ok(None);
        }
        for folder in FOLDERS {
            self.copy_folder(&self.data.root().join(folder))?;
        }
        // A file replaced by compaction does not match the derived data copied before it.
        let now: BTreeMap<u32, PathBuf> = library.files()?.into_iter().collect();
        if files.iter().any(|(number, path)| now.get(number) != Some(path)) {
            return Ok(None);
        }
        self.manifest.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.manifest.write(self.to)?;
        self.remove_unlisted();
        Ok(Some(BackupSummary {
            files: self.manifest.files.len() as u64,
            bytes: self.manifest.files.iter().map(|entry| entry.size).sum(),
            copied: self.copied,
            end: self.manifest.end.clone(),
        }))
    }

    /// Copies the catalog in one transaction and returns the position it has applied.
    fn copy_catalog(&mut self, round: u64) -> Result<LibraryPositions, EngineError> {
        let Some(catalog) = self.stores.catalog()? else { return Ok(LibraryPositions::START) };
        // A catalog elsewhere has its own backups; restore can also rebuild it from the library.
        let Some(local) = catalog.local() else { return Ok(LibraryPositions::START) };
        let stored = format!("catalog-{round}.db");
        let path = self.to.join(&stored);
        remove_database(&path)?;
        local.backup(&path)?;
        let (size, xxh3) = checksum(&path, u64::MAX)?;
        self.report_copied(size)?;
        self.manifest.files.push(BackupEntry { path: "catalog.db".into(), stored, size, xxh3, changed: 0 });
        Ok(catalog.applied_positions()?)
    }

    /// Copies the history generation, which is immutable. Latest generations are rebuilt by replay.
    fn copy_history(&mut self) -> Result<bool, EngineError> {
        self.manifest.searchable = !self.stores.index()?.applied_positions()?.is_start();
        let Some(generations) = self.stores.generations() else { return Ok(true) };
        let current = generations.current()?;
        let Some(history) = current.history else { return Ok(true) };
        let copied = self.copy_folder(&generations.history_dir(history.number))?;
        self.manifest.history = Some(history.clone());
        Ok(copied && generations.current()?.history == Some(history))
    }

    /// Copies the link-analysis results, which are immutable and replaced as a whole.
    fn copy_graph(&mut self) -> Result<bool, EngineError> {
        let folder = self.data.graph();
        match newest_folder(&folder).map_err(StoreError::io("read", &folder))? {
            Some(newest) => self.copy_folder(&newest),
            None => Ok(true),
        }
    }

    /// Copies the derived stores. Their blocks are checksummed, and a torn block is truncated when the file is opened.
    fn copy_derived(&mut self) -> Result<bool, EngineError> {
        let folders = ["pages", "links"].map(|folder| self.data.library().join(folder));
        Ok(self.copy_folder(&folders[0])? && self.copy_folder(&folders[1])?)
    }

    /// Copies the library up to its last complete record.
    fn copy_library(
        &mut self,
        library: &dyn LocalLibrary,
        known_good: &LibraryPositions,
    ) -> Result<bool, EngineError> {
        let end = library.intact_end(known_good.get(0))?;
        self.manifest.end = end.into();
        for (number, path) in library.files()? {
            if number > end.volume {
                break;
            }
            let extent = if number == end.volume { CopyExtent::Grown(end.offset) } else { CopyExtent::Whole };
            if !self.copy_file(&path, extent)? {
                return Ok(false);
            }
            // A compacted file has an offset table beside it.
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let stem = name.split('.').next().unwrap_or_default();
            let table = path.with_file_name(format!("{stem}.offsets"));
            // The table can be rebuilt, so a missing one loses nothing.
            if stem.contains('-') && table.exists() && !self.copy_file(&table, CopyExtent::Whole)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies a directory recursively, except locks and keys. Returns `false` if a file vanished during the copy.
    fn copy_folder(&mut self, folder: &Path) -> Result<bool, EngineError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(e) => return Err(StoreError::io("read", folder)(e).into()),
        };
        for entry in entries {
            let path = entry.map_err(StoreError::io("read", folder))?.path();
            let there = match path.extension().and_then(|e| e.to_str()) {
                Some("lock") => true,
                // Another process is replacing a file.
                _ if pharos_files::is_unfinished(&path) => true,
                // The key that pseudonymises visits is discarded daily; a backup would preserve it.
                _ if path.file_name().is_some_and(|name| name == VISIT_KEY) => true,
                _ if path.is_dir() => self.copy_folder(&path)?,
                _ => self.copy_file(&path, CopyExtent::Whole)?,
            };
            if !there {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Copies one file. Returns `false` if it does not exist; the configuration file is optional.
    fn copy_file(&mut self, from: &Path, extent: CopyExtent) -> Result<bool, EngineError> {
        let relative = from.strip_prefix(self.data.root()).unwrap_or(from);
        let path = relative.to_string_lossy().into_owned();
        let mut file = match File::open(from) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(StoreError::io("open", from)(e).into()),
        };
        let meta = file.metadata().map_err(StoreError::io("read", from))?;
        let changed = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
        let size = match extent {
            CopyExtent::Whole => meta.len(),
            CopyExtent::Grown(size) => size.min(meta.len()),
        };
        if let Some(old) = self.before.entry(&path) {
            let there = fs::metadata(self.to.join(&old.stored)).is_ok_and(|m| m.len() >= old.size);
            let is_library = self.is_library_file(from);
            // A library file is never modified, only extended or replaced by one of another name.
            if there && old.size == size && (is_library || old.changed == changed) {
                self.manifest.files.push(old.clone());
                return Ok(true);
            }
            if there && is_library && old.size < size {
                let stored = old.stored.clone();
                self.copy_range(&mut file, from, &stored, old.size, size)?;
                return self.add_entry(path, stored, size, changed);
            }
        }
        let taken = self.before.files.iter().any(|entry| entry.stored == path);
        let stored = if taken { format!("{path}.{}", self.manifest.round) } else { path.clone() };
        self.copy_range(&mut file, from, &stored, 0, size)?;
        self.add_entry(path, stored, size, changed)
    }

    fn is_library_file(&self, path: &Path) -> bool {
        path.parent() == Some(&self.data.library())
            && path.extension().is_some_and(|e| e == "gz" || e == "zst")
    }

    fn add_entry(
        &mut self,
        path: String,
        stored: String,
        size: u64,
        changed: i64,
    ) -> Result<bool, EngineError> {
        let (found, xxh3) = checksum(&self.to.join(&stored), size)?;
        if found != size {
            // The file shrank during the copy: a torn block was truncated.
            return Ok(false);
        }
        self.manifest.files.push(BackupEntry { path, stored, size, xxh3, changed });
        Ok(true)
    }

    /// Copies a byte range of a file to the same range of the copy and syncs it.
    fn copy_range(
        &mut self,
        file: &mut File,
        from: &Path,
        stored: &str,
        start: u64,
        end: u64,
    ) -> Result<(), EngineError> {
        let to = self.to.join(stored);
        let folder = to.parent().unwrap_or(self.to);
        pharos_files::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        let mut out = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&to)
            .map_err(StoreError::io("create", &to))?;
        copy_mode(file, &out).map_err(StoreError::io("write", &to))?;
        out.set_len(start).map_err(StoreError::io("write", &to))?;
        out.seek(SeekFrom::Start(start)).map_err(StoreError::io("write", &to))?;
        file.seek(SeekFrom::Start(start)).map_err(StoreError::io("read", from))?;
        let mut left = end.saturating_sub(start);
        while left > 0 {
            let part = left.min(PROGRESS_BYTES);
            let copied = io::copy(&mut Read::by_ref(file).take(part), &mut out)
                .map_err(StoreError::io("copy", &to))?;
            if copied == 0 {
                break;
            }
            left -= copied;
            self.report_copied(copied)?;
        }
        pharos_files::sync_file(&out, &to)
            .and_then(|()| pharos_files::sync_directory(folder))
            .map_err(StoreError::io("sync", &to))?;
        Ok(())
    }

    fn report_copied(&mut self, bytes: u64) -> Result<(), EngineError> {
        self.copied += bytes;
        if (self.progress)(self.copied) { Ok(()) } else { Err(EngineError::Stopped) }
    }

    /// Removes files that the new manifest does not list: superseded copies and remains of interrupted backups.
    fn remove_unlisted(&self) {
        let mut kept: HashSet<PathBuf> =
            self.manifest.files.iter().map(|entry| self.to.join(&entry.stored)).collect();
        kept.extend([self.to.join(MANIFEST), self.to.join(BACKUP_MARKER)]);
        remove_all_but(&kept, self.to);
    }
}

/// Removes every other file, and directories left empty. Failures only cost disk space.
fn remove_all_but(kept: &HashSet<PathBuf>, folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_all_but(kept, &path);
            // A directory that is not empty remains.
            let _ = fs::remove_dir(&path);
        } else if !kept.contains(&path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Bytes copied between two progress reports.
const PROGRESS_BYTES: u64 = 8 << 20;

/// Returns length and checksum of the first `size` bytes of a file.
fn checksum(path: &Path, size: u64) -> Result<(u64, String), StoreError> {
    let (length, sum) = pharos_files::checksum(path, size).map_err(StoreError::io("read", path))?;
    Ok((length, format!("{sum:016x}")))
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
    use crate::stores::test_stores;
    use pharos_core::{PageUrl, Timestamp};
    use pharos_store::{LibraryRecord, RawResponse, RecordContent};

    fn page(n: usize) -> LibraryRecord {
        let body = format!("<title>Page {n}</title><p>Number {n} of the lighthouses.").into_bytes();
        let response = RawResponse { status: 200, body, ..RawResponse::default() };
        let url = PageUrl::parse(&format!("http://example.org/{n}")).unwrap();
        LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response))
    }

    fn ingest(data: &DataDir, numbers: std::ops::Range<usize>) {
        let engine = Engine::open(data.clone(), Config::default(), "test", true).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut ingest = engine.ingest(&never).unwrap();
        ingest.append(numbers.map(page).collect()).unwrap();
        ingest.finish().unwrap();
    }

    fn pages(data: &DataDir) -> u64 {
        test_stores(data).index().unwrap().view().unwrap().pages().unwrap()
    }

    #[test]
    fn manifest_and_restored_files_survive_power_cuts() {
        let dir = tempfile::tempdir().unwrap();
        let (from, data) = (dir.path().join("backup"), DataDir::at(dir.path().join("data")));
        pharos_files::create_dir_all(&from).unwrap();
        for round in 1..3 {
            let manifest = BackupManifest { round, ..BackupManifest::default() };
            pharos_files::power_cut::check(dir.path(), || manifest.write(&from).unwrap()).unwrap();
        }
        pharos_files::replace(&from.join("pharos.toml"), b"# settings").unwrap();
        let (path, stored) = ("desk/pharos.toml".to_string(), "pharos.toml".to_string());
        let entry = BackupEntry { path, stored, size: 10, xxh3: String::new(), changed: 0 };
        let restore = || restore_entry(&from, &data, &entry).unwrap();
        pharos_files::power_cut::check(dir.path(), restore).unwrap();
    }

    #[test]
    fn a_second_backup_copies_less_and_each_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        let to = dir.path().join("backup");
        ingest(&data, 0..50);
        let first = backup(&test_stores(&data), &to, |_| true).unwrap();
        assert_eq!(first.copied, first.bytes);
        let nothing_new = backup(&test_stores(&data), &to, |_| true).unwrap();
        ingest(&data, 50..60);
        let second = backup(&test_stores(&data), &to, |_| true).unwrap();
        assert!(
            nothing_new.copied < first.copied && second.copied < second.bytes,
            "{nothing_new:?} {second:?}"
        );

        let back = DataDir::at(dir.path().join("back"));
        restore(&to, &back, || Ok(Config::default()), |_| true).unwrap();
        assert_eq!(pages(&back), 60);
        let occupied = restore(&to, &back, || Ok(Config::default()), |_| true).unwrap_err();
        assert!(matches!(occupied, EngineError::NotEmpty { .. }), "{occupied}");
    }

    #[test]
    fn damaged_and_unfinished_backups_are_refused_and_a_restore_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        let to = dir.path().join("backup");
        ingest(&data, 0..20);
        let stopped = backup(&test_stores(&data), &to, |_| false).unwrap_err();
        assert!(matches!(stopped, EngineError::Stopped));
        let back = DataDir::at(dir.path().join("back"));
        let unfinished = restore(&to, &back, || Ok(Config::default()), |_| true).unwrap_err();
        assert!(unfinished.to_string().contains("incomplete"), "{unfinished}");
        backup(&test_stores(&data), &to, |_| true).unwrap();

        let whole = BackupManifest::read(&to).unwrap().files.iter().map(|entry| entry.size).sum::<u64>();
        let interrupted = restore(&to, &back, || Ok(Config::default()), |n| n < whole).unwrap_err();
        assert!(matches!(interrupted, EngineError::Stopped));
        fs::create_dir_all(back.root()).unwrap();
        fs::write(back.root().join(RESTORE_MARKER), "").unwrap();
        fs::write(back.root().join("catalog.db"), "half").unwrap();
        let refused = Engine::open(back.clone(), Config::default(), "up", true).err().unwrap();
        assert!(matches!(refused, EngineError::RestoreIncomplete { .. }), "{refused}");
        restore(&to, &back, || Ok(Config::default()), |_| true).unwrap();
        assert_eq!(pages(&back), 20);

        let library = to.join("library/00000001.warc.gz");
        let mut bytes = fs::read(&library).unwrap();
        bytes[100] ^= 1;
        fs::write(&library, bytes).unwrap();
        let other = DataDir::at(dir.path().join("other"));
        let damaged = restore(&to, &other, || Ok(Config::default()), |_| true).unwrap_err();
        assert!(damaged.to_string().contains("00000001.warc.gz is damaged"), "{damaged}");
        assert!(!other.root().exists());
    }

    #[test]
    fn nothing_is_copied_over_something_else() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        ingest(&data, 0..20);
        let before = fs::read(data.library().join("00000001.warc.gz")).unwrap();
        for to in [data.root(), dir.path()] {
            let refused = backup(&test_stores(&data), to, |_| true).unwrap_err().to_string();
            assert!(refused.contains("not empty and is not a backup"), "{refused}");
        }
        assert_eq!(fs::read(data.library().join("00000001.warc.gz")).unwrap(), before);
        let to = dir.path().join("backup");
        backup(&test_stores(&data), &to, |_| true).unwrap();
        fs::write(to.join("library/00000009-1.warc.gz"), "half").unwrap();
        backup(&test_stores(&data), &to, |_| true).unwrap();
        assert!(!to.join("library/00000009-1.warc.gz").exists(), "left over by an interrupted backup");
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
