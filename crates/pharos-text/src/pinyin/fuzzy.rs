//! Sounds that speakers of many regions do not tell apart (模糊音).

use std::ops::BitOr;

/// Which sounds count as one: any of the pairs below, joined with `|`.
///
/// ```
/// use pharos_text::pinyin::{Fuzzy, fuzzy_key};
///
/// let southern = Fuzzy::S_SH | Fuzzy::AN_ANG;
/// assert_eq!(fuzzy_key("shang", southern), fuzzy_key("san", southern));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fuzzy(u16);

impl Fuzzy {
    /// Every sound is its own.
    pub const NONE: Fuzzy = Fuzzy(0);
    /// z and zh.
    pub const Z_ZH: Fuzzy = Fuzzy(1);
    /// c and ch.
    pub const C_CH: Fuzzy = Fuzzy(1 << 1);
    /// s and sh.
    pub const S_SH: Fuzzy = Fuzzy(1 << 2);
    /// n and l at the beginning.
    pub const N_L: Fuzzy = Fuzzy(1 << 3);
    /// f and h.
    pub const F_H: Fuzzy = Fuzzy(1 << 4);
    /// r and l.
    pub const R_L: Fuzzy = Fuzzy(1 << 5);
    /// an and ang, yan and yang, wan and wang.
    pub const AN_ANG: Fuzzy = Fuzzy(1 << 6);
    /// en and eng.
    pub const EN_ENG: Fuzzy = Fuzzy(1 << 7);
    /// in and ing.
    pub const IN_ING: Fuzzy = Fuzzy(1 << 8);
    /// ian and iang.
    pub const IAN_IANG: Fuzzy = Fuzzy(1 << 9);
    /// uan and uang.
    pub const UAN_UANG: Fuzzy = Fuzzy(1 << 10);
    /// All of them.
    pub const ALL: Fuzzy = Fuzzy((1 << 11) - 1);

    /// Are all pairs of `pairs` among these?
    pub fn contains(self, pairs: Fuzzy) -> bool {
        self.0 & pairs.0 == pairs.0
    }

    fn fold_initial(self, initial: &str) -> &str {
        match initial {
            "zh" if self.contains(Self::Z_ZH) => "z",
            "ch" if self.contains(Self::C_CH) => "c",
            "sh" if self.contains(Self::S_SH) => "s",
            "n" if self.contains(Self::N_L) => "l",
            "r" if self.contains(Self::R_L) => "l",
            "f" if self.contains(Self::F_H) => "h",
            other => other,
        }
    }

    fn fold_final(self, sound: &str) -> &str {
        match sound {
            "ang" if self.contains(Self::AN_ANG) => "an",
            "eng" if self.contains(Self::EN_ENG) => "en",
            "ing" if self.contains(Self::IN_ING) => "in",
            "iang" if self.contains(Self::IAN_IANG) => "ian",
            "uang" if self.contains(Self::UAN_UANG) => "uan",
            other => other,
        }
    }
}

impl BitOr for Fuzzy {
    type Output = Fuzzy;

    fn bitor(self, other: Fuzzy) -> Fuzzy {
        Fuzzy(self.0 | other.0)
    }
}

/// What `syllable` and all that `fuzzy` counts as the same sound have in common, as letters.
pub fn fuzzy_key(syllable: &str, fuzzy: Fuzzy) -> String {
    let mut key = String::with_capacity(syllable.len());
    push_fuzzy(&mut key, syllable, fuzzy);
    key
}

pub(super) fn push_fuzzy(key: &mut String, syllable: &str, fuzzy: Fuzzy) {
    let initial_len = match syllable.as_bytes() {
        [b'z' | b'c' | b's', b'h', ..] => 2,
        [b'a' | b'e' | b'i' | b'o' | b'u' | b'v', ..] | [] => 0,
        [first, ..] if first.is_ascii_lowercase() => 1,
        _ => 0,
    };
    let (initial, sound) = syllable.split_at(initial_len);
    // The nasal alone, 嗯, is no beginning of anything.
    key.push_str(if sound.is_empty() { initial } else { fuzzy.fold_initial(initial) });
    key.push_str(match (initial, sound) {
        // Other ways of typing lve and nv; after other letters ue is not üe to a typist.
        ("l" | "n", "ue" | "üe") => "ve",
        ("l" | "n", "ü") => "v",
        _ => fuzzy.fold_final(sound),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_one_key_and_only_where_it_is_asked_for() {
        for (pair, one, other) in [
            (Fuzzy::Z_ZH, "zai", "zhai"),
            (Fuzzy::C_CH, "cu", "chu"),
            (Fuzzy::S_SH, "si", "shi"),
            (Fuzzy::N_L, "nan", "lan"),
            (Fuzzy::F_H, "fu", "hu"),
            (Fuzzy::R_L, "rong", "long"),
            (Fuzzy::AN_ANG, "wan", "wang"),
            (Fuzzy::EN_ENG, "fen", "feng"),
            (Fuzzy::IN_ING, "lin", "ling"),
            (Fuzzy::IAN_IANG, "xian", "xiang"),
            (Fuzzy::UAN_UANG, "chuan", "chuang"),
        ] {
            assert_eq!(fuzzy_key(one, pair), fuzzy_key(other, pair));
            assert_ne!(fuzzy_key(one, Fuzzy::NONE), fuzzy_key(other, Fuzzy::NONE));
            assert_eq!(fuzzy_key(one, Fuzzy::ALL), fuzzy_key(other, Fuzzy::ALL));
        }
        assert_eq!(fuzzy_key("zhuang", Fuzzy::ALL), "zuan");
        assert_eq!(fuzzy_key("ang", Fuzzy::ALL), "an");
        assert_eq!(fuzzy_key("n", Fuzzy::ALL), "n");
        assert_eq!(fuzzy_key("lue", Fuzzy::NONE), "lve");
        assert_eq!(fuzzy_key("nü", Fuzzy::NONE), "nv");
        assert_eq!(fuzzy_key("xue", Fuzzy::NONE), "xue");
    }
}
