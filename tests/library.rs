//! Operations on stored pages: page reports, permanent removal, compaction.

use std::fs;
use std::path::Path;

use crate::common::{Rig, Running, encode, get, succeed, until};
use pharos_store::{RawResponse, RecordContent, StoredRecord};
use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

fn small_web(seed: u64) -> Rig {
    let rig = Rig::new(WebSpec { seed, pages: 80, ..WebSpec::default() }, ServeOptions::default());
    fs::create_dir_all(rig.data()).unwrap();
    // Small files, so that there is data to compact.
    fs::write(rig.data().join("pharos.toml"), "[library]\nfile_size = \"20KB\"\n").unwrap();
    rig
}

fn total(rig: &Rig, query: &str) -> u64 {
    let output = rig.pharos(&["--json", "search", "--all", query]).output().unwrap();
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["total"].as_u64().unwrap()
}

fn page(rig: &Rig, url: &str) -> (i32, Value) {
    let output = rig.pharos(&["--json", "page", url]).output().unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), json)
}

#[test]
fn a_page_is_reported() {
    let rig = small_web(41);
    succeed(&mut rig.crawl("crawl"));
    let truth = rig.truth();
    let stored = truth.stored().find(|p| p.status == 200 && !p.title.is_empty()).unwrap();
    let (code, page_report) = page(&rig, &stored.url);
    assert_eq!((code, page_report["state"].as_str()), (0, Some("stored")));
    assert_eq!(page_report["versions"].as_array().unwrap().len(), 1);
    let text = succeed(&mut rig.pharos(&["page", &stored.url]));
    assert!(text.contains("version    1  ") && text.contains("stored, status 200"), "{text}");
    let shown = rig.pharos(&["page", &stored.url, "--show"]).output().unwrap();
    let library = rig.records();
    let answer = library.iter().filter(|s| s.record.url.as_str() == stored.url).find_map(answer_of);
    assert_eq!(shown.stdout, *answer.unwrap().content(usize::MAX));
    let text = succeed(&mut rig.pharos(&["page", &stored.url, "--show", "1", "--text"]));
    assert!(!text.contains('<') || !text.trim().is_empty());
    let unknown = rig.pharos(&["page", "http://nowhere.test/"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("unknown page http://nowhere.test/"));
    let error = crate::common::fail(&mut rig.pharos(&["page", &stored.url, "--show", "7"]));
    assert!(error.contains("version 7 not found"), "{error}");
}

fn answer_of(stored: &StoredRecord) -> Option<&RawResponse> {
    match &stored.record.content {
        RecordContent::Response(response) => Some(response),
        _ => None,
    }
}

#[test]
fn removed_pages_never_come_back() {
    let rig = small_web(42);
    let mut up = Running::start(rig.crawl("up").args(["--listen", "127.0.0.1:0"]));
    let address = up.address();
    let truth = rig.truth();
    let expected = truth.stored().count();
    until("all is stored", || rig.stored().len() == expected);
    let hosts: Vec<_> = truth.stored().map(|p| p.host.clone()).collect();
    let site = format!("{}:{}", hosts.last().unwrap(), rig.server.port());
    let one = truth.stored().find(|p| p.status == 200 && p.host != *hosts.last().unwrap()).unwrap();
    until("the pages are searchable", || total(&rig, &format!("site:{}", hosts.last().unwrap())) > 0);
    let cached_page = format!("/snapshot?url={}", encode(&one.url));
    until("the page is searchable", || get(&address, &cached_page).0 == 303);

    // The running engine executes the order.
    succeed(&mut rig.pharos(&["remove", &one.url, &site]));
    until("it is gone", || get(&address, &cached_page).0 == 404);
    until("the site is gone", || total(&rig, &format!("site:{}", hosts.last().unwrap())) == 0);
    assert_eq!(page(&rig, &one.url).1["state"], "removed");
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());

    // Adding, crawling and building again do not restore it.
    rig.server.clear_log();
    succeed(&mut rig.crawl("crawl"));
    succeed(rig.pharos(&["add", &one.url]).args(["--quiet"]));
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let requests: Vec<_> = rig.server.log().iter().map(|r| format!("{}{}", r.host, r.path)).collect();
    assert!(
        !requests.iter().any(|a| one.url.ends_with(a.as_str()) || a.starts_with(hosts.last().unwrap())),
        "{requests:?}"
    );
    assert_eq!(total(&rig, &format!("site:{}", hosts.last().unwrap())), 0);

    // Compaction removes it from the library and from derived data; other pages stay.
    let before = rig.stored();
    let removed = |url: &str| url == one.url || url.starts_with(&format!("http://{site}/"));
    assert!(before.keys().any(|url| removed(url)));
    succeed(&mut rig.pharos(&["compact"]));
    let after = rig.stored();
    for url in before.keys() {
        assert_eq!(after.contains_key(url), !removed(url), "{url}");
    }
    succeed(&mut rig.pharos(&["index", "build"]));
    let (code, page_report) = page(&rig, &one.url);
    assert_eq!((code, page_report["state"].as_str()), (0, Some("removed")));
    assert!(page_report["versions"].as_array().unwrap().is_empty());
}

