//! Invalid input: a one-line error that says what failed, where, and what to do; exit code 2; no stored data is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::common::{Rig, describe, fail, pharos, succeed};
use pharos_testweb::{ServeOptions, WebSpec};

fn small_web(seed: u64) -> Rig {
    Rig::new(WebSpec { seed, hosts: 2, pages: 30, ..WebSpec::default() }, ServeOptions::default())
}

#[test]
fn seeds_that_cannot_be_crawled() {
    let crawl = |seed: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        // Quiet: a crawl that takes longer than a second reports the problem before it ends, too.
        fail(pharos().arg("--data").arg(dir.path()).args(["--quiet", "crawl"]).args(seed))
    };
    assert!(crawl(&["no url"]).contains("invalid URL `no url`"));
    assert!(crawl(&["ftp://example.org/"]).contains("only http and https"));
    assert!(crawl(&[]).contains("specify at least one URL"));
    assert!(crawl(&["http://127.0.0.1:9/"]).contains("--allow-private"));
    assert!(crawl(&["http://[::ffff:127.0.0.1]:9/"]).contains("--allow-private"));
    // No process listens on the discard port of loopback.
    let error = crawl(&["--allow-private", "http://127.0.0.1:9/"]);
    assert!(error.contains("127.0.0.1:9") && error.contains("refused"), "{error}");
    let error = crawl(&["--allow-private", "http://unheard-of.invalid/"]);
    assert!(error.contains("unheard-of.invalid"), "{error}");
}

#[test]
fn a_public_address_requires_a_contact() {
    let dir = tempfile::tempdir().unwrap();
    // Rejected before anything is sent: the address is public, but no packet is sent.
    let error = fail(pharos().arg("--data").arg(dir.path()).args([
        "crawl",
        "--resolve",
        "example.org:80:8.8.8.8",
        "http://example.org/",
    ]));
    assert!(error.contains("--contact"), "{error}");
}

#[test]
fn invalid_settings() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pharos.toml");
    fs::write(&file, "[crawl]\nmax_page = 3\n").unwrap();
    let error = fail(pharos().arg("--config").arg(&file).arg("config"));
    assert!(
        error.contains("line 2") && error.contains("crawl.max_page`") && error.contains("crawl.max_pages"),
        "{error}"
    );
    fs::write(&file, "[crawl]\nmax_pages = \"x\"\n").unwrap();
    assert!(fail(pharos().arg("--config").arg(&file).arg("config")).contains("must be a whole number"));
    let error = fail(pharos().arg("--data").arg(dir.path().join("d")).args([
        "crawl",
        "--max-pages",
        "many",
        "http://a/",
    ]));
    assert!(error.contains("--max-pages"), "{error}");
    let error = fail(pharos().env("PHAROS_CRAWL_AGENT", "My Bot").args(["crawl", "http://127.0.0.1:1/"]));
    assert!(error.contains("crawl.agent") && error.contains("My Bot"), "{error}");
    assert!(fail(pharos().env("PHAROS_CRAWL_SCOPE", "moon").arg("config")).contains("PHAROS_CRAWL_SCOPE"));
    assert!(fail(pharos().args(["--config", "/none/pharos.toml", "config"])).contains("/none/pharos.toml"));
    // The printed defaults are a valid configuration.
    fs::write(&file, succeed(pharos().current_dir(dir.path()).args(["--data", "none", "config"]))).unwrap();
    succeed(pharos().arg("--config").arg(&file).arg("config"));
}

