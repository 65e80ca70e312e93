//! HTML pages. The first byte selects the declared content type.

use pharos_core::PageUrl;

const TYPES: [Option<&str>; 4] =
    [Some("text/html"), Some("text/html; charset=gb2312"), Some("text/plain"), None];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.org/a/b.html") else { return };
    let content_type = TYPES[usize::from(*first) % TYPES.len()];
    let extracted =
        pharos_html::work_budget(body.len()).run(|| pharos_html::extract_page(&url, content_type, body));
    assert!(extracted.is_ok(), "the work is not linear in the length");
}
