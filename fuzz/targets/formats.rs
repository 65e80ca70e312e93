//! Documents that are no web pages: the first byte chooses what the server says they are.
#![no_main]

use std::panic;
use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use pharos_core::PageUrl;

const TYPES: [Option<&str>; 6] = [
    None,
    Some("application/pdf"),
    Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    Some("application/vnd.oasis.opendocument.text"),
    Some("application/rtf"),
    Some("application/xml"),
];

static TOLERANCE: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    // libFuzzer's hook ends the process at every panic, also at those of other people's readers that are caught.
    // One that is not caught still ends it.
    TOLERANCE.call_once(|| panic::set_hook(Box::new(|_| {})));
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.org/a/b") else { return };
    let page = pharos_html::understand(&url, TYPES[usize::from(*first) % TYPES.len()], body);
    assert!(page.text.is_empty() || page.unread.is_none());
});
