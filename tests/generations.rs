//! The life cycle of index generations through the binary: verify, rollback, damage, interrupted and failed builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Rig, Running, describe, encode, fail, get, succeed, until};
use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

fn web(seed: u64, pages: usize) -> Rig {
    Rig::new(WebSpec { seed, hosts: 4, pages, ..WebSpec::default() }, ServeOptions::default())
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&succeed(command)).unwrap()
}

/// Returns the results of a few queries: addresses with scores.
fn answers(rig: &Rig) -> Vec<Vec<(String, String)>> {
    let hosts: Vec<String> = rig.truth().hosts.iter().map(|host| format!("site:{}", host.name)).collect();
    let words = ["the", "new", "大学", "page"].map(String::from);
    let ask = |query: &String| {
        let output = rig.pharos(&["--json", "search", "-n", "200", query]).output().unwrap();
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", describe(&output)));
        let hit = |hit: &Value| {
            (hit["url"].as_str().unwrap().to_string(), format!("{:.4}", hit["score"].as_f64().unwrap()))
        };
        let mut hits: Vec<_> = answer["hits"].as_array().unwrap().iter().map(hit).collect();
        hits.sort();
        hits
    };
    hosts.iter().chain(&words).map(ask).collect()
}

fn searchable(rig: &Rig) -> u64 {
    json(&mut rig.pharos(&["--json", "index", "status"]))["searchable"].as_u64().unwrap()
}

/// Returns the largest file of a generation other than its manifest.
fn largest(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 16;
    fs::write(path, bytes).unwrap();
}

#[test]
fn verify_and_rollback_report_their_findings() {
    let rig = web(71, 120);
    succeed(&mut rig.crawl("crawl"));
    let error = fail(&mut rig.pharos(&["index", "rollback"]));
    assert!(error.contains("nothing to roll back to"), "{error}");
    succeed(&mut rig.pharos(&["index", "build"]));
    let before = answers(&rig);
    let error = fail(&mut rig.pharos(&["index", "rollback"]));
    assert!(error.contains("nothing to roll back to"), "{error}");
    succeed(&mut rig.pharos(&["index", "build"]));
    assert_eq!(answers(&rig), before);

    let status = json(&mut rig.pharos(&["--json", "index", "status"]));
    assert_eq!((&status["history"]["number"], &status["previous"][0]["number"]), (&2.into(), &1.into()));
    assert_eq!(status["history"]["pages"], status["previous"][0]["pages"]);
    assert_eq!((&status["building"], &status["unfinished"]), (&false.into(), &Value::Null));
    let printed = succeed(&mut rig.pharos(&["index", "status"]));
    assert!(
        printed.contains("history  generation 2") && printed.contains("kept for `pharos index rollback`"),
        "{printed}"
    );

    let good = succeed(&mut rig.pharos(&["index", "verify"]));
    assert!(good.contains("history 2: ok") && good.contains("history 1 (kept for rollback): ok"), "{good}");
    let damaged = largest(&rig.data().join("index/history-2"));
    flip(&damaged);
    let output = rig.pharos(&["index", "verify"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{}", describe(&output));
    assert!(printed.contains(damaged.to_str().unwrap()) && printed.contains("history 1 (kept"), "{printed}");
    let output = rig.pharos(&["--json", "index", "verify"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["good"]), (Some(1), &false.into()));

    // A reader changes nothing and finds everything.
    let output = rig.pharos(&["search", "site:test"]).output().unwrap();
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warned.contains("history-2 is damaged") && warned.contains("generation 1"), "{warned}");
    assert_eq!(answers(&rig), before);
    assert!(rig.data().join("index/history-2").exists());
    let summary = json(&mut rig.pharos(&["--json", "index", "rollback"]));
    assert_eq!((&summary["from"], &summary["to"]), (&2.into(), &1.into()));
    assert!(!rig.data().join("index/history-2").exists());
    assert_eq!(answers(&rig), before);
    succeed(&mut rig.pharos(&["index", "verify"]));
    let built = json(&mut rig.pharos(&["--json", "index", "build"]));
    assert_eq!(built["generation"], 3, "numbers are not given twice");
    assert_eq!(answers(&rig), before);
}

/// Pages stored by a crawl and known only to the dropped history are found after a rollback, and removed pages are not.
#[test]
fn a_rollback_after_a_crawl_without_an_index_loses_nothing() {
    let rig = web(72, 120);
    succeed(rig.crawl("crawl").args(["--max-pages", "40"]));
    succeed(&mut rig.pharos(&["index", "build"]));
    let few = searchable(&rig);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let all = searchable(&rig);
    assert!(few < all);
    let home = rig.server.seeds()[0].clone();
    succeed(&mut rig.pharos(&["remove", &home]));
    succeed(&mut rig.pharos(&["index", "rollback"]));
    let found = json(&mut rig.pharos(&["--json", "search", "--all", "-n", "1000", "site:test"]));
    let urls: Vec<&str> =
        found["hits"].as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap()).collect();
    assert!(!urls.contains(&home.as_str()), "removed pages stay removed");
    let stored = rig.truth().stored().filter(|page| page.status == 200).count();
    assert!(urls.len() + 1 >= stored.min(256), "{} of {stored}", urls.len());
    succeed(&mut rig.pharos(&["doctor"]));
}

