//! Sitemaps and feeds. The first byte selects the declared content type.

use pharos_core::PageUrl;

const TYPES: [Option<&str>; 4] =
    [Some("application/xml"), Some("text/xml; charset=gb2312"), Some("application/gzip"), None];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.org/sitemap.xml") else { return };
    let feed = pharos_html::parse_feed(&url, TYPES[usize::from(*first) % TYPES.len()], body);
    assert!(feed.is_none_or(|feed| feed.entries.len() <= 50_000));
}
