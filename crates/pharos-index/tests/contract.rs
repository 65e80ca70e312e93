//! What every [`Index`] promises, tried on the embedded one.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use pharos_core::{LibraryPosition, PageUrl};
use pharos_index::{Change, Document, EmbeddedIndex, HistoryBuilder, Index, Query, Snapshot, Wish};

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://www.example.org{path}")).unwrap()
}

fn at(offset: u64) -> LibraryPosition {
    LibraryPosition { file: 1, offset }
}

fn document(path: &str, title: &str, body: &str) -> Document {
    Document {
        title: title.into(),
        body: body.into(),
        lang: "en".into(),
        position: at(1),
        ..Document::new(url(path))
    }
}

fn put(path: &str, title: &str, body: &str) -> Change {
    Change::Put(Box::new(document(path, title, body)))
}

fn open(dir: &Path) -> EmbeddedIndex {
    EmbeddedIndex::open_writer(dir, 16 << 20, 1 << 20).unwrap()
}

fn paths(snapshot: &dyn Snapshot, query: &Query) -> Vec<String> {
    let found = snapshot.search(query, 100).unwrap();
    assert_eq!(found.total as usize, found.candidates.len());
    let stored = snapshot.stored(&found.candidates).unwrap();
    stored.iter().map(|p| PageUrl::parse(&p.url).unwrap().path_and_query().to_string()).collect()
}

fn word(word: &str) -> Query {
    Query::Word(word.into())
}

#[test]
fn changes_are_seen_after_the_commit_and_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    assert_eq!(index.absorbed().unwrap(), LibraryPosition::START);
    index.apply(vec![put("/a", "Lighthouse", "on the rock"), put("/b", "Tea", "green tea")]).unwrap();
    assert!(paths(&*index.snapshot().unwrap(), &word("tea")).is_empty());
    index.commit(at(50)).unwrap();
    let old = index.snapshot().unwrap();
    assert_eq!(paths(&*old, &word("tea")), ["/b"]);
    assert_eq!(old.pages().unwrap(), 2);

    index.apply(vec![put("/a", "Lighthouse", "tea on the rock"), Change::Gone(url("/b").id())]).unwrap();
    index.commit(at(90)).unwrap();
    let new = index.snapshot().unwrap();
    assert_eq!(paths(&*new, &word("tea")), ["/a"]);
    assert_eq!(paths(&*old, &word("tea")), ["/b"], "a snapshot never changes");
    assert_ne!(new.generation(), old.generation());

    index.apply(vec![put("/c", "Never", "committed tea")]).unwrap();
    drop(index);
    let index = open(dir.path());
    assert_eq!(index.absorbed().unwrap(), at(90));
    assert_eq!(paths(&*index.snapshot().unwrap(), &word("tea")), ["/a"]);
    let reader = EmbeddedIndex::open_reader(dir.path()).unwrap();
    assert_eq!(paths(&*reader.snapshot().unwrap(), &Query::All), ["/a"]);
    assert!(reader.apply(vec![]).is_err() && reader.commit(at(1)).is_err());
}

#[test]
fn the_query_language_means_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    let mut anchored = document("/d", "Silent", "nothing here");
    anchored.anchors = vec!["bright beacon".into()];
    index
        .apply(vec![
            put("/a", "Red lighthouse", "the keeper reads books"),
            put("/b", "Blue lighthouse", "books the keeper reads"),
            put("/c", "北京大学的灯塔", "研究生命题"),
            Change::Put(Box::new(anchored)),
        ])
        .unwrap();
    index.commit(at(9)).unwrap();
    let snapshot = index.snapshot().unwrap();
    let ask = |query: Query| {
        let mut found = paths(&*snapshot, &query);
        found.sort();
        found
    };
    let phrase = |words: &[&str]| Query::Phrase((0..).zip(words).map(|(i, w)| (i, w.to_string())).collect());
    assert_eq!(ask(Query::And(vec![word("lighthouse"), word("books")])), ["/a", "/b"]);
    assert_eq!(ask(phrase(&["reads", "books"])), ["/a"]);
    assert_eq!(ask(Query::And(vec![word("lighthouse"), Query::Not(Box::new(word("red")))])), ["/b"]);
    assert_eq!(ask(Query::Not(Box::new(word("lighthouse")))), ["/c", "/d"]);
    assert_eq!(ask(Query::Or(vec![word("red"), word("beacon")])), ["/a", "/d"]);
    assert_eq!(ask(word("生命")), ["/c"], "a word hidden by the best cut is found");
    assert_eq!(ask(Query::Site("example.org".into())).len(), 4);
    assert_eq!(ask(Query::Site("ample.org".into())).len(), 0);
    assert_eq!(ask(Query::And(vec![Query::Site("www.example.org".into()), word("red")])), ["/a"]);
    assert_eq!(ask(phrase(&[])), Vec::<String>::new());
    assert_eq!(snapshot.page(url("/b").id()).unwrap().unwrap().title, "Blue lighthouse");
    assert_eq!(snapshot.page(url("/none").id()).unwrap(), None);
}

