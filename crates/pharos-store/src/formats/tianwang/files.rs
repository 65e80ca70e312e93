//! Raw files in a directory: names and size-limited writing (《搜索引擎——原理、技术与系统》§4.2).

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::{MAX_RECORD, TianwangRecord, write_record};
use crate::StoreError;

/// Maximum size of a raw file: the limit of 32-bit file systems.
pub const FILE_LIMIT: u64 = (2 << 30) - 1;

const FILE_PREFIX: &str = "Tianwang.raw.";

/// Returns the name of a raw file. The number identifies the crawl thread, or counts the files of one thread.
pub fn raw_file_name(number: u64) -> String {
    format!("{FILE_PREFIX}{number}")
}

/// Lists the raw files of a directory in the order of their numbers.
pub fn raw_files(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(StoreError::io("list", dir))? {
        let name = entry.map_err(StoreError::io("list", dir))?.file_name();
        let number =
            name.to_str().and_then(|n| n.strip_prefix(FILE_PREFIX)).and_then(|n| n.parse::<u64>().ok());
        // Only canonical names: `+1` and `01` are not file numbers.
        files.extend(number.filter(|n| name.to_str() == Some(&raw_file_name(*n))));
    }
    files.sort_unstable();
    Ok(files.into_iter().map(|number| dir.join(raw_file_name(number))).collect())
}

/// Writes records to `Tianwang.raw.1`, `Tianwang.raw.2`, … in a directory without raw files.
pub struct RawFileWriter {
    dir: PathBuf,
    limit: u64,
    number: u64,
    path: PathBuf,
    file: BufWriter<File>,
    /// Size of the current file.
    size: u64,
    /// Total size of all files.
    end: u64,
}

impl RawFileWriter {
    /// Creates the first file. No file exceeds `limit` bytes (see [`FILE_LIMIT`]), unless it contains a single
    /// larger record.
    pub fn create(dir: &Path, limit: u64) -> Result<Self, StoreError> {
        fs::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        let (path, file) = Self::create_file(dir, 1)?;
        Ok(Self { dir: dir.to_path_buf(), limit, number: 1, path, file, size: 0, end: 0 })
    }

    fn create_file(dir: &Path, number: u64) -> Result<(PathBuf, BufWriter<File>), StoreError> {
        let path = dir.join(raw_file_name(number));
        let file = File::create_new(&path).map_err(StoreError::io("create", &path))?;
        Ok((path, BufWriter::new(file)))
    }

    /// Appends a record. Returns its offset, counted over all files in order.
    pub fn append(&mut self, record: &TianwangRecord) -> Result<u64, StoreError> {
        let length = (record.head.len() + record.body.len()) as u64;
        if length + 16 > MAX_RECORD {
            let error = format!("{} has {length} bytes, the limit of a record is {MAX_RECORD}", record.url);
            return Err(StoreError::io("write", &self.path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                error,
            )));
        }
        let bytes = write_record(record);
        let length = bytes.len() as u64;
        if self.size > 0 && self.size + length > self.limit {
            self.sync()?;
            self.number += 1;
            (self.path, self.file) = Self::create_file(&self.dir, self.number)?;
            self.size = 0;
        }
        self.file.write_all(&bytes).map_err(StoreError::io("write", &self.path))?;
        let offset = self.end;
        self.size += length;
        self.end += length;
        Ok(offset)
    }

    /// Syncs all files. Returns their total size.
    pub fn finish(mut self) -> Result<u64, StoreError> {
        self.sync()?;
        Ok(self.end)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all())
            .map_err(StoreError::io("write", &self.path))
    }
}
