//! Media type detection: selects the reader for a response.

/// Reader for a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Html,
    PlainText,
    Pdf,
    /// Office Open XML and OpenDocument.
    Office,
    Rtf,
    /// XML other than XHTML.
    Xml,
    /// No reader is available.
    Other,
}

/// Number of bytes examined, as in browsers.
const SNIFF_WITHIN: usize = 1_445;

/// Determines the kind. The header decides; if it is missing or unspecific, the first bytes decide (MIME Sniffing
/// standard §7).
pub(crate) fn detect(content_type: Option<&str>, body: &[u8]) -> MediaKind {
    let essence = essence(content_type);
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => MediaKind::Html,
        "text/plain" => MediaKind::PlainText,
        "application/pdf" | "application/x-pdf" => MediaKind::Pdf,
        "application/rtf" | "text/rtf" | "application/x-rtf" => MediaKind::Rtf,
        // Many servers send RTF and newer documents as Word.
        "application/msword" | "application/vnd.ms-excel" | "application/vnd.ms-powerpoint" => by_magic(body),
        // XHTML under another media type.
        "text/xml" | "application/xml" if looks_like_html(body) => MediaKind::Html,
        "text/xml" | "application/xml" => MediaKind::Xml,
        ""
        | "*/*"
        | "unknown/unknown"
        | "application/unknown"
        | "application/octet-stream"
        | "application/force-download"
        | "application/x-download"
        | "binary/octet-stream" => match by_magic(body) {
            MediaKind::Other if looks_like_html(body) || has_html_inside(body) => MediaKind::Html,
            MediaKind::Other if body.starts_with(b"<?xml") => MediaKind::Xml,
            MediaKind::Other if !body.is_empty() && looks_like_text(body) => MediaKind::PlainText,
            kind => kind,
        },
        _ if essence.starts_with("application/vnd.openxmlformats-officedocument.")
            || essence.starts_with("application/vnd.oasis.opendocument.") =>
        {
            MediaKind::Office
        }
        _ if essence.starts_with("text/") && essence != "text/css" && essence != "text/javascript" => {
            if looks_like_text(body) {
                MediaKind::PlainText
            } else {
                MediaKind::Other
            }
        }
        _ if essence.ends_with("+xml") && essence != "image/svg+xml" => MediaKind::Xml,
        _ => MediaKind::Other,
    }
}

/// Returns the usual file name extension; empty if only the reader can determine it, or if there is no reader.
pub(crate) fn extension(kind: MediaKind, content_type: Option<&str>) -> &'static str {
    match kind {
        MediaKind::Html => "html",
        MediaKind::PlainText => match essence(content_type).as_str() {
            "text/csv" => "csv",
            "text/markdown" => "md",
            _ => "txt",
        },
        MediaKind::Pdf => "pdf",
        MediaKind::Rtf => "rtf",
        MediaKind::Xml => "xml",
        MediaKind::Office | MediaKind::Other => "",
    }
}

/// Returns the media type without parameters, in lower case.
fn essence(content_type: Option<&str>) -> String {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Detects formats by their magic bytes.
fn by_magic(body: &[u8]) -> MediaKind {
    let start = body.trim_ascii_start();
    if start.starts_with(b"%PDF-") {
        MediaKind::Pdf
    } else if start.starts_with(b"{\\rtf") {
        MediaKind::Rtf
    } else if is_office(body) {
        MediaKind::Office
    } else {
        MediaKind::Other
    }
}

/// Returns `true` for a zip file whose first entries are those of an Office document; other archives contain files,
/// not a document.
fn is_office(body: &[u8]) -> bool {
    const WITHIN: usize = 8_192;
    const ENTRIES: [&[u8]; 2] = [b"[Content_Types].xml", b"application/vnd.oasis.opendocument"];
    let start = &body[..body.len().min(WITHIN)];
    start.starts_with(b"PK\x03\x04")
        && ENTRIES.iter().any(|entry| memchr::memmem::find(start, entry).is_some())
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
    OPENINGS.iter().any(|opening| opens(start, opening))
}

/// Returns `true` if HTML tags occur within the first bytes. Archiving programs put their own tag before the page;
/// other XML contains none of these tags there.
fn has_html_inside(body: &[u8]) -> bool {
    const WITHIN: usize = 4_096;
    const TAGS: [&str; 10] =
        ["<!doctype html", "<html", "<head", "<body", "<meta", "<title", "<script", "<table", "<div", "<h1"];
    let start = body[..body.len().min(WITHIN)].trim_ascii_start();
    start.starts_with(b"<")
        && !["<?xml", "<rss", "<feed", "<rdf:rdf", "<urlset"]
            .iter()
            .any(|xml| start.get(..xml.len()).is_some_and(|s| s.eq_ignore_ascii_case(xml.as_bytes())))
        && memchr::memchr_iter(b'<', start).any(|at| TAGS.iter().any(|tag| opens(&start[at..], tag)))
}

fn opens(start: &[u8], opening: &str) -> bool {
    start.get(..opening.len()).is_some_and(|s| s.eq_ignore_ascii_case(opening.as_bytes()))
        // The tag name must end: `<address-book>` is not `<a>`.
        && (opening.starts_with("<!")
            || start.get(opening.len()).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/')))
}

/// Returns `true` if there are no control characters that text does not contain; UTF-16 is accepted by its
/// byte order mark.
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
        assert_eq!(detect(Some("Text/HTML; charset=utf-8"), b""), MediaKind::Html);
        assert_eq!(detect(Some("application/pdf"), b"<html>"), MediaKind::Pdf);
        assert_eq!(detect(None, b"%PDF-1.7"), MediaKind::Pdf);
        assert_eq!(detect(Some("application/msword"), b"{\\rtf1"), MediaKind::Rtf);
        assert_eq!(detect(Some("application/msword"), b"\xD0\xCF\x11\xE0"), MediaKind::Other);
        assert_eq!(detect(None, include_bytes!("../../tests/samples/lighthouse.docx")), MediaKind::Office);
        assert_eq!(detect(Some("image/svg+xml"), b"<svg>"), MediaKind::Other);
        assert_eq!(detect(Some("text/plain"), b"<html>"), MediaKind::PlainText);
        assert_eq!(detect(None, b"\n <!DOCTYPE HTML>"), MediaKind::Html);
        assert_eq!(detect(None, b"<?xml version='1.0'?>\n<html xmlns=''>"), MediaKind::Html);
        assert_eq!(detect(Some("application/xml"), b"<?xml version='1.0'?><rss>"), MediaKind::Xml);
        assert_eq!(detect(None, b"<address-book>"), MediaKind::PlainText);
        assert_eq!(detect(None, b"<text id=1>\n<TITLE>x</TITLE>"), MediaKind::Html);
        assert_eq!(detect(None, b"just words"), MediaKind::PlainText);
        assert_eq!(detect(None, b"\x89PNG\r\n\x1a\n\0\0"), MediaKind::Other);
        assert_eq!(detect(None, b""), MediaKind::Other);
    }
}