/// `serve` and `up` answer despite a damaged history, and the owner rolls back permanently.
#[test]
fn a_damaged_history_does_not_stop_the_service() {
    let rig = web(73, 100);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    succeed(&mut rig.pharos(&["index", "build"]));
    let host = rig.truth().hosts[0].name.clone();
    let total = |address: &str| {
        let (status, body) =
            get(address, &format!("/api/v1/search?q={}&all=1", encode(&format!("site:{host}"))));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["total"].as_u64().unwrap()
    };
    let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    let all = total(&serve.address());
    drop(serve);
    flip(&largest(&rig.data().join("index/history-2")));
    let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(total(&serve.address()), all);
    let mut up = Running::start(rig.crawl("up").args(["--listen", "127.0.0.1:0"]));
    assert_eq!(total(&up.address()), all);
    assert!(!rig.data().join("index/history-2").exists(), "the owner went back for good");
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    drop(serve);
    // Without a previous history, the error says what to do.
    flip(&largest(&rig.data().join("index/history-1")));
    let error = fail(&mut rig.pharos(&["search", "x"]));
    assert!(error.contains("history-1 is damaged") && error.contains("pharos rebuild index"), "{error}");
    succeed(&mut rig.pharos(&["rebuild", "index"]));
    assert!(searchable(&rig) > 0);
}

/// A build that is killed repeatedly finishes, with the same results as an uninterrupted one.
#[test]
fn a_killed_build_resumes() {
    let rig = web(74, 600);
    succeed(&mut rig.crawl("crawl"));
    let build = || {
        let mut command = rig.pharos(&["--json", "index", "build"]);
        command.env("PHAROS_INDEX_SAVE_EVERY", "20");
        command
    };
    let status = || json(&mut rig.pharos(&["--json", "index", "status"]));
    // Until a checkpoint exists; the time depends on the machine.
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut running = Running::start(&mut build());
    while status()["unfinished"]["saved"].as_u64().unwrap_or(0) == 0 {
        assert!(Instant::now() < deadline, "nothing is ever saved");
        if running.0.try_wait().unwrap().is_some() {
            running = Running::start(&mut build());
        }
    }
    drop(running);
    if status()["unfinished"].is_object() {
        let printed = succeed(&mut rig.pharos(&["index", "status"]));
        assert!(printed.contains("the next one resumes with"), "{printed}");
    }
    for delay in [100, 300, 600] {
        let running = Running::start(&mut build());
        std::thread::sleep(Duration::from_millis(delay));
        drop(running);
    }
    let summary = json(&mut build());
    assert_eq!(status()["unfinished"], Value::Null);
    let interrupted = answers(&rig);
    // The same build without an interruption.
    let whole = json(&mut rig.pharos(&["--json", "index", "build"]));
    assert_eq!((&whole["pages"], &whole["saved"]), (&summary["pages"], &0.into()));
    assert_eq!(answers(&rig), interrupted);
    succeed(&mut rig.pharos(&["doctor"]));
}

