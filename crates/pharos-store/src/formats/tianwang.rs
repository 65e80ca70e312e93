//! The Tianwang format (天网格式): a sequence of raw pages, designed for long-term storage and recovery from damage
//! (《搜索引擎——原理、技术与系统》§3.2).
//!
//! ```text
//! version: 1.0                             the head: one property per line, `version` first, `length` last
//! url: http://net.pku.cn/~cnds/            the final URL
//! origin: http://net.pku.cn/~cnds          the first URL, only after a redirect
//! date: Tue, 16 Sep 2003 14:13:20 GMT      time of storage (RFC 822)
//! ip: 162.105.203.25                       the server
//! unzip-length: 30233                      only if DATA is compressed: its original length
//! length: 11683                            number of bytes of DATA
//!                                          one LF, never CRLF
//! DATA                                     HTTP header as received, one LF, body
//!                                          one LF, not counted in `length`
//! ```
//!
//! Records follow each other without a separator. Compression is zlib (RFC 1950) over the whole of DATA.
//!
//! **Lenient reading.** Unknown properties are ignored. A missing or unreadable date becomes 1970, an unreadable IP
//! address is dropped. DATA is split after the first empty line, whether HTTP header lines end in CRLF or LF, and
//! the LF between header and body may be missing. DATA that does not start with `HTTP/` is all body.
//! [`write_record`] always writes the form above.
//!
//! **Local damage.** [`TianwangScan`] reports a damaged range and continues at the next record. It finds the record
//! as the authors of the format describe: search for `version:` and accept it if three consecutive records are
//! valid.

mod files;
mod scan;

use std::fmt::Write as _;
use std::io::{self, Read};
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use pharos_core::Timestamp;
use thiserror::Error;

pub use files::{FILE_LIMIT, RawFileWriter, raw_file_name, raw_files};
pub use scan::TianwangScan;

/// Maximum length of DATA, compressed or not.
pub const MAX_RECORD: u64 = 64 << 20;
/// Properties of version 1.0, in order.
const PROPERTIES: [&str; 7] = ["version", "url", "origin", "date", "ip", "unzip-length", "length"];
/// Maximum number of properties in a head. It also bounds the work per candidate in a file of `version:` lines.
const MAX_PROPERTIES: usize = 32;
/// Maximum length of the `version` line.
const VERSION_LINE: usize = 32;
/// Maximum length of an HTTP header that is separated from the body.
const MAX_HTTP_HEADER: usize = 256 << 10;
/// Last second that an RFC 822 date with a four-digit year can express.
const LAST_SECOND: i64 = 253_402_300_799;

/// A raw page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TianwangRecord {
    /// Final URL, after all redirects.
    pub url: String,
    /// First URL, if a redirect led away from it.
    pub origin: Option<String>,
    /// Time of storage, written in whole seconds.
    pub date: Timestamp,
    pub ip: Option<IpAddr>,
    pub compressed: bool,
    /// HTTP status line and header fields as received, including the final empty line.
    pub head: Vec<u8>,
    pub body: Vec<u8>,
}

/// A byte range that contains no valid record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("damaged range of {length} bytes at offset {offset}: {detail}")]
pub struct DamagedRange {
    pub offset: u64,
    pub length: u64,
    /// Description of the damage at the start of the range.
    pub detail: String,
}

