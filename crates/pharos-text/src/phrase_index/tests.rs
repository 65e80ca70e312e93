use proptest::prelude::*;

use super::*;

fn index(phrases: &[(&str, f32)]) -> PhraseIndex {
    let mut writer = PhraseIndexBuilder::default();
    phrases.iter().for_each(|(phrase, weight)| writer.add(phrase, *weight));
    writer.finish(usize::MAX)
}

fn complete<'b>(index: &'b PhraseIndex, typed: &str) -> Vec<&'b str> {
    index.complete(typed, 10).into_iter().map(|found| found.text).collect()
}

#[test]
fn every_way_to_type_a_phrase_leads_to_it() {
    let index = index(&[
        ("北京大学图书馆", 9.0),
        ("Beijing opera", 4.0),
        ("重庆火锅", 3.0),
        ("New York Times", 8.0),
        ("Lighthouses of the North", 2.0),
        ("女装", 1.0),
    ]);
    for (typed, meant) in [
        ("北京", "北京大学图书馆"),
        ("北京大学图", "北京大学图书馆"),
        ("BEIJINGDA", "北京大学图书馆"),
        ("bei jing da xue", "北京大学图书馆"),
        ("bjdxtsg", "北京大学图书馆"),
        ("tushu", "北京大学图书馆"),
        ("图书", "北京大学图书馆"),
        ("北京daxue", "北京大学图书馆"),
        ("北京dx", "北京大学图书馆"),
        ("北京大xue", "北京大学图书馆"),
        ("chongqing", "重庆火锅"),
        ("cqhg", "重庆火锅"),
        ("new y", "New York Times"),
        ("york", "New York Times"),
        ("ｎｅｗ", "New York Times"),
        ("north", "Lighthouses of the North"),
        ("nvz", "女装"),
        ("nü", "女装"),
    ] {
        assert_eq!(complete(&index, typed).first(), Some(&meant), "{typed}");
    }
    assert_eq!(complete(&index, "beijing"), ["北京大学图书馆", "Beijing opera"]);
    assert_eq!(complete(&index, "new "), ["New York Times"]);
    assert!(complete(&index, "ne w").is_empty());
    for nothing in ["", "   ", "???", "火车", "zzz", &"a".repeat(10_000), &"北".repeat(10_000)] {
        assert!(complete(&index, nothing).is_empty(), "{nothing}");
    }
}

#[test]
fn heavier_phrases_come_first_and_the_typed_text_is_excluded() {
    let index = index(&[
        ("tea", 1.0),
        ("tea house", 2.0),
        ("tea garden", 3.0),
        ("green tea", 50.0),
        ("Tea House", 5.0),
    ]);
    assert_eq!(complete(&index, "tea"), ["tea house", "green tea", "tea garden"]);
    assert_eq!(index.weight("TEA  house"), Some(7.0), "the same but for case is one");
    assert_eq!((index.weight("tea h"), index.weight("")), (None, None));
    assert_eq!(index.complete("tea", 1).len(), 1);
    assert!(index.complete("tea", 0).is_empty());
}

#[test]
fn invalid_phrases_are_ignored() {
    let long = "x".repeat(MAX_PHRASE + 1);
    let index = index(&[
        ("", 1.0),
        ("—", 1.0),
        (&long, 1.0),
        ("a", 0.0),
        ("b", f32::NAN),
        ("c", -1.0),
        ("x\u{7}y", 1.0),
    ]);
    assert!(index.is_empty());
}

#[test]
fn homophones_are_found_by_their_sound() {
    let index = index(&[("周杰伦", 9.0), ("舟节轮", 1.0), ("周杰伦演唱会", 5.0)]);
    let found: Vec<&str> = index.with_reading(&pinyin::spell("周结论")).map(|phrase| phrase.text).collect();
    assert_eq!(found, ["周杰伦", "舟节轮"]);
    assert_eq!(index.with_reading("zhou").count(), 0);
    assert_eq!(index.with_prefix("周杰").next().map(|phrase| phrase.text), Some("周杰伦"));
    assert_eq!(index.containing("演唱").next().map(|phrase| phrase.text), Some("周杰伦演唱会"));
}

