//! What the web says about a page, through the real binary: planted copies are found and shown once, ranks are those of
//! the true links.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use common::{Desk, Rig, fail, succeed};
use pharos_testweb::{CopySpec, ServeOptions, Truth, WebSpec};
use serde_json::{Value, json};

fn json_of(rig: &Rig, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&succeed(&mut rig.pharos(&arguments))).unwrap()
}

#[test]
fn planted_copies_are_found_and_nothing_else() {
    let copies =
        CopySpec { reprints: 60, excerpts: 20, template_twins: 40, mirrors: 1, canonical_variants: 20 };
    let spec = WebSpec { seed: 21, hosts: 8, pages: 600, copies, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    let built = json_of(&rig, &["graph", "build"]);
    assert!(built["error_bound"].as_f64().unwrap() < 1e-9, "{built}");

    let truth = rig.truth();
    let labels = rig.data().join("labels.tsv");
    let lines: String = truth
        .stored()
        .filter_map(|page| Some(format!("{}\t{}\n", page.url, page.content.as_ref()?)))
        .collect();
    std::fs::write(&labels, lines).unwrap();
    let table = json_of(&rig, &["dedup", "measure", labels.to_str().unwrap()]);
    let of = |name: &str| {
        let row =
            table.as_array().unwrap().iter().find(|row| row["name"].as_str().unwrap().starts_with(name));
        let row = row.unwrap();
        (row["precision"].as_f64().unwrap(), row["recall"].as_f64().unwrap())
    };
    let (precision, recall) = of("as built");
    assert!(
        precision >= 0.99 && recall >= 0.95,
        "{}",
        succeed(&mut rig.pharos(&["dedup", "measure", labels.to_str().unwrap()]))
    );
    assert!(of("exact bytes").0 == 1.0);

    let report = json_of(&rig, &["dedup", "report"]);
    assert!(report["exact_copies"].as_u64().unwrap() > 10 && report["groups"].as_u64().unwrap() > 60);
}

/// The true graph: pages that answered and all they link to, through redirects.
fn true_links(truth: &Truth) -> (BTreeSet<&str>, BTreeSet<(&str, &str)>) {
    let stored: HashMap<&str, _> = truth.stored().map(|page| (page.url.as_str(), page)).collect();
    fn end<'a>(stored: &HashMap<&str, &'a pharos_testweb::TruePage>, mut url: &'a str) -> &'a str {
        while let Some(next) = stored.get(url).and_then(|page| page.redirect.as_deref()) {
            url = next;
        }
        url
    }
    let (mut pages, mut links) = (BTreeSet::new(), BTreeSet::new());
    for page in truth.stored().filter(|page| page.status == 200) {
        pages.insert(page.url.as_str());
        for link in &page.links {
            let target = end(&stored, &link.url);
            pages.insert(target);
            if target != page.url {
                links.insert((page.url.as_str(), target));
            }
        }
    }
    (pages, links)
}

/// PageRank as its definition says, in the form that sums to one.
fn reference<'a>(pages: &BTreeSet<&'a str>, links: &BTreeSet<(&'a str, &'a str)>) -> BTreeMap<&'a str, f64> {
    let count = pages.len() as f64;
    let mut targets: HashMap<&str, Vec<&str>> = HashMap::new();
    links.iter().for_each(|(from, to)| targets.entry(from).or_default().push(to));
    let mut ranks: BTreeMap<&str, f64> = pages.iter().map(|page| (*page, 1.0 / count)).collect();
    for _ in 0..300 {
        let dangling: f64 =
            ranks.iter().filter(|(page, _)| !targets.contains_key(*page)).map(|(_, r)| r).sum();
        let mut next: BTreeMap<&str, f64> =
            pages.iter().map(|page| (*page, 0.15 / count + 0.85 * dangling / count)).collect();
        for (from, to) in &targets {
            for target in to {
                *next.get_mut(target).unwrap() += 0.85 * ranks[from] / to.len() as f64;
            }
        }
        ranks = next;
    }
    ranks
}

