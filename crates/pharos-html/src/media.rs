//! What kind of document a response is.

/// How a body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Html,
    PlainText,
    /// Nothing we can read.
    Other,
}

/// Bytes that decide, as many as browsers look at.
const SNIFF_WITHIN: usize = 1_445;

/// The header decides; without one, or with one that says nothing, the first bytes do (MIME Sniffing standard §7).
pub(crate) fn kind(content_type: Option<&str>, body: &[u8]) -> MediaKind {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => MediaKind::Html,
        "text/plain" => MediaKind::PlainText,
        // XHTML by another name; feeds and other XML are not read here.
        "text/xml" | "application/xml" if looks_like_html(body) => MediaKind::Html,
        "" | "*/*" | "unknown/unknown" | "application/unknown" | "application/octet-stream" => {
            if looks_like_html(body) {
                MediaKind::Html
            } else if !body.is_empty() && looks_like_text(body) {
                MediaKind::PlainText
            } else {
                MediaKind::Other
            }
        }
        _ => MediaKind::Other,
    }
}

fn looks_like_html(body: &[u8]) -> bool {
    const OPENINGS: [&str; 14] = [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<table",
        "<title",
        "<p",
        "<a",
        "<!--",
        "<meta",
    ];
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut start = body[..body.len().min(SNIFF_WITHIN)].trim_ascii_start();
    if let Some(declaration) = start.strip_prefix(b"<?xml") {
        let end = declaration.iter().position(|b| *b == b'>').map_or(declaration.len(), |i| i + 1);
        start = declaration[end..].trim_ascii_start();
    }
    OPENINGS.iter().any(|opening| {
        start.get(..opening.len()).is_some_and(|s| s.eq_ignore_ascii_case(opening.as_bytes()))
            // A tag's name must end: `<address-book>` is no `<a>`.
            && (opening.starts_with("<!")
                || start.get(opening.len()).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/')))
    })
}

/// No control character that text does not have; UTF-16 passes by its byte-order mark.
fn looks_like_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(SNIFF_WITHIN)];
    start.starts_with(b"\xFF\xFE")
        || start.starts_with(b"\xFE\xFF")
        || !start.iter().any(|b| matches!(b, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_decide_and_bytes_help_out() {
        assert_eq!(kind(Some("Text/HTML; charset=utf-8"), b""), MediaKind::Html);
        assert_eq!(kind(Some("application/pdf"), b"<html>"), MediaKind::Other);
        assert_eq!(kind(Some("text/plain"), b"<html>"), MediaKind::PlainText);
        assert_eq!(kind(None, b"\n <!DOCTYPE HTML>"), MediaKind::Html);
        assert_eq!(kind(None, b"<?xml version='1.0'?>\n<html xmlns=''>"), MediaKind::Html);
        assert_eq!(kind(Some("application/xml"), b"<?xml version='1.0'?><rss>"), MediaKind::Other);
        assert_eq!(kind(None, b"<address-book>"), MediaKind::PlainText);
        assert_eq!(kind(None, b"just words"), MediaKind::PlainText);
        assert_eq!(kind(None, b"\x89PNG\r\n\x1a\n\0\0"), MediaKind::Other);
        assert_eq!(kind(None, b""), MediaKind::Other);
    }
}
