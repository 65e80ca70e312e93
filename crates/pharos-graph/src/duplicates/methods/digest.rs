//! Methods whose whole signature is a digest: pages are copies if it is the same.

use super::super::hash::digest_key;
use super::super::{Digest, Extent, Method, PageText};

/// What such a method takes the digest of.
pub trait Digested {
    /// The name in tables.
    fn title(&self) -> &'static str;

    /// The digest of a page, none if the page has too little of what the method looks at.
    fn digest(&self, page: &PageText) -> Option<Digest>;
}

impl<D: Digested> Method for D {
    type Signature = Digest;

    fn name(&self) -> String {
        self.title().to_owned()
    }

    fn fingerprint(&self, page: &PageText) -> Option<Digest> {
        self.digest(page)
    }

    fn compare(&self, one: &Digest, other: &Digest) -> Option<Extent> {
        (one == other).then_some(Extent::Whole)
    }

    fn bytes(&self, signature: &Digest) -> usize {
        size_of_val(signature)
    }

    fn key(&self, signature: &Digest, _band: usize) -> Option<u32> {
        Some(digest_key(signature))
    }
}
