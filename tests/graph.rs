//! Link analysis and duplicates through the real binary: planted copies are found and shown once, and ranks match the
//! true links.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::common::{Rig, TestFolder, describe, fail, succeed};
use pharos_testweb::{CopySpec, ServeOptions, Truth, WebSpec};
use serde_json::{Value, json};

fn json_of(rig: &Rig, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&succeed(&mut rig.pharos(&arguments))).unwrap()
}

#[test]
fn planted_copies_are_found_and_nothing_else() {
    let copies =
        CopySpec { reprints: 60, excerpts: 20, series_articles: 40, mirrors: 2, canonical_variants: 20 };
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
        let rows = table["rows"].as_array().unwrap().iter();
        let row = rows.into_iter().find(|row| row["name"].as_str().unwrap().starts_with(name)).unwrap();
        (row["precision"].as_f64().unwrap(), row["recall"].as_f64().unwrap())
    };
    let text = succeed(&mut rig.pharos(&["dedup", "measure", labels.to_str().unwrap()]));
    let (precision, recall) = of("as built");
    assert!(precision >= 0.99 && recall >= 0.95, "{text}");
    assert!(of("exact bytes").0 == 1.0);
    assert!(text.lines().any(|line| line.starts_with("| as built |") && line.ends_with("| – | – | – |")));
    let measured = |what: &str| table[what].as_u64().unwrap();
    assert!(measured("pages") > 600 && measured("pairs") > 200, "{text}");
    let labelled = truth.stored().filter(|page| page.content.is_some()).count() as u64;
    assert_eq!(measured("pages") + measured("labels_not_found"), labelled, "{text}");
    std::fs::write(&labels, "http://nowhere.example/\tx\n").unwrap();
    let nothing = rig.pharos(&["dedup", "measure", labels.to_str().unwrap()]).output().unwrap();
    assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(1), 0), "{}", describe(&nothing));

    check_each_kind_of_copy(&rig, &truth);
    let report = json_of(&rig, &["dedup", "report"]);
    assert!(report["exact_copies"].as_u64().unwrap() > 10 && report["groups"].as_u64().unwrap() > 60);
    assert_eq!(mirrors(&report), true_mirrors(&rig, &truth));
    let text = succeed(&mut rig.pharos(&["dedup", "report"]));
    for title in ["largest groups", "mirror sites", "sites with duplicates"] {
        assert!(text.contains(title), "{text}");
    }
    let site = report["sites"][0]["site"].as_str().unwrap();
    let of_site = succeed(&mut rig.pharos(&["dedup", "groups", "--site", site, "-n", "100"]));
    assert!(of_site.contains(site) && of_site.contains("exact"), "{of_site}");
}

/// Checks the recall of each kind of copy and edit; pages of one series share boilerplate, but no group.
fn check_each_kind_of_copy(rig: &Rig, truth: &Truth) {
    let groups = json_of(rig, &["dedup", "groups"]);
    let mut group_of: HashMap<&str, usize> = HashMap::new();
    for (number, group) in groups.as_array().unwrap().iter().enumerate() {
        let copies = group["copies"].as_array().unwrap().iter().map(|copy| &copy["url"]);
        group_of.extend(copies.chain([&group["representative"]]).map(|url| (url.as_str().unwrap(), number)));
    }
    let (fetched, left_out) = (rig.stored(), hosts_left_out(rig, truth));
    let pages = truth.stored().filter(|page| {
        page.status == 200 && fetched.contains_key(&page.url) && !left_out.contains(page.host.as_str())
    });
    let stored: BTreeSet<&str> = pages.map(|page| page.url.as_str()).collect();
    let mut found: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for page in truth.stored().filter(|page| stored.contains(page.url.as_str())) {
        let Some(copy) = page.copy.as_ref().filter(|copy| stored.contains(copy.of.as_str())) else {
            continue;
        };
        let edit = format!("{:?}", copy.edit);
        let kind = format!("{:?}, {}", copy.kind, edit.split(' ').next().unwrap());
        let is_found = group_of
            .get(page.url.as_str())
            .is_some_and(|group| group_of.get(copy.of.as_str()) == Some(group));
        let (right, all) = found.entry(kind).or_default();
        (*right, *all) = (*right + u32::from(is_found), *all + 1);
    }
    assert!(found.len() >= 8, "{found:?}");
    for (kind, (right, all)) in &found {
        // One copy of a small number may be missed.
        assert!(*right + 1 >= *all || f64::from(*right) >= 0.95 * f64::from(*all), "{kind}: {found:?}");
    }
    let mut series: HashMap<(u32, usize), &str> = HashMap::new();
    for page in truth.stored() {
        let (Some(number), Some(group)) = (page.series, group_of.get(page.url.as_str())) else { continue };
        let content = page.content.as_deref().unwrap();
        let known = *series.entry((number, *group)).or_insert(content);
        assert_eq!(known, content, "two articles of one series in one group");
    }
}

