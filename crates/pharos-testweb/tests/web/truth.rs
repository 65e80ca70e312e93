//! Compares the truth with the responses of the server.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use crate::copies;
use crate::visitor::{Client, follow, links};
use pharos_testweb::{
    Charset, CharsetDeclaration, PageKind, START, ServeOptions, Server, TruePage, Web, WebSpec,
};

fn spec() -> WebSpec {
    WebSpec { seed: 7, hosts: 8, pages: 800, median_words: 60.0, ..WebSpec::default() }
}

async fn serve(web: Web) -> Server {
    Server::start(web, ServeOptions::default()).await.expect("a free port")
}

#[tokio::test]
async fn following_the_links_finds_exactly_what_the_truth_says() {
    let small = WebSpec { pages: 9, hosts: 3, ..spec() };
    for web in [spec(), small, copies::spec()].iter().map(Web::generate).chain([Web::demo()]) {
        let server = serve(web).await;
        let seen = follow(&server).await;
        let truth: BTreeMap<String, u16> =
            server.truth().stored().map(|page| (page.url.clone(), page.status)).collect();
        assert_eq!(seen, truth);
        server.stop().await;
    }
}

#[tokio::test]
async fn every_page_shows_its_title_text_and_links() {
    for web in [spec(), copies::spec()].iter().map(Web::generate).chain([Web::demo()]) {
        let server = serve(web).await;
        let truth = server.truth();
        let mut client = Client::connect(server.address()).await;
        for page in &truth.pages {
            let answer = client.get(&page.url, &[]).await;
            assert_eq!(answer.status, page.status, "{}", page.url);
            if page.status != 200 {
                continue;
            }
            let html = answer.text().replace("&quot;", "\"").replace("&amp;", "&");
            assert!(html.contains(&format!("<title>{}</title>", page.html_title)), "{}", page.url);
            assert!(html.contains(&format!("<h1>{}</h1>", page.title)), "{}", page.url);
            let base = page.duplicate_of.as_ref().unwrap_or(&page.url);
            let expected: Vec<&str> = page.links.iter().map(|link| link.url.as_str()).collect();
            assert_eq!(links(&page.url, &html), expected, "{}", page.url);
            assert_eq!(links(base, &html), expected, "{}", page.url);
            let first_words = page.text.lines().next().unwrap_or("").chars().take(20).collect::<String>();
            assert!(html.contains(&first_words), "{} lacks {first_words}", page.url);
        }
        server.stop().await;
    }
}

#[test]
fn the_same_seed_gives_the_same_web_and_another_seed_another() {
    let json = |seed| {
        let truth = Web::generate(&WebSpec { seed, hosts: 3, pages: 90, ..spec() }).truth(80);
        serde_json::to_string(&truth).expect("serialises")
    };
    assert_eq!(json(1), json(1));
    assert_ne!(json(1), json(2));
}

#[test]
fn pages_one_after_the_other_are_those_of_the_truth() {
    let web = Web::generate(&spec());
    let pages = web.true_pages(80);
    let urls = |pages: &mut dyn Iterator<Item = TruePage>| -> Vec<(String, String, Option<u32>)> {
        pages.map(|page| (page.url, page.text, page.depth)).collect()
    };
    assert_eq!(pages.len(), web.truth(80).pages.len());
    let at_once = urls(&mut web.truth(80).pages.into_iter());
    assert_eq!([urls(&mut pages.clone()), urls(&mut pages.into_iter())], [at_once.clone(), at_once]);
}

#[test]
fn titles_are_unique_but_for_exact_duplicates() {
    for web in [Web::generate(&WebSpec { pages: 5000, ..spec() }), Web::demo()] {
        let truth = web.truth(80);
        let mut titles = HashSet::new();
        for page in truth.pages.iter().filter(|page| page.status == 200 && page.duplicate_of.is_none()) {
            assert!(!page.title.is_empty(), "{}", page.url);
            assert!(titles.insert(&page.title), "{} appears twice", page.title);
        }
    }
}

#[test]
fn a_web_has_every_kind_of_page_and_the_requested_size() {
    let web = Web::generate(&spec());
    let truth = web.truth(80);
    assert_eq!(truth.pages.iter().filter(|page| page.status != 404).count(), 800);
    let kinds: HashSet<PageKind> = truth.stored().map(|page| page.kind).collect();
    assert_eq!(kinds.len(), 8);
    let statuses: HashSet<u16> = truth.stored().map(|page| page.status).collect();
    assert_eq!(statuses, HashSet::from([200, 301, 302, 308, 404]));
    let count = |what: fn(&&pharos_testweb::TruePage) -> bool| truth.pages.iter().filter(what).count();
    assert!(count(|page| page.duplicate_of.is_some()) > 5);
    assert!(count(|page| page.near_duplicate_of.is_some()) > 5);
    assert!(count(|page| !page.allowed) > 5);
    assert!(count(|page| page.allowed && !page.reachable) > 2);
    assert!(count(|page| page.depth.is_some_and(|depth| depth >= 3)) > 5);
    assert!(count(|page| page.links.iter().any(|link| link.url.contains(".invalid"))) > 2);
    let encodings: HashSet<(Charset, CharsetDeclaration)> = Web::generate(&WebSpec { hosts: 20, ..spec() })
        .hosts()
        .iter()
        .map(|host| (host.charset, host.declared))
        .collect();
    assert_eq!(encodings.len(), 4);
}

