//! Sounds that speakers of many regions do not distinguish (模糊音).

use std::ops::BitOr;

/// A set of pairs of sounds that are treated as equal, combined with `|`.
///
/// ```
/// use pharos_text::pinyin::{FuzzySounds, fuzzy_key};
///
/// let southern = FuzzySounds::S_SH | FuzzySounds::AN_ANG;
/// assert_eq!(fuzzy_key("shang", southern), fuzzy_key("san", southern));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FuzzySounds(u16);

impl FuzzySounds {
    /// No pair.
    pub const NONE: FuzzySounds = FuzzySounds(0);
    /// z and zh.
    pub const Z_ZH: FuzzySounds = FuzzySounds(1);
    /// c and ch.
    pub const C_CH: FuzzySounds = FuzzySounds(1 << 1);
    /// s and sh.
    pub const S_SH: FuzzySounds = FuzzySounds(1 << 2);
    /// Initial n and l.
    pub const N_L: FuzzySounds = FuzzySounds(1 << 3);
    /// f and h.
    pub const F_H: FuzzySounds = FuzzySounds(1 << 4);
    /// r and l.
    pub const R_L: FuzzySounds = FuzzySounds(1 << 5);
    /// an and ang, yan and yang, wan and wang.
    pub const AN_ANG: FuzzySounds = FuzzySounds(1 << 6);
    /// en and eng.
    pub const EN_ENG: FuzzySounds = FuzzySounds(1 << 7);
    /// in and ing.
    pub const IN_ING: FuzzySounds = FuzzySounds(1 << 8);
    /// ian and iang.
    pub const IAN_IANG: FuzzySounds = FuzzySounds(1 << 9);
    /// uan and uang.
    pub const UAN_UANG: FuzzySounds = FuzzySounds(1 << 10);
    /// All pairs.
    pub const ALL: FuzzySounds = FuzzySounds((1 << 11) - 1);

    /// Returns `true` if all of `pairs` are in the set.
    pub fn contains(self, pairs: FuzzySounds) -> bool {
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

impl BitOr for FuzzySounds {
    type Output = FuzzySounds;

    fn bitor(self, other: FuzzySounds) -> FuzzySounds {
        FuzzySounds(self.0 | other.0)
    }
}

/// Returns a key that is equal for all syllables that `fuzzy` treats as the same sound.
pub fn fuzzy_key(syllable: &str, fuzzy: FuzzySounds) -> String {
    let mut key = String::with_capacity(syllable.len());
    push_fuzzy(&mut key, syllable, fuzzy);
    key
}

pub(super) fn push_fuzzy(key: &mut String, syllable: &str, fuzzy: FuzzySounds) {
    let initial_len = match syllable.as_bytes() {
        [b'z' | b'c' | b's', b'h', ..] => 2,
        [b'a' | b'e' | b'i' | b'o' | b'u' | b'v', ..] | [] => 0,
        [first, ..] if first.is_ascii_lowercase() => 1,
        _ => 0,
    };
    let (initial, sound) = syllable.split_at(initial_len);
    // The nasal alone, 嗯, is not an initial.
    key.push_str(if sound.is_empty() { initial } else { fuzzy.fold_initial(initial) });
    key.push_str(match (initial, sound) {
        // Alternative spellings of lve and nv; after other letters users do not type ue for üe.
        ("l" | "n", "ue" | "üe") => "ve",
        ("l" | "n", "ü") => "v",
        _ => fuzzy.fold_final(sound),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_merged_only_if_selected() {
        for (pair, one, other) in [
            (FuzzySounds::Z_ZH, "zai", "zhai"),
            (FuzzySounds::C_CH, "cu", "chu"),
            (FuzzySounds::S_SH, "si", "shi"),
            (FuzzySounds::N_L, "nan", "lan"),
            (FuzzySounds::F_H, "fu", "hu"),
            (FuzzySounds::R_L, "rong", "long"),
            (FuzzySounds::AN_ANG, "wan", "wang"),
            (FuzzySounds::EN_ENG, "fen", "feng"),
            (FuzzySounds::IN_ING, "lin", "ling"),
            (FuzzySounds::IAN_IANG, "xian", "xiang"),
            (FuzzySounds::UAN_UANG, "chuan", "chuang"),
        ] {
            assert_eq!(fuzzy_key(one, pair), fuzzy_key(other, pair));
            assert_ne!(fuzzy_key(one, FuzzySounds::NONE), fuzzy_key(other, FuzzySounds::NONE));
            assert_eq!(fuzzy_key(one, FuzzySounds::ALL), fuzzy_key(other, FuzzySounds::ALL));
        }
        assert_eq!(fuzzy_key("zhuang", FuzzySounds::ALL), "zuan");
        assert_eq!(fuzzy_key("ang", FuzzySounds::ALL), "an");
        assert_eq!(fuzzy_key("n", FuzzySounds::ALL), "n");
        assert_eq!(fuzzy_key("lue", FuzzySounds::NONE), "lve");
        assert_eq!(fuzzy_key("nü", FuzzySounds::NONE), "nv");
        assert_eq!(fuzzy_key("xue", FuzzySounds::NONE), "xue");
    }
}
