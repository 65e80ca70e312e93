//! Duplicate detection: signatures and comparisons of two texts with every detector. The input is the two texts and
//! further bytes.

use pharos_graph::anchors::{MAX_ANCHOR_BYTES, informative_anchor};
use pharos_graph::duplicates::{
    Fingerprint, LabelledPage, LabelledSet, MinHashSignature, evaluate_all, min_hash_signature,
};

/// Byte between the parts of an input, which no UTF-8 text contains.
const SEPARATOR: u8 = 0xFF;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == SEPARATOR);
    let mut next = || parts.next().unwrap_or_default();
    let (one, other, bytes) = (String::from_utf8_lossy(next()), String::from_utf8_lossy(next()), next());
    let (one, other) = (&*one, &*other);
    assert_eq!(Fingerprint::compute(one, other), Fingerprint::compute(one, other));
    if let Some(signature) = min_hash_signature(other) {
        assert_eq!(MinHashSignature::from_bytes(&signature.to_bytes()), Some(signature));
    }
    let _ = MinHashSignature::from_bytes(bytes);
    if let Some(anchor) = informative_anchor(one) {
        assert!(!anchor.is_empty() && anchor.len() <= MAX_ANCHOR_BYTES);
    }
    let page = |text: &str| LabelledPage {
        raw: bytes.to_vec(),
        title: one.to_owned(),
        body: text.to_owned(),
        keywords: text.split(' ').map(|word| (word.to_owned(), word.len() as f32)).collect(),
        words: text.split(' ').map(str::to_owned).collect(),
        content: 0,
    };
    let set = LabelledSet { pages: vec![page(one), page(other), page(one)] };
    for row in evaluate_all(&set).0 {
        assert!((0.0..=1.0).contains(&row.precision) && (0.0..=1.0).contains(&row.recall));
    }
}
