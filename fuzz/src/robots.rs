//! robots.txt parsing and matching.

use pharos_core::PageUrl;
use pharos_store::interpret::robots::RobotsRules;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let robots = RobotsRules::parse(bytes, "Pharos/1.0");
    let Ok(url) = PageUrl::parse("http://example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b?c=d*$") else { return };
    assert_eq!(robots.allows(&url), robots.refusal(&url).is_none());
    let _ = robots.crawl_delay();
}
