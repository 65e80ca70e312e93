//! Mistakes around a data directory never destroy data: a library that is moved away, deleted control files, missing
//! permissions.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Rig, Running, bound_by_permissions, describe, fail, get, succeed};
use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

/// A data directory with a history, a previous history and a page in latest.
fn built(seed: u64) -> Rig {
    let rig = Rig::new(WebSpec { seed, hosts: 2, pages: 40, ..WebSpec::default() }, ServeOptions::default());
    fs::create_dir_all(rig.data()).unwrap();
    fs::write(rig.data().join("pharos.toml"), "[library]\nfile_size = \"32KB\"\n").unwrap();
    succeed(rig.crawl("crawl").args(["--max-pages", "20"]));
    succeed(&mut rig.pharos(&["index", "build"]));
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let feed = rig.dir.path().join("feed.jsonl");
    let line = "{\"op\": \"add\", \"url\": \"http://feed.example.org/a\", \"text\": \"Narwhals.\"}\n";
    fs::write(&feed, line).unwrap();
    succeed(&mut rig.pharos(&["load", feed.to_str().unwrap()]));
    rig
}

/// Returns the number of results of a query that finds every page.
fn total(rig: &Rig) -> u64 {
    let output = rig.pharos(&["--json", "search", "--all", "site:test OR site:org"]).output().unwrap();
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", describe(&output)));
    answer["total"].as_u64().unwrap()
}

/// Returns all files with the checksum of their content, except the lock files and the files of running processes.
fn files(folder: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else if !["LOCK", "BUILD"].contains(&&*name) && !name.ends_with("-shm") && !name.ends_with("-wal") {
            found.insert(name, pharos_files::checksum(&path, u64::MAX).unwrap().1);
        }
    }
    found
}

