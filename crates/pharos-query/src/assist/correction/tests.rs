use std::collections::HashMap;

use pharos_core::config::CorrectConfig;

use super::*;

/// Returns the corrections with these known words and phrases, each with its document frequency.
fn corrections(known: &[(&str, u64)], text: &str) -> Vec<String> {
    let suggestions = SuggestionSources::for_tests(known);
    let pages: HashMap<&str, u64> = known.iter().copied().collect();
    let pages = |word: &str| pages.get(word).copied().unwrap_or_default();
    Corrector { suggestions: &suggestions, costs: &CorrectConfig::default(), pages: &pages }.corrections(text)
}

const KNOWN: &[(&str, u64)] = &[
    ("周杰伦", 40),
    ("演唱会", 30),
    ("结论", 25),
    ("北京大学", 50),
    ("北京", 200),
    ("大学", 150),
    ("图书馆", 80),
    ("天气预报", 30),
    ("lighthouse", 60),
    ("light", 90),
    ("house", 90),
    ("harbour", 35),
    ("new", 300),
    ("york", 40),
    ("keeper", 22),
    ("杭州", 44),
    ("西湖", 30),
];

#[test]
fn homophones_of_a_name_are_the_name() {
    for typed in ["周结伦", "周结论", "周杰轮"] {
        assert_eq!(corrections(KNOWN, typed).first().map(String::as_str), Some("周杰伦"), "{typed}");
    }
    assert_eq!(corrections(KNOWN, "周结论演唱会").first().map(String::as_str), Some("周杰伦演唱会"));
    assert_eq!(corrections(KNOWN, "周结伦 演唱会").first().map(String::as_str), Some("周杰伦 演唱会"));
}

#[test]
fn every_kind_of_slip_has_its_remedy() {
    for (typed, meant) in [
        ("lighthuose", "lighthouse"),
        ("harbuor lighthouse", "harbour lighthouse"),
        ("newyork", "new york"),
        ("light house keeper", "lighthouse keeper"),
        ("beijingdaxue", "北京大学"),
        ("bei jing da xue", "北京大学"),
        ("beijing tushuguan", "北京图书馆"),
        ("北京大字", "北京大学"),
        ("天汽预报", "天气预报"),
        ("tianqi yubao", "天气预报"),
        ("hangzou", "杭州"),
        ("杭州西胡", "杭州西湖"),
        ("site:a.example lighthuose", "site:a.example lighthouse"),
    ] {
        let found = corrections(KNOWN, typed);
        assert!(found.iter().any(|correction| correction == meant), "{typed}: {found:?}");
    }
}

#[test]
fn what_is_right_or_meant_literally_stays() {
    for right in [
        "lighthouse",
        "北京大学",
        "\"lighthuose\"",
        "-lighthuose",
        "site:lighthuose",
        "intitle:周结伦",
        "",
        "   ",
        "???",
        "2026",
        "OR",
        "a",
        "的",
        "🙂",
        "周",
        "\u{0}\u{1}",
        "q",
    ] {
        assert!(corrections(KNOWN, right).is_empty(), "{right}: {:?}", corrections(KNOWN, right));
    }
    assert!(corrections(&[], "lighthuose").is_empty());
    assert!(corrections(KNOWN, &"lighthuose ".repeat(1000)).is_empty());
}

proptest::proptest! {
    #[test]
    fn any_text_may_be_asked(text in "(?s).{0,60}|[周结伦大字 a-z'北京]{0,30}") {
        for correction in corrections(KNOWN, &text) {
            proptest::prop_assert!(normalise(&correction) != normalise(&text));
        }
    }
}

#[test]
fn corrections_that_sound_alike_or_have_one_wrong_letter_are_certain() {
    for (typed, corrected) in [
        ("lighthuose keepers", "lighthouse keepers"),
        ("light house", "lighthouse"),
        ("周结伦", "周杰伦"),
        ("zhoujielun", "周杰伦"),
        ("python 周结伦", "python 周杰伦"),
    ] {
        assert!(is_certain(typed, corrected), "{typed}");
    }
    for (typed, corrected) in [
        ("tea", "sea"),
        ("lighthouse", "lightning"),
        ("周杰", "周杰伦"),
        ("北京", "南京"),
        ("light the house", "light"),
    ] {
        assert!(!is_certain(typed, corrected), "{typed}");
    }
}
