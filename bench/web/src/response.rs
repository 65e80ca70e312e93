//! Parser for HTTP/1.1 responses: end of the response, and fields of its head.

use memchr::memmem;

/// A complete response.
#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Length of the head with the empty line, and of the whole response, as received.
    pub head: usize,
    pub length: usize,
    pub has_retry_after: bool,
    /// `true` if the server closes the connection after this response.
    pub is_last: bool,
}

/// Parses the response at the start of `bytes`. Returns `None` while it is incomplete.
pub fn parse(bytes: &[u8]) -> Result<Option<Response>, &'static str> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| "a head that is no text")?;
    let body = end + 4;
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let mut response = Response {
        status: status.ok_or("no answer of HTTP/1.1")?,
        head: body,
        length: body,
        has_retry_after: false,
        is_last: false,
    };
    let (mut length, mut is_chunked) = (None, false);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.parse::<usize>().map_err(|_| "a length that is no number")?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            is_chunked = value.eq_ignore_ascii_case("chunked");
        } else if name.eq_ignore_ascii_case("retry-after") {
            response.has_retry_after = true;
        } else if name.eq_ignore_ascii_case("connection") {
            response.is_last = value.eq_ignore_ascii_case("close");
        }
    }
    if is_chunked {
        let Some(end) = end_of_chunks(&bytes[body..])? else { return Ok(None) };
        response.length = body + end;
    } else if !matches!(response.status, 204 | 304) {
        response.length = body + length.ok_or("an answer without a length")?;
    }
    Ok((bytes.len() >= response.length).then_some(response))
}

fn end_of_chunks(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    let mut at = 0;
    loop {
        let Some(line) = bytes.get(at..).and_then(|rest| memmem::find(rest, b"\r\n")) else {
            return Ok(None);
        };
        let size = std::str::from_utf8(&bytes[at..at + line]).ok();
        let size =
            size.and_then(|size| usize::from_str_radix(size, 16).ok()).ok_or("a chunk without a size")?;
        at += line + 2 + size + 2;
        if size == 0 {
            return Ok((at <= bytes.len()).then_some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_where_they_say() {
        let sized = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let chunked = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nConnection: close\r\n\
                        transfer-encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n";
        let bare = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n";
        for (bytes, status) in [(&sized[..], 200), (chunked, 503), (bare, 304)] {
            let whole = parse(bytes).unwrap().unwrap();
            assert_eq!((whole.status, whole.length), (status, bytes.len()));
            assert_eq!((whole.has_retry_after, whole.is_last), (status == 503, status == 503));
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes[..end]), Ok(None), "{end}");
            }
        }
        assert!(parse(b"SSH-2.0\r\n\r\n").is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