#[test]
fn reading_an_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    for command in [
        &["search", "x"][..],
        &["stats"],
        &["serve"],
        &["index", "build"],
        &["index", "status"],
        &["index", "verify"],
        &["index", "rollback"],
    ] {
        let error = fail(pharos().arg("--data").arg(dir.path().join("none")).args(command));
        assert!(error.contains("not found: start a crawl first"), "{error}");
    }
    // No result is not an error, but not success either.
    let output = pharos().arg("--data").arg(dir.path()).args(["search", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", describe(&output));
    assert!(fail(pharos().args(["clean", "/none.html"])).contains("/none.html"));
    assert!(fail(pharos().args(["segment", "/none.txt"])).contains("/none.txt"));
}

#[test]
fn a_corrupt_catalog_is_reported_and_stored_pages_stay_readable() {
    let rig = small_web(31);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let stored = rig.stored();
    for name in ["catalog.db-wal", "catalog.db-shm"] {
        let _ = fs::remove_file(rig.data().join(name));
    }
    fs::write(rig.data().join("catalog.db"), vec![b'x'; 20_000]).unwrap();
    let error = fail(&mut rig.crawl("crawl"));
    assert!(error.contains("damaged") && error.contains("move it away"), "{error}");
    succeed(&mut rig.pharos(&["search", "site:test"]));
    // The suggested repair works.
    fs::remove_file(rig.data().join("catalog.db")).unwrap();
    succeed(&mut rig.crawl("crawl"));
    assert_eq!(rig.stored(), stored);
}

#[test]
fn a_torn_library_continues_after_its_last_complete_record() {
    let rig = small_web(32);
    succeed(&mut rig.crawl("crawl"));
    let stored = rig.stored();
    let file = rig.data().join("library/00000001.warc.gz");
    let length = fs::metadata(&file).unwrap().len();
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(length - 5).unwrap();
    let error = fail(rig.crawl("crawl").arg("-q"));
    assert!(error.contains("catalog.db has applied it"), "the catalog knows a record that is gone: {error}");
    for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        let _ = fs::remove_file(rig.data().join(name));
    }
    succeed(&mut rig.crawl("crawl"));
    assert_eq!(rig.stored(), stored);
}

#[test]
fn a_damaged_index_is_reported() {
    let rig = small_web(33);
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    fs::write(rig.data().join("index/CURRENT"), "rubbish").unwrap();
    let error = fail(&mut rig.pharos(&["search", "x"]));
    assert!(error.contains("CURRENT is damaged") && error.contains("pharos index build"), "{error}");
    fs::remove_dir_all(rig.data().join("index")).unwrap();
    succeed(&mut rig.pharos(&["index", "build"]));
    succeed(&mut rig.pharos(&["search", "site:test"]));
}

#[test]
fn a_directory_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a-file");
    fs::write(&file, "").unwrap();
    let error = fail(pharos().arg("--data").arg(&file).args(["crawl", "http://127.0.0.1/"]));
    assert!(error.contains("a-file"), "{error}");
    // Root can write anywhere, so the test does not apply.
    let locked = dir.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(locked.join("probe"), "").is_err() {
        let error = fail(pharos().arg("--data").arg(locked.join("d")).args(["crawl", "http://127.0.0.1/"]));
        assert!(error.contains("make it writable"), "{error}");
    }
}

/// Simulates a full disk: writing beyond the file size limit of the process fails in the same way.
#[test]
fn a_full_disk_is_reported_and_the_library_stays_intact() {
    let rig =
        Rig::new(WebSpec { seed: 34, hosts: 4, pages: 300, ..WebSpec::default() }, ServeOptions::default());
    let crawl = rig.crawl("crawl");
    let mut limited = std::process::Command::new("bash");
    // 200 blocks of 1,024 bytes; SIGXFSZ is ignored, so that the write fails instead of the process.
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""])
        .arg(crawl.get_program())
        .args(crawl.get_args());
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", describe(&output));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("cannot write") && error.contains("stored data is safe"), "{error}");
    let kept = rig.stored();
    assert!(!kept.is_empty());
    succeed(&mut rig.crawl("crawl"));
    let stored = rig.stored();
    assert!(kept.keys().all(|url| stored.contains_key(url)));
    assert_eq!(stored.len(), rig.truth().stored().count());
    assert!(stored.values().all(|times| *times == 1));
}
