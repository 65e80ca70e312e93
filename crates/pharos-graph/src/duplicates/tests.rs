//! Tests of whole runs, from texts to groups.

use proptest::prelude::*;

use super::synthetic::{EDITS, PageGenerator, ReprintEdit, labelled_set, with_template};
use super::*;

/// Returns the signatures of pages.
fn signatures<M: DuplicateDetector>(method: &M, pages: &[LabelledPage]) -> Vec<Option<M::PageSignature>> {
    let sign = |page: &LabelledPage| {
        let words: Vec<&str> = page.words.iter().map(String::as_str).collect();
        method.fingerprint(&PageText {
            raw: &page.raw,
            body: &page.body,
            words: &words,
            ..PageText::default()
        })
    };
    pages.iter().map(sign).collect()
}

fn grouped(pages: &[LabelledPage], attributes: &[PageAttributes]) -> DuplicateGroups {
    let method = MinHash::default();
    let signatures = signatures(&method, pages);
    let mut grouping = GroupBuilder::new(pages.len());
    grouping.join(&method, &signatures);
    grouping.finish(&method, &signatures, attributes)
}

#[test]
fn edited_reprints_are_found_and_other_articles_are_not() {
    let row = evaluate(&MinHash::default(), &labelled_set(60, 1));
    assert!(row.recall >= 0.95, "{row:?}");
    assert!(row.precision >= 0.99, "{row:?}");
    assert!(row.bytes_per_page.unwrap() < 200.0);
}

#[test]
fn every_kind_of_edit_is_found() {
    const SUBJECTS: usize = 60;
    let pages = labelled_set(SUBJECTS as u32, 1).pages;
    let (groups, kinds) = (grouped(&pages, &[]), 3 + EDITS.len());
    for (place, edit) in (1..).zip(EDITS) {
        let found = (0..SUBJECTS).map(|subject| subject * kinds).filter(|original| {
            groups.representative((original + place) as u32) == groups.representative(*original as u32)
        });
        let recall = found.count() as f64 / SUBJECTS as f64;
        // One word in ten replaced leaves seven shingles in ten: the hardest edit.
        assert!(recall >= 0.95, "{edit:?}: {recall}");
    }
}

#[test]
fn each_method_finds_plain_copies_and_the_table_has_a_row_for_each() {
    let mut writer = PageGenerator::new(2);
    let mut set = LabelledSet::default();
    let template = writer.template();
    for content in 0..20 {
        let subject = writer.subject();
        let article = writer.article(&subject);
        set.pages.extend([0, 1].map(|_| writer.page(&article, &template, content)));
    }
    let table = evaluate_all(&set);
    assert_eq!(table.0.len(), 18);
    for row in &table.0 {
        assert_eq!(row.recall, 1.0, "{}", row.name);
        // Five letters are a word or less: at the threshold of the book, all pages of an alphabetic language are
        // similar.
        let is_for_han = row.name == Shingles::book_example().name();
        assert!(row.precision == 1.0 || is_for_han, "{row:?}");
    }
    assert_eq!(table.to_string().lines().count(), 20);
}

#[test]
fn reprints_in_other_templates_go_and_other_articles_in_the_same_template_stay() {
    let mut writer = PageGenerator::new(3);
    let (home, away) = (writer.template(), writer.template());
    let mut articles = || {
        let subject = writer.subject();
        writer.article(&subject)
    };
    let originals: Vec<_> = (0..26).map(|_| articles()).collect();
    let strangers: Vec<_> = (0..27).map(|_| articles()).collect();
    let mut pages = Vec::new();
    pages.extend(originals.iter().map(|article| writer.page(&with_template(article, &home), &home, 0)));
    pages.extend(originals.iter().map(|article| writer.page(&with_template(article, &away), &away, 0)));
    pages.extend(strangers.iter().map(|article| writer.page(&with_template(article, &home), &home, 0)));
    let groups = grouped(&pages, &[]);
    for page in 0..26 {
        assert_eq!(groups.representative(26 + page), page);
        assert_eq!(groups.mirror_degree(page), 1);
    }
    assert!((52..79).all(|page| groups.mirror_degree(page) == 0));
}

