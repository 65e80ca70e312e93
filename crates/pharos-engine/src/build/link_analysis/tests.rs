//! Tests from records in a library to features in the index.

use pharos_index::Query;
use pharos_store::{LibraryEvent, LibraryRecord, RawResponse, RecordContent};
use tokio::sync::watch;

use super::*;
use crate::stores::test_stores;
use crate::{Engine, build_history, compact};

fn url(address: &str) -> PageUrl {
    PageUrl::parse(&format!("http://{address}")).unwrap()
}

fn page(address: &str, second: i64, html: &str) -> LibraryRecord {
    let headers = vec![("Content-Type".to_string(), "text/html; charset=utf-8".to_string())];
    let response = RawResponse { status: 200, headers, body: html.into(), ..RawResponse::default() };
    LibraryRecord::new(url(address), Timestamp::from_millis(second * 1000), RecordContent::Response(response))
}

fn ingest(data: &DataDir, records: Vec<LibraryRecord>) {
    let engine = Engine::open(data.clone(), Config::default(), "up", true).unwrap();
    let (_stop, never) = watch::channel(false);
    let mut ingest = engine.ingest(&never).unwrap();
    ingest.append(records).unwrap();
    ingest.finish().unwrap();
}

fn find(data: &DataDir, words: &str) -> Vec<String> {
    let view = test_stores(data).index().unwrap().view().unwrap();
    let tokens = Analyser::shared().tokens(words);
    let query = Query::And(tokens.into_iter().map(|token| Query::Word(token.text)).collect());
    let found = view.search_addresses(&query, 10).unwrap().candidates;
    view.result_fields(&found).unwrap().into_iter().map(|card| card.url).collect()
}

fn figures(data: &DataDir, address: &str) -> LinkFigures {
    let index = test_stores(data).index().unwrap();
    index.view().unwrap().link_figures_of(url(address).id()).unwrap().unwrap()
}

fn prose(about: &str) -> String {
    (0..60).map(|number| format!("{about} {number} stands near {about} {}. ", number * 7)).collect()
}

const JOURNAL: &str = "<title>首页</title><h1>欢迎</h1><p>本刊登载各学科的论文，按季出版，欢迎各界人士来稿。";

#[test]
fn a_page_is_found_by_what_only_others_call_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::at(dir.path().join("data"));
    let links = "<title>期刊</title><p>推荐的几种期刊：<a href=http://journal.example/>北大学报</a>";
    ingest(&data, vec![page("journal.example/", 1, JOURNAL), page("list.example/", 2, links)]);
    assert_eq!(find(&data, "北大学报"), ["http://list.example/"]);
    build_history(&data, &Config::default(), false, |_| true).unwrap();
    let mut found = find(&data, "北大学报");
    found.sort();
    assert_eq!(found, ["http://journal.example/", "http://list.example/"]);
    // Fetched again with other text: the anchor is still indexed.
    let changed = JOURNAL.replace("按季出版", "每年出版四期");
    ingest(&data, vec![page("journal.example/", 3, &changed)]);
    assert!(find(&data, "北大学报").contains(&"http://journal.example/".to_string()));
}

