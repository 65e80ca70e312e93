#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pharos_fuzz::ranking::run(bytes));
