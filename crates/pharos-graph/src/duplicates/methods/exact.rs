//! Exact copies: equal bytes, or equal letters and digits.

use super::super::hash::md5;
use super::super::{Digest, PageText};
use super::digest::DigestDetector;

/// Detects pages with equal response bodies.
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

/// Detects pages whose bodies have the same letters and digits in the same order. Case, width, spaces, punctuation and
/// variants of Han characters are ignored.
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
