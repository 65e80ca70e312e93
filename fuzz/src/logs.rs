//! Log files: invalid lines are skipped, and scrubbing is idempotent.

use std::io::Cursor;

use pharos_mining::log::privacy::scrub;
use pharos_mining::log::reader::LogLines;
use pharos_mining::log::records::{AnyRecord, LogKind};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut lines = LogLines::over(Cursor::new(bytes.to_vec()));
    while let Some((_, line)) = lines.next_line() {
        let Ok(line) = line else { continue };
        for kind in LogKind::ALL {
            if let Ok(record) = AnyRecord::parse(kind, line) {
                record.at().date();
            }
        }
    }
    let text = String::from_utf8_lossy(bytes);
    let scrubbed = scrub(&text, 7);
    assert_eq!(scrub(&scrubbed, 7), scrubbed);
}
