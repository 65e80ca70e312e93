//! A changing web is crawled and searched while histories are built, installed, rolled back, and their builders killed.
//! Every query is answered, existing pages stay searchable, and no page is found twice. The time from fetch to search
//! is measured and printed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Rig, Running, describe, encode, get, long, succeed};
use pharos_testweb::{ServeOptions, TestClock, WebSpec};
use serde_json::Value;

/// Simulated hours of the web per second.
const SPEED: f64 = 2.0 * 3600.0;

fn changing_web() -> Rig {
    let spec = WebSpec {
        seed: 61,
        hosts: 4,
        pages: 160,
        change_rate: 1.0,
        birth_rate: 40.0,
        death_rate: 0.05,
        horizon: Duration::from_secs(365 * 86_400),
        ..WebSpec::default()
    };
    Rig::new(spec, ServeOptions { clock: TestClock::running(SPEED), ..ServeOptions::default() })
}

/// Returns `up` with pages that are due again after seconds.
fn up(rig: &Rig) -> Command {
    let mut command = rig.crawl("up");
    for key in
        ["REFRESH", "REFRESH_HOME", "REFRESH_HUB", "REFRESH_FEED", "REFRESH_AT_MOST_EVERY", "GONE_AFTER"]
    {
        command.env(format!("PHAROS_CRAWL_{key}"), "2s");
    }
    command.env("PHAROS_QUERY_MAX_RESULTS", "5000").args(["--listen", "127.0.0.1:0"]);
    command
}

fn search(address: &str, query: &str, page: usize) -> Value {
    let path = format!("/api/v1/search?q={}&all=1&size=100&page={page}", encode(query));
    let (status, body) = get(address, &path);
    assert_eq!(status, 200, "{query}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// Returns all addresses of a host that are found in one index view. No address occurs twice.
fn listing(address: &str, host: &str) -> BTreeSet<String> {
    let query = format!("site:{host}");
    for _ in 0..100 {
        let mut found = Vec::new();
        let first = search(address, &query, 1);
        let (state, total) = (first["generation"].clone(), first["total"].as_u64().unwrap());
        let pages = 1.max(total.div_ceil(100) as usize);
        let answers = std::iter::once(first).chain((2..=pages).map(|page| search(address, &query, page)));
        let mut is_one_state = true;
        for answer in answers {
            is_one_state &= answer["generation"] == state;
            let hits = answer["hits"].as_array().unwrap();
            found.extend(hits.iter().map(|hit| hit["url"].as_str().unwrap().to_string()));
        }
        if is_one_state {
            let distinct: BTreeSet<String> = found.iter().cloned().collect();
            assert_eq!(distinct.len(), found.len(), "some are there twice: {found:#?}");
            assert_eq!(distinct.len() as u64, total);
            return distinct;
        }
    }
    panic!("the index changes faster than it can be read");
}

/// Deterministic pseudo-random numbers.
fn dice(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn nothing_is_lost_or_duplicated_under_concurrent_operations() {
    let rig = changing_web();
    let truth = rig.truth();
    let deleted: BTreeMap<&str, u64> =
        truth.pages.iter().filter_map(|page| Some((page.url.as_str(), page.deleted?))).collect();
    let hosts: Vec<&str> = truth.hosts.iter().map(|host| host.name.as_str()).collect();
    let words: Vec<&str> =
        truth.pages.iter().flat_map(|page| page.title.split_whitespace()).take(400).collect();
    let still_exists = |url: &str| deleted.get(url).is_none_or(|moment| *moment > rig.server.clock().now());

    let mut up = Running::start(&mut up(&rig));
    let address = up.address();
    let (over, queries, checks) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let first_found: Mutex<HashMap<String, Instant>> = Mutex::default();
    let whole = Duration::from_secs(if long() { 240 } else { 30 });
    let (mut killed, mut finished, mut rolled_back) = (0, 0, 0);
    std::thread::scope(|scope| {
        // Clients that list all pages of a site.
        for host in &hosts {
            let (address, over, first_found, checks) = (&address, &over, &first_found, &checks);
            scope.spawn(move || {
                let _ended = OverWhenDropped(over);
                let mut seen: BTreeSet<String> = BTreeSet::new();
                while !over.load(Ordering::SeqCst) {
                    let found = listing(address, host);
                    let now = Instant::now();
                    for url in seen.difference(&found) {
                        assert!(!still_exists(url), "{url} exists, was found before, and is not found now");
                    }
                    seen.retain(|url| still_exists(url));
                    let mut first_found = first_found.lock().unwrap();
                    for url in found {
                        first_found.entry(url.clone()).or_insert(now);
                        seen.insert(url);
                    }
                    drop(first_found);
                    checks.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        }
        // A client that searches for words.
        let (address, over, queries, words) = (&address, &over, &queries, &words);
        scope.spawn(move || {
            let _ended = OverWhenDropped(over);
            for word in words.iter().cycle() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                search(address, word, 1);
                queries.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let _ended = OverWhenDropped(over);
        let (begun, mut state) = (Instant::now(), 99);
        let mut round = 0;
        while begun.elapsed() < whole && !over.load(Ordering::SeqCst) {
            round += 1;
            let mut build = rig.pharos(&["index", "build"]);
            build.env("PHAROS_INDEX_SAVE_EVERY", "25");
            if round % 4 == 0 {
                succeed(&mut build);
                finished += 1;
                // Every second build is rolled back.
                if round % 8 == 0 {
                    succeed(&mut rig.pharos(&["index", "rollback"]));
                    rolled_back += 1;
                }
            } else {
                let build = Running::start(&mut build);
                std::thread::sleep(Duration::from_millis(20 + dice(&mut state) % 1500));
                drop(build);
                killed += 1;
            }
        }
    });
    assert!(up.0.try_wait().unwrap().is_none(), "it ran all the time");
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());

    let first_found = first_found.into_inner().unwrap();
    print_freshness(&rig, &first_found);
    println!(
        "{} listings and {} queries answered; {finished} builds finished, {killed} killed, {rolled_back} gone back from",
        checks.load(Ordering::SeqCst),
        queries.load(Ordering::SeqCst)
    );
    assert!(first_found.len() > 100 && killed > 0 && checks.load(Ordering::SeqCst) > 4);
    // A finished build removes the remains of killed builders.
    succeed(&mut rig.pharos(&["index", "build"]));
    let doctor = rig.pharos(&["doctor"]).output().unwrap();
    assert!(doctor.status.success(), "{}", describe(&doctor));
}

/// Prints the time from the request of a page until it was found.
fn print_freshness(rig: &Rig, first_found: &HashMap<String, Instant>) {
    let mut fetched: HashMap<String, Instant> = HashMap::new();
    for request in rig.server.log().iter().filter(|request| request.status == 200) {
        let url = format!("http://{}:{}{}", request.host, rig.server.port(), request.path);
        fetched.entry(url).or_insert(request.at);
    }
    let mut waits: Vec<Duration> = first_found
        .iter()
        .filter_map(|(url, found)| Some(found.saturating_duration_since(*fetched.get(url)?)))
        .collect();
    waits.sort();
    let part =
        |share: f64| waits.get(((waits.len() - 1) as f64 * share) as usize).copied().unwrap_or_default();
    if !waits.is_empty() {
        println!(
            "fetched → found, {} pages: p50 {:.0?}, p99 {:.0?}, longest {:.0?}",
            waits.len(),
            part(0.5),
            part(0.99),
            part(1.0)
        );
    }
}

/// A failing thread stops the others.
struct OverWhenDropped<'a>(&'a AtomicBool);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
