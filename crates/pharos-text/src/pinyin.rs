//! Pinyin (拼音): how Chinese text is read and typed, tones dropped and ü written v.
//!
//! A character may have several readings (多音字); a known phrase settles which: 重 alone is zhong, in 重庆 it is
//! chong. Texts are read with the longest phrase first. What has no reading (letters, digits, signs) stays as
//! it is.
//!
//! ```
//! use pharos_text::pinyin;
//!
//! assert_eq!(pinyin::spell("北京"), "beijing");
//! assert_eq!(pinyin::initials("北京"), "bj");
//! assert_eq!(pinyin::homophone_key("周结论"), pinyin::homophone_key("周杰伦"));
//! assert_eq!(pinyin::split("beijing"), Some(vec!["bei", "jing"]));
//! ```

mod cut;
mod fuzzy;
mod table;

use std::str::SplitAsciiWhitespace;

use table::Table;

pub use cut::{Typed, split, split_typed, splits};
pub use fuzzy::{Fuzzy, fuzzy_key};

/// Spellings of one text at most, whatever the limit asked for.
pub const MAX_SPELLINGS: usize = 256;

/// Longer texts, in bytes, are given only their best spelling: no person types the others, and each would cost
/// as much memory as the text.
const MAX_SPELLED_BYTES: usize = 256;

/// A character with its reading, or a stretch of text that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syllable<'t> {
    /// The text it stands for.
    pub text: &'t str,
    /// How the character is read here.
    pub reading: Option<&'static str>,
    /// Is the reading that of a known phrase?
    pub is_settled: bool,
}

/// All readings of a character, the most usual first; none for what is not read in Chinese.
pub fn readings(c: char) -> impl Iterator<Item = &'static str> {
    Table::shared().readings(c).split_ascii_whitespace()
}

/// How `text` is read: each character with its best reading, stretches without readings as they stand;
/// joined, the pieces are the text.
pub fn pinyin(text: &str) -> Syllables<'_> {
    Syllables { rest: text, phrase_bytes: 0, phrase_readings: "".split_ascii_whitespace() }
}

/// The iterator of [`pinyin`].
#[derive(Clone, Debug)]
pub struct Syllables<'t> {
    rest: &'t str,
    /// So much of the rest belongs to the phrase being read.
    phrase_bytes: usize,
    /// Its readings still to come; none where all are the usual ones.
    phrase_readings: SplitAsciiWhitespace<'static>,
}

impl<'t> Iterator for Syllables<'t> {
    type Item = Syllable<'t>;

    fn next(&mut self) -> Option<Syllable<'t>> {
        let table = Table::shared();
        let first = self.rest.chars().next()?;
        let Some(usual) = readings(first).next() else {
            let end = self.rest.find(|c| !table.readings(c).is_empty()).unwrap_or(self.rest.len());
            return Some(Syllable { text: self.take(end), reading: None, is_settled: false });
        };
        if self.phrase_bytes == 0
            && let Some(phrase) = table.longest_phrase(self.rest)
        {
            self.phrase_bytes = phrase.text.len();
            self.phrase_readings = phrase.readings.split_ascii_whitespace();
        }
        let is_settled = self.phrase_bytes > 0;
        self.phrase_bytes = self.phrase_bytes.saturating_sub(first.len_utf8());
        let reading = self.phrase_readings.next().unwrap_or(usual);
        Some(Syllable { text: self.take(first.len_utf8()), reading: Some(reading), is_settled })
    }
}

impl<'t> Syllables<'t> {
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }
}

/// The full pinyin of `text` in one word: beijing for 北京. What is not Chinese stays.
pub fn spell(text: &str) -> String {
    pinyin(text).map(|syllable| syllable.reading.unwrap_or(syllable.text)).collect()
}

/// The first letter of each syllable (首字母): bj for 北京, zg for 中国. What is not Chinese stays.
pub fn initials(text: &str) -> String {
    pinyin(text).map(|syllable| syllable.reading.map_or(syllable.text, first_letter)).collect()
}

/// The ways to spell `text` if its reader does not know which reading is meant: every combination of the
/// readings that no phrase settles, the best first, at most `limit` ([`MAX_SPELLINGS`] in any case).
pub fn all_spellings(text: &str, limit: usize) -> Vec<String> {
    combinations(text, limit, |reading| reading)
}

/// [`initials`] for every combination of readings, as [`all_spellings`].
pub fn all_initials(text: &str, limit: usize) -> Vec<String> {
    combinations(text, limit, first_letter)
}

