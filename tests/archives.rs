//! Import and export of every supported format in both directions, through the real binary.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Running, TestFolder, describe, fail, succeed};
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use pharos_core::Timestamp;
use pharos_store::formats::soif::SoifReader;
use pharos_store::formats::tianwang;
use pharos_store::formats::tianwang::TianwangRecord;
use pharos_store::formats::tianwang_index::TianwangIndex;
use serde_json::{Value, json};

impl TestFolder {
    /// Waits until a process owns `data` or has exited.
    fn wait_until_owned(&self, owner: &mut Running) {
        let pid = owner.0.id().to_string();
        let is_owned = || fs::read_to_string(self.path("data/LOCK")).is_ok_and(|owner| owner.contains(&pid));
        while owner.0.try_wait().unwrap().is_none() && !is_owned() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Returns address and text of the pages that the `jsonl` export contains.
    fn pages(&self, data: &str, arguments: &[&str]) -> BTreeMap<String, String> {
        let output = self.on(data, &["export", "--format", "jsonl"]).args(arguments).output().unwrap();
        assert!(output.status.code().unwrap() < 2, "{}", describe(&output));
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let lines = output.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .map(|page| (text(&page["url"]), text(&page["text"])))
            .collect()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzEncoder::new(bytes, Compression::default()).read_to_end(&mut out).unwrap();
    out
}

fn warc(kind: &str, url: &str, date: &str, fields: &str, block: &str) -> Vec<u8> {
    let id = format!("<urn:uuid:{:x}>", url.len() * 1000 + block.len());
    gzip(
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n\
             WARC-Record-ID: {id}\r\nWARC-IP-Address: 192.0.2.7\r\nContent-Type: application/http\r\n{fields}\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
        .as_bytes(),
    )
}

fn page(title: &str) -> String {
    format!(
        "HTTP/1.0 200 Very Well\r\nContent-Type: text/html\r\n\r\n<title>{title}</title><p>The {title} stands."
    )
}

/// Returns three pages, a redirect and references to other archives; the second page is damaged.
fn damaged_warc() -> Vec<u8> {
    let date = |minute| format!("2019-06-01T12:{minute:02}:00Z");
    let mut damaged = warc("response", "http://example.org/b", &date(1), "", &page("windmill"));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    let moved = "HTTP/1.1 301 Moved\r\nLocation: http://elsewhere.example/\r\n\r\n";
    let refers =
        format!("WARC-Refers-To-Target-URI: http://example.org/a\r\nWARC-Refers-To-Date: {}\r\n", date(0));
    [
        warc("warcinfo", "urn:none", &date(0), "", "software: other"),
        warc("response", "http://example.org/a", &date(0), "", &page("lighthouse")),
        damaged,
        warc("response", "http://example.org/c", &date(2), "", &page("bridge")),
        warc("response", "http://example.org/old", &date(3), "", moved),
        warc("response", "ftp://example.org/d", &date(4), "", &page("ferry")),
        warc("revisit", "http://example.org/a", &date(5), &refers, "HTTP/1.1 200 OK\r\n\r\n"),
        warc("revisit", "http://example.org/unheard-of", &date(6), "", "HTTP/1.1 200 OK\r\n\r\n"),
        warc("revisit", "http://example.org/mirror", &date(7), &refers, "HTTP/1.1 200 OK\r\n\r\n"),
    ]
    .concat()
}

#[test]
fn a_warc_file_goes_in_around_its_damage_and_out_again() {
    let desk = TestFolder::new();
    desk.file("others.warc.gz", damaged_warc());
    let summary = desk.json("one", &["-q", "import", "others.warc.gz"]);
    let counts = |names: &[&str]| names.iter().map(|n| summary[n].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(counts(&["files", "taken", "damaged", "passed_over", "known"]), [1, 5, 1, 3, 0], "{summary}");
    assert!(summary["problems"][0]["file"].as_str().unwrap().ends_with("others.warc.gz"));
    assert!(summary["problems"][0]["offset"].as_u64().unwrap() > 0);
    let mut found = desk.finds("one", "lighthouse");
    found.sort_unstable();
    assert_eq!(found, ["http://example.org/a", "http://example.org/mirror"]);
    assert_eq!(desk.finds("one", "windmill"), [""; 0]);
    let page_report = desk.json("one", &["page", "http://example.org/a"]);
    assert_eq!(page_report["versions"].as_array().unwrap().len(), 2, "{page_report}");
    assert_eq!(page_report["versions"][0]["kept"], "unchanged");
    // The target of an archived redirect does not become a seed.
    let nothing = desk.on("one", &["page", "http://elsewhere.example/"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(1), "{}", describe(&nothing));

    // Importing again adds nothing, and a pipe gives the same result.
    let again = desk.json("one", &["-q", "import", "others.warc.gz"]);
    assert_eq!((again["taken"].as_u64(), again["known"].as_u64()), (Some(0), Some(5)), "{again}");
    let mut piped = desk.on("piped", &["-q", "--json", "import", "-"]);
    piped.stdin(fs::File::open(desk.path("others.warc.gz")).unwrap());
    let piped: Value = serde_json::from_str(&succeed(&mut piped)).unwrap();
    assert_eq!(piped["taken"], 5);

    // Export and import into another library: the same pages, versions and dates.
    succeed(&mut desk.on("one", &["export", "--format", "warc", "--out", "ours.warc.gz"]));
    let summary = desk.json("two", &["import", "ours.warc.gz"]);
    assert_eq!((summary["taken"].as_u64(), summary["damaged"].as_u64()), (Some(5), Some(0)), "{summary}");
    assert_eq!(desk.pages("two", &[]), desk.pages("one", &[]));
    let dates = |data| {
        let page_report = desk.json(data, &["page", "http://example.org/a"]);
        let versions = page_report["versions"].as_array().unwrap().clone();
        versions.iter().map(|v| (v["at"].clone(), v["status"].clone(), v["kept"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(dates("two"), dates("one"));
    let mut bytes = Vec::new();
    fs::File::open(desk.path("ours.warc.gz")).unwrap().read_to_end(&mut bytes).unwrap();
    let kinds: Vec<String> = pharos_store::formats::warc_file::WarcScan::new(bytes.as_slice())
        .map(|record| record.unwrap().kind().to_string())
        .collect();
    assert_eq!(kinds, ["warcinfo", "response", "response", "response", "revisit", "response"]);

    // A revisit without its original is exported in full.
    let late = [
        "export",
        "--format",
        "warc",
        "--from",
        "2019-06-01T12:04:00Z",
        "--to",
        "2019-06-01T12:07:00Z",
        "--out",
        "late.warc.gz",
    ];
    succeed(&mut desk.on("one", &late));
    assert_eq!(desk.json("three", &["import", "late.warc.gz"])["taken"], 1);
    assert_eq!(desk.finds("three", "lighthouse"), ["http://example.org/a"]);

    // Removed pages are neither imported nor exported.
    succeed(&mut desk.on("one", &["remove", "http://example.org/c"]));
    let again = desk.json("one", &["-q", "import", "others.warc.gz"]);
    assert_eq!(again["removed"], 1, "{again}");
    assert!(!desk.pages("one", &["--all-versions"]).contains_key("http://example.org/c"));
}

fn tianwang_file() -> Vec<u8> {
    let record = |url: &str, origin: Option<&str>, head: &[u8], body: &[u8]| TianwangRecord {
        url: url.into(),
        origin: origin.map(str::to_string),
        date: Timestamp::parse("2003-09-16T14:13:20Z").unwrap(),
        ip: Some("162.105.203.25".parse().unwrap()),
        compressed: false,
        head: head.to_vec(),
        body: body.to_vec(),
    };
    let plain = b"HTTP/1.1 200 OK\r\nDate: Tue, 16 Sep 2003 14:19:15 GMT\r\nContent-Type: text/html; charset=GB2312\r\n\r\n";
    // Names in GBK in the header, and a page in GBK.
    let gbk = b"HTTP/1.0 200 OK\r\nServer: \xcc\xec\xcd\xf8\r\ncontent-type:text/html;charset=gbk\r\n\r\n";
    [
        record(
            "http://net.pku.cn/~cnds/",
            Some("http://net.pku.cn/~cnds"),
            plain,
            b"<title>networks</title>\n\nversion: 1.0\n",
        ),
        record("http://net.pku.cn", None, gbk, b"<title>\xb1\xb1\xbe\xa9\xb4\xf3\xd1\xa7</title>"),
        record("HTTP://Net.PKU.cn:80/a/../b.html", None, plain, b"<title>spelling</title>"),
        record("http://net.pku.cn/gone", None, b"HTTP/1.1 404 Not Found\r\n\r\n", b"no"),
        record(
            "http://net.pku.cn/robots.txt",
            None,
            b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n",
            b"User-agent: *",
        ),
    ]
    .iter()
    .flat_map(tianwang::write_record)
    .collect()
}

#[test]
fn a_tianwang_file_comes_out_as_it_went_in() {
    let desk = TestFolder::new();
    let bytes = tianwang_file();
    desk.file("raw/Tianwang.raw.1", &bytes);
    let summary = desk.json("data", &["import", "raw"]);
    assert_eq!((summary["taken"].as_u64(), summary["damaged"].as_u64()), (Some(5), Some(0)), "{summary}");
    assert_eq!(desk.finds("data", "北京大学"), ["http://net.pku.cn/"]);
    let page_report = desk.json("data", &["page", "http://net.pku.cn/~cnds/"]);
    assert_eq!(page_report["versions"][0]["status"], 200);

    succeed(&mut desk.on("data", &["export", "--format", "tianwang", "--out", "out"]));
    assert_eq!(fs::read(desk.path("out/Tianwang.raw.1")).unwrap(), bytes, "to the byte");
    let index = TianwangIndex::open(&desk.path("out")).unwrap();
    assert_eq!(index.len(), 5);
    let found = index.find("http://net.pku.cn").unwrap().unwrap();
    assert_eq!(found.body, b"<title>\xb1\xb1\xbe\xa9\xb4\xf3\xd1\xa7</title>");
    assert_eq!(index.find("http://net.pku.cn/nowhere").unwrap(), None);

    // Through a WARC file as well.
    succeed(&mut desk.on("data", &["export", "--format", "warc", "--out", "by-way.warc.gz"]));
    succeed(&mut desk.on("second", &["import", "by-way.warc.gz"]));
    succeed(&mut desk.on("second", &["export", "--format", "tianwang", "--out", "again"]));
    assert_eq!(fs::read(desk.path("again/Tianwang.raw.1")).unwrap(), bytes);

    // An existing folder is not overwritten without the flag; with it, only files of this program are replaced.
    let error = fail(&mut desk.on("data", &["export", "--format", "tianwang", "--out", "out"]));
    assert!(error.contains("--force"), "{error}");
    desk.file("out/note.txt", "mine");
    succeed(
        &mut desk.on("data", &["export", "--format", "tianwang", "--out", "out", "--force", "--current"]),
    );
    assert_eq!(TianwangIndex::open(&desk.path("out")).unwrap().len(), 4, "a robots.txt is no page");
    assert!(desk.path("out/note.txt").exists());
}

#[test]
fn descriptions_go_both_ways() {
    let desk = TestFolder::new();
    let soif = "@FILE{http://example.org/tower\nTitle{16}:\tThe old windmill\nKeywords{13}:\tmill, Holland\n\
                Update-Time{10}:\t1000000000\nFull-Text{33}:\tIts sails turn\nin the west wind.\n\n}\n\
                @GETO{-}\n";
    desk.file("objects.soif", soif);
    let summary = desk.json("data", &["import", "objects.soif"]);
    assert_eq!((summary["taken"].as_u64(), summary["passed_over"].as_u64()), (Some(1), Some(1)), "{summary}");
    assert_eq!(desk.finds("data", "sails"), ["http://example.org/tower"]);
    let page_report = desk.json("data", &["page", "http://example.org/tower"]);
    assert_eq!(page_report["versions"][0]["at"], 1_000_000_000_000_i64);

    let out = succeed(&mut desk.on("data", &["-q", "export", "--format", "soif"]));
    let objects: Vec<_> = SoifReader::new(BufReader::new(out.as_bytes())).map(Result::unwrap).collect();
    assert_eq!(objects.len(), 1);
    let value = |name| String::from_utf8(objects[0].attribute(name).unwrap().to_vec()).unwrap();
    assert_eq!(objects[0].url, "http://example.org/tower");
    assert_eq!((value("title").as_str(), value("Update-Time").as_str()), ("The old windmill", "1000000000"));
    assert!(value("Keywords").contains("Holland") && value("Full-Text").contains("west wind"));
}

#[test]
fn a_folder_of_files_becomes_a_site() {
    let desk = TestFolder::new();
    desk.file("site/index.html", "<title>Home</title><p>Welcome to the lighthouse.");
    desk.file("site/海/塔 1.htm", "<title>Tower</title><p>It stands.");
    desk.file("site/docs/notes.txt", "Notes on the lamp");
    desk.file("site/docs/packed.html.gz", gzip(b"<title>Packed</title><p>Packed away."));
    desk.file("site/docs/style.css", "p {}");
    desk.file("outside.html", "<p>secret");
    std::os::unix::fs::symlink(desk.path("outside.html"), desk.path("site/leak.html")).unwrap();
    let summary = desk.json("data", &["import", "site", "--base-url", "https://www.example.org/old"]);
    assert_eq!((summary["files"].as_u64(), summary["taken"].as_u64()), (Some(4), Some(4)), "{summary}");
    let pages = desk.pages("data", &[]);
    let urls: Vec<&str> = pages.keys().map(String::as_str).collect();
    assert_eq!(
        urls,
        [
            "https://www.example.org/old/",
            "https://www.example.org/old/%E6%B5%B7/%E5%A1%94%201.htm",
            "https://www.example.org/old/docs/notes.txt",
            "https://www.example.org/old/docs/packed.html",
        ]
    );
    assert!(pages["https://www.example.org/old/docs/packed.html"].contains("Packed away."));
    assert_eq!(
        desk.json("data", &["import", "site", "--base-url", "https://www.example.org/old"])["known"],
        4
    );
    // A changed file is another version of its page.
    let file = fs::File::options().write(true).open(desk.path("site/index.html")).unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(5)).unwrap();
    let summary = desk.json("data", &["import", "site", "--base-url", "https://www.example.org/old"]);
    assert_eq!((summary["known"].as_u64(), summary["taken"].as_u64()), (Some(3), Some(1)), "{summary}");
}

#[test]
fn a_feed_adds_modifies_and_deletes() {
    let desk = TestFolder::new();
    let line = |op: &str, path: &str, text: &str| {
        let url = format!("http://example.org/{path}");
        format!("{}\n", json!({"op": op, "url": url, "title": text, "text": text, "date": "2020-02-02"}))
    };
    desk.file("feed.jsonl", [line("add", "a", "lighthouse"), line("add", "b", "windmill")].concat());
    let summary = desk.json("data", &["load", "feed.jsonl"]);
    assert_eq!((summary["added"].as_u64(), summary["bad"].as_u64()), (Some(2), Some(0)), "{summary}");
    assert_eq!(desk.finds("data", "lighthouse").len(), 1);
    desk.file("more.jsonl", [line("modify", "a", "beacon"), line("delete", "b", "")].concat());
    let mut piped = desk.on("data", &["load", "-"]);
    piped.stdin(fs::File::open(desk.path("more.jsonl")).unwrap());
    succeed(&mut piped);
    assert_eq!(desk.finds("data", "beacon"), ["http://example.org/a"]);
    assert!(desk.finds("data", "lighthouse").is_empty() && desk.finds("data", "windmill").is_empty());
    // A build from the library gives the same results.
    succeed(&mut desk.on("data", &["index", "build"]));
    assert_eq!(desk.finds("data", "beacon").len(), 1);
    assert!(desk.finds("data", "lighthouse").is_empty() && desk.finds("data", "windmill").is_empty());
    assert_eq!(desk.pages("data", &["--all-versions"]).len(), 1, "deleted pages are not exported");
    let bad = format!("rubbish\n{}", line("add", "c", "bridge"));
    desk.file("bad.jsonl", bad);
    let output = desk.on("data", &["load", "bad.jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", describe(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1"), "{}", describe(&output));
    let summary = String::from_utf8_lossy(&output.stdout);
    assert!(summary.starts_with("2 lines: 1 page loaded, 0 duplicates, "), "{summary}");
    assert_eq!(desk.finds("data", "bridge"), ["http://example.org/c"]);
}

/// Library files can be imported, whatever their compression.
#[test]
fn a_library_goes_into_another() {
    let desk = TestFolder::new();
    desk.file("one/pharos.toml", "[library]\nformat = \"zstd\"\n");
    let page = json!({"op": "add", "url": "http://example.org/a", "title": "Tower", "text": "lighthouse"});
    desk.file("feed.jsonl", page.to_string());
    succeed(&mut desk.on("one", &["load", "feed.jsonl"]));
    let summary = desk.json("two", &["import", "one/library"]);
    assert_eq!((summary["taken"].as_u64(), summary["files"].as_u64()), (Some(1), Some(1)), "{summary}");
    assert_eq!(desk.finds("two", "lighthouse"), ["http://example.org/a"]);
    // A named pipe is read once, from its beginning.
    let pipe = desk.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let feeder = std::thread::spawn({
        let bytes = fs::read(desk.path("one/library/00000001.warc.zst")).unwrap();
        move || fs::write(pipe, bytes).unwrap()
    });
    assert_eq!(desk.json("three", &["import", "pipe"])["taken"], 1);
    feeder.join().unwrap();
}

#[test]
fn an_import_that_is_killed_or_stopped_goes_on() {
    let desk = TestFolder::new();
    let record = |n: usize| {
        let text = format!("tower {n} {}", "word ".repeat(300));
        warc("response", &format!("http://example.org/{n}"), "2020-01-01T00:00:00Z", "", &page(&text))
    };
    desk.file("many.warc.gz", (0..600).flat_map(record).collect::<Vec<u8>>());
    for (delay, signal) in [(60, "KILL"), (150, "INT"), (200, "KILL"), (300, "TERM")] {
        let mut import = Running::start(&mut desk.on("data", &["import", "many.warc.gz"]));
        desk.wait_until_owned(&mut import);
        std::thread::sleep(std::time::Duration::from_millis(delay));
        // On a fast machine it may have finished already.
        if import.0.try_wait().unwrap().is_none() {
            import.signal(signal);
        }
        let ended = import.0.wait().unwrap();
        assert!(ended.success() || signal == "KILL", "a requested stop is not a failure");
    }
    let summary = desk.json("data", &["import", "many.warc.gz"]);
    assert_eq!(summary["records"], 600, "{summary}");
    let index = succeed(&mut desk.on("data", &["-q", "export", "--format", "cdxj"]));
    assert_eq!(index.lines().count(), 600, "each page once");
    assert_eq!(desk.json("data", &["stats"])["searchable"], 600);
}

/// Reads the record that a CDXJ line refers to.
fn pointed_at(library: &Path, line: &str) -> (Value, String) {
    let fields: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
    let number = |name: &str| fields[name].as_str().unwrap().parse::<usize>().unwrap();
    let bytes = fs::read(library.join(fields["filename"].as_str().unwrap())).unwrap();
    let member = &bytes[number("offset")..number("offset") + number("length")];
    let mut record = String::new();
    GzDecoder::new(member).read_to_string(&mut record).unwrap();
    (fields, record)
}

#[test]
fn selections_and_indexes_also_of_compacted_files() {
    let desk = TestFolder::new();
    desk.file("data/pharos.toml", "[library]\nfile_size = \"1KB\"\nkeep_versions = 2\n");
    for year in 2001..2009 {
        let pages = ["a", "b"].map(|path| {
            let text = format!("lighthouse {path} {year} {}", "word ".repeat(40));
            json!({"op": "add", "url": format!("http://{path}.example/{path}"), "text": text, "date": format!("{year}-01-01")})
        });
        desk.file("feed.jsonl", pages.map(|page| format!("{page}\n")).concat());
        succeed(&mut desk.on("data", &["load", "feed.jsonl"]));
    }
    let lines = |arguments: &[&str]| {
        let text = succeed(desk.on("data", &["-q", "export", "--format", "cdxj"]).args(arguments));
        text.lines().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(lines(&[]).len(), 16);
    let compacted = desk.json("data", &["compact"]);
    assert!(compacted["dropped"].as_u64().unwrap() > 5, "{compacted}");
    let after = lines(&[]);
    assert!(after.len() < 8 && after.is_sorted(), "{after:?}");
    for line in &after {
        let (fields, record) = pointed_at(&desk.path("data/library"), line);
        assert!(record.starts_with("WARC/1.1"), "{record}");
        assert!(record.contains(&format!("WARC-Target-URI: {}", fields["url"].as_str().unwrap())));
    }
    let current = lines(&["--current", "--site", "a.example"]);
    assert_eq!(current.len(), 1);
    assert!(current[0].starts_with("example,a)/a 20080101000000 "), "{current:?}");

    let years = |arguments: &[&str]| desk.pages("data", arguments).into_keys().collect::<Vec<_>>();
    assert_eq!(years(&[]), ["http://a.example/a", "http://b.example/b"]);
    assert_eq!(years(&["--query", "lighthouse b"]), ["http://b.example/b"]);
    assert_eq!(years(&["--site", "b.example"]), ["http://b.example/b"]);
    assert_eq!(years(&["--to", "2001-01-01"]), [""; 0]);
    let forward = succeed(&mut desk.on("data", &["-q", "export", "--format", "forward"]));
    let forward: Vec<&str> = forward.lines().collect();
    assert_eq!((forward.len(), forward[0], forward[2]), (4, "0", "1"));
    assert!(forward[1].contains("lighthouse/  a/  2008/  "), "{forward:?}");
    // If the page objects are lost, the raw pages are analysed again.
    let before = desk.pages("data", &[]);
    fs::remove_dir_all(desk.path("data/library/pages")).unwrap();
    assert_eq!(desk.pages("data", &[]), before);
    assert_eq!(desk.pages("data", &["--site", "a.example"]).len(), 1);
}

#[test]
fn an_export_works_beside_an_owner_and_overwrites_nothing() {
    let desk = TestFolder::new();
    desk.file("others.warc.gz", damaged_warc());
    succeed(&mut desk.on("data", &["-q", "import", "others.warc.gz"]));
    // An import that waits for its input owns the directory.
    let mut owner = Running::start(desk.on("data", &["import", "-"]).stdin(Stdio::piped()));
    let mut input = owner.0.stdin.take().unwrap();
    desk.wait_until_owned(&mut owner);
    let error = fail(&mut desk.on("data", &["import", "others.warc.gz"]));
    assert!(error.contains("is in use by `pharos import`"), "{error}");
    succeed(&mut desk.on("data", &["export", "--format", "jsonl", "--out", "pages.jsonl"]));
    input
        .write_all(&warc("response", "http://example.org/late", "2020-01-01T00:00:00Z", "", &page("harbour")))
        .unwrap();
    drop(input);
    assert!(owner.0.wait().unwrap().success());
    assert_eq!(desk.finds("data", "harbour"), ["http://example.org/late"]);

    let before = fs::read(desk.path("pages.jsonl")).unwrap();
    let error = fail(&mut desk.on("data", &["export", "--format", "jsonl", "--out", "pages.jsonl"]));
    assert!(error.contains("pages.jsonl already exists") && error.contains("--force"), "{error}");
    assert_eq!(fs::read(desk.path("pages.jsonl")).unwrap(), before);
    let summary = desk.json("data", &["export", "--format", "jsonl", "--out", "pages.jsonl", "--force"]);
    assert_eq!(summary["written"], 4);
    assert!(fs::read(desk.path("pages.jsonl")).unwrap().len() > before.len());
    // A damaged record of the library is reported, and the others are exported.
    let index = succeed(&mut desk.on("data", &["-q", "export", "--format", "cdxj"]));
    let line = index.lines().find(|line| line.contains("example.org/c\"")).unwrap();
    let fields = pointed_at(&desk.path("data/library"), line).0;
    let offset = fields["offset"].as_str().unwrap().parse::<usize>().unwrap();
    let library = desk.path("data/library").join(fields["filename"].as_str().unwrap());
    let mut bytes = fs::read(&library).unwrap();
    bytes[offset + 60] ^= 0x55;
    fs::write(&library, bytes).unwrap();
    let summary = desk.json("data", &["-q", "export", "--format", "warc", "--out", "rest.warc.gz"]);
    assert_eq!((summary["written"].as_u64(), summary["damaged"].as_u64()), (Some(5), Some(1)), "{summary}");

    let left: Vec<_> = fs::read_dir(desk.path("")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".export")), "{left:?}");
}

/// Search returns the last successful response, whatever the order of imports and the state of the stores.
#[test]
fn a_server_that_is_down_hides_no_page() {
    let desk = TestFolder::new();
    let url = "http://www.example.org/tower";
    let answer = |date: &str, status: &str, title: &str| {
        let body = format!("<title>{title}</title><p>The {title} stands.");
        let http = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n{body}");
        warc("response", url, date, "", &http)
    };
    let up = answer("2026-01-01T00:00:00Z", "200 OK", "Lighthouse");
    let down = answer("2026-01-02T00:00:00Z", "503 Busy", "Sorry");
    let later = answer("2026-01-03T00:00:00Z", "200 OK", "Harbour");
    let both = desk.file("both.warc.gz", [up.as_slice(), &down].concat());
    let [down, up] = [desk.file("down.warc.gz", &down), desk.file("up.warc.gz", &up)];
    succeed(desk.on("together", &["import"]).arg(&both));
    succeed(desk.on("backwards", &["import"]).arg(&down).arg(&up));
    for data in ["together", "backwards"] {
        assert_eq!(desk.finds(data, "lighthouse"), [url], "{data}");
        fs::remove_dir_all(desk.path(data).join("index")).unwrap();
        assert!(desk.finds(data, "lighthouse").is_empty());
        // Any command that owns the directory replays the library.
        succeed(&mut desk.on(data, &["add", "http://www.example.org/robots.txt"]));
        assert_eq!(desk.finds(data, "lighthouse"), [url], "{data}, made again");
    }
    // A response dated in the far future would remain the current version.
    let future = desk.file("future.warc.gz", answer("2999-01-01T00:00:00Z", "200 OK", "Spaceport"));
    succeed(desk.on("together", &["import"]).arg(&future));
    assert!(desk.finds("together", "spaceport").is_empty());
    let later = desk.file("later.warc.gz", later);
    succeed(desk.on("together", &["import"]).arg(&later));
    assert_eq!(desk.finds("together", "harbour"), [url]);
    assert!(desk.finds("together", "lighthouse").is_empty());
}

#[test]
fn invalid_input_is_reported_in_one_line() {
    let desk = TestFolder::new();
    desk.file("empty", "");
    desk.file("page.html", "<p>x");
    desk.file("folder/page.html", "<p>x");
    let import = |arguments: &[&str]| fail(desk.on("data", &["import"]).args(arguments));
    assert!(import(&["nowhere.warc"]).contains("nowhere.warc"));
    assert!(import(&["empty"]).contains("the file is empty"));
    assert!(import(&["page.html"]).contains("not a WARC, Tianwang or SOIF file"));
    assert!(import(&["-"]).contains("no WARC record"));
    assert!(import(&["folder"]).contains("--base-url"));
    assert!(import(&["folder", "--base-url", "nothing"]).contains("--base-url"));
    desk.file("style/a.css", "p {}");
    assert!(import(&["style", "--base-url", "http://example.org/"]).contains("contains no .html"));
    assert!(fail(&mut desk.on("data", &["load", "nowhere.jsonl"])).contains("nowhere.jsonl"));
    assert!(fail(&mut desk.on("data", &["load", "folder"])).contains("folder"));

    succeed(&mut desk.on("data", &["import", "page.html", "--base-url", "http://example.org/"]));
    let export = |arguments: &[&str]| fail(desk.on("data", &["export", "--format"]).args(arguments));
    assert!(export(&["jsonl", "--out", "none/x.jsonl"]).contains("none/x.jsonl"));
    assert!(export(&["jsonl", "--out", "folder"]).contains("specify a file"));
    assert!(export(&["tianwang"]).contains("--out"));
    assert!(export(&["tianwang", "--out", "empty"]).contains("empty"));
    assert!(export(&["jsonl", "--from", "yesterday"]).contains("invalid time `yesterday`"));
    assert!(export(&["jsonl", "--site", "http://example.org/"]).contains("invalid site"));
    let error = fail(&mut desk.on("nothing", &["export", "--format", "warc"]));
    assert!(error.contains("not found: start a crawl first"), "{error}");
    let found = desk.on("data", &["export", "--format", "warc", "--query", "unheard-of"]).output().unwrap();
    assert_eq!(found.status.code(), Some(1), "{}", describe(&found));
}
