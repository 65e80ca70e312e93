//! Pinyin (拼音): the readings of Chinese text, without tones and with ü written as v.
//!
//! A character may have several readings (多音字); a known phrase determines which one applies: 重 alone is
//! zhong, in 重庆 it is chong. Texts are read with the longest matching phrase first. Text without a reading
//! (letters, digits, punctuation) is left unchanged.
//!
//! ```
//! use pharos_text::pinyin;
//!
//! assert_eq!(pinyin::spell("北京"), "beijing");
//! assert_eq!(pinyin::initials("北京"), "bj");
//! assert_eq!(pinyin::homophone_key("周结论"), pinyin::homophone_key("周杰伦"));
//! assert_eq!(pinyin::split("beijing"), Some(vec!["bei", "jing"]));
//! ```

mod fuzzy;
mod split;
mod table;

use std::str::SplitAsciiWhitespace;

use table::PinyinTable;

pub use fuzzy::{FuzzySounds, fuzzy_key};
pub use split::{TypedPinyin, split, split_typed, splits};

/// A character with its reading, or a span of text without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syllable<'t> {
    pub text: &'t str,
    /// Reading of the character in this context.
    pub reading: Option<&'static str>,
}

/// Returns all readings of a character, the most common first; empty for characters without a Chinese
/// reading.
pub fn readings(c: char) -> impl Iterator<Item = &'static str> {
    PinyinTable::shared().readings(c).split_ascii_whitespace()
}

/// Returns the readings of `text`: each character with its best reading, and spans without readings as
/// written. The concatenated spans are the text.
pub fn pinyin(text: &str) -> Syllables<'_> {
    Syllables { rest: text, phrase_bytes: 0, phrase_readings: "".split_ascii_whitespace() }
}

/// The iterator returned by [`pinyin`].
#[derive(Clone, Debug)]
pub struct Syllables<'t> {
    rest: &'t str,
    /// Number of remaining bytes that belong to the current phrase.
    phrase_bytes: usize,
    /// Remaining readings of the phrase; empty if each character has its most common reading.
    phrase_readings: SplitAsciiWhitespace<'static>,
}

impl<'t> Iterator for Syllables<'t> {
    type Item = Syllable<'t>;

    fn next(&mut self) -> Option<Syllable<'t>> {
        let table = PinyinTable::shared();
        let first = self.rest.chars().next()?;
        let Some(usual) = readings(first).next() else {
            let end = self.rest.find(|c| !table.readings(c).is_empty()).unwrap_or(self.rest.len());
            return Some(Syllable { text: self.take(end), reading: None });
        };
        if self.phrase_bytes == 0
            && let Some(phrase) = table.longest_phrase(self.rest)
        {
            self.phrase_bytes = phrase.text.len();
            self.phrase_readings = phrase.readings.split_ascii_whitespace();
        }
        self.phrase_bytes = self.phrase_bytes.saturating_sub(first.len_utf8());
        let reading = self.phrase_readings.next().unwrap_or(usual);
        Some(Syllable { text: self.take(first.len_utf8()), reading: Some(reading) })
    }
}

impl<'t> Syllables<'t> {
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }
}

/// Returns the full pinyin of `text` as one word: beijing for 北京. Non-Chinese text is unchanged.
pub fn spell(text: &str) -> String {
    pinyin(text).map(|syllable| syllable.reading.unwrap_or(syllable.text)).collect()
}

/// Returns the first letter of each syllable (首字母): bj for 北京, zg for 中国. Non-Chinese text is unchanged.
pub fn initials(text: &str) -> String {
    pinyin(text).map(|syllable| syllable.reading.map_or(syllable.text, first_letter)).collect()
}

fn first_letter(reading: &str) -> &str {
    reading.get(..1).unwrap_or(reading)
}

/// Returns a key that is equal for texts that differ only in tone (同音): the syllables, and the words between
/// them, separated by spaces. 周结伦 and 周杰伦 have the key "zhou jie lun", and so does that text itself.
pub fn homophone_key(text: &str) -> String {
    fuzzy_homophone_key(text, FuzzySounds::NONE)
}

