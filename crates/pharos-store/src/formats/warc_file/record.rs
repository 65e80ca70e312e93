//! A foreign WARC record, its digests, and its conversion to a library record.

use std::net::IpAddr;

use data_encoding::{BASE32, HEXLOWER_PERMISSIVE};
use pharos_core::{PageUrl, Timestamp};
use sha1::{Digest as _, Sha1};

use super::{header, http};
use crate::library::{LibraryRecord, RawResponse, RecordContent, TruncationReason};

/// A record of a WARC file, of any type.
#[derive(Clone, Debug, PartialEq)]
pub struct WarcRecord {
    /// Offset of its gzip member or zstd frame, or of the record in an uncompressed file.
    pub offset: u64,
    /// WARC version, such as `1.1`.
    pub version: String,
    /// Header fields in file order.
    pub fields: Vec<(String, String)>,
    pub block: Vec<u8>,
}

impl WarcRecord {
    /// Returns the first header field with this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        header::field(&self.fields, name)
    }

    /// Returns the record type: `response`, `request`, `revisit`, `warcinfo`, …
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// Returns the target URI, without the angle brackets of some writers.
    pub fn target(&self) -> Option<&str> {
        self.field("WARC-Target-URI").map(|uri| uri.trim_start_matches('<').trim_end_matches('>'))
    }

    /// Converts a web server's response, or a web resource, to a library record. Returns `None` for all other
    /// records.
    ///
    /// # Errors
    /// The error describes why a response cannot be read.
    pub fn to_record(&self) -> Result<Option<LibraryRecord>, String> {
        let Some(target) = self.target().filter(|target| is_web(target)) else { return Ok(None) };
        let response = match self.kind() {
            "response" if self.holds_http() => http::response(&self.block)?,
            "resource" => self.to_response(),
            _ => return Ok(None),
        };
        let url = PageUrl::parse(target).map_err(|e| e.to_string())?;
        let at = self.field("WARC-Date").and_then(parse_warc_date).ok_or("no valid WARC-Date")?;
        let address: Option<IpAddr> =
            self.field("WARC-IP-Address").and_then(|a| a.trim_matches(['[', ']']).parse().ok());
        let truncated = self.field("WARC-Truncated").map(TruncationReason::from_str).or(response.truncated);
        let content = RecordContent::Response(RawResponse { address, truncated, ..response });
        Ok(Some(LibraryRecord::new(url, at, content)))
    }

    fn holds_http(&self) -> bool {
        match self.field("Content-Type") {
            Some(media) => media.get(..16).is_some_and(|m| m.eq_ignore_ascii_case("application/http")),
            None => self.block.starts_with(b"HTTP/"),
        }
    }

    fn to_response(&self) -> RawResponse {
        let content_type = self.field("Content-Type").map(|media| ("Content-Type".into(), media.into()));
        http::build_response(200, content_type.into_iter().collect(), self.block.clone())
    }
}

