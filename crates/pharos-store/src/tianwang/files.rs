//! Raw files in a folder: their names, and writing them up to their limit.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::{MAX_RECORD, TianwangRecord, write};
use crate::StoreError;

/// Bytes of a raw file at most: what a 32-bit file system holds.
pub const FILE_LIMIT: u64 = (2 << 30) - 1;

const FILE_PREFIX: &str = "Tianwang.raw.";

/// The name of a raw file. The number is that of the gathering thread, or counts the files of one.
pub fn file_name(number: u64) -> String {
    format!("{FILE_PREFIX}{number}")
}

/// The raw files of a folder, in the order of their numbers.
pub fn raw_files(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(StoreError::io("list", dir))? {
        let name = entry.map_err(StoreError::io("list", dir))?.file_name();
        let number =
            name.to_str().and_then(|n| n.strip_prefix(FILE_PREFIX)).and_then(|n| n.parse::<u64>().ok());
        // Only names that we would give: `+1` and `01` are not numbers of a file.
        files.extend(number.filter(|n| name.to_str() == Some(&file_name(*n))));
    }
    files.sort_unstable();
    Ok(files.into_iter().map(|number| dir.join(file_name(number))).collect())
}

/// Writes records to `Tianwang.raw.1`, `Tianwang.raw.2`, … in a folder that has none yet.
pub struct RawFiles {
    dir: PathBuf,
    limit: u64,
    number: u64,
    path: PathBuf,
    file: BufWriter<File>,
    /// Bytes in the present file.
    size: u64,
    /// Bytes in all files.
    end: u64,
}

impl RawFiles {
    /// Begins the first file. No file grows beyond `limit` bytes (see [`FILE_LIMIT`]), unless one record alone does.
    pub fn create(dir: &Path, limit: u64) -> Result<Self, StoreError> {
        fs::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        let (path, file) = Self::begin(dir, 1)?;
        Ok(Self { dir: dir.to_path_buf(), limit, number: 1, path, file, size: 0, end: 0 })
    }

    fn begin(dir: &Path, number: u64) -> Result<(PathBuf, BufWriter<File>), StoreError> {
        let path = dir.join(file_name(number));
        let file = File::create_new(&path).map_err(StoreError::io("create", &path))?;
        Ok((path, BufWriter::new(file)))
    }

    /// Appends a record. Gives its offset, counted over all files in order.
    pub fn append(&mut self, record: &TianwangRecord) -> Result<u64, StoreError> {
        let length = (record.head.len() + record.body.len()) as u64;
        if length + 16 > MAX_RECORD {
            let error = format!("{} has {length} bytes, a record holds at most {MAX_RECORD}", record.url);
            return Err(StoreError::io("write", &self.path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                error,
            )));
        }
        let bytes = write(record);
        let length = bytes.len() as u64;
        if self.size > 0 && self.size + length > self.limit {
            self.sync()?;
            self.number += 1;
            (self.path, self.file) = Self::begin(&self.dir, self.number)?;
            self.size = 0;
        }
        self.file.write_all(&bytes).map_err(StoreError::io("write", &self.path))?;
        let offset = self.end;
        self.size += length;
        self.end += length;
        Ok(offset)
    }

    /// Waits until everything is on disk. Gives the bytes of all files.
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
