//! A copy of a running engine, and the way back.
//!
//! The copy needs no lock. The library only grows, so its files are copied as they are, the last one up to the end of
//! its last whole record; the catalog is copied in one transaction; both derived folders consist of blocks that prove
//! themselves; a history generation and what was found about links and copies never change. What follows the library
//! (catalog, derived stores, latest, graph) is copied before it and so never knows more than it; what it does not know yet is replayed when it is restored.
//!
//! `MANIFEST.json` is written last, by a rename, and names every file with its length and checksum. A file that was
//! copied by an earlier backup and only grew is continued; any other change makes a new copy beside the old one, which
//! is removed when the new manifest is in place: a backup that is cut short leaves the one before it whole.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_graph::relations::newest;
use pharos_index::{EmbeddedIndex, Generations, History, Index as _};
use pharos_store::{Catalog as _, DataDir, DiskLibrary, SqliteCatalog, StoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use xxhash_rust::xxh3::Xxh3;

use crate::{Engine, EngineError};

const MANIFEST: &str = "MANIFEST.json";
const FORMAT: u32 = 1;
/// Stands in a directory of backups, and is locked while one is made.
const MARKER: &str = "BACKUP";
/// Stands in a data directory that is being restored.
const UNFINISHED: &str = "RESTORING";
/// How often a copy is begun again when compaction or a new generation comes in between.
const TRIES: usize = 5;
/// Folders that are copied file by file, where they are there.
const FOLDERS: &[&str] = &["models", "logs", "desk"];
/// A file of the logs that stays at home.
const VISIT_KEY: &str = "visit-key";

/// What only its owner may read stays so.
fn keep_mode(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

/// What a backup consists of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    /// The version of pharos that made it.
    pharos: String,
    taken: String,
    /// How many backups were made into this directory.
    round: u64,
    /// The end of the library.
    end: LibraryPosition,
    /// The history generation, if there was one.
    history: Option<History>,
    /// Whether pages were searchable.
    searchable: bool,
    files: Vec<Entry>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// Its path in the data directory.
    path: String,
    /// Its path in the backup.
    stored: String,
    size: u64,
    /// The checksum (xxh3) of these bytes.
    xxh3: String,
    /// When the original was last changed, in nanoseconds; with the size it tells whether it is the same.
    changed: i64,
}

/// What a backup did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackupSummary {
    /// Files in the backup.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that were copied; the others were there already.
    pub copied: u64,
    /// The position up to which the library was copied.
    pub end: LibraryPosition,
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RestoreSummary {
    /// Files copied.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the backup was made.
    pub taken: String,
}

/// Is this a data directory whose restore was cut short?
pub(crate) fn is_unfinished(data: &DataDir) -> bool {
    data.root().join(UNFINISHED).exists()
}

/// Copies a data directory to `to`, beside whoever works on it. `progress` hears the bytes copied and says whether to
/// go on.
pub fn backup(
    data: &DataDir,
    to: &Path,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<BackupSummary, EngineError> {
    if is_unfinished(data) {
        return Err(EngineError::Unrestored { path: data.root().to_path_buf() });
    }
    let _lock = own_backup(to)?;
    let before = match Manifest::read(to) {
        Ok(manifest) => manifest,
        Err(EngineError::BadBackup { .. }) => Manifest::default(),
        Err(error) => return Err(error),
    };
    for _ in 0..TRIES {
        let copy = Copy {
            data,
            to,
            before: &before,
            manifest: Manifest::default(),
            copied: 0,
            progress: &mut progress,
        };
        if let Some(summary) = copy.run()? {
            return Ok(summary);
        }
    }
    Err(EngineError::Moving { path: data.root().to_path_buf() })
}

/// Makes the directory ours, or finds that it is. Nothing is copied over what is not: a slip of the finger must not
/// cost a home directory, or the library itself.
fn own_backup(to: &Path) -> Result<File, EngineError> {
    let refused = |detail: &'static str| {
        Err(StoreError::io("back up to", to)(io::Error::new(io::ErrorKind::AlreadyExists, detail)).into())
    };
    fs::create_dir_all(to).map_err(StoreError::io("create", to))?;
    let marker = to.join(MARKER);
    let mut entries = fs::read_dir(to).map_err(StoreError::io("read", to))?;
    if !marker.exists() && entries.next().is_some() {
        return refused("there is something else in it; name an empty directory");
    }
    let file = File::create(&marker).map_err(StoreError::io("create", &marker))?;
    if file.try_lock().is_err() {
        return refused("another backup into it is at work");
    }
    Ok(file)
}

impl Manifest {
    fn read(dir: &Path) -> Result<Self, EngineError> {
        let bad = |detail: String| EngineError::BadBackup { path: dir.to_path_buf(), detail };
        let path = dir.join(MANIFEST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(bad(format!("it has no {MANIFEST}, so it is no backup, or not a finished one")));
            }
            Err(e) => return Err(StoreError::io("read", &path)(e).into()),
        };
        let manifest: Self =
            serde_json::from_slice(&text).map_err(|e| bad(format!("{MANIFEST} is damaged: {e}")))?;
        if manifest.format > FORMAT {
            let (found, known) = (manifest.format, FORMAT);
            return Err(StoreError::NewerFormat { path, found, known }.into());
        }
        // A manifest comes from outside: it must not lead anywhere else.
        let is_inside = |path: &str| {
            !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
        };
        if !manifest.files.iter().all(|entry| is_inside(&entry.path) && is_inside(&entry.stored)) {
            return Err(bad(format!("{MANIFEST} names files outside of it")));
        }
        Ok(manifest)
    }

    fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let (path, new) = (dir.join(MANIFEST), dir.join(format!("{MANIFEST}.new")));
        let text = serde_json::to_vec_pretty(self).map_err(|e| StoreError::io("write", &path)(e.into()))?;
        File::create(&new)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(dir)?.sync_all())
            .map_err(StoreError::io("write", &path))
    }

    fn entry(&self, path: &str) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.path == path)
    }
}

