//! The base dictionary that is linked into the binary.
//!
//! `build.rs` compiles it from `data/base.tsv`. The image is used in place and shared by all threads. Nothing
//! is loaded at start; the operating system maps the pages that are accessed.

use std::sync::LazyLock;

use crate::dictionary::{Dictionary, Lexicon};

/// Aligns the image so that it can be read in place as numbers.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/base.dictionary")));

impl Dictionary {
    /// Returns the dictionary that is linked into the binary.
    pub fn base() -> &'static Dictionary {
        static SHARED: LazyLock<Dictionary> = LazyLock::new(|| {
            // The image is written by this crate's build script: if decoding fails, every test fails.
            Dictionary::from_image(&IMAGE.0).unwrap_or_else(|_| Dictionary::new(&[]))
        });
        &SHARED
    }
}

impl Default for Lexicon<'_> {
    /// Returns a lexicon with the base dictionary alone.
    fn default() -> Self {
        Lexicon::new(Dictionary::base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::WordCode;

    #[test]
    fn the_base_dictionary_is_there_with_its_codes() {
        let base = Dictionary::base();
        assert!(base.len() > 300_000);
        // Word codes are stable across versions of the list.
        assert_eq!(base.code("了"), Some(WordCode(0)));
        assert_eq!(base.code("是"), Some(WordCode(1)));
        let engine = base.code("搜索引擎").unwrap();
        assert_eq!(base.tag(engine), "n");
        assert!(base.frequency(base.code("中国").unwrap()) > base.frequency(engine));
        assert!(base.words_at("北京大学生").map(|(end, _)| end).eq([3, 6, 12]));
    }
}
