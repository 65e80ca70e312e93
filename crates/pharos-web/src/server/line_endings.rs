//! Strict line endings of HTTP/1 request heads (RFC 9112 §2.2).
//!
//! The parser of hyper accepts a line feed without a carriage return as the end of a line. Proxies that do not may see another
//! request in the same bytes. [`LineEndings`] follows the bytes of a connection and replaces such a line feed in a head by a
//! character that no head may contain, so that the parser rejects the request with status 400 and the connection ends.

/// Maximum length of a head line that is kept to find the length of the body.
const MAX_LINE: usize = 128;

/// A character that is invalid everywhere in a head.
const INVALID: u8 = 0;

/// Ends a rejected head.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Follows the requests of a connection.
#[derive(Debug)]
pub(crate) struct LineEndings {
    state: ScanState,
    previous: u8,
    /// Beginning of the current line, without its end.
    line: Vec<u8>,
    line_length: usize,
    /// Number of lines of the current head.
    lines: usize,
    /// Length of the body of the current request; `None` if it cannot be known from the head.
    body: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanState {
    Head,
    /// Number of bytes left.
    Body(u64),
    /// The head is invalid; the parser may still wait for its end.
    Rejected,
    /// HTTP/2, or a body of unknown length, whose connection ends with the response.
    Off,
}

impl Default for LineEndings {
    fn default() -> Self {
        Self {
            state: ScanState::Head,
            previous: 0,
            line: Vec::new(),
            line_length: 0,
            lines: 0,
            body: Some(0),
        }
    }
}

impl LineEndings {
    /// Follows received bytes, and invalidates a head with a bare line feed.
    pub(crate) fn check(&mut self, mut bytes: &mut [u8]) {
        loop {
            match self.state {
                ScanState::Rejected | ScanState::Off => return,
                ScanState::Body(left) => {
                    let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = &mut bytes[skipped..];
                    let left = left - skipped as u64;
                    self.state = if left == 0 { ScanState::Head } else { ScanState::Body(left) };
                    if left > 0 {
                        return;
                    }
                }
                ScanState::Head => {
                    let Some((byte, rest)) = bytes.split_first_mut() else { return };
                    self.check_byte(byte);
                    bytes = rest;
                }
            }
        }
    }

    /// Returns the bytes that the parser receives instead of further input: the end of a rejected head, once. The parser
    /// looks at a head only when it is complete, and the line feed may have been its end.
    pub(crate) fn take_head_end(&mut self) -> Option<&'static [u8]> {
        let is_rejected = self.state == ScanState::Rejected;
        is_rejected.then(|| {
            self.state = ScanState::Off;
            HEAD_END
        })
    }

    fn check_byte(&mut self, byte: &mut u8) {
        let previous = std::mem::replace(&mut self.previous, *byte);
        if *byte != b'\n' {
            self.line_length += 1;
            if self.line.len() < MAX_LINE {
                self.line.push(*byte);
            }
            return;
        }
        if previous != b'\r' || !self.end_line() {
            *byte = INVALID;
            self.state = ScanState::Rejected;
        }
    }

    /// Reads a line of the head. Returns `false` if the request must be rejected.
    fn end_line(&mut self) -> bool {
        let is_whole = self.line_length <= MAX_LINE;
        let line = std::mem::take(&mut self.line);
        let text = line.strip_suffix(b"\r").unwrap_or(&line);
        let (is_empty, is_first) = (std::mem::take(&mut self.line_length) == 1, self.lines == 0);
        if is_empty && is_first {
            // Empty lines before a request are ignored.
            return true;
        }
        if is_empty {
            self.lines = 0;
            let body = self.body.replace(0);
            self.state = body.map_or(ScanState::Off, ScanState::Body);
            return true;
        }
        self.lines += 1;
        if is_first {
            if text == b"PRI * HTTP/2.0" {
                self.state = ScanState::Off;
            }
            return true;
        }
        let Some(colon) = text.iter().position(|byte| *byte == b':') else { return true };
        let (name, value) = (&text[..colon], text[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.body = None;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            match length {
                Some(length) if is_whole => self.body = self.body.map(|_| length),
                // The parser rejects an invalid length, and this rejects a line too long to be read here.
                _ => return is_whole,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes after the check, received in parts of `size`.
    fn checked(bytes: &[u8], size: usize) -> Vec<u8> {
        let (mut endings, mut bytes) = (LineEndings::default(), bytes.to_vec());
        for part in bytes.chunks_mut(size) {
            endings.check(part);
        }
        bytes
    }

    const CHUNK_SIZES: [usize; 4] = [1, 2, 7, 10_000];

    #[test]
    fn bare_line_feeds_in_heads_are_invalidated() {
        for bare in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\n\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na\nbGET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET /\nx",
        ] {
            for size in CHUNK_SIZES {
                assert_eq!(
                    checked(bare.as_bytes(), size).iter().filter(|byte| **byte == INVALID).count(),
                    1,
                    "{bare:?}"
                );
            }
        }
        let long = format!("POST / HTTP/1.1\r\nContent-Length: {}5\r\n\r\n12345", " ".repeat(2 * MAX_LINE));
        assert!(checked(long.as_bytes(), 100).contains(&INVALID), "a length that cannot be followed");
    }

    #[test]
    fn everything_else_is_left_alone() {
        let binary: Vec<u8> = (0..=255).collect();
        let long = "x".repeat(5_000);
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        let bodies: [Vec<u8>; 6] = [
            b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
            [
                b"POST / HTTP/1.1\r\nHost: a\r\ncontent-length:  256 \r\n\r\n".as_slice(),
                &binary,
                b"GET / HTTP/1.1\r\n\r\n",
            ]
            .concat(),
            [preface.as_slice(), &binary, b"\n\n"].concat(),
            [
                b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n".as_slice(),
                b"1\r\n\n\r\n0\r\n\r\n",
            ]
            .concat(),
            format!("GET /{long} HTTP/1.1\r\nX: {long}\r\n\r\nGET / HTTP/1.1\r\n\r\n").into_bytes(),
            b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
        ];
        for bytes in bodies {
            for size in CHUNK_SIZES {
                assert_eq!(checked(&bytes, size), bytes, "{:?}", String::from_utf8_lossy(&bytes));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn chunks_do_not_matter(text in "[a:\r\n 0-9]{0,80}", size in 1_usize..20) {
            proptest::prop_assert_eq!(checked(text.as_bytes(), size), checked(text.as_bytes(), 10_000));
        }
    }
}
