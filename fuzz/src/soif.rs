//! SOIF objects: writing and reading is lossless.

use pharos_store::formats::soif::{SoifReader, to_html, write_object};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut items = 0;
    for item in SoifReader::new(bytes) {
        items += 1;
        if let Ok(object) = item {
            let _ = to_html(&object);
            // The first round trip may remove characters that are invalid in URLs.
            let again = |object| SoifReader::new(&write_object(object)[..]).next().and_then(Result::ok);
            let once = again(&object).expect("written objects are readable");
            assert_eq!(again(&once).as_ref(), Some(&once));
        }
    }
    assert!(items <= 2 + bytes.len(), "more items than fit into the file");
}
