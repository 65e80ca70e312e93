//! Logs through the real binary: import, check, print, count, and mining.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::common::{TestFolder, fail, succeed};

const QUERIES: &str = "Fri Mar 21 00:00:02 2003\n218.24.100.77\nDatabase\n老歌\n3\n\
                       Fri Mar 21 00:00:05 2003\n218.24.100.78\nCache\n老歌 13800138000\n1\n";
const CLICKS: &str = "Fri Mar 21 00:00:09 2003\n218.24.100.77\n老歌\nhttp://music.example/\n16\n";

/// A data directory with the example logs of the book.
fn desk() -> TestFolder {
    let desk = TestFolder::new();
    let queries = desk.file("queries.txt", QUERIES);
    let clicks = desk.file("clicks.txt", CLICKS);
    let printed =
        succeed(&mut desk.on("data", &["log", "import", "--form", "query5", queries.to_str().unwrap()]));
    assert_eq!(printed, "2 queries imported\n");
    let printed =
        succeed(&mut desk.on("data", &["log", "import", "--form", "click5", clicks.to_str().unwrap()]));
    assert_eq!(printed, "1 clicks imported\n");
    desk
}

#[test]
fn imported_logs_are_printed_and_counted_without_addresses_and_numbers() {
    let desk = desk();
    let lines = succeed(&mut desk.on("data", &["log", "cat"]));
    assert_eq!(lines.lines().count(), 2);
    let all = fs::read_dir(desk.path("data").join("logs")).unwrap();
    let all: String = all.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert!(!all.contains("218.24") && !all.contains("13800138000") && all.contains("老歌"), "{all}");
    // A query and a click of one visitor have the same pseudonym.
    let name = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["visit"].clone();
    let clicks = succeed(&mut desk.on("data", &["log", "cat", "clicks"]));
    assert_eq!(name(lines.lines().next().unwrap()), name(clicks.trim()));

    let written = succeed(&mut desk.on("data", &["log", "cat", "queries", "--form", "query5"]));
    assert_eq!(
        written,
        QUERIES.replace("218.24.100.77", "-").replace("218.24.100.78", "-").replace(" 13800138000", "")
    );
    let written = succeed(&mut desk.on("data", &["log", "cat", "clicks", "--form", "click5"]));
    assert_eq!(written, CLICKS.replace("218.24.100.77", "-"));
    assert_eq!(succeed(&mut desk.on("data", &["log", "count", "--by", "query"])), "老歌\t2\n");
    assert_eq!(succeed(&mut desk.on("data", &["log", "count", "--by", "hour"])), "2003-03-21T00\t2\n");
    let days = desk.json("data", &["log", "count"]);
    assert_eq!(days, serde_json::json!([{ "of": "2003-03-21", "count": 2 }]));
    let later = desk.on("data", &["log", "cat", "--from", "2003-03-22"]).output().unwrap();
    assert_eq!((later.status.code(), later.stdout.len()), (Some(1), 0));
}

#[test]
fn broken_lines_are_found_and_the_others_read() {
    let desk = desk();
    assert!(
        succeed(&mut desk.on("data", &["log", "check"]))
            .contains("queries         1 files            2 records")
    );
    let path = desk.path("data").join("logs/queries-2003-03-21.jsonl");
    let mut lines = fs::read(&path).unwrap();
    lines.extend(b"{\"at\":\n\xff\xfe\n{\"at\":\"2003");
    fs::write(&path, lines).unwrap();
    let checked = desk.on("data", &["log", "check"]).output().unwrap();
    let printed = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(1), "{printed}");
    for part in [
        "queries-2003-03-21.jsonl:3: ",
        "queries-2003-03-21.jsonl:4: ",
        ":5: incomplete line",
        ", 2 broken, 1 unfinished",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    let printed = desk.on("data", &["log", "cat"]).output().unwrap();
    assert_eq!(
        (printed.status.code(), String::from_utf8(printed.stdout).unwrap().lines().count()),
        (Some(1), 2)
    );
}

#[test]
fn hot_queries_are_those_of_enough_visits() {
    let desk = TestFolder::new();
    let rows: String = (0..12)
        .map(|n| {
            format!("user{}\t2026-01-31\t{:02}:30:00\t{}\n", n % 4, 12 + n, if n < 8 { "灯塔" } else { "茶" })
        })
        .chain([
            "user1\t2026-01-31\t23:00:00\tmy secret\n".to_string(),
            "user1\t2026-01-31\t\ttea\n".to_string(),
        ])
        .collect();
    let mut import = desk.on("data", &["log", "import", "--form", "columns", "-"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let printed = String::from_utf8(done.stdout).unwrap();
    assert_eq!(
        (done.status.code(), printed.as_str()),
        (Some(1), "13 queries imported\n1 dropped: a field is missing\n")
    );

    let hot = |arguments: &[&str]| {
        succeed(&mut desk.on("data", &[&["hot", "--at", "2026-01-31"], arguments].concat()))
    };
    assert_eq!(hot(&[]), "       8  灯塔\n       4  茶\n");
    assert_eq!(hot(&["--window", "today", "-n", "1"]), "       8  灯塔\n");
    assert!(hot(&["--rising"]).lines().next().unwrap().ends_with("灯塔"));
    assert_eq!(hot(&["--hourly", "茶"]).lines().count(), 24);
    let none = desk.on("data", &["hot", "--at", "2026-01-31", "--hourly", "my secret"]).output().unwrap();
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
}

#[test]
fn invalid_input_is_reported_in_one_line() {
    let desk = desk();
    let wrong = |arguments: &[&str]| fail(&mut desk.on("data", arguments));
    assert!(wrong(&["log", "cat", "--from", "yesterday"]).contains("invalid day `yesterday`"));
    assert!(wrong(&["log", "cat", "queries", "--form", "click5"]).contains("the form click5 is for clicks"));
    assert!(
        wrong(&["log", "import", "--form", "line", "/no/such/file"]).contains("cannot read /no/such/file")
    );
    assert!(
        wrong(&["log", "import", "--form", "line", "--zone", "8", "-"]).contains("invalid time zone `8`")
    );
    assert!(
        wrong(&["log", "import", "--form", "sogou", "--date", "31.1.", "-"]).contains("invalid day `31.1.`")
    );
    assert!(wrong(&["hot", "--at", "noon"]).contains("invalid time `noon`"));
    assert!(fail(&mut desk.on("nowhere", &["log", "check"])).contains("not found: start a crawl first"));
}
