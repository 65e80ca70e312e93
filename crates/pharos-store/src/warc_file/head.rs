//! Header lines as WARC and HTTP have them: `Name: value`, folded or not, ended by CRLF or LF.

use std::borrow::Cow;

use memchr::memchr;

/// Longest header that is read.
pub(super) const MAX_HEAD: usize = 256 << 10;

/// The lines of a header, without their ends. The last one, unless the bytes end before, is the empty one.
pub(super) fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines { bytes, at: 0 }
}

/// See [`lines`].
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where the next line begins.
    pub(super) at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let end = memchr(b'\n', rest)?;
        self.at += end + 1;
        let line = &rest[..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Length of a header with its empty line.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let mut lines = lines(bytes);
    lines.find(|line| line.is_empty())?;
    Some(lines.at)
}

/// The fields of a header. A line that begins with a blank goes on from the one before; lines that are no fields
/// are passed over.
pub(super) fn fields(head: &[u8]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)) {
        let folded = line.first().is_some_and(|b| *b == b' ' || *b == b'\t');
        if folded && let Some((_, value)) = fields.last_mut() {
            value.push(' ');
            value.push_str(&text(line));
        } else if let Some(colon) = memchr(b':', line) {
            fields.push((text(&line[..colon]).into_owned(), text(&line[colon + 1..]).into_owned()));
        }
    }
    fields
}

/// The first field of that name.
pub(super) fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.trim_ascii())
}
