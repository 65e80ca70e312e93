//! Encoding and decoding of single records as WARC 1.1 (ISO 28500), without file access.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE32;
use pharos_core::{LibraryPosition, PageUrl, Timestamp, VERSION};
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{LibraryEvent, LibraryRecord, RawResponse, RecordContent, Revisit, TruncationReason};

/// Maximum length of a WARC or HTTP header.
const MAX_HEADER: usize = 256 << 10;
const VERSION_LINE: &str = "WARC/1.1\r\n";
/// Profiles of revisit records (WARC 1.1 §6.7).
const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// Returns the `warcinfo` record at the start of every file.
pub(super) fn warcinfo(file_name: &str, at: Timestamp) -> Vec<u8> {
    let block = format!("software: Pharos/{VERSION}\r\nformat: WARC File Format 1.1\r\n");
    let mut head = HeaderBuilder::new("warcinfo", at);
    head.field("WARC-Filename", file_name);
    head.field("Content-Type", "application/warc-fields");
    head.block_digest(block.as_bytes());
    let mut out = Vec::new();
    head.finish(&new_record_id(), &[block.as_bytes()], &mut out);
    out
}

/// Encodes a record, uncompressed.
pub(super) fn write_record(record: &LibraryRecord) -> Vec<u8> {
    let mut out = Vec::new();
    write_with_id(record, &new_record_id(), &mut out);
    out
}

/// Encodes a record and, if it is known, its request as a separate record. Both buffers are overwritten.
pub(super) fn write_with_request(record: &LibraryRecord, request: &mut Vec<u8>, out: &mut Vec<u8>) {
    let id = new_record_id();
    request.clear();
    if let RecordContent::Response(RawResponse { request: Some(text), .. }) = &record.content {
        let mut head = HeaderBuilder::new("request", record.at);
        head.field("WARC-Target-URI", record.url.as_str());
        head.field("WARC-Concurrent-To", &id);
        head.field("Content-Type", "application/http;msgtype=request");
        head.finish(&new_record_id(), &[text.as_bytes()], request);
    }
    out.clear();
    write_with_id(record, &id, out);
}

fn write_with_id(record: &LibraryRecord, id: &str, out: &mut Vec<u8>) {
    match &record.content {
        RecordContent::Response(response) => {
            let mut head = HeaderBuilder::for_record("response", record);
            if let Some(address) = response.address {
                head.field("WARC-IP-Address", &address.to_string());
            }
            // Only the payload has a digest: the checksum of the compressed member covers the header.
            head.field("WARC-Payload-Digest", &payload_digest(&response.body));
            if let Some(truncated) = response.truncated {
                head.field("WARC-Truncated", truncated.as_str());
            }
            head.field("Content-Type", "application/http;msgtype=response");
            let generated;
            let http = match &response.head {
                Some(head) if is_complete_header(head) => head.as_slice(),
                _ => {
                    generated = http_head(response.status, &response.headers, Some(response.body.len()));
                    generated.as_bytes()
                }
            };
            head.finish(id, &[http, &response.body], out);
        }
        RecordContent::Revisit(revisit) => {
            let mut head = HeaderBuilder::for_record("revisit", record);
            if let Some(address) = revisit.address {
                head.field("WARC-IP-Address", &address.to_string());
            }
            head.field("WARC-Profile", if revisit.is_not_modified() { NOT_MODIFIED } else { SAME_PAYLOAD });
            head.field("WARC-Refers-To-Target-URI", record.url.as_str());
            head.field("WARC-Refers-To-Date", &revisit.refers_to_at.to_precise());
            head.field("Pharos-Refers-To", &revisit.refers_to.to_string());
            head.field("WARC-Payload-Digest", &revisit.digest);
            head.field("Content-Type", "application/http;msgtype=response");
            head.finish(id, &[http_head(revisit.status, &revisit.headers, None).as_bytes()], out);
        }
        RecordContent::Event(event) => {
            // Serialising a plain enum cannot fail.
            let block = serde_json::to_vec(event).unwrap_or_default();
            let mut head = HeaderBuilder::for_record("metadata", record);
            head.field("Content-Type", "application/json");
            head.block_digest(&block);
            head.finish(id, &[&block], out);
        }
    }
}

/// A WARC header being built.
struct HeaderBuilder {
    text: String,
}

