//! What a finished history generation consists of: every file with its size and checksum.
//!
//! A history generation never changes once it is finished, so that each of its files, those of tantivy and our own, can
//! be proved byte by byte. The list proves itself, too: its first line is the checksum of the rest. A folder without one
//! is not finished.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use pharos_core::{Clock as _, SystemClock, Timestamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::IndexError;

/// The list of files.
const FILES: &str = "files.json";
/// A quick proof reads all of a generation up to this size: less than a blink, and small collections are safe from
/// damage also in commands that answer one question. Of larger ones it compares sizes, and reads what is small.
const QUICK: u64 = 64 << 20;
/// What is small.
const SMALL: u64 = 256 << 10;

/// What a finished generation consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// When it was finished.
    pub(crate) built: Timestamp,
    /// Its pages, copies not counted.
    pub(crate) pages: u64,
    files: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Listed {
    name: String,
    size: u64,
    xxh3: u64,
}

/// How closely a generation is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// So that opening it takes no time.
    Quick,
    /// Every byte. What is read once is in memory, so that the first queries need not wait for the disk.
    Whole,
}

/// Is the generation in this folder finished?
pub(crate) fn exists(folder: &Path) -> bool {
    folder.join(FILES).exists()
}

/// Lists what is in the folder of a generation with so many pages, durably. That finishes it.
pub(crate) fn write(folder: &Path, pages: u64) -> Result<(), IndexError> {
    let path = folder.join(FILES);
    let failed = |e| IndexError::io("write", &path)(e);
    let files = list(folder).map_err(failed)?;
    let manifest = Manifest { built: SystemClock.now(), pages, files };
    let json = serde_json::to_string(&manifest).map_err(|e| failed(e.into()))?;
    let new = folder.join(format!("{FILES}.new"));
    File::create(&new)
        .and_then(|mut file| {
            write!(file, "{:016x}\n{json}", xxh3_64(json.as_bytes()))?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&new, &path))
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(failed)
}

fn list(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        // Locks come and go.
        if name.ends_with(".lock") || name.starts_with(FILES) {
            continue;
        }
        let (size, xxh3) = checksum(&path)?;
        files.push(Listed { name: name.into(), size, xxh3 });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Reads the list of a finished generation; the message where it is damaged.
pub(crate) fn read(folder: &Path) -> Result<Manifest, String> {
    let text = fs::read_to_string(folder.join(FILES)).map_err(|e| e.to_string())?;
    let (sum, json) = text.split_once('\n').ok_or("the list of its files is cut short")?;
    if sum != format!("{:016x}", xxh3_64(json.as_bytes())) {
        return Err("its checksum is wrong".into());
    }
    serde_json::from_str(json).map_err(|e| e.to_string())
}

/// The files of a finished generation that are not as they were written, each with what is wrong.
pub(crate) fn damage(folder: &Path, proof: Proof) -> Vec<(PathBuf, String)> {
    let manifest = match read(folder) {
        Ok(manifest) => manifest,
        Err(what) => return vec![(folder.join(FILES), what)],
    };
    let total: u64 = manifest.files.iter().map(|file| file.size).sum();
    let mut damaged = Vec::new();
    for file in &manifest.files {
        let path = folder.join(&file.name);
        let is_read = proof == Proof::Whole || total <= QUICK || file.size <= SMALL;
        let size = fs::metadata(&path).map(|meta| meta.len());
        let found = size.and_then(|size| match is_read && size == file.size {
            true => checksum(&path),
            false => Ok((size, file.xxh3)),
        });
        match found {
            Ok((size, _)) if size != file.size => {
                damaged.push((path, format!("it has {size} bytes instead of {}", file.size)));
            }
            Ok((_, sum)) if sum != file.xxh3 => damaged.push((path, "its checksum is wrong".into())),
            Ok(_) => {}
            Err(error) => damaged.push((path, error.to_string())),
        }
    }
    damaged
}

/// Size and checksum of a file, read piece by piece.
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
        assert_eq!(damage(dir.path(), Proof::Whole), []);
        assert_eq!(read(dir.path()).unwrap().pages, 3);
        fs::remove_file(dir.path().join("x.lock")).unwrap();
        for name in ["a", FILES] {
            let path = dir.path().join(name);
            let whole = fs::read(&path).unwrap();
            for place in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[place] ^= 1 << (place % 7);
                fs::write(&path, &bytes).unwrap();
                let found = damage(dir.path(), Proof::Quick);
                assert!(matches!(&found[..], [(damaged, _)] if *damaged == path), "{place}: {found:?}");
                fs::write(&path, &whole[..place]).unwrap();
                assert_eq!(damage(dir.path(), Proof::Quick).len(), 1, "cut at {place}");
            }
            fs::write(&path, whole).unwrap();
        }
        fs::remove_file(dir.path().join("b")).unwrap();
        assert_eq!(damage(dir.path(), Proof::Quick).len(), 1);
    }
}
