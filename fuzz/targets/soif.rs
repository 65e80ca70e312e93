//! SOIF objects. What is read is written and read again: the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pharos_store::soif::{SoifReader, to_html, write};

fuzz_target!(|bytes: &[u8]| {
    let mut items = 0;
    for item in SoifReader::new(bytes) {
        items += 1;
        if let Ok(object) = item {
            let _ = to_html(&object);
            let again = SoifReader::new(&write(&object)[..]).next().and_then(Result::ok);
            assert_eq!(again.as_ref(), Some(&object));
        }
    }
    assert!(items <= 2 + bytes.len(), "more items than the file has room for");
});
