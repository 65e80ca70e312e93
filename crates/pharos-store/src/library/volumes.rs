//! The files of the library and their names.
//!
//! `00000003.warc.gz` is file 3 as it was written. Compaction never changes a file: it writes `00000003-1.warc.gz`, the
//! first revision, and then removes the one before, so that whoever has that open reads on. The highest revision
//! counts. Records keep their positions for ever: a revision has a table (`00000003-1.offsets`) from the offset a record
//! was appended at to the one it stands at now. The table can be made again: each record of a revision carries its
//! first offset itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pharos_core::LibraryPosition;
use pharos_core::config::LibraryFormat;
use xxhash_rust::xxh3::xxh3_64;

use super::packing::{Member, Unpacker, suffix};
use super::scan::next_good;
use super::warc;
use crate::StoreError;

const OFFSETS_MAGIC: &[u8; 8] = b"PHAROSO1";

/// One file of the library.
#[derive(Debug)]
pub(super) struct Volume {
    pub(super) number: u32,
    pub(super) revision: u32,
    pub(super) path: PathBuf,
    offsets: OnceLock<Offsets>,
}

/// Where the records of a revision stand, in their order: first offset, present offset.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Offsets(pub(super) Vec<(u64, u64)>);

impl Volume {
    /// Where the record stands that was appended at `offset`, or the first one behind it.
    pub(super) fn place(&self, offset: u64) -> Result<Option<(u64, u64)>, StoreError> {
        if self.revision == 0 {
            return Ok(Some((offset, offset)));
        }
        let table = &self.offsets()?.0;
        Ok(table.get(table.partition_point(|(first, _)| *first < offset)).copied())
    }

    fn offsets(&self) -> Result<&Offsets, StoreError> {
        if let Some(offsets) = self.offsets.get() {
            return Ok(offsets);
        }
        let stored = fs::read(offsets_path(&self.path)).ok().and_then(|bytes| Offsets::from_bytes(&bytes));
        let offsets = match stored {
            Some(offsets) => offsets,
            None => Offsets::of(&self.path)?,
        };
        Ok(self.offsets.get_or_init(|| offsets))
    }
}

impl Offsets {
    /// Reads the table from the records themselves.
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let (mut input, mut unpacker) = (BufReader::with_capacity(256 << 10, file), Unpacker::new());
        let (mut table, mut at) = (Vec::new(), 0);
        loop {
            match unpacker.read(&mut input, at) {
                Member::Good(bytes, length) => {
                    if let Ok(warc::Parsed { span: Some((start, _)), .. }) = warc::read(&bytes) {
                        table.push((start, at));
                    }
                    at += length;
                }
                Member::End => return Ok(Self(table)),
                Member::Bad(_) | Member::Torn(_) => match next_good(path, at + 1, u64::MAX)? {
                    None => return Ok(Self(table)),
                    Some(good) => {
                        at = good;
                        input.seek(SeekFrom::Start(at)).map_err(StoreError::io("seek in", path))?;
                    }
                },
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.0.iter().flat_map(|(first, now)| [first.to_le_bytes(), now.to_le_bytes()]);
        let body: Vec<u8> = numbers.flatten().collect();
        [OFFSETS_MAGIC.as_slice(), &xxh3_64(&body).to_le_bytes(), &body].concat()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let body = bytes.strip_prefix(OFFSETS_MAGIC)?;
        let (sum, body) = body.split_first_chunk()?;
        if u64::from_le_bytes(*sum) != xxh3_64(body) || body.len() % 16 != 0 {
            return None;
        }
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        Some(Self(body.chunks_exact(16).map(|row| (number(&row[..8]), number(&row[8..]))).collect()))
    }
}

/// All files of a library, as far as they are known.
#[derive(Debug)]
pub(super) struct Volumes {
    dir: PathBuf,
    known: Mutex<BTreeMap<u32, Arc<Volume>>>,
}

impl Volumes {
    pub(super) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf(), known: Mutex::default() }
    }

    /// The files there are now, by number.
    pub(super) fn list(&self) -> Result<Vec<Arc<Volume>>, StoreError> {
        let found = newest_revisions(&self.dir)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|number, volume| found.get(number).is_some_and(|(_, path)| *path == volume.path));
        for (number, (revision, path)) in found {
            known
                .entry(number)
                .or_insert_with(|| Arc::new(Volume { number, revision, path, offsets: OnceLock::new() }));
        }
        Ok(known.values().cloned().collect())
    }

    /// Opens a file for reading. One that was just replaced by its next revision is looked for again.
    pub(super) fn open(&self, number: u32) -> Result<(File, Arc<Volume>), StoreError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
        if let Some(volume) = known
            && let Ok(file) = File::open(&volume.path)
        {
            return Ok((file, volume));
        }
        let volume = self.list()?.into_iter().find(|volume| volume.number == number);
        let missing = StoreError::NoRecord(LibraryPosition { file: number, offset: 0 });
        let volume = volume.ok_or(missing)?;
        let file = File::open(&volume.path).map_err(StoreError::io("open", &volume.path))?;
        Ok((file, volume))
    }

    /// Removes what a compaction that was cut short left behind: older revisions and unfinished files.
    pub(super) fn sweep(&self) -> Result<(), StoreError> {
        let newest = newest_revisions(&self.dir)?;
        for (path, parsed) in files(&self.dir)? {
            let stale = match parsed {
                Some((number, revision)) => newest.get(&number).is_some_and(|(newest, _)| revision < *newest),
                None => path.extension().is_some_and(|e| e == "new"),
            };
            if stale {
                remove(&path)?;
                remove(&offsets_path(&path))?;
            }
        }
        Ok(())
    }
}

pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path)(e)),
        _ => Ok(()),
    }
}

/// `00000003.warc.gz`, or `00000003-1.warc.gz` for its first revision.
pub(super) fn file_name(number: u32, revision: u32, format: LibraryFormat) -> String {
    match revision {
        0 => format!("{number:08}{}", suffix(format)),
        _ => format!("{number:08}-{revision}{}", suffix(format)),
    }
}

/// `00000003-1.offsets` beside `00000003-1.warc.gz`.
pub(super) fn offsets_path(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    path.with_file_name(format!("{}.offsets", name.split('.').next().unwrap_or_default()))
}

pub(super) fn format_of(path: &Path) -> LibraryFormat {
    let zstd = path.extension().is_some_and(|e| e == "zst");
    if zstd { LibraryFormat::Zstd } else { LibraryFormat::Gzip }
}

fn parse_name(name: &str) -> Option<NumberAndRevision> {
    let stem = name.strip_suffix(".warc.gz").or_else(|| name.strip_suffix(".warc.zst"))?;
    let (number, revision) = stem.split_once('-').unwrap_or((stem, "0"));
    if number.len() != 8 {
        return None;
    }
    Some((number.parse().ok()?, revision.parse().ok()?))
}

fn newest_revisions(dir: &Path) -> Result<BTreeMap<u32, (u32, PathBuf)>, StoreError> {
    let mut newest = BTreeMap::new();
    for (path, parsed) in files(dir)? {
        let Some((number, revision)) = parsed else { continue };
        let entry = newest.entry(number).or_insert((revision, path.clone()));
        if entry.0 < revision {
            *entry = (revision, path);
        }
    }
    Ok(newest)
}

pub(super) type NumberAndRevision = (u32, u32);

/// Every file of a folder, with the number and revision that its name tells.
pub(super) fn files(dir: &Path) -> Result<Vec<(PathBuf, Option<NumberAndRevision>)>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("read", dir)(e)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::io("read", dir))?.path();
        let parsed = path.file_name().and_then(|n| n.to_str()).and_then(parse_name);
        files.push((path, parsed));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_number_and_revision() {
        assert_eq!(parse_name("00000003.warc.gz"), Some((3, 0)));
        assert_eq!(parse_name(&file_name(3, 12, LibraryFormat::Zstd)), Some((3, 12)));
        for other in ["3.warc.gz", "00000003.warc", "00000003-x.warc.gz", "00000003.warc.gz.torn-5", ""] {
            assert_eq!(parse_name(other), None, "{other}");
        }
        assert_eq!(offsets_path(Path::new("/a/00000003-1.warc.gz")), Path::new("/a/00000003-1.offsets"));
    }

    #[test]
    fn tables_of_offsets_notice_damage() {
        let table = Offsets(vec![(0, 0), (812, 300), (4711, 999)]);
        let mut bytes = table.to_bytes();
        assert_eq!(Offsets::from_bytes(&bytes), Some(table));
        bytes[20] ^= 1;
        assert_eq!(Offsets::from_bytes(&bytes), None);
        assert_eq!(Offsets::from_bytes(b"PHAROSO1"), None);
    }
}
