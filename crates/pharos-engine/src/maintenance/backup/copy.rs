//! One attempt to copy a data directory: into a backup that is continued, or beside an earlier one.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use pharos_core::{Clock as _, LibraryPositions, SystemClock};
use pharos_graph::relations::newest_folder;
use pharos_store::catalog::remove_database;
use pharos_store::library::LocalLibrary;
use pharos_store::{DataDir, StoreError};
use serde::Serialize;

use super::manifest::{BACKUP_MARKER, BackupEntry, BackupManifest, FORMAT, MANIFEST, checksum};
use crate::status::data_dir::disk_usage;
use crate::{EngineError, Stores};

/// Number of attempts when compaction or a new generation replaces files during the copy.
const MAX_ATTEMPTS: usize = 5;
/// Optional directories that are copied file by file.
const FOLDERS: &[&str] = &["models", "logs", "desk"];
/// Secret key of the logs, never part of a backup.
const VISIT_KEY: &str = "visit-key";
/// Bytes copied between two progress reports.
const PROGRESS_BYTES: u64 = 8 << 20;

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

/// Progress of a backup, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupProgress {
    /// Bytes that are in the backup, copied or unchanged.
    pub done: u64,
    /// Bytes copied.
    pub copied: u64,
    /// Estimate of all bytes, from the sizes at the start.
    pub total: u64,
}

/// Receives the progress of a backup, and fails to stop it.
pub(super) type OnProgress<'a> = dyn FnMut(BackupProgress) -> Result<(), EngineError> + 'a;

/// An earlier backup, whose unchanged files are not copied again.
#[derive(Clone, Copy)]
pub(super) struct EarlierBackup<'a> {
    /// The directory to write to, or another one, with which the new backup then shares unchanged files.
    pub(super) dir: &'a Path,
    pub(super) manifest: &'a BackupManifest,
}

/// Copies a data directory to `to`, and tries again if files are replaced meanwhile.
pub(super) fn copy_data(
    stores: &Stores,
    to: &Path,
    earlier: EarlierBackup<'_>,
    progress: &mut OnProgress<'_>,
) -> Result<BackupSummary, EngineError> {
    let data = stores.data();
    for _ in 0..MAX_ATTEMPTS {
        let copy = BackupRun {
            stores,
            data,
            to,
            earlier,
            manifest: BackupManifest::default(),
            reached: BackupProgress::default(),
            progress: &mut *progress,
        };
        if let Some(summary) = copy.run()? {
            return Ok(summary);
        }
    }
    Err(EngineError::LibraryChanging { path: data.root().to_path_buf() })
}

/// Returns the path of a data directory by which its backups are recognised.
pub(super) fn source_name(data: &DataDir) -> String {
    let root = fs::canonicalize(data.root()).unwrap_or_else(|_| data.root().to_path_buf());
    root.to_string_lossy().into_owned()
}

/// Copies the file mode, so that private files stay private.
pub(super) fn copy_mode(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

/// One attempt to copy everything.
struct BackupRun<'a> {
    stores: &'a Stores,
    data: &'a DataDir,
    to: &'a Path,
    earlier: EarlierBackup<'a>,
    manifest: BackupManifest,
    reached: BackupProgress,
    progress: &'a mut OnProgress<'a>,
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
        let round = if self.is_continued() { self.earlier.manifest.round + 1 } else { 1 };
        self.manifest = BackupManifest {
            format: FORMAT,
            pharos: pharos_core::VERSION.into(),
            taken: SystemClock.now().to_string(),
            source: source_name(self.data),
            round,
            ..BackupManifest::default()
        };
        self.reached.total = self.total_bytes()?;
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
            bytes: self.manifest.bytes(),
            copied: self.reached.copied,
            end: self.manifest.end.clone(),
        }))
    }

    /// Returns `true` if the earlier backup is in the same directory.
    fn is_continued(&self) -> bool {
        self.earlier.dir == self.to
    }

    /// Returns the sizes of everything to copy. They may change meanwhile.
    fn total_bytes(&self) -> Result<u64, EngineError> {
        let mut paths = vec![self.data.config(), self.data.catalog(), self.data.library()];
        paths.extend(FOLDERS.iter().map(|folder| self.data.root().join(folder)));
        let graph = self.data.graph();
        paths.extend(newest_folder(&graph).map_err(StoreError::io("read", &graph))?);
        if let Some(generations) = self.stores.generations() {
            let history = generations.current()?.history;
            paths.extend(history.map(|history| generations.history_dir(history.number)));
        }
        Ok(paths.iter().map(|path| disk_usage(path)).sum())
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
        if let Some(old) = self.earlier.manifest.entry(&path)
            && fs::metadata(self.earlier.dir.join(&old.stored)).is_ok_and(|m| m.len() >= old.size)
        {
            if !self.is_continued() {
                if old.size == size && old.changed == changed && self.share_file(old) {
                    return self.keep_entry(BackupEntry { stored: path, ..old.clone() });
                }
            // A library file is never modified, only extended or replaced by one of another name.
            } else if old.size == size && (self.is_library_file(from) || old.changed == changed) {
                return self.keep_entry(old.clone());
            } else if old.size < size && self.is_library_file(from) {
                let stored = old.stored.clone();
                self.reached.done += old.size;
                self.copy_range(&mut file, from, &stored, old.size, size)?;
                return self.add_entry(path, stored, size, changed);
            }
        }
        let taken =
            self.is_continued() && self.earlier.manifest.files.iter().any(|entry| entry.stored == path);
        let stored = if taken { format!("{path}.{}", self.manifest.round) } else { path.clone() };
        self.copy_range(&mut file, from, &stored, 0, size)?;
        self.add_entry(path, stored, size, changed)
    }

    /// Adds a file that is in the backup already.
    fn keep_entry(&mut self, entry: BackupEntry) -> Result<bool, EngineError> {
        self.reached.done += entry.size;
        self.manifest.files.push(entry);
        (self.progress)(self.reached)?;
        Ok(true)
    }

    /// Gives a file of the earlier backup a second name in this one. Returns `false` if the file system cannot.
    ///
    /// Neither name is ever written to again: a changed file is copied to a new file.
    fn share_file(&self, old: &BackupEntry) -> bool {
        let to = self.to.join(&old.path);
        let folder = to.parent().unwrap_or(self.to);
        pharos_files::create_dir_all(folder)
            .and_then(|()| pharos_files::remove_if_exists(&to))
            .and_then(|_| fs::hard_link(self.earlier.dir.join(&old.stored), &to))
            .and_then(|()| pharos_files::sync_directory(folder))
            .is_ok()
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
        if start == 0 {
            // The name may belong to a file that an earlier backup shares.
            pharos_files::remove_if_exists(&to).map_err(StoreError::io("remove", &to))?;
        }
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
        self.reached.copied += bytes;
        self.reached.done += bytes;
        (self.progress)(self.reached)
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
