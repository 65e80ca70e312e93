//! Query assistance through the real binary: suggestions, corrections, cached results, and the logs they write.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Rig, Running, encode, fail, get, long, succeed};
use pharos_testweb::{ServeOptions, Web, WebSpec};
use serde_json::{Value, json};

fn json_of(rig: &Rig, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    let output = rig.pharos(&arguments).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", crate::common::describe(&output)))
}

/// Returns the crawled demo web, with a built history if `built`.
fn demo(built: bool) -> Rig {
    let rig = Rig::over(Web::demo(), ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    if built {
        succeed(&mut rig.pharos(&["index", "build"]));
    } else {
        // Without a build, the next owner applies the crawled pages.
        let mut up = rig.crawl("up");
        let mut up = Running::start(up.args(["--listen", "127.0.0.1:0", "--for", "1s"]));
        let address = up.address();
        let deadline = Instant::now() + Duration::from_secs(60);
        while get(&address, "/api/v1/search?q=lighthouse").1.contains("\"total\":0") {
            assert!(Instant::now() < deadline, "nothing becomes searchable");
            std::thread::sleep(Duration::from_millis(200));
        }
        up.signal("TERM");
        up.0.wait().unwrap();
    }
    rig
}

fn suggestions(rig: &Rig, typed: &str) -> Vec<String> {
    let found = json_of(rig, &["suggest", "--", typed]);
    found.as_array().unwrap().iter().map(|s| s["text"].as_str().unwrap().to_string()).collect()
}

/// Two hundred misspelled queries in both languages, and some correct ones.
#[test]
fn misspelled_queries_are_corrected() {
    let rig = demo(true);
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/help/misspelt.tsv");
    let table = table.to_str().unwrap();
    print!("{}", succeed(&mut rig.pharos(&["eval", "correct", "--cases", table])));
    let found = json_of(&rig, &["eval", "correct", table]);
    let sum = |what: &str| -> u64 {
        let shares = found["shares"].as_object().unwrap();
        shares.values().map(|share| share[what].as_u64().unwrap()).sum()
    };
    let (queries, right, wrong) = (sum("queries"), sum("right"), sum("wrong"));
    assert_eq!(queries, 200);
    assert!(right * 100 >= queries * 80, "{right} of {queries} are set right, {wrong} wrongly");
    let of_right = &found["shares"]["right"];
    assert_eq!(of_right["right"], of_right["queries"], "correct queries stay unchanged");

    for (typed, meant) in [
        ("dengta", "灯塔"),
        ("望远", "望远镜"),
        ("lighth", "lighthouse"),
        ("tsg", "图书馆"),
        ("haibind", "海滨大学"),
    ] {
        let found = suggestions(&rig, typed);
        assert!(found.iter().any(|text| text.to_lowercase().contains(meant)), "{typed}: {found:?}");
    }
    assert_eq!(rig.pharos(&["suggest", "zzzzzz"]).output().unwrap().status.code(), Some(1));
    let printed = succeed(&mut rig.pharos(&["search", "lighthuose museum"]));
    assert!(printed.contains("showing results for: lighthouse museum"), "{printed}");
    assert!(printed.contains("search instead for: lighthuose museum (--as-typed)"), "{printed}");
    let printed = succeed(&mut rig.pharos(&["search", "--as-typed", "lighthuose museum"]));
    assert!(printed.contains("did you mean: lighthouse museum"), "{printed}");
    fail(&mut rig.pharos(&["eval", "correct", "no-such-table.tsv"]));
    // Removed pages are not suggested.
    assert!(!suggestions(&rig, "dengta").is_empty());
    for site in ["lighthouse-museum.localhost", "harbour-news.localhost"] {
        succeed(&mut rig.pharos(&["remove", site]));
    }
    let left = suggestions(&rig, "merchants'");
    assert!(left.iter().all(|text| !text.contains("Merchants' Light:")), "{left:?}");
}

/// Returns the value of a metric, summed over its labels.
fn metric(address: &str, name: &str, label: &str) -> f64 {
    let (_, text) = get(address, "/metrics");
    let lines = text.lines().filter(|line| line.starts_with(name) && line.contains(label));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

fn post(address: &str, path: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Paging is answered from the cache; clicks and queries are logged; suggestions and hot queries come from the logs.
#[test]
fn queries_are_cached_logged_and_suggested() {
    let rig =
        Rig::new(WebSpec { seed: 5, hosts: 8, pages: 400, ..WebSpec::default() }, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let title = rig.truth().stored().find(|page| page.status == 200).unwrap().title.clone();
    // No page has this title: it can only be suggested from the query log.
    let word = format!("{} of old", title.split([':', '：', ' ']).next().unwrap());
    let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    let address = serve.address();

    let query = "the OR 的";
    let (status, first) = get(&address, &format!("/search?q={}", encode(query)));
    assert_eq!(status, 200);
    let searched = metric(&address, "pharos_index_searches_total", "");
    assert!(searched > 0.0);
    let next = first.split("rel=\"next\"").next().unwrap().rsplit("href=\"").next().unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    for page in 2..=8 {
        let here = next.replace("page=2", &format!("page={page}"));
        let (status, body) = get(&address, &here);
        assert!(status == 200 && body.contains("<ol class=\"hits\""), "page {page}: {body}");
        let without = here.split("&generation").next().unwrap();
        assert_eq!(get(&address, without).0, 200);
    }
    assert_eq!(
        metric(&address, "pharos_index_searches_total", ""),
        searched,
        "turning pages searched the index"
    );
    assert!(metric(&address, "pharos_cache_lookups_total", "outcome=\"hit\"") > 0.0);

    // Clicks are accepted only on shown results.
    let impression = first.split("data-impression=\"").nth(1).unwrap().split('"').next().unwrap();
    let ping = format!("/api/v1/click?impression={impression}&kind=result&rank=1");
    let seen = format!("/api/v1/click?impression={impression}&kind=seen&rank=0");
    assert_eq!((post(&address, &seen), post(&address, &seen)), (204, 404), "it is seen once");
    assert_eq!(post(&address, &ping), 204);
    assert_eq!(post(&address, &format!("{}&dwell=4200", ping.replace("kind=result", "kind=leave"))), 204);
    assert_eq!(post(&address, &ping.replace("rank=1", "rank=99")), 404);
    assert_eq!(post(&address, "/api/v1/click?impression=made-up&rank=1"), 404);
    assert_eq!(post(&address, "/api/v1/click?kind=bought"), 400);
    assert_eq!(get(&address, &ping).0, 405);

    // A query becomes visible to other users after three visits.
    for agent in ["Firefox/1", "Chrome/2", "Safari/3"] {
        let mut stream = TcpStream::connect(&address).unwrap();
        let path = format!("/search?q={}", encode(&word));
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    let secret = format!("{word} 13800138000 geheim");
    get(&address, &format!("/search?q={}", encode(&secret)));
    let deadline = Instant::now() + Duration::from_secs(30);
    let hot = loop {
        let hot: Value = serde_json::from_str(&get(&address, "/api/v1/hot").1).unwrap();
        if !hot["top"].as_array().unwrap().is_empty() {
            break hot;
        }
        assert!(Instant::now() < deadline, "nothing is hot");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(hot["top"], json!([{ "query": word, "count": 3 }]), "queries of a single visit stay private");
    let begin: String = word.chars().take(2).collect();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !get(&address, &format!("/api/v1/suggest?q={}", encode(&begin))).1.contains("\"source\":\"query\"")
    {
        assert!(Instant::now() < deadline, "logged queries are not suggested");
        std::thread::sleep(Duration::from_millis(200));
    }
    let browsers: Value =
        serde_json::from_str(&get(&address, &format!("/suggest?q={}", encode(&begin))).1).unwrap();
    assert!(browsers[0] == begin.as_str() && browsers[1].as_array().is_some_and(|list| !list.is_empty()));

    serve.signal("TERM");
    serve.0.wait().unwrap();
    let check = succeed(&mut rig.pharos(&["log", "check"]));
    println!("{check}");
    let clicks = succeed(&mut rig.pharos(&["log", "cat", "clicks"]));
    let clicks: Vec<Value> = clicks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(clicks.len(), 2);
    assert!(clicks[0]["kind"] == "result" && clicks[0]["rank"] == 1 && clicks[0]["order"] == 1, "{clicks:?}");
    assert!(clicks[1]["kind"] == "leave" && clicks[1]["dwell_ms"] == 4200, "{clicks:?}");
    let queries = succeed(&mut rig.pharos(&["log", "cat", "queries"]));
    assert!(!queries.contains("13800138000") && !queries.contains("127.0.0.1"), "{queries}");
    assert!(queries.contains("\"cache\":\"hit\"") || queries.contains("\"cache\":\"partly\""));
    assert!(succeed(&mut rig.pharos(&["log", "cat", "system"])).contains("\"latency\""));
}

/// After repeated kills under load, every log line is readable, and queries answered a second before the kill are
/// logged.
#[test]
fn logs_are_readable_after_a_kill() {
    let rig =
        Rig::new(WebSpec { seed: 6, hosts: 4, pages: 120, ..WebSpec::default() }, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let mut kept = 0;
    for round in 0..if long() { 20 } else { 3 } {
        let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
        let address = serve.address();
        let (answered, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let before_the_last_second = std::thread::scope(|scope| {
            for asker in 0..4 {
                let (address, answered, stop) = (&address, &answered, &stop);
                scope.spawn(move || {
                    for n in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let path =
                            format!("/search?q={}", encode(&format!("asked {round} {asker} {n} 灯塔")));
                        let Ok(mut stream) = TcpStream::connect(address) else { break };
                        let request =
                            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
                        let mut answer = Vec::new();
                        if stream.write_all(request.as_bytes()).is_ok()
                            && stream.read_to_end(&mut answer).is_ok()
                            && answer.ends_with(b"</html>\n")
                        {
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(1500));
            let before = answered.load(Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1300));
            serve.signal("KILL");
            stop.store(true, Ordering::Relaxed);
            before
        });
        serve.0.wait().unwrap();
        kept += before_the_last_second;
        succeed(&mut rig.pharos(&["log", "check"]));
        let lines = succeed(&mut rig.pharos(&["log", "cat", "queries"])).lines().count() as u64;
        assert!(
            lines >= kept,
            "{lines} queries are logged, {kept} were answered more than a second before a kill"
        );
        kept = lines;
    }
    assert!(kept > 10);
}

/// Any prefix gets an answer, also without a history.
#[test]
fn any_prefix_is_answered() {
    let rig = demo(false);
    let found = suggestions(&rig, "lighth");
    assert!(found.iter().any(|text| text.to_lowercase().contains("lighthouse")), "{found:?}");
    let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    let address = serve.address();
    let long = "灯".repeat(2_000);
    for typed in [
        "",
        " ",
        "\u{0}\u{7}\u{1b}[2J",
        "%",
        "'\"<script>",
        "ا",
        "हि",
        "한국",
        "にほん",
        "🙂🙂",
        "\u{202e}abc",
        "a\u{301}",
        &long,
    ] {
        for path in ["/suggest", "/api/v1/suggest"] {
            let (status, body) = get(&address, &format!("{path}?q={}", encode(typed)));
            assert_eq!(status, 200, "{typed:?}");
            assert!(serde_json::from_str::<Value>(&body).is_ok(), "{typed:?}: {body}");
        }
    }
    assert_eq!(get(&address, "/api/v1/suggest?q=a&count=0").0, 400);
    assert_eq!(get(&address, "/api/v1/hot?window=year").0, 400);
    assert_eq!(get(&address, "/api/v1/hot?list=everything").0, 400);
}
