//! Online backup of a data directory, and restore.
//!
//! A backup takes no lock. The library is append-only, so its files are copied as they are, the last one up to its last
//! complete record. The catalog is copied in one transaction. Derived directories consist of checksummed blocks.
//! History generations and link-analysis results are immutable. Stores that follow the library (catalog, derived stores,
//! index, graph) are copied before it and therefore never ahead of it; restore replays the rest.
//!
//! `MANIFEST.json` is written last, by a rename, and lists every file with length and checksum.
//!
//! There are two kinds of backup. [`backup`] continues the one backup of a directory: a file that only grew is
//! continued, and any other change makes a new copy beside the old one, which is removed once the new manifest is in
//! place. [`series::add_backup`] adds a backup with its own directory to a series, shares unchanged files with the
//! previous one by hard links, and deletes the oldest. An interrupted backup leaves earlier ones intact.
//!
//! * `copy`: one attempt to copy everything.
//! * `manifest`: contents of a backup.
//! * [`mod@restore`]: from a backup to a data directory.
//! * [`series`]: dated backups in one directory, with retention.
//! * [`runner`]: the backup of a running process, one at a time; [`schedule`]: when it is due; [`last`]: how it went.
//! * `target`: messages about a target that is full or may not be written.

mod copy;
pub mod last;
mod manifest;
pub mod restore;
pub mod runner;
pub mod schedule;
pub mod series;
mod target;

use std::fs::{self, File};
use std::io;
use std::path::Path;

use pharos_core::{Clock as _, SystemClock};
use pharos_store::StoreError;

pub use self::copy::{BackupProgress, BackupSummary};
use self::copy::{EarlierBackup, copy_data};
use self::last::{FinishedBackup, record_success};
use self::manifest::{BACKUP_MARKER, BackupManifest};
pub(crate) use self::restore::is_restore_incomplete;
pub use self::restore::{RestoreSummary, restore};
use crate::{EngineError, Stores};

/// Copies a data directory to `to`, also while an engine runs on it.
///
/// `progress` returns `false` to stop. Fails if `to` is neither empty nor a
/// backup directory, or if the library keeps changing under compaction.
pub fn backup(
    stores: &Stores,
    to: &Path,
    mut progress: impl FnMut(BackupProgress) -> bool,
) -> Result<BackupSummary, EngineError> {
    check_source(stores)?;
    let _lock = claim_directory(to).map_err(|error| target::explain(to, error))?;
    let before = match BackupManifest::read(to) {
        Ok(manifest) => manifest,
        Err(EngineError::BadBackup { .. }) => BackupManifest::default(),
        Err(error) => return Err(error),
    };
    let earlier = EarlierBackup { dir: to, manifest: &before };
    let summary = copy_data(stores, to, earlier, &mut |reached| {
        if progress(reached) { Ok(()) } else { Err(EngineError::Stopped) }
    })
    .map_err(|error| target::explain(to, error))?;
    record_success(stores.data(), FinishedBackup::new(SystemClock.now(), to, &summary));
    Ok(summary)
}

/// Refuses to back up an incomplete data directory, which would replace a complete backup.
fn check_source(stores: &Stores) -> Result<(), EngineError> {
    let data = stores.data();
    if is_restore_incomplete(data) {
        return Err(EngineError::RestoreIncomplete { path: data.root().to_path_buf() });
    }
    stores.check_library()
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

#[cfg(test)]
mod tests {
    use pharos_core::config::Config;
    use pharos_store::DataDir;
    use tokio::sync::watch;

    use super::manifest::BackupManifest;
    use super::restore::RESTORE_MARKER;
    use super::*;
    use crate::Engine;
    use crate::stores::test_stores;
    use pharos_core::{PageUrl, Timestamp};
    use pharos_store::{LibraryRecord, RawResponse, RecordContent};

    fn page(n: usize) -> LibraryRecord {
        let body = format!("<title>Page {n}</title><p>Number {n} of the lighthouses.").into_bytes();
        let response = RawResponse { status: 200, body, ..RawResponse::default() };
        let url = PageUrl::parse(&format!("http://example.org/{n}")).unwrap();
        LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response))
    }

    pub(super) fn ingest(data: &DataDir, numbers: std::ops::Range<usize>) {
        let engine = Engine::open(data.clone(), Config::default(), "test", true).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut ingest = engine.ingest(&never).unwrap();
        ingest.append(numbers.map(page).collect()).unwrap();
        ingest.finish().unwrap();
    }

    pub(super) fn pages(data: &DataDir) -> u64 {
        test_stores(data).index().unwrap().view().unwrap().pages().unwrap()
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
}
