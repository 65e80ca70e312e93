//! Exact copies: one document with several URLs, each of which may change or be deleted separately.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_index::document::MAX_COPIES;
use pharos_index::{
    EmbeddedIndex, GenerationalIndex as _, Index, IndexChange, IndexDocument, IndexView, LinkFigures,
    PageCopy, Query, RetrievalRequest,
};

fn url(text: &str) -> PageUrl {
    PageUrl::parse(&format!("http://{text}")).unwrap()
}

fn at(offset: u64) -> LibraryPosition {
    LibraryPosition::new(1, offset)
}

fn copy(address: &str, offset: u64) -> PageCopy {
    PageCopy { url: url(address), position: at(offset), fetched: Timestamp::from_millis(offset as i64) }
}

fn page(address: &str, body: &str, copies: Vec<PageCopy>) -> IndexDocument {
    IndexDocument { body: body.into(), position: at(1), copies, ..IndexDocument::new(url(address)) }
}

/// Creates an index whose history contains these pages, with an empty open latest generation.
fn index(dir: &Path, pages: &[IndexDocument]) -> EmbeddedIndex {
    let index = EmbeddedIndex::open_writer(dir, 16 << 20, 1 << 20).unwrap();
    let _builder = index.generations().lock_builder().unwrap();
    index.commit(&at(1).into()).unwrap();
    index.seal().unwrap();
    let mut history = index.generations().build_directory().begin(1, 16 << 20, 1 << 20).unwrap();
    pages.iter().for_each(|page| history.add(page).unwrap());
    let history = history.finish(at(1).into()).unwrap();
    index.generations().install(history).unwrap();
    index.commit(&at(2).into()).unwrap();
    index
}

/// Creates an index with one page at three URLs, and one other page.
fn example(dir: &Path) -> EmbeddedIndex {
    let copies = vec![copy("www.b.example/copy", 20), copy("c.example:8080/copy", 30)];
    index(
        dir,
        &[page("a.example/", "lighthouse keeper", copies), page("b.example/other", "lighthouse", vec![])],
    )
}

fn change(index: &EmbeddedIndex, changes: Vec<IndexChange>) -> Arc<dyn IndexView> {
    index.apply(changes).unwrap();
    index.commit(&at(9).into()).unwrap();
    index.view().unwrap()
}

fn gone(address: &str) -> IndexChange {
    IndexChange::Gone(url(address).id())
}

/// Returns the URLs that a query shows, each with its number of hidden copies, in alphabetical order.
fn shown(view: &dyn IndexView, query: &Query) -> Vec<String> {
    let found = view.search(query, 100).unwrap();
    assert_eq!(found.total as usize, found.candidates.len());
    let stored = view.result_fields(&found.candidates).unwrap();
    let mut shown: Vec<String> = found
        .candidates
        .iter()
        .zip(stored)
        .map(|(candidate, page)| {
            assert_eq!(PageUrl::parse(&page.url).unwrap().id(), candidate.page);
            format!("{} +{}", page.url.replace("http://", ""), candidate.copies)
        })
        .collect();
    shown.sort();
    shown
}

fn keeper() -> Query {
    Query::Word("keeper".into())
}

fn site(host: &str) -> Query {
    Query::And(vec![keeper(), Query::Site(host.into())])
}

fn not_site(host: &str) -> Query {
    Query::And(vec![keeper(), Query::Not(Box::new(Query::Site(host.into())))])
}

#[test]
fn copies_are_one_page_and_each_address_finds_it() {
    let dir = tempfile::tempdir().unwrap();
    let view = example(dir.path()).view().unwrap();
    assert_eq!(view.pages().unwrap(), 2);
    assert_eq!(shown(&*view, &keeper()), ["a.example/ +2"]);
    let stored = view.page(url("c.example:8080/copy").id()).unwrap().unwrap();
    assert_eq!((stored.fields.url.as_str(), stored.fields.position), ("http://c.example:8080/copy", at(30)));
    assert_eq!(
        (stored.fields.fetched, stored.text.body.as_str()),
        (Timestamp::from_millis(30), "lighthouse keeper")
    );
    assert_eq!(view.page(url("c.example/copy").id()).unwrap(), None);

    let all = view.search_addresses(&keeper(), 2).unwrap();
    assert_eq!((all.total, all.candidates.len()), (3, 2));
}