fn without_port(site: &str) -> String {
    site.split(':').next().unwrap().to_string()
}

/// Returns the groups of mirror sites as reported.
fn mirrors(report: &Value) -> BTreeSet<BTreeSet<String>> {
    let groups = report["mirrors"].as_array().unwrap().iter();
    let sites = |group: &Value| {
        group["sites"].as_array().unwrap().iter().map(|site| without_port(site.as_str().unwrap())).collect()
    };
    groups.map(sites).collect()
}

/// Returns the hosts that the crawl recognised as exact copies: it stops crawling them after a few pages, and none of
/// their pages is shown.
fn hosts_left_out<'a>(rig: &Rig, truth: &'a Truth) -> BTreeSet<&'a str> {
    let fetched = rig.stored();
    let is_left_out = |host: &str| {
        let pages: Vec<_> = truth.stored().filter(|page| page.host == host && page.status == 200).collect();
        2 * pages.iter().filter(|page| fetched.contains_key(&page.url)).count() < pages.len()
    };
    truth.hosts.iter().map(|host| host.name.as_str()).filter(|host| is_left_out(host)).collect()
}

/// Returns the true groups of mirror sites. Of the two mirrors, one has a line on top that says so; of the other pair,
/// one is not crawled.
fn true_mirrors(rig: &Rig, truth: &Truth) -> BTreeSet<BTreeSet<String>> {
    let left_out = hosts_left_out(rig, truth);
    let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (known, found): (Vec<_>, Vec<_>) = truth
        .hosts
        .iter()
        .filter_map(|host| Some((host.name.as_str(), host.mirror_of.as_deref()?)))
        .partition(|(host, original)| left_out.contains(host) || left_out.contains(original));
    assert_eq!((known.len(), found.len()), (1, 1), "{left_out:?}");
    for (host, original) in found {
        groups.entry(without_port(original)).or_default().extend([host, original].map(without_port));
    }
    groups.into_values().collect()
}

/// Returns the true graph: fetched pages and all pages they link to, through redirects.
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

/// Computes PageRank by its definition, on the scale that sums to one.
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

    check_rank_options(&rig, &top[0], best);
    let title = &truth.stored().find(|page| page.url == best).unwrap().title;
    let hits = json_of(&rig, &["graph", "hits", title, "--own-links"]);
    assert!(!hits["authorities"].as_array().unwrap().is_empty());
    let one_round = json_of(&rig, &["graph", "hits", title, "--own-links", "--rounds", "1"]);
    assert_eq!(one_round["rounds"], 1);
    let text = succeed(&mut rig.pharos(&["graph", "hits", title, "--root", "3"]));
    assert!(text.contains("authorities") && text.contains("hubs"), "{text}");
    let elsewhere = json_of(&rig, &["graph", "hits", title, "--root", "3"]);
    assert!(elsewhere["root"].as_u64().unwrap() <= 3);
    assert!(
        fail(&mut rig.pharos(&["graph", "neighbours", "http://nowhere.example/"]))
            .contains("nowhere.example")
    );
}

