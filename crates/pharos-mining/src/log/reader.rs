//! Reads logs of any number of days, compressed or not, tolerating damage.
//!
//! An invalid line is reported with its file and number, and reading continues with the next line. No locks
//! are taken: a log can be read while other processes write, compress and remove it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::marker::PhantomData;
use std::path::Path;
use std::vec;

use crate::log::files::{DayRange, LogFile, list_files};
use crate::log::records::LogRecord;

/// Maximum length of a line in bytes.
pub const MAX_LINE: usize = 1 << 20;
const BUFFER: usize = 64 << 10;

/// Reason why a line is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// Longer than [`MAX_LINE`].
    TooLong,
    /// Not JSON, or not the fields of a record.
    Invalid(String),
    /// The last line of a file without a line feed: it is being written, or its writer was killed.
    Unfinished,
    /// The file system or the decompressor failed; the rest of the file is not read.
    Unreadable(String),
}

impl LineError {
    /// Creates the variant from a parser error, without the line number, which is always 1.
    pub(crate) fn invalid(error: &serde_json::Error) -> Self {
        LineError::Invalid(error.to_string().replace(" at line 1 column ", " at column "))
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::TooLong => write!(f, "longer than {MAX_LINE} bytes"),
            LineError::Invalid(why) => write!(f, "invalid record: {why}"),
            LineError::Unfinished => write!(f, "incomplete line"),
            LineError::Unreadable(why) => write!(f, "cannot read the rest of the file: {why}"),
        }
    }
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLine {
    /// File name.
    pub file: String,
    /// Line number, from 1.
    pub line: u64,
    pub error: LineError,
}

impl fmt::Display for InvalidLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.error)
    }
}

/// The lines of a file as bytes, read one at a time.
pub struct LogLines {
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    /// Bytes of complete lines returned so far, line feeds included.
    consumed: u64,
    ended: bool,
}

impl LogLines {
    /// Opens a file from its beginning.
    pub fn open(file: &LogFile) -> io::Result<Self> {
        Self::open_at(file, 0)
    }

    /// Opens a file at an offset of its uncompressed content.
    pub(crate) fn open_at(file: &LogFile, offset: u64) -> io::Result<Self> {
        let input = match File::open(&file.path) {
            Ok(opened) => unpack(opened, file.compressed, offset)?,
            // The file has just been compressed.
            Err(e) if e.kind() == io::ErrorKind::NotFound && !file.compressed => {
                unpack(File::open(file.as_packed(true).path)?, true, offset)?
            }
            Err(e) => return Err(e),
        };
        Ok(Self { input, line: Vec::new(), number: 0, consumed: offset, ended: false })
    }

    /// Reads lines from any source.
    pub fn over(input: impl BufRead + Send + 'static) -> Self {
        Self { input: Box::new(input), line: Vec::new(), number: 0, consumed: 0, ended: false }
    }

    /// Returns the next non-empty line without its line feed, and its number, from 1. Returns `None` at the
    /// end of the file.
    pub fn next_line(&mut self) -> Option<(u64, Result<&[u8], LineError>)> {
        loop {
            if self.ended {
                return None;
            }
            self.line.clear();
            match self.fill() {
                Ok(Filled::Nothing) => {
                    self.ended = true;
                    return None;
                }
                Ok(Filled::Line(bytes)) => {
                    self.number += 1;
                    self.consumed += bytes;
                    let blank = self.line.iter().all(u8::is_ascii_whitespace);
                    if bytes > MAX_LINE as u64 {
                        return Some((self.number, Err(LineError::TooLong)));
                    } else if !blank {
                        return Some((self.number, Ok(&self.line)));
                    }
                }
                Ok(Filled::Unfinished) => {
                    self.number += 1;
                    self.ended = true;
                    return Some((self.number, Err(LineError::Unfinished)));
                }
                Err(error) => {
                    self.number += 1;
                    self.ended = true;
                    return Some((self.number, Err(LineError::Unreadable(error.to_string()))));
                }
            }
        }
    }

    /// Returns the incomplete line at the end of the file.
    pub fn rest(&self) -> &[u8] {
        if self.ended { &self.line } else { &[] }
    }

    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Reads a line, keeping at most the length of a record.
    fn fill(&mut self) -> io::Result<Filled> {
        let mut bytes = 0;
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if available.is_empty() {
                return Ok(if bytes == 0 { Filled::Nothing } else { Filled::Unfinished });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            let free = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&available[..taken.min(free)]);
            let used = taken + usize::from(end.is_some());
            self.input.consume(used);
            bytes += used as u64;
            if end.is_some() {
                return Ok(Filled::Line(bytes));
            }
        }
    }
}

enum Filled {
    Line(u64),
    Unfinished,
    Nothing,
}

fn unpack(mut file: File, packed: bool, offset: u64) -> io::Result<Box<dyn BufRead + Send>> {
    if !packed {
        file.seek(SeekFrom::Start(offset))?;
        return Ok(Box::new(BufReader::with_capacity(BUFFER, file)));
    }
    let mut input = BufReader::with_capacity(BUFFER, zstd::Decoder::new(file)?);
    // If the offset cannot be skipped, the first read reports the error.
    let _ = io::copy(&mut (&mut input).take(offset), &mut io::sink());
    Ok(Box::new(input))
}