/// Encodes a record.
pub fn write_record(record: &TianwangRecord) -> Vec<u8> {
    let mut data = Vec::with_capacity(record.head.len() + record.body.len() + 5);
    data.extend_from_slice(&record.head);
    if !record.head.is_empty() && end_of_http_header(&record.head).is_none() {
        // Without its empty line the header could not be separated from the body.
        data.extend_from_slice(if record.head.ends_with(b"\n") { &b"\r\n"[..] } else { b"\r\n\r\n" });
    }
    data.push(b'\n');
    data.extend_from_slice(&record.body);

    let mut head = format!("version: 1.0\nurl: {}\n", escape_line_breaks(&record.url));
    if let Some(origin) = &record.origin {
        let _ = writeln!(head, "origin: {}", escape_line_breaks(origin));
    }
    let _ = writeln!(head, "date: {}", format_date(record.date));
    if let Some(ip) = record.ip {
        let _ = writeln!(head, "ip: {ip}");
    }
    if record.compressed {
        let _ = writeln!(head, "unzip-length: {}", data.len());
        let mut packed = Vec::new();
        // In-memory I/O cannot fail.
        let _ = ZlibEncoder::new(data.as_slice(), Compression::default()).read_to_end(&mut packed);
        data = packed;
    }
    let _ = write!(head, "length: {}\n\n", data.len());

    let mut out = head.into_bytes();
    out.append(&mut data);
    out.push(b'\n');
    out
}

/// Reads the first record in `bytes`.
pub fn read_record(bytes: &[u8]) -> Result<TianwangRecord, DamagedRange> {
    let nothing = |detail: String| DamagedRange { offset: 0, length: bytes.len() as u64, detail };
    let mut scan = TianwangScan::new(io::Cursor::new(bytes)).map_err(|e| nothing(e.to_string()))?;
    scan.next().unwrap_or_else(|| Err(nothing("no data".into()))).map(|(_, record)| record)
}

/// Escapes line breaks in a value, which would end the property early and could forge others.
fn escape_line_breaks(value: &str) -> String {
    value.replace('\r', "%0D").replace('\n', "%0A")
}

fn format_date(at: Timestamp) -> String {
    let seconds = u64::try_from(at.seconds().clamp(0, LAST_SECOND)).unwrap_or_default();
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Parses an RFC 822 date with `GMT` or an offset such as `+0800`.
fn parse_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let (stamp, shift) = match text.rsplit_once(' ') {
        Some((stamp, zone)) if zone.starts_with(['+', '-']) => (format!("{stamp} GMT"), shift_millis(zone)?),
        _ => (text.to_string(), 0),
    };
    let time = httpdate::parse_http_date(&stamp).ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(time.as_millis()).ok()? - shift))
}

/// Converts an offset such as `+0800` to milliseconds.
fn shift_millis(zone: &str) -> Option<i64> {
    let number: i64 = zone.parse().ok().filter(|n: &i64| zone.len() == 5 && n.abs() < 2400)?;
    Some((number / 100 * 60 + number % 100) * 60_000)
}

/// The head of a record.
#[derive(Debug)]
struct RecordHead {
    url: Option<String>,
    origin: Option<String>,
    date: Option<Timestamp>,
    ip: Option<IpAddr>,
    unzip_length: Option<u64>,
    length: u64,
    /// Length of the head, including its blank line.
    size: usize,
}