/// One try to copy everything.
struct Copy<'a> {
    data: &'a DataDir,
    to: &'a Path,
    before: &'a Manifest,
    manifest: Manifest,
    copied: u64,
    progress: &'a mut dyn FnMut(u64) -> bool,
}

/// How much of a file is wanted.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// All of it, as it is now.
    Whole,
    /// So many bytes; what was copied before is their beginning.
    Grown(u64),
}

impl Copy<'_> {
    /// `None` where something was replaced in between.
    fn run(mut self) -> Result<Option<BackupSummary>, EngineError> {
        let round = self.before.round + 1;
        self.manifest = Manifest {
            format: FORMAT,
            pharos: pharos_core::VERSION.into(),
            taken: SystemClock.now().to_string(),
            round,
            ..Manifest::default()
        };
        let library = DiskLibrary::open_reader(&self.data.library())?;
        let files = library.files()?;
        self.file(&self.data.config(), Extent::Whole)?;
        let absorbed = self.catalog(round)?;
        if !self.history()? || !self.graph()? || !self.derived()? || !self.library(&library, absorbed)? {
            return Ok(None);
        }
        for folder in FOLDERS {
            self.folder(&self.data.root().join(folder))?;
        }
        // A file that compaction replaced meanwhile does not go with what was derived from it.
        let now: BTreeMap<u32, PathBuf> = library.files()?.into_iter().collect();
        if files.iter().any(|(number, path)| now.get(number) != Some(path)) {
            return Ok(None);
        }
        self.manifest.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.manifest.write(self.to)?;
        self.sweep();
        Ok(Some(BackupSummary {
            files: self.manifest.files.len() as u64,
            bytes: self.manifest.files.iter().map(|entry| entry.size).sum(),
            copied: self.copied,
            end: self.manifest.end,
        }))
    }

    /// The catalog in one transaction. Gives how far it has come.
    fn catalog(&mut self, round: u64) -> Result<LibraryPosition, EngineError> {
        let Some(catalog) = SqliteCatalog::open_reader(&self.data.catalog())? else {
            return Ok(LibraryPosition::START);
        };
        let stored = format!("catalog-{round}.db");
        let path = self.to.join(&stored);
        crate::rebuild::remove_database(&path)?;
        catalog.backup(&path)?;
        let (size, xxh3) = checksum(&path, u64::MAX)?;
        self.tell(size)?;
        self.manifest.files.push(Entry { path: "catalog.db".into(), stored, size, xxh3, changed: 0 });
        Ok(catalog.absorbed()?)
    }

    /// The history generation, which never changes. Latest generations are made again by replaying.
    fn history(&mut self) -> Result<bool, EngineError> {
        let generations = Generations::at(self.data.index());
        let current = generations.current()?;
        self.manifest.searchable =
            EmbeddedIndex::open_reader(&self.data.index())?.absorbed()? > LibraryPosition::START;
        let Some(history) = current.history else { return Ok(true) };
        let copied = self.folder(&generations.history_dir(history.number))?;
        self.manifest.history = Some(history);
        Ok(copied && generations.current()?.history == Some(history))
    }

    /// What the web says about pages, which never changes but for being replaced as a whole.
    fn graph(&mut self) -> Result<bool, EngineError> {
        let folder = self.data.graph();
        match newest(&folder).map_err(StoreError::io("read", &folder))? {
            Some(newest) => self.folder(&newest),
            None => Ok(true),
        }
    }

    /// Blocks prove themselves, and a torn one is cut off when the file is opened.
    fn derived(&mut self) -> Result<bool, EngineError> {
        let folders = ["pages", "links"].map(|folder| self.data.library().join(folder));
        Ok(self.folder(&folders[0])? && self.folder(&folders[1])?)
    }

    /// The raw pages, up to the last whole record.
    fn library(&mut self, library: &DiskLibrary, known_good: LibraryPosition) -> Result<bool, EngineError> {
        let end = library.whole_end(known_good)?;
        self.manifest.end = end;
        for (number, path) in library.files()? {
            if number > end.file {
                break;
            }
            let extent = if number == end.file { Extent::Grown(end.offset) } else { Extent::Whole };
            if !self.file(&path, extent)? {
                return Ok(false);
            }
            // A compacted file has a table beside it.
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let stem = name.split('.').next().unwrap_or_default();
            let table = path.with_file_name(format!("{stem}.offsets"));
            // It can be made again, so that nothing is lost where it is missing.
            if stem.contains('-') && table.exists() && !self.file(&table, Extent::Whole)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every file of a folder and of those below, but for locks and keys. False where one vanished meanwhile.
    fn folder(&mut self, folder: &Path) -> Result<bool, EngineError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(e) => return Err(StoreError::io("read", folder)(e).into()),
        };
        for entry in entries {
            let path = entry.map_err(StoreError::io("read", folder))?.path();
            let there = match path.extension().and_then(|e| e.to_str()) {
                Some("lock") => true,
                // What names visits is thrown away every day; a backup would remember it.
                _ if path.file_name().is_some_and(|name| name == VISIT_KEY) => true,
                _ if path.is_dir() => self.folder(&path)?,
                _ => self.file(&path, Extent::Whole)?,
            };
            if !there {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One file. False where it is not there; the configuration need not be.
    fn file(&mut self, from: &Path, extent: Extent) -> Result<bool, EngineError> {
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
            Extent::Whole => meta.len(),
            Extent::Grown(size) => size.min(meta.len()),
        };
        if let Some(old) = self.before.entry(&path) {
            let there = fs::metadata(self.to.join(&old.stored)).is_ok_and(|m| m.len() >= old.size);
            let is_library = self.is_library_file(from);
            // A file of the library is never changed, only continued or replaced by one of another name.
            if there && old.size == size && (is_library || old.changed == changed) {
                self.manifest.files.push(old.clone());
                return Ok(true);
            }
            if there && is_library && old.size < size {
                let stored = old.stored.clone();
                self.copy(&mut file, from, &stored, old.size, size)?;
                return self.enter(path, stored, size, changed);
            }
        }
        let taken = self.before.files.iter().any(|entry| entry.stored == path);
        let stored = if taken { format!("{path}.{}", self.manifest.round) } else { path.clone() };
        self.copy(&mut file, from, &stored, 0, size)?;
        self.enter(path, stored, size, changed)
    }

    fn is_library_file(&self, path: &Path) -> bool {
        path.parent() == Some(&self.data.library())
            && path.extension().is_some_and(|e| e == "gz" || e == "zst")
    }

    fn enter(&mut self, path: String, stored: String, size: u64, changed: i64) -> Result<bool, EngineError> {
        let (found, xxh3) = checksum(&self.to.join(&stored), size)?;
        if found != size {
            // It shrank while it was copied: a torn block was cut off.
            return Ok(false);
        }
        self.manifest.files.push(Entry { path, stored, size, xxh3, changed });
        Ok(true)
    }

    /// Copies a stretch of a file to the same place of the copy, and waits until it is on disk.
    fn copy(
        &mut self,
        file: &mut File,
        from: &Path,
        stored: &str,
        start: u64,
        end: u64,
    ) -> Result<(), EngineError> {
        let to = self.to.join(stored);
        let folder = to.parent().unwrap_or(self.to);
        fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        let mut out = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&to)
            .map_err(StoreError::io("create", &to))?;
        keep_mode(file, &out).map_err(StoreError::io("write", &to))?;
        out.set_len(start).map_err(StoreError::io("write", &to))?;
        out.seek(SeekFrom::Start(start)).map_err(StoreError::io("write", &to))?;
        file.seek(SeekFrom::Start(start)).map_err(StoreError::io("read", from))?;
        let mut left = end.saturating_sub(start);
        while left > 0 {
            let part = left.min(PART);
            let copied = io::copy(&mut Read::by_ref(file).take(part), &mut out)
                .map_err(StoreError::io("copy", &to))?;
            if copied == 0 {
                break;
            }
            left -= copied;
            self.tell(copied)?;
        }
        out.sync_all().map_err(StoreError::io("sync", &to))?;
        // The name of a new file is durable only once its folder is.
        File::open(folder).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", folder))?;
        Ok(())
    }

    fn tell(&mut self, bytes: u64) -> Result<(), EngineError> {
        self.copied += bytes;
        if (self.progress)(self.copied) { Ok(()) } else { Err(EngineError::Stopped) }
    }

    /// Removes what the new manifest does not name: older copies, and what backups that were cut short left behind.
    fn sweep(&self) {
        let mut kept: HashSet<PathBuf> =
            self.manifest.files.iter().map(|entry| self.to.join(&entry.stored)).collect();
        kept.extend([self.to.join(MANIFEST), self.to.join(MARKER)]);
        remove_all_but(&kept, self.to);
    }
}

