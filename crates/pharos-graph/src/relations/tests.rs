use std::fs;

use super::*;
use crate::duplicates::{LayoutMatch, MatchExtent};
use pharos_core::{LibraryPosition, PageUrl, Timestamp};

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn words(address: &str, seen: i64, title: &str, body: &str) -> PageContent {
    PageContent {
        url: url(address),
        first_seen: Timestamp::from_millis(seen),
        published: None,
        title: title.into(),
        body: body.into(),
        hash: seen as u64,
        display_hash: 0,
        layout: 0,
        canonical: None,
    }
}

fn prose(about: &str) -> String {
    (0..60).map(|number| format!("{about}{number} stands near {about}{}. ", number * 7)).collect()
}

fn builder(folder: &Path) -> RelationsBuilder {
    RelationsBuilder::begin(folder, RelationsOptions::default()).unwrap()
}

#[test]
fn links_lead_through_redirects_and_pages_never_fetched_have_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    builder.add_redirect(url("http://b.example/old").id(), url("http://b.example/older"));
    builder.add_redirect(url("http://b.example/older").id(), url("http://b.example/new"));
    builder.add_redirect(url("http://c.example/round").id(), url("http://c.example/round"));
    builder.add_page(&url("http://a.example/")).unwrap();
    for (to, anchor) in [
        ("http://b.example/old", "the harbour"),
        ("http://b.example/new", "the harbour"),
        ("http://c.example/round", "nowhere"),
        ("http://a.example/", "itself"),
    ] {
        builder.add_link(&url("http://a.example/"), &url(to), anchor).unwrap();
    }
    // Two logs: the second is stored behind the tables.
    let to: LibraryPositions =
        [LibraryPosition::new(3, 7), LibraryPosition { log: 9, volume: 1, offset: 2 }].into_iter().collect();
    builder.finish(to.clone(), 0).unwrap();

    let relations = Relations::open(folder.path()).unwrap();
    assert_eq!(relations.library_positions(), &to);
    let sizes = GraphSizes { pages: 3, fetched: 1, links: 2, sites: 3, domains: 3 };
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
fn the_page_crawled_first_represents_exact_and_near_copies() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    let (text, other) = (prose("lighthouse"), prose("harbour"));
    let edited = format!("{text} Reprinted with thanks.");
    let variant = PageContent {
        canonical: Some(url("http://c.example/report")),
        ..words("http://c.example/report?print", 1, "Report", &other)
    };
    builder
        .add_texts(vec![
            words("http://b.example/copy", 20, "Lighthouses", &text),
            words("http://a.example/first", 10, "Lighthouses", &text.replace(". ", ".\n")),
            words("http://d.example/reprint", 30, "About lighthouses", &edited),
            variant,
            words("http://c.example/report", 50, "Report", &other),
            // Too short to be recognised on another site, but long enough on the same site.
            words("http://e.example/1", 60, "Gone", "Nothing here."),
            words("http://f.example/1", 61, "Gone", "Nothing here."),
            words("http://e.example/2", 62, "Gone", "Nothing here."),
        ])
        .unwrap();
    let (new, _) = builder.finish(LibraryPositions::START, 0).unwrap();
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
    assert!(group.members.iter().all(|m| (m.extent, m.layout) == (MatchExtent::Whole, LayoutMatch::Unknown)));
    // Crawled first, but it declares the other page as canonical.
    let [report, print] = ["http://c.example/report", "http://c.example/report?print"].map(number);
    assert_eq!((relations.original(print), &relations.exact_copies()[&report]), (report, &vec![print]));
    let [short, elsewhere, again] =
        ["http://e.example/1", "http://f.example/1", "http://e.example/2"].map(number);
    assert_eq!(relations.exact_copies()[&short], [again]);
    assert_eq!(relations.representative(elsewhere), None);
    assert_eq!(relations.groups().len(), 3);
}

#[test]
fn a_page_that_is_unlike_the_one_it_names_is_no_variant_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    let naming = |number: i64, body: String, home: &str| PageContent {
        canonical: Some(url(home)),
        ..words(&format!("{home}{number}"), number, "Report", &body)
    };
    // Every page of this site declares its home page as canonical.
    let mut pages = vec![words("http://a.example/", 9, "Home", &prose("welcome"))];
    pages.extend((0..30).map(|n| naming(n, prose(&format!("a{n}x")), "http://a.example/")));
    // Half of each page is in the page that it declares as canonical: at most 100 become variants of it.
    let target = prose("common");
    let half = &target[..target.len() / 2];
    pages.push(words("http://b.example/", 999, "Report", &target));
    pages.extend((0..130).map(|n| {
        naming(n, format!("{half}{}", &prose(&format!("b{n}x"))[..half.len()]), "http://b.example/")
    }));
    builder.add_texts(pages).unwrap();
    let (relations, _) = builder.finish(LibraryPositions::START, 0).unwrap();
    let number = |address: &str| relations.number(url(address).id()).unwrap();
    assert_eq!(relations.representative(number("http://a.example/")), None);
    assert_eq!(relations.representative(number("http://a.example/7")), None);
    let group = relations.group(number("http://b.example/")).unwrap();
    assert_eq!((group.representative, group.members.len()), (number("http://b.example/"), 100));
    assert_eq!(relations.groups().len(), 1);
}