#[test]
fn pages_with_little_but_their_template_are_no_group() {
    let mut writer = PageGenerator::new(4);
    let template = writer.template();
    let mut pages: Vec<_> = (0..10).map(|_| writer.page(&template, &template, 0)).collect();
    for (number, page) in (0..).zip(&mut pages) {
        page.words.truncate(20 + number);
    }
    let groups = grouped(&pages, &[]);
    assert!((0..10).all(|page| groups.mirror_degree(page) == 0));
}

#[test]
fn the_page_crawled_first_represents_its_copies() {
    let mut writer = PageGenerator::new(5);
    let subject = writer.subject();
    let article = writer.article(&subject);
    let template = writer.template();
    let pages = [ReprintEdit::HeaderAndFooter, ReprintEdit::None, ReprintEdit::Truncated, ReprintEdit::None]
        .map(|edit| {
            let edited = writer.edited(&article, edit);
            writer.page(&edited, &template, 0)
        });
    let attributes = [(30, 7), (20, 7), (10, 0), (20, 9)].map(|(first_seen, layout)| PageAttributes {
        first_seen,
        layout,
        ..PageAttributes::default()
    });
    let groups = grouped(&pages, &attributes);
    assert_eq!([0, 1, 2, 3].map(|page| groups.representative(page)), [2; 4]);
    assert!(groups.members(3).iter().all(|member| member.layout == LayoutMatch::Unknown));

    let groups = grouped(&pages[..2], &attributes);
    let expected = GroupMember { page: 0, extent: MatchExtent::Whole, layout: LayoutMatch::Same };
    assert_eq!(groups.iter().collect::<Vec<_>>(), [(1, &[expected][..])]);
}

#[test]
fn what_is_known_from_redirects_is_joined_to_what_is_found() {
    let mut grouping = GroupBuilder::new(5);
    grouping.unite(4, 1);
    grouping.unite(1, 3);
    grouping.unite(2, 99);
    let groups = grouping.finish(&ExactBytes, &[], &[]);
    assert_eq!([0, 1, 2, 3, 4].map(|page| groups.representative(page)), [0, 1, 2, 1, 1]);
    assert_eq!(groups.mirror_degree(3), 2);
    assert_eq!(groups.representative(99), 99);
}

#[test]
fn a_page_like_two_others_joins_them() {
    let method = SimHash { distance: 1, ..SimHash::default() };
    let signatures = [Some(0b000), Some(0b011), Some(0b001)];
    let mut grouping = GroupBuilder::new(3);
    grouping.join(&method, &signatures);
    let groups = grouping.finish(&method, &signatures, &[]);
    assert_eq!(
        groups.members(0).iter().map(|member| member.extent).collect::<Vec<_>>(),
        [MatchExtent::Partial, MatchExtent::Whole]
    );
}

#[test]
fn a_hundred_thousand_pages_of_one_text_and_as_many_strangers_of_one_key_are_no_burden() {
    /// All pages share the key; equal numbers are copies.
    struct OneKey;
    impl DuplicateDetector for OneKey {
        type PageSignature = u32;
        fn name(&self) -> String {
            "one key".to_owned()
        }
        fn fingerprint(&self, _: &PageText) -> Option<u32> {
            None
        }
        fn compare(&self, one: &u32, other: &u32) -> Option<MatchExtent> {
            (one == other).then_some(MatchExtent::Whole)
        }
        fn bytes(&self, _: &u32) -> usize {
            4
        }
        fn key(&self, _: &u32, _: usize) -> Option<u32> {
            Some(1)
        }
    }
    let numbers: Vec<Option<u32>> =
        (0..200_000).map(|page| Some(if page < 100_000 { 0 } else { page })).collect();
    let mut grouping = GroupBuilder::new(numbers.len());
    grouping.join(&OneKey, &numbers);
    let groups = grouping.finish(&OneKey, &numbers, &[]);
    assert_eq!(groups.mirror_degree(99_999), 99_999);
    assert_eq!(groups.mirror_degree(100_000), 0);
}

