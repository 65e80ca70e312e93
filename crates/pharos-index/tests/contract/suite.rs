//! The contract of [`Index`]. An implementation conforms if [`contract!`](crate::contract) passes unchanged.

use std::sync::Arc;

use pharos_core::{LibraryPosition, LibraryPositions, PageType, PageUrl};
use pharos_index::document::day;
use pharos_index::document::zones::Zone;
use pharos_index::{
    Anchor, Candidate, Facet, GenerationScope, Index, IndexChange, IndexDocument, IndexView, LinkFigures,
    PageLabel, PagePart, Query, RetrievalRequest, RetrievalResult, StoredPage,
};
use proptest::prelude::*;

/// Body limit of the indexes under test; longer texts are truncated.
pub(crate) const BODY_LIMIT: usize = 100_000;

/// A factory of indexes of one kind, for one test.
pub(crate) trait Maker {
    /// Opens the index for writing and keeps its content.
    fn open(&self) -> Arc<dyn Index>;
    /// Opens the index for reading, alongside the writer.
    fn reader(&self) -> Arc<dyn Index>;

    /// Ends the range of the library that the next build covers. Returns its end.
    fn seal(&self) -> LibraryPositions;
    /// Builds a history of these pages that covers the library up to `to`, and installs it beside the writer that was
    /// opened last.
    fn build(&self, pages: &[IndexDocument], to: LibraryPosition);
}

/// Runs the contract for an implementation: `contract!(MyMaker::new)`.
#[macro_export]
macro_rules! contract {
    ($maker:expr; $($promise:ident)*) => {
        $(#[test]
        fn $promise() {
            $crate::suite::$promise(&$maker());
        })*
    };
    ($maker:expr) => {
        $crate::contract!($maker;
            changes_are_visible_after_commit_and_survive_a_restart
            queries_find_the_pages_they_describe
            a_build_replaces_history_transparently
            oversized_pages_are_truncated
            a_position_identifies_its_zone
            pages_are_counted_by_facet
            result_fields_need_no_text
            static_rank_is_added_to_the_score
            pruning_does_not_change_the_top_candidates
            refreshed_history_and_latest_equal_a_full_search
            titles_and_words_are_listed
        );
    };
}

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://www.example.org{path}")).unwrap()
}

fn at(offset: u64) -> LibraryPosition {
    LibraryPosition::new(1, offset)
}

fn document(path: &str, title: &str, body: &str) -> IndexDocument {
    IndexDocument {
        title: title.into(),
        body: body.into(),
        lang: "en".into(),
        position: at(1),
        ..IndexDocument::new(url(path))
    }
}

fn put(path: &str, title: &str, body: &str) -> IndexChange {
    IndexChange::Put(Box::new(document(path, title, body)))
}

fn paths(view: &dyn IndexView, query: &Query) -> Vec<String> {
    let found = view.search(query, 100).unwrap();
    assert_eq!(found.total as usize, found.candidates.len());
    let stored = view.result_fields(&found.candidates).unwrap();
    stored.iter().map(|p| PageUrl::parse(&p.url).unwrap().path_and_query().to_string()).collect()
}

fn word(word: &str) -> Query {
    Query::Word(word.into())
}

pub(crate) fn changes_are_visible_after_commit_and_survive_a_restart(maker: &dyn Maker) {
    let index = maker.open();
    assert_eq!(index.applied_positions().unwrap(), LibraryPosition::START.into());
    index.apply(vec![put("/a", "Lighthouse", "on the rock"), put("/b", "Tea", "green tea")]).unwrap();
    assert!(paths(&*index.view().unwrap(), &word("tea")).is_empty());
    index.commit(&at(50).into()).unwrap();
    let old = index.view().unwrap();
    assert_eq!(paths(&*old, &word("tea")), ["/b"]);
    assert_eq!(old.pages().unwrap(), 2);

    index.apply(vec![put("/a", "Lighthouse", "tea on the rock"), IndexChange::Gone(url("/b").id())]).unwrap();
    index.commit(&at(90).into()).unwrap();
    let new = index.view().unwrap();
    assert_eq!(paths(&*new, &word("tea")), ["/a"]);
    assert_eq!(paths(&*old, &word("tea")), ["/b"], "a view never changes");
    assert_ne!(new.state_id(), old.state_id());

    index.apply(vec![put("/c", "Never", "committed tea")]).unwrap();
    drop(index);
    let index = maker.open();
    assert_eq!(index.applied_positions().unwrap(), at(90).into());
    assert_eq!(paths(&*index.view().unwrap(), &word("tea")), ["/a"]);
    let reader = maker.reader();
    assert_eq!(paths(&*reader.view().unwrap(), &Query::All), ["/a"]);
    assert!(reader.apply(vec![]).is_err() && reader.commit(&at(1).into()).is_err());
}