/// Removes every other file, and folders that are empty then. What cannot be removed only takes room.
fn remove_all_but(kept: &HashSet<PathBuf>, folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_all_but(kept, &path);
            // One that is not empty stays.
            let _ = fs::remove_dir(&path);
        } else if !kept.contains(&path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Bytes copied between two words about the progress.
const PART: u64 = 8 << 20;

/// Length and checksum of the beginning of a file.
fn checksum(path: &Path, size: u64) -> Result<(u64, String), StoreError> {
    let mut file = File::open(path).map_err(StoreError::io("open", path))?.take(size);
    let (mut hasher, mut buffer, mut length) = (Xxh3::new(), vec![0; 1 << 20], 0);
    loop {
        let read = file.read(&mut buffer).map_err(StoreError::io("read", path))?;
        if read == 0 {
            return Ok((length, format!("{:016x}", hasher.digest())));
        }
        hasher.update(&buffer[..read]);
        length += read as u64;
    }
}

/// Brings a backup back into a data directory that is empty or not there, and replays what the stores do not know yet.
/// Cut short, it can be run again.
pub fn restore(
    from: &Path,
    data: &DataDir,
    config: impl FnOnce() -> Result<Config, EngineError>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<RestoreSummary, EngineError> {
    let manifest = Manifest::read(from)?;
    let mut done = 0;
    for entry in &manifest.files {
        prove(from, entry)?;
        done += entry.size;
        if !progress(done) {
            return Err(EngineError::Stopped);
        }
    }
    refuse_occupied(data)?;
    let owner = data.own("restore")?;
    let marker = data.root().join(UNFINISHED);
    File::create(&marker)
        .and_then(|file| file.sync_all())
        .and_then(|()| File::open(data.root())?.sync_all())
        .map_err(StoreError::io("create", &marker))?;
    clear(data)?;
    let mut summary = RestoreSummary { taken: manifest.taken.clone(), ..RestoreSummary::default() };
    for entry in &manifest.files {
        bring_back(from, data, entry)?;
        summary.files += 1;
        summary.bytes += entry.size;
        if !progress(summary.bytes) {
            return Err(EngineError::Stopped);
        }
    }
    if let Some(history) = manifest.history {
        Generations::at(data.index()).start_over(Some(history))?;
    }
    // The settings are those that were brought back.
    let engine = Engine::open_owned(owner, data.clone(), config()?, "restore", manifest.searchable)?;
    let (_stop, never) = watch::channel(false);
    engine.intake(&never)?.finish()?;
    fs::remove_file(&marker).map_err(StoreError::io("remove", &marker))?;
    Ok(summary)
}

fn prove(from: &Path, entry: &Entry) -> Result<(), EngineError> {
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

/// Nothing is restored over something else; a restore that was cut short is gone on with.
fn refuse_occupied(data: &DataDir) -> Result<(), EngineError> {
    if is_unfinished(data) {
        return Ok(());
    }
    let names = match fs::read_dir(data.root()) {
        Ok(entries) => entries.flatten().map(|entry| entry.file_name()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("read", data.root())(e).into()),
    };
    // The lock of a process that looked before is nothing.
    for name in names {
        if name != "LOCK" {
            return Err(EngineError::NotEmpty { path: data.root().to_path_buf() });
        }
    }
    Ok(())
}

/// Removes what a restore that was cut short left behind.
fn clear(data: &DataDir) -> Result<(), EngineError> {
    let entries = fs::read_dir(data.root()).map_err(StoreError::io("read", data.root()))?;
    for entry in entries {
        let path = entry.map_err(StoreError::io("read", data.root()))?.path();
        let name = path.file_name().unwrap_or_default();
        if name == "LOCK" || name == UNFINISHED {
            continue;
        }
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(StoreError::io("remove", &path))?;
    }
    Ok(())
}

fn bring_back(from: &Path, data: &DataDir, entry: &Entry) -> Result<(), EngineError> {
    let (from, to) = (from.join(&entry.stored), data.root().join(&entry.path));
    let folder = to.parent().unwrap_or(data.root());
    fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
    let source = File::open(&from).map_err(StoreError::io("open", &from))?;
    let mut out = File::create(&to).map_err(StoreError::io("create", &to))?;
    keep_mode(&source, &out).map_err(StoreError::io("write", &to))?;
    let mut source = source.take(entry.size);
    io::copy(&mut source, &mut out).and_then(|_| out.sync_all()).map_err(StoreError::io("write", &to))?;
    File::open(folder).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", folder))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::{PageUrl, Timestamp};
    use pharos_store::{Content, Record, Response};

    fn page(n: usize) -> Record {
        let body = format!("<title>Page {n}</title><p>Number {n} of the lighthouses.").into_bytes();
        let response = Response { status: 200, body, ..Response::default() };
        let url = PageUrl::parse(&format!("http://example.org/{n}")).unwrap();
        Record::new(url, Timestamp::EPOCH, Content::Response(response))
    }

    fn take(data: &DataDir, numbers: std::ops::Range<usize>) {
        let engine = Engine::open(data.clone(), Config::default(), "test", true).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut intake = engine.intake(&never).unwrap();
        intake.take(numbers.map(page).collect()).unwrap();
        intake.finish().unwrap();
    }

    fn pages(data: &DataDir) -> u64 {
        EmbeddedIndex::open_reader(&data.index()).unwrap().snapshot().unwrap().pages().unwrap()
    }

    #[test]
    fn a_second_backup_copies_less_and_each_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        let to = dir.path().join("backup");
        take(&data, 0..50);
        let first = backup(&data, &to, |_| true).unwrap();
        assert_eq!(first.copied, first.bytes);
        let nothing_new = backup(&data, &to, |_| true).unwrap();
        take(&data, 50..60);
        let second = backup(&data, &to, |_| true).unwrap();
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
        take(&data, 0..20);
        let stopped = backup(&data, &to, |_| false).unwrap_err();
        assert!(matches!(stopped, EngineError::Stopped));
        let back = DataDir::at(dir.path().join("back"));
        let unfinished = restore(&to, &back, || Ok(Config::default()), |_| true).unwrap_err();
        assert!(unfinished.to_string().contains("not a finished one"), "{unfinished}");
        backup(&data, &to, |_| true).unwrap();

        let whole = Manifest::read(&to).unwrap().files.iter().map(|entry| entry.size).sum::<u64>();
        let cut = restore(&to, &back, || Ok(Config::default()), |n| n < whole).unwrap_err();
        assert!(matches!(cut, EngineError::Stopped));
        fs::create_dir_all(back.root()).unwrap();
        fs::write(back.root().join(UNFINISHED), "").unwrap();
        fs::write(back.root().join("catalog.db"), "half").unwrap();
        let refused = Engine::open(back.clone(), Config::default(), "up", true).err().unwrap();
        assert!(matches!(refused, EngineError::Unrestored { .. }), "{refused}");
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
        take(&data, 0..20);
        let before = fs::read(data.library().join("00000001.warc.gz")).unwrap();
        for to in [data.root(), dir.path()] {
            let refused = backup(&data, to, |_| true).unwrap_err().to_string();
            assert!(refused.contains("something else in it"), "{refused}");
        }
        assert_eq!(fs::read(data.library().join("00000001.warc.gz")).unwrap(), before);
        let to = dir.path().join("backup");
        backup(&data, &to, |_| true).unwrap();
        fs::write(to.join("library/00000009-1.warc.gz"), "half").unwrap();
        backup(&data, &to, |_| true).unwrap();
        assert!(!to.join("library/00000009-1.warc.gz").exists(), "left over by one that was cut short");
    }

    #[test]
    fn a_manifest_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["../evil", "/etc/passwd", ""] {
            let entry =
                Entry { path: path.into(), stored: "x".into(), size: 0, xxh3: String::new(), changed: 0 };
            let manifest = Manifest { format: FORMAT, files: vec![entry], ..Manifest::default() };
            manifest.write(dir.path()).unwrap();
            let refused = Manifest::read(dir.path()).unwrap_err().to_string();
            assert!(refused.contains("outside"), "{refused}");
        }
    }
}