#[test]
fn a_page_is_shown_at_an_address_that_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let index = example(dir.path());
    let a_gone = change(&index, vec![gone("a.example/")]);
    assert_eq!(shown(&*a_gone, &keeper()), ["www.b.example/copy +1"]);
    assert_eq!(a_gone.page(url("a.example/").id()).unwrap(), None);
    assert!(a_gone.page(url("www.b.example/copy").id()).unwrap().is_some());

    let changed = page("www.b.example/copy", "keeper of its own now", vec![]);
    let changed = change(&index, vec![IndexChange::Put(Box::new(changed))]);
    assert_eq!(shown(&*changed, &keeper()), ["c.example:8080/copy +0", "www.b.example/copy +0"]);
    assert_eq!(changed.pages().unwrap(), 3);
    assert_eq!(shown(&*changed, &site("a.example")), [""; 0]);

    let none = change(&index, vec![gone("c.example:8080/copy"), gone("www.b.example/copy")]);
    assert_eq!(shown(&*none, &keeper()), [""; 0]);
    assert_eq!((none.pages().unwrap(), none.search_addresses(&Query::All, 9).unwrap().total), (1, 1));
    assert_eq!(shown(&*a_gone, &keeper()), ["www.b.example/copy +1"], "a view never changes");
}

#[test]
fn a_site_is_asked_of_each_address() {
    let dir = tempfile::tempdir().unwrap();
    let index = example(dir.path());
    let view = index.view().unwrap();
    assert_eq!(shown(&*view, &site("b.example")), ["www.b.example/copy +0"]);
    assert_eq!(shown(&*view, &site("c.example")), ["c.example:8080/copy +0"]);
    assert_eq!(shown(&*view, &site("c.example:8080")), ["c.example:8080/copy +0"]);
    assert_eq!(shown(&*view, &site("example")), ["a.example/ +2"]);
    assert_eq!(shown(&*view, &site("c.example:80")), [""; 0]);
    assert_eq!(shown(&*view, &not_site("a.example")), ["www.b.example/copy +1"]);
    assert_eq!(shown(&*view, &not_site("example")), [""; 0]);
    let both = Query::And(vec![site("a.example"), Query::Site("www.b.example".into())]);
    assert_eq!(shown(&*view, &both), [""; 0], "no address belongs to both");
    let b_gone = change(&index, vec![gone("www.b.example/copy")]);
    assert_eq!(shown(&*b_gone, &site("b.example")), [""; 0]);
    assert_eq!(shown(&*b_gone, &not_site("b.example")), ["a.example/ +1"]);
    let other = Query::And(vec![Query::Word("lighthouse".into()), Query::Site("b.example".into())]);
    assert_eq!(shown(&*b_gone, &other), ["b.example/other +0"]);
}

#[test]
fn a_thousand_copies_are_kept_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let copies: Vec<PageCopy> = (0..1_200).map(|n| copy(&format!("s{n}.example/"), n)).collect();
    let index = index(dir.path(), &[page("a.example/", "keeper", copies)]);
    let view = index.view().unwrap();
    assert_eq!(shown(&*view, &keeper()), [format!("a.example/ +{MAX_COPIES}")]);
    assert_eq!(view.search_addresses(&keeper(), usize::MAX).unwrap().candidates.len(), MAX_COPIES + 1);
    let stored = |n: usize| view.page(url(&format!("s{n}.example/")).id()).unwrap();
    assert_eq!(stored(MAX_COPIES - 1).unwrap().fields.position, at(MAX_COPIES as u64 - 1));
    assert_eq!(stored(MAX_COPIES), None);
    assert_eq!(shown(&*view, &site("s998.example")), ["s998.example/ +0"]);
}

#[test]
fn latest_has_every_address_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap();
    let with_copy = page("a.example/", "keeper", vec![copy("b.example/", 2)]);
    let view = change(&index, vec![IndexChange::Put(Box::new(with_copy))]);
    assert_eq!(shown(&*view, &keeper()), ["a.example/ +0"]);
    assert_eq!(view.page(url("b.example/").id()).unwrap(), None);
}

