//! Bounded reading of collection files, with errors that name the line.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::CollectionError;
use crate::metrics::MAX_GRADE;

/// Maximum size of all files of a collection, which is held in memory. The large TREC collections have about 2 GB.
const MAX_BYTES: u64 = 4 << 30;

/// Reads the files of one directory within a memory budget.
pub(super) struct CollectionReader {
    directory: PathBuf,
    names: Vec<String>,
    left: u64,
}

impl CollectionReader {
    pub(super) fn new(directory: &Path) -> Result<Self, CollectionError> {
        let listing = fs::read_dir(directory).map_err(CollectionError::io("read", directory))?;
        let mut names = Vec::new();
        for entry in listing {
            let entry = entry.map_err(CollectionError::io("read", directory))?;
            names.extend(entry.file_name().into_string());
        }
        names.sort_unstable();
        Ok(Self { directory: directory.to_path_buf(), names, left: MAX_BYTES })
    }

    /// Returns the path of a file if it exists.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        self.names.iter().find(|found| *found == name).map(|found| self.directory.join(found))
    }

    /// Returns the files with the given name ending, in the order of their names.
    pub(super) fn find_ending(&self, ending: &str) -> Vec<PathBuf> {
        let names = self.names.iter().filter(|name| name.ends_with(ending));
        names.map(|name| self.directory.join(name)).collect()
    }

    /// Returns the error for a missing part of the collection.
    pub(super) fn missing(&self, what: &'static str, advice: &'static str) -> CollectionError {
        CollectionError::Missing { what, directory: self.directory.clone(), advice }
    }

    /// Reads a UTF-8 file without its byte order mark.
    pub(super) fn text(&mut self, path: &Path) -> Result<String, CollectionError> {
        let file = File::open(path).map_err(CollectionError::io("read", path))?;
        let mut bytes = Vec::new();
        file.take(self.left + 1).read_to_end(&mut bytes).map_err(CollectionError::io("read", path))?;
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| CollectionError::TooLarge { path: path.to_path_buf(), limit: MAX_BYTES })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + count_lines(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            let problem = "not UTF-8; convert the file, for example with `iconv -f latin1 -t utf-8`";
            CollectionError::line(path, line, problem)
        })?;
        Ok(match text.strip_prefix('\u{feff}') {
            Some(without_mark) => without_mark.to_owned(),
            None => text,
        })
    }
}

/// Iterates over the non-empty lines of a text with their numbers from one.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// Counts the line feeds in these bytes.
pub(super) fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// Checks that an id is one word, because runs and judgements separate their columns by whitespace.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(format!("invalid id `{id}`: an id is one word without spaces"));
    }
    Ok(())
}

/// Parses a grade. TREC marks spam with grades below zero, which count as irrelevant.
pub(super) fn grade(text: &str) -> Result<u32, String> {
    let number: Option<i64> = text.trim().parse().ok();
    let grade =
        number.and_then(|number| u32::try_from(number.max(0)).ok()).filter(|&grade| grade <= MAX_GRADE);
    grade.ok_or_else(|| format!("grade `{text}` is not a whole number up to {MAX_GRADE}"))
}
