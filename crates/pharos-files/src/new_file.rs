//! A file that is written in steps before it replaces another.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::{PRIVATE_FILE, layer, parent};

const PREFIX: &str = ".";
const SUFFIX: &str = ".new";

/// New content of a file, under a temporary name in the same directory until it is installed. A file that is dropped
/// before is removed; one that a killed process left is overwritten by the next replacement.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    /// Locked, so that another process that replaces the same file waits.
    file: File,
    is_installed: bool,
}

impl NewFile {
    /// Begins to replace or create a file. The permissions of an existing file are kept.
    pub fn create(path: &Path) -> io::Result<Self> {
        let new = Self::create_with_mode(path, None)?;
        if let Ok(old) = fs::metadata(path) {
            new.file.set_permissions(old.permissions())?;
        }
        Ok(new)
    }

    /// Begins to replace a file that only its owner may read.
    pub fn create_private(path: &Path) -> io::Result<Self> {
        let new = Self::create_with_mode(path, Some(PRIVATE_FILE))?;
        new.file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
        Ok(new)
    }

    fn create_with_mode(path: &Path, mode: Option<u32>) -> io::Result<Self> {
        let temporary = unfinished_path(path)?;
        loop {
            let file = layer::create(&temporary, mode)?;
            match file.lock() {
                Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
                _ => {}
            }
            // Another process may have installed or removed the file while this one waited for the lock.
            if !is_at(&file, &temporary)? {
                continue;
            }
            // Left by a killed process: its permissions and open readers are unknown.
            if file.metadata()?.len() > 0 {
                layer::remove_if_exists(&temporary)?;
                continue;
            }
            return Ok(Self { path: path.to_path_buf(), temporary, file, is_installed: false });
        }
    }

    /// Returns the open file, to set its metadata.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the content, so that a full disk is noticed before the caller takes its last step before
    /// [`install`](Self::install).
    pub fn sync(&self) -> io::Result<()> {
        layer::sync_file(&self.file, &self.temporary)
    }

    /// Syncs the content and replaces the file durably.
    pub fn install(self) -> io::Result<()> {
        self.sync()?;
        self.move_by(layer::rename)
    }

    /// Like [`install`](Self::install), but fails with [`io::ErrorKind::AlreadyExists`] if the file exists.
    pub fn install_new(self) -> io::Result<()> {
        self.sync()?;
        self.move_by(layer::rename_new)
    }

    pub(crate) fn install_volatile(mut self) -> io::Result<()> {
        layer::rename(&self.temporary, &self.path)?;
        self.is_installed = true;
        Ok(())
    }

    fn move_by(mut self, rename: fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        rename(&self.temporary, &self.path)?;
        self.is_installed = true;
        layer::sync_directory(parent(&self.path))
    }
}

impl Write for NewFile {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.file.write(content)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_installed {
            let _ = layer::remove_if_exists(&self.temporary);
        }
    }
}

/// Returns `true` for the temporary name of a file that is being replaced, or was when its process was killed.
pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.len() > PREFIX.len() + SUFFIX.len() && name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

fn unfinished_path(path: &Path) -> io::Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the path of a file"));
    };
    let mut temporary = OsString::from(PREFIX);
    temporary.push(name);
    temporary.push(SUFFIX);
    Ok(path.with_file_name(temporary))
}

/// Returns `true` if the path leads to this open file.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((open.dev(), open.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
