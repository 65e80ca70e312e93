//! Imports logs of other engines and of earlier times, in the formats of the literature and of public
//! collections.
//!
//! User identifiers are replaced by visit identifiers ([`VisitKey`]), and digit strings are deleted as
//! everywhere. Incomplete rows are dropped and counted (preprocessing, 预处理). The encoding, UTF-8 or GB18030,
//! is detected from the beginning of the input.

pub mod click_log;
pub mod query_log;
mod timestamps;

use std::collections::BTreeMap;
use std::io::{self, Read};

use encoding_rs::GB18030;
use jiff::civil::Date;
use pharos_core::Timestamp;

use self::timestamps::parse_ctime;
pub use self::timestamps::{UtcOffset, parse_date};
use crate::log::reader::{LineError, LogLines};
use crate::log::records::AnyRecord;
use crate::visits::VisitKey;

/// Size of the sample for encoding detection.
const SAMPLE: u64 = 256 << 10;

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// Queries in five lines: time, IP address, cache state, query, page number.
    Query5,
    /// Clicks in five lines: time, IP address, query, URL, rank.
    Click5,
    /// Queries in one line: `Wed-Apr-14-16:09:06-2004 北大网络实验室`.
    Line,
    /// Queries in columns: user, date, time, query.
    Columns,
    /// Sogou's public query log: time, user, query, rank and order, URL.
    Sogou,
}

/// Options of an import.
#[derive(Clone)]
pub struct ImportOptions {
    pub form: ImportFormat,
    /// UTC offset of the times in the log.
    pub zone: UtcOffset,
    /// The day, if the log contains only times.
    pub date: Option<Date>,
    /// Key for the visit identifiers.
    pub key: VisitKey,
}

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Number of queries imported.
    pub queries: u64,
    /// Number of clicks imported.
    pub clicks: u64,
    /// Number of dropped rows by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl ImportReport {
    pub(crate) fn drop_one(&mut self, reason: &'static str) {
        *self.dropped.entry(reason).or_default() += 1;
    }
}

/// Reads a log and passes its records to `take`. Stops at the first error of `take`.
pub fn import(
    mut input: impl Read + Send + 'static,
    options: &ImportOptions,
    take: &mut dyn FnMut(AnyRecord) -> io::Result<()>,
) -> io::Result<ImportReport> {
    let mut sample = Vec::new();
    (&mut input).take(SAMPLE).read_to_end(&mut sample)?;
    let decoder = TextDecoder { is_utf8: is_utf8(&sample) };
    let lines = LogLines::over(io::BufReader::new(io::Cursor::new(sample).chain(input)));
    let mut source = LogSource { lines, decoder, dropped: ImportReport::default() };
    let mut counted = RecordCounter { take, imported: ImportReport::default() };
    match options.form {
        ImportFormat::Query5 => query_log::read_five_lines(&mut source, options, &mut counted)?,
        ImportFormat::Line => query_log::read_lines(&mut source, options, &mut counted)?,
        ImportFormat::Columns => query_log::read_columns(&mut source, options, &mut counted)?,
        ImportFormat::Click5 => click_log::read_five_lines(&mut source, options, &mut counted)?,
        ImportFormat::Sogou => click_log::read_sogou(&mut source, options, &mut counted)?,
    }
    let mut imported = counted.imported;
    for (reason, rows) in source.dropped.dropped {
        *imported.dropped.entry(reason).or_default() += rows;
    }
    Ok(imported)
}

/// Returns `true` if the sample is UTF-8. The last character may be incomplete.
fn is_utf8(sample: &[u8]) -> bool {
    match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(e) => e.error_len().is_none() && sample.len() as u64 == SAMPLE,
    }
}

#[derive(Clone, Copy)]
struct TextDecoder {
    is_utf8: bool,
}

impl TextDecoder {
    fn decode(self, line: &[u8]) -> Option<String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.is_utf8
            && let Ok(text) = std::str::from_utf8(line)
        {
            return Some(text.trim_start_matches('\u{feff}').to_string());
        }
        let (text, had_errors) = GB18030.decode_without_bom_handling(line);
        (!had_errors).then(|| text.into_owned())
    }
}

/// The lines of a log as text.
pub(crate) struct LogSource {
    lines: LogLines,
    decoder: TextDecoder,
    dropped: ImportReport,
}

