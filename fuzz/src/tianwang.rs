//! Tianwang raw files: reading, writing and reading again is lossless.

use std::io::Cursor;

use pharos_store::formats::tianwang::{TianwangScan, read_record, write_record};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Ok(scan) = TianwangScan::new(Cursor::new(bytes)) else { return };
    let mut items = 0;
    for item in scan {
        items += 1;
        if let Ok((_, record)) = item {
            assert_eq!(read_record(&write_record(&record)).ok().as_ref(), Some(&record));
        }
    }
    assert!(items <= 2 + bytes.len(), "more items than fit into the file");
}