#[test]
fn ranks_are_those_of_the_true_links() {
    let spec = WebSpec { seed: 22, hosts: 5, pages: 300, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    assert!(fail(&mut rig.pharos(&["graph", "top"])).contains("pharos graph build"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let truth = rig.truth();
    let (pages, links) = true_links(&truth);
    let stats = json_of(&rig, &["graph", "stats", "--samples", "20"]);
    assert_eq!(
        (stats["pages"].as_u64(), stats["links"].as_u64()),
        (Some(pages.len() as u64), Some(links.len() as u64))
    );
    assert!(stats["topical_locality"]["same_domain"]["mean"].as_f64().unwrap() > 0.0);

    let expected = reference(&pages, &links);
    let top = json_of(&rig, &["graph", "top", "--probability", "-n", "100000"]);
    let top = top.as_array().unwrap();
    assert_eq!(top.len(), pages.len());
    for page in top {
        let (url, found) = (page["url"].as_str().unwrap(), page["value"].as_f64().unwrap());
        assert!((found - expected[url]).abs() <= 1e-6, "{url}: {found} instead of {}", expected[url]);
    }
    let best = top[0]["url"].as_str().unwrap();
    let around = json_of(&rig, &["graph", "neighbours", best]);
    let linking = links.iter().filter(|(_, to)| *to == best).count() as u64;
    assert_eq!(around["in_degree"].as_u64(), Some(linking));
    assert!(!around["anchors"].as_array().unwrap().is_empty());

    let farm = json_of(&rig, &["graph", "farm", best]);
    let value = |what: &str, when: &str| farm[what][when].as_f64().unwrap();
    assert_eq!(value("link_hits", "before"), value("link_hits", "after"));
    assert!((value("site_rank", "before") - value("site_rank", "after")).abs() < 1e-9);
    let gained = value("page_rank", "after") - value("page_rank", "before");
    assert!(gained > 0.0 && gained <= farm["bound"].as_f64().unwrap());

    let title = &truth.stored().find(|page| page.url == best).unwrap().title;
    let hits = json_of(&rig, &["graph", "hits", title, "--own-links"]);
    assert!(!hits["authorities"].as_array().unwrap().is_empty());
    assert!(
        fail(&mut rig.pharos(&["graph", "neighbours", "http://nowhere.example/"]))
            .contains("nowhere.example")
    );
}

/// A feed of pages as `pharos load` takes it.
fn feed(pages: &[(&str, &str, &str)]) -> String {
    let line = |(url, title, text): &(&str, &str, &str)| {
        json!({"op": "add", "url": url, "title": title, "text": text}).to_string() + "\n"
    };
    pages.iter().map(line).collect()
}

fn hits(desk: &Desk, arguments: &[&str]) -> Vec<(String, u64)> {
    let answer = desk.json("data", &[&["search"], arguments].concat());
    let hit = |hit: &Value| (hit["url"].as_str().unwrap().to_string(), hit["duplicates"].as_u64().unwrap());
    answer["hits"].as_array().unwrap().iter().map(hit).collect()
}

#[test]
fn copies_are_one_result_until_the_original_goes() {
    let desk = Desk::new();
    let text: String = (0..80).map(|n| format!("Keeper {n} lit lamp {} at dusk. ", n * 7)).collect();
    let edited = format!("{text}Reprinted with kind permission.");
    let other = "A lamp is not a keeper, and this page says nothing else about either of the two.";
    let pages = feed(&[
        ("http://first.example/lamps", "Lamps", &text),
        ("http://copy.example/lamps", "Lamps", &text),
        ("http://reprint.example/lamps", "Lamps again", &edited),
        ("http://other.example/", "Something else", other),
    ]);
    let pages = desk.file("pages.jsonl", pages);
    succeed(&mut desk.on("data", &["load", pages.to_str().unwrap()]));
    let [first, copy, reprint, other] = [
        "http://first.example/lamps",
        "http://copy.example/lamps",
        "http://reprint.example/lamps",
        "http://other.example/",
    ];
    // Before a build, likeness alone folds them.
    assert_eq!(hits(&desk, &["keeper", "lamp"]).len(), 2);
    succeed(&mut desk.on("data", &["index", "build"]));
    let found = hits(&desk, &["keeper", "lamp"]);
    assert!(found.contains(&(first.into(), 2)) && found.contains(&(other.into(), 0)), "{found:?}");
    assert_eq!(found.len(), 2);
    assert_eq!(hits(&desk, &["--all", "keeper", "lamp"]).len(), 4);
    assert_eq!(hits(&desk, &["lamp", "site:copy.example"]), [(copy.into(), 0)]);
    assert_eq!(hits(&desk, &["lamp", "site:reprint.example"]), [(reprint.into(), 0)]);
    succeed(&mut desk.on("data", &["doctor"]));

    // The copy is still there.
    succeed(&mut desk.on("data", &["remove", first]));
    let found = hits(&desk, &["--all", "keeper", "lamp"]);
    let left: BTreeSet<&str> = found.iter().map(|(url, _)| url.as_str()).collect();
    assert_eq!(left, BTreeSet::from([copy, reprint, other]));
    succeed(&mut desk.on("data", &["index", "build"]));
    assert!(hits(&desk, &["keeper", "lamp"]).contains(&(copy.into(), 1)));
    let group = desk.json("data", &["dedup", "of", reprint]);
    assert_eq!(group["representative"], copy);
    assert_eq!(group["copies"][0]["extent"], "whole");
    assert!(fail(&mut desk.on("data", &["dedup", "measure", "absent.tsv"])).contains("absent.tsv"));
}
