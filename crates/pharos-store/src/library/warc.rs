//! One record as WARC 1.1 (ISO 28500) and back. Bytes only, no files.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE32;
use pharos_core::{LibraryPosition, PageUrl, Timestamp, VERSION};
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{Content, Event, Record, Response, Revisit, Truncated};

/// Longest WARC or HTTP header block that is read.
const MAX_HEADER: usize = 256 << 10;
const VERSION_LINE: &str = "WARC/1.1\r\n";
/// Profiles of revisit records (WARC 1.1 §6.7).
const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// A `warcinfo` record, first in every file.
pub(super) fn warcinfo(file_name: &str, at: Timestamp) -> Vec<u8> {
    let block = format!("software: Pharos/{VERSION}\r\nformat: WARC File Format 1.1\r\n");
    let mut head = Head::new("warcinfo", at);
    head.field("WARC-Filename", file_name);
    head.field("Content-Type", "application/warc-fields");
    head.digested(block.as_bytes());
    let mut out = Vec::new();
    head.finish(&new_id(), &[block.as_bytes()], &mut out);
    out
}

/// A record as it stands, uncompressed, in a WARC file.
pub(super) fn write(record: &Record) -> Vec<u8> {
    let mut out = Vec::new();
    write_as(record, &new_id(), &mut out);
    out
}

/// A record and, where it is known, the request that it answers as a record of its own, both in place of what the
/// buffers held.
pub(super) fn write_with_request(record: &Record, request: &mut Vec<u8>, out: &mut Vec<u8>) {
    let id = new_id();
    request.clear();
    if let Content::Response(Response { request: Some(text), .. }) = &record.content {
        let mut head = Head::new("request", record.at);
        head.field("WARC-Target-URI", record.url.as_str());
        head.field("WARC-Concurrent-To", &id);
        head.field("Content-Type", "application/http;msgtype=request");
        head.finish(&new_id(), &[text.as_bytes()], request);
    }
    out.clear();
    write_as(record, &id, out);
}

fn write_as(record: &Record, id: &str, out: &mut Vec<u8>) {
    match &record.content {
        Content::Response(response) => {
            let mut head = Head::of("response", record);
            if let Some(address) = response.address {
                head.field("WARC-IP-Address", &address.to_string());
            }
            // The payload alone has a digest: the compressed member guards the header with a checksum of its own.
            head.field("WARC-Payload-Digest", &digest(&response.body));
            if let Some(truncated) = response.truncated {
                head.field("WARC-Truncated", truncated.as_str());
            }
            head.field("Content-Type", "application/http;msgtype=response");
            let generated;
            let http = match &response.head {
                Some(head) if is_whole_head(head) => head.as_slice(),
                _ => {
                    generated = http_head(response.status, &response.headers, Some(response.body.len()));
                    generated.as_bytes()
                }
            };
            head.finish(id, &[http, &response.body], out);
        }
        Content::Revisit(revisit) => {
            let mut head = Head::of("revisit", record);
            if let Some(address) = revisit.address {
                head.field("WARC-IP-Address", &address.to_string());
            }
            head.field("WARC-Profile", if revisit.status == 304 { NOT_MODIFIED } else { SAME_PAYLOAD });
            head.field("WARC-Refers-To-Target-URI", record.url.as_str());
            head.field("WARC-Refers-To-Date", &revisit.of_at.to_precise());
            head.field("Pharos-Refers-To", &revisit.of.to_string());
            head.field("WARC-Payload-Digest", &revisit.digest);
            head.field("Content-Type", "application/http;msgtype=response");
            head.finish(id, &[http_head(revisit.status, &revisit.headers, None).as_bytes()], out);
        }
        Content::Event(event) => {
            // Serialising our own plain enum cannot fail.
            let block = serde_json::to_vec(event).unwrap_or_default();
            let mut head = Head::of("metadata", record);
            head.field("Content-Type", "application/json");
            head.digested(&block);
            head.finish(id, &[&block], out);
        }
    }
}

/// A WARC header under construction.
struct Head {
    text: String,
}

impl Head {
    fn new(kind: &str, at: Timestamp) -> Self {
        let mut text = String::with_capacity(768);
        let _ = write!(text, "{VERSION_LINE}WARC-Type: {kind}\r\nWARC-Date: {}\r\n", at.to_precise());
        Self { text }
    }

