//! Volumes of the library, their revisions and file names.
//!
//! `00000003.warc.gz` is volume 3 as appended. Compaction never modifies a file. It writes `00000003-1.warc.gz`, the
//! first revision, and removes the previous file, which open readers continue to read. The highest revision is
//! current.
//!
//! Positions of records are permanent. A revision has an offset table (`00000003-1.offsets`) that maps the offset at
//! which a record was appended to its offset in the revision. The table can be rebuilt, because each record of a
//! revision contains its original offset.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use pharos_core::LibraryPosition;
use pharos_core::config::LibraryFormat;
use xxhash_rust::xxh3::xxh3_64;

use super::compression::{Member, RecordDecompressor, file_suffix};
use super::scan::find_next_record;
use super::warc;
use crate::StoreError;

const OFFSETS_MAGIC: &[u8; 8] = b"PHAROSO1";

/// A volume of the library.
#[derive(Debug)]
pub(super) struct Volume {
    pub(super) number: u32,
    pub(super) revision: u32,
    pub(super) path: PathBuf,
    offsets: OnceLock<OffsetTable>,
}

/// Offset table of a revision, in record order: original offset, current offset.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OffsetTable(pub(super) Vec<(u64, u64)>);

impl Volume {
    /// Returns the original and current offset of the record appended at `offset`, or of the first record after it.
    pub(super) fn locate(&self, offset: u64) -> Result<Option<(u64, u64)>, StoreError> {
        if self.revision == 0 {
            return Ok(Some((offset, offset)));
        }
        let table = &self.offsets()?.0;
        Ok(table.get(table.partition_point(|(first, _)| *first < offset)).copied())
    }

    fn offsets(&self) -> Result<&OffsetTable, StoreError> {
        if let Some(offsets) = self.offsets.get() {
            return Ok(offsets);
        }
        let stored =
            fs::read(offsets_path(&self.path)).ok().and_then(|bytes| OffsetTable::from_bytes(&bytes));
        let offsets = match stored {
            Some(offsets) => offsets,
            None => OffsetTable::rebuild(&self.path)?,
        };
        Ok(self.offsets.get_or_init(|| offsets))
    }
}

