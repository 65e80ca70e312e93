//! Sessions, reports, the click graph and anonymisation of logs through the real binary.

use std::fs;

use std::time::Duration;

use pharos_core::{Clock as _, SystemClock};
use serde_json::json;

use crate::common::{TestFolder, fail, succeed};

/// Rows of a log in the form of Sogou: three visitors search for the same, one of them for something private.
fn sogou() -> String {
    let mut rows = String::new();
    for (nth, user) in ["u1", "u2", "u3"].iter().enumerate() {
        rows += &format!("12:00:0{nth}\t{user}\t[灯塔 高度]\t1 1\twww.tower.example/height\n");
        rows += &format!("12:01:0{nth}\t{user}\t[灯塔]\t2 1\twww.tower.example/\n");
    }
    rows + "12:02:00\tu1\t[hiv 医院]\t1 1\twww.private.example/\nnoise\n"
}

/// Returns a folder with the log as a file, and imported as `data`.
fn imported() -> (TestFolder, String) {
    let folder = TestFolder::new();
    let file = folder.file("sogou.txt", sogou()).to_str().unwrap().to_string();
    let import = ["log", "import", "--form", "sogou", "--date", "2008-06-01", &file];
    let output = folder.on("data", &import).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "one row is incomplete");
    (folder, file)
}

#[test]
fn a_log_of_another_engine_is_cut_into_sessions_and_reported() {
    let (folder, file) = imported();
    let printed = succeed(&mut folder.on("none", &["log", "sessions", "--log", &file]));
    assert!(printed.starts_with("3 sessions, 4 goals, 7 searches"), "{printed}");
    assert!(printed.contains("generalise") && printed.contains("satisfied"), "{printed}");
    let sessions = folder.json("data", &["log", "sessions", "--from", "2008-06-01"]);
    assert_eq!((&sessions["counts"]["sessions"], &sessions["coverage"]["clicks"]), (&3.into(), &7.into()));

    let report = folder.json("none", &["log", "report", "--log", &file]);
    assert_eq!(
        (&report["coverage"]["invalid"], &report["coverage"]["is_undated"]),
        (&1.into(), &true.into())
    );
    let of = |name: &str| {
        let statistics = report["statistics"].as_array().unwrap();
        statistics.iter().find(|statistic| statistic["name"] == name).unwrap().clone()
    };
    assert_eq!(of("overview")["figures"]["distinct-queries"], 3.0);
    assert_eq!(
        (of("hurst")["missing"].as_str(), of("visited-pages")["missing"].as_str()),
        (Some("too-short"), Some("no-index"))
    );
    let page = folder.path("report.html");
    succeed(&mut folder.on("data", &["log", "report", "--lang", "zh", "-o", page.to_str().unwrap()]));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("用户行为报告") && page.contains("<svg") && !page.contains("<script"), "{page}");
}

#[test]
fn the_click_graph_relates_pages_of_queries_with_enough_visits() {
    let (folder, file) = imported();
    let stats = folder.json("none", &["log", "graph", "stats", "--log", &file]);
    assert_eq!((&stats["queries"], &stats["edges"]), (&2.into(), &2.into()), "one query has one visit");
    let all = folder.json("data", &["log", "graph", "stats", "-k", "1"]);
    assert_eq!(all["edges"], 3);
    let near = succeed(&mut folder.on("data", &["log", "graph", "neighbours", "灯塔", "--steps", "3"]));
    assert!(near.contains("http://www.tower.example/") && !near.contains("private"), "{near}");
    assert!(succeed(&mut folder.on("data", &["log", "graph", "clusters"])).contains("灯塔 高度"));
    let unknown = folder.on("data", &["log", "graph", "neighbours", "nothing"]).output().unwrap();
    assert_eq!((unknown.status.code(), unknown.stdout.len()), (Some(1), 0));
    assert!(
        fail(&mut folder.on("data", &["log", "graph", "neighbours", "灯塔", "--stay", "1.5"]))
            .contains("--stay")
    );
}

#[test]
fn an_anonymised_log_has_the_anonymity_that_was_asked_for() {
    let (folder, _) = imported();
    let (logs, out) = (folder.path("data").join("logs"), folder.path("shared.jsonl"));
    let (logs, out) = (logs.to_str().unwrap(), out.to_str().unwrap());
    let before = folder.on("data", &["log", "k"]).output().unwrap();
    assert_eq!(before.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&before.stdout).contains("hiv 医院"));
    let report = folder.json("data", &["log", "anonymise", logs, out]);
    assert_eq!((&report["read"], &report["written"], &report["rare"]), (&14.into(), &12.into(), &1.into()));
    let text = fs::read_to_string(out).unwrap();
    assert!(
        !text.contains("hiv") && !text.contains("private") && text.contains("2008-06-01T12:00:00.000Z"),
        "{text}"
    );
    let measured = folder.json("none", &["log", "k", "--log", out]);
    assert_eq!((&measured["rare_queries"], &measured["distinct_visits"]), (&0.into(), &0.into()));
    assert!(
        fail(&mut folder.on("data", &["log", "anonymise", logs, out])).contains("cannot create"),
        "it exists"
    );

    let exported = succeed(&mut folder.on("data", &["log", "export"]));
    assert!(
        exported.contains("\"ubi_queries\"")
            && exported.contains("\"ubi_events\"")
            && !exported.contains("hiv")
    );
    let everything = succeed(&mut folder.on("data", &["log", "export", "-k", "0"]));
    assert!(everything.contains("hiv 医院"));
}