impl HeaderBuilder {
    fn new(kind: &str, at: Timestamp) -> Self {
        let mut text = String::with_capacity(768);
        let _ = write!(text, "{VERSION_LINE}WARC-Type: {kind}\r\nWARC-Date: {}\r\n", at.to_precise());
        Self { text }
    }

    fn for_record(kind: &str, record: &LibraryRecord) -> Self {
        let mut head = Self::new(kind, record.at);
        head.field("WARC-Target-URI", record.url.as_str());
        // Extension fields, ignored by other readers: the crawl context that a rebuild needs.
        let extensions = [
            ("Pharos-Depth", record.depth),
            ("Pharos-Hops", record.hops),
            ("Pharos-Attempt", record.attempt),
            ("Pharos-Again", u32::from(record.is_refetch)),
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

    fn block_digest(&mut self, block: &[u8]) {
        self.field("WARC-Block-Digest", &payload_digest(block));
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

/// Returns the SHA-1 digest of a payload in WARC notation.
pub fn payload_digest(bytes: &[u8]) -> String {
    format!("sha1:{}", BASE32.encode(&Sha1::digest(bytes)))
}

/// Returns a unique record id: a UUID (version 8, with a custom hash) of this process and a counter.
fn new_record_id() -> String {
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

/// Returns status line and header. They must match the body as stored: chunked coding has been decoded, and its
/// header field is removed.
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

/// Adds the original byte range of a record to a record of a compacted file. The range remains its permanent
/// position.
pub(super) fn with_span(record: &[u8], (start, end): (u64, u64)) -> Vec<u8> {
    let field = format!("Pharos-Span: {start}-{end}\r\n");
    let (version, rest) = record.split_at(VERSION_LINE.len().min(record.len()));
    [version, field.as_bytes(), rest].concat()
}

/// A decoded record of a WARC file.
#[derive(Debug, PartialEq)]
pub(super) struct ParsedRecord {
    /// `response`, `request`, `warcinfo` …
    pub(super) kind: String,
    /// The library record, or `None` for records to skip (warcinfo, requests, foreign types).
    pub(super) record: Option<Box<LibraryRecord>>,
    /// Byte range of the record before its volume was compacted.
    pub(super) span: Option<(u64, u64)>,
}

/// Decodes one uncompressed WARC record. The error describes the damage.
pub(super) fn read_record(bytes: &[u8]) -> Result<ParsedRecord, String> {
    let (head, block) = split_header(bytes).ok_or("no end of the WARC header")?;
    let mut lines = header_lines(head);
    if !lines.next().is_some_and(|version| version.starts_with("WARC/")) {
        return Err("not a WARC record".into());
    }
    let fields: Vec<(&str, &str)> = lines.filter_map(split_field).collect();
    let field = |name: &str| fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| *v);
    let length: usize =
        field("Content-Length").and_then(|l| l.parse().ok()).ok_or("no Content-Length in the WARC header")?;
    let block = block.get(..length).ok_or("the record is shorter than its Content-Length")?;
    if field("WARC-Block-Digest").is_some_and(|stated| digest_differs(stated, block)) {
        return Err("the digest does not match".into());
    }
    let kind = field("WARC-Type").unwrap_or_default().to_string();
    let span = field("Pharos-Span").and_then(parse_span);
    if !matches!(kind.as_str(), "response" | "revisit" | "metadata") {
        return Ok(ParsedRecord { kind, record: None, span });
    }
    let target = field("WARC-Target-URI").unwrap_or_default().trim_matches(['<', '>']);
    let url = PageUrl::parse(target).map_err(|e| e.to_string())?;
    let at = field("WARC-Date").and_then(Timestamp::parse).ok_or("no WARC-Date")?;
    let address = field("WARC-IP-Address").and_then(|a| a.parse().ok());
    let content = match kind.as_str() {
        "response" => {
            let mut response = read_http(block).ok_or("no HTTP header in the response")?;
            if field("WARC-Payload-Digest").is_some_and(|stated| digest_differs(stated, &response.body)) {
                return Err("the digest does not match".into());
            }
            response.address = address;
            response.truncated = field("WARC-Truncated").map(TruncationReason::from_str);
            RecordContent::Response(response)
        }
        "revisit" => {
            let http = read_http(block).ok_or("no HTTP header in the revisit")?;
            RecordContent::Revisit(Revisit {
                status: http.status,
                headers: http.headers,
                address,
                refers_to: field("Pharos-Refers-To")
                    .and_then(LibraryPosition::parse)
                    .ok_or("a revisit without Pharos-Refers-To")?,
                refers_to_at: field("WARC-Refers-To-Date").and_then(Timestamp::parse).unwrap_or(at),
                digest: field("WARC-Payload-Digest").unwrap_or_default().to_string(),
            })
        }
        _ => match serde_json::from_slice::<LibraryEvent>(block) {
            Ok(event) => RecordContent::Event(event),
            Err(_) => return Ok(ParsedRecord { kind, record: None, span }),
        },
    };
    let number = |name: &str| field(name).and_then(|n| n.parse().ok()).unwrap_or_default();
    let text = |name: &str| field(name).map(str::to_string);
    let record = LibraryRecord {
        depth: number("Pharos-Depth"),
        hops: number("Pharos-Hops"),
        attempt: number("Pharos-Attempt"),
        is_refetch: number("Pharos-Again") > 0,
        origin: text("Pharos-Origin"),
        spelling: text("Pharos-Spelling"),
        ..LibraryRecord::new(url, at, content)
    };
    Ok(ParsedRecord { kind, record: Some(Box::new(record)), span })
}

/// Returns `true` if the first bytes of a record identify a response or revisit.
pub(super) fn is_response_prefix(start: &[u8]) -> bool {
    let mut lines = header_lines(start);
    lines.next().is_some_and(|version| version.starts_with("WARC/"))
        && lines.take_while(|line| !line.is_empty()).filter_map(split_field).any(|(name, value)| {
            name.eq_ignore_ascii_case("WARC-Type") && matches!(value, "response" | "revisit")
        })
}

fn digest_differs(stated: &str, bytes: &[u8]) -> bool {
    stated.starts_with("sha1:") && stated != payload_digest(bytes)
}

fn parse_span(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once('-')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

fn read_http(block: &[u8]) -> Option<RawResponse> {
    let (raw, body) = split_header(block)?;
    let mut lines = raw.split(|b| *b == b'\n').map(|line| String::from_utf8_lossy(line.trim_ascii()));
    let status = lines.next()?.strip_prefix("HTTP/")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| split_field(&line).map(|(name, value)| (name.to_string(), value.to_string())))
        .collect();
    let raw = &block[..block.len() - body.len()];
    let ours = [Some(body.len()), None].iter().any(|l| http_head(status, &headers, *l).as_bytes() == raw);
    let head = (!ours).then(|| raw.to_vec());
    Some(RawResponse { status, headers, body: body.to_vec(), head, ..RawResponse::default() })
}

/// Returns `true` if a header can be separated from the body after it.
fn is_complete_header(head: &[u8]) -> bool {
    split_header(head).is_some_and(|(_, rest)| rest.is_empty()) && read_http(head).is_some()
}

/// Returns the header lines that are valid UTF-8, as all headers of the library are.
fn header_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    head.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line.trim_ascii()).ok())
}

fn split_header(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
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

    pub(super) fn response(url: &str, body: &[u8]) -> LibraryRecord {
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        LibraryRecord {
            depth: 3,
            hops: 1,
            attempt: 2,
            is_refetch: true,
            origin: Some("http://example.org/first".into()),
            ..LibraryRecord::new(
                PageUrl::parse(url).unwrap(),
                at,
                RecordContent::Response(RawResponse {
                    status: 200,
                    headers: vec![
                        ("Content-Type".into(), "text/html".into()),
                        ("Content-Length".into(), body.len().to_string()),
                    ],
                    body: body.to_vec(),
                    address: Some("127.0.0.1".parse().unwrap()),
                    truncated: Some(TruncationReason::Length),
                    ..RawResponse::default()
                }),
            )
        }
    }

    fn back(record: &LibraryRecord) -> LibraryRecord {
        *read_record(&write_record(record)).unwrap().record.unwrap()
    }

    #[test]
    fn records_read_back_as_written() {
        let page = response("http://example.org/", "<p>灯塔\r\n\r\n".as_bytes());
        assert_eq!(back(&page), page);
        let (url, at) = (PageUrl::parse("http://example.org/x").unwrap(), Timestamp::EPOCH);
        let failure = RecordContent::Event(LibraryEvent::Failed { reason: "timed out".into() });
        let failure = LibraryRecord { attempt: 2, ..LibraryRecord::new(url.clone(), at, failure) };
        assert_eq!(back(&failure), failure);
        for whole_site in [false, true] {
            let request = LibraryRecord::new(
                url.clone(),
                at,
                RecordContent::Event(LibraryEvent::Recrawl { whole_site }),
            );
            assert_eq!(back(&request), request);
            let text = String::from_utf8(write_record(&request)).unwrap();
            assert!(text.contains(&format!(r#"{{"event":"recrawl","whole_site":{whole_site}}}"#)), "{text}");
        }
        let revisit = LibraryRecord::new(
            url,
            at,
            RecordContent::Revisit(Revisit {
                status: 200,
                headers: vec![("ETag".into(), "x".into())],
                address: None,
                refers_to: LibraryPosition::new(1, 99),
                refers_to_at: at,
                digest: payload_digest(b"same"),
            }),
        );
        assert_eq!(back(&revisit), revisit);
        assert_eq!(read_record(&warcinfo("1", Timestamp::EPOCH)).unwrap().record, None);
    }

    #[test]
    fn a_foreign_header_is_kept_unchanged() {
        let head = b"HTTP/1.0 200 Very Well\r\nX-Name:  \xb5\xc6\r\nContent-Length: 99\r\n\r\n".to_vec();
        let mut page = response("http://example.org/", b"body");
        let RecordContent::Response(r) = &mut page.content else { unreachable!() };
        r.head = Some(head.clone());
        let RecordContent::Response(read) = back(&page).content else { unreachable!() };
        assert_eq!((read.status, read.head, read.body), (200, Some(head), b"body".to_vec()));
        // A header that would include or hide the body is generated again.
        let RecordContent::Response(r) = &mut page.content else { unreachable!() };
        for bad in ["HTTP/1.0 200 OK\n\n", "HTTP/1.0 200 OK\r\n\r\nA: b\r\n\r\n", "no http\r\n\r\n"] {
            r.head = Some(bad.into());
            let record = LibraryRecord::new(page.url.clone(), page.at, RecordContent::Response(r.clone()));
            let RecordContent::Response(read) = back(&record).content else { unreachable!() };
            assert_eq!((read.head, read.body), (None, b"body".to_vec()), "{bad:?}");
        }
    }

    #[test]
    fn requests_precede_their_responses() {
        let mut page = response("http://example.org/", b"body");
        let RecordContent::Response(r) = &mut page.content else { unreachable!() };
        r.request = Some("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".into());
        let (mut request, mut answer) = (Vec::new(), Vec::new());
        write_with_request(&page, &mut request, &mut answer);
        let request = String::from_utf8(request).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let id = answer.split("WARC-Record-ID: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert!(request.contains(&format!("WARC-Concurrent-To: {id}")), "{request}");
        assert_eq!(read_record(request.as_bytes()).unwrap().kind, "request");
    }

    #[test]
    fn spans_are_preserved() {
        let bytes = with_span(&write_record(&response("http://example.org/", b"body")), (4711, 4800));
        let parsed = read_record(&bytes).unwrap();
        assert_eq!((parsed.span, parsed.kind.as_str()), (Some((4711, 4800)), "response"));
    }

    #[test]
    fn the_stored_block_is_consistent() {
        let mut record = response("http://example.org/", b"hello");
        let RecordContent::Response(r) = &mut record.content else { unreachable!() };
        r.headers.push(("Transfer-Encoding".into(), "chunked".into()));
        r.headers.push(("X-Evil".into(), "a\r\nInjected: yes".into()));
        let text = String::from_utf8(write_record(&record)).unwrap();
        assert!(!text.contains("chunked") && !text.contains("\r\nInjected"));
        assert_eq!(text.matches("Content-Length: 5\r\n").count(), 1);
    }

    #[test]
    fn a_flipped_bit_is_detected() {
        let mut bytes = write_record(&response("http://example.org/", b"hello world"));
        let at = bytes.len() - 8;
        bytes[at] ^= 1;
        assert_eq!(read_record(&bytes).unwrap_err(), "the digest does not match");
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_rejected(mut bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read_record(&bytes);
            let mut headed = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\n".to_vec();
            headed.append(&mut bytes);
            let _ = read_record(&headed);
        }
    }
}