pub(crate) fn queries_find_the_pages_they_describe(maker: &dyn Maker) {
    let index = maker.open();
    let mut anchored = document("/d", "Silent", "nothing here");
    anchored.anchors = vec!["bright beacon".into()];
    index
        .apply(vec![
            put("/a", "Red lighthouse", "the keeper reads books"),
            put("/b", "Blue lighthouse", "books the keeper reads"),
            put("/c", "北京大学的灯塔", "研究生命题"),
            IndexChange::Put(Box::new(anchored)),
        ])
        .unwrap();
    index.commit(&at(9).into()).unwrap();
    let view = index.view().unwrap();
    let ask = |query: Query| {
        let mut found = paths(&*view, &query);
        found.sort();
        found
    };
    let phrase = |words: &[&str]| Query::Phrase((0..).zip(words).map(|(i, w)| (i, w.to_string())).collect());
    assert_eq!(ask(Query::And(vec![word("lighthouse"), word("books")])), ["/a", "/b"]);
    assert_eq!(ask(phrase(&["reads", "books"])), ["/a"]);
    assert_eq!(ask(Query::And(vec![word("lighthouse"), Query::Not(Box::new(word("red")))])), ["/b"]);
    assert_eq!(ask(Query::Not(Box::new(word("lighthouse")))), ["/c", "/d"]);
    assert_eq!(ask(Query::Or(vec![word("red"), word("beacon")])), ["/a", "/d"]);
    assert_eq!(ask(word("生命")), ["/c"], "a word hidden by the best segmentation is found");
    assert_eq!(ask(Query::Site("example.org".into())).len(), 4);
    assert_eq!(ask(Query::Site("ample.org".into())).len(), 0);
    assert_eq!(ask(Query::And(vec![Query::Site("www.example.org".into()), word("red")])), ["/a"]);
    assert_eq!(ask(phrase(&[])), Vec::<String>::new());
    let inside =
        |part, words: &[&str]| Query::In(part, (0..).zip(words).map(|(i, w)| (i, w.to_string())).collect());
    assert_eq!(ask(inside(PagePart::Title, &["lighthouse"])), ["/a", "/b"]);
    assert_eq!(ask(inside(PagePart::Title, &["red", "lighthouse"])), ["/a"]);
    assert_eq!(ask(inside(PagePart::Title, &["books"])), Vec::<String>::new());
    assert_eq!(ask(inside(PagePart::Address, &["example"])).len(), 4);
    assert_eq!(ask(word("example")).len(), 4, "the URL is part of the text");
    assert_eq!(view.page(url("/b").id()).unwrap().unwrap().fields.title, "Blue lighthouse");
    assert_eq!(view.page(url("/none").id()).unwrap(), None);
}

