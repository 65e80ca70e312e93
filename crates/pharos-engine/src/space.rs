//! How much disk space is left.

use std::path::Path;

/// Free bytes of the disk that `path` is on, where the system tells.
pub(crate) fn free(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