/// Checks the options of `graph top` and the output of the other commands.
fn check_rank_options(rig: &Rig, highest: &Value, best: &str) {
    let top = |options: &[&str]| -> Vec<(String, f64)> {
        let shown = json_of(rig, &[&["graph", "top"], options].concat());
        let shown = shown.as_array().unwrap().iter();
        shown.map(|page| (page["url"].as_str().unwrap().into(), page["value"].as_f64().unwrap())).collect()
    };
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
    for by in ["link-hits", "domains", "in-degree", "out-degree", "link-weight", "harmonic", "mirrors"] {
        let shown = top(&["--by", by, "-n", "3"]);
        assert!(shown.len() == 3 && shown.is_sorted_by(|one, other| one.1 >= other.1), "{by}: {shown:?}");
        let refused = fail(&mut rig.pharos(&["graph", "top", "--by", by, "--seed", best]));
        assert!(refused.contains("--by page-rank"), "{refused}");
    }
    let by_jump = top(&["--probability", "--jump", "0.15", "-n", "1"]);
    assert!(near(by_jump[0].1, highest["value"].as_f64().unwrap()), "{by_jump:?}");
    assert!(top(&["--damping", "0.5", "-n", "1"])[0].1 < top(&["-n", "1"])[0].1);
    let trusted = top(&["--by", "trust", "--seed", best, "--probability", "-n", "1"]);
    assert_eq!(trusted[0].0, best);
    assert!(trusted[0].1 > by_jump[0].1);
    assert!(fail(&mut rig.pharos(&["graph", "top", "--by", "trust"])).contains("--seed"));
    assert!(top(&["--fetched", "-n", "100000"]).len() < top(&["-n", "100000"]).len());

    let sites = top(&["--sites"]);
    assert!(sites.len() >= 5 && sites.iter().all(|(name, _)| !name.contains("/")), "{sites:?}");
    let mean = sites.iter().map(|(_, rank)| rank).sum::<f64>() / sites.len() as f64;
    assert!(sites.len() < 20 && near(mean, 1.0), "{sites:?}");
    let total: f64 = top(&["--sites", "--probability"]).iter().map(|(_, rank)| rank).sum();
    assert!(near(total, 1.0));
    for ignored in [["--sites", "--seed", best], ["--sites", "--by", "in-degree"]] {
        let refused = rig.pharos(&[&["graph", "top"][..], &ignored].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{}", describe(&refused));
    }
    let text = succeed(&mut rig.pharos(&["graph", "top", "-n", "2"]));
    assert!(text.lines().count() == 2 && text.contains(best), "{text}");
    let text = succeed(&mut rig.pharos(&["graph", "neighbours", best]));
    assert!(
        text.contains("page rank") && text.contains("\nanchor texts\n") && text.contains("\nlinked from\n"),
        "{text}"
    );
    let text = succeed(&mut rig.pharos(&["graph", "farm", best, "--pages", "10"]));
    assert!(text.contains("link farm of 10 pages"), "{text}");
    let text = succeed(&mut rig.pharos(&["graph", "stats", "--samples", "0"]));
    assert!(text.contains("bow-tie") && !text.contains("cosine"), "{text}");
}

/// Returns pages in the input format of `pharos load`.
fn feed(pages: &[(&str, &str, &str)]) -> String {
    let line = |(url, title, text): &(&str, &str, &str)| {
        json!({"op": "add", "url": url, "title": title, "text": text}).to_string() + "\n"
    };
    pages.iter().map(line).collect()
}

fn hits(desk: &TestFolder, arguments: &[&str]) -> Vec<(String, u64)> {
    let answer = desk.json("data", &[&["search"], arguments].concat());
    let hit = |hit: &Value| (hit["url"].as_str().unwrap().to_string(), hit["duplicates"].as_u64().unwrap());
    answer["hits"].as_array().unwrap().iter().map(hit).collect()
}

#[test]
fn copies_are_one_result_until_the_original_is_removed() {
    let desk = TestFolder::new();
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
    // Before a build, similarity alone folds them.
    assert_eq!(hits(&desk, &["keeper", "lamp"]).len(), 2);
    succeed(&mut desk.on("data", &["index", "build"]));
    let found = hits(&desk, &["keeper", "lamp"]);
    assert!(found.contains(&(first.into(), 2)) && found.contains(&(other.into(), 0)), "{found:?}");
    assert_eq!(found.len(), 2);
    assert_eq!(hits(&desk, &["--all", "keeper", "lamp"]).len(), 4);
    assert_eq!(hits(&desk, &["lamp", "site:copy.example"]), [(copy.into(), 0)]);
    assert_eq!(hits(&desk, &["lamp", "site:reprint.example"]), [(reprint.into(), 0)]);
    succeed(&mut desk.on("data", &["doctor"]));

    // The copy is still found, and the removed page no longer appears, before any build.
    succeed(&mut desk.on("data", &["remove", first]));
    assert!(fail(&mut desk.on("data", &["graph", "neighbours", first])).contains("removed"));
    assert!(fail(&mut desk.on("data", &["dedup", "of", first])).contains("removed"));
    assert_eq!(desk.json("data", &["dedup", "of", reprint])["representative"], copy);
    for command in [&["graph", "top"][..], &["dedup", "groups"], &["dedup", "report"]] {
        let printed = succeed(&mut desk.on("data", command));
        assert!(!printed.contains("first.example/lamps"), "{printed}");
    }
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

#[test]
fn links_and_copies_are_checked_repaired_and_backed_up() {
    let desk = TestFolder::new();
    let text: String = (0..80).map(|n| format!("Keeper {n} lit lamp {} at dusk. ", n * 7)).collect();
    let pages = feed(&[("http://a.example/", "Lamps", &text), ("http://b.example/", "Lamps", &text)]);
    let pages = desk.file("pages.jsonl", pages);
    succeed(&mut desk.on("data", &["load", pages.to_str().unwrap()]));
    succeed(&mut desk.on("data", &["graph", "build"]));
    succeed(&mut desk.on("data", &["doctor"]));
    succeed(&mut desk.on("data", &["backup", desk.path("copy").to_str().unwrap()]));
    succeed(&mut desk.on("back", &["restore", desk.path("copy").to_str().unwrap()]));
    succeed(&mut desk.on("back", &["doctor"]));
    assert_eq!(
        desk.json("back", &["dedup", "of", "http://b.example/"])["representative"],
        "http://a.example/"
    );

    // A killed build, and a truncated table.
    std::fs::create_dir(desk.path("data/graph/building-dead")).unwrap();
    let tables = desk.path("data/graph/00000001/tables.zst");
    let whole = std::fs::read(&tables).unwrap();
    std::fs::write(&tables, &whole[..whole.len() - 4]).unwrap();
    let printed = desk.on("data", &["doctor"]).output().unwrap();
    assert_eq!(printed.status.code(), Some(1), "{}", describe(&printed));
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains("building-dead") && printed.contains("it is damaged"), "{printed}");
    succeed(&mut desk.on("data", &["doctor", "--repair"]));
    succeed(&mut desk.on("data", &["doctor"]));
    assert!(!desk.path("data/graph/building-dead").exists());
    assert!(fail(&mut desk.on("data", &["graph", "top"])).contains("pharos graph build"));

    // The graph must not cover more than the library.
    let library = desk.path("data/library/00000001.warc.gz");
    succeed(&mut desk.on("data", &["graph", "build"]));
    std::fs::remove_dir_all(desk.path("back/library")).unwrap();
    let ahead = desk.on("back", &["doctor"]).output().unwrap();
    assert!(String::from_utf8_lossy(&ahead.stdout).contains("graph: "), "{}", describe(&ahead));
    assert!(library.exists());

    let settings = "[graph]\ndamping = 1.5\n";
    std::fs::write(desk.path("data/pharos.toml"), settings).unwrap();
    assert!(fail(&mut desk.on("data", &["graph", "build"])).contains("invalid damping 1.5"));
}
