//! Click log formats (点击日志): the five-line format of 《搜索引擎——原理、技术与系统》§9.1, and Sogou's public log.
//!
//! ```text
//! Fri Mar 21 00:00:02 2003                                time
//! 202.206.102.169                                         address
//! 虫儿飞                                                   query
//! http://sports.163.com/tm/000828/000828_64264.html       clicked URL
//! 16                                                      rank
//!
//! 00:00:00 ⇥ 2982199073774412 ⇥ [360安全卫士] ⇥ 8 3 ⇥ download.it.com.cn/softweb/
//! 20111230000005 ⇥ 57375476989eea12 ⇥ 奇艺高清 ⇥ 1 ⇥ 1 ⇥ http://www.qiyi.com/
//! ```

use std::io;
use std::num::NonZeroUsize;

use lru::LruCache;
use pharos_core::Timestamp;

use crate::import::query_log::{UNKNOWN, one_line, visit};
use crate::import::timestamps::{UtcOffset, parse_date, parse_time, write_ctime};
use crate::import::{ImportOptions, LogSource, RecordCounter, five_lines};
use crate::log::records::{AnyRecord, ClickKind, ClickRecord, QueryRecord, new_id};

/// Maximum number of searches that later clicks may be attributed to.
const MAX_SEARCHES: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

fn click(
    at: Timestamp,
    impression: String,
    visit: String,
    searched: &str,
    url: &str,
    rank: u32,
) -> ClickRecord {
    ClickRecord {
        at,
        impression,
        visit,
        kind: ClickKind::Result,
        searched: searched.to_string(),
        rank: Some(rank),
        page_size: None,
        order: None,
        url: Some(url.to_string()),
        query: None,
        dwell_ms: None,
    }
}

pub(crate) fn read_five_lines(
    source: &mut LogSource,
    options: &ImportOptions,
    out: &mut RecordCounter<'_>,
) -> io::Result<()> {
    five_lines(source, options.zone, out, |at, [address, searched, url, rank]| {
        let rank = rank.parse().ok().filter(|rank| *rank > 0).ok_or("no rank")?;
        Ok(AnyRecord::Click(click(at, new_id(), visit(options, address), searched, url, rank)))
    })
}

/// Formats a click on a result in five lines; returns `None` for other clicks. The IP address is unknown.
pub fn write_five_lines(record: &ClickRecord, zone: UtcOffset) -> Option<String> {
    let (url, rank) = (record.url.as_deref()?, record.rank?);
    let time = write_ctime(record.at, ' ', zone);
    Some(format!("{time}\n{UNKNOWN}\n{}\n{}\n{rank}\n", one_line(&record.searched), one_line(url)))
}

/// Reads Sogou rows. A row is one click; the query is emitted once for all clicks of a user on its results.
pub(crate) fn read_sogou(
    source: &mut LogSource,
    options: &ImportOptions,
    out: &mut RecordCounter<'_>,
) -> io::Result<()> {
    let mut searches: LruCache<(String, String), String> = LruCache::new(MAX_SEARCHES);
    while let Some(line) = source.next()? {
        let Some(row) = sogou_row(&line) else {
            out.imported.drop_one("a field is missing");
            continue;
        };
        let Some(at) = sogou_time(row.time, options) else {
            out.imported.drop_one("no time");
            continue;
        };
        let visit = options.key.name(row.user, "");
        let search = (visit.clone(), row.query.to_string());
        let id = match searches.get(&search) {
            Some(id) => id.clone(),
            None => {
                let id = new_id();
                let (visit, query) = search.clone();
                let query =
                    QueryRecord { id: id.clone(), at, visit, query, page: 1, ..QueryRecord::default() };
                out.emit(AnyRecord::Query(query))?;
                searches.put(search, id.clone());
                id
            }
        };
        let url = if row.url.contains("://") { row.url.to_string() } else { format!("http://{}", row.url) };
        let click = ClickRecord { order: Some(row.order), ..click(at, id, visit, row.query, &url, row.rank) };
        out.emit(AnyRecord::Click(click))?;
    }
    Ok(())
}

struct SogouRow<'l> {
    time: &'l str,
    user: &'l str,
    query: &'l str,
    rank: u32,
    order: u32,
    url: &'l str,
}

