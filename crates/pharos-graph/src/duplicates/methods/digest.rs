//! Methods whose whole signature is a digest: pages are copies if it is the same.

use super::super::hash::digest_key;
use super::super::{Digest, DuplicateDetector, MatchExtent, PageText};

/// What such a method takes the digest of.
pub trait DigestDetector {
    /// The name in tables.
    fn label(&self) -> &'static str;

    /// The digest of a page, none if the page has too little of what the method looks at.
    fn digest(&self, page: &PageText) -> Option<Digest>;
}

impl<D: DigestDetector> DuplicateDetector for D {
    type PageSignature = Digest;

    fn name(&self) -> String {
        self.label().to_owned()
    }

    fn fingerprint(&self, page: &PageText) -> Option<Digest> {
        self.digest(page)
    }

    fn compare(&self, one: &Digest, other: &Digest) -> Option<MatchExtent> {
        (one == other).then_some(MatchExtent::Whole)
    }

    fn bytes(&self, signature: &Digest) -> usize {
        size_of_val(signature)
    }

    fn key(&self, signature: &Digest, _band: usize) -> Option<u32> {
        Some(digest_key(signature))
    }
}
