#![no_main]

use std::panic;
use std::sync::Once;

static PANIC_HOOK: Once = Once::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // libFuzzer's hook aborts at every panic, including caught panics of third-party parsers. Uncaught panics still abort.
    PANIC_HOOK.call_once(|| panic::set_hook(Box::new(|_| {})));
    pharos_fuzz::formats::run(bytes);
});
