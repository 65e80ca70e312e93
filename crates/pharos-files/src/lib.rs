//! Durable replacement of files, and locks of directories: after a power cut a file has its old or its new content, never a part of either.
//!
//! ```text
//! create NAME in the same directory ─▶ write ─▶ sync file ─▶ rename ─▶ sync directory
//! ```
//!
//! Without the first sync, the rename may reach the disk before the data, and the file is empty after a cut. Without the
//! second one, a change that was acknowledged may be undone (Pillai et al. 2014, "All File Systems Are Not Created
//! Equal", §3–4).
//!
//! ```
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("order.json");
//! pharos_files::replace(&path, b"{}")?;
//! assert_eq!(std::fs::read(&path)?, b"{}");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Invariants
//! * Every function that writes returns only when its change is durable, except [`replace_volatile`] and [`remove_if_exists`].
//! * Processes that replace one file at the same time take turns; the last one wins.
//! * `tools/replacements.py` rejects private replacements elsewhere in the workspace.
//!
//! # Modules
//! * `new_file`: a file that is written in steps before it replaces another.
//! * `checksum`: checksums of files.
//! * `lock`: locks of directories between processes.
//! * `layer`: the file operations, recorded while a test asks for it.
//! * `power_cut`: simulates a cut after every recorded operation.

mod checksum;
mod layer;
mod lock;
mod new_file;
pub mod power_cut;

use std::io::{self, Write as _};
use std::path::Path;

pub use checksum::checksum;
pub use lock::DirectoryLock;
pub use new_file::{NewFile, is_unfinished};

/// Permissions of files that only their owner may read.
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;

/// Replaces or creates a file durably. An existing file keeps its permissions.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = NewFile::create(path)?;
    new.write_all(content)?;
    new.install()
}

/// Replaces or creates a file durably that only its owner may read.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = NewFile::create_private(path)?;
    new.write_all(content)?;
    new.install()
}

/// Replaces a file so that readers see the old or the new content, without waiting for the disk.
///
/// After a power cut the file may be empty. Use it only for content that is worthless by then, such as the status of a
/// process.
pub fn replace_volatile(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = NewFile::create(path)?;
    new.write_all(content)?;
    new.install_volatile()
}

/// Moves a file that another library has written, such as a database, to its final name durably. It may replace
/// another file.
pub fn install(new: &Path, path: &Path) -> io::Result<()> {
    layer::sync_path(new)?;
    rename(new, path)
}

/// Moves a directory to its final name durably. Its files must be synced; this function syncs the list of their names.
pub fn install_directory(new: &Path, path: &Path) -> io::Result<()> {
    layer::sync_directory(new)?;
    rename(new, path)
}

/// Renames a file or directory whose content is durable. It may replace another file.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    layer::rename(from, to)?;
    sync_directory(parent(to))?;
    if parent(from) == parent(to) { Ok(()) } else { sync_directory(parent(from)) }
}

/// Creates a directory and its missing parents durably.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    layer::create_dir_all(path, None)
}

/// Creates a directory and its missing parents durably, readable by the owner only.
pub fn create_private_dir_all(path: &Path) -> io::Result<()> {
    layer::create_dir_all(path, Some(PRIVATE_DIRECTORY))
}

/// Syncs a file that was written in place, such as a part of a directory that will be installed.
pub fn sync_file(file: &std::fs::File, path: &Path) -> io::Result<()> {
    layer::sync_file(file, path)
}

/// Syncs the names in a directory. The name of a new file is durable only after this.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    layer::sync_directory(path)
}

/// Removes a file. Returns `false` if it does not exist.
///
/// The removal is not synced: after a power cut the file may be there again.
pub fn remove_if_exists(path: &Path) -> io::Result<bool> {
    layer::remove_if_exists(path)
}

/// Returns the directory of a path; `.` for a bare file name.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
