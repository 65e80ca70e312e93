//! Query log formats of the literature (查询日志), read and written. One line and five lines: 《搜索引擎——原理、技术与系统》§5.3
//! and §9.1; columns: 《走进搜索引擎》§6.3.1.
//!
//! ```text
//! Wed-Apr-14-16:09:06-2004 北大网络实验室          one line: time and query
//!
//! Fri Mar 21 00:00:02 2003                        five lines: time,
//! 218.24.100.77                                   address,
//! Database                                        cache state (Database: not from the cache),
//! 老歌                                             query,
//! 3                                               number of the result page, from 1
//!
//! 4711  2003-03-21  00:00:02  老歌                  four columns: user, date, time, query
//! ```

use std::io;

use crate::import::timestamps::{UtcOffset, parse_ctime, parse_date, parse_time, write_ctime};
use crate::import::{ImportOptions, LogSource, RecordCounter, five_lines};
use crate::log::records::{AnyRecord, CacheUse, QueryRecord, new_id};

/// Cache state of a response that did not come from the cache.
const NOT_CACHED: &str = "Database";
/// Cache state of a response from the cache.
const CACHED: &str = "Cache";
/// Placeholder for an unknown IP address or cache state.
pub(crate) const UNKNOWN: &str = "-";

pub(crate) fn read_five_lines(
    source: &mut LogSource,
    options: &ImportOptions,
    out: &mut RecordCounter<'_>,
) -> io::Result<()> {
    five_lines(source, options.zone, out, |at, [address, cache, query, page]| {
        let page = page.parse().ok().filter(|page| *page > 0).ok_or("no page number")?;
        let cache = match cache {
            NOT_CACHED => Some(CacheUse::Miss),
            UNKNOWN => None,
            _ => Some(CacheUse::Hit),
        };
        let (id, visit, query) = (new_id(), visit(options, address), query.to_string());
        Ok(AnyRecord::Query(QueryRecord { id, at, visit, query, page, cache, ..QueryRecord::default() }))
    })
}

/// Returns the visit identifier for an IP address; empty if there is none.
pub(crate) fn visit(options: &ImportOptions, address: &str) -> String {
    if address == UNKNOWN { String::new() } else { options.key.name(address, "") }
}

/// Formats a query in five lines. The IP address is unknown.
pub fn write_five_lines(record: &QueryRecord, zone: UtcOffset) -> String {
    let time = write_ctime(record.at, ' ', zone);
    let cache = match record.cache {
        Some(CacheUse::Miss) => NOT_CACHED,
        Some(CacheUse::Hit | CacheUse::Partly) => CACHED,
        None => UNKNOWN,
    };
    format!("{time}\n{UNKNOWN}\n{cache}\n{}\n{}\n", one_line(&record.query), record.page.max(1))
}

pub(crate) fn read_lines(
    source: &mut LogSource,
    options: &ImportOptions,
    out: &mut RecordCounter<'_>,
) -> io::Result<()> {
    while let Some(line) = source.next()? {
        let (time, query) = line.trim().split_once(char::is_whitespace).unwrap_or((&line, ""));
        match (parse_ctime(time, '-', options.zone), query.trim()) {
            (None, _) => out.imported.drop_one("no time"),
            (_, "") => out.imported.drop_one("no words"),
            (Some(at), query) => out.emit(plain_query(at, String::new(), query))?,
        }
    }
    Ok(())
}

/// Formats a query in one line.
pub fn write_line(record: &QueryRecord, zone: UtcOffset) -> String {
    format!("{} {}\n", write_ctime(record.at, '-', zone), one_line(&record.query))
}

pub(crate) fn read_columns(
    source: &mut LogSource,
    options: &ImportOptions,
    out: &mut RecordCounter<'_>,
) -> io::Result<()> {
    while let Some(line) = source.next()? {
        match columns(&line) {
            Some([user, date, time, query]) => {
                let civil = parse_date(date).zip(parse_time(time)).map(|(date, time)| date.to_datetime(time));
                match civil.and_then(|civil| options.zone.to_timestamp(civil)) {
                    Some(at) => out.emit(plain_query(at, options.key.name(user, ""), query))?,
                    None => out.imported.drop_one("no time"),
                }
            }
            None => out.imported.drop_one("a field is missing"),
        }
    }
    Ok(())
}

