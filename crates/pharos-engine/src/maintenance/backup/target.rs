//! Messages about a target directory that is full or may not be written.

use std::io;
use std::path::Path;

use pharos_core::config::ByteSize;
use pharos_mining::machine::disk_space;
use pharos_store::StoreError;

use crate::EngineError;

/// Returns an error about a backup directory. Data and earlier backups are unchanged.
pub(super) fn problem(target: &Path, problem: impl Into<String>) -> EngineError {
    EngineError::BackupTarget { path: target.to_path_buf(), problem: problem.into() }
}

/// Replaces an error about a file in the target by one that says what to do. Other errors are returned unchanged.
pub(super) fn explain(target: &Path, error: EngineError) -> EngineError {
    let reason = match &error {
        EngineError::Store(StoreError::Io { path, source, .. }) if path.starts_with(target) => {
            explain_kind(source.kind())
        }
        _ => None,
    };
    reason.map_or(error, |reason| problem(target, reason))
}

fn explain_kind(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "there is no space left: free some, keep fewer backups (backup.keep), or choose another disk"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only: mount it writable, allow the path in the service unit (ReadWritePaths), or \
             choose another directory"
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied: make the directory writable for the user that runs pharos"
        }
        io::ErrorKind::NotADirectory => "a part of the path is a file: choose another directory",
        _ => return None,
    })
}

/// Refuses to fill the disk of the data directory beyond `floor` bytes of free space.
pub(super) fn check_space(target: &Path, floor: u64) -> Result<(), EngineError> {
    match disk_space(target) {
        Some((_, free)) if free < floor => {
            let (free, floor) = (ByteSize(free >> 20 << 20), ByteSize(floor));
            let reason = format!(
                "it is on the disk of the data, where only {free} are free and engine.disk_floor keeps {floor} for \
                 the engine: free some space, or choose another disk"
            );
            Err(problem(target, reason))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_target_say_what_to_do() {
        let target = Path::new("/mnt/backup");
        let at = |path: &str, kind: io::ErrorKind| {
            let error = StoreError::io("copy", Path::new(path))(kind.into());
            explain(target, error.into()).to_string()
        };
        for (kind, advice) in [
            (io::ErrorKind::StorageFull, "no space left"),
            (io::ErrorKind::QuotaExceeded, "no space left"),
            (io::ErrorKind::ReadOnlyFilesystem, "read-only"),
            (io::ErrorKind::PermissionDenied, "writable"),
            (io::ErrorKind::NotADirectory, "is a file"),
        ] {
            let error = at("/mnt/backup/pharos-20260131-120000.incomplete/catalog-1.db", kind);
            assert!(error.contains("/mnt/backup") && error.contains(advice), "{error}");
            assert!(error.contains("earlier backups are unchanged"), "{error}");
            let elsewhere = at("/srv/data/catalog.db", kind);
            assert!(!elsewhere.contains("earlier backups"), "{elsewhere}");
        }
        assert!(check_space(&std::env::temp_dir(), 0).is_ok());
        let error = check_space(&std::env::temp_dir(), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("engine.disk_floor"), "{error}");
    }
}
