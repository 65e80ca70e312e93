//! Detectors whose signature is a digest: pages are copies if the digests are equal.

use super::super::hash::digest_key;
use super::super::{Digest, DuplicateDetector, MatchExtent, PageText};

/// A detector based on a digest of the page.
pub trait DigestDetector {
    /// Returns the name shown in evaluation tables.
    fn label(&self) -> &'static str;

    /// Returns the digest of a page, or `None` if the page has too little of the content that the method uses.
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
