//! The file operations of a replacement.
//!
//! A test may record the operations of its thread and simulate power cuts between them. The recorder is always compiled
//! in: it costs one look at a thread-local variable beside a system call, whereas a Cargo feature would compile this crate
//! and all that use it twice.

use std::cell::RefCell;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

use crate::parent;

/// One operation, after it has succeeded.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Create(PathBuf),
    CreateDirectory(PathBuf),
    /// A sync with the content of the file.
    SyncFile(PathBuf, Vec<u8>),
    SyncDirectory(PathBuf),
    Rename {
        from: PathBuf,
        to: PathBuf,
        /// Content of the file, or of all files of the directory by relative path.
        files: Vec<(PathBuf, Vec<u8>)>,
    },
    Remove(PathBuf),
}

thread_local! {
    static RECORDED: RefCell<Option<Vec<Operation>>> = const { RefCell::new(None) };
}

/// Runs `work` and returns the operations of this thread.
pub(crate) fn record_during(work: impl FnOnce()) -> Vec<Operation> {
    RECORDED.set(Some(Vec::new()));
    work();
    RECORDED.take().unwrap_or_default()
}

fn record(operation: impl FnOnce() -> io::Result<Operation>) -> io::Result<()> {
    if RECORDED.with_borrow(Option::is_some) {
        let operation = operation()?;
        RECORDED.with_borrow_mut(|recorded| recorded.get_or_insert_default().push(operation));
    }
    Ok(())
}

/// Opens a file for reading and writing, and creates it if it is missing.
pub(crate) fn create(path: &Path, mode: Option<u32>) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    if let Some(mode) = mode {
        options.mode(mode);
    }
    let file = options.open(path)?;
    record(|| Ok(Operation::Create(path.to_path_buf())))?;
    Ok(file)
}

pub(crate) fn create_dir_all(path: &Path, mode: Option<u32>) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    create_dir_all(parent(path), mode)?;
    let mut builder = DirBuilder::new();
    if let Some(mode) = mode {
        builder.mode(mode);
    }
    match builder.create(path) {
        // Another thread may have been faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        other => other?,
    }
    record(|| Ok(Operation::CreateDirectory(path.to_path_buf())))?;
    sync_directory(parent(path))
}

pub(crate) fn sync_file(file: &File, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    record(|| Ok(Operation::SyncFile(path.to_path_buf(), fs::read(path)?)))
}

pub(crate) fn sync_path(path: &Path) -> io::Result<()> {
    sync_file(&File::open(path)?, path)
}

pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()?;
    record(|| Ok(Operation::SyncDirectory(path.to_path_buf())))
}

pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    record_rename(from, to)
}

/// Renames a file unless the new name exists.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not supported by this file system.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)?;
        }
        other => other?,
    }
    record_rename(from, to)
}

fn record_rename(from: &Path, to: &Path) -> io::Result<()> {
    record(|| {
        let mut files = Vec::new();
        read_tree(to, Path::new(""), &mut files)?;
        Ok(Operation::Rename { from: from.to_path_buf(), to: to.to_path_buf(), files })
    })
}

pub(crate) fn remove_if_exists(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        other => {
            other?;
            record(|| Ok(Operation::Remove(path.to_path_buf())))?;
            Ok(true)
        }
    }
}

/// Reads a file, or all files of a directory, by path relative to `root`.
pub(crate) fn read_tree(root: &Path, relative: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> io::Result<()> {
    let path = if relative.as_os_str().is_empty() { root.to_path_buf() } else { root.join(relative) };
    if !path.is_dir() {
        files.push((relative.to_path_buf(), fs::read(&path)?));
        return Ok(());
    }
    for entry in fs::read_dir(&path)? {
        read_tree(root, &relative.join(entry?.file_name()), files)?;
    }
    Ok(())
}