#[test]
fn figures_and_likeness_come_back_as_they_went_in() {
    let dir = tempfile::tempdir().unwrap();
    let link_figures = LinkFigures {
        page_rank: 1.5,
        site_rank: 0.25,
        link_weight: 0.125,
        in_degree: 7,
        out_degree: 6,
        link_hits: 5,
        linking_domains: 4,
        mirror_degree: 3,
        domain_depth: 2,
        directory_depth: u32::MAX,
    };
    let known = IndexDocument {
        link_figures,
        group: Some(url("b.example/").id()),
        signature: Some([7; 132].into()),
        ..page("a.example/", "keeper", vec![copy("b.example/", 2)])
    };
    let too_long = IndexDocument { signature: Some([7; 257].into()), ..page("c.example/", "keeper", vec![]) };
    let index = index(dir.path(), &[known.clone(), too_long]);
    let view = index.view().unwrap();
    let mut found = view.search(&keeper(), 9).unwrap().candidates;
    found.sort_by_key(|candidate| candidate.page != known.url.id());
    assert_eq!(view.link_figures(&found).unwrap(), [link_figures, LinkFigures::default()]);
    let signatures = view.signatures(&found).unwrap();
    assert_eq!((signatures[0].group, &signatures[0].signature), (known.group, &known.signature));
    assert_eq!(signatures[1], Default::default());

    assert_eq!(
        view.link_figures_of(url("b.example/").id()).unwrap(),
        Some(link_figures),
        "a copy has the figures of its page"
    );
    assert_eq!(view.link_figures_of(url("d.example/").id()).unwrap(), None);
    let gone = change(&index, vec![gone("a.example/")]);
    assert_eq!(gone.link_figures_of(url("a.example/").id()).unwrap(), None);
}

#[test]
fn copies_keep_their_order_when_segments_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap();
    let _builder = index.generations().lock_builder().unwrap();
    // Eight threads produce several segments to merge.
    let mut history = index.generations().build_directory().begin(8, 16 << 20, 1 << 20).unwrap();
    let address = |n: u64, c: u64| format!("s{}.example/{n}-{c}", (n * 7 + c * 5) % 11);
    for n in 0..400 {
        let copies = (1..=n % 4).map(|c| copy(&address(n, c), 10 * n + c)).collect();
        history.add(&page(&address(n, 0), "keeper", copies)).unwrap();
    }
    index.generations().install(history.finish(at(1).into()).unwrap()).unwrap();
    let view = index.view().unwrap();
    for (n, c) in (0..400).flat_map(|n| (1..=n % 4).map(move |c| (n, c))) {
        let stored = view.page(url(&address(n, c)).id()).unwrap().unwrap().fields;
        assert_eq!((stored.url, stored.position), (url(&address(n, c)).to_string(), at(10 * n + c)));
    }
    for host in (0..11).map(|n| format!("s{n}.example")) {
        let found = view.search(&site(&host), 1_000).unwrap();
        for page in view.result_fields(&found.candidates).unwrap() {
            assert!(page.url.starts_with(&format!("http://{host}/")), "{} is not of {host}", page.url);
        }
    }
}

#[test]
fn what_history_gave_is_renewed_at_the_address_that_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let index = example(dir.path());
    let query = keeper();
    let [first, every] = [false, true]
        .map(|every_address| RetrievalRequest { every_address, ..RetrievalRequest::new(&query, 9) });
    let before = index.view().unwrap();
    let had = [&first, &every].map(|asked| before.retrieve(asked).unwrap().candidates);
    assert_eq!((had[0].len(), had[0][0].copies, had[1].len()), (1, 2, 3));
    let now = change(&index, vec![gone("a.example/")]);
    let renewed = now.refresh_candidates(&first, &had[0]).unwrap()[0].unwrap();
    assert_eq!((renewed.page, renewed.copies), (url("www.b.example/copy").id(), 1));
    assert_eq!(now.retrieve(&first).unwrap().candidates[0].page, renewed.page);
    assert_eq!(now.refresh_candidates(&every, &had[1]).unwrap().into_iter().flatten().count(), 2);
    let now = change(&index, vec![gone("www.b.example/copy"), gone("c.example:8080/copy")]);
    assert_eq!(now.refresh_candidates(&first, &had[0]).unwrap(), [None]);
}
