//! One record as WARC 1.1 (ISO 28500) and back. Bytes only, no files.

use std::fmt::Write as _;

use data_encoding::BASE32;
use pharos_core::{LibraryPosition, PageUrl, Timestamp, VERSION};
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::xxh3_128;

use super::{Content, Event, Record, Response, Truncated};

/// Longest WARC or HTTP header block that is read.
const MAX_HEADER: usize = 256 << 10;

/// A `warcinfo` record, first in every file.
pub(super) fn warcinfo(file: u32, at: Timestamp) -> Vec<u8> {
    let block = format!("software: Pharos/{VERSION}\r\nformat: WARC File Format 1.1\r\n");
    let mut head = Head::new("warcinfo", at);
    head.field("WARC-Filename", &format!("{file:08}.warc.gz"));
    head.field("Content-Type", "application/warc-fields");
    head.finish(LibraryPosition { file, offset: 0 }, block.as_bytes())
}

/// A record as it stands, uncompressed, in a WARC file.
pub(super) fn write(record: &Record, position: LibraryPosition) -> Vec<u8> {
    match &record.content {
        Content::Response(response) => {
            let mut head = Head::of("response", record);
            if let Some(address) = response.address {
                head.field("WARC-IP-Address", &address.to_string());
            }
            head.field("WARC-Payload-Digest", &digest(&response.body));
            if let Some(truncated) = response.truncated {
                head.field("WARC-Truncated", truncated.as_str());
            }
            head.field("Content-Type", "application/http;msgtype=response");
            head.finish(position, &http_block(response))
        }
        Content::Event(event) => {
            // Serialising our own plain enum cannot fail.
            let block = serde_json::to_vec(event).unwrap_or_default();
            let mut head = Head::of("metadata", record);
            head.field("Content-Type", "application/json");
            head.finish(position, &block)
        }
    }
}

/// A WARC header under construction.
struct Head {
    text: String,
}

