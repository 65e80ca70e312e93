//! From seeds to results: the crawl stores every page of the test web once, and every page is searchable.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::common::{Rig, Running, get, long, stores, succeed};
use pharos_core::config::Config;
use pharos_query::{QueryProcessor, ResultOptions, SearchRequest};
use pharos_testweb::{ServeOptions, WebSpec};

/// Returns the pages that a correct crawler stores: every reachable and allowed URL, once.
fn expected(rig: &Rig) -> BTreeMap<String, usize> {
    rig.truth().stored().map(|page| (page.url.clone(), 1)).collect()
}

#[test]
fn a_thousand_pages_are_stored_once_and_found_by_their_titles() {
    let rig = Rig::new(WebSpec { seed: 11, ..WebSpec::default() }, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    assert_eq!(rig.stored(), expected(&rig));

    // The server saw each page once, no forbidden page, and the configured user agent.
    let truth = rig.truth();
    let forbidden: BTreeSet<_> = truth.pages.iter().filter(|p| !p.allowed).map(|p| p.url.as_str()).collect();
    assert!(!forbidden.is_empty(), "the web must forbid something for this to mean anything");
    let mut requested = BTreeSet::new();
    for request in rig.server.log() {
        let url = format!("http://{}:{}{}", request.host, rig.server.port(), request.path);
        assert!(!forbidden.contains(url.as_str()), "robots.txt forbids {url}");
        assert!(request.user_agent.contains("Pharos/"), "{}", request.user_agent);
        assert!(requested.insert(url.clone()), "{url} was asked for twice");
    }

    succeed(&mut rig.pharos(&["index", "build"]));
    let search = QueryProcessor::new(stores(&rig.data()).index().unwrap(), &Config::default());
    let mut missing = Vec::new();
    for page in truth.stored().filter(|p| p.status == 200 && !p.title.is_empty()) {
        let answer = search
            .run(&SearchRequest {
                options: ResultOptions { all: true, ..Default::default() },
                ..SearchRequest::new(&page.title)
            })
            .unwrap();
        if !answer.hits.iter().any(|hit| hit.url == page.url) {
            missing.push(format!("{} {:?}: {} results", page.url, page.title, answer.total));
        }
    }
    assert!(missing.is_empty(), "not on the first result page: {missing:#?}");

    // The command line gives the same results.
    let title = &truth.stored().find(|p| p.status == 200).unwrap().title;
    let json: serde_json::Value =
        serde_json::from_str(&succeed(&mut rig.pharos(&["--json", "search", title]))).unwrap();
    assert!(json["total"].as_u64().unwrap() > 0);
}

/// Kills the crawl with SIGKILL at random moments and restarts it: at the end the same pages are stored once, and no
/// stored page is fetched again.
#[test]
fn sigkill_loses_nothing_and_repeats_nothing() {
    let options = ServeOptions { latency: Duration::from_millis(30), ..ServeOptions::default() };
    // The web is large enough that the crawl is still running at nearly every kill.
    let (kills, pages) = if long() { (200, 8_000) } else { (20, 1_000) };
    let rig = Rig::new(WebSpec { seed: 12, pages, ..WebSpec::default() }, options);
    let mut moment = 7u64;
    let mut at_work = 0;
    for kill in 0..kills {
        let stored = rig.stored();
        rig.server.clear_log();
        // Every second run indexes as well.
        let mut command = rig.crawl(if kill % 2 == 0 { "crawl" } else { "up" });
        if kill % 2 == 1 {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let child = Running::start(&mut command);
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(60 + (moment >> 33) % 250));
        drop(child);
        let now = rig.stored().len();
        at_work += usize::from(now > stored.len() && now < expected(&rig).len());
        for request in rig.server.log() {
            let url = format!("http://{}:{}{}", request.host, rig.server.port(), request.path);
            assert!(!stored.contains_key(&url), "{url} was stored and fetched again after kill {kill}");
        }
    }
    assert!(at_work >= 3, "only {at_work} runs were in the middle of the crawl when they were killed");
    succeed(&mut rig.crawl("crawl"));
    assert_eq!(rig.stored(), expected(&rig));
    let output = succeed(&mut rig.pharos(&["--json", "stats"]));
    let stats: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(stats["catalog"]["stored"].as_u64().unwrap() as usize, expected(&rig).len());
    assert_eq!(stats["catalog"]["waiting"], 0);
}

/// The catalog is derived from the library: without it, the next start rebuilds it without a request.
#[test]
fn a_lost_catalog_comes_back_from_the_library() {
    let rig =
        Rig::new(WebSpec { seed: 13, hosts: 3, pages: 60, ..WebSpec::default() }, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    let before = succeed(&mut rig.pharos(&["--json", "stats"]));
    for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        let _ = std::fs::remove_file(rig.data().join(name));
    }
    rig.server.clear_log();
    succeed(&mut rig.crawl("crawl"));
    assert!(rig.server.log().is_empty());
    let after = succeed(&mut rig.pharos(&["--json", "stats"]));
    let counts = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["catalog"].clone();
    assert_eq!(counts(&before), counts(&after));
}

#[test]
fn limits_are_kept() {
    let rig =
        Rig::new(WebSpec { seed: 14, hosts: 3, pages: 90, ..WebSpec::default() }, ServeOptions::default());
    succeed(rig.crawl("crawl").args(["--max-pages", "7"]));
    assert_eq!(rig.stored().len(), 7);
    let rig =
        Rig::new(WebSpec { seed: 15, hosts: 3, pages: 90, ..WebSpec::default() }, ServeOptions::default());
    succeed(rig.crawl("crawl").args(["--max-depth", "1"]));
    let truth = rig.truth();
    for url in rig.stored().keys() {
        assert!(truth.page(url).unwrap().depth.unwrap() <= 1, "{url}");
    }
}

/// Icons are stored like pages, and are neither results nor problems.
#[test]
fn icons_of_sites_are_fetched_once_and_shown_beside_results() {
    let spec = WebSpec { seed: 7, hosts: 2, pages: 10, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    succeed(rig.crawl("crawl").env("PHAROS_CRAWL_ICONS", "true"));
    let requests = rig.server.log();
    let icons = requests.iter().filter(|request| &*request.path == "/favicon.ico").count();
    assert!((1..=2).contains(&icons), "one request for each site that permits it, not {icons}");
    succeed(&mut rig.pharos(&["rebuild"]));
    succeed(&mut rig.pharos(&["doctor"]));
    let mut serve = rig.pharos(&["serve", "--listen", "127.0.0.1:0"]);
    let mut serve = Running::start(serve.env("PHAROS_CRAWL_ICONS", "true"));
    let address = serve.address();
    let (_, html) = get(&address, "/search?q=the%20OR%20%E7%9A%84&size=50");
    let paths: Vec<&str> = html.split("src=\"").filter(|rest| rest.starts_with("/icon/")).collect();
    assert!(!paths.is_empty(), "{html}");
    let shown = paths.iter().map(|rest| get(&address, rest.split('"').next().unwrap()));
    assert!(shown.into_iter().any(|(status, icon)| status == 200 && icon.starts_with("\0\0\u{1}\0")));
    let icon = format!(":{}/favicon.ico", rig.server.port());
    assert!(!html.contains(&icon), "an icon is no result: {html}");
}