#[test]
#[ignore = "prints a table; run it in release mode"]
fn table_of_all_methods() {
    let set = labelled_set(1000, 1);
    let bytes: usize = set.pages.iter().map(|page| page.body.len()).sum();
    println!("{} pages, {} bytes each", set.pages.len(), bytes / set.pages.len());
    println!("{}", evaluate_all(&set));
    let (pages, kinds) = (set.pages, 3 + EDITS.len());
    let groups = grouped(&pages, &[]);
    for (place, edit) in (1..).zip(EDITS) {
        let found = (0..pages.len()).step_by(kinds).filter(|original| {
            groups.representative((original + place) as u32) == groups.representative(*original as u32)
        });
        println!("{edit:?}: {:.3}", found.count() as f64 * kinds as f64 / pages.len() as f64);
    }
}

proptest! {
    #[test]
    fn groups_are_the_classes_of_equal_pages(
        pages in prop::collection::vec((0_u8..6, 0_i64..4), 0..40),
    ) {
        let digests: Vec<_> = pages
            .iter()
            .map(|(content, _)| ExactBytes.fingerprint(&PageText { raw: &[*content], ..PageText::default() }))
            .collect();
        let attributes: Vec<_> =
            pages.iter().map(|(_, first_seen)| PageAttributes { first_seen: *first_seen, ..PageAttributes::default() }).collect();
        let mut grouping = GroupBuilder::new(pages.len());
        grouping.join(&ExactBytes, &digests);
        let groups = grouping.finish(&ExactBytes, &digests, &attributes);
        for (number, (content, _)) in pages.iter().enumerate() {
            let copies = pages.iter().enumerate().filter(|(_, page)| page.0 == *content);
            let first = copies.clone().min_by_key(|(other, page)| (page.1, *other)).map(|(other, _)| other as u32);
            prop_assert_eq!(Some(groups.representative(number as u32)), first);
            prop_assert_eq!(groups.mirror_degree(number as u32) + 1, copies.count());
        }
    }

    #[test]
    fn any_text_has_signatures_that_are_like_themselves(body in "(?s).{0,300}") {
        let words: Vec<String> = body.split(' ').map(str::to_owned).collect();
        let page = LabelledPage { raw: body.clone().into_bytes(), body, words, ..LabelledPage::default() };
        for row in evaluate_all(&LabelledSet { pages: vec![page.clone(), page] }).0 {
            prop_assert!(row.recall == 1.0 || row.bytes_per_page == Some(0.0), "{}", row.name);
        }
    }
}

#[test]
fn a_chain_of_likes_is_cut_but_parts_of_one_page_stay_together() {
    let text = |numbers: std::ops::Range<u32>| -> Vec<String> { numbers.map(|n| format!("w{n}")).collect() };
    let grouped = |texts: &[Vec<String>]| -> Vec<u32> {
        let method = MinHash::default();
        let sign = |text: &Vec<String>| {
            let words: Vec<&str> = text.iter().map(String::as_str).collect();
            method.fingerprint(&PageText { words: &words, ..PageText::default() })
        };
        let signatures: Vec<_> = texts.iter().map(sign).collect();
        let mut grouping = GroupBuilder::new(texts.len());
        grouping.join(&method, &signatures);
        let groups = grouping.finish(&method, &signatures, &[]);
        (0..texts.len() as u32).map(|page| groups.representative(page)).collect()
    };
    // Each page is similar to the next. The third is similar to the second, which is as full as the first; the fourth
    // to neither.
    let chain = [text(0..900), text(200..1_100), text(400..1_300), text(600..1_500)];
    assert_eq!(grouped(&chain), [0, 0, 0, 3]);
    // Two disjoint excerpts of a page that comes last.
    let parts = [text(0..500), text(500..1_000), text(0..1_000)];
    assert_eq!(grouped(&parts), [0, 0, 0]);
}