fn first_letter(reading: &str) -> &str {
    reading.get(..1).unwrap_or(reading)
}

/// Combinations of what `form` makes of readings. A combination costs the ranks of its readings together;
/// since costs only add up, the cheapest beginnings are all that is needed to find the cheapest combinations.
fn combinations(text: &str, limit: usize, form: fn(&str) -> &str) -> Vec<String> {
    let limit = limit.min(MAX_SPELLINGS);
    let is_long = text.len() > MAX_SPELLED_BYTES;
    let mut found: Vec<(usize, String)> = Vec::from_iter((limit > 0).then(Default::default));
    for syllable in pinyin(text) {
        let mut choices = vec![syllable.reading.map_or(syllable.text, form)];
        if !syllable.is_settled && !is_long {
            for reading in syllable.text.chars().take(1).flat_map(readings) {
                let choice = form(reading);
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
        }
        if let [only] = choices[..] {
            found.iter_mut().for_each(|(_, spelling)| spelling.push_str(only));
            continue;
        }
        let mut longer = Vec::with_capacity(found.len() * choices.len());
        for (cost, spelling) in &found {
            for (rank, choice) in choices.iter().enumerate() {
                longer.push((cost + rank, format!("{spelling}{choice}")));
            }
        }
        found = longer;
        found.sort_by_key(|(cost, _)| *cost);
        found.truncate(limit);
    }
    let mut spellings: Vec<String> = Vec::with_capacity(found.len());
    for (_, spelling) in found {
        // Two cuts of the same letters, such as xian and xi an.
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

/// A key that texts have in common if they sound alike but for tones (同音): syllables, and the words between
/// them, with one space between. 周结伦 and 周杰伦 have the key "zhou jie lun", and so has that text itself.
pub fn homophone_key(text: &str) -> String {
    fuzzy_homophone_key(text, Fuzzy::NONE)
}

/// [`homophone_key`] where also the sounds that `fuzzy` names count as one.
pub fn fuzzy_homophone_key(text: &str, fuzzy: Fuzzy) -> String {
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
            // Pinyin that was typed sounds like what it stands for; other words only like themselves.
            None => {
                let words = syllable.text.split_whitespace();
                words.for_each(|word| push(word, Table::shared().is_syllable(word)));
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
    fn what_is_not_chinese_stays() {
        assert_eq!(spell("用Rust写搜索引擎, 2026年"), "yongRustxiesousuoyinqing, 2026nian");
        assert_eq!(initials("4K电视"), "4Kds");
        assert_eq!(initials("中国上海重庆"), "zgshcq");
        assert_eq!(readings('重').collect::<Vec<_>>(), ["zhong", "chong", "tong"]);
        assert_eq!(readings('x').count(), 0);
        assert_eq!((spell(""), homophone_key(" ")), (String::new(), String::new()));
    }

    #[test]
    fn spellings_of_polyphones_are_all_there_and_bounded() {
        assert_eq!(all_spellings("重庆", 9), ["chongqing"]);
        assert_eq!(all_spellings("重", 9), ["zhong", "chong", "tong"]);
        assert_eq!(all_initials("重", 9), ["z", "c", "t"]);
        assert_eq!(all_spellings("单重", 4), ["danzhong", "danchong", "chanzhong", "dantong"]);
        assert_eq!(all_spellings("", 9), [""]);
        assert!(all_spellings("重", 0).is_empty());
        assert_eq!(all_spellings(&"重x".repeat(20), usize::MAX).len(), MAX_SPELLINGS);
        assert_eq!(all_spellings(&"重".repeat(1 << 18), 9).len(), 1);
        assert_eq!(all_spellings(&format!("重重{}", "x".repeat(1 << 20)), usize::MAX).len(), 1);
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
        assert_eq!(fuzzy_homophone_key("福建人", Fuzzy::ALL), fuzzy_homophone_key("胡建仍", Fuzzy::ALL));
        assert_eq!(fuzzy_homophone_key("nginx 设置", Fuzzy::ALL), "nginx se zi");
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
            let spellings = all_spellings(&text, 8);
            prop_assert_eq!(spellings.first(), Some(&spell(&text)));
            prop_assert!(spellings.len() <= 8);
            let all = all_initials(&text, 8);
            prop_assert_eq!(all.first(), Some(&initials(&text)));
            let key = homophone_key(&text);
            prop_assert_eq!(homophone_key(&key), key);
        }
    }
}
