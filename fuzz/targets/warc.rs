//! WARC files of other programs: plain, gzip or zstd, detected by their first bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pharos_store::formats::warc_file::WarcScan;

fuzz_target!(|bytes: &[u8]| {
    let mut items = 0;
    // A small limit, so that small inputs exercise the skipping of large blocks.
    for item in WarcScan::new(bytes).with_max_block(1 << 10) {
        items += 1;
        if let Ok(record) = item {
            let _ = record.to_record();
        }
    }
    // Decompression may expand a byte to about a thousand.
    assert!(items <= 2 + 1100 * bytes.len(), "more items than fit into the file");
});
