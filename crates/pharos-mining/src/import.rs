//! Logs of others, and of other times, in the forms of the literature and of public collections.
//!
//! Whatever named a person becomes the name of a visit by the keyed hash ([`VisitKey`]), and digit strings are deleted
//! like anywhere else. Rows that lack something are dropped and counted (preprocessing, 预处理). Texts are UTF-8 or
//! GB18030, told by the beginning of the input.

use std::collections::BTreeMap;
use std::io::{self, Read};

use encoding_rs::GB18030;
use jiff::civil::Date;
use pharos_core::Timestamp;

use crate::moments::{Zone, parse_ctime};
use crate::reader::{Flaw, Lines};
use crate::record::AnyRecord;
use crate::visits::VisitKey;
use crate::{click_log, query_log};

/// So much of the input tells its encoding.
const SAMPLE: u64 = 256 << 10;

/// The form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Queries in five lines: time, address, cache state, words, page number.
    Query5,
    /// Clicks in five lines: time, address, words, URL, rank.
    Click5,
    /// Queries in one line: `Wed-Apr-14-16:09:06-2004 北大网络实验室`.
    Line,
    /// Queries in columns: user, date, time, words.
    Columns,
    /// Sogou's public query log: time, user, words, rank and order, URL.
    Sogou,
}

/// How to read it.
#[derive(Clone)]
pub struct ImportOptions {
    /// Its form.
    pub form: Form,
    /// The zone of its times.
    pub zone: Zone,
    /// The day, where the log has only times.
    pub date: Option<Date>,
    /// Names visits.
    pub key: VisitKey,
}

/// What became of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Queries that were taken.
    pub queries: u64,
    /// Clicks that were taken.
    pub clicks: u64,
    /// What was dropped, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Imported {
    pub(crate) fn drop_one(&mut self, reason: &'static str) {
        *self.dropped.entry(reason).or_default() += 1;
    }
}

/// Reads a log and hands over its records. Stops where `take` does not.
pub fn import(
    mut input: impl Read + Send + 'static,
    options: &ImportOptions,
    take: &mut dyn FnMut(AnyRecord) -> io::Result<()>,
) -> io::Result<Imported> {
    let mut sample = Vec::new();
    (&mut input).take(SAMPLE).read_to_end(&mut sample)?;
    let text = Text { is_utf8: is_utf8(&sample) };
    let lines = Lines::over(io::BufReader::new(io::Cursor::new(sample).chain(input)));
    let mut source = Source { lines, text, dropped: Imported::default() };
    let mut counted = Counted { take, imported: Imported::default() };
    match options.form {
        Form::Query5 => query_log::read_five_lines(&mut source, options, &mut counted)?,
        Form::Line => query_log::read_lines(&mut source, options, &mut counted)?,
        Form::Columns => query_log::read_columns(&mut source, options, &mut counted)?,
        Form::Click5 => click_log::read_five_lines(&mut source, options, &mut counted)?,
        Form::Sogou => click_log::read_sogou(&mut source, options, &mut counted)?,
    }
    let mut imported = counted.imported;
    for (reason, rows) in source.dropped.dropped {
        *imported.dropped.entry(reason).or_default() += rows;
    }
    Ok(imported)
}

/// Is this the beginning of a text in UTF-8? A character may be cut at the end.
fn is_utf8(sample: &[u8]) -> bool {
    match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(e) => e.error_len().is_none() && sample.len() as u64 == SAMPLE,
    }
}

#[derive(Clone, Copy)]
struct Text {
    is_utf8: bool,
}

impl Text {
    fn of(self, line: &[u8]) -> Option<String> {
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
pub(crate) struct Source {
    lines: Lines,
    text: Text,
    dropped: Imported,
}

impl Source {
    /// The next line that is not empty and can be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let Some((_, line)) = self.lines.next_line() else { return Ok(None) };
            let line = match line {
                Ok(line) => self.text.of(line),
                // The last line of a text need not have an end.
                Err(Flaw::Unfinished) => self.text.of(self.lines.rest()),
                Err(Flaw::Unreadable(why)) => return Err(io::Error::other(why)),
                Err(Flaw::TooLong | Flaw::Invalid(_)) => None,
            };
            match line {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => return Ok(Some(line)),
                None => self.dropped.drop_one("no text"),
            }
        }
    }
}

/// Hands records over and counts them.
pub(crate) struct Counted<'t> {
    take: &'t mut dyn FnMut(AnyRecord) -> io::Result<()>,
    pub(crate) imported: Imported,
}

impl Counted<'_> {
    pub(crate) fn give(&mut self, record: AnyRecord) -> io::Result<()> {
        match record {
            AnyRecord::Query(_) => self.imported.queries += 1,
            AnyRecord::Click(_) => self.imported.clicks += 1,
            AnyRecord::Impression(_) | AnyRecord::System(_) | AnyRecord::Access(_) => {}
        }
        (self.take)(record)
    }
}

/// Gathers records of five lines that begin with a time. A record that lacks a line is dropped where the next begins;
/// `read` makes a record of the time and the other lines, or says why it does not.
pub(crate) fn five_lines(
    source: &mut Source,
    zone: Zone,
    out: &mut Counted<'_>,
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
                Ok(record) => out.give(record)?,
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

    pub(crate) fn options(form: Form) -> ImportOptions {
        let key = VisitKey::new(pharos_core::Timestamp::EPOCH, b"secret");
        ImportOptions { form, zone: Zone::UTC, date: None, key }
    }

    pub(crate) fn import_all(form: Form, bytes: &[u8]) -> (Vec<AnyRecord>, Imported) {
        import_with(&options(form), bytes)
    }

    pub(crate) fn import_with(options: &ImportOptions, bytes: &[u8]) -> (Vec<AnyRecord>, Imported) {
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
            let (records, _) = import_all(Form::Line, bytes);
            assert!(
                matches!(&records[..], [AnyRecord::Query(q)] if q.query == "北大网络实验室"),
                "{records:?}"
            );
        }
    }

    #[test]
    fn a_disk_that_is_full_ends_the_import() {
        let input = io::Cursor::new(b"Wed-Apr-14-16:09:06-2004 a\n".to_vec());
        let failed = import(input, &options(Form::Line), &mut |_| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0_usize..200) {
            let book = "Fri Mar 21 00:00:02 2003\n218.24.100.77\nDatabase\n老歌\n3\n".as_bytes();
            let torn = [&book[..cut.min(book.len())], &bytes[..], book].concat();
            for form in [Form::Query5, Form::Click5, Form::Line, Form::Columns, Form::Sogou] {
                import_all(form, &bytes);
                import_all(form, &torn);
            }
        }
    }
}
