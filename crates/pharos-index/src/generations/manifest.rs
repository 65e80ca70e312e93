//! The manifest of a finished history generation: every file with its size and checksum.
//!
//! A finished history never changes, so all of its files can be verified byte by byte. The first line of the manifest
//! is the checksum of the rest. A directory without a manifest is unfinished.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use pharos_core::{Clock as _, SystemClock, Timestamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::IndexError;

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
        let (size, xxh3) = checksum(&path)?;
        files.push(ManifestEntry { name: name.into(), size, xxh3 });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Reads the manifest. Returns a message if it is damaged.
pub(crate) fn read(folder: &Path) -> Result<Manifest, String> {
    let text = fs::read_to_string(folder.join(FILE)).map_err(|e| e.to_string())?;
    let (sum, json) = text.split_once('\n').ok_or("the manifest is truncated")?;
    if sum != format!("{:016x}", xxh3_64(json.as_bytes())) {
        return Err("wrong checksum".into());
    }
    serde_json::from_str(json).map_err(|e| e.to_string())
}

/// Returns the damaged files of a finished generation, each with a description.
pub(crate) fn find_damage(folder: &Path, level: VerificationLevel) -> Vec<(PathBuf, String)> {
    let manifest = match read(folder) {
        Ok(manifest) => manifest,
        Err(problem) => return vec![(folder.join(FILE), problem)],
    };
    let total: u64 = manifest.files.iter().map(|file| file.size).sum();
    let mut damaged = Vec::new();
    for file in &manifest.files {
        let path = folder.join(&file.name);
        let is_read =
            level == VerificationLevel::Full || total <= QUICK_CHECK_LIMIT || file.size <= SMALL_FILE;
        let size = fs::metadata(&path).map(|meta| meta.len());
        let found = size.and_then(|size| match is_read && size == file.size {
            true => checksum(&path),
            false => Ok((size, file.xxh3)),
        });
        match found {
            Ok((size, _)) if size != file.size => {
                damaged.push((path, format!("{size} bytes instead of {}", file.size)));
            }
            Ok((_, sum)) if sum != file.xxh3 => damaged.push((path, "wrong checksum".into())),
            Ok(_) => {}
            Err(error) => damaged.push((path, error.to_string())),
        }
    }
    damaged
}

/// Computes size and checksum of a file in chunks.
fn checksum(path: &Path) -> io::Result<(u64, u64)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut size) = (Xxh3::new(), 0);
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((size, hasher.digest())),
            n => {
                hasher.update(&buffer[..n]);
                size += n as u64;
            }
        }
    }
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
        assert_eq!(find_damage(dir.path(), VerificationLevel::Full), []);
        assert_eq!(read(dir.path()).unwrap().pages, 3);
        fs::remove_file(dir.path().join("x.lock")).unwrap();
        for name in ["a", FILE] {
            let path = dir.path().join(name);
            let whole = fs::read(&path).unwrap();
            for place in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[place] ^= 1 << (place % 7);
                fs::write(&path, &bytes).unwrap();
                let found = find_damage(dir.path(), VerificationLevel::Quick);
                assert!(matches!(&found[..], [(damaged, _)] if *damaged == path), "{place}: {found:?}");
                fs::write(&path, &whole[..place]).unwrap();
                assert_eq!(
                    find_damage(dir.path(), VerificationLevel::Quick).len(),
                    1,
                    "truncated at {place}"
                );
            }
            fs::write(&path, whole).unwrap();
        }
        fs::remove_file(dir.path().join("b")).unwrap();
        assert_eq!(find_damage(dir.path(), VerificationLevel::Quick).len(), 1);
    }
}
