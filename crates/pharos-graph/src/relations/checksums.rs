//! Checksums of the files of a build, written when it is finished. Builds of earlier releases have none.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::{ANCHORS, ROWS, TABLES, URLS, finished_folders};
use crate::GraphError;

/// File with a line for each other file: checksum, size, name.
const SUMS: &str = "checksums";

/// Writes the checksums of the files in the directory of a build.
pub(super) fn write(build: &Path) -> io::Result<()> {
    let mut text = String::new();
    for name in [TABLES, URLS, ANCHORS, ROWS] {
        let (size, sum) = pharos_files::checksum(&build.join(name), u64::MAX)?;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{sum:016x} {size} {name}");
    }
    let path = build.join(SUMS);
    let mut file = File::create_new(&path)?;
    file.write_all(text.as_bytes())?;
    pharos_files::sync_file(&file, &path)
}

/// Verifies every byte of the newest relations in a directory, if they have checksums.
///
/// # Errors
/// Returns [`GraphError::Unusable`] with the first damaged file.
pub fn verify(folder: &Path) -> Result<(), GraphError> {
    let Some(build) = finished_folders(folder)?.pop() else { return Ok(()) };
    let sums = build.join(SUMS);
    let text = match fs::read_to_string(&sums) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => String::new(),
        text => text?,
    };
    let mut lines = text.lines();
    for name in [TABLES, URLS, ANCHORS, ROWS] {
        let damaged = |path: &Path| GraphError::Unusable { path: path.to_owned(), problem: "is damaged" };
        let Some((sum, size)) = lines.next().and_then(|line| parse(line, name)) else {
            return Err(damaged(&sums));
        };
        let path = build.join(name);
        match pharos_files::checksum(&path, u64::MAX) {
            Ok(found) if found == (size, sum) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error.into()),
            _ => return Err(damaged(&path)),
        }
    }
    Ok(())
}

/// Parses the line of a file into checksum and size.
fn parse(line: &str, name: &str) -> Option<(u64, u64)> {
    let (sum, rest) = line.strip_suffix(name)?.trim_end().split_once(' ')?;
    Some((u64::from_str_radix(sum, 16).ok()?, rest.parse().ok()?))
}