impl Head {
    fn new(kind: &str, at: Timestamp) -> Self {
        Self { text: format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Date: {at}\r\n") }
    }

    fn of(kind: &str, record: &Record) -> Self {
        let mut head = Self::new(kind, record.at);
        head.field("WARC-Target-URI", record.url.as_str());
        // Extension fields, which other readers pass over: how the crawl came here, so that a rebuild knows it.
        let extensions = [
            ("Pharos-Depth", record.depth),
            ("Pharos-Hops", record.hops),
            ("Pharos-Attempt", record.attempt),
        ];
        for (name, value) in extensions {
            if value > 0 {
                head.field(name, &value.to_string());
            }
        }
        head
    }

    fn field(&mut self, name: &str, value: &str) {
        // A line break in a value would end the header early.
        let clean = value.replace(['\r', '\n'], " ");
        let _ = write!(self.text, "{name}: {clean}\r\n");
    }

    fn finish(mut self, position: LibraryPosition, block: &[u8]) -> Vec<u8> {
        self.field("WARC-Block-Digest", &digest(block));
        let id = uuid(xxh3_128(format!("{position}{}", self.text).as_bytes()));
        self.field("WARC-Record-ID", &format!("<urn:uuid:{id}>"));
        self.field("Content-Length", &block.len().to_string());
        let mut out = self.text.into_bytes();
        out.reserve(block.len() + 6);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(block);
        out.extend_from_slice(b"\r\n\r\n");
        out
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha1:{}", BASE32.encode(&Sha1::digest(bytes)))
}

/// A name-based UUID (version 8: the hash is ours).
fn uuid(hash: u128) -> String {
    let h = (hash & !(0xf << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
    let hex = format!("{h:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn http_block(response: &Response) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} \r\n", response.status);
    for (name, value) in &response.headers {
        // The stored block must agree with itself: chunking is gone, and so is the header that spoke of it.
        if ["transfer-encoding", "content-length", "connection", "keep-alive"]
            .iter()
            .any(|gone| name.eq_ignore_ascii_case(gone))
        {
            continue;
        }
        let clean = value.replace(['\r', '\n'], " ");
        let _ = write!(head, "{name}: {clean}\r\n");
    }
    let _ = write!(head, "Content-Length: {}\r\n\r\n", response.body.len());
    let mut block = head.into_bytes();
    block.extend_from_slice(&response.body);
    block
}

/// What stands in a WARC file: one of our records, or something to pass over (warcinfo, foreign types).
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    Record(Box<Record>),
    Other,
}

/// Reads one uncompressed WARC record. The error says what is wrong with it.
pub(super) fn read(bytes: &[u8]) -> Result<Parsed, String> {
    let (head, block) = split_head(bytes).ok_or("no end of the WARC header")?;
    let mut lines = head.split(|b| *b == b'\n').map(|l| String::from_utf8_lossy(l.trim_ascii()).into_owned());
    let version = lines.next().unwrap_or_default();
    if !version.starts_with("WARC/") {
        return Err("not a WARC record".into());
    }
    let fields: Vec<(String, String)> = lines.filter_map(|line| split_field(&line)).collect();
    let field =
        |name: &str| fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
    let length: usize =
        field("Content-Length").and_then(|l| l.parse().ok()).ok_or("no Content-Length in the WARC header")?;
    let block = block.get(..length).ok_or("the record is shorter than it says")?;
    if let Some(stated) = field("WARC-Block-Digest").filter(|d| d.starts_with("sha1:"))
        && stated != digest(block)
    {
        return Err("the digest does not match".into());
    }
    let kind = field("WARC-Type").unwrap_or_default();
    if kind != "response" && kind != "metadata" {
        return Ok(Parsed::Other);
    }
    let target = field("WARC-Target-URI").unwrap_or_default().trim_matches(['<', '>']);
    let url = PageUrl::parse(target).map_err(|e| e.to_string())?;
    let at = field("WARC-Date").and_then(Timestamp::parse).ok_or("no WARC-Date")?;
    let content = if kind == "response" {
        let mut response = read_http(block).ok_or("no HTTP header in the response")?;
        response.address = field("WARC-IP-Address").and_then(|a| a.parse().ok());
        response.truncated = field("WARC-Truncated").map(Truncated::from_str);
        Content::Response(response)
    } else {
        match serde_json::from_slice::<Event>(block) {
            Ok(event) => Content::Event(event),
            Err(_) => return Ok(Parsed::Other),
        }
    };
    let number = |name: &str| field(name).and_then(|n| n.parse().ok()).unwrap_or_default();
    let (depth, hops, attempt) = (number("Pharos-Depth"), number("Pharos-Hops"), number("Pharos-Attempt"));
    Ok(Parsed::Record(Box::new(Record { url, at, depth, hops, attempt, content })))
}

fn read_http(block: &[u8]) -> Option<Response> {
    let (head, body) = split_head(block)?;
    let mut lines = head.split(|b| *b == b'\n').map(|l| String::from_utf8_lossy(l.trim_ascii()).into_owned());
    let status_line = lines.next()?;
    let status = status_line.strip_prefix("HTTP/")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let headers = lines.filter_map(|line| split_field(&line)).collect();
    Some(Response { status, headers, body: body.to_vec(), address: None, truncated: None })
}

fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let window = &bytes[..bytes.len().min(MAX_HEADER)];
    let end = window.windows(4).position(|w| w == b"\r\n\r\n")?;
    Some((&bytes[..end], &bytes[end + 4..]))
}

fn split_field(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().to_string(), value.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(super) fn response(url: &str, body: &[u8]) -> Record {
        Record {
            url: PageUrl::parse(url).unwrap(),
            at: Timestamp::parse("2026-01-31T12:00:00Z").unwrap(),
            depth: 3,
            hops: 1,
            attempt: 2,
            content: Content::Response(Response {
                status: 200,
                headers: vec![
                    ("Content-Type".into(), "text/html".into()),
                    ("Content-Length".into(), body.len().to_string()),
                ],
                body: body.to_vec(),
                address: Some("127.0.0.1".parse().unwrap()),
                truncated: Some(Truncated::Length),
            }),
        }
    }

    const HERE: LibraryPosition = LibraryPosition { file: 1, offset: 99 };

    #[test]
    fn records_read_back_as_written() {
        let page = response("http://example.org/", "<p>灯塔\r\n\r\n".as_bytes());
        assert_eq!(read(&write(&page, HERE)).unwrap(), Parsed::Record(Box::new(page)));
        let failure = Record {
            url: PageUrl::parse("http://example.org/x").unwrap(),
            at: Timestamp::EPOCH,
            depth: 0,
            hops: 0,
            attempt: 2,
            content: Content::Event(Event::Failed { reason: "timed out".into() }),
        };
        assert_eq!(read(&write(&failure, HERE)).unwrap(), Parsed::Record(Box::new(failure)));
        assert_eq!(read(&warcinfo(1, Timestamp::EPOCH)).unwrap(), Parsed::Other);
    }

    #[test]
    fn the_stored_block_agrees_with_itself() {
        let mut record = response("http://example.org/", b"hello");
        let Content::Response(r) = &mut record.content else { unreachable!() };
        r.headers.push(("Transfer-Encoding".into(), "chunked".into()));
        r.headers.push(("X-Evil".into(), "a\r\nInjected: yes".into()));
        let text = String::from_utf8(write(&record, HERE)).unwrap();
        assert!(!text.contains("chunked") && !text.contains("\r\nInjected"));
        assert_eq!(text.matches("Content-Length: 5\r\n").count(), 1);
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut bytes = write(&response("http://example.org/", b"hello world"), HERE);
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