#[test]
fn links_to_a_variant_are_links_to_the_page_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    let text = prose("lamp");
    let naming = |address: &str, other: &str| PageContent {
        canonical: Some(url(other)),
        ..words(address, 1, "Lamps", &text)
    };
    let [lamps, print, mail] =
        ["http://a.example/lamps", "http://a.example/lamps?print", "http://a.example/mail"];
    builder
        .add_texts(vec![
            words(lamps, 5, "Lamps", &text),
            naming(print, lamps),
            naming(mail, print),
            // A cycle, and a page of another domain: each represents itself.
            naming("http://a.example/1", "http://a.example/2"),
            naming("http://a.example/2", "http://a.example/1"),
            naming("http://b.example/lamps", lamps),
        ])
        .unwrap();
    for (from, to) in [
        ("http://c.example/1", print),
        ("http://c.example/2", mail),
        ("http://c.example/2", lamps),
        ("http://c.example/3", "http://b.example/lamps"),
        ("http://c.example/4", "http://a.example/1"),
        (print, print),
        (print, lamps),
    ] {
        builder.add_link(&url(from), &url(to), "lamps").unwrap();
    }
    assert!(matches!(builder.add_texts(Vec::new()), Err(GraphError::TextsAfterLinks)));
    let (relations, _) = builder.finish(LibraryPositions::START, 0).unwrap();
    let counts = |address: &str| relations.counts(relations.number(url(address).id()).unwrap());
    assert_eq!((counts(lamps).raw_link_hits, counts(lamps).link_hits), (3, 2));
    assert_eq!((counts(print).raw_link_hits, counts(mail).raw_link_hits), (0, 0));
    assert_eq!(counts("http://b.example/lamps").raw_link_hits, 1);
    assert_eq!(counts("http://a.example/1").raw_link_hits, 1);
}

#[test]
fn addresses_of_one_document_are_counted_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    let text = prose("lamp");
    let [first, copy] = ["http://a.example/lamps", "http://b.example/lamps"];
    builder.add_texts(vec![words(first, 1, "Lamps", &text), words(copy, 2, "Lamps", &text)]).unwrap();
    for (from, to) in [
        ("http://a.example/", first),
        // A link from the domain of one URL and a link from another domain to the other: both count, the source
        // page once.
        ("http://a.example/", copy),
        ("http://c.example/1", first),
        ("http://c.example/2", copy),
        ("http://d.example/", first),
        ("http://d.example/", copy),
        (first, copy),
        (copy, first),
    ] {
        builder.add_link(&url(from), &url(to), "").unwrap();
    }
    let (relations, _) = builder.finish(LibraryPositions::START, 0).unwrap();
    let [first, copy] = [first, copy].map(|address| relations.number(url(address).id()).unwrap());
    let both = relations.merged_metrics(&[first, copy]);
    let rank = |page: u32| relations.page_ranks()[page as usize];
    assert_eq!(both.page_rank, rank(first) + rank(copy));
    let LinkCounts { out_degree, raw_link_hits, link_hits, linking_domains } = both.counts;
    assert_eq!((out_degree, raw_link_hits, link_hits, linking_domains), (1, 4, 4, 3));
    assert_eq!(relations.merged_metrics(&[first]).counts, relations.counts(first));
    assert_eq!(both.link_weight, relations.link_weight(first).max(relations.link_weight(copy)));
}

#[test]
fn newer_relations_take_the_place_of_older_ones_and_begin_with_their_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let build = || {
        let mut builder = builder(folder.path());
        for page in 0..50 {
            let from = url(&format!("http://a.example/{page}"));
            builder.add_link(&from, &url(&format!("http://a.example/{}", page * 7 % 50)), "").unwrap();
            builder.add_link(&from, &url("http://b.example/"), "").unwrap();
        }
        builder.finish(LibraryPositions::START, 0).unwrap().1
    };
    // Left behind by a killed process.
    fs::create_dir(folder.path().join("building-dead")).unwrap();
    let first = build();
    let old = Relations::open(folder.path()).unwrap();
    let second = build();
    assert!(second.rounds < first.rounds);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(old.url(0).unwrap(), "http://a.example/0", "readers of the old build can continue");
}