impl OffsetTable {
    /// Rebuilds the table from the records.
    pub(super) fn rebuild(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let (mut input, mut decompressor) =
            (BufReader::with_capacity(256 << 10, file), RecordDecompressor::new());
        let (mut table, mut at) = (Vec::new(), 0);
        loop {
            match decompressor.read(&mut input, at) {
                Member::Good(bytes, length) => {
                    if let Ok(warc::ParsedRecord { span: Some((start, _)), .. }) = warc::read_record(&bytes) {
                        table.push((start, at));
                    }
                    at += length;
                }
                Member::End => return Ok(Self(table)),
                Member::Damaged(_) | Member::Torn(_) => match find_next_record(path, at + 1, u64::MAX)? {
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

/// The volumes of a library, cached.
#[derive(Debug)]
pub(super) struct Volumes {
    dir: PathBuf,
    cache: Mutex<BTreeMap<u32, Arc<Volume>>>,
}

impl Volumes {
    pub(super) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf(), cache: Mutex::default() }
    }

    /// Lists the current volumes in order.
    pub(super) fn list(&self) -> Result<Vec<Arc<Volume>>, StoreError> {
        let found = newest_revisions(&self.dir)?;
        let mut cache = self.cache.lock();
        cache.retain(|number, volume| found.get(number).is_some_and(|(_, path)| *path == volume.path));
        for (number, (revision, path)) in found {
            cache
                .entry(number)
                .or_insert_with(|| Arc::new(Volume { number, revision, path, offsets: OnceLock::new() }));
        }
        Ok(cache.values().cloned().collect())
    }

    /// Opens a volume for reading. If its file was just replaced by the next revision, the directory is read again.
    pub(super) fn open(&self, number: u32) -> Result<(File, Arc<Volume>), StoreError> {
        let cache = self.cache.lock().get(&number).cloned();
        if let Some(volume) = cache
            && let Ok(file) = File::open(&volume.path)
        {
            return Ok((file, volume));
        }
        let volume = self.list()?.into_iter().find(|volume| volume.number == number);
        let missing = StoreError::NoRecord(LibraryPosition::new(number, 0));
        let volume = volume.ok_or(missing)?;
        let file = File::open(&volume.path).map_err(StoreError::io("open", &volume.path))?;
        Ok((file, volume))
    }

    /// Removes leftovers of an interrupted compaction: older revisions and unfinished files.
    pub(super) fn remove_leftovers(&self) -> Result<(), StoreError> {
        let newest = newest_revisions(&self.dir)?;
        for (path, parsed) in list_files(&self.dir)? {
            let stale = match parsed {
                Some((number, revision)) => newest.get(&number).is_some_and(|(newest, _)| revision < *newest),
                None => path.extension().is_some_and(|e| e == "new"),
            };
            if stale {
                remove_if_exists(&path)?;
                remove_if_exists(&offsets_path(&path))?;
            }
        }
        Ok(())
    }
}

pub(super) fn remove_if_exists(path: &Path) -> Result<(), StoreError> {
    pharos_files::remove_if_exists(path).map(drop).map_err(StoreError::io("remove", path))
}

/// Returns the file name of a volume: `00000003.warc.gz`, or `00000003-1.warc.gz` for its first revision.
pub(super) fn file_name(number: u32, revision: u32, format: LibraryFormat) -> String {
    match revision {
        0 => format!("{number:08}{}", file_suffix(format)),
        _ => format!("{number:08}-{revision}{}", file_suffix(format)),
    }
}

/// Returns the path of the offset table: `00000003-1.offsets` for `00000003-1.warc.gz`.
pub(super) fn offsets_path(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    path.with_file_name(format!("{}.offsets", name.split('.').next().unwrap_or_default()))
}

pub(super) fn format_from_path(path: &Path) -> LibraryFormat {
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
    for (path, parsed) in list_files(dir)? {
        let Some((number, revision)) = parsed else { continue };
        check_number(&path, number)?;
        let entry = newest.entry(number).or_insert((revision, path.clone()));
        if entry.0 < revision {
            *entry = (revision, path);
        }
    }
    Ok(newest)
}

/// Returns an error if positions cannot express a volume number.
pub(super) fn check_number(path: &Path, number: u32) -> Result<(), StoreError> {
    if number <= LibraryPosition::MAX_VOLUME {
        return Ok(());
    }
    let detail = format!(
        "a library has at most {} files: import its records into a new data directory with a larger \
         library.file_size",
        LibraryPosition::MAX_VOLUME
    );
    Err(StoreError::io("use", path)(io::Error::new(io::ErrorKind::FileTooLarge, detail)))
}

pub(super) type NumberAndRevision = (u32, u32);

/// Lists the files of a directory with the volume number and revision in their names.
pub(super) fn list_files(dir: &Path) -> Result<Vec<(PathBuf, Option<NumberAndRevision>)>, StoreError> {
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
    fn file_names_contain_number_and_revision() {
        assert_eq!(parse_name("00000003.warc.gz"), Some((3, 0)));
        assert_eq!(parse_name(&file_name(3, 12, LibraryFormat::Zstd)), Some((3, 12)));
        for other in ["3.warc.gz", "00000003.warc", "00000003-x.warc.gz", "00000003.warc.gz.torn-5", ""] {
            assert_eq!(parse_name(other), None, "{other}");
        }
        assert_eq!(offsets_path(Path::new("/a/00000003-1.warc.gz")), Path::new("/a/00000003-1.offsets"));
    }

    #[test]
    fn damage_to_offset_tables_is_detected() {
        let table = OffsetTable(vec![(0, 0), (812, 300), (4711, 999)]);
        let mut bytes = table.to_bytes();
        assert_eq!(OffsetTable::from_bytes(&bytes), Some(table));
        bytes[20] ^= 1;
        assert_eq!(OffsetTable::from_bytes(&bytes), None);
        assert_eq!(OffsetTable::from_bytes(b"PHAROSO1"), None);
    }
}
