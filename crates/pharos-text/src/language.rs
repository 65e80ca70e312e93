//! Language detection.

use pharos_core::work::spend_work;
use whatlang::{Detector, Lang};

use crate::analyser::is_han;

/// Maximum length of the sample. Longer samples do not improve the result.
const SAMPLE_CHARS: usize = 2_000;

/// Minimum number of letters for trigram statistics. With fewer letters only a reliable result is accepted.
const ENOUGH_LETTERS: usize = 40;

/// Share of East Asian characters in all letters from which a text may be in a declared East Asian language: one in
/// `MIN_DECLARED_SHARE`. Names and code in Latin letters may be most of a page on programming.
const MIN_DECLARED_SHARE: usize = 10;

/// Minimum length of a text whose script contradicts a declared language.
const ENOUGH_FOR_SCRIPT: usize = 20;

/// Returns `true` if the declared language is compatible with the text, so that it need not be detected.
///
/// Chinese, Japanese and Korean are recognised by their characters, which no other language uses. For other
/// languages, declarations are often left over from templates and prove nothing.
pub fn may_be_declared(text: &str, declared: &str) -> bool {
    let counts = ScriptCounts::of(sample_of(text));
    let letters = counts.east_asian() + counts.other;
    let is_enough = |found: usize| letters < ENOUGH_FOR_SCRIPT || found * MIN_DECLARED_SHARE >= letters;
    match declared {
        "zh" => {
            is_enough(counts.han)
                && counts.kana * 10 < counts.han + counts.kana + 1
                && counts.hangul * 2 < counts.han + 1
        }
        "ja" => is_enough(counts.kana + counts.han) && counts.kana > 0,
        "ko" => is_enough(counts.hangul) && counts.hangul > 0,
        _ => false,
    }
}

/// Numbers of characters by script.
#[derive(Default)]
struct ScriptCounts {
    han: usize,
    kana: usize,
    hangul: usize,
    other: usize,
}

impl ScriptCounts {
    fn of(sample: &str) -> Self {
        spend_work(sample.len() as u64);
        let mut counts = Self::default();
        for c in sample.chars() {
            match c {
                '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{FF66}'..='\u{FF9D}' => {
                    counts.kana += 1
                }
                '\u{AC00}'..='\u{D7A3}' => counts.hangul += 1,
                c if is_han(c) => counts.han += 1,
                c if c.is_alphabetic() => counts.other += 1,
                _ => {}
            }
        }
        counts
    }

    fn east_asian(&self) -> usize {
        self.han + self.kana + self.hangul
    }
}

fn sample_of(text: &str) -> &str {
    text.char_indices().nth(SAMPLE_CHARS).map_or(text, |(end, _)| &text[..end])
}

/// Returns the language of `text` as an ISO 639-1 code, or an empty string if it cannot be determined.
///
/// Scripts are examined first, since Chinese, Japanese and Korean pages contain many English names and
/// numbers. If East Asian characters are at least a third of all letters (each carries as much information as
/// several letters of an alphabet), kana indicate Japanese, Hangul Korean, and Han alone Chinese. Trigram
/// statistics decide the rest.
pub fn detect(text: &str) -> &'static str {
    let sample = sample_of(text);
    let counts = ScriptCounts::of(sample);
    let (east_asian, ScriptCounts { han, kana, hangul, other }) = (counts.east_asian(), counts);
    if east_asian > 0 && east_asian * 2 >= other {
        return match () {
            () if hangul * 2 >= east_asian => "ko",
            // A Chinese page may quote a Japanese name; Japanese prose is half kana.
            () if kana * 10 >= han + kana => "ja",
            () => "zh",
        };
    }
    let Some(info) = Detector::new().detect(sample) else { return "" };
    if info.is_reliable() || other >= ENOUGH_LETTERS { iso_639_1(info.lang()) } else { "" }
}

fn iso_639_1(lang: Lang) -> &'static str {
    match lang {
        Lang::Afr => "af",
        Lang::Aka => "ak",
        Lang::Amh => "am",
        Lang::Ara => "ar",
        Lang::Aze => "az",
        Lang::Bel => "be",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Cmn => "zh",
        Lang::Cym => "cy",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Epo => "eo",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Guj => "gu",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv => "hr",
        Lang::Hun => "hu",
        Lang::Hye => "hy",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Jav => "jv",
        Lang::Jpn => "ja",
        Lang::Kan => "kn",
        Lang::Kat => "ka",
        Lang::Khm => "km",
        Lang::Kor => "ko",
        Lang::Lat => "la",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Mal => "ml",
        Lang::Mar => "mr",
        Lang::Mkd => "mk",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Nld => "nl",
        Lang::Nob => "nb",
        Lang::Ori => "or",
        Lang::Pan => "pa",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Sin => "si",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Sna => "sn",
        Lang::Spa => "es",
        Lang::Srp => "sr",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tel => "te",
        Lang::Tgl => "tl",
        Lang::Tha => "th",
        Lang::Tuk => "tk",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Uzb => "uz",
        Lang::Vie => "vi",
        Lang::Yid => "yi",
        Lang::Zul => "zu",
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;

    use super::*;

    #[test]
    fn scripts_and_statistics_agree_with_a_reader() {
        assert_eq!(detect("本文介绍 Rust 语言的 async 与 tokio 的使用方法"), "zh");
        assert_eq!(detect("東京は日本の首都であり、世界最大の都市の一つである。"), "ja");
        assert_eq!(detect("서울은 대한민국의 수도이자 최대 도시이다"), "ko");
        assert_eq!(
            detect(
                "The lighthouse was one of the seven wonders of the ancient world, and for many centuries it was among the tallest structures made by people."
            ),
            "en"
        );
        assert_eq!(
            detect(
                "Le phare d'Alexandrie était considéré comme l'une des sept merveilles du monde antique, et il a servi de guide aux marins pendant près de dix-sept siècles."
            ),
            "fr"
        );
        assert_eq!(detect("Маяк на острове Фарос был одним из семи чудес света древнего мира"), "ru");
    }

    #[test]
    fn a_declared_east_asian_language_needs_a_tenth_of_its_characters() {
        let code =
            "docker run --rm --name web nginx listen server proxy pass upstream location root index return";
        let page = format!("{code} 本文介绍如何部署服务并查看日志");
        assert_ne!(detect(&page), "zh", "most letters are Latin");
        assert!(may_be_declared(&page, "zh"));
        assert!(!may_be_declared(&code.repeat(2), "zh"), "a template declares it");
        assert!(!may_be_declared("東京は日本の首都であり、世界最大の都市の一つである。", "zh"));
        assert!(may_be_declared("東京は日本の首都であり、世界最大の都市の一つである。", "ja"));
        assert!(!may_be_declared(code, "en"), "other languages are always detected");
    }

    #[test]
    fn too_little_is_no_language() {
        for nothing in ["", "12345 !!", "ok"] {
            assert_eq!(detect(nothing), "", "{nothing}");
        }
    }

    /// One step per byte of a sample of limited length.
    #[test]
    fn the_work_of_detection_is_bounded() {
        for (length, unit) in
            [1_000, 8_000, 64_000].into_iter().flat_map(|length| ["a ", "é", "灯", "1"].map(|u| (length, u)))
        {
            let text = unit.repeat(length / unit.len());
            let steps = measure_work(|| detect(&text)).1;
            assert!(steps <= text.len().min(4 * SAMPLE_CHARS) as u64, "{unit}: {steps} steps");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_two_letters_or_none(text in "(?s).{0,200}") {
            let code = detect(&text);
            proptest::prop_assert!(code.is_empty() || code.len() == 2);
        }
    }
}