fn sogou_row(line: &str) -> Option<SogouRow<'_>> {
    let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    let (time, user, query, rank, order, url) = match fields[..] {
        [time, user, query, places, url] => {
            let (rank, order) = places.split_once(char::is_whitespace)?;
            (time, user, query, rank, order.trim_start(), url)
        }
        [time, user, query, rank, order, url] => (time, user, query, rank, order, url),
        _ => return None,
    };
    let query = query.strip_prefix('[').and_then(|query| query.strip_suffix(']')).unwrap_or(query).trim();
    let (rank, order) = (rank.parse().ok()?, order.parse().ok()?);
    let whole = [time, user, query, url].iter().all(|field| !field.is_empty()) && rank > 0;
    whole.then_some(SogouRow { time, user, query, rank, order, url })
}

/// Parses `20111230000005`, or `00:00:00` on the day given in the options.
fn sogou_time(text: &str, options: &ImportOptions) -> Option<Timestamp> {
    let civil = match text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => {
            let time = format!("{}:{}:{}", &text[8..10], &text[10..12], &text[12..]);
            parse_date(&text[..8])?.to_datetime(parse_time(&time)?)
        }
        false => options.date?.to_datetime(parse_time(text)?),
    };
    options.zone.to_timestamp(civil)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ImportFormat;
    use crate::import::tests::{import_all, import_with, options};
    use crate::testing::at;

    #[test]
    fn a_click_in_five_lines() {
        let text = "Fri Mar 21 00:00:02 2003\n202.206.102.169\n虫儿飞\n\
                    http://sports.163.com/tm/000828/000828_64264.html\n16\n";
        let (records, imported) = import_all(ImportFormat::Click5, format!("{text}{text}").as_bytes());
        assert_eq!((records.len(), imported.clicks), (2, 2));
        let AnyRecord::Click(click) = &records[0] else { panic!("{records:?}") };
        assert_eq!(
            (click.searched.as_str(), click.rank, click.at),
            ("虫儿飞", Some(16), at("2003-03-21T00:00:02Z"))
        );
        assert_eq!(click.visit.len(), 16);
        assert_eq!(write_five_lines(click, UtcOffset::UTC).unwrap(), text.replace("202.206.102.169", "-"));
    }

    #[test]
    fn rows_of_sogou_become_queries_and_their_clicks() {
        let old = "00:00:00\t2982199073774412\t[360安全卫士]\t8 3\tdownload.it.com.cn/softweb/\n\
                   00:00:09\t2982199073774412\t[360安全卫士]\t2 4\twww.360.cn/\n\
                   00:00:01\t07594220010824798\t[哄抢救灾物资]\t1\n";
        let (gb18030, _, _) = encoding_rs::GB18030.encode(old);
        let options = ImportOptions { date: parse_date("2008-06-01"), ..options(ImportFormat::Sogou) };
        let (records, imported) = import_with(&options, &gb18030);
        assert_eq!((imported.queries, imported.clicks, imported.dropped["a field is missing"]), (1, 2, 1));
        let [AnyRecord::Query(query), AnyRecord::Click(first), AnyRecord::Click(second)] = &records[..]
        else {
            panic!("{records:?}")
        };
        assert_eq!((query.query.as_str(), query.at), ("360安全卫士", at("2008-06-01T00:00:00Z")));
        assert_eq!((first.url.as_deref(), first.rank), (Some("http://download.it.com.cn/softweb/"), Some(8)));
        assert_eq!((first.order, second.order), (Some(3), Some(4)));
        assert_eq!([&first.impression, &second.impression], [&query.id, &query.id]);

        let new = "20111230000005\t57375476989eea12\t奇艺高清\t1\t1\thttp://www.qiyi.com/\n";
        let (records, _) = import_all(ImportFormat::Sogou, new.as_bytes());
        assert!(matches!(&records[1], AnyRecord::Click(click) if click.at == at("2011-12-30T00:00:05Z")));
        // A time without a day, and no day in the options.
        assert_eq!(import_all(ImportFormat::Sogou, old.as_bytes()).1.dropped["no time"], 2);
    }
}
