//! Queries and results through the real binary: home pages for site names, the query language, invalid input, equal
//! results of command line and API, and the tables of the evaluation commands.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::common::{Rig, TestFolder, fail, succeed};
use pharos_testweb::{PageKind, ServeOptions, WebSpec};
use serde_json::{Value, json};

fn json_of(rig: &Rig, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    let output = rig.pharos(&arguments).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", crate::common::describe(&output)))
}

/// Checks the mean reciprocal rank of home pages for the names of their sites.
#[test]
fn the_name_of_a_site_finds_its_home_page() {
    let spec = WebSpec { seed: 9, hosts: 40, pages: 1_200, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let truth = rig.truth();
    let (mut sum, mut asked, mut missed) = (0.0, 0.0, Vec::new());
    for home in truth.stored().filter(|page| page.kind == PageKind::Home && page.status == 200) {
        // `Name: headline`; two sites may have the same name.
        let name = home.title.split([':', '：']).next().unwrap();
        let of_name =
            truth.stored().filter(|page| page.kind == PageKind::Home && page.title.starts_with(name));
        let homes: Vec<&str> = of_name.map(|page| page.url.as_str()).collect();
        let answer = json_of(&rig, &["search", name]);
        let hits = answer["hits"].as_array().unwrap();
        let rank = hits.iter().position(|hit| homes.contains(&hit["url"].as_str().unwrap()));
        sum += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        asked += 1.0;
        if rank != Some(0) {
            missed.push((name.to_string(), rank, hits.first().map(|hit| hit["url"].clone())));
        }
    }
    println!("MRR of {asked} names of sites: {:.3}", sum / asked);
    assert!(asked >= 30.0);
    assert!(sum / asked >= 0.95, "MRR {:.3}: {missed:?}", sum / asked);
}

/// Queries made from the stored pages find these pages again.
#[test]
fn known_items_are_found_again() {
    let spec = WebSpec { seed: 19, hosts: 8, pages: 400, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let evaluation = json_of(&rig, &["eval", "search", "--queries", "30", "--cases"]);
    let rows = evaluation["rows"].as_array().unwrap();
    let total = |kind: &str, figure: &str| -> f64 {
        let of_kind = rows.iter().filter(|row| row["kind"] == kind);
        let (sum, queries) = of_kind.fold((0.0, 0.0), |(sum, queries), row| {
            let count = row["figures"]["queries"].as_f64().unwrap();
            (sum + count * row["figures"][figure].as_f64().unwrap(), queries + count)
        });
        assert!(queries >= 5.0, "{queries} queries of {kind}: {rows:?}");
        sum / queries
    };
    for (kind, least) in [("title", 0.8), ("body", 0.8), ("site", 0.8)] {
        assert!(total(kind, "s_at_10") >= least, "{kind} {rows:?}");
    }
    let cases = evaluation["cases"].as_array().unwrap();
    assert!(cases.iter().all(|case| case["rank"].is_null() != case["cause"].is_null()), "{cases:?}");
    let again = json_of(&rig, &["eval", "search", "--queries", "30", "--cases"]);
    assert_eq!(evaluation, again, "the same pages give the same queries");
    assert!(succeed(&mut rig.pharos(&["eval", "search", "-n", "5"])).contains("S@10"));
}

/// A few pages for all operators of the query language.
fn desk() -> TestFolder {
    let desk = TestFolder::new();
    let page = |url: &str, title: &str, text: &str, date: &str| {
        let meta = format!("<meta property=\"article:published_time\" content=\"{date}\">");
        let html =
            format!("<html><head><title>{title}</title>{meta}</head><body><p>{text}</p></body></html>");
        json!({"op": "add", "url": url, "html": html}).to_string() + "\n"
    };
    let pages = [
        page(
            "http://www.tea.example/green/one.html",
            "Green tea",
            "A cup of green tea in the morning.",
            "2024-03-01",
        ),
        page(
            "http://www.tea.example/black/two.html",
            "Black tea",
            "Strong tea with milk, never green.",
            "2025-06-01",
        ),
        page("http://shop.tea.example/", "Tea shop", "Cups and pots.", "2026-01-10"),
        page("http://cha.example/lu", "绿茶的泡法", "泡绿茶要用八十度的水，綠茶不能久泡。", "2023-01-01"),
        page("http://coffee.example/", "Coffee", "Beans, roasted dark; no tea here.", "2022-01-01"),
    ];
    let file = desk.file("pages.jsonl", pages.concat());
    succeed(&mut desk.on("data", &["load", file.to_str().unwrap()]));
    desk
}

fn urls(desk: &TestFolder, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<&str> = ["--json", "search"].iter().chain(arguments).copied().collect();
    let output = desk.on("data", &arguments).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let path = |hit: &Value| hit["url"].as_str().unwrap().replace("http://", "");
    let mut urls: Vec<String> = answer["hits"].as_array().unwrap().iter().map(path).collect();
    urls.sort();
    urls
}

#[test]
fn operators_of_the_query_language() {
    let desk = desk();
    let (one, two, shop) =
        ("www.tea.example/green/one.html", "www.tea.example/black/two.html", "shop.tea.example/");
    let (zh, coffee) = ("cha.example/lu", "coffee.example/");
    for (query, expected) in [
        ("green tea", vec![two, one]),
        ("\"green tea\"", vec![one]),
        ("tea -green", vec![coffee, shop]),
        ("coffee OR milk", vec![coffee, two]),
        ("tea (milk | cups)", vec![shop, one, two]),
        ("site:tea.example", vec![shop, two, one]),
        ("site:www.tea.example/green", vec![one]),
        ("site:tea.example/black", vec![two]),
        ("tea -site:tea.example", vec![coffee]),
        ("intitle:tea milk", vec![two]),
        ("inurl:green", vec![one]),
        ("inbody:tea", vec![coffee, two, one]),
        ("inbody:\"green tea\"", vec![one]),
        ("lang:zh", vec![zh]),
        ("tea before:2025", vec![coffee, one]),
        ("tea after:2026", vec![shop]),
        ("url:cha.example/lu", vec![zh]),
        ("綠茶", vec![zh]),
        ("《绿茶》", vec![zh]),
        ("（绿茶 ｜ coffee） －beans", vec![zh]),
        ("colour:red", vec![]),
    ] {
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(urls(&desk, &["--", query]), expected, "{query}");
    }
    let relaxed = desk.json("data", &["search", "milk lighthouse"]);
    assert_eq!((&relaxed["relaxed"], &relaxed["hits"][0]["title"]), (&json!(true), &json!("Black tea")));
    let newest = desk.json("data", &["search", "--sort", "date", "tea"]);
    assert_eq!(newest["hits"][0]["title"], "Tea shop");
    let facets = desk.json("data", &["search", "--facets", "tea"])["facets"].clone();
    assert_eq!(facets["site"][0], json!({"value": "www.tea.example", "pages": 2}), "{facets}");
    assert_eq!(facets["type"].as_array().unwrap().len(), 1, "{facets}");
    let explained = succeed(&mut desk.on("data", &["search", "--explain", "green tea"]));
    for part in [
        "parsed:     green tea",
        "kind:       Ordinary",
        "score 0.",
        "words 0.",
        "near ",
        "title ",
        "green: ",
    ] {
        assert!(explained.contains(part), "{part} is missing in {explained}");
    }
    // Traditional and simplified forms are highlighted alike.
    let marked = desk.json("data", &["search", "绿茶"]);
    let html = marked["hits"][0]["snippet_html"].as_str().unwrap();
    assert!(html.contains("<mark>绿茶</mark>") && html.contains("<mark>綠茶</mark>"), "{html}");
}

struct Serving(Child, u16);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(desk: &TestFolder) -> Serving {
    let mut command = desk.on("data", &["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        line.split("127.0.0.1:")
            .nth(1)?
            .chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .ok()
    });
    std::thread::spawn(move || lines.for_each(drop));
    Serving(child, port.unwrap())
}

fn get(serving: &Serving, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", serving.1)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_string())
}

fn escaped(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

#[test]
fn command_line_and_api_give_the_same_answer() {
    let desk = desk();
    let serving = serve(&desk);
    for query in ["green tea", "绿茶", "site:tea.example", "milk lighthouse"] {
        let path = format!("/api/v1/search?q={}&explain=1&facets=1", escaped(query));
        let (status, body) = get(&serving, &path);
        let mut api: Value = serde_json::from_str(&body).unwrap();
        let mut cli = desk.json("data", &["search", "--explain", "--facets", query]);
        assert_eq!(status, 200);
        for answer in [&mut api, &mut cli] {
            answer["took_ms"] = json!(0);
        }
        assert_eq!(api, cli, "{query}");
        assert!(api["hits"][0]["explanation"]["parts"].as_array().unwrap().len() >= 4);
    }
    let (_, page) = get(&serving, "/search?q=tea&explain=1");
    assert!(page.contains("<table class=\"score\""), "{page}");
    assert_eq!(get(&serving, "/api/v1/search?q=tea&sort=size").0, 400);
}

/// A repeated query and its next page come from the cache; a query log measures the value of a cache.
#[test]
fn repeated_queries_are_cached_and_logs_are_replayed() {
    let desk = desk();
    let serving = serve(&desk);
    let known = |path: &str| -> Value {
        serde_json::from_str::<Value>(&get(&serving, path).1).unwrap()["cache"].take()
    };
    let first = "/api/v1/search?q=tea&size=2";
    assert_eq!([known(first), known(first)], [json!("miss"), json!("hit")]);
    assert_eq!(known("/api/v1/search?q=tea&size=2&page=2"), json!("partly"));
    let metrics = get(&serving, "/metrics").1;
    for line in [
        "pharos_cache_lookups_total{cache=\"answers\",outcome=\"hit\"} 1",
        "pharos_index_searches_total{part=\"all\"}",
        "pharos_cache_bytes{cache=\"lists\"}",
    ] {
        assert!(metrics.contains(line), "{line} is missing in {metrics}");
    }
    let log = desk.file("queries.log", "tea\n{\"query\":\"tea\"}\n{broken\nrock\ntea\n");
    let log = log.to_str().unwrap();
    let table = succeed(&mut desk.on("data", &["eval", "cache", log, "--sizes", "1,100"]));
    for part in ["4 queries, 2 distinct", "1 lines skipped", "LRU", "W-TinyLFU", "0.500000"] {
        assert!(table.contains(part), "{part} is missing in {table}");
    }
    let report = desk.json("data", &["eval", "cache", log, "--sizes", "7", "--decay", "0.5"]);
    assert_eq!(report["caches"].as_array().unwrap().len(), 4);
    for (wrong, expected) in [
        (&["nowhere.log"][..], "nowhere.log"),
        (&[log, "--sizes", "0"][..], "invalid cache size 0"),
        (&[log, "--decay", "2"][..], "between 0 and 1"),
    ] {
        let arguments: Vec<&str> = ["eval", "cache"].iter().chain(wrong).copied().collect();
        let error = fail(&mut desk.on("data", &arguments));
        assert!(error.contains(expected), "{error}");
    }
    let error = fail(&mut desk.on("where nobody asked", &["eval", "cache"]));
    assert!(error.contains("no query log"), "{error}");
}

/// Any input gets an answer, without interpretation as markup and without leaks.
#[test]
fn bad_input_is_answered() {
    let desk = desk();
    let serving = serve(&desk);
    let bad = [
        "\"".to_string(),
        "((((((".into(),
        "))))".into(),
        "- - - OR | OR".into(),
        "site: intitle: -".into(),
        "site:".repeat(100),
        "\u{0}\u{1}\u{1b}[31mtea".into(),
        "<script>alert(1)</script>".into(),
        "' OR 1=1; DROP TABLE pages; --".into(),
        "(a+)+$ (.*)*{1,99999}".into(),
        "word ".repeat(1_000),
        "灯".repeat(2_000),
        "../../etc/passwd file:///etc/passwd".into(),
        "before:9999999999 after:-1 url:javascript:alert(1)".into(),
    ];
    for text in &bad {
        let (status, body) = get(&serving, &format!("/api/v1/search?q={}", escaped(text)));
        let is_fine = status == 200 || (status == 414 && text.len() > 2_000) || status == 400;
        assert!(is_fine, "{status} for {:?}: {body}", text.chars().take(40).collect::<String>());
        let (_, page) = get(&serving, &format!("/search?q={}", escaped(text)));
        assert!(!page.contains("<script>alert") && !page.contains("root:x"), "{page}");
    }
    for page in ["0", "-1", "1000000000", "99999999999999999999", "x"] {
        assert_eq!(get(&serving, &format!("/search?q=tea&page={page}")).0, 200, "{page}");
    }
    // A query of a megabyte is rejected by the server and truncated by the command line.
    let output = desk.on("data", &["search", &"tea ".repeat(30_000)]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", crate::common::describe(&output));
    assert_eq!(urls(&desk, &["tea"]).len(), 4, "and everything is still there");
}

#[test]
fn quality_is_measured_and_compared() {
    let desk = TestFolder::new();
    let folder = desk.file("docs.jsonl", "").parent().unwrap().join("collection");
    std::fs::create_dir(&folder).unwrap();
    let document =
        |id: usize, body: &str| json!({"id": id.to_string(), "title": "", "body": body}).to_string() + "\n";
    let documents: String = (0..30)
        .map(|id| {
            document(
                id,
                if id % 3 == 0 { "the keeper lit the lamp" } else { "a lamp and nothing of the rest" },
            )
        })
        .collect();
    std::fs::write(folder.join("docs.jsonl"), documents).unwrap();
    let missing = fail(&mut desk.on("data", &["eval", "retrieval", folder.to_str().unwrap()]));
    assert!(missing.contains("queries"), "{missing}");
    std::fs::write(folder.join("queries.tsv"), "1\tlamp keeper\n2\tnothing of the rest\n").unwrap();
    let judged = |query: usize, of: &dyn Fn(usize) -> bool| -> String {
        (0..30).filter(|id| of(*id)).map(|id| format!("{query} 0 {id} 1\n")).collect()
    };
    let qrels = judged(1, &|id| id % 3 == 0) + judged(2, &|id| id % 3 != 0).as_str();
    std::fs::write(folder.join("qrels.txt"), qrels).unwrap();
    let run = desk.file("run.txt", "");
    let arguments = [
        "eval",
        "retrieval",
        folder.to_str().unwrap(),
        "--run",
        run.to_str().unwrap(),
        "--with",
        "rank.model=tfidf",
    ];
    let table = succeed(&mut desk.on("data", &arguments));
    for part in ["30 documents, 2 queries", "MAP", "nDCG@10", "MRR", "ERR", "p = "] {
        assert!(table.contains(part), "{part} is missing in {table}");
    }
    assert!(std::fs::read_to_string(&run).unwrap().lines().count() > 20);
    let report = desk.json("data", &["eval", "retrieval", folder.to_str().unwrap()]);
    assert!(report["report"]["means"].to_string().contains("1.0"), "{report}");
    let wrong = fail(
        &mut desk.on("data", &["eval", "retrieval", folder.to_str().unwrap(), "--with", "rank.colour=1"]),
    );
    assert!(wrong.contains("rank.colour"), "{wrong}");
    let spam = succeed(&mut desk.on("data", &["eval", "spam"]));
    assert!(spam.contains("bought clicks") && spam.contains("rank (product)"), "{spam}");
}
