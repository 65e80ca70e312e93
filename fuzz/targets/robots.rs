#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pharos_fuzz::robots::run(bytes));
