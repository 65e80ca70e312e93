//! Curation through the real binary: the command line, a running server and `pharos search` agree.

use std::time::{Duration, Instant};

use crate::common::{Running, TestFolder, encode, fail, get, succeed, until};
use serde_json::{Value, json};

const URL: &str = "http://a.example/";

fn folder() -> TestFolder {
    let folder = TestFolder::new();
    let pages = [
        ("lamp", "The lamp", "A lamp in the tower."),
        ("oil", "Oil", "Oil for the lamp, and more of the kind."),
        ("tea", "Tea", "Nothing of the kind."),
        ("pharos", "Alexandria", "The pharos was a tower of stone, built long ago by the sea."),
    ];
    let feed = pages.map(|(path, title, text)| {
        json!({"op": "add", "url": format!("{URL}{path}"), "title": title, "text": text}).to_string() + "\n"
    });
    folder.file("feed.jsonl", feed.concat());
    succeed(&mut folder.on("data", &["load", "feed.jsonl"]));
    folder
}

fn paths(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["url"].as_str().unwrap().replace(URL, "")).collect()
}

fn searched(folder: &TestFolder, query: &str) -> Vec<String> {
    let output = folder.on("data", &["--json", "search", query]).output().unwrap();
    paths(&serde_json::from_slice(&output.stdout).unwrap())
}

fn served(address: &str, query: &str) -> Vec<String> {
    let (status, body) = get(address, &format!("/api/v1/search?q={}", encode(query)));
    assert_eq!(status, 200, "{body}");
    paths(&serde_json::from_str(&body).unwrap())
}