#[test]
fn a_power_cut_leaves_one_complete_build() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..2 {
        let build = || {
            let mut builder = builder(folder.path());
            for page in 0..5 {
                let from = url(&format!("http://a.example/{page}"));
                builder.add_link(&from, &url("http://b.example/"), "lamp").unwrap();
            }
            builder.finish(LibraryPositions::START, round).unwrap();
        };
        let has_build = |files: &pharos_files::power_cut::Files| {
            let builds = files.keys().filter(|path| !path.starts_with("building-") && path.ends_with(TABLES));
            round == 0 || builds.count() > 0
        };
        pharos_files::power_cut::check_with(folder.path(), build, has_build).unwrap();
    }
}

#[test]
fn single_pages_are_looked_up_without_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    assert!(RelationsLookup::open(folder.path()).unwrap().is_none());
    let mut builder = builder(folder.path());
    let text = prose("lamp");
    builder
        .add_texts(vec![
            words("http://a.example/lamps", 7, "Lamps", &text),
            words("http://b.example/lamps", 8, "Lamps", &text),
        ])
        .unwrap();
    builder
        .add_link(&url("http://c.example/"), &url("http://b.example/lamps"), "where keepers sleep")
        .unwrap();
    builder.finish(LibraryPositions::START, 0).unwrap();
    let lookup = RelationsLookup::open(folder.path()).unwrap().unwrap();
    let known = lookup.page(url("http://b.example/lamps").id()).unwrap().unwrap();
    assert_eq!((known.group, known.text_hash), (url("http://a.example/lamps").id(), 8));
    assert_eq!(known.anchors[0].text, "where keepers sleep");
    let alone = lookup.page(url("http://c.example/").id()).unwrap().unwrap();
    assert_eq!(
        alone,
        PageRelations { group: url("http://c.example/").id(), text_hash: 0, anchors: Vec::new() }
    );
    assert_eq!(lookup.page(url("http://d.example/").id()).unwrap(), None);
    assert!(lookup.is_newest(folder.path()));
    RelationsBuilder::begin(folder.path(), RelationsOptions::default())
        .unwrap()
        .finish(LibraryPositions::START, 0)
        .unwrap();
    assert!(!lookup.is_newest(folder.path()));
    assert_eq!(
        lookup.page(url("http://b.example/lamps").id()).unwrap(),
        Some(known),
        "readers of the old build can continue"
    );
}

#[test]
fn rules_with_which_nothing_can_be_computed_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for damping in [1.0, -0.1, f64::NAN] {
        let rank = crate::rank::pagerank::PageRankOptions { damping, ..Default::default() };
        let options = RelationsOptions { rank, ..RelationsOptions::default() };
        assert!(matches!(
            RelationsBuilder::begin(folder.path(), options),
            Err(GraphError::InvalidOption { .. })
        ));
    }
}

#[test]
fn missing_and_damaged_tables_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Relations::open(folder.path()), Err(GraphError::NotBuilt { .. })));
    assert!(matches!(Relations::open(&folder.path().join("absent")), Err(GraphError::NotBuilt { .. })));
    let mut builder = builder(folder.path());
    builder
        .add_texts((0..4).map(|n| words(&format!("http://a.example/{n}"), n, "T", &prose("x"))).collect())
        .unwrap();
    builder.add_link(&url("http://a.example/1"), &url("http://a.example/2"), "two").unwrap();
    builder.finish(LibraryPositions::START, 0).unwrap();
    let file = folder.path().join("00000001").join(TABLES);
    let good = fs::read(&file).unwrap();
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 0x55;
        fs::write(&file, &bad).unwrap();
        // Byte 21 is the window size in the frame header; other values decode to the same data.
        assert!(Relations::open(folder.path()).is_err() || place == 21, "byte {place}");
        fs::write(&file, &good[..place]).unwrap();
        assert!(Relations::open(folder.path()).is_err(), "truncated at {place}");
    }
    fs::write(&file, &good).unwrap();
    Relations::open(folder.path()).unwrap();
}

#[test]
fn a_flipped_byte_in_any_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = builder(folder.path());
    builder.add_link(&url("http://a.example/"), &url("http://b.example/"), "the harbour").unwrap();
    builder.finish(LibraryPositions::START, 0).unwrap();
    verify(folder.path()).unwrap();
    let build = newest_folder(folder.path()).unwrap().unwrap();
    let files: Vec<PathBuf> = fs::read_dir(&build).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 5);
    for path in &files {
        let whole = fs::read(path).unwrap();
        for place in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            fs::write(path, &bytes).unwrap();
            let error = verify(folder.path()).unwrap_err();
            assert!(matches!(error, GraphError::Unusable { .. }), "{} {place}: {error}", path.display());
        }
        fs::write(path, &whole).unwrap();
    }
    verify(folder.path()).unwrap();
    // Earlier releases wrote no checksums.
    fs::remove_file(build.join("checksums")).unwrap();
    verify(folder.path()).unwrap();
    Relations::open(folder.path()).unwrap();
}
