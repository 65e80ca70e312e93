//! The desk's directory in the data directory: readable by its owner only, written by several processes.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Read and write permission for the owner only.
const FILE_MODE: u32 = 0o600;

/// Path of the directory. Nothing is created before the first write.
#[derive(Clone, Debug)]
pub(crate) struct DeskDir(PathBuf);

impl DeskDir {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Locks the directory against writers until the returned file is dropped. Creates the directory if it is missing.
    pub(crate) fn lock(&self) -> io::Result<File> {
        pharos_files::create_private_dir_all(&self.0)?;
        let lock = File::options().create(true).append(true).mode(FILE_MODE).open(self.file("LOCK"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Opens a file for appending.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        File::options().create(true).read(true).append(true).mode(FILE_MODE).open(self.file(name))
    }

    /// Replaces a file durably: readers see the old or the new content. The caller must hold the lock.
    pub(crate) fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        pharos_files::replace_private(&self.file(name), content)
    }
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// Returns [`io::ErrorKind::FileTooLarge`] if the file is longer.
pub(crate) fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "file is too long"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_owner_may_look_and_files_are_replaced_whole() {
        let temp = tempfile::tempdir().unwrap();
        let dir = DeskDir::at(temp.path().join("desk"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let lock = dir.lock().unwrap();
        dir.replace("a", b"first").unwrap();
        pharos_files::power_cut::check(temp.path(), || dir.replace("a", b"second").unwrap()).unwrap();
        dir.append("b").unwrap().write_all(b"line\n").unwrap();
        drop(lock);
        assert_eq!(fs::read(dir.file("a")).unwrap(), b"second");
        assert_eq!((mode(&dir.0), mode(&dir.file("a")), mode(&dir.file("b"))), (0o700, 0o600, 0o600));
        assert!(read_limited(&dir.file("a"), 6).is_ok() && read_limited(&dir.file("a"), 5).is_err());
    }
}