/// Reads the records of a log over a range of days. Invalid lines are returned as errors.
pub fn read<R: LogRecord>(dir: &Path, days: &DayRange) -> io::Result<RecordIter<R>> {
    let wanted = |file: &LogFile| file.kind == R::KIND && days.contains(&file.day);
    let files: Vec<LogFile> = list_files(dir)?.into_iter().filter(wanted).collect();
    Ok(RecordIter { files: files.into_iter(), open: None, kind: PhantomData })
}

/// The iterator returned by [`read`].
pub struct RecordIter<R> {
    files: vec::IntoIter<LogFile>,
    open: Option<(String, LogLines)>,
    kind: PhantomData<R>,
}

impl<R: LogRecord> Iterator for RecordIter<R> {
    type Item = Result<R, InvalidLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((name, lines)) = &mut self.open else {
                let file = self.files.next()?;
                match LogLines::open(&file) {
                    Ok(lines) => self.open = Some((file.name(), lines)),
                    // The file has just been removed for its age.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                    Err(e) => {
                        let error = LineError::Unreadable(e.to_string());
                        return Some(Err(InvalidLine { file: file.name(), line: 1, error }));
                    }
                }
                continue;
            };
            let Some((line, text)) = lines.next_line() else {
                self.open = None;
                continue;
            };
            let record =
                text.and_then(|text| serde_json::from_slice(text).map_err(|e| LineError::invalid(&e)));
            let broken = |error| InvalidLine { file: name.clone(), line, error };
            return Some(record.map_err(broken));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryRecord;
    use crate::log::day_files::format_line;
    use crate::log::records::LogKind;
    use crate::testing::query_on;
    use std::fs;

    const DAY: &str = "2026-01-31";

    fn read_all(dir: &Path) -> (Vec<String>, Vec<InvalidLine>) {
        let (mut queries, mut broken) = (Vec::new(), Vec::new());
        for record in read::<QueryRecord>(dir, &DayRange::default()).unwrap() {
            match record {
                Ok(record) => queries.push(record.query),
                Err(line) => broken.push(line),
            }
        }
        (queries, broken)
    }

    #[test]
    fn broken_lines_are_reported_and_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let good = format_line(query_on("茶", DAY), 7).unwrap();
        let long = [&b"{\"query\":\""[..], &vec![b'a'; MAX_LINE], b"\"}\n"].concat();
        let parts: [&[u8]; 8] = [
            &good,
            b"{\n",
            b"\xff\xfe\n",
            b"\n",
            &long,
            b"{\"at\":\"yesterday\",\"query\":\"a\"}\n",
            &good,
            b"{\"at\":",
        ];
        fs::write(LogFile::new(dir.path(), LogKind::Queries, DAY, 1, false).path, parts.concat()).unwrap();
        let (queries, broken) = read_all(dir.path());
        assert_eq!(queries, ["茶", "茶"]);
        assert_eq!(broken.iter().map(|b| b.line).collect::<Vec<_>>(), [2, 3, 5, 6, 8]);
        assert_eq!((&broken[2].error, &broken[4].error), (&LineError::TooLong, &LineError::Unfinished));
        let message = broken[3].to_string();
        assert!(
            message.starts_with("queries-2026-01-31.jsonl:6: invalid record: invalid time `yesterday`"),
            "{message}"
        );
    }

    #[test]
    fn a_packed_file_truncated_anywhere_is_read_up_to_there_and_the_next_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let lines: Vec<u8> =
            (0..50).flat_map(|n| format_line(query_on(&format!("q{n}"), DAY), 7).unwrap()).collect();
        let packed = zstd::encode_all(&lines[..], 3).unwrap();
        fs::write(LogFile::new(dir.path(), LogKind::Queries, "2026-02-01", 1, false).path, &lines).unwrap();
        for cut in (0..packed.len()).step_by(7).chain([packed.len()]) {
            fs::write(LogFile::new(dir.path(), LogKind::Queries, DAY, 1, true).path, &packed[..cut]).unwrap();
            let (queries, broken) = read_all(dir.path());
            assert!(queries.len() >= 50, "{cut}");
            assert!(cut == 0 || cut == packed.len() || !broken.is_empty(), "{cut}");
            assert!(cut < packed.len() || (queries.len(), broken.len()) == (100, 0));
        }
    }

    #[test]
    fn optional_fields_may_be_missing_and_new_ones_may_come() {
        let text = r#"{"at":"2026-01-31T12:00:00Z","query":"a","colour":"red","device":"watch"}"#;
        let record: QueryRecord = serde_json::from_str(text).unwrap();
        assert_eq!((record.query.as_str(), record.page, record.total), ("a", 0, None));
        assert!(serde_json::from_str::<QueryRecord>(r#"{"query":"a"}"#).is_err());
        let written = serde_json::to_string(&record).unwrap();
        assert!(written.contains(r#""at":"2026-01-31T12:00:00.000Z""#), "{written}");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_stop_the_reader(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400), packed: bool) {
            let dir = tempfile::tempdir().unwrap();
            let good = format_line(query_on("good", DAY), 7).unwrap();
            let bytes = [&bytes[..], b"\n", &good].concat();
            let bytes = if packed { zstd::encode_all(&bytes[..], 1).unwrap() } else { bytes };
            fs::write(LogFile::new(dir.path(), LogKind::Queries, DAY, 1, packed).path, &bytes).unwrap();
            let (queries, _) = read_all(dir.path());
            proptest::prop_assert_eq!(queries.last().map(String::as_str), Some("good"));
        }
    }
}