#[test]
fn a_prepared_index_gives_the_same_results() {
    let phrases = [("周杰伦", 9.0), ("舟节轮", 1.0), ("Tea House", 5.0), ("北京 大学", 2.0), ("ＡＢＣ", 1.0)];
    let (index, ready) = (index(&phrases), index(&phrases));
    ready.prepare();
    assert!(ready.bytes() > index.bytes());
    for phrase in ["周杰伦", "tea  house", "abc", "北京大学", "北京 大学", "", "teahouse", "周"] {
        assert_eq!(ready.weight(phrase), index.weight(phrase), "{phrase}");
        let letters: String = pinyin::spell(phrase).split_whitespace().collect();
        assert!(ready.with_reading(&letters).eq(index.with_reading(&letters)), "{letters}");
    }
}

#[test]
fn a_damaged_image_is_refused() {
    let index = index(&[("北京大学", 2.0), ("tea house", 1.0)]);
    let image = index.to_image();
    assert_eq!(PhraseIndex::from_image(&image), Ok(index));
    for at in 0..image.len() {
        let mut damaged = image.clone();
        damaged[at] ^= 0x20;
        assert!(PhraseIndex::from_image(&damaged).is_err());
        assert!(PhraseIndex::from_image(&image[..at]).is_err());
    }
}

#[test]
fn an_image_of_release_0_1_is_read() {
    let index = index(&[("北京大学", 2.0), ("tea house", 1.0)]);
    let mut image = index.to_image();
    image[..8].copy_from_slice(b"PHAROSB1");
    let body = image.len() - 8;
    let sum = xxhash_rust::xxh3::xxh3_64(&image[..body]);
    image[body..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(PhraseIndex::from_image(&image), Ok(index));
}

proptest! {
    #[test]
    fn the_best_of_a_stretch_are_the_best_of_all(
        phrases in proptest::collection::vec(("[ab北京大]{1,4}( [ab学]{1,3})?", 1u32..1000), 1..300),
        typed in "[ab]{1,2}|[北京大学]{1,2}",
        limit in 1usize..8,
    ) {
        let mut writer = PhraseIndexBuilder::default();
        phrases.iter().for_each(|(phrase, weight)| writer.add(phrase, *weight as f32));
        let index = writer.finish(usize::MAX);
        let found: Vec<&str> = index.with_prefix(&typed).take(limit).map(|phrase| phrase.text).collect();
        let all: Vec<&str> = index.phrases().map(|phrase| phrase.text).filter(|text| text.starts_with(&typed)).take(limit).collect();
        prop_assert_eq!(found, all);
        for completion in index.complete(&typed, limit) {
            let text = completion.text;
            let sounds = without_spaces(&pinyin::spell(text));
            prop_assert!(text.contains(&typed) || sounds.contains(&typed) || without_spaces(&pinyin::initials(text)).starts_with(&typed));
        }
        let image = index.to_image();
        prop_assert_eq!(PhraseIndex::from_image(&image), Ok(index));
    }

    #[test]
    fn any_text_may_be_added_and_typed(phrases in proptest::collection::vec("(?s).{0,40}", 0..20), typed in "(?s).{0,20}") {
        let mut writer = PhraseIndexBuilder::default();
        phrases.iter().for_each(|phrase| writer.add(phrase, 1.0));
        let index = writer.finish(usize::MAX);
        index.complete(&typed, 5);
        phrases.iter().for_each(|phrase| { index.complete(phrase, 5); index.weight(phrase); });
        index.with_reading(&typed).count();
        prop_assert_eq!(PhraseIndex::from_image(&index.to_image()).map(|b| b.len()), Ok(index.len()));
    }
}
