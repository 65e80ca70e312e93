//! New words of small corpora made for the purpose.

use proptest::prelude::*;

use super::*;
use crate::dictionary::Entry;

/// Forward maximum matching.
struct Forward<'d>(&'d Dictionary);

impl Segmenter for Forward<'_> {
    fn cut(&self, text: &str, _: &mut Work, ends: &mut Vec<usize>) {
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            at += self.0.words_at(&text[at..]).last().map_or(c.len_utf8(), |(len, _)| len);
            ends.push(at);
        }
    }
}

fn base() -> Dictionary {
    let words = [
        "国家",
        "图书馆",
        "爱心",
        "社",
        "参观",
        "开放",
        "新闻",
        "活动",
        "北京",
        "大学",
        "读者",
        "学生",
        "的",
        "馆",
    ];
    Dictionary::new(&words.map(|word| Entry { word, frequency: 5, tag: "" }))
}

/// Each text is the title of a page.
fn discover(texts: &[String], rules: Rules) -> Found {
    let base = base();
    let segmenter = Forward(&base);
    let normalise = |text: &str| text.to_lowercase();
    let mut discovery = Discovery::new(&segmenter, &base, &normalise, rules);
    for text in texts {
        discovery.page([(text, Place::Title)]);
    }
    discovery.finish(&|_| false)
}

fn rules() -> Rules {
    Rules { min_information: 0.5, ..Rules::default() }
}

/// The word in changing company, and the company without it.
fn corpus(word: &str) -> Vec<String> {
    let company = ["参观", "开放", "新闻", "活动", "北京", "大学", "读者", "学生"];
    let mut texts = Vec::new();
    for (nth, before) in company.iter().enumerate() {
        let after = company[(nth + 3) % company.len()];
        texts.push(format!("{before}{word}{after}"));
        texts.push(format!("{after}{before}，{before}"));
    }
    texts
}

fn words(found: &Found) -> Vec<&str> {
    found.candidates.iter().map(|candidate| candidate.word.as_str()).collect()
}

#[test]
fn names_and_new_strings_are_found_with_their_kinds() {
    let library = discover(&corpus("国家图书馆"), rules());
    assert_eq!(words(&library), ["国家图书馆"]);
    let candidate = &library.candidates[0];
    assert_eq!((candidate.kind, candidate.parts), (Kind::Extension, 2));
    assert_eq!((candidate.frequency, candidate.pages), (8, 8));
    // Each part is 8 of 56 words: the log of 8 / 56 through its square.
    assert!((candidate.information - 7f64.ln()).abs() < 1e-9, "{candidate:?}");
    assert!((candidate.left_entropy - 8f64.ln()).abs() < 1e-9, "{candidate:?}");

    let club = discover(&corpus("爱心社"), rules());
    assert_eq!(words(&club), ["爱心社"]);
    assert_eq!(club.candidates[0].kind, Kind::Base);
}

#[test]
fn function_characters_are_in_no_candidate() {
    for character in ["的", "得", "在", "把"] {
        let texts = corpus(&format!("爱心{character}"));
        assert!(words(&discover(&texts, rules())).is_empty(), "{character}");
    }
    let allowed = Rules { function_words: Vec::new(), ..rules() };
    assert_eq!(words(&discover(&corpus("爱心的"), allowed)), ["爱心的"]);
}

#[test]
fn a_part_that_stands_only_inside_the_whole_goes() {
    // Without the rule on borders, so that only the overlap speaks.
    let free = Rules { min_entropy: 0.0, min_information: 0.0, min_frequency: 8, ..rules() };
    assert_eq!(words(&discover(&corpus("北京国家图书馆"), free.clone())), ["北京国家图书馆"]);
    let mut both = corpus("爱心国家图书馆");
    both.extend(corpus("国家图书馆"));
    both.extend(corpus("国家图书馆"));
    assert_eq!(words(&discover(&both, free)), ["国家图书馆", "爱心国家图书馆"]);
}

#[test]
fn what_is_composed_of_a_new_word_is_a_name() {
    let mut texts = corpus("爱心社");
    texts.extend(corpus("爱心社"));
    texts.extend(corpus("爱心社图书馆"));
    let kinds: Vec<_> = discover(&texts, rules()).candidates.into_iter().map(|c| (c.word, c.kind)).collect();
    assert_eq!(kinds, [("爱心社".into(), Kind::Base), ("爱心社图书馆".into(), Kind::Extension)]);
}

#[test]
fn what_was_counted_and_where_it_was_belong_to_no_word() {
    let numbers: Vec<_> = corpus("爱心").into_iter().map(|text| text.replace("爱心", "18社爱心")).collect();
    assert!(words(&discover(&numbers, rules())).is_empty());
    assert!(words(&discover(&corpus("爱心上"), rules())).is_empty());
}

#[test]
fn the_rules_on_single_characters_can_be_switched_on() {
    let together = Rules { singles_only_together: true, ..rules() };
    assert!(words(&discover(&corpus("爱心社"), together.clone())).is_empty());
    assert_eq!(words(&discover(&corpus("馆社"), together)), ["馆社"]);
    let single = Rules { needs_single: true, ..rules() };
    assert!(words(&discover(&corpus("国家图书馆"), single.clone())).is_empty());
    assert_eq!(words(&discover(&corpus("爱心社"), single)), ["爱心社"]);
}

#[test]
fn places_count_by_their_weights_and_rare_words_go() {
    let base = base();
    let (segmenter, normalise) = (Forward(&base), |text: &str| text.to_string());
    let texts = corpus("爱心社");
    let mut discovery = Discovery::new(&segmenter, &base, &normalise, rules());
    texts.iter().for_each(|text| discovery.page([(text, Place::Body)]));
    assert_eq!(discovery.finish(&|_| false).words, 0);

    // On one page only, however often.
    let mut discovery = Discovery::new(&segmenter, &base, &normalise, rules());
    discovery.page(texts.iter().map(|text| (text, Place::Heading)));
    assert!(discovery.finish(&|_| false).candidates.is_empty());

    let mut discovery = Discovery::new(&segmenter, &base, &normalise, rules());
    texts.iter().for_each(|text| discovery.page([(text, Place::Short)]));
    assert!(discovery.finish(&|word| word == "爱心社").candidates.is_empty());
}

proptest! {
    #[test]
    fn any_pages_can_be_searched(texts in prop::collection::vec("(?s).{0,30}|[爱心社国家图书馆的a，\n]{0,30}", 0..30)) {
        let loose = Rules { min_frequency: 1, min_pages: 1, min_information: f64::MIN, min_entropy: 0.0, max_grams: 20, ..Rules::default() };
        for candidate in discover(&texts, loose).candidates {
            prop_assert!(candidate.word.chars().all(is_han) && candidate.information.is_finite());
            prop_assert!(texts.iter().any(|text| text.to_lowercase().contains(&candidate.word)));
        }
    }
}
