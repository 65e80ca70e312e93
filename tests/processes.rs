//! Several processes on one data directory: one owner, any number of readers, one builder.

use std::fs::{self, File};
use std::time::Duration;

use crate::common::{Rig, Running, encode, fail, get, long, succeed, until};
use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

fn slow_web(seed: u64) -> Rig {
    let options = ServeOptions { latency: Duration::from_millis(100), ..ServeOptions::default() };
    Rig::new(WebSpec { seed, pages: 400, ..WebSpec::default() }, options)
}

fn total(address: &str, query: &str) -> u64 {
    let (status, body) = get(address, &format!("/api/v1/search?q={}&all=1", encode(query)));
    assert_eq!(status, 200, "{body}");
    serde_json::from_str::<Value>(&body).unwrap()["total"].as_u64().unwrap()
}

#[test]
fn crawl_build_serve_search_and_stats_run_concurrently() {
    let rig = slow_web(21);
    let mut crawl = Running::start(&mut rig.crawl("crawl"));
    until("the first pages are stored", || rig.data().join("library").is_dir() && rig.stored().len() > 20);
    let error = fail(&mut rig.crawl("crawl"));
    assert!(error.contains("is in use by `pharos crawl` (process "), "{error}");

    succeed(&mut rig.pharos(&["index", "build"]));
    assert!(crawl.0.try_wait().unwrap().is_none(), "the crawl goes on");
    let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    let address = serve.address();
    let host = rig.truth().pages[0].host.clone();
    let first = total(&address, &format!("site:{host}"));
    assert!(first > 0);
    let stats: Value = serde_json::from_str(&succeed(&mut rig.pharos(&["--json", "stats"]))).unwrap();
    assert!(stats["searchable"].as_u64().unwrap() > 0);

    assert!(crawl.0.wait().unwrap().success());
    succeed(&mut rig.pharos(&["index", "build"]));
    // The server opens the new generation automatically.
    let truth = rig.truth();
    let all = truth.stored().filter(|p| p.host == host && p.status == 200).count() as u64;
    until("all pages of the host are found", || total(&address, &format!("site:{host}")) >= all);
    assert_eq!(total(&address, &format!("site:{host}")), all);
}

/// `up`: pages are found while the crawl runs, builds run beside it, and afterwards no page is missing or found twice.
#[test]
fn fetched_pages_are_found_at_once_and_a_build_changes_nothing() {
    let rig = slow_web(22);
    let mut up = Running::start(rig.crawl("up").args(["--listen", "127.0.0.1:0"]));
    let address = up.address();
    assert_eq!(get(&address, "/healthz").0, 200);
    let host = rig.truth().pages[0].host.clone();
    let site = format!("site:{host}");
    until("something is found while the crawl runs", || total(&address, &site) > 0);
    for _ in 0..3 {
        succeed(&mut rig.pharos(&["index", "build"]));
    }
    let truth = rig.truth();
    let all = truth.stored().filter(|p| p.host == host && p.status == 200).count() as u64;
    until("all pages of the host are found", || total(&address, &site) >= all);
    assert_eq!(total(&address, &site), all, "none is found twice");
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    // A reader alone finds the same.
    let json: Value =
        serde_json::from_str(&succeed(&mut rig.pharos(&["--json", "search", "--all", &site]))).unwrap();
    assert_eq!(json["total"].as_u64().unwrap(), all);
}

#[test]
fn a_killed_builder_leaves_nothing_behind() {
    let rig = Rig::new(WebSpec { seed: 23, pages: 400, ..WebSpec::default() }, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let search = |rig: &Rig| {
        let text = succeed(&mut rig.pharos(&["--json", "search", "site:test"]));
        serde_json::from_str::<Value>(&text).unwrap()["total"].as_u64().unwrap()
    };
    let before = search(&rig);
    assert!(before > 100);
    for delay in [5, 40, 120, 250] {
        let build = Running::start(&mut rig.pharos(&["index", "build"]));
        std::thread::sleep(Duration::from_millis(delay));
        drop(build);
        assert_eq!(search(&rig), before);
    }
    succeed(&mut rig.pharos(&["index", "build"]));
    assert_eq!(search(&rig), before);
}

#[test]
fn signals_end_it_and_the_next_start_continues() {
    let rig = slow_web(24);
    for signal in ["INT", "TERM"] {
        let mut crawl = Running::start(&mut rig.crawl("crawl"));
        let had = if rig.data().join("library").is_dir() { rig.stored().len() } else { 0 };
        until("it gets somewhere", || rig.data().join("library").is_dir() && rig.stored().len() > had + 10);
        crawl.signal(signal);
        assert!(crawl.0.wait().unwrap().success(), "a stop that was asked for is no failure");
    }
    let stored = rig.stored();
    rig.server.clear_log();
    succeed(&mut rig.crawl("crawl"));
    for request in rig.server.log() {
        let url = format!("http://{}:{}{}", request.host, rig.server.port(), request.path);
        assert!(!stored.contains_key(&url), "{url} was stored and asked for again");
    }
    assert_eq!(rig.stored().len(), rig.truth().stored().count());
}

#[test]
fn the_number_of_fetchers_changes_while_it_runs() {
    let rig = slow_web(27);
    let write = |text: &str| fs::write(rig.data().join("pharos.toml"), text).unwrap();
    fs::create_dir_all(rig.data()).unwrap();
    write("[crawl]\nfetchers = 1\n");
    let log = rig.dir.path().join("log");
    let mut command = rig.crawl("crawl");
    let mut crawl = Running::start(command.stderr(File::create(&log).unwrap()));
    until("it gets somewhere", || rig.data().join("library").is_dir() && rig.stored().len() > 3);
    let is_logged = |what: &str| fs::read_to_string(&log).unwrap().contains(what);
    write("[crawl]\nfetchers = 16\n");
    crawl.signal("HUP");
    until("it has read it", || is_logged("settings reloaded"));
    write("[crawl]\nfetchers = sixteen\n");
    crawl.signal("HUP");
    until("it has seen that this is nonsense", || is_logged("settings not reloaded: "));
    assert!(crawl.0.wait().unwrap().success());
    assert_eq!(rig.stored().len(), rig.truth().stored().count());
}

/// Concurrent queries while pages are indexed and a generation is built: every query is answered, and found pages stay
/// found.
#[test]
fn many_queries_at_once_are_all_answered() {
    let rig = slow_web(25);
    let mut up = Running::start(rig.crawl("up").args(["--listen", "127.0.0.1:0"]));
    let address = up.address();
    let host = rig.truth().pages[0].host.clone();
    let site = format!("site:{host}");
    until("something is found", || total(&address, &site) > 0);
    let rounds = if long() { 2_000 } else { 40 };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut before = 0;
                for _ in 0..rounds {
                    let now = total(&address, &site);
                    assert!(now >= before, "{before} pages were found, now {now}");
                    before = now;
                }
            });
        }
        succeed(&mut rig.pharos(&["index", "build"]));
    });
    let (status, metrics) = get(&address, "/metrics");
    assert_eq!(status, 200);
    assert!(metrics.contains("pharos_http_requests_total"), "{metrics}");
}
