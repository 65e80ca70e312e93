//! Exact copies: the same bytes, or the same letters.

use super::super::hash::{digest_key, md5};
use super::super::{Digest, Extent, Method, PageText};

/// The same bytes as fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactBytes;

impl Method for ExactBytes {
    type Signature = Digest;

    fn name(&self) -> String {
        "exact bytes".to_owned()
    }

    fn fingerprint(&self, page: &PageText) -> Option<Digest> {
        (!page.raw.is_empty()).then(|| md5(page.raw))
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

/// The same letters and digits of the body in the same order; case, width, spaces, punctuation and the variants of Han
/// characters do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactText;

impl Method for ExactText {
    type Signature = Digest;

    fn name(&self) -> String {
        "exact text".to_owned()
    }

    fn fingerprint(&self, page: &PageText) -> Option<Digest> {
        let mut letters = pharos_text::normalise(page.body);
        letters.retain(char::is_alphanumeric);
        (!letters.is_empty()).then(|| md5(letters.as_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_case_and_punctuation_do_not_count() {
        let sign = |body| ExactText.fingerprint(&PageText { body, ..PageText::default() });
        assert_eq!(sign("北京大學, ＡＢＣ!"), sign("北京大学\n abc"));
        assert_ne!(sign("abc"), sign("abd"));
        assert_eq!(sign(" …\n"), None);
    }
}