    fn of(kind: &str, record: &Record) -> Self {
        let mut head = Self::new(kind, record.at);
        head.field("WARC-Target-URI", record.url.as_str());
        // Extension fields, which other readers pass over: how the crawl came here, so that a rebuild knows it.
        let extensions = [
            ("Pharos-Depth", record.depth),
            ("Pharos-Hops", record.hops),
            ("Pharos-Attempt", record.attempt),
            ("Pharos-Again", u32::from(record.again)),
        ];
        for (name, value) in extensions {
            if value > 0 {
                head.field(name, &value.to_string());
            }
        }
        for (name, value) in [("Pharos-Origin", &record.origin), ("Pharos-Spelling", &record.spelling)] {
            if let Some(value) = value {
                head.field(name, value);
            }
        }
        head
    }

    fn field(&mut self, name: &str, value: &str) {
        if value.contains(['\r', '\n']) {
            // A line break in a value would end the header early.
            let _ = write!(self.text, "{name}: {}\r\n", value.replace(['\r', '\n'], " "));
        } else {
            self.text.extend([name, ": ", value, "\r\n"]);
        }
    }

    fn digested(&mut self, block: &[u8]) {
        self.field("WARC-Block-Digest", &digest(block));
    }

    fn finish(mut self, id: &str, block: &[&[u8]], out: &mut Vec<u8>) {
        let length: usize = block.iter().map(|part| part.len()).sum();
        self.field("WARC-Record-ID", id);
        self.field("Content-Length", &length.to_string());
        out.reserve(self.text.len() + length + 6);
        out.extend_from_slice(self.text.as_bytes());
        out.extend_from_slice(b"\r\n");
        block.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(b"\r\n\r\n");
    }
}

/// SHA-1 of some bytes as WARC writes it.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha1:{}", BASE32.encode(&Sha1::digest(bytes)))
}

/// An id that no other record has: a UUID (version 8: the hash is ours) of this process and a counter.
fn new_id() -> String {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let process = PROCESS.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        xxh3_64(format!("{} {}", now.as_nanos(), std::process::id()).as_bytes())
    });
    let seed = [process.to_le_bytes(), NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes()].concat();
    let hash = (xxh3_128(&seed) & !(0xf << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
    let hex = format!("{hash:032x}");
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Status line and header. They must agree with the body as it is stored: chunking is gone, and so is the header
/// that spoke of it.
pub(crate) fn http_head(status: u16, headers: &[(String, String)], length: Option<usize>) -> String {
    let mut head = String::with_capacity(512);
    let _ = write!(head, "HTTP/1.1 {status} \r\n");
    for (name, value) in headers {
        if ["transfer-encoding", "content-length", "connection", "keep-alive"]
            .iter()
            .any(|gone| name.eq_ignore_ascii_case(gone))
        {
            continue;
        }
        if value.contains(['\r', '\n']) {
            let _ = write!(head, "{name}: {}\r\n", value.replace(['\r', '\n'], " "));
        } else {
            head.extend([name, ": ", value, "\r\n"]);
        }
    }
    if let Some(length) = length {
        let _ = write!(head, "Content-Length: {length}\r\n");
    }
    head.push_str("\r\n");
    head
}

/// Marks a record of a compacted file with the stretch of the file that it stood in before, which stays its position
/// for ever.
pub(super) fn with_span(record: &[u8], (start, end): (u64, u64)) -> Vec<u8> {
    let field = format!("Pharos-Span: {start}-{end}\r\n");
    let (version, rest) = record.split_at(VERSION_LINE.len().min(record.len()));
    [version, field.as_bytes(), rest].concat()
}

/// What stands in a WARC file.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    /// `response`, `request`, `warcinfo` …
    pub(super) kind: String,
    /// One of our records; `None` for what is passed over (warcinfo, requests, foreign types).
    pub(super) record: Option<Box<Record>>,
    /// Where it stood before its file was compacted.
    pub(super) span: Option<(u64, u64)>,
}

/// Reads one uncompressed WARC record. The error says what is wrong with it.
pub(super) fn read(bytes: &[u8]) -> Result<Parsed, String> {
    let (head, block) = split_head(bytes).ok_or("no end of the WARC header")?;
    let mut lines = head_lines(head);
    if !lines.next().is_some_and(|version| version.starts_with("WARC/")) {
        return Err("not a WARC record".into());
    }
    let fields: Vec<(&str, &str)> = lines.filter_map(split_field).collect();
    let field = |name: &str| fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| *v);
    let length: usize =
        field("Content-Length").and_then(|l| l.parse().ok()).ok_or("no Content-Length in the WARC header")?;
    let block = block.get(..length).ok_or("the record is shorter than it says")?;
    if field("WARC-Block-Digest").is_some_and(|stated| is_wrong(stated, block)) {
        return Err("the digest does not match".into());
    }
    let kind = field("WARC-Type").unwrap_or_default().to_string();
    let span = field("Pharos-Span").and_then(parse_span);
    if !matches!(kind.as_str(), "response" | "revisit" | "metadata") {
        return Ok(Parsed { kind, record: None, span });
    }
    let target = field("WARC-Target-URI").unwrap_or_default().trim_matches(['<', '>']);
    let url = PageUrl::parse(target).map_err(|e| e.to_string())?;
    let at = field("WARC-Date").and_then(Timestamp::parse).ok_or("no WARC-Date")?;
    let address = field("WARC-IP-Address").and_then(|a| a.parse().ok());
    let content = match kind.as_str() {
        "response" => {
            let mut response = read_http(block).ok_or("no HTTP header in the response")?;
            if field("WARC-Payload-Digest").is_some_and(|stated| is_wrong(stated, &response.body)) {
                return Err("the digest does not match".into());
            }
            response.address = address;
            response.truncated = field("WARC-Truncated").map(Truncated::from_str);
            Content::Response(response)
        }
        "revisit" => {
            let http = read_http(block).ok_or("no HTTP header in the revisit")?;
            Content::Revisit(Revisit {
                status: http.status,
                headers: http.headers,
                address,
                of: field("Pharos-Refers-To")
                    .and_then(LibraryPosition::parse)
                    .ok_or("a revisit that does not say of what")?,
                of_at: field("WARC-Refers-To-Date").and_then(Timestamp::parse).unwrap_or(at),
                digest: field("WARC-Payload-Digest").unwrap_or_default().to_string(),
            })
        }
        _ => match serde_json::from_slice::<Event>(block) {
            Ok(event) => Content::Event(event),
            Err(_) => return Ok(Parsed { kind, record: None, span }),
        },
    };
    let number = |name: &str| field(name).and_then(|n| n.parse().ok()).unwrap_or_default();
    let text = |name: &str| field(name).map(str::to_string);
    let record = Record {
        depth: number("Pharos-Depth"),
        hops: number("Pharos-Hops"),
        attempt: number("Pharos-Attempt"),
        again: number("Pharos-Again") > 0,
        origin: text("Pharos-Origin"),
        spelling: text("Pharos-Spelling"),
        ..Record::new(url, at, content)
    };
    Ok(Parsed { kind, record: Some(Box::new(record)), span })
}