#[tokio::test]
async fn duplicates_have_the_same_bytes_and_near_duplicates_most_of_the_same_lines() {
    let server = serve(Web::generate(&spec())).await;
    let truth = server.truth();
    let texts: HashMap<&str, &str> =
        truth.pages.iter().map(|page| (page.url.as_str(), page.text.as_str())).collect();
    let mut client = Client::connect(server.address()).await;
    for page in &truth.pages {
        if let Some(original) = &page.duplicate_of {
            assert_eq!(client.get(&page.url, &[]).await.body, client.get(original, &[]).await.body);
        }
        if let Some(original) = &page.near_duplicate_of {
            assert_ne!(texts[original.as_str()], page.text);
            let known: HashSet<&str> = texts[original.as_str()].split(['.', '。']).map(str::trim).collect();
            let same =
                page.text.split(['.', '。']).filter(|sentence| known.contains(sentence.trim())).count();
            assert!(same > 1, "{} shares {same} sentences with {original}", page.url);
        }
    }
    server.stop().await;
}

#[test]
fn lengths_are_log_normal() {
    let web = Web::generate(&WebSpec { pages: 1500, hosts: 4, chinese: 0.0, median_words: 300.0, ..spec() });
    let truth = web.truth(80);
    let articles = truth.pages.iter().filter(|page| page.kind == PageKind::Article && page.status == 200);
    let mut lengths: Vec<usize> = articles.map(|page| page.text.split_whitespace().count()).collect();
    lengths.sort_unstable();
    let at = |share: f64| lengths[(lengths.len() as f64 * share) as usize] as f64;
    assert!((200.0..420.0).contains(&at(0.5)), "median {}", at(0.5));
    let spread = (at(0.84) / at(0.16)).ln() / 2.0;
    assert!((0.5..0.9).contains(&spread), "sigma {spread}");
}

fn changing() -> WebSpec {
    WebSpec { pages: 300, change_rate: 0.5, birth_rate: 4.0, death_rate: 0.02, ..spec() }
}

#[tokio::test]
async fn changes_follow_the_clock() {
    let server = serve(Web::generate(&changing())).await;
    let at_start = server.truth();
    let mut client = Client::connect(server.address()).await;
    let mut before = HashMap::new();
    for page in &at_start.pages {
        before.insert(page.url.clone(), client.get(&page.url, &[]).await);
    }
    server.clock().advance(Duration::from_secs(10 * 24 * 3600));
    let later = server.truth();
    let now = server.clock().now();
    assert_eq!(follow(&server).await, later.stored().map(|page| (page.url.clone(), page.status)).collect());
    let (mut changed, mut born, mut died) = (0, 0, 0);
    for (old, new) in at_start.pages.iter().zip(&later.pages) {
        let answer = client.get(&new.url, &[]).await;
        assert_eq!(answer.status, new.status, "{}", new.url);
        match (old.status, new.status) {
            (200, 200) => {
                let differs = answer.body != before[&new.url].body;
                assert_eq!(differs, new.changes.iter().any(|&change| change <= now), "{}", new.url);
                changed += usize::from(differs);
            }
            (200, _) => died += 1,
            (404, 200) => {
                assert!(new.published > START && new.published <= now && new.reachable);
                born += 1;
            }
            _ => {}
        }
    }
    assert!(changed > 50 && born > 20 && died > 10, "{changed} {born} {died}");
    server.clock().set(START);
    for page in &at_start.pages {
        assert_eq!(client.get(&page.url, &[]).await.body, before[&page.url].body, "{}", page.url);
    }
    server.stop().await;
}

#[test]
fn pages_change_at_their_rate() {
    let truth = Web::generate(&WebSpec { birth_rate: 0.0, death_rate: 0.0, ..changing() }).truth(80);
    let articles: Vec<_> = truth
        .pages
        .iter()
        .filter(|page| page.kind == PageKind::Article && page.duplicate_of.is_none())
        .collect();
    let expected: f64 = articles.iter().map(|page| page.change_rate * 30.0).sum();
    let happened = articles.iter().map(|page| page.changes.len()).sum::<usize>() as f64;
    assert!((happened / expected - 1.0).abs() < 0.1, "{happened} of {expected}");
    assert!(articles.iter().filter(|page| page.change_rate == 0.0).all(|page| page.changes.is_empty()));
}
