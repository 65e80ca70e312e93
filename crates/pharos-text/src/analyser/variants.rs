//! Variant forms of Han characters (简繁异体): traditional and simplified texts are compared in one form.
//!
//! The table maps every variant to one representative, character by character, so that offsets are preserved.
//! A traditional character with several simplified counterparts maps to the most common one: 乾 to 干, 著 to 着.
//! Pages are displayed as written; only terms are folded, in pages and queries alike.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Code point range that holds nearly all variants.
const FIRST: u32 = 0x3400;
const LAST: u32 = 0x9FFF;

struct Table {
    near: Vec<char>,
    far: HashMap<char, char>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { near: (FIRST..=LAST).filter_map(char::from_u32).collect(), far: HashMap::new() };
    for line in include_str!("../../data/variants.tsv").lines().filter(|line| !line.starts_with('#')) {
        let mut chars = line.chars();
        let (Some(form), Some('\t'), Some(folded)) = (chars.next(), chars.next(), chars.next()) else {
            continue;
        };
        match table.near.get_mut((form as u32).wrapping_sub(FIRST) as usize) {
            Some(place) => *place = folded,
            None => drop(table.far.insert(form, folded)),
        }
    }
    table
});

/// Returns the representative of a character, or the character itself.
#[inline]
pub fn fold(c: char) -> char {
    match TABLE.near.get((c as u32).wrapping_sub(FIRST) as usize) {
        Some(folded) => *folded,
        None if c < '\u{20000}' => c,
        None => TABLE.far.get(&c).copied().unwrap_or(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_are_one() {
        let folded = |text: &str| text.chars().map(fold).collect::<String>();
        for (traditional, simplified) in [
            ("搜尋引擎與資訊檢索", "搜寻引擎与资讯检索"),
            ("頭髮發現", "头发发现"),
            ("臺灣颱風", "台湾台风"),
            ("瞭解著作權", "了解着作权"),
            ("皇后後面", "皇后后面"),
            ("喫飯", "吃饭"),
        ] {
            assert_eq!(folded(traditional), simplified);
        }
        assert_eq!(folded("Straße かな 한국 𠮷 é"), "Straße かな 한국 𠮷 é");
    }

    #[test]
    fn folding_twice_is_folding_once() {
        for c in ('\u{3400}'..='\u{9FFF}').chain('\u{20000}'..='\u{323AF}') {
            assert_eq!(fold(fold(c)), fold(c), "{c}");
        }
    }
}
