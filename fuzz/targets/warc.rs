//! WARC files of others: plain, gzip or zstd, by their first bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pharos_store::WarcScan;

fuzz_target!(|bytes: &[u8]| {
    let mut items = 0;
    // A small limit, so that passing over large blocks is met with small files.
    for item in WarcScan::new(bytes).with_max_block(1 << 10) {
        items += 1;
        if let Ok(record) = item {
            let _ = record.to_record();
        }
    }
    // Unpacked, a byte may become a thousand.
    assert!(items <= 2 + 1100 * bytes.len(), "more items than the file has room for");
});
