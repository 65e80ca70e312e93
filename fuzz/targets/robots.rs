//! robots.txt parsing and matching.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pharos_core::PageUrl;
use pharos_crawl::robots::RobotsRules;

fuzz_target!(|bytes: &[u8]| {
    let robots = RobotsRules::parse(bytes, "Pharos/1.0");
    let Ok(url) = PageUrl::parse("http://example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b?c=d*$") else { return };
    assert_eq!(robots.allows(&url), robots.refusal(&url).is_none());
    let _ = robots.crawl_delay();
});