/// Splits a row into columns, by tabs or, if there are none, by spaces; the query may contain spaces.
fn columns(line: &str) -> Option<[&str; 4]> {
    let fields: Vec<&str> = match line.contains('\t') {
        true => line.splitn(4, '\t').map(str::trim).collect(),
        false => {
            let mut rest = line.trim();
            let mut fields = Vec::new();
            while let Some((field, after)) = rest.split_once(char::is_whitespace).filter(|_| fields.len() < 3)
            {
                fields.push(field);
                rest = after.trim_start();
            }
            fields.push(rest);
            fields
        }
    };
    <[&str; 4]>::try_from(fields).ok().filter(|fields| fields.iter().all(|field| !field.is_empty()))
}

fn plain_query(at: pharos_core::Timestamp, visit: String, query: &str) -> AnyRecord {
    let query = query.to_string();
    AnyRecord::Query(QueryRecord { id: new_id(), at, visit, query, page: 1, ..QueryRecord::default() })
}

/// Joins the lines of a text.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ImportFormat;
    use crate::import::tests::import_all;
    use crate::testing::at;

    fn queries(form: ImportFormat, text: &str) -> (Vec<QueryRecord>, crate::import::ImportReport) {
        let (records, imported) = import_all(form, text.as_bytes());
        let query = |record| match record {
            AnyRecord::Query(record) => record,
            other => panic!("{other:?}"),
        };
        (records.into_iter().map(query).collect(), imported)
    }

    #[test]
    fn a_query_in_one_line() {
        let line = "Wed-Apr-14-16:09:06-2004 北大网络实验室\n";
        let (records, _) = queries(ImportFormat::Line, line);
        assert_eq!(
            (records[0].query.as_str(), records[0].at),
            ("北大网络实验室", at("2004-04-14T16:09:06Z"))
        );
        assert_eq!(write_line(&records[0], UtcOffset::UTC), line);
        let (records, imported) =
            queries(ImportFormat::Line, "no time here\nWed-Apr-14-16:09:06-2004  two words ");
        assert_eq!((records[0].query.as_str(), imported.dropped["no time"]), ("two words", 1));
    }

    #[test]
    fn a_query_in_five_lines() {
        let text = "Fri Mar 21 00:00:02 2003\n218.24.100.77\nDatabase\n老歌\n3\n";
        let (records, _) = queries(ImportFormat::Query5, text);
        let record = &records[0];
        assert_eq!((record.query.as_str(), record.page, record.cache), ("老歌", 3, Some(CacheUse::Miss)));
        assert_eq!(record.at, at("2003-03-21T00:00:02Z"));
        assert_eq!(record.visit.len(), 16);
        let written = write_five_lines(record, UtcOffset::UTC);
        assert_eq!(written, text.replace("218.24.100.77", "-"));
        let (again, _) = queries(ImportFormat::Query5, &written);
        assert_eq!((again[0].visit.as_str(), again[0].query.as_str()), ("", "老歌"));
    }

    #[test]
    fn five_lines_without_one_of_them_are_dropped_and_the_next_are_read() {
        let whole = "Fri Mar 21 00:00:02 2003\r\n1.2.3.4\r\nCache\r\n虫儿飞\r\n1\r\n";
        let text = format!(
            "rubbish\n{whole}Fri Mar 21 00:00:02 2003\n1.2.3.4\nCache\n\n{whole}{}\nFri Mar 21 00:00:02 2003\n",
            whole.replace("\n1\r", "\nx\r")
        );
        let (records, imported) = queries(ImportFormat::Query5, &text);
        assert_eq!(records.len(), 2);
        assert!(records.iter().all(|r| r.cache == Some(CacheUse::Hit) && r.visit == records[0].visit));
        assert_eq!(imported.dropped["a line is missing"], 2);
        assert_eq!((imported.dropped["no page number"], imported.dropped["no time"]), (1, 1));
    }

    #[test]
    fn rows_without_a_column_are_dropped() {
        let text = "u1\t2003-03-21\t00:00:02\t老歌 下载\n\t2003-03-21\t00:00:02\t老歌\nu1\t\t00:00:02\t老歌\n\
                    u1\t2003-03-21\t\t老歌\nu1\t2003-03-21\t00:00:02\t\nu1 2003-03-21\nu2  20030321  00:00:03  a b\n\
                    u1\tyesterday\t00:00:02\t老歌";
        let (records, imported) = queries(ImportFormat::Columns, text);
        let found: Vec<&str> = records.iter().map(|record| record.query.as_str()).collect();
        assert_eq!(found, ["老歌 下载", "a b"]);
        assert_ne!(records[0].visit, records[1].visit);
        assert_eq!((imported.dropped["a field is missing"], imported.dropped["no time"]), (5, 1));
    }
}