impl RecordHead {
    /// Parses the head at the start of `window`: rules 2 to 7 of the format as far as they concern the head. Returns
    /// `None` if the window ends before the head.
    fn parse(window: &[u8]) -> Result<Option<Self>, &'static str> {
        if !is_head_start(window) {
            return Err("no `version:` at the start of a record");
        }
        let mut size = 0;
        let mut values: [Option<String>; PROPERTIES.len()] = Default::default();
        for _ in 0..=MAX_PROPERTIES {
            let rest = &window[size..];
            let Some(end) = rest.iter().position(|b| *b == b'\n') else { return Ok(None) };
            size += end + 1;
            let line = &rest[..end];
            if line.is_empty() {
                return Self::from_properties(values, size).map(Some);
            }
            if line.ends_with(b"\r") {
                return Err("lines end in CRLF: the file was transferred in text mode");
            }
            if values[PROPERTIES.len() - 1].is_some() {
                return Err("property after `length`");
            }
            let colon = line.iter().position(|b| *b == b':').ok_or("property without colon")?;
            let (name, value) = (&line[..colon], &line[colon + 1..]);
            let is_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
            if name.is_empty() || !name.iter().all(is_name) {
                return Err("property name is not lower case");
            }
            // A repeated property indicates that a torn head was merged with the next record's head.
            let place = match PROPERTIES.iter().position(|property| property.as_bytes() == name) {
                Some(place) if values[place].is_some() => return Err("repeated property"),
                Some(place) => place,
                None => continue,
            };
            let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
            // A carriage return within the line; a record that is read can be written.
            values[place] = Some(escape_line_breaks(&value));
        }
        Err("too many properties")
    }

    fn from_properties(
        values: [Option<String>; PROPERTIES.len()],
        size: usize,
    ) -> Result<Self, &'static str> {
        let [_version, url, origin, date, ip, unzip_length, length] = values;
        let number = |text: String| text.trim().parse::<u64>();
        let length = length.ok_or("the head does not end with `length`")?;
        Ok(Self {
            url,
            origin,
            date: date.and_then(|d| parse_date(&d)),
            ip: ip.and_then(|ip| ip.trim().parse().ok()),
            unzip_length: unzip_length.map(number).transpose().map_err(|_| "invalid `unzip-length`")?,
            length: number(length).map_err(|_| "invalid `length`")?,
            size,
        })
    }

    /// Combines the head with its data.
    fn with_data(self, data: Vec<u8>) -> Result<TianwangRecord, String> {
        let url = self.url.ok_or("record without `url`")?;
        let compressed = self.unzip_length.is_some();
        let mut data = match self.unzip_length {
            Some(length) => unzip(&data, length)?,
            None => data,
        };
        let header = if data.starts_with(b"HTTP/") { end_of_http_header(&data).unwrap_or(0) } else { 0 };
        let body = data.split_off(header + usize::from(data.get(header) == Some(&b'\n')));
        data.truncate(header);
        let date = self.date.unwrap_or(Timestamp::EPOCH);
        Ok(TianwangRecord { url, origin: self.origin, date, ip: self.ip, compressed, head: data, body })
    }
}

/// Returns `true` if a head starts here: its first line is `version:` and a number.
fn is_head_start(bytes: &[u8]) -> bool {
    let line = &bytes[..bytes.len().min(VERSION_LINE)];
    let Some(value) = line.strip_prefix(b"version:") else { return false };
    let end = value.iter().position(|b| *b == b'\n');
    // A CR is accepted here, so that the reader can report the CRLF.
    end.is_some_and(|end| value[..end].iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b' ' | b'\r')))
}

fn end_of_http_header(bytes: &[u8]) -> Option<usize> {
    let window = &bytes[..bytes.len().min(MAX_HTTP_HEADER)];
    let mut line = 0;
    for (end, _) in window.iter().enumerate().filter(|(_, b)| **b == b'\n') {
        if matches!(&window[line..end], b"" | b"\r") {
            return Some(end + 1);
        }
        line = end + 1;
    }
    None
}