#[test]
fn the_index_holds_the_link_features_of_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::at(dir.path().join("data"));
    let lamps = format!("<title>Lamps</title><p>{}", prose("lamp"));
    let link = |to: &str| format!("<p>{} <a href=http://{to}>lamps of the coast</a>", prose("see"));
    ingest(
        &data,
        vec![
            page("www.first.example/a/lamps", 1, &lamps),
            page("copy.example/lamps", 2, &lamps),
            page("one.example/", 3, &format!("<title>One</title>{}", link("www.first.example/a/lamps"))),
            page("two.example/", 4, &format!("<title>Two</title>{}", link("copy.example/lamps"))),
            page("copy.example/", 5, &format!("<title>Three</title>{}", link("copy.example/lamps"))),
        ],
    );
    build_history(&data, &Config::default(), false, |_| true).unwrap();
    let relations = Relations::open(&data.graph()).unwrap();
    let number = |address: &str| relations.number(url(address).id()).unwrap();
    let [first, copy] = ["www.first.example/a/lamps", "copy.example/lamps"].map(number);
    let rank = |page: u32| relations.page_ranks()[page as usize];
    let found = figures(&data, "www.first.example/a/lamps");
    assert_eq!(found.page_rank, (rank(first) + rank(copy)) as f32, "sum over both URLs");
    assert_eq!((found.in_degree, found.link_hits, found.linking_domains), (3, 2, 2));
    assert_eq!((found.mirror_degree, found.out_degree), (1, 0));
    assert_eq!(found.site_rank, relations.site_ranks()[relations.site(first) as usize] as f32);
    assert_eq!(found.link_weight, relations.link_weight(first).max(relations.link_weight(copy)));
    let of_address = url("www.first.example/a/lamps");
    let depths = (of_address.domain_depth() as u32, of_address.directory_depth() as u32);
    assert_eq!((found.domain_depth, found.directory_depth), depths);
    assert_eq!(figures(&data, "one.example/").out_degree, 1);

    // The copy is fetched again: combined features stay, depths are those of its own URL.
    ingest(&data, vec![page("copy.example/lamps", 6, &lamps)]);
    let again = figures(&data, "copy.example/lamps");
    let of_address = url("copy.example/lamps");
    let depths = (of_address.domain_depth() as u32, of_address.directory_depth() as u32);
    assert_eq!((again.in_degree, again.domain_depth, again.directory_depth), (3, depths.0, depths.1));
    let view = test_stores(&data).index().unwrap().view().unwrap();
    let all = view.search_addresses(&Query::All, 10).unwrap().candidates;
    let signatures = view.signatures(&all).unwrap();
    let groups: Vec<_> = all
        .iter()
        .zip(signatures)
        .filter(|(candidate, _)| [first, copy].map(|page| relations.id(page)).contains(&candidate.page))
        .map(|(_, signatures)| signatures.group)
        .collect();
    assert_eq!(groups, [Some(relations.id(first)); 2], "unchanged text stays in its group");
}

#[test]
fn removed_pages_are_hidden_and_dropped_by_the_next_compaction() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::at(dir.path().join("data"));
    let lamps = format!("<title>Lamps</title><p>{}", prose("lamp"));
    let linking = "<title>List</title><p>A list of lamps: <a href=http://a.example/lamps>old lamps</a>";
    ingest(
        &data,
        vec![
            page("a.example/lamps", 1, &lamps),
            page("b.example/lamps", 2, &lamps),
            page("c.example/lamps", 3, &lamps),
            page("d.example/", 4, linking),
        ],
    );
    build_graph(&data, &Config::default(), |_| true).unwrap();
    let removed = |what: Removal, address: &str| {
        LibraryRecord::new(
            url(address),
            Timestamp::from_millis(9000),
            RecordContent::Event(LibraryEvent::Removed { what }),
        )
    };
    ingest(&data, vec![removed(Removal::Page(url("a.example/lamps")), "a.example/lamps")]);
    let number = |relations: &Relations, address: &str| relations.number(url(address).id());
    let relations = open_relations(&test_stores(&data)).unwrap();
    assert_eq!(number(&relations, "a.example/lamps"), None);
    let [b, c] = ["b.example/lamps", "c.example/lamps"].map(|page| number(&relations, page).unwrap());
    assert_eq!((relations.representative(c), relations.mirror_degree(b)), (Some(b), 1));
    ingest(&data, vec![removed(Removal::Site(url("c.example/").site()), "c.example/")]);
    let relations = open_relations(&test_stores(&data)).unwrap();
    assert_eq!((number(&relations, "c.example/lamps"), relations.representative(b)), (None, None));

    compact(&data, &Config::default(), |_| true).unwrap();
    assert!(Relations::open(&data.graph()).is_err(), "it contained removed pages");
    // Links to removed pages are ignored, and the new results are kept.
    build_graph(&data, &Config::default(), |_| true).unwrap();
    let relations = Relations::open(&data.graph()).unwrap();
    assert_eq!(number(&relations, "a.example/lamps"), None);
    assert!(!relations.library_positions().is_start());
    compact(&data, &Config::default(), |_| true).unwrap();
    assert!(Relations::open(&data.graph()).is_ok());
}

#[test]
fn bad_settings_are_refused_before_the_library_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::at(dir.path().join("data"));
    let mut config = Config::default();
    config.graph.damping = 1.5;
    let nothing_read = |_| panic!("the library was read");
    let refused = build_graph(&data, &config, nothing_read).unwrap_err().to_string();
    assert!(refused.contains("invalid damping 1.5"), "{refused}");
    assert!(build_history(&data, &config, false, nothing_read).is_err());
    assert!(!data.root().exists());
}