/// Do these first bytes of a record say that it is an answer, or the repetition of one?
pub(super) fn begins_answer(start: &[u8]) -> bool {
    let mut lines = head_lines(start);
    lines.next().is_some_and(|version| version.starts_with("WARC/"))
        && lines.take_while(|line| !line.is_empty()).filter_map(split_field).any(|(name, value)| {
            name.eq_ignore_ascii_case("WARC-Type") && matches!(value, "response" | "revisit")
        })
}

fn is_wrong(stated: &str, bytes: &[u8]) -> bool {
    stated.starts_with("sha1:") && stated != digest(bytes)
}

fn parse_span(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once('-')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

fn read_http(block: &[u8]) -> Option<Response> {
    let (raw, body) = split_head(block)?;
    let mut lines = raw.split(|b| *b == b'\n').map(|line| String::from_utf8_lossy(line.trim_ascii()));
    let status = lines.next()?.strip_prefix("HTTP/")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| split_field(&line).map(|(name, value)| (name.to_string(), value.to_string())))
        .collect();
    let raw = &block[..block.len() - body.len()];
    let ours = [Some(body.len()), None].iter().any(|l| http_head(status, &headers, *l).as_bytes() == raw);
    let head = (!ours).then(|| raw.to_vec());
    Some(Response { status, headers, body: body.to_vec(), head, ..Response::default() })
}

/// Is this a head that can be told from the body behind it?
fn is_whole_head(head: &[u8]) -> bool {
    split_head(head).is_some_and(|(_, rest)| rest.is_empty()) && read_http(head).is_some()
}

/// The lines of a header that are text; our own headers are nothing else.
fn head_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    head.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line.trim_ascii()).ok())
}

fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let window = &bytes[..bytes.len().min(MAX_HEADER)];
    let end = memchr::memmem::find(window, b"\r\n\r\n")?;
    Some((&bytes[..end], &bytes[end + 4..]))
}