/// The refreshed results of history and the results of latest together equal a search of all generations.
pub(crate) fn refreshed_history_and_latest_equal_a_full_search(maker: &dyn Maker) {
    let index = maker.open();
    assert_eq!(index.view().unwrap().history(), None);
    let pages: Vec<IndexDocument> =
        (0..20).map(|n| document(&format!("/{n}"), &format!("Page {n}"), "common words")).collect();
    maker.build(&pages, at(100));
    std::thread::sleep(std::time::Duration::from_millis(250));
    let before = index.view().unwrap();
    let query = word("common");
    let latest = RetrievalRequest { scope: GenerationScope::Latest, ..RetrievalRequest::new(&query, 100) };
    let had = before.search(&query, 100).unwrap().candidates;
    assert!(had.len() == 20 && had.iter().all(|candidate| before.is_in_history(candidate)));
    assert_eq!(before.retrieve(&latest).unwrap().total, 0);
    let changes = vec![
        put("/3", "Page 3", "other words"),
        put("/5", "Page 5", "common words, often common"),
        IndexChange::Gone(url("/4").id()),
        put("/99", "Page 99", "common words"),
    ];
    index.apply(changes).unwrap();
    index.commit(&at(200).into()).unwrap();
    let now = index.view().unwrap();
    assert!(now.history().is_some() && now.history() == before.history());
    assert_ne!(now.state_id(), before.state_id());
    let renewed = now.refresh_candidates(&latest, &had).unwrap();
    let gone: Vec<_> =
        had.iter().zip(&renewed).filter(|(_, now)| now.is_none()).map(|(c, _)| c.page).collect();
    assert!([3, 4, 5].iter().all(|n| gone.contains(&url(&format!("/{n}")).id())) && gone.len() == 3);
    let found = now.retrieve(&latest).unwrap();
    assert_eq!((found.total, found.total_is_exact), (2, true));
    assert!(found.candidates.iter().all(|candidate| !now.is_in_history(candidate)));
    assert!(
        now.refresh_candidates(&latest, &found.candidates).is_err(),
        "these candidates are not in history"
    );
    let all = now.search(&query, 100).unwrap().candidates;
    for candidate in &found.candidates {
        assert!(all.contains(candidate), "scored with common statistics");
    }
    let mut together: Vec<_> =
        renewed.into_iter().flatten().chain(found.candidates).map(|candidate| candidate.page).collect();
    let mut all: Vec<_> = all.into_iter().map(|candidate| candidate.page).collect();
    together.sort_unstable();
    all.sort_unstable();
    assert_eq!(together, all);
}

/// Titles and words of all generations and of the latest ones.
pub(crate) fn titles_and_words_are_listed(maker: &dyn Maker) {
    let index = maker.open();
    maker.build(&[document("/1", "Old Lighthouses", "lamps"), document("/2", "灯塔", "tea")], at(100));
    std::thread::sleep(std::time::Duration::from_millis(250));
    index.apply(vec![put("/1", "New Lighthouses", "lamps WHO"), IndexChange::Gone(url("/2").id())]).unwrap();
    index.commit(&at(200).into()).unwrap();
    let view = index.view().unwrap();
    let scan = |scope| {
        let (mut titles, mut words) = (Vec::new(), Vec::new());
        view.for_each_title(scope, &mut |title| titles.push(title.title.to_string())).unwrap();
        view.for_each_word(scope, &mut |word, pages| words.push((word.to_string(), pages))).unwrap();
        (titles, words)
    };
    let (titles, words) = scan(GenerationScope::All);
    assert_eq!(titles, ["New Lighthouses"], "hidden and deleted pages have no title");
    let pages = |word: &str| words.iter().find(|(known, _)| known == word).map(|(_, pages)| *pages);
    assert_eq!((pages("lighthouses"), pages("灯塔"), pages("lighthous")), (Some(2), Some(1), None));
    assert!(words.iter().all(|(word, _)| !word.starts_with(['~', '^'])) && words.is_sorted());
    let (titles, words) = scan(GenerationScope::Latest);
    assert_eq!(titles, ["New Lighthouses"]);
    assert!(words.iter().any(|(word, _)| word == "new") && words.iter().all(|(word, _)| word != "old"));
}

