//! HTTP responses in `response` records, of any version and possibly damaged.

use memchr::memchr;

use super::header::{self, MAX_HEADER};
use crate::library::{RawResponse, TruncationReason};

/// Parses a response. Chunked coding is decoded if present; some writers decode it and keep its header field.
pub(super) fn response(block: &[u8]) -> Result<RawResponse, String> {
    if !block.starts_with(b"HTTP/") {
        // HTTP/0.9 sends the body only.
        return Ok(build_response(200, Vec::new(), block.to_vec()));
    }
    let window = &block[..block.len().min(MAX_HEADER)];
    let length = match header::length(window) {
        Some(length) => length,
        None if block.len() < MAX_HEADER => block.len(),
        None => return Err("unterminated HTTP header".into()),
    };
    let (head, body) = block.split_at(length);
    let line_end = memchr(b'\n', head).unwrap_or(head.len());
    let status = status(&head[..line_end]).ok_or("no status in the HTTP header")?;
    let mut headers = header::fields(&head[line_end..]);
    let chunked = headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("Transfer-Encoding") && value.to_ascii_lowercase().contains("chunked")
    });
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("Transfer-Encoding"));
    let unchunked = if chunked { unchunk(body) } else { None };
    let (body, whole) = unchunked.map_or_else(|| (body.to_vec(), true), |u| (u.body, u.whole));
    let truncated = (!whole).then_some(TruncationReason::Disconnect);
    Ok(RawResponse { truncated, ..build_response(status, headers, body) })
}

/// Creates a response without the fields taken from the WARC header.
pub(super) fn build_response(status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> RawResponse {
    RawResponse { status, headers, body, ..RawResponse::default() }
}

/// Parses the status in `HTTP/1.1 200 OK`, `HTTP/2 200` and similar.
fn status(line: &[u8]) -> Option<u16> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let word = words.nth(1).filter(|word| word.len() == 3)?;
    std::str::from_utf8(word).ok()?.parse().ok().filter(|status| *status >= 100)
}

/// A body without chunked coding.
pub(super) struct Unchunked {
    pub(super) body: Vec<u8>,
    /// `true` if the last chunk was present.
    pub(super) whole: bool,
}

/// Decodes chunked coding (RFC 9112 §7.1). Returns `None` if the body is not chunked. A truncated body must contain
/// at least one complete chunk to be accepted.
pub(super) fn unchunk(mut rest: &[u8]) -> Option<Unchunked> {
    /// Maximum length of a chunk size line.
    const MAX_LINE: usize = 1024;
    let mut body = Vec::new();
    loop {
        let Some(end) = memchr(b'\n', &rest[..rest.len().min(MAX_LINE)]) else {
            let cut = !body.is_empty() && rest.len() < MAX_LINE;
            return cut.then_some(Unchunked { body, whole: false });
        };
        let size = rest[..end].split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
        let digits = std::str::from_utf8(size).ok().filter(|s| s.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let size = usize::try_from(u32::from_str_radix(digits, 16).ok()?).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(Unchunked { body, whole: true });
        }
        let Some((chunk, behind)) = rest.split_at_checked(size) else {
            let believed = !body.is_empty();
            body.extend_from_slice(rest);
            return believed.then_some(Unchunked { body, whole: false });
        };
        body.extend_from_slice(chunk);
        if behind.is_empty() {
            return Some(Unchunked { body, whole: false });
        }
        rest = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n"))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn responses_of_all_versions_are_parsed() {
        for (block, status, headers, body) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nx", 200, 1, "x"),
            ("HTTP/1.0 301\nA: b\nC: d\n e\n\nx\n\ny", 301, 2, "x\n\ny"),
            ("HTTP/2 204\r\n\r\n", 204, 0, ""),
            ("HTTP/1.1  404  Not: here\r\n\r\n", 404, 0, ""),
            ("HTTP/1.1 304 Not Modified\r\nA: b", 304, 1, ""),
            ("<p>HTTP/0.9", 200, 0, "<p>HTTP/0.9"),
        ] {
            let response = response(block.as_bytes()).unwrap();
            let found = (response.status, response.headers.len(), response.body.as_slice());
            assert_eq!(found, (status, headers, body.as_bytes()), "{block}");
        }
        assert!(response(b"HTTP/1.1 OK\r\n\r\n").is_err());
        assert!(response(b"HTTP/1.1 2000 OK\r\n\r\n").is_err());
        assert!(response(&b"HTTP/1.1 200 OK\r\nX: ".repeat(40_000)).is_err());
    }

    #[test]
    fn chunked_coding_is_decoded_if_present() {
        let read = |body: &str| {
            let block = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
            let response = response(block.as_bytes()).unwrap();
            assert_eq!(response.header("transfer-encoding"), None);
            (String::from_utf8(response.body).unwrap(), response.truncated.is_some())
        };
        assert_eq!(
            read("5\r\nhello\r\n00A;x=y\r\n, lanterns\r\n0\r\nT: u\r\n\r\n"),
            ("hello, lanterns".into(), false)
        );
        assert_eq!(read("5\nhello\n0\n\n"), ("hello".into(), false));
        assert_eq!(read("5\r\nhello\r\n5\r\nwo"), ("hellowo".into(), true));
        assert_eq!(read("<p>not chunked</p>\n"), ("<p>not chunked</p>\n".into(), false));
        assert_eq!(read("cafe\r\nand more"), ("cafe\r\nand more".into(), false));
        assert_eq!(read(""), (String::new(), false));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = response(&bytes);
            let _ = unchunk(&bytes);
            let _ = response(&[b"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", &bytes[..]].concat());
        }
    }
}
