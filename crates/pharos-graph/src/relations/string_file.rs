//! A file of strings by number, for strings that exceed memory and are rarely read.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Offset of a number without a string.
const NO_OFFSET: u64 = u64::MAX;

/// Maximum length of a string; a larger stored length means damage.
const MAX_BYTES: usize = 1 << 20;

/// Writes strings one after the other, each preceded by its length.
pub(super) struct StringFileWriter {
    file: BufWriter<File>,
    offsets: Vec<u64>,
    next_offset: u64,
}

/// Reads strings in any order.
#[derive(Debug)]
pub(super) struct StringFileReader {
    file: File,
    offsets: Vec<u64>,
}

impl StringFileWriter {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create_new(path)?), offsets: Vec::new(), next_offset: 0 })
    }

    /// Writes the string of a number, truncated to the maximum length.
    pub(super) fn write(&mut self, number: u32, text: &str) -> io::Result<()> {
        let number = number as usize;
        if self.offsets.len() <= number {
            self.offsets.resize(number + 1, NO_OFFSET);
        }
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        self.file.write_all(&(text.len() as u32).to_le_bytes())?;
        self.file.write_all(text.as_bytes())?;
        self.offsets[number] = self.next_offset;
        self.next_offset += 4 + text.len() as u64;
        Ok(())
    }

    /// Syncs the file and returns a reader for `count` numbers.
    pub(super) fn finish(mut self, path: &Path, count: usize) -> io::Result<StringFileReader> {
        self.offsets.resize(count, NO_OFFSET);
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        pharos_files::sync_file(&file, path)?;
        StringFileReader::open(path, self.offsets)
    }
}

impl StringFileReader {
    pub(super) fn open(path: &Path, offsets: Vec<u64>) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, offsets })
    }

    /// Returns the offset of each string.
    pub(super) fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Returns the string of a number, empty if it has none.
    pub(super) fn get(&self, number: u32) -> io::Result<String> {
        read_at(&self.file, self.offsets.get(number as usize).copied().unwrap_or(NO_OFFSET))
    }
}

/// Reads the string at an offset; empty for [`NO_OFFSET`].
pub(super) fn read_at(file: &File, offset: u64) -> io::Result<String> {
    if offset == NO_OFFSET {
        return Ok(String::new());
    }
    let mut length = [0; 4];
    file.read_exact_at(&mut length, offset)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "stored string exceeds the maximum length"));
    }
    let mut text = vec![0; length];
    file.read_exact_at(&mut text, offset.saturating_add(4))?;
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_any_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("texts");
        let mut writer = StringFileWriter::create(&path).unwrap();
        writer.write(3, "灯塔").unwrap();
        writer.write(0, "").unwrap();
        let reader = writer.finish(&path, 6).unwrap();
        let texts: Vec<String> = (0..8).map(|number| reader.get(number).unwrap()).collect();
        assert_eq!(texts, ["", "", "", "灯塔", "", "", "", ""]);
        // A damaged table or file is an error, not a panic.
        for offset in [1, 5, u64::MAX - 1] {
            assert!(StringFileReader::open(&path, vec![offset]).unwrap().get(0).is_err());
        }
    }
}