#[test]
fn an_order_without_an_engine_is_executed_immediately() {
    let rig = small_web(43);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let truth = rig.truth();
    let one = truth.stored().find(|p| p.status == 200 && !p.title.is_empty()).unwrap();
    let query = format!("site:{} {}", one.host, one.title);
    assert!(total(&rig, &query) > 0);
    let found = |rig: &Rig| {
        let output = rig.pharos(&["--json", "search", "--all", "-n", "100", &query]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains(&format!("\"{}\"", one.url))
    };
    assert!(found(&rig));
    succeed(&mut rig.pharos(&["remove", &one.url]));
    assert!(!found(&rig), "it is gone from search before any build");
    let error = crate::common::fail(&mut rig.pharos(&["remove", "example.org/no/scheme"]));
    assert!(error.contains("neither a URL"), "{error}");
    assert!(!Path::new(&rig.data().join("inbox")).exists());
}

/// Three versions of a page in a zstd library; the retention policy keeps one, and the page report lists all.
#[test]
fn old_versions_are_dropped_but_still_listed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("pharos.toml"), "[library]\nformat = \"zstd\"\nlevel = 3\nkeep_versions = 1\n")
        .unwrap();
    let url = "http://www.example.org/tower";
    let feed: String = [(1, "windmill"), (2, "bridge"), (3, "lighthouse")]
        .map(|(day, word)| {
            format!("{{\"op\":\"add\",\"url\":\"{url}\",\"date\":\"2026-01-0{day}\",\"title\":\"{word}\",\"text\":\"a {word}\"}}\n")
        })
        .concat();
    let file = dir.path().join("feed.jsonl");
    fs::write(&file, feed).unwrap();
    let on = |arguments: &[&str]| {
        let mut command = crate::common::pharos();
        command.arg("--data").arg(&data).args(arguments);
        command
    };
    succeed(on(&["load"]).arg(&file));
    assert!(data.join("library/00000001.warc.zst").exists());
    let kept = || {
        let page_report: Value = serde_json::from_str(&succeed(&mut on(&["--json", "page", url]))).unwrap();
        page_report["versions"].as_array().unwrap().iter().map(|v| v["kept"].to_string()).collect::<Vec<_>>()
    };
    assert!(kept().len() == 3 && kept().iter().all(|k| k.contains("whole")), "{:?}", kept());
    assert!(succeed(&mut on(&["page", url, "--show", "3"])).contains("windmill"));
    let done = succeed(&mut on(&["compact"]));
    assert!(done.contains("2 versions dropped"), "{done}");
    assert!(data.join("library/00000001-1.warc.zst").exists());
    assert_eq!(kept()[1..], ["\"dropped\"", "\"dropped\""]);
    assert!(succeed(&mut on(&["page", url, "--show"])).contains("lighthouse"));
    let error = crate::common::fail(&mut on(&["page", url, "--show", "2"]));
    assert!(error.contains("retention policy"), "{error}");
    succeed(&mut on(&["doctor"]));
    // The remaining records are enough to rebuild everything.
    succeed(&mut on(&["rebuild"]));
    assert_eq!(kept()[1..], ["\"dropped\"", "\"dropped\""]);
    assert!(succeed(&mut on(&["search", "lighthouse"])).contains(url));
    succeed(&mut on(&["doctor"]));
}
