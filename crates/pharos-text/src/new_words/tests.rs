//! Tests of new-word discovery on small synthetic corpora.

use proptest::prelude::*;

use super::*;
use crate::dictionary::DictionaryEntry;

/// Forward maximum matching.
struct Forward<'d>(&'d Dictionary);

impl Segmenter for Forward<'_> {
    fn segment(&self, text: &str, _: &mut SegmenterBuffers, ends: &mut Vec<usize>) {
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
    Dictionary::new(&words.map(|word| DictionaryEntry { word, frequency: 5, tag: "" }))
}

/// Runs a discovery in which each text is the title of a page.
fn discover(texts: &[String], rules: DiscoveryRules) -> DiscoveryResult {
    let base = base();
    let segmenter = Forward(&base);
    let normalise = |text: &str| text.to_lowercase();
    let mut discovery = NewWordDiscovery::new(&segmenter, &base, &normalise, rules);
    for text in texts {
        discovery.add_page([(text, PageField::Title)]);
    }
    discovery.finish(&|_| false)
}

fn rules() -> DiscoveryRules {
    DiscoveryRules { min_information: 0.5, ..DiscoveryRules::default() }
}

/// Returns the word in varying contexts, and the contexts without it.
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

fn words(found: &DiscoveryResult) -> Vec<&str> {
    found.candidates.iter().map(|candidate| candidate.word.as_str()).collect()
}

#[test]
fn names_and_new_strings_are_found_with_their_kinds() {
    let library = discover(&corpus("国家图书馆"), rules());
    assert_eq!(words(&library), ["国家图书馆"]);
    let candidate = &library.candidates[0];
    assert_eq!((candidate.kind, candidate.parts), (WordKind::Extension, 2));
    assert_eq!((candidate.frequency, candidate.pages), (8, 8));
    // Each part is 8 of 56 words: the log of 8 / 56 divided by its square.
    assert!((candidate.information - 7f64.ln()).abs() < 1e-9, "{candidate:?}");
    assert!((candidate.left_entropy - 8f64.ln()).abs() < 1e-9, "{candidate:?}");

    let club = discover(&corpus("爱心社"), rules());
    assert_eq!(words(&club), ["爱心社"]);
    assert_eq!(club.candidates[0].kind, WordKind::Base);
}

#[test]
fn function_characters_are_in_no_candidate() {
    for character in ["的", "得", "在", "把"] {
        let texts = corpus(&format!("爱心{character}"));
        assert!(words(&discover(&texts, rules())).is_empty(), "{character}");
    }
    let allowed = DiscoveryRules { function_words: Vec::new(), ..rules() };
    assert_eq!(words(&discover(&corpus("爱心的"), allowed)), ["爱心的"]);
}

#[test]
fn a_part_that_occurs_only_inside_the_whole_is_dropped() {
    // Without the border rule, so that only the overlap is tested.
    let free = DiscoveryRules { min_entropy: 0.0, min_information: 0.0, min_frequency: 8, ..rules() };
    assert_eq!(words(&discover(&corpus("北京国家图书馆"), free.clone())), ["北京国家图书馆"]);
    let mut both = corpus("爱心国家图书馆");
    both.extend(corpus("国家图书馆"));
    both.extend(corpus("国家图书馆"));
    assert_eq!(words(&discover(&both, free)), ["国家图书馆", "爱心国家图书馆"]);
}

#[test]
fn words_composed_of_a_new_word_are_names() {
    let mut texts = corpus("爱心社");
    texts.extend(corpus("爱心社"));
    texts.extend(corpus("爱心社图书馆"));
    let kinds: Vec<_> = discover(&texts, rules()).candidates.into_iter().map(|c| (c.word, c.kind)).collect();
    assert_eq!(kinds, [("爱心社".into(), WordKind::Base), ("爱心社图书馆".into(), WordKind::Extension)]);
}

#[test]
fn measure_words_and_place_words_are_in_no_candidate() {
    let numbers: Vec<_> = corpus("爱心").into_iter().map(|text| text.replace("爱心", "18社爱心")).collect();
    assert!(words(&discover(&numbers, rules())).is_empty());
    assert!(words(&discover(&corpus("爱心上"), rules())).is_empty());
}

#[test]
fn the_rules_on_single_characters_can_be_switched_on() {
    let together = DiscoveryRules { singles_only_together: true, ..rules() };
    assert!(words(&discover(&corpus("爱心社"), together.clone())).is_empty());
    assert_eq!(words(&discover(&corpus("馆社"), together)), ["馆社"]);
    let single = DiscoveryRules { needs_single: true, ..rules() };
    assert!(words(&discover(&corpus("国家图书馆"), single.clone())).is_empty());
    assert_eq!(words(&discover(&corpus("爱心社"), single)), ["爱心社"]);
}

#[test]
fn fields_are_weighted_and_rare_words_are_dropped() {
    let base = base();
    let (segmenter, normalise) = (Forward(&base), |text: &str| text.to_string());
    let texts = corpus("爱心社");
    let mut discovery = NewWordDiscovery::new(&segmenter, &base, &normalise, rules());
    texts.iter().for_each(|text| discovery.add_page([(text, PageField::Body)]));
    assert_eq!(discovery.finish(&|_| false).words, 0);

    // On one page only, however often.
    let mut discovery = NewWordDiscovery::new(&segmenter, &base, &normalise, rules());
    discovery.add_page(texts.iter().map(|text| (text, PageField::Heading)));
    assert!(discovery.finish(&|_| false).candidates.is_empty());

    let mut discovery = NewWordDiscovery::new(&segmenter, &base, &normalise, rules());
    texts.iter().for_each(|text| discovery.add_page([(text, PageField::Short)]));
    assert!(discovery.finish(&|word| word == "爱心社").candidates.is_empty());
}

proptest! {
    #[test]
    fn any_pages_can_be_searched(texts in prop::collection::vec("(?s).{0,30}|[爱心社国家图书馆的a，\n]{0,30}", 0..30)) {
        let loose = DiscoveryRules { min_frequency: 1, min_pages: 1, min_information: f64::MIN, min_entropy: 0.0, max_grams: 20, ..DiscoveryRules::default() };
        for candidate in discover(&texts, loose).candidates {
            prop_assert!(candidate.word.chars().all(is_han) && candidate.information.is_finite());
            prop_assert!(texts.iter().any(|text| text.to_lowercase().contains(&candidate.word)));
        }
    }
}