fn split_field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim(), value.trim()))
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(super) fn response(url: &str, body: &[u8]) -> Record {
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        Record {
            depth: 3,
            hops: 1,
            attempt: 2,
            again: true,
            origin: Some("http://example.org/first".into()),
            ..Record::new(
                PageUrl::parse(url).unwrap(),
                at,
                Content::Response(Response {
                    status: 200,
                    headers: vec![
                        ("Content-Type".into(), "text/html".into()),
                        ("Content-Length".into(), body.len().to_string()),
                    ],
                    body: body.to_vec(),
                    address: Some("127.0.0.1".parse().unwrap()),
                    truncated: Some(Truncated::Length),
                    ..Response::default()
                }),
            )
        }
    }

    fn back(record: &Record) -> Record {
        *read(&write(record)).unwrap().record.unwrap()
    }

    #[test]
    fn records_read_back_as_written() {
        let page = response("http://example.org/", "<p>灯塔\r\n\r\n".as_bytes());
        assert_eq!(back(&page), page);
        let (url, at) = (PageUrl::parse("http://example.org/x").unwrap(), Timestamp::EPOCH);
        let failure = Content::Event(Event::Failed { reason: "timed out".into() });
        let failure = Record { attempt: 2, ..Record::new(url.clone(), at, failure) };
        assert_eq!(back(&failure), failure);
        for whole_site in [false, true] {
            let wish = Record::new(url.clone(), at, Content::Event(Event::Recrawl { whole_site }));
            assert_eq!(back(&wish), wish);
            let text = String::from_utf8(write(&wish)).unwrap();
            assert!(text.contains(&format!(r#"{{"event":"recrawl","whole_site":{whole_site}}}"#)), "{text}");
        }
        let revisit = Record::new(
            url,
            at,
            Content::Revisit(Revisit {
                status: 200,
                headers: vec![("ETag".into(), "x".into())],
                address: None,
                of: LibraryPosition { file: 1, offset: 99 },
                of_at: at,
                digest: digest(b"same"),
            }),
        );
        assert_eq!(back(&revisit), revisit);
        assert_eq!(read(&warcinfo("1", Timestamp::EPOCH)).unwrap().record, None);
    }

    #[test]
    fn a_foreign_head_is_kept_to_the_byte() {
        let head = b"HTTP/1.0 200 Very Well\r\nX-Name:  \xb5\xc6\r\nContent-Length: 99\r\n\r\n".to_vec();
        let mut page = response("http://example.org/", b"body");
        let Content::Response(r) = &mut page.content else { unreachable!() };
        r.head = Some(head.clone());
        let Content::Response(read) = back(&page).content else { unreachable!() };
        assert_eq!((read.status, read.head, read.body), (200, Some(head), b"body".to_vec()));
        // One that would swallow the body, or hide it, is written anew.
        let Content::Response(r) = &mut page.content else { unreachable!() };
        for bad in ["HTTP/1.0 200 OK\n\n", "HTTP/1.0 200 OK\r\n\r\nA: b\r\n\r\n", "no http\r\n\r\n"] {
            r.head = Some(bad.into());
            let record = Record::new(page.url.clone(), page.at, Content::Response(r.clone()));
            let Content::Response(read) = back(&record).content else { unreachable!() };
            assert_eq!((read.head, read.body), (None, b"body".to_vec()), "{bad:?}");
        }
    }

    #[test]
    fn requests_stand_beside_their_answers() {
        let mut page = response("http://example.org/", b"body");
        let Content::Response(r) = &mut page.content else { unreachable!() };
        r.request = Some("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".into());
        let (mut request, mut answer) = (Vec::new(), Vec::new());
        write_with_request(&page, &mut request, &mut answer);
        let request = String::from_utf8(request).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let id = answer.split("WARC-Record-ID: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert!(request.contains(&format!("WARC-Concurrent-To: {id}")), "{request}");
        assert_eq!(read(request.as_bytes()).unwrap().kind, "request");
    }

    #[test]
    fn a_span_is_carried_along() {
        let bytes = with_span(&write(&response("http://example.org/", b"body")), (4711, 4800));
        let parsed = read(&bytes).unwrap();
        assert_eq!((parsed.span, parsed.kind.as_str()), (Some((4711, 4800)), "response"));
    }

    #[test]
    fn the_stored_block_agrees_with_itself() {
        let mut record = response("http://example.org/", b"hello");
        let Content::Response(r) = &mut record.content else { unreachable!() };
        r.headers.push(("Transfer-Encoding".into(), "chunked".into()));
        r.headers.push(("X-Evil".into(), "a\r\nInjected: yes".into()));
        let text = String::from_utf8(write(&record)).unwrap();
        assert!(!text.contains("chunked") && !text.contains("\r\nInjected"));
        assert_eq!(text.matches("Content-Length: 5\r\n").count(), 1);
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut bytes = write(&response("http://example.org/", b"hello world"));
        let at = bytes.len() - 8;
        bytes[at] ^= 1;
        assert_eq!(read(&bytes).unwrap_err(), "the digest does not match");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read(&bytes);
            let mut headed = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\n".to_vec();
            headed.append(&mut bytes);
            let _ = read(&headed);
        }
    }
}
