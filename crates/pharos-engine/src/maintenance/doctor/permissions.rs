//! Checks that every file of the stores may be read. A file without permission is not damaged: repairing it would replace
//! good data.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use pharos_store::{DataDir, StoreError};

/// Returns an error for the first file or directory of the stores that this process may not read.
pub(super) fn require_readable(data: &DataDir) -> Result<(), StoreError> {
    for path in [data.root().to_path_buf(), data.catalog()] {
        open(&path)?;
    }
    [data.library(), data.index(), data.graph()].iter().try_for_each(|folder| require_tree(folder))
}

fn require_tree(path: &Path) -> Result<(), StoreError> {
    open(path)?;
    if !path.is_dir() {
        return Ok(());
    }
    let entries = match fs::read_dir(path) {
        // It was removed in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(StoreError::io("read", path))?,
    };
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", path))?;
        require_tree(&entry.path())?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<(), StoreError> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(StoreError::Unreadable { path: path.to_path_buf() })
        }
        // Other faults are found by the checks of the stores.
        _ => Ok(()),
    }
}
