//! SOIF objects. What was written by us is read again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pharos_store::soif::{SoifReader, to_html, write};

fuzz_target!(|bytes: &[u8]| {
    let mut items = 0;
    for item in SoifReader::new(bytes) {
        items += 1;
        if let Ok(object) = item {
            let _ = to_html(&object);
            // An address may lose characters that no address has, once.
            let again = |object| SoifReader::new(&write(object)[..]).next().and_then(Result::ok);
            let once = again(&object).expect("what we write can be read");
            assert_eq!(again(&once).as_ref(), Some(&once));
        }
    }
    assert!(items <= 2 + bytes.len(), "more items than the file has room for");
});
