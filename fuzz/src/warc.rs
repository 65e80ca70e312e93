//! WARC files of other programs: plain, gzip or zstd, detected by their first bytes.

use pharos_store::formats::warc_file::WarcScan;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
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
}
