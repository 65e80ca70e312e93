//! Reading logs: any number of days, packed or not, whatever has happened to them.
//!
//! A line that cannot be read is told with its file and number, and the next one is read. Nothing here takes a lock: a
//! log can be read while others write, pack and remove it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::marker::PhantomData;
use std::path::Path;
use std::vec;

use crate::files::{Days, LogFile, list};
use crate::record::Record;

/// Longer lines are no records.
pub const MAX_LINE: usize = 1 << 20;
const BUFFER: usize = 64 << 10;

/// Why a line is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Longer than [`MAX_LINE`].
    TooLong,
    /// No JSON, or not the fields of a record.
    Invalid(String),
    /// The last line of a file, without its end: it is being written, or whoever wrote it was killed.
    Unfinished,
    /// The file system or the compression says no; the rest of the file is not read.
    Unreadable(String),
}

impl Flaw {
    /// The parser's words, without the number of the line, of which it always saw only one.
    pub(crate) fn invalid(error: &serde_json::Error) -> Self {
        Flaw::Invalid(error.to_string().replace(" at line 1 column ", " at column "))
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::TooLong => write!(f, "longer than {MAX_LINE} bytes"),
            Flaw::Invalid(why) => write!(f, "not a record: {why}"),
            Flaw::Unfinished => write!(f, "unfinished"),
            Flaw::Unreadable(why) => write!(f, "cannot be read any further: {why}"),
        }
    }
}

/// A line that is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLine {
    /// The name of its file.
    pub file: String,
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong.
    pub flaw: Flaw,
}

impl fmt::Display for BrokenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.flaw)
    }
}

/// The lines of a file, as bytes, one at a time.
pub struct Lines {
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    /// Bytes of whole lines given so far, line feeds included.
    consumed: u64,
    ended: bool,
}

impl Lines {
    /// From the beginning of a file.
    pub fn open(file: &LogFile) -> io::Result<Self> {
        Self::open_at(file, 0)
    }

    /// From this byte on of what is in the file, unpacked.
    pub(crate) fn open_at(file: &LogFile, offset: u64) -> io::Result<Self> {
        let input = match File::open(&file.path) {
            Ok(opened) => unpack(opened, file.packed, offset)?,
            // It was packed a moment ago.
            Err(e) if e.kind() == io::ErrorKind::NotFound && !file.packed => {
                unpack(File::open(file.as_packed(true).path)?, true, offset)?
            }
            Err(e) => return Err(e),
        };
        Ok(Self { input, line: Vec::new(), number: 0, consumed: offset, ended: false })
    }

    /// Over any bytes.
    pub fn over(input: impl BufRead + Send + 'static) -> Self {
        Self { input: Box::new(input), line: Vec::new(), number: 0, consumed: 0, ended: false }
    }

    /// The next line that is not empty, without its end, and its number, from 1. Nothing at the end of the file.
    pub fn next_line(&mut self) -> Option<(u64, Result<&[u8], Flaw>)> {
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
                        return Some((self.number, Err(Flaw::TooLong)));
                    } else if !blank {
                        return Some((self.number, Ok(&self.line)));
                    }
                }
                Ok(Filled::Unfinished) => {
                    self.number += 1;
                    self.ended = true;
                    return Some((self.number, Err(Flaw::Unfinished)));
                }
                Err(error) => {
                    self.number += 1;
                    self.ended = true;
                    return Some((self.number, Err(Flaw::Unreadable(error.to_string()))));
                }
            }
        }
    }

    /// What was begun but has no end, after the last line.
    pub fn rest(&self) -> &[u8] {
        if self.ended { &self.line } else { &[] }
    }

    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Reads a line, keeping no more of it than a record may have.
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
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&available[..taken.min(room)]);
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
    // What cannot be skipped cannot be read either: the first line will tell.
    let _ = io::copy(&mut (&mut input).take(offset), &mut io::sink());
    Ok(Box::new(input))
}