fn is_web(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Parses a `WARC-Date`. WARC 1.1 allows reduced precision, down to the year.
fn parse_warc_date(text: &str) -> Option<Timestamp> {
    const REST: &str = "0000-01-01T00:00:00Z";
    Timestamp::parse(text).or_else(|| {
        let known = text.trim_end_matches('Z');
        Timestamp::parse(&format!("{known}{}", REST.get(known.len()..)?))
    })
}

/// Returns whether the block matches the block digest in the header, or `None` if there is none.
pub(super) fn block_matches(fields: &[(String, String)], block: &[u8]) -> Option<bool> {
    let stated = header::field(fields, "WARC-Block-Digest").and_then(parse_sha1)?;
    Some(stated == Sha1::digest(block).as_slice())
}

/// Returns `true` if the content contradicts a digest in the header. The block digest is decisive. Writers differ in
/// what they consider the payload, so a payload digest is wrong only if it matches no interpretation.
pub(super) fn contradicts_digest(fields: &[(String, String)], block: &[u8]) -> bool {
    if let Some(matches) = block_matches(fields, block) {
        return !matches;
    }
    let Some(stated) = header::field(fields, "WARC-Payload-Digest").and_then(parse_sha1) else {
        return false;
    };
    if header::field(fields, "WARC-Truncated").is_some() {
        return false;
    }
    let fits = |payload: &[u8]| stated == Sha1::digest(payload).as_slice();
    match header::field(fields, "WARC-Type") {
        Some("resource") => !fits(block),
        Some("response") if block.starts_with(b"HTTP/") => {
            let Some(length) = header::length(block) else { return false };
            let (http_head, body) = block.split_at(length);
            // Some writers compute the digest of the decoded content.
            let coded = header::field(&header::fields(http_head), "Content-Encoding").is_some();
            !coded && !fits(body) && !http::unchunk(body).is_some_and(|unchunked| fits(&unchunked.body))
        }
        _ => false,
    }
}

/// Parses the SHA-1 of a digest field, in Base32 or, as some writers do, in hexadecimal.
fn parse_sha1(stated: &str) -> Option<Vec<u8>> {
    let (algorithm, value) = stated.split_once(':')?;
    if !algorithm.eq_ignore_ascii_case("sha1") {
        return None;
    }
    match value.len() {
        32 => BASE32.decode(value.to_ascii_uppercase().as_bytes()).ok(),
        40 => HEXLOWER_PERMISSIVE.decode(value.as_bytes()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, target: &str, fields: &[(&str, &str)], block: &[u8]) -> WarcRecord {
        let standard =
            [("WARC-Type", kind), ("WARC-Target-URI", target), ("WARC-Date", "2026-01-31T12:00:00.25Z")];
        let fields = standard.iter().chain(fields).map(|(n, v)| (n.to_string(), v.to_string())).collect();
        WarcRecord { offset: 0, version: "1.0".into(), fields, block: block.to_vec() }
    }

    #[test]
    fn responses_and_resources_are_converted() {
        let http = ("Content-Type", "application/http; msgtype=response");
        let answer = record(
            "response",
            "<http://Example.org/a>",
            &[http, ("WARC-IP-Address", "::1"), ("WARC-Truncated", "time")],
            b"HTTP/1.1 404 Not Found\r\nX-A: b\r\n\r\nno",
        );
        let ours = answer.to_record().unwrap().unwrap();
        assert_eq!((ours.url.as_str(), ours.at.millis() % 1000), ("http://example.org/a", 250));
        let RecordContent::Response(response) = ours.content else { panic!() };
        assert_eq!((response.status, response.body.as_slice()), (404, &b"no"[..]));
        assert_eq!(response.address, Some("::1".parse().unwrap()));
        assert_eq!(response.truncated, Some(TruncationReason::Time));

        let resource =
            record("resource", "https://example.org/x.txt", &[("Content-Type", "text/plain")], b"hi");
        let RecordContent::Response(response) = resource.to_record().unwrap().unwrap().content else {
            panic!()
        };
        assert_eq!((response.status, response.header("content-type")), (200, Some("text/plain")));

        for (kind, target) in [
            ("request", "http://example.org/"),
            ("revisit", "http://example.org/"),
            ("conversion", "http://example.org/"),
            ("resource", "metadata://gnu.org/software/wget/warc/wget.log"),
            ("response", "dns:example.org"),
            ("response", "ftp://example.org/robots.txt"),
        ] {
            assert_eq!(
                record(kind, target, &[http], b"HTTP/1.0 200\n\n").to_record(),
                Ok(None),
                "{kind} {target}"
            );
        }
        assert!(record("response", "http://", &[http], b"HTTP/1.0 200\n\n").to_record().is_err());
        assert!(record("response", "http://example.org/", &[http], b"HTTP/1.0 OK\n\n").to_record().is_err());
    }

    #[test]
    fn dates_may_have_reduced_precision() {
        for (text, whole) in [
            ("2026", "2026-01-01T00:00:00Z"),
            ("2026-03", "2026-03-01T00:00:00Z"),
            ("2026-03-04T05:06Z", "2026-03-04T05:06:00Z"),
            ("2026-03-04T05:06:07", "2026-03-04T05:06:07Z"),
            ("2026-03-04T05:06:07.123456789Z", "2026-03-04T05:06:07.123Z"),
        ] {
            assert_eq!(parse_warc_date(text), Timestamp::parse(whole), "{text}");
        }
        assert_eq!(parse_warc_date("äöü"), None);
    }

    #[test]
    fn only_a_digest_without_any_match_contradicts() {
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let hello = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N";
        let hex = "sha1:AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D";
        let wrong = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let check = |fields: &[(&str, &str)], block: &[u8]| {
            contradicts_digest(&record("response", "http://a.example/", fields, block).fields, block)
        };
        assert!(!check(&[("WARC-Payload-Digest", hello)], chunked));
        assert!(check(&[("WARC-Payload-Digest", wrong)], chunked));
        assert!(!check(&[("WARC-Payload-Digest", wrong)], b"HTTP/1.1 200\r\nContent-Encoding: br\r\n\r\nx"));
        assert!(!check(&[("WARC-Block-Digest", hex), ("WARC-Payload-Digest", wrong)], b"hello"));
        assert!(check(&[("WARC-Block-Digest", hello)], b"hallo"));
        assert!(!check(&[("WARC-Block-Digest", "sha256:zzz")], b"hallo"));
    }
}