/// Waits until the server, the result page and the command return these results.
fn agree(folder: &TestFolder, address: &str, query: &str, expected: &[&str]) {
    let start = Instant::now();
    while served(address, query) != expected {
        assert!(start.elapsed() < Duration::from_secs(30), "{query}: {:?}", served(address, query));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(searched(folder, query), expected, "{query}");
    let page = get(address, &format!("/search?q={}", encode(query))).1;
    let mut at = 0;
    for path in expected {
        let link = format!("<a href=\"{URL}{path}\">");
        at += page[at..].find(&link).unwrap_or_else(|| panic!("{link} is missing in {page}"));
    }
}

#[test]
fn pins_hides_and_notices_take_effect_everywhere_without_a_restart() {
    let folder = folder();
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    agree(&folder, &address, "lamp", &["lamp", "oil"]);

    let curate = |arguments: &[&str]| succeed(&mut folder.on("data", &[&["curate"], arguments].concat()));
    let (lamp, oil, tea) = (format!("{URL}lamp"), format!("{URL}oil"), format!("{URL}tea"));
    curate(&["pin", " LAMP", &tea, "--by", "Ada"]);
    agree(&folder, &address, "lamp", &["tea", "lamp", "oil"]);
    curate(&["hide", &oil, "--by", "Ada"]);
    agree(&folder, &address, "lamp", &["tea", "lamp"]);
    agree(&folder, &address, "oil", &[]);
    curate(&["hide", &lamp, "--query", "lamp", "--until", "2100-01-01"]);
    agree(&folder, &address, "lamp", &["tea"]);
    agree(&folder, &address, "in the tower lamp", &["lamp", "pharos"]);
    curate(&["notice", "lamp", "Closed <today>", "--link", "https://a.example/hours"]);
    agree(&folder, &address, "lamp", &["tea"]);
    // The results are the same as before, so that agreement says nothing about the notice.
    until("the server follows the change", || get(&address, "/search?q=lamp&lang=en").1.contains("Closed"));
    let (_, page) = get(&address, "/search?q=lamp&lang=en");
    assert!(page.contains("Closed &#60;today&#62; <a href=\"https://a.example/hours\">"), "{page}");
    assert!(page.contains(">Pinned</small>"), "{page}");
    let shown = succeed(&mut folder.on("data", &["search", "lamp"]));
    assert!(shown.contains("notice: Closed <today>") && shown.contains("/tea    pinned"), "{shown}");

    let explained = succeed(&mut folder.on("data", &["search", "--explain", "lamp"]));
    assert!(
        explained.contains("pinned by Ada on ") && explained.contains("hidden by Ada on "),
        "{explained}"
    );
    let (_, api) = get(&address, "/api/v1/search?q=lamp&explain=1");
    let api: Value = serde_json::from_str(&api).unwrap();
    assert_eq!(api["hits"][0]["explanation"]["pinned"]["by"], "Ada", "{api}");
    assert_eq!(api["explanation"]["hidden"].as_array().unwrap().len(), 2, "{api}");
    assert!(!api["explanation"]["hidden"].to_string().contains("oil"), "hidden URLs are not published");
    let (_, page) = get(&address, "/search?q=lamp&explain=1&lang=en");
    assert!(page.contains("Pinned by Ada on ") && page.contains("hidden by Ada"), "{page}");

    let list = folder.json("data", &["curate", "list"]);
    let kinds: Vec<&str> =
        list["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["pin", "hide", "hide", "notice"]);
    assert_eq!(list["entries"][2]["until"], "2100-01-01T00:00:00Z");

    // A rebuild of everything that is derived leaves the entries alone, and so does the loss of the derived stores.
    serving.signal("TERM");
    assert!(serving.0.wait().unwrap().success());
    succeed(&mut folder.on("data", &["rebuild"]));
    assert_eq!(folder.json("data", &["curate", "list"]), list);
    std::fs::remove_file(folder.path("data/catalog.db")).unwrap();
    std::fs::remove_dir_all(folder.path("data/index")).unwrap();
    succeed(&mut folder.on("data", &["rebuild"]));
    assert_eq!(folder.json("data", &["curate", "list"]), list);
    assert_eq!(searched(&folder, "lamp"), ["tea"]);
    // The entries are no pages: an archive of the library has none of them, and importing it changes nothing here.
    succeed(&mut folder.on("data", &["export", "--format", "warc", "--out", "pages.warc.gz"]));
    succeed(&mut folder.on("copy", &["import", "pages.warc.gz"]));
    let copied = folder.json("copy", &["search", "lamp"]);
    assert_eq!(paths(&copied), ["lamp", "oil"]);
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();

    // A backup contains the entries.
    succeed(&mut folder.on("data", &["backup", "saved"]));
    succeed(&mut folder.on("again", &["restore", "saved"]));
    assert_eq!(folder.json("again", &["curate", "list"]), list);

    curate(&["unhide", &oil]);
    curate(&["unhide", &lamp, "--query", "Lamp"]);
    curate(&["unpin", "lamp", &tea]);
    curate(&["notice", "lamp", "--remove"]);
    agree(&folder, &address, "lamp", &["lamp", "oil"]);
    assert!(!get(&address, "/search?q=lamp").1.contains("Closed"));
    let nothing = folder.on("data", &["curate", "unpin", "lamp", &tea]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(1));
}

#[test]
fn pins_end_and_pages_that_disappear_are_marked() {
    let folder = folder();
    let gone = format!("{URL}gone");
    let output =
        folder.on("data", &["curate", "pin", "lamp", &gone, "--until", "2020-01-01T12:00"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not in the index"));
    succeed(
        &mut folder.on("data", &["curate", "pin", "lamp", &format!("{URL}tea"), "--until", "2020-01-01"]),
    );
    assert_eq!(searched(&folder, "lamp"), ["lamp", "oil"]);
    let list = succeed(&mut folder.on("data", &["curate", "list"]));
    assert!(list.contains("gone") && list.contains("ended, not in the index"), "{list}");
    // A page that is removed later shows nothing either.
    succeed(&mut folder.on("data", &["curate", "pin", "lamp", &format!("{URL}tea")]));
    assert_eq!(searched(&folder, "lamp"), ["tea", "lamp", "oil"]);
    succeed(&mut folder.on("data", &["remove", &format!("{URL}tea")]));
    assert_eq!(searched(&folder, "lamp"), ["lamp", "oil"]);
}

#[test]
fn synonyms_and_stop_words_are_files_that_a_running_server_reads() {
    let folder = folder();
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    agree(&folder, &address, "lamps", &["lamp", "oil"]);
    folder.file("data/models/synonyms.tsv", "lamp\tpharos\npharos\tlamp\nalone\n");
    agree(&folder, &address, "lamps", &["lamp", "oil", "pharos"]);
    let explained = succeed(&mut folder.on("data", &["search", "--explain", "lamps"]));
    assert!(explained.contains("pharos (synonym of lamps)"), "{explained}");
    let checked = folder.on("data", &["curate", "synonyms"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("lamp\tpharos"));
    assert!(String::from_utf8_lossy(&checked.stderr).contains("line 3"));
    folder.file("data/models/stop_words.txt", "please");
    let relaxed = |query: &str| {
        let (_, body) = get(&address, &format!("/api/v1/search?q={}", encode(query)));
        serde_json::from_str::<Value>(&body).unwrap()["relaxed"] == true
    };
    let start = Instant::now();
    while relaxed("please oil") {
        assert!(start.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn invalid_input_is_refused_with_a_reason() {
    let folder = folder();
    let refused = |arguments: &[&str]| fail(&mut folder.on("data", &[&["curate"], arguments].concat()));
    assert!(refused(&["pin", " ", &format!("{URL}tea")]).contains("the query is empty"));
    assert!(refused(&["pin", "lamp", "tea"]).contains("`tea` is not the URL of a page"));
    assert!(refused(&["hide", "javascript:alert(1)"]).contains("is not the URL of a page"));
    assert!(refused(&["notice", "lamp", "x", "--link", "ftp://a/"]).contains("is not a link"));
    assert!(refused(&["pin", "lamp", URL, "--until", "soon"]).contains("`soon` is not a time"));
    assert!(!folder.path("data/models/curation.json").exists());
    folder.file("data/models/curation.json", "{");
    assert!(refused(&["list"]).contains("curation.json is damaged"));
    assert!(refused(&["pin", "lamp", URL]).contains("curation.json is damaged"));
    assert_eq!(searched(&folder, "lamp"), ["lamp", "oil"], "searching continues");
    let missing = folder.on("missing", &["curate", "pin", "lamp", URL]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(!folder.path("missing").exists());
}
