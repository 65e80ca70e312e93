//! Data directories of earlier releases open, answer, and accept new work.
//!
//! `tests/upgrade/VERSION.tar.gz` is a data directory made by that release: a crawl of 42 pages in three sites with a built
//! history, a latest generation with one page loaded from a feed, one removed page, a proposed page, a pending order in
//! `inbox/`, custom words, logs of queries, impressions and clicks, a desk with the operator `ada`, and a `pharos.toml`.
//! To add one, run the release's `pharos` against `pharos-testweb --seed 7 --hosts 3 --pages 40 --copies reprints=3` and pack
//! the stopped directory: `tar -czf tests/upgrade/VERSION.tar.gz VERSION`.

use std::path::Path;
use std::process::Command;

use crate::common::{Running, TestFolder, describe, get, succeed};
use serde_json::Value;

const RELEASES: [&str; 1] = ["0.1.0"];

/// Unpacks the data directory of a release.
fn unpack(release: &str) -> TestFolder {
    let folder = TestFolder::new();
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/upgrade/{release}.tar.gz"));
    let status =
        Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path("")).status().unwrap();
    assert!(status.success());
    folder
}

#[test]
fn old_directories_are_read_without_a_rebuild() {
    for release in RELEASES {
        let folder = unpack(release);
        let doctor = folder.on(release, &["doctor"]).output().unwrap();
        assert!(doctor.status.success(), "{}", describe(&doctor));
        let stats = folder.json(release, &["stats"]);
        assert_eq!(stats["searchable"], 41, "{stats}");
        assert_eq!(folder.finds(release, "narwhals"), ["http://feed.example.org/a"]);
        assert_eq!(folder.json(release, &["search", "--all", "site:thafos-railway.test"])["total"], 20);
        assert!(folder.finds(release, "url:http://feed.example.org/b").is_empty(), "it was removed");
        let status = folder.json(release, &["index", "status"]);
        assert_eq!(status["history"]["to"]["offset"], 121_487, "the built history answers: {status}");
        assert_eq!(status["outdated"], true, "it is told to build: {status}");
        let queries = succeed(&mut folder.on(release, &["log", "cat", "queries"]));
        assert!(queries.contains("narwhals") && queries.contains("老歌"), "{queries}");
        let clicks = succeed(&mut folder.on(release, &["log", "cat", "clicks"]));
        let click: Value = serde_json::from_str(clicks.lines().next().unwrap()).unwrap();
        assert_eq!((&click["url"], &click["rank"]), (&"http://feed.example.org/a".into(), &1.into()));
        assert!(succeed(&mut folder.on(release, &["words", "list"])).contains("爱心社"));
        let config = folder.json(release, &["config"]).to_string();
        assert!(config.contains("you@example.org") && config.contains("灯塔"), "{config}");
        let page = folder.json(release, &["page", "http://feed.example.org/a"]);
        assert_eq!(
            (&page["state"], &page["position"]["offset"]),
            (&"stored".into(), &121_487.into()),
            "{page}"
        );
    }
}

#[test]
fn old_directories_accept_new_pages_builds_and_rebuilds() {
    for release in RELEASES {
        let folder = unpack(release);
        let feed = folder.file(
            "feed.jsonl",
            "{\"op\": \"add\", \"url\": \"http://feed.example.org/c\", \"text\": \"A page about zeppelins.\"}\n",
        );
        succeed(&mut folder.on(release, &["load", feed.to_str().unwrap()]));
        assert_eq!(folder.finds(release, "zeppelins"), ["http://feed.example.org/c"]);
        succeed(&mut folder.on(release, &["index", "build"]));
        assert_eq!(folder.finds(release, "narwhals"), ["http://feed.example.org/a"]);
        let status = folder.json(release, &["index", "status"]);
        assert_eq!(status["outdated"], false, "the build replaced every older generation: {status}");
        succeed(&mut folder.on(release, &["rebuild"]));
        let doctor = folder.on(release, &["doctor"]).output().unwrap();
        assert!(doctor.status.success(), "{}", describe(&doctor));
        assert_eq!(folder.finds(release, "zeppelins"), ["http://feed.example.org/c"]);
        let stats = folder.json(release, &["stats"]);
        assert_eq!(stats["searchable"], 42, "{stats}");
    }
}

/// The owner carries out the pending order, and the desk knows its operator.
#[test]
fn old_directories_are_served() {
    for release in RELEASES {
        let folder = unpack(release);
        let mut up = Running::start(&mut folder.on(release, &["up", "--listen", "127.0.0.1:0"]));
        let address = up.address();
        let (status, page) = get(&address, "/search?q=narwhals");
        assert!(status == 200 && page.contains("http://feed.example.org/a"), "{status} {page}");
        assert!(get(&address, "/admin/setup").0 != 200, "there is an operator already");
        let proposals = || succeed(&mut folder.on(release, &["add", "--proposals"]));
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !proposals().contains("http://submitted.example.org/") {
            assert!(std::time::Instant::now() < deadline, "the order was not carried out: {}", proposals());
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        assert!(proposals().contains("http://proposed.example.org/"));
    }
}