#[test]
fn without_its_library_an_index_is_not_replaced() {
    let rig = built(81);
    let (data, all) = (rig.data(), total(&rig));
    assert!(all > 20, "{all}");
    let (library, away) = (data.join("library"), rig.dir.path().join("away"));
    let backup = rig.dir.path().join("backup");
    succeed(rig.pharos(&["backup"]).arg(&backup));
    let saved = files(&backup);
    fs::rename(&library, &away).unwrap();
    let before = files(&data);
    for arguments in [
        &["index", "build"][..],
        &["graph", "build"],
        &["up", "--listen", "127.0.0.1:0"],
        &["crawl", "http://127.0.0.1:1/"],
        &["add", "http://www.example.org/"],
        &["compact"],
        &["backup", backup.to_str().unwrap()],
    ] {
        let error = fail(&mut rig.pharos(arguments));
        assert!(error.contains("library") && error.contains("is incomplete: it has no volumes"), "{error}");
        assert!(error.contains("--repair --force"), "{error}");
        assert_eq!(files(&data), before, "{arguments:?}");
    }
    assert_eq!(files(&backup), saved);
    let output = rig.pharos(&["doctor", "--repair"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", describe(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("put the missing volumes back") && !printed.contains("(repaired)"), "{printed}");
    assert_eq!(files(&data), before, "nothing is repaired");
    assert_eq!(total(&rig), all);
    // The library is found again: nothing is lost.
    fs::rename(&away, &library).unwrap();
    succeed(&mut rig.pharos(&["index", "build"]));
    assert_eq!(total(&rig), all);
    succeed(&mut rig.pharos(&["doctor"]));
}

#[test]
fn a_missing_volume_is_refused_until_its_pages_are_given_up() {
    let rig = built(82);
    let (data, all) = (rig.data(), total(&rig));
    let (volume, away) = (data.join("library/00000001.warc.gz"), rig.dir.path().join("volume"));
    fs::rename(&volume, &away).unwrap();
    let before = files(&data);
    let error = fail(&mut rig.pharos(&["index", "build"]));
    assert!(error.contains("volume 00000001 is missing"), "{error}");
    let error = fail(&mut rig.pharos(&["rebuild"]));
    assert!(error.contains("volume 00000001 is missing"), "{error}");
    assert_eq!((files(&data), total(&rig)), (before, all));
    fs::rename(&away, &volume).unwrap();
    succeed(&mut rig.pharos(&["rebuild"]));
    assert_eq!(total(&rig), all);
}

#[test]
fn a_forced_repair_sets_the_old_stores_aside() {
    for command in [&["index", "build", "--force"][..], &["doctor", "--repair", "--force"]] {
        let rig = built(83);
        let (data, all) = (rig.data(), total(&rig));
        let away = rig.dir.path().join("away");
        fs::rename(data.join("library"), &away).unwrap();
        succeed(&mut rig.pharos(command));
        assert_eq!(total(&rig), 0);
        succeed(&mut rig.pharos(&["doctor", "--repair", "--force"]));
        succeed(&mut rig.pharos(&["doctor"]));
        // The library is found again, and everything goes back to its place.
        fs::remove_dir_all(data.join("library")).unwrap();
        fs::rename(&away, data.join("library")).unwrap();
        fs::remove_dir_all(data.join("index")).unwrap();
        fs::rename(data.join("index.replaced"), data.join("index")).unwrap();
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(data.join(format!("catalog.db{ending}")));
            let _ = fs::rename(
                data.join(format!("catalog.db.damaged{ending}")),
                data.join(format!("catalog.db{ending}")),
            );
        }
        succeed(&mut rig.pharos(&["doctor"]));
        assert_eq!(total(&rig), all);
    }
}

#[test]
fn searches_without_the_list_of_generations_fail() {
    let rig = built(84);
    let all = total(&rig);
    let (current, away) = (rig.data().join("index/CURRENT"), rig.dir.path().join("CURRENT"));
    fs::rename(&current, &away).unwrap();
    let error = fail(&mut rig.pharos(&["search", "--all", "site:test"]));
    assert!(error.contains("CURRENT is missing"), "{error}");
    let error = fail(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    assert!(error.contains("CURRENT is missing"), "{error}");
    let error = fail(&mut rig.pharos(&["index", "build"]));
    assert!(error.contains("CURRENT is missing"), "{error}");
    fs::rename(&away, &current).unwrap();
    assert_eq!(total(&rig), all);
    fs::remove_file(&current).unwrap();
    succeed(&mut rig.pharos(&["doctor", "--repair"]));
    assert_eq!(total(&rig), all);
}

#[test]
fn a_deleted_lock_file_admits_no_second_owner() {
    let options = ServeOptions { latency: Duration::from_millis(50), ..ServeOptions::default() };
    let rig = Rig::new(WebSpec { seed: 85, pages: 200, ..WebSpec::default() }, options);
    let mut up = Running::start(rig.crawl("up").args(["--listen", "127.0.0.1:0"]));
    up.address();
    for _ in 0..2 {
        fs::remove_file(rig.data().join("LOCK")).unwrap();
        let error = fail(&mut rig.crawl("crawl"));
        assert!(error.contains("is in use by"), "{error}");
        fs::write(rig.data().join("LOCK"), "").unwrap();
        let error = fail(&mut rig.crawl("crawl"));
        assert!(error.contains("is in use by"), "{error}");
    }
    assert!(up.0.try_wait().unwrap().is_none(), "the owner goes on");
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    succeed(&mut rig.crawl("crawl"));
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Removes all write permissions, or gives them back to the owner.
fn set_writable(path: &Path, writable: bool) {
    let write = if writable { 0o200 } else { 0 };
    if path.is_dir() {
        set_mode(path, 0o755);
        for entry in fs::read_dir(path).unwrap().flatten() {
            set_writable(&entry.path(), writable);
        }
        set_mode(path, 0o555 | write);
    } else {
        set_mode(path, 0o444 | write);
    }
}

#[test]
fn a_read_only_directory_serves_searches() {
    let rig = built(86);
    let (data, all) = (rig.data(), total(&rig));
    set_writable(&data, false);
    let before = files(&data);
    let found: Value = serde_json::from_str(&succeed(&mut bound_by_permissions(&rig.pharos(&[
        "--json",
        "search",
        "--all",
        "site:test OR site:org",
    ]))))
    .unwrap();
    assert_eq!(found["total"], all);
    succeed(&mut bound_by_permissions(&rig.pharos(&["stats"])));
    succeed(&mut bound_by_permissions(&rig.pharos(&["doctor"])));
    let mut serve =
        Running::start(&mut bound_by_permissions(&rig.pharos(&["serve", "--listen", "127.0.0.1:0"])));
    let address = serve.address();
    let (status, page) = get(&address, "/search?q=narwhals");
    assert!(status == 200 && page.contains("http://feed.example.org/a"), "{status} {page}");
    assert_eq!(get(&address, "/api/v1/search?q=narwhals").0, 200);
    assert_eq!(get(&address, "/readyz").0, 200);
    serve.signal("TERM");
    assert!(serve.0.wait().unwrap().success());
    let error = fail(&mut bound_by_permissions(&rig.pharos(&["index", "build"])));
    assert!(error.contains("Permission denied"), "{error}");
    set_writable(&data, true);
    assert_eq!(files(&data), before, "readers write nothing");
    succeed(&mut rig.pharos(&["doctor"]));
}

#[test]
fn a_file_without_permission_is_not_damaged() {
    let rig = built(87);
    let (data, all) = (rig.data(), total(&rig));
    let largest = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.is_file()).max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
    };
    let graph = fs::read_dir(data.join("graph")).unwrap().next().unwrap().unwrap().path();
    for path in [
        largest(&data.join("index/history-2")),
        data.join("index/history-2/files.json"),
        data.join("index/history-2"),
        data.join("index/CURRENT"),
        data.join("catalog.db"),
        data.join("library/00000001.warc.gz"),
        data.join("library"),
        largest(&data.join("library/pages")),
        largest(&graph),
    ] {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        let before = files(&data);
        set_mode(&path, 0);
        for arguments in [&["doctor"][..], &["doctor", "--repair"], &["up", "--listen", "127.0.0.1:0"]] {
            let is_read_later = path.starts_with(&graph)
                || path.starts_with(data.join("library/pages"))
                || path.ends_with("00000001.warc.gz");
            if arguments[0] == "up" && is_read_later {
                continue;
            }
            let error = fail(&mut bound_by_permissions(&rig.pharos(arguments)));
            let is_named = error.contains("ermission denied") || error.contains("unable to open");
            assert!(is_named && !error.contains("damaged"), "{arguments:?} {}: {error}", path.display());
        }
        set_mode(&path, mode);
        let now = files(&data);
        let gone: Vec<_> = before.keys().filter(|name| !now.contains_key(*name)).collect();
        assert!(gone.is_empty(), "{}: {gone:?}", path.display());
    }
    assert_eq!(total(&rig), all);
    assert!(data.join("index/history-2").is_dir(), "it was not rolled back");
    succeed(&mut rig.pharos(&["doctor"]));
}

/// A small file system that is unmounted when the test ends.
pub struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// Mounts a file system of this size. Returns `None` if the test may not.
    pub fn mount(path: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(path).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(path.to_path_buf()))
    }

    pub fn resize(&self, size: &str) {
        succeed(Command::new("mount").args(["-o", &format!("remount,size={size}")]).arg(&self.0));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_fills_up_under_a_running_engine_loses_nothing() {
    let rig =
        Rig::new(WebSpec { seed: 88, hosts: 4, pages: 400, ..WebSpec::default() }, ServeOptions::default());
    let Some(disk) = SmallDisk::mount(&rig.data(), "2500k") else {
        println!("skipped: mounting a small file system needs the superuser");
        return;
    };
    fs::write(rig.data().join("pharos.toml"), "[engine]\ndisk_floor = \"0B\"\n").unwrap();
    let mut up = rig.crawl("up");
    let output = up.args(["--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", describe(&output));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("free disk space") && !error.contains("damaged"), "{error}");
    assert!(!error.contains("panicked"), "{error}");
    disk.resize("200m");
    let kept = rig.stored();
    assert!(!kept.is_empty());
    succeed(&mut rig.crawl("crawl"));
    let stored = rig.stored();
    assert!(kept.keys().all(|url| stored.contains_key(url)));
    assert_eq!(stored.len(), rig.truth().stored().count());
    assert!(stored.values().all(|times| *times == 1), "nothing is stored twice");
    succeed(&mut rig.pharos(&["index", "build"]));
    succeed(&mut rig.pharos(&["doctor"]));
}

/// After a kill at any moment of any command, nothing is lost or stored twice, and no repair is needed.
#[test]
fn kills_in_every_stage_lose_nothing() {
    let options = ServeOptions { latency: Duration::from_millis(10), ..ServeOptions::default() };
    let rig = Rig::new(WebSpec { seed: 89, hosts: 4, pages: 300, ..WebSpec::default() }, options);
    fs::create_dir_all(rig.data()).unwrap();
    fs::write(rig.data().join("pharos.toml"), "[library]\nfile_size = \"64KB\"\n").unwrap();
    let backup = rig.dir.path().join("backup");
    let mut known = BTreeMap::new();
    let rounds = if crate::common::long() { 120 } else { 1 };
    for round in 0..rounds {
        let stages = ["up", "crawl", "build", "compact", "backup", "repair", "rebuild"];
        for (stage, number) in stages.into_iter().zip(0u64..) {
            let mut command = match stage {
                "up" => rig.crawl("up"),
                "crawl" => rig.crawl("crawl"),
                "build" => rig.pharos(&["index", "build"]),
                "backup" => rig.pharos(&["backup", backup.to_str().unwrap()]),
                "repair" => rig.pharos(&["doctor", "--repair"]),
                other => rig.pharos(&[other]),
            };
            if stage == "up" {
                command.args(["--listen", "127.0.0.1:0"]);
            }
            let running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
            // At another moment in each round.
            std::thread::sleep(Duration::from_millis(150 + (round * 173 + number * 97) % 900));
            drop(running);
            let stored = if rig.data().join("library").is_dir() { rig.stored() } else { BTreeMap::new() };
            let lost: Vec<&String> = known.keys().filter(|url| !stored.contains_key(*url)).collect();
            assert!(lost.is_empty(), "{stage}, round {round}: {lost:?}");
            known = stored;
            assert!(known.values().all(|times: &usize| *times == 1), "{stage}, round {round}");
        }
    }
    succeed(&mut rig.crawl("crawl"));
    assert_eq!(rig.stored().len(), rig.truth().stored().count());
    assert!(rig.stored().values().all(|times| *times == 1));
    succeed(&mut rig.pharos(&["index", "build"]));
    succeed(&mut rig.pharos(&["doctor", "--repair"]));
    succeed(&mut rig.pharos(&["doctor"]));
    succeed(rig.pharos(&["backup"]).arg(&backup));
}
