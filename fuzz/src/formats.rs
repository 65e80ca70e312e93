//! PDF, Office and other document formats. The first byte selects the declared content type.

use pharos_core::PageUrl;

const TYPES: [Option<&str>; 6] = [
    None,
    Some("application/pdf"),
    Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    Some("application/vnd.oasis.opendocument.text"),
    Some("application/rtf"),
    Some("application/xml"),
];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.org/a/b") else { return };
    let page = pharos_html::extract_page(&url, TYPES[usize::from(*first) % TYPES.len()], body);
    assert!(page.text.is_empty() || page.unread_reason.is_none());
}