/// Seal, build and switch while pages change: no page is duplicated or lost, and scores are independent of the
/// generation.
pub(crate) fn a_build_replaces_history_transparently(maker: &dyn Maker) {
    let index = maker.open();
    let reader = maker.reader();
    index
        .apply((0..20).map(|n| put(&format!("/{n}"), &format!("Page {n}"), "common words")).collect())
        .unwrap();
    index.commit(&at(100).into()).unwrap();
    let before = index.view().unwrap().search(&word("common"), 100).unwrap();

    assert_eq!(maker.seal(), at(100).into());
    assert_eq!(index.applied_positions().unwrap(), at(100).into());

    // Meanwhile one page changes, one is deleted, one is added.
    index
        .apply(vec![
            put("/3", "Page 3", "other words"),
            IndexChange::Gone(url("/4").id()),
            put("/99", "Page 99", "common words"),
        ])
        .unwrap();
    index.commit(&at(200).into()).unwrap();
    let expected = paths(&*index.view().unwrap(), &word("common"));
    assert_eq!(expected.len(), 19);

    let pages: Vec<IndexDocument> =
        (0..20).map(|n| document(&format!("/{n}"), &format!("Page {n}"), "common words")).collect();
    maker.build(&pages, at(100));

    for index in [&index, &reader] {
        std::thread::sleep(std::time::Duration::from_millis(250));
        let view = index.view().unwrap();
        let mut now = paths(&*view, &word("common"));
        let mut then = expected.clone();
        now.sort();
        then.sort();
        assert_eq!(now, then);
        assert_eq!(view.pages().unwrap(), 20);
        assert_eq!(view.page(url("/4").id()).unwrap(), None, "deleted, although history contains it");
        assert_eq!(view.page(url("/3").id()).unwrap().unwrap().text.body, "other words");
    }
    drop(index);
    let index = maker.open();
    assert_eq!(index.applied_positions().unwrap(), at(200).into());
    let score = |found: &RetrievalResult, path: &str| {
        found.candidates.iter().find(|c| c.page == url(path).id()).map(|c| c.score)
    };
    let after = index.view().unwrap().search(&word("common"), 100).unwrap();
    assert_eq!(score(&after, "/7"), score(&after, "/8"));
    assert!(score(&before, "/7").is_some());
    let (old, new) = (score(&after, "/7").unwrap(), score(&after, "/99").unwrap());
    assert!((old - new).abs() < 1e-6, "history scores {old}, latest {new} for the same text");
}

pub(crate) fn oversized_pages_are_truncated(maker: &dyn Maker) {
    let index = maker.open();
    index.apply(vec![put("/", &"灯塔".repeat(9000), &format!("{} lost", "x".repeat(BODY_LIMIT)))]).unwrap();
    index.commit(&at(1).into()).unwrap();
    let view = index.view().unwrap();
    let stored = view.page(url("/").id()).unwrap().unwrap();
    assert!(stored.fields.title.len() <= 1000 && stored.text.body.len() <= BODY_LIMIT);
    assert!(paths(&*view, &word("lost")).is_empty());

    // Ten megabytes of unique words, one endless word and invalid dates.
    let words: String = (0..1_500_000).map(|n| format!("{n:x} ")).collect();
    let odd = ["0000-00-00", "99999-12-31", "-1", "2026-02-30", &"9".repeat(5000)];
    let pages = odd.iter().enumerate().map(|(n, date)| {
        let page = document(&format!("/odd/{n}"), &words, &words);
        IndexChange::Put(Box::new(IndexDocument {
            date: Some((*date).into()),
            headings: vec![words.clone()],
            anchors: vec![words.as_str().into()],
            lang: words.clone(),
            category: "x".repeat(100_000),
            ..page
        }))
    });
    index.apply(pages.collect()).unwrap();
    index.commit(&at(2).into()).unwrap();
    let view = index.view().unwrap();
    let found = view.search(&Query::Site("www.example.org".into()), 100).unwrap();
    assert_eq!(found.total, 6);
    let stored = view.stored(&found.candidates).unwrap();
    let small = |page: &StoredPage| {
        page.text.body.len() <= BODY_LIMIT
            && page.fields.title.len() <= 1000
            && page.fields.lang.len() <= 1000
            && page.fields.date.as_ref().is_none_or(|date| date.len() <= 1000)
    };
    assert!(stored.iter().all(small));
    assert_eq!(view.count(&Query::Days { from: None, to: None }, 100).unwrap().pages, 0);
}

