//! The dictionary that comes with the program.
//!
//! It is compiled when this crate is built (`build.rs`, from `data/base.tsv`), lies in the program in the form it is
//! used in, and is shared by all threads: nothing is loaded, the system maps what is touched.

use std::sync::LazyLock;

use crate::dictionary::{Dictionary, Lexicon};

/// Aligned so that it can be read as numbers where it lies.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/base.dictionary")));

impl Dictionary {
    /// The dictionary that comes with the program.
    pub fn base() -> &'static Dictionary {
        static SHARED: LazyLock<Dictionary> = LazyLock::new(|| {
            // Written by our own build: if this fails, so does every test.
            Dictionary::from_image(&IMAGE.0).unwrap_or_else(|_| Dictionary::new(&[]))
        });
        &SHARED
    }
}

impl Default for Lexicon<'_> {
    /// The words that come with the program, and no others.
    fn default() -> Self {
        Lexicon::of(Dictionary::base())
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
        // Codes are promises: these stay whatever becomes of the list.
        assert_eq!(base.code("了"), Some(WordCode(0)));
        assert_eq!(base.code("是"), Some(WordCode(1)));
        let engine = base.code("搜索引擎").unwrap();
        assert_eq!(base.tag(engine), "n");
        assert!(base.frequency(base.code("中国").unwrap()) > base.frequency(engine));
        assert!(base.words_at("北京大学生").map(|(end, _)| end).eq([3, 6, 12]));
    }
}
