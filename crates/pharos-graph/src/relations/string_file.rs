//! Texts by number in a file: there are more of them than memory should hold, and few are ever read back.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Where a number has no text.
const NOTHING: u64 = u64::MAX;

/// A longer text is damage, not something that was written.
const MAX_BYTES: usize = 1 << 20;

/// Writes texts one after the other, each with its length before it.
pub(super) struct StringFileWriter {
    file: BufWriter<File>,
    places: Vec<u64>,
    end: u64,
}

/// Reads them back in any order.
#[derive(Debug)]
pub(super) struct StringFileReader {
    file: File,
    places: Vec<u64>,
}

impl StringFileWriter {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create_new(path)?), places: Vec::new(), end: 0 })
    }

    /// Writes the text of a number; what is beyond the limit is cut off.
    pub(super) fn put(&mut self, number: u32, text: &str) -> io::Result<()> {
        let number = number as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, NOTHING);
        }
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        self.file.write_all(&(text.len() as u32).to_le_bytes())?;
        self.file.write_all(text.as_bytes())?;
        self.places[number] = self.end;
        self.end += 4 + text.len() as u64;
        Ok(())
    }

    /// The texts of `count` numbers, on their way to the disk.
    pub(super) fn finish(mut self, path: &Path, count: usize) -> io::Result<StringFileReader> {
        self.places.resize(count, NOTHING);
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
        StringFileReader::open(path, self.places)
    }
}

impl StringFileReader {
    pub(super) fn open(path: &Path, places: Vec<u64>) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, places })
    }

    /// Where each text begins.
    pub(super) fn places(&self) -> &[u64] {
        &self.places
    }

    /// The text of a number, empty if it has none.
    pub(super) fn get(&self, number: u32) -> io::Result<String> {
        read_at(&self.file, self.places.get(number as usize).copied().unwrap_or(NOTHING))
    }
}

/// The text that begins at a place; empty where that is none.
pub(super) fn read_at(file: &File, place: u64) -> io::Result<String> {
    if place == NOTHING {
        return Ok(String::new());
    }
    let mut length = [0; 4];
    file.read_exact_at(&mut length, place)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a text without an end"));
    }
    let mut text = vec![0; length];
    file.read_exact_at(&mut text, place.saturating_add(4))?;
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
        writer.put(3, "灯塔").unwrap();
        writer.put(0, "").unwrap();
        let reader = writer.finish(&path, 6).unwrap();
        let texts: Vec<String> = (0..8).map(|number| reader.get(number).unwrap()).collect();
        assert_eq!(texts, ["", "", "", "灯塔", "", "", "", ""]);
        // A damaged table or file is an error, not a panic.
        for place in [1, 5, u64::MAX - 1] {
            assert!(StringFileReader::open(&path, vec![place]).unwrap().get(0).is_err());
        }
    }
}