#[test]
fn a_purged_visit_is_gone() {
    let (folder, _) = imported();
    let lines = succeed(&mut folder.on("data", &["log", "cat"]));
    let private = lines.lines().find(|line| line.contains("hiv")).unwrap();
    let visit =
        serde_json::from_str::<serde_json::Value>(private).unwrap()["visit"].as_str().unwrap().to_string();
    let report = folder.json("data", &["log", "purge", &visit]);
    assert_eq!((&report["queries"], &report["clicks"]), (&3.into(), &3.into()));
    assert!(!succeed(&mut folder.on("data", &["log", "cat"])).contains(&visit));
    assert_eq!(folder.on("data", &["log", "purge", &visit]).output().unwrap().status.code(), Some(1));
}

#[test]
fn logs_without_queries_say_what_is_missing() {
    let folder = TestFolder::new();
    fs::create_dir_all(folder.path("data")).unwrap();
    for command in [&["log", "report"][..], &["log", "sessions"], &["log", "k"], &["log", "graph", "stats"]] {
        let output = folder.on("data", command).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
    }
    let noise = folder.file("noise", "no log at all\n").to_str().unwrap().to_string();
    assert!(fail(&mut folder.on("data", &["log", "report", "--log", &noise])).contains("--form"));
    assert!(fail(&mut folder.on("nowhere", &["log", "report"])).contains("not found"));
}

#[test]
fn builds_learn_words_and_propose_synonyms_from_the_logs() {
    let folder = TestFolder::new();
    let page =
        json!({"op": "add", "url": "http://a.example/club", "title": "爱心社", "text": "爱心社招新。"});
    folder.file("feed.jsonl", page.to_string() + "\n");
    succeed(&mut folder.on("data", &["load", "feed.jsonl"]));
    let mut rows = String::new();
    for user in 10..22 {
        rows += &format!("12:00:{user}\tu{user}\t[爱心社]\t1 1\ta.example/club\n");
        rows += &format!("12:10:{user}\tu{user}\t[电脑 维修]\t1 1\ta.example/repair\n");
        rows += &format!("12:11:{user}\tu{user}\t[计算机 维修]\t1 1\ta.example/repair\n");
    }
    let file = folder.file("sogou.txt", rows).to_str().unwrap().to_string();
    let yesterday = SystemClock.now().minus(Duration::from_secs(86_400)).date();
    succeed(&mut folder.on("data", &["log", "import", "--form", "sogou", "--date", &yesterday, &file]));
    let learnt = || folder.on("data", &["words", "list", "--learnt"]).output().unwrap();
    assert_eq!(learnt().status.code(), Some(1), "nothing is learnt before a build");
    succeed(&mut folder.on("data", &["index", "build"]));
    let words = String::from_utf8(learnt().stdout).unwrap();
    assert!(words.starts_with("爱心社\tbase\t12\tindexed\tlearnt") && words.lines().count() == 1, "{words}");
    let proposals = succeed(&mut folder.on("data", &["curate", "proposals"]));
    assert!(proposals.starts_with("电脑\t计算机\t12 visits\tclicks 100 %"), "{proposals}");

    succeed(&mut folder.on("data", &["words", "remove", "爱心社"]));
    succeed(&mut folder.on("data", &["curate", "proposals", "--accept", "电脑", "计算机"]));
    assert_eq!(succeed(&mut folder.on("data", &["curate", "synonyms"])), "电脑\t计算机\n");
    assert_eq!(folder.on("data", &["curate", "proposals"]).output().unwrap().status.code(), Some(1));
    succeed(&mut folder.on("data", &["index", "build"]));
    assert_eq!(learnt().status.code(), Some(1), "a removed word is not learnt again");
}

#[test]
fn queries_and_entities_are_listed_from_any_log() {
    let folder = TestFolder::new();
    let mut rows = String::new();
    for (nth, query) in ["什么是灯塔", "灯塔 高度", "灯塔 高度", "哈利 上映", "月球 上映"].iter().enumerate()
    {
        rows += &format!("12:00:0{nth}\tu{nth}\t[{query}]\t1 1\ta.example/{nth}\n");
    }
    let file = folder.file("sogou.txt", rows).to_str().unwrap().to_string();
    let on = |arguments: &[&str]| folder.on("none", &[arguments, &["--log", &file]].concat());
    let top = succeed(&mut on(&["log", "queries", "top", "--csv", "-n", "1"]));
    assert!(top.starts_with("query,searches,") && top.contains("\n\"灯塔 高度\",2,2,"), "{top}");
    assert_eq!(on(&["log", "queries", "slow"]).output().unwrap().status.code(), Some(1));
    let examples = folder.file("examples.tsv", "哈利\t电影\n").to_str().unwrap().to_string();
    let found = succeed(&mut on(&["log", "entities", "-k", "1", "--examples", &examples]));
    assert!(found.contains("      3  灯塔") && found.contains("# 高度 (2)"), "{found}");
    assert!(found.contains("哈利  电影 100 %"), "{found}");
    assert_eq!(on(&["log", "entities"]).output().unwrap().status.code(), Some(1), "three visits are needed");
}
