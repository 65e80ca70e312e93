//! Header lines of WARC and HTTP: `Name: value`, optionally folded, ended by CRLF or LF.

use std::borrow::Cow;

use memchr::memchr;

/// Maximum length of a header.
pub(super) const MAX_HEADER: usize = 256 << 10;

/// Iterates over the lines of a header without their line ends. A complete header ends with an empty line.
pub(super) fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines { bytes, at: 0 }
}

/// Iterator returned by [`lines`].
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    /// Offset of the next line.
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

/// Returns the length of a header including its empty line.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let mut lines = lines(bytes);
    lines.find(|line| line.is_empty())?;
    Some(lines.at)
}

/// Parses the fields of a header. A line that starts with whitespace continues the previous line. Other lines are
/// ignored.
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

/// Returns the first field with this name.
pub(super) fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.trim_ascii())
}
