//! PDF, Office and other document formats. The first byte selects the declared content type.
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

static PANIC_HOOK: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    // libFuzzer's hook aborts at every panic, including caught panics of third-party parsers. Uncaught panics still abort.
    PANIC_HOOK.call_once(|| panic::set_hook(Box::new(|_| {})));
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.org/a/b") else { return };
    let page = pharos_html::extract_page(&url, TYPES[usize::from(*first) % TYPES.len()], body);
    assert!(page.text.is_empty() || page.unread_reason.is_none());
});
