//! Exact copies: the same bytes, or the same letters.

use super::super::hash::md5;
use super::super::{Digest, PageText};
use super::digest::DigestDetector;

/// The same bytes as fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactBytes;

impl DigestDetector for ExactBytes {
    fn label(&self) -> &'static str {
        "exact bytes"
    }

    fn digest(&self, page: &PageText) -> Option<Digest> {
        (!page.raw.is_empty()).then(|| md5(page.raw))
    }
}

/// The same letters and digits of the body in the same order; case, width, spaces, punctuation and the variants of Han
/// characters do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactText;

impl DigestDetector for ExactText {
    fn label(&self) -> &'static str {
        "exact text"
    }

    fn digest(&self, page: &PageText) -> Option<Digest> {
        let mut letters = pharos_text::normalise(page.body);
        letters.retain(char::is_alphanumeric);
        (!letters.is_empty()).then(|| md5(letters.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::DuplicateDetector as _;
    use super::*;

    #[test]
    fn width_case_and_punctuation_do_not_count() {
        let sign = |body| ExactText.fingerprint(&PageText { body, ..PageText::default() });
        assert_eq!(sign("北京大學, ＡＢＣ!"), sign("北京大学\n abc"));
        assert_ne!(sign("abc"), sign("abd"));
        assert_eq!(sign(" …\n"), None);
    }
}