/// Returns the [`homophone_key`] with the sounds that `fuzzy` names merged.
pub fn fuzzy_homophone_key(text: &str, fuzzy: FuzzySounds) -> String {
    let mut key = String::new();
    let mut push = |word: &str, is_pinyin: bool| {
        if !key.is_empty() {
            key.push(' ');
        }
        if is_pinyin {
            fuzzy::push_fuzzy(&mut key, word, fuzzy);
        } else {
            key.push_str(word);
        }
    };
    for syllable in pinyin(text) {
        match syllable.reading {
            Some(reading) => push(reading, true),
            // Typed pinyin matches the characters it denotes; other words match only themselves.
            None => {
                let words = syllable.text.split_whitespace();
                words.for_each(|word| push(word, PinyinTable::shared().is_syllable(word)));
            }
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spaced(text: &str) -> String {
        let syllables: Vec<&str> = pinyin(text).map(|s| s.reading.unwrap_or(s.text)).collect();
        syllables.join(" ")
    }

    #[test]
    fn phrases_settle_how_characters_are_read() {
        for (text, read) in [
            ("重庆", "chong qing"),
            ("重要", "zhong yao"),
            ("银行行长", "yin hang hang zhang"),
            ("行为", "xing wei"),
            ("音乐", "yin yue"),
            ("快乐", "kuai le"),
            ("长大", "zhang da"),
            ("长度", "chang du"),
            ("还是", "hai shi"),
            ("归还", "gui huan"),
            ("成都", "cheng du"),
            ("都是", "dou shi"),
            ("会计", "kuai ji"),
            ("睡觉", "shui jiao"),
            ("觉得", "jue de"),
            ("厦门大厦", "xia men da sha"),
            ("参加", "can jia"),
            ("人参", "ren shen"),
            ("便宜", "pian yi"),
            ("方便", "fang bian"),
            ("女", "nv"),
            ("略", "lve"),
            ("〇", "ling"),
            ("漢語拼音", "han yu pin yin"),
        ] {
            assert_eq!(spaced(text), read, "{text}");
        }
    }

    #[test]
    fn phrases_do_not_reach_over_into_others() {
        assert_eq!(spaced("隆重庆祝"), "long zhong qing zhu");
        assert_eq!(spaced("人行道"), "ren xing dao");
        assert_eq!(spaced("市长江"), "shi zhang jiang");
    }

    #[test]
    fn non_chinese_text_is_unchanged() {
        assert_eq!(spell("用Rust写搜索引擎, 2026年"), "yongRustxiesousuoyinqing, 2026nian");
        assert_eq!(initials("4K电视"), "4Kds");
        assert_eq!(initials("中国上海重庆"), "zgshcq");
        assert_eq!(readings('重').collect::<Vec<_>>(), ["zhong", "chong", "tong"]);
        assert_eq!(readings('x').count(), 0);
        assert_eq!((spell(""), homophone_key(" ")), (String::new(), String::new()));
    }

    #[test]
    fn homophones_share_a_key() {
        let key = homophone_key("周杰伦");
        assert_eq!(key, "zhou jie lun");
        for alike in ["周结伦", "周结论", "zhou jie lun", " 周 杰 伦 "] {
            assert_eq!(homophone_key(alike), key);
        }
        assert_ne!(homophone_key("西安"), homophone_key("先"));
        assert_ne!(homophone_key("福建"), homophone_key("湖建"));
        assert_eq!(
            fuzzy_homophone_key("福建人", FuzzySounds::ALL),
            fuzzy_homophone_key("胡建仍", FuzzySounds::ALL)
        );
        assert_eq!(fuzzy_homophone_key("nginx 设置", FuzzySounds::ALL), "nginx se zi");
    }

    #[test]
    fn megabytes_are_read() {
        for unit in ["长", "银行行长还是", "a", "\u{301}", "一", "不三不四\u{10FFFF}"] {
            let text = unit.repeat((1 << 20) / unit.len());
            assert_eq!(pinyin(&text).map(|s| s.text.len()).sum::<usize>(), text.len());
        }
    }

    proptest! {
        #[test]
        fn pieces_joined_are_the_text(text in "(?s).{0,60}|[重庆银行长大还是音乐一不了a 1]{0,60}") {
            let joined: String = pinyin(&text).map(|s| s.text).collect();
            prop_assert_eq!(&joined, &text);
            for syllable in pinyin(&text) {
                prop_assert_eq!(syllable.reading.is_some() && syllable.text.chars().count() != 1, false);
                prop_assert!(!syllable.text.is_empty());
            }
            let key = homophone_key(&text);
            prop_assert_eq!(homophone_key(&key), key);
        }
    }
}
