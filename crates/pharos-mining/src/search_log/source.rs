//! Reads the searches of a data directory, or of a log file in any known format.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use jiff::civil::Date;
use pharos_core::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::{SearchLog, SearchLogBuilder};
use crate::import::{ImportFormat, ImportOptions, UtcOffset, import, parse_date};
use crate::log::files::DayRange;
use crate::log::reader::{LineError, LogLines};
use crate::log::records::{AnyRecord, LogKind};
use crate::log::scan::scan;
use crate::visits::VisitKey;

/// Lines examined to detect the format of a file.
const SAMPLE_LINES: usize = 20;
/// Bytes examined to detect the format of a file.
const SAMPLE_BYTES: usize = 64 << 10;
/// Day of times without a date.
const UNDATED: &str = "1970-01-01";
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The format of a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// JSON lines of Pharos: queries, impressions and clicks, also mixed.
    Pharos,
    /// A format of another engine.
    Foreign(ImportFormat),
}

/// Options for reading a log file.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// `None` detects the format.
    pub form: Option<FileForm>,
    /// UTC offset of the times in the log.
    pub zone: UtcOffset,
    /// The day of a log that contains only times.
    pub date: Option<Date>,
    pub now: Timestamp,
}

/// Kinds of records of searches: queries first, because impressions and clicks refer to them.
const KINDS: [LogKind; 3] = [LogKind::Queries, LogKind::Impressions, LogKind::Clicks];

/// Reads the searches of some days of a log directory.
///
/// # Errors
/// Fails if the directory cannot be listed. Damaged files and lines are counted.
pub fn read_data_dir(logs: &Path, days: &DayRange, now: Timestamp) -> io::Result<SearchLog> {
    let mut builder = SearchLogBuilder::new(now);
    let invalid = scan_directory(logs, days, &mut |record| {
        builder.add(record);
        Ok(())
    })?;
    builder.add_invalid(invalid);
    Ok(builder.finish())
}

/// Passes the queries, then the impressions, then the clicks of a log directory to `take`, or the records of a file of JSON
/// lines in their order. Returns the number of invalid lines.
///
/// # Errors
/// Fails if the input cannot be read, or if `take` fails.
pub fn for_each_record(
    input: &Path,
    days: &DayRange,
    take: &mut dyn FnMut(AnyRecord) -> io::Result<()>,
) -> io::Result<u64> {
    if input.is_dir() { scan_directory(input, days, take) } else { read_json(open(input)?, take) }
}

fn scan_directory(
    logs: &Path,
    days: &DayRange,
    take: &mut dyn FnMut(AnyRecord) -> io::Result<()>,
) -> io::Result<u64> {
    let mut invalid = 0;
    for kind in KINDS {
        scan(logs, &[kind], days, &mut |_, line| match line {
            Ok(scanned) => take(scanned.record),
            Err(line) => {
                // A last line that is being written is not an error.
                invalid += u64::from(line.error != LineError::Unfinished);
                Ok(())
            }
        })?;
    }
    Ok(invalid)
}

/// Reads the searches of a log file, which may be compressed with gzip or zstd.
///
/// # Errors
/// Fails if the file cannot be read, or if its format is not recognised.
pub fn read_file(path: &Path, options: &ReadOptions) -> io::Result<SearchLog> {
    let mut input = open(path)?;
    let form = match options.form {
        Some(form) => form,
        None => detect(input.fill_buf()?).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "the format of the log is not recognised: specify it with --form",
            )
        })?,
    };
    let mut builder = SearchLogBuilder::new(options.now);
    match form {
        FileForm::Pharos => {
            let invalid = read_json(input, &mut |record| {
                builder.add(record);
                Ok(())
            })?;
            builder.add_invalid(invalid);
        }
        FileForm::Foreign(form) => {
            // Visits are only told apart within this file: the key is discarded.
            let mut secret = [0; 32];
            SystemRandom::new()
                .fill(&mut secret)
                .map_err(|_| io::Error::other("no random numbers available"))?;
            let is_undated = options.date.is_none() && form == ImportFormat::Sogou;
            let date = options.date.or_else(|| parse_date(UNDATED));
            let key = VisitKey::new(options.now, &secret);
            let import_options = ImportOptions { form, zone: options.zone, date, key };
            let report = import(input, &import_options, &mut |record| {
                builder.add(record);
                Ok(())
            })?;
            builder.add_invalid(report.dropped.values().sum());
            let mut log = builder.finish();
            // Some rows of this format contain the date.
            log.coverage.is_undated =
                is_undated && log.period().is_some_and(|(first, _)| first.date() == UNDATED);
            return Ok(log);
        }
    }
    Ok(builder.finish())
}

