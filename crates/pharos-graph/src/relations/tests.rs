use std::fs;

use super::*;
use crate::duplicates::{Extent, Layout};
use pharos_core::{PageUrl, Timestamp};

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn words(address: &str, seen: i64, title: &str, body: &str) -> PageWords {
    PageWords {
        url: url(address),
        first_seen: Timestamp::from_millis(seen),
        published: None,
        title: title.into(),
        body: body.into(),
        archive: true,
        layout: 0,
        canonical: None,
    }
}

fn prose(about: &str) -> String {
    (0..60).map(|number| format!("{about}{number} stands near {about}{}. ", number * 7)).collect()
}

fn builder(folder: &Path) -> RelationsBuilder {
    RelationsBuilder::begin(folder, RelationRules::default()).unwrap()
}

#[test]
fn links_lead_through_redirects_and_pages_never_fetched_have_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    builder.redirect(url("http://b.example/old").id(), url("http://b.example/older"));
    builder.redirect(url("http://b.example/older").id(), url("http://b.example/new"));
    builder.redirect(url("http://c.example/round").id(), url("http://c.example/round"));
    builder.page(&url("http://a.example/")).unwrap();
    for (to, anchor) in [
        ("http://b.example/old", "the harbour"),
        ("http://b.example/new", "the harbour"),
        ("http://c.example/round", "nowhere"),
        ("http://a.example/", "itself"),
    ] {
        builder.link(&url("http://a.example/"), &url(to), anchor).unwrap();
    }
    builder.finish(LibraryPosition { file: 3, offset: 7 }, 0, None).unwrap();

    let relations = Relations::open(folder.path()).unwrap();
    assert_eq!(relations.to(), LibraryPosition { file: 3, offset: 7 });
    let sizes = Sizes { pages: 3, fetched: 1, links: 2, sites: 3, domains: 3 };
    assert_eq!(relations.sizes(), sizes);
    let page = relations.number(url("http://b.example/old").id()).unwrap();
    assert_eq!(relations.url(page).unwrap(), "http://b.example/new");
    assert_eq!(relations.number(url("http://d.example/").id()), None);
    assert!(!relations.is_fetched(page));
    let anchors = relations.anchors(page).unwrap();
    assert_eq!((anchors.len(), anchors[0].text.as_str()), (1, "the harbour"));
    let mean: f64 = relations.page_ranks().iter().sum::<f64>() / 3.0;
    assert!((mean - 1.0).abs() < 1e-9);
}

#[test]
fn the_first_crawled_speaks_for_exact_and_near_copies() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    let (text, other) = (prose("lighthouse"), prose("harbour"));
    let edited = format!("{text} Reprinted with thanks.");
    let variant = PageWords {
        canonical: Some(url("http://c.example/report")),
        ..words("http://c.example/report?print", 1, "Report", &other)
    };
    builder
        .texts(vec![
            words("http://b.example/copy", 20, "Lighthouses", &text),
            words("http://a.example/first", 10, "Lighthouses", &text.replace(". ", ".\n")),
            words("http://d.example/reprint", 30, "About lighthouses", &edited),
            variant,
            words("http://c.example/report", 50, "Report", &other),
            // Too short to be recognised on another site, but not on its own.
            words("http://e.example/1", 60, "Gone", "Nothing here."),
            words("http://f.example/1", 61, "Gone", "Nothing here."),
            words("http://e.example/2", 62, "Gone", "Nothing here."),
        ])
        .unwrap();
    let (new, _) = builder.finish(LibraryPosition::START, 0, None).unwrap();
    assert!(new.signature(0).is_some());
    let relations = Relations::open(folder.path()).unwrap();
    let number = |address: &str| relations.number(url(address).id()).unwrap();
    let [first, copy, reprint] =
        ["http://a.example/first", "http://b.example/copy", "http://d.example/reprint"].map(number);
    assert_eq!([first, copy, reprint].map(|page| relations.representative(page)), [Some(first); 3]);
    assert_eq!((relations.original(copy), relations.original(reprint)), (first, reprint));
    assert_eq!(relations.exact_copies()[&first], [copy]);
    assert_eq!(relations.mirror_degree(reprint), 2);
    let group = relations.group(copy).unwrap();
    assert_eq!((group.representative, group.members.len()), (first, 2));
    assert!(group.members.iter().all(|m| (m.extent, m.layout) == (Extent::Whole, Layout::Unknown)));
    // Crawled first, but it says itself that the other is the right one.
    let [report, print] = ["http://c.example/report", "http://c.example/report?print"].map(number);
    assert_eq!((relations.original(print), &relations.exact_copies()[&report]), (report, &vec![print]));
    let [short, elsewhere, again] =
        ["http://e.example/1", "http://f.example/1", "http://e.example/2"].map(number);
    assert_eq!(relations.exact_copies()[&short], [again]);
    assert_eq!(relations.representative(elsewhere), None);
    assert_eq!(relations.groups().len(), 3);
}

#[test]
fn newer_relations_take_the_place_of_older_ones_and_begin_with_their_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let build = |before: Option<&Relations>| {
        let mut builder = builder(folder.path());
        for page in 0..50 {
            let from = url(&format!("http://a.example/{page}"));
            builder.link(&from, &url(&format!("http://a.example/{}", page * 7 % 50)), "").unwrap();
            builder.link(&from, &url("http://b.example/"), "").unwrap();
        }
        builder.finish(LibraryPosition::START, 0, before).unwrap().1
    };
    // What a killed process left behind.
    fs::create_dir(folder.path().join("building-dead")).unwrap();
    let first = build(None);
    let old = Relations::open(folder.path()).unwrap();
    let second = build(Some(&old));
    assert!(second.rounds < first.rounds);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(old.url(0).unwrap(), "http://a.example/0", "who reads the old ones reads on");
}

#[test]
fn what_is_missing_or_damaged_is_told() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Relations::open(folder.path()), Err(GraphError::NotBuilt { .. })));
    assert!(matches!(Relations::open(&folder.path().join("absent")), Err(GraphError::NotBuilt { .. })));
    let mut builder = builder(folder.path());
    builder
        .texts((0..4).map(|n| words(&format!("http://a.example/{n}"), n, "T", &prose("x"))).collect())
        .unwrap();
    builder.link(&url("http://a.example/1"), &url("http://a.example/2"), "two").unwrap();
    builder.finish(LibraryPosition::START, 0, None).unwrap();
    let file = folder.path().join("00000001").join(TABLES);
    let good = fs::read(&file).unwrap();
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 0x55;
        fs::write(&file, &bad).unwrap();
        // Another window size in the head of the frame changes nothing.
        assert!(Relations::open(folder.path()).is_err() || place == 21, "byte {place}");
        fs::write(&file, &good[..place]).unwrap();
        assert!(Relations::open(folder.path()).is_err(), "cut at {place}");
    }
    fs::write(&file, &good).unwrap();
    Relations::open(folder.path()).unwrap();
}