/// The whole life of a generation: seal, build, switch, while pages change; nothing twice, nothing lost, and a page
/// has the same score whichever member holds it.
#[test]
fn a_build_replaces_history_without_anybody_noticing() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    let reader = EmbeddedIndex::open_reader(dir.path()).unwrap();
    index
        .apply((0..20).map(|n| put(&format!("/{n}"), &format!("Page {n}"), "common words")).collect())
        .unwrap();
    index.commit(at(100)).unwrap();
    let before = index.snapshot().unwrap().search(&word("common"), 100).unwrap();

    let generations = index.generations().clone();
    let _builder = generations.lock_builder().unwrap();
    generations.wish(Wish::Seal(1)).unwrap();
    assert_eq!(index.fulfil_wish().unwrap(), Some(Wish::Seal(1)));
    assert_eq!(index.fulfil_wish().unwrap(), None);
    assert_eq!(index.absorbed().unwrap(), at(100));

    // Meanwhile one page changes, one goes, one comes.
    index
        .apply(vec![
            put("/3", "Page 3", "other words"),
            Change::Gone(url("/4").id()),
            put("/new", "New", "common words"),
        ])
        .unwrap();
    index.commit(at(200)).unwrap();
    let expected = paths(&*index.snapshot().unwrap(), &word("common"));
    assert_eq!(expected.len(), 19);

    let mut history = HistoryBuilder::begin(&generations, 2, 32 << 20, 1 << 20).unwrap();
    for n in 0..20 {
        history.add(&document(&format!("/{n}"), &format!("Page {n}"), "common words")).unwrap();
    }
    let history = history.finish(at(100)).unwrap();
    generations.wish(Wish::Install(history)).unwrap();
    index.fulfil_wish().unwrap();

    for index in [&index, &reader] {
        std::thread::sleep(std::time::Duration::from_millis(250));
        let snapshot = index.snapshot().unwrap();
        let mut now = paths(&*snapshot, &word("common"));
        let mut then = expected.clone();
        now.sort();
        then.sort();
        assert_eq!(now, then);
        assert_eq!(snapshot.pages().unwrap(), 20);
        assert_eq!(snapshot.page(url("/4").id()).unwrap(), None, "gone, although history has it");
        assert_eq!(snapshot.page(url("/3").id()).unwrap().unwrap().body, "other words");
    }
    assert!(!dir.path().join("latest-1").exists());

    let index = {
        drop(index);
        open(dir.path())
    };
    assert_eq!(index.absorbed().unwrap(), at(200));
    let score = |found: &pharos_index::Found, path: &str| {
        found.candidates.iter().find(|c| c.page == url(path).id()).map(|c| c.score)
    };
    let after = index.snapshot().unwrap().search(&word("common"), 100).unwrap();
    assert_eq!(score(&after, "/7"), score(&after, "/8"));
    assert!(score(&before, "/7").is_some());
    let (old, new) = (score(&after, "/7").unwrap(), score(&after, "/new").unwrap());
    assert!((old - new).abs() < 1e-6, "history scores {old}, latest {new} for the same text");
}

#[test]
fn a_monstrous_page_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1000).unwrap();
    index.apply(vec![put("/", &"灯塔".repeat(9000), &format!("{} lost", "x".repeat(100_000)))]).unwrap();
    index.commit(at(1)).unwrap();
    let snapshot = index.snapshot().unwrap();
    let stored = snapshot.page(url("/").id()).unwrap().unwrap();
    assert!(stored.title.len() <= 1000 && stored.body.len() <= 1000);
    assert!(paths(&*snapshot, &word("lost")).is_empty());
}