fn unzip(packed: &[u8], length: u64) -> Result<Vec<u8>, String> {
    if length > MAX_RECORD {
        return Err(format!("data of {length} bytes exceeds the limit of {MAX_RECORD}"));
    }
    let mut data = Vec::new();
    // One byte more than stated is enough to detect excess data.
    let read = ZlibDecoder::new(packed).take(length + 1).read_to_end(&mut data);
    match read {
        Err(e) => Err(format!("data cannot be decompressed: {e}")),
        Ok(found) if found as u64 != length => {
            Err("decompressed length does not match `unzip-length`".into())
        }
        Ok(_) => Ok(data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use std::fs;
    use std::io::Cursor;

    const HEADER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

    fn page(n: usize) -> TianwangRecord {
        TianwangRecord {
            url: format!("http://example.org/{n}"),
            origin: None,
            date: Timestamp::parse("2003-04-15T08:13:06Z").unwrap(),
            ip: Some("162.105.129.12".parse().unwrap()),
            compressed: n % 2 == 1,
            head: HEADER.to_vec(),
            body: format!("<p>version: {n}\n\n").repeat(1 + n % 5).into_bytes(),
        }
    }

    fn scan(bytes: &[u8]) -> Vec<Result<(u64, TianwangRecord), DamagedRange>> {
        TianwangScan::new(Cursor::new(bytes)).unwrap().collect()
    }

    /// Returns the numbers at the end of the URLs found, and the damage.
    fn found(bytes: &[u8]) -> (Vec<usize>, Vec<DamagedRange>) {
        let mut pages = Vec::new();
        let mut damages = Vec::new();
        for each in scan(bytes) {
            match each {
                Ok((_, record)) => {
                    pages.push(record.url.rsplit('/').next().unwrap().parse().unwrap_or(usize::MAX))
                }
                Err(damage) => damages.push(damage),
            }
        }
        (pages, damages)
    }

    fn lines(record: &TianwangRecord) -> Vec<String> {
        let text = String::from_utf8_lossy(&write_record(record)).into_owned();
        text.lines().take_while(|l| !l.is_empty()).map(str::to_string).collect()
    }

    #[test]
    fn length_counts_header_line_feed_and_body() {
        let header = [
            "HTTP/1.1 200 OK",
            "Date: Tue, 16 Sep 2003 14:19:15 GMT",
            "Server: Apache/2.0.40 (Red Hat Linux)",
            "Last-Modified: Tue, 16 Sep 2003 13:18:19 GMT",
            "ETag: \"10f7a5-2c8e-375a5cc0\"",
            "Accept-Ranges: bytes",
            "Content-Length: 11406",
            "Connection: close",
            "Content-Type: text/html; charset=GB2312",
        ]
        .map(|line| format!("{line}\r\n"))
        .concat()
            + "\r\n";
        assert_eq!(header.len(), 276);
        let record = TianwangRecord { head: header.into(), body: vec![b'x'; 11406], ..page(0) };
        assert_eq!(lines(&record).last().unwrap(), "length: 11683");
        assert_eq!(read_record(&write_record(&record)).unwrap(), record);
    }

    #[test]
    fn origin_is_written_only_after_a_redirect() {
        let mut record = page(0);
        record.url = "http://net.pku.cn/~cnds/".into();
        record.origin = Some("http://net.pku.cn/~cnds".into());
        assert!(lines(&record)[1..].starts_with(&[
            "url: http://net.pku.cn/~cnds/".into(),
            "origin: http://net.pku.cn/~cnds".into()
        ]));
        assert_eq!(read_record(&write_record(&record)).unwrap(), record);
        assert!(!lines(&page(0)).iter().any(|l| l.starts_with("origin")));
    }

    #[test]
    fn dates_are_rfc_822() {
        assert_eq!(lines(&page(0))[2], "date: Tue, 15 Apr 2003 08:13:06 GMT");
        assert_eq!(parse_date("Tue, 15 Apr 2003 08:13:06 GMT"), Some(page(0).date));
        assert_eq!(parse_date("Tue, 15 Apr 2003 16:13:06 +0800"), Some(page(0).date));
        assert_eq!(parse_date("yesterday +9999999999999999999"), None);
        for absurd in [i64::MIN, -1, i64::MAX] {
            let record = TianwangRecord { date: Timestamp::from_millis(absurd), ..page(0) };
            read_record(&write_record(&record)).unwrap();
        }
    }

    #[test]
    fn properties_are_written_in_the_order_of_version_1_0() {
        let record = TianwangRecord { origin: Some("http://example.org/o".into()), ..page(1) };
        let names: Vec<String> =
            lines(&record).iter().map(|l| l.split(':').next().unwrap().to_string()).collect();
        assert_eq!(names, ["version", "url", "origin", "date", "ip", "unzip-length", "length"]);
        let text = String::from_utf8(write_record(&page(0))).unwrap();
        let no_version = text.replacen("version: 1.0\n", "", 1);
        let length_first = text.replacen("length: ", "length: 9\nlength: ", 1);
        let upper_case = text.replacen("url:", "URL:", 1);
        for wrong in [no_version, length_first, upper_case] {
            assert!(read_record(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_blank_line_is_one_line_feed() {
        let record = TianwangRecord { head: HEADER.to_vec(), body: b"body".to_vec(), ..page(0) };
        let text = String::from_utf8(write_record(&record)).unwrap();
        let length = HEADER.len() + 1 + 4;
        assert!(text.contains(&format!("\nlength: {length}\n\nHTTP/1.1")) && text.ends_with("\n\nbody\n"));
        let (head, _) = text.split_once("\n\n").unwrap();
        for wrong in [
            text.replacen("\n\nHTTP", "\n\r\nHTTP", 1),
            format!("{}\r\n", text.strip_suffix('\n').unwrap()),
            format!("{}\r\n\r\n{}", head.replace('\n', "\r\n"), &text[head.len() + 2..]),
        ] {
            assert!(read_record(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn extraction_resumes_at_the_first_of_three_valid_records() {
        // The fragment contains the start of a record, and `version:` where no record starts.
        let mut bytes = write_record(&page(0))[..100].to_vec();
        bytes.extend_from_slice(b"xx version: 1.0\nlength: 3\n\nversion: 1.0\nversion:");
        let start = bytes.len() as u64;
        for n in [2, 4, 6] {
            bytes.extend_from_slice(&write_record(&page(n)));
        }
        let found = scan(&bytes);
        let damage = found[0].as_ref().unwrap_err();
        assert_eq!((damage.offset, damage.length), (0, start));
        assert_eq!(found[1].as_ref().unwrap(), &(start, page(2)));
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn unknown_properties_are_ignored() {
        let text = String::from_utf8(write_record(&page(0))).unwrap().replacen("ip:", "colour: blue\nip:", 1);
        assert_eq!(read_record(text.as_bytes()).unwrap(), page(0));
    }

    #[test]
    fn files_are_named_by_number_and_hold_two_gigabytes_at_most() {
        assert_eq!(raw_file_name(2559638448), "Tianwang.raw.2559638448");
        assert_eq!(FILE_LIMIT, i32::MAX as u64);
        let dir = tempfile::tempdir().unwrap();
        let mut files = RawFileWriter::create(dir.path(), 700).unwrap();
        let offsets: Vec<u64> = (0..12).map(|n| files.append(&page(n)).unwrap()).collect();
        let end = files.finish().unwrap();
        let paths = raw_files(dir.path()).unwrap();
        assert!(paths.len() > 3 && paths[1].ends_with("Tianwang.raw.2"), "{paths:?}");
        assert!(paths.iter().all(|p| fs::metadata(p).unwrap().len() <= 700));
        let all: Vec<u8> = paths.iter().flat_map(|p| fs::read(p).unwrap()).collect();
        assert_eq!(all.len() as u64, end);
        let found: Vec<_> = scan(&all).into_iter().map(Result::unwrap).collect();
        assert_eq!(found, offsets.into_iter().zip((0..12).map(page)).collect::<Vec<_>>());
        assert!(RawFileWriter::create(dir.path(), 700).is_err(), "existing files are not overwritten");
    }

    #[test]
    fn compressed_records_have_unzip_length() {
        let plain = TianwangRecord { compressed: false, body: b"lighthouse ".repeat(200), ..page(0) };
        let packed = TianwangRecord { compressed: true, ..plain.clone() };
        assert!(!lines(&plain).iter().any(|l| l.starts_with("unzip-length")));
        let promised = format!("unzip-length: {}", HEADER.len() + 1 + 2200);
        assert!(lines(&packed).contains(&promised));
        let bytes = write_record(&packed);
        assert!(bytes.len() * 3 < write_record(&plain).len());
        assert_eq!(read_record(&bytes).unwrap(), packed);
        for wrong in ["unzip-length: 9", "unzip-length: 99999999999", "unzip-length: x"] {
            let at = bytes.windows(promised.len()).position(|w| w == promised.as_bytes()).unwrap();
            let lying =
                [&bytes[..at], wrong.as_bytes(), &bytes[at + promised.len()..], &write_record(&page(2))]
                    .concat();
            let (pages, damages) = found(&lying);
            assert_eq!((pages, damages.len()), (vec![2], 1), "{wrong}");
        }
    }

    #[test]
    fn old_forms_of_data_are_read() {
        let record = |data: &str| {
            read_record(format!("version: 1.0\nurl: u\nlength: {}\n\n{data}\n", data.len()).as_bytes())
                .unwrap()
        };
        for (data, head, body) in [
            ("HTTP/1.0 200 OK\r\n\r\nbody", "HTTP/1.0 200 OK\r\n\r\n", "body"),
            ("HTTP/1.0 200 OK\nA: b\n\nbody", "HTTP/1.0 200 OK\nA: b\n\n", "body"),
            ("HTTP/1.0 200 OK\nA: b\n\n\nbody", "HTTP/1.0 200 OK\nA: b\n\n", "body"),
            ("<p>\n\nbody", "", "<p>\n\nbody"),
            ("\nbody", "", "body"),
            ("", "", ""),
        ] {
            let read = record(data);
            assert_eq!((read.head.as_slice(), read.body.as_slice()), (head.as_bytes(), body.as_bytes()));
            assert_eq!(read.date, Timestamp::EPOCH);
        }
    }

    #[test]
    fn values_cannot_break_the_format() {
        let evil = "http://example.org/\nlength: 0\n\n\nversion: 1.0\r\nurl: http://evil.example/";
        let record = TianwangRecord { url: evil.into(), origin: Some(evil.into()), ..page(0) };
        let read = scan(&write_record(&record));
        assert_eq!(read.len(), 1);
        let (_, read) = read[0].as_ref().unwrap();
        assert!(read.url.starts_with("http://example.org/%0Alength") && read.body == record.body);
        // A header without its empty line gets one.
        let bare = TianwangRecord { head: b"HTTP/1.1 200 OK".to_vec(), ..page(0) };
        assert_eq!(scan(&write_record(&bare))[0].as_ref().unwrap().1.body, page(0).body);
    }

    #[test]
    fn a_wrong_length_hides_no_neighbour() {
        let records: Vec<Vec<u8>> = (0..6).map(|n| write_record(&page(n))).collect();
        // The first record claims to end after the first line of the second.
        let length = HEADER.len() + 1 + page(0).body.len();
        let text = String::from_utf8(records[0].clone()).unwrap();
        let lying = text.replace(&format!("length: {length}"), &format!("length: {}", length + 13));
        let bytes = [lying.as_bytes(), &records[1..].concat()].concat();
        let (pages, damages) = found(&bytes);
        assert_eq!((pages, damages.len()), (vec![1, 2, 3, 4, 5], 1), "{damages:?}");
    }

    #[test]
    fn a_record_between_two_damages_is_found() {
        let mut torn_head = write_record(&page(0));
        torn_head.truncate(45);
        let bytes = [
            torn_head,
            write_record(&page(2)),
            write_record(&page(4))[40..].to_vec(),
            write_record(&page(6)),
            b"tail".to_vec(),
        ];
        let (pages, damages) = found(&bytes.concat());
        assert_eq!((pages, damages.len()), (vec![2, 6], 3), "{damages:?}");
    }

    /// Every line is a candidate and none is a record. A long check of each would take hours.
    #[test]
    fn a_file_made_to_be_slow_is_read_to_its_end() {
        let mut bytes = b"version:1\na:".repeat(20_000);
        bytes.extend(b"version: 1.0\nlength: 30\n\n".repeat(10_000));
        assert!(scan(&bytes).iter().all(Result::is_err));
    }

    fn any_record() -> impl Strategy<Value = TianwangRecord> {
        let url = "https?://[a-z]{1,8}\\.example/[a-zA-Z0-9/?=&%:灯塔 ]{0,30}";
        let header =
            "HTTP/1\\.[01] [1-5][0-9]{2}( [A-Za-z ]{0,9})?(\r\n[A-Za-z-]{1,9}: [ -~]{0,20}){0,4}\r\n\r\n";
        (
            url,
            option::of(url),
            0..LAST_SECOND,
            option::of(any::<u128>()),
            any::<bool>(),
            header,
            vec(any::<u8>(), 0..300),
        )
            .prop_map(|(url, origin, seconds, ip, compressed, head, body)| TianwangRecord {
                url,
                origin,
                date: Timestamp::from_millis(seconds * 1000),
                ip: ip.map(
                    |ip| if ip & 1 == 0 { IpAddr::V6(ip.into()) } else { IpAddr::V4((ip as u32).into()) },
                ),
                compressed,
                head: head.into_bytes(),
                body,
            })
    }

    proptest! {
        #[test]
        fn records_round_trip(records in vec(any_record(), 1..5)) {
            let bytes: Vec<u8> = records.iter().flat_map(write_record).collect();
            let read: Vec<TianwangRecord> = scan(&bytes).into_iter().map(|r| r.unwrap().1).collect();
            prop_assert_eq!(&read, &records);
            prop_assert_eq!(read.iter().flat_map(write_record).collect::<Vec<u8>>(), bytes);
        }

        /// A changed or added byte, or a lost range, costs at most the records it hits.
        #[test]
        fn damage_costs_only_what_it_hits(
            at in 0.0..1.0f64, mask in 1u8..=255, lost in option::of(1..1000usize), add in any::<bool>()
        ) {
            let records: Vec<Vec<u8>> = (0..9).map(|n| write_record(&page(n))).collect();
            let mut bytes = records.concat();
            let first = ((bytes.len() - 1) as f64 * at) as usize;
            let last = bytes.len().min(first + lost.unwrap_or(1)) - 1;
            match (lost, add) {
                (Some(_), _) => drop(bytes.drain(first..=last)),
                (None, true) => bytes.insert(first, mask),
                (None, false) => bytes[first] ^= mask,
            }
            let (pages, _) = found(&bytes);
            let mut end = 0;
            for (n, record) in records.iter().enumerate() {
                let start = end;
                end += record.len();
                let hit = first < end && last >= start;
                prop_assert!(hit || pages.contains(&n), "{} is gone from {:?}", n, pages);
            }
        }

        #[test]
        fn any_bytes_are_read_or_reported(pieces in vec((0..8usize, vec(any::<u8>(), 0..20)), 0..40)) {
            let known: [&[u8]; 8] = [b"version: 1.0\n", b"url: u\n", b"length: 5\n", b"\n", b"HTTP/1.1\r\n\r\n",
                b"unzip-length: 9\n", b"date: Tue, 15 Apr 2003 08:13:06 GMT\n", b""];
            let mut bytes = Vec::new();
            for (k, raw) in &pieces {
                bytes.extend_from_slice(known[*k]);
                bytes.extend_from_slice(if raw.len() > 15 { raw } else { b"" });
            }
            let mut end = 0;
            for each in TianwangScan::new(Cursor::new(&bytes)).unwrap() {
                match each {
                    Ok((offset, _)) => prop_assert!(offset >= end),
                    Err(damage) => {
                        prop_assert!(damage.offset >= end && damage.length > 0);
                        end = damage.offset + damage.length;
                    }
                }
            }
            prop_assert!(end <= bytes.len() as u64);
        }
    }
}