fn open(path: &Path) -> io::Result<BufReader<Box<dyn Read + Send>>> {
    let mut file = BufReader::new(File::open(path)?);
    let start = file.fill_buf()?;
    let input: Box<dyn Read + Send> = if start.starts_with(&GZIP) {
        Box::new(MultiGzDecoder::new(file))
    } else if start.starts_with(&ZSTD) {
        Box::new(zstd::Decoder::new(file)?)
    } else {
        Box::new(file)
    };
    Ok(BufReader::with_capacity(SAMPLE_BYTES, input))
}

/// Reads JSON lines and returns the number of invalid ones. Clicks on searches that follow them in the file are not
/// attributed.
fn read_json(
    input: impl io::BufRead + Send + 'static,
    take: &mut dyn FnMut(AnyRecord) -> io::Result<()>,
) -> io::Result<u64> {
    let mut lines = LogLines::over(input);
    let mut invalid = 0;
    while let Some((_, line)) = lines.next_line() {
        let record = match line {
            Ok(line) => parse_any(line),
            // The last line of a copied file need not have a line feed.
            Err(LineError::Unfinished) => parse_any(lines.rest()),
            Err(_) => None,
        };
        match record {
            Some(record) => take(record)?,
            None => invalid += 1,
        }
    }
    Ok(invalid)
}

/// Parses a record of any log by the fields that only its log has.
fn parse_any(line: &[u8]) -> Option<AnyRecord> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let fields = value.as_object()?;
    let kind = match fields.get("kind").and_then(serde_json::Value::as_str) {
        Some("results" | "suggestions" | "seen") => LogKind::Impressions,
        Some(_) => LogKind::Clicks,
        None if fields.contains_key("results") => LogKind::Impressions,
        None if fields.contains_key("query") => LogKind::Queries,
        None => return None,
    };
    AnyRecord::parse(kind, line).ok()
}

/// Returns the format of a file from its beginning.
fn detect(sample: &[u8]) -> Option<FileForm> {
    let lines = sample.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let lines: Vec<&[u8]> = lines.take(SAMPLE_LINES).collect();
    let share = |is_such: &dyn Fn(&[u8]) -> bool| {
        let such = lines.iter().filter(|line| is_such(line)).count();
        such > 0 && 2 * such >= lines.len()
    };
    let starts_with_weekday = |line: &[u8], separator: u8| {
        [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"].iter().any(|day| line.starts_with(*day))
            && line.get(3) == Some(&separator)
    };
    let tabs = |line: &[u8]| line.iter().filter(|byte| **byte == b'\t').count();
    let is_number = |line: &[u8]| !line.is_empty() && line.trim_ascii().iter().all(u8::is_ascii_digit);
    if share(&|line| line.trim_ascii_start().starts_with(b"{")) {
        return Some(FileForm::Pharos);
    }
    if share(&|line| matches!(tabs(line), 4 | 5) && line.first().is_some_and(u8::is_ascii_digit)) {
        return Some(FileForm::Foreign(ImportFormat::Sogou));
    }
    if share(&|line| starts_with_weekday(line, b'-')) {
        return Some(FileForm::Foreign(ImportFormat::Line));
    }
    if lines.iter().any(|line| starts_with_weekday(line, b' ')) {
        let is_click = lines.iter().any(|line| line.starts_with(b"http://") || line.starts_with(b"https://"));
        let is_query = lines.iter().any(|line| line.starts_with(b"Database") || is_number(line));
        return match (is_click, is_query) {
            (true, _) => Some(FileForm::Foreign(ImportFormat::Click5)),
            (false, true) => Some(FileForm::Foreign(ImportFormat::Query5)),
            (false, false) => None,
        };
    }
    share(&|line| tabs(line) == 3).then_some(FileForm::Foreign(ImportFormat::Columns))
}