/// A checkpoint of an earlier build is discarded after a change of settings.
#[test]
fn a_checkpoint_of_other_settings_is_discarded() {
    let rig = web(75, 300);
    succeed(&mut rig.crawl("crawl"));
    let mut stopped = rig.pharos(&["index", "build"]);
    let mut running = Running::start(stopped.env("PHAROS_INDEX_SAVE_EVERY", "10"));
    let saved = rig.data().join("index/building/PLAN");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !saved.exists() && running.0.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(running);
    let mut other = rig.pharos(&["--json", "index", "build"]);
    let built = json(other.env("PHAROS_INDEX_BODY_LIMIT", "10KB"));
    assert_eq!(built["saved"], 0);
    assert!(!saved.exists());
}

/// Pages fetched after an interrupted build are found after the build that continues it.
#[test]
fn pages_fetched_after_an_interrupted_build_are_found_after_the_next() {
    let rig = web(76, 400);
    succeed(rig.crawl("crawl").args(["--max-pages", "200"]));
    let mut running = Running::start(rig.pharos(&["index", "build"]).env("PHAROS_INDEX_SAVE_EVERY", "10"));
    let plan = rig.data().join("index/building/PLAN");
    while !plan.exists() && running.0.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(running);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let found = searchable(&rig);
    succeed(&mut rig.pharos(&["index", "build"]));
    assert!(found >= searchable(&rig), "copies are grouped only by a build");
    succeed(&mut rig.pharos(&["doctor"]));
}

#[test]
fn a_full_disk_during_a_build_does_not_affect_the_served_index() {
    let rig = web(77, 300);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let before = answers(&rig);
    let build = rig.pharos(&["index", "build"]);
    for blocks in [4, 40, 120] {
        // SIGXFSZ is ignored, so that the write fails instead of the process.
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut limited = Command::new("bash");
        limited.args(["-c", &limit]).arg(build.get_program()).args(build.get_args());
        let output = limited.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{blocks} blocks: {}", describe(&output));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_named = error.contains("free disk space") || error.contains("File too large");
        assert!(is_named && !error.contains("panicked"), "{error}");
        assert!(error.contains("searches are unaffected"), "{error}");
        assert_eq!(answers(&rig), before);
        succeed(&mut rig.pharos(&["index", "verify"]));
    }
    succeed(&mut rig.pharos(&["index", "build"]));
    assert_eq!(answers(&rig), before);
}

#[test]
fn a_second_builder_gets_an_error_that_names_the_first() {
    let rig = web(78, 400);
    succeed(&mut rig.crawl("crawl"));
    let lock = rig.data().join("index/BUILD");
    let mut first = Running::start(&mut rig.pharos(&["index", "build"]));
    while !lock.exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = rig.pharos(&["index", "build"]).output().unwrap();
    // The first may have finished by then.
    if output.status.code() != Some(0) {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("another `pharos index build` is running"), "{error}");
    }
    assert!(first.0.wait().unwrap().success());
    succeed(&mut rig.pharos(&["index", "verify"]));
}

/// `up` builds the first history as soon as the crawl pauses, and reports until then that ranking will improve.
#[test]
fn up_builds_the_first_history_when_the_crawl_pauses() {
    let rig = web(80, 30);
    let mut command = rig.crawl("up");
    command.env("PHAROS_INDEX_FIRST_BUILD", "1000").env("PHAROS_INDEX_BUILD_EVERY", "0s");
    let mut up = Running::start(command.args(["--listen", "127.0.0.1:0"]));
    up.address();
    let status = || json(&mut rig.pharos(&["--json", "index", "status"]));
    until("the first history is built", || {
        let status = status();
        let has_history = status["history"]["number"].is_u64();
        assert_eq!(status["first_build"].is_null(), has_history, "{status}");
        has_history
    });
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    assert!(searchable(&rig) > 10);
}

/// `up` starts builds by schedule.
#[test]
fn up_builds_by_schedule() {
    let rig = web(79, 100);
    let mut command = rig.crawl("up");
    command.env("PHAROS_INDEX_BUILD_EVERY", "1s").args(["--listen", "127.0.0.1:0"]);
    let mut up = Running::start(&mut command);
    up.address();
    let deadline = Instant::now() + Duration::from_secs(120);
    let history = || json(&mut rig.pharos(&["--json", "index", "status"]))["history"]["number"].as_u64();
    while history().is_none() {
        assert!(Instant::now() < deadline, "nothing was built");
        std::thread::sleep(Duration::from_millis(100));
    }
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    assert!(searchable(&rig) > 50);
    succeed(&mut rig.pharos(&["doctor"]));
}