/// The records of a kind over some days, one after the other; what is broken in between is told.
pub fn read<R: Record>(dir: &Path, days: &Days) -> io::Result<Records<R>> {
    let wanted = |file: &LogFile| file.kind == R::KIND && days.contain(&file.day);
    let files: Vec<LogFile> = list(dir)?.into_iter().filter(wanted).collect();
    Ok(Records { files: files.into_iter(), open: None, kind: PhantomData })
}

/// See [`read`].
pub struct Records<R> {
    files: vec::IntoIter<LogFile>,
    open: Option<(String, Lines)>,
    kind: PhantomData<R>,
}

impl<R: Record> Iterator for Records<R> {
    type Item = Result<R, BrokenLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((name, lines)) = &mut self.open else {
                let file = self.files.next()?;
                match Lines::open(&file) {
                    Ok(lines) => self.open = Some((file.name(), lines)),
                    // Removed for its age a moment ago.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                    Err(e) => {
                        let flaw = Flaw::Unreadable(e.to_string());
                        return Some(Err(BrokenLine { file: file.name(), line: 1, flaw }));
                    }
                }
                continue;
            };
            let Some((line, text)) = lines.next_line() else {
                self.open = None;
                continue;
            };
            let record = text.and_then(|text| serde_json::from_slice(text).map_err(|e| Flaw::invalid(&e)));
            let broken = |flaw| BrokenLine { file: name.clone(), line, flaw };
            return Some(record.map_err(broken));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryRecord;
    use crate::append::line;
    use crate::record::Kind;
    use crate::testing::asked;
    use std::fs;

    const DAY: &str = "2026-01-31";

    fn read_all(dir: &Path) -> (Vec<String>, Vec<BrokenLine>) {
        let (mut queries, mut broken) = (Vec::new(), Vec::new());
        for record in read::<QueryRecord>(dir, &Days::default()).unwrap() {
            match record {
                Ok(record) => queries.push(record.query),
                Err(line) => broken.push(line),
            }
        }
        (queries, broken)
    }

    #[test]
    fn broken_lines_are_told_and_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let good = line(asked("茶", DAY), 7).unwrap();
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
        fs::write(LogFile::of(dir.path(), Kind::Queries, DAY, 1, false).path, parts.concat()).unwrap();
        let (queries, broken) = read_all(dir.path());
        assert_eq!(queries, ["茶", "茶"]);
        assert_eq!(broken.iter().map(|b| b.line).collect::<Vec<_>>(), [2, 3, 5, 6, 8]);
        assert_eq!((&broken[2].flaw, &broken[4].flaw), (&Flaw::TooLong, &Flaw::Unfinished));
        let told = broken[3].to_string();
        assert!(
            told.starts_with("queries-2026-01-31.jsonl:6: not a record: `yesterday` is no moment"),
            "{told}"
        );
    }

    #[test]
    fn a_packed_file_cut_anywhere_gives_what_it_has_and_the_next_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let lines: Vec<u8> = (0..50).flat_map(|n| line(asked(&format!("q{n}"), DAY), 7).unwrap()).collect();
        let packed = zstd::encode_all(&lines[..], 3).unwrap();
        fs::write(LogFile::of(dir.path(), Kind::Queries, "2026-02-01", 1, false).path, &lines).unwrap();
        for cut in (0..packed.len()).step_by(7).chain([packed.len()]) {
            fs::write(LogFile::of(dir.path(), Kind::Queries, DAY, 1, true).path, &packed[..cut]).unwrap();
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
            let good = line(asked("good", DAY), 7).unwrap();
            let bytes = [&bytes[..], b"\n", &good].concat();
            let bytes = if packed { zstd::encode_all(&bytes[..], 1).unwrap() } else { bytes };
            fs::write(LogFile::of(dir.path(), Kind::Queries, DAY, 1, packed).path, &bytes).unwrap();
            let (queries, _) = read_all(dir.path());
            proptest::prop_assert_eq!(queries.last().map(String::as_str), Some("good"));
        }
    }
}