pub(crate) fn a_position_identifies_its_zone(maker: &dyn Maker) {
    let index = maker.open();
    let page = IndexDocument {
        headings: vec!["The lamp".into()],
        emphasised: vec!["lamp".into()],
        anchors: vec![Anchor { text: "the old lamp".into(), votes: 3 }],
        ..document("/lamp", "Lamp, LAMP", "A lamp burns. The WHO knows the lamp; who knows the rock?")
    };
    index.apply(vec![IndexChange::Put(Box::new(page)), put("/b", "Rock", "a rock and no more")]).unwrap();
    index.commit(&at(9).into()).unwrap();
    let view = index.view().unwrap();
    let found = view.search(&Query::Or(vec![word("lamp"), word("rock")]), 9).unwrap().candidates;
    let asked: Vec<String> = ["lamp", "rock", "^who", "absent"].map(String::from).into();
    let evidence = view.evidence(&found, &asked).unwrap();
    assert_eq!(evidence.len(), 2);
    let lamp = found.iter().position(|found| found.page == url("/lamp").id()).unwrap();
    let lamp = &evidence[lamp];
    assert_eq!(lamp.title_length, 2);
    let [lamps, rocks, who, absent] = &lamp.terms[..] else { panic!("one for each term") };
    // Title, URL, anchor, heading, emphasis, body.
    assert_eq!(lamps.times, [2, 1, 1, 1, 1, 2]);
    let weights: u32 =
        Zone::ALL.iter().map(|zone| u32::from(zone.weight()) * lamps.times[*zone as usize]).sum();
    assert_eq!(lamps.weight, weights + 2, "the anchor has three votes");
    assert_eq!((rocks.times, who.times, absent.times), ([0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [0; 6]));
    assert!(lamps.positions.is_sorted() && lamps.positions.len() == 8);
    let body: Vec<u32> = lamps
        .positions
        .iter()
        .copied()
        .filter(|position| Zone::of_position(*position) == Zone::Body)
        .collect();
    assert_eq!(body[1] - body[0], 6, "positions reflect distances");
    let frequencies = view.frequencies(&asked).unwrap();
    assert_eq!((frequencies.pages, frequencies.with_term), (2, vec![1, 2, 1, 0]));
    assert!(
        frequencies.mean_length > 5.0
            && lamp.length
                > evidence[1 - found.iter().position(|f| f.page == url("/lamp").id()).unwrap()].length
    );
}

pub(crate) fn pages_are_counted_by_facet(maker: &dyn Maker) {
    let index = maker.open();
    let page = |n: usize| {
        let host = if n.is_multiple_of(3) { "a.example" } else { "b.example" };
        IndexDocument {
            body: "lamp".into(),
            lang: if n.is_multiple_of(2) { "en" } else { "zh" }.into(),
            page_type: if n < 5 { PageType::Hub } else { PageType::Topic },
            category: if n == 7 { "history" } else { "" }.into(),
            category_confidence: if n == 7 { 80 } else { 0 },
            broader_categories: if n == 7 { vec!["arts".into(), "history".into()] } else { Vec::new() },
            date: Some(["2026-01-05", "2025-12-31", "0000-00-00", "99999-01-01"][n % 4].into()),
            ..IndexDocument::new(PageUrl::parse(&format!("http://{host}/{n}")).unwrap())
        }
    };
    let pages: Vec<IndexDocument> = (0..12).map(page).collect();
    index.commit(&at(1).into()).unwrap();
    maker.seal();
    maker.build(&pages[..8], at(1));
    // Some existing pages and some new ones.
    index.apply(pages[6..].iter().map(|page| IndexChange::Put(Box::new(page.clone()))).collect()).unwrap();
    index.commit(&at(9).into()).unwrap();
    let view = index.view().unwrap();
    let january = day::parse("2026-01-01").unwrap();
    let facets = [
        Facet::Host,
        Facet::Label(PageLabel::Lang),
        Facet::Label(PageLabel::Type),
        Facet::Label(PageLabel::Category),
        Facet::Since(january),
    ];
    let counted = view.facets(&word("lamp"), &facets, 10, 1_000, None).unwrap();
    let read = |nth: usize| -> Vec<(&str, u64)> {
        counted[nth].iter().map(|count| (count.value.as_str(), count.pages)).collect()
    };
    assert_eq!(read(0), [("b.example", 8), ("a.example", 4)]);
    assert_eq!(read(1), [("en", 6), ("zh", 6)]);
    assert_eq!(read(2), [("topic", 7), ("hub", 5)]);
    assert_eq!(read(3), [("arts", 1), ("history", 1)]);
    assert_eq!(read(4), [(january.to_string().as_str(), 3)]);
    assert_eq!(view.facets(&word("lamp"), &facets[..1], 1, 1_000, None).unwrap()[0].len(), 1);
    let found = view.search(&word("lamp"), 1_000).unwrap().candidates;
    assert_eq!(view.facets_of(&found, &facets, 10).unwrap(), counted);
    // Values of one generation with equal counts are sorted by name.
    let of_latest: Vec<_> = found.iter().filter(|page| !view.is_in_history(page)).copied().collect();
    let by_host = view.facets_of(&of_latest, &facets[..1], 1).unwrap();
    let all_hosts = view.facets_of(&of_latest, &facets[..1], 10).unwrap();
    assert_eq!(by_host[0][..], all_hosts[0][..1]);
    assert_eq!(all_hosts[0].iter().map(|count| count.pages).sum::<u64>(), of_latest.len() as u64);
    assert!(view.facets_of(&[], &facets, 10).unwrap().iter().all(Vec::is_empty));

    let count = |query: &Query| {
        let count = view.count(query, 1_000).unwrap();
        assert!(count.is_exact);
        count.pages
    };
    let label = |label, name: &str| Query::Label(label, name.into());
    assert_eq!(count(&label(PageLabel::Lang, "zh")), 6);
    assert_eq!(
        count(&Query::And(vec![word("lamp"), label(PageLabel::Type, "hub"), label(PageLabel::Lang, "en")])),
        3
    );
    assert_eq!(count(&Query::Days { from: Some(january), to: None }), 3);
    assert_eq!(count(&Query::Days { from: None, to: Some(january - 1) }), 3);
    assert_eq!(count(&Query::And(vec![word("lamp"), Query::Not(Box::new(label(PageLabel::Lang, "zh")))])), 6);
    let about = view.count(&word("lamp"), 3).unwrap();
    assert!(!about.is_exact && about.pages >= 4, "{about:?}");
    let found = view.search(&Query::And(vec![word("lamp"), label(PageLabel::Type, "hub")]), 3).unwrap();
    assert_eq!((found.candidates.len(), found.total, found.total_is_exact), (3, 5, true));
}

pub(crate) fn result_fields_need_no_text(maker: &dyn Maker) {
    let index = maker.open();
    let page =
        IndexDocument { date: Some("2026-01-31".into()), archive: false, ..document("/a", "灯塔", "text") };
    index.apply(vec![IndexChange::Put(Box::new(page))]).unwrap();
    index.commit(&at(9).into()).unwrap();
    let view = index.view().unwrap();
    let found = view.search(&word("text"), 1).unwrap().candidates;
    let fields = &view.result_fields(&found).unwrap()[0];
    assert_eq!(
        (fields.title.as_str(), fields.date.as_deref(), fields.archive),
        ("灯塔", Some("2026-01-31"), false)
    );
    assert_eq!(view.texts(&found).unwrap()[0].body, "text");
}

fn ranked(path: &str, title: &str, body: &str, page_rank: f32) -> IndexDocument {
    IndexDocument {
        link_figures: LinkFigures { page_rank, ..LinkFigures::default() },
        ..document(path, title, body)
    }
}

pub(crate) fn static_rank_is_added_to_the_score(maker: &dyn Maker) {
    let index = maker.open();
    index.commit(&at(1).into()).unwrap();
    maker.seal();
    let pages = [
        ranked("/1", "Rock", "a lamp on a rock", 0.2),
        ranked("/2", "Rock", "a lamp on a rock", 50.0),
        ranked("/3", "Lamp", "lamp lamp lamp", 1.0),
    ];
    maker.build(&pages, at(1));
    // A later page is normalised by the same maxima.
    index.apply(vec![IndexChange::Put(Box::new(ranked("/4", "Rock", "a lamp on a rock", 50.0)))]).unwrap();
    index.commit(&at(9).into()).unwrap();
    let view = index.view().unwrap();
    assert_eq!(view.maxima().0.page_rank, 50.0);
    let lamp = word("lamp");
    let ask = |rank_weight: f32| -> Vec<(String, f32)> {
        let found =
            view.retrieve(&RetrievalRequest { rank_weight, ..RetrievalRequest::new(&lamp, 9) }).unwrap();
        let results = view.result_fields(&found.candidates).unwrap();
        found
            .candidates
            .iter()
            .zip(results)
            .map(|(c, fields)| (fields.url.replace("http://www.example.org", ""), c.score))
            .collect()
    };
    assert_eq!(ask(0.0)[0].0, "/3");
    let heavy = ask(10.0);
    assert_eq!(heavy[3].0, "/1");
    let score = |path: &str| heavy.iter().find(|(found, _)| found == path).unwrap().1;
    assert!((score("/2") - score("/4")).abs() < 1e-4, "{heavy:?}");
    assert!((score("/2") - score("/1") - 10.0 * (1.0 - 1.2f32.ln() / 51f32.ln())).abs() < 1e-2, "{heavy:?}");
}

/// Pruning does not change the result: the top n equal the first n of all matches, in history and latest, with and
/// without static rank, for every form of a query.
pub(crate) fn pruning_does_not_change_the_top_candidates(maker: &dyn Maker) {
    let index = maker.open();
    index.commit(&at(1).into()).unwrap();
    maker.seal();
    // Some words are frequent, some rare; lengths and ranks differ.
    let mut random = 7u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut page = |n: usize| {
        let length = 3 + next(60);
        let mut word = |_| {
            let among = 1 + next(30);
            format!("w{}", next(among))
        };
        let words: Vec<String> = (0..length).map(&mut word).collect();
        let rank = (next(1000) as f32 / 100.0).exp2() / 100.0;
        let lang = if next(20) == 0 { "zh" } else { "en" };
        let page = ranked(&format!("/{n}"), &format!("w{}", next(30)), &words.join(" "), rank);
        IndexDocument { lang: lang.into(), ..page }
    };
    let pages: Vec<IndexDocument> = (0..3_000).map(&mut page).collect();
    maker.build(&pages, at(1));
    let later: Vec<IndexDocument> = (2_900..3_300).map(&mut page).collect();
    index.apply(later.into_iter().map(|page| IndexChange::Put(Box::new(page))).collect()).unwrap();
    index.commit(&at(9).into()).unwrap();
    let view = index.view().unwrap();
    let word = |n: u8| format!("w{n}");
    let term = (0u8..30).prop_map(word).prop_map(Query::Word).boxed();
    // Here a page contains both the word and its stem or neither; in general the first form must be on all pages that
    // contain the second.
    let forms = (0u8..30, 0u8..100).prop_map(move |(n, weight)| {
        Query::Forms(vec![(1.0, word(n)), (f32::from(weight) / 100.0, word(n))])
    });
    let piece = prop_oneof![3 => term.clone(), 1 => forms];
    let phrase = (0u8..9, 0u8..9).prop_map(move |(a, b)| Query::Phrase(vec![(0, word(a)), (1, word(b))]));
    let filter = prop_oneof![
        Just(Query::Label(PageLabel::Lang, "zh".into())),
        Just(Query::Label(PageLabel::Lang, "en".into())),
        Just(Query::Not(Box::new(Query::Label(PageLabel::Lang, "zh".into())))),
        (0u8..30).prop_map(move |n| Query::Not(Box::new(Query::Word(word(n))))),
        Just(Query::Site("example.org".into())),
        Just(Query::Site("absent.org".into())),
    ];
    let query = prop_oneof![
        4 => prop::collection::vec(piece.clone(), 1..4).prop_map(Query::And),
        4 => prop::collection::vec(piece.clone(), 1..4).prop_map(Query::Or),
        3 => (prop::collection::vec(piece.clone(), 1..3), filter)
            .prop_map(|(mut parts, filter)| { parts.push(filter); Query::And(parts) }),
        1 => phrase,
        1 => piece,
    ];
    let rank_weight = prop_oneof![Just(0.0f32), Just(0.5), Just(5.0)];
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 200, ..ProptestConfig::default() });
    let outcome = runner.run(&(query, 1usize..40, rank_weight), |(query, limit, rank_weight)| {
        let ask = |limit: usize| -> RetrievalResult {
            let asked = RetrievalRequest {
                rank_weight,
                count_up_to: u64::MAX,
                ..RetrievalRequest::new(&query, limit)
            };
            view.retrieve(&asked).unwrap()
        };
        let (all, best) = (ask(usize::MAX), ask(limit));
        prop_assert_eq!(best.total, all.candidates.len() as u64);
        prop_assert_eq!(best.candidates.len(), limit.min(all.candidates.len()));
        let close = |a: &Candidate, b: &Candidate| (a.score - b.score).abs() <= 1e-4 * (1.0 + a.score.abs());
        for (found, wanted) in best.candidates.iter().zip(&all.candidates) {
            // Equal sums in a different order may swap places.
            prop_assert!(close(found, wanted), "{:?} instead of {:?}", found, wanted);
            let same = all.candidates.iter().find(|candidate| candidate.page == found.page);
            prop_assert!(same.is_some_and(|same| close(found, same)));
        }
        Ok(())
    });
    outcome.unwrap();
}
