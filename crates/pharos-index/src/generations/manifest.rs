//! The manifest of a finished history generation: every file with its size and checksum.
//!
//! A finished history never changes, so all of its files can be verified byte by byte. The first line of the manifest
//! is the checksum of the rest. A directory without a manifest is unfinished.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::{Clock as _, SystemClock, Timestamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::IndexError;
use crate::error::is_environment;

/// Name of the manifest file.
const FILE: &str = "files.json";
/// Generations up to this size are always verified completely, which takes a fraction of a second and protects small
/// collections in one-shot commands. For larger ones a quick check compares sizes and reads small files.
const QUICK_CHECK_LIMIT: u64 = 64 << 20;
/// Size up to which a quick check reads a file.
const SMALL_FILE: u64 = 256 << 10;

/// The manifest of a finished generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Time at which the generation was finished.
    pub(crate) built: Timestamp,
    /// Number of pages without copies.
    pub(crate) pages: u64,
    files: Vec<ManifestEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ManifestEntry {
    name: String,
    size: u64,
    xxh3: u64,
}

/// Extent of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerificationLevel {
    /// Compares sizes and reads small files, so that opening is fast.
    Quick,
    /// Reads every byte, which also loads the files into the page cache.
    Full,
}

/// Returns `true` if the generation in this directory is finished.
pub(crate) fn exists(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

/// Like [`exists`], with an error if the directory cannot be read.
pub(crate) fn try_exists(folder: &Path) -> Result<bool, IndexError> {
    folder.join(FILE).try_exists().map_err(IndexError::io("read", folder))
}

/// Writes the manifest durably, which finishes the generation.
pub(crate) fn write(folder: &Path, pages: u64) -> Result<(), IndexError> {
    let path = folder.join(FILE);
    let failed = |e| IndexError::io("write", &path)(e);
    let files = list_files(folder).map_err(failed)?;
    let manifest = Manifest { built: SystemClock.now(), pages, files };
    let json = serde_json::to_string(&manifest).map_err(|e| failed(e.into()))?;
    let text = format!("{:016x}\n{json}", xxh3_64(json.as_bytes()));
    pharos_files::replace(&path, text.as_bytes()).map_err(failed)
}

fn list_files(folder: &Path) -> io::Result<Vec<ManifestEntry>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        // Lock files and remains of a killed process are transient.
        if name.ends_with(".lock") || name.starts_with(FILE) || pharos_files::is_unfinished(&path) {
            continue;
        }
        let (size, xxh3) = pharos_files::checksum(&path, u64::MAX)?;
        files.push(ManifestEntry { name: name.into(), size, xxh3 });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Reads the manifest. Returns a message if it is damaged.
pub(crate) fn read(folder: &Path) -> Result<Manifest, String> {
    let text = fs::read_to_string(folder.join(FILE)).map_err(|e| e.to_string())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Manifest, String> {
    let (sum, json) = text.split_once('\n').ok_or("the manifest is truncated")?;
    if sum != format!("{:016x}", xxh3_64(json.as_bytes())) {
        return Err("wrong checksum".into());
    }
    serde_json::from_str(json).map_err(|e| e.to_string())
}

/// Returns the damaged files of a finished generation, each with a description.
///
/// # Errors
/// Returns an error if a file cannot be read for another reason than damage, such as missing permissions.
pub(crate) fn find_damage(
    folder: &Path,
    level: VerificationLevel,
) -> Result<Vec<(PathBuf, String)>, IndexError> {
    let path = folder.join(FILE);
    let read = fs::read_to_string(&path);
    let manifest = match read.map_err(|error| error_or_damage(&path, error)) {
        Ok(text) => parse(&text),
        Err(unreadable) => Err(unreadable?),
    };
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(problem) => return Ok(vec![(path, problem)]),
    };
    let total: u64 = manifest.files.iter().map(|file| file.size).sum();
    let mut damaged = Vec::new();
    for file in &manifest.files {
        let path = folder.join(&file.name);
        let is_read =
            level == VerificationLevel::Full || total <= QUICK_CHECK_LIMIT || file.size <= SMALL_FILE;
        let size = fs::metadata(&path).map(|meta| meta.len());
        let found = size.and_then(|size| match is_read && size == file.size {
            true => pharos_files::checksum(&path, u64::MAX),
            false => Ok((size, file.xxh3)),
        });
        match found {
            Ok((size, _)) if size != file.size => {
                damaged.push((path, format!("{size} bytes instead of {}", file.size)));
            }
            Ok((_, sum)) if sum != file.xxh3 => damaged.push((path, "wrong checksum".into())),
            Ok(_) => {}
            Err(error) => {
                let problem = error_or_damage(&path, error)?;
                damaged.push((path, problem));
            }
        }
    }
    Ok(damaged)
}

/// Returns the description of a damaged file, or an error if the environment prevents reading it.
fn error_or_damage(path: &Path, error: io::Error) -> Result<String, IndexError> {
    if is_environment(&error) { Err(IndexError::io("read", path)(error)) } else { Ok(error.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_is_found() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "some words").unwrap();
        fs::write(dir.path().join("b"), "").unwrap();
        fs::write(dir.path().join("x.lock"), "").unwrap();
        assert!(!exists(dir.path()));
        write(dir.path(), 3).unwrap();
        assert!(exists(dir.path()));
        assert_eq!(find_damage(dir.path(), VerificationLevel::Full).unwrap(), []);
        assert_eq!(read(dir.path()).unwrap().pages, 3);
        fs::remove_file(dir.path().join("x.lock")).unwrap();
        for name in ["a", FILE] {
            let path = dir.path().join(name);
            let whole = fs::read(&path).unwrap();
            for place in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[place] ^= 1 << (place % 7);
                fs::write(&path, &bytes).unwrap();
                let found = find_damage(dir.path(), VerificationLevel::Quick).unwrap();
                assert!(matches!(&found[..], [(damaged, _)] if *damaged == path), "{place}: {found:?}");
                fs::write(&path, &whole[..place]).unwrap();
                assert_eq!(
                    find_damage(dir.path(), VerificationLevel::Quick).unwrap().len(),
                    1,
                    "truncated at {place}"
                );
            }
            fs::write(&path, whole).unwrap();
        }
        fs::remove_file(dir.path().join("b")).unwrap();
        assert_eq!(find_damage(dir.path(), VerificationLevel::Quick).unwrap().len(), 1);
    }
}