impl LogSource {
    /// Returns the next non-empty readable line.
    pub(crate) fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let Some((_, line)) = self.lines.next_line() else { return Ok(None) };
            let line = match line {
                Ok(line) => self.decoder.decode(line),
                // The last line need not have a line feed.
                Err(LineError::Unfinished) => self.decoder.decode(self.lines.rest()),
                Err(LineError::Unreadable(why)) => return Err(io::Error::other(why)),
                Err(LineError::TooLong | LineError::Invalid(_)) => None,
            };
            match line {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => return Ok(Some(line)),
                None => self.dropped.drop_one("no text"),
            }
        }
    }
}

/// Passes records on and counts them.
pub(crate) struct RecordCounter<'t> {
    take: &'t mut dyn FnMut(AnyRecord) -> io::Result<()>,
    pub(crate) imported: ImportReport,
}

impl RecordCounter<'_> {
    pub(crate) fn emit(&mut self, record: AnyRecord) -> io::Result<()> {
        match record {
            AnyRecord::Query(_) => self.imported.queries += 1,
            AnyRecord::Click(_) => self.imported.clicks += 1,
            AnyRecord::Impression(_) | AnyRecord::System(_) | AnyRecord::Access(_) => {}
        }
        (self.take)(record)
    }
}

/// Reads records of five lines that begin with a time. A record that lacks a line is dropped when the next
/// one begins. `read` builds a record from the time and the other lines, or returns the reason for dropping
/// it.
pub(crate) fn five_lines(
    source: &mut LogSource,
    zone: UtcOffset,
    out: &mut RecordCounter<'_>,
    read: impl Fn(Timestamp, [&str; 4]) -> Result<AnyRecord, &'static str>,
) -> io::Result<()> {
    let mut begun: Option<(Timestamp, Vec<String>)> = None;
    while let Some(line) = source.next()? {
        if let Some(at) = parse_ctime(&line, ' ', zone) {
            if begun.replace((at, Vec::new())).is_some() {
                out.imported.drop_one("a line is missing");
            }
            continue;
        }
        let Some((at, lines)) = &mut begun else {
            out.imported.drop_one("no time");
            continue;
        };
        lines.push(line.trim().to_string());
        if let [first, second, third, fourth] = &lines[..] {
            match read(*at, [first, second, third, fourth]) {
                Ok(record) => out.emit(record)?,
                Err(reason) => out.imported.drop_one(reason),
            }
            begun = None;
        }
    }
    if begun.is_some() {
        out.imported.drop_one("a line is missing");
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::any;

    pub(crate) fn options(form: ImportFormat) -> ImportOptions {
        let key = VisitKey::new(pharos_core::Timestamp::EPOCH, b"secret");
        ImportOptions { form, zone: UtcOffset::UTC, date: None, key }
    }

    pub(crate) fn import_all(form: ImportFormat, bytes: &[u8]) -> (Vec<AnyRecord>, ImportReport) {
        import_with(&options(form), bytes)
    }

    pub(crate) fn import_with(options: &ImportOptions, bytes: &[u8]) -> (Vec<AnyRecord>, ImportReport) {
        let mut records = Vec::new();
        let input = io::Cursor::new(bytes.to_vec());
        let imported = import(input, options, &mut |record| {
            records.push(record);
            Ok(())
        });
        (records, imported.unwrap())
    }

    #[test]
    fn chinese_of_both_encodings_is_read() {
        let text = "Wed-Apr-14-16:09:06-2004 北大网络实验室\n";
        let (gbk, _, _) = GB18030.encode(text);
        for bytes in [text.as_bytes(), &gbk] {
            let (records, _) = import_all(ImportFormat::Line, bytes);
            assert!(
                matches!(&records[..], [AnyRecord::Query(q)] if q.query == "北大网络实验室"),
                "{records:?}"
            );
        }
    }

    #[test]
    fn a_disk_that_is_full_ends_the_import() {
        let input = io::Cursor::new(b"Wed-Apr-14-16:09:06-2004 a\n".to_vec());
        let failed =
            import(input, &options(ImportFormat::Line), &mut |_| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0_usize..200) {
            let book = "Fri Mar 21 00:00:02 2003\n218.24.100.77\nDatabase\n老歌\n3\n".as_bytes();
            let torn = [&book[..cut.min(book.len())], &bytes[..], book].concat();
            for form in [ImportFormat::Query5, ImportFormat::Click5, ImportFormat::Line, ImportFormat::Columns, ImportFormat::Sogou] {
                import_all(form, &bytes);
                import_all(form, &torn);
            }
        }
    }
}
