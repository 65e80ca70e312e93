//! The first day of an operator: mistakes are visible where a person looks, in words that help.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::browser::Site;
use crate::common::{Running, TestFolder, describe, fail, get, pharos, succeed, until};
use pharos_core::PageUrl;
use serde_json::Value;

/// A port on which nothing listens.
fn dead_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// A site with a few pages: `/` links to `/deep`, which links to `/deeper`, and to `/missing`, which does not exist.
fn small_site() -> Site {
    Site::start(|path| match path {
        "/" => Some(page("Home", "<a href=/deep>deep</a> <a href=/missing>missing</a>")),
        "/deep" => Some(page("Deep", "<a href=/deeper>deeper</a>")),
        "/deeper" => Some(page("Deeper", "")),
        _ => None,
    })
}

fn page(title: &str, links: &str) -> String {
    format!(
        "<title>{title}</title><p>The keeper of the {title} lighthouse lights the lamp every evening. {links}"
    )
}

/// Starts `up` with its messages in a file, as under a process supervisor.
fn up_into_file(folder: &TestFolder, arguments: &[&str]) -> (Running, PathBuf) {
    let messages = folder.path("messages");
    let mut command = folder.on("data", &["up", "--listen", "127.0.0.1:0", "--politeness", "own-site"]);
    command.args(arguments).stderr(fs::File::create(&messages).unwrap());
    (Running::start(&mut command), messages)
}

fn crawl(folder: &TestFolder, arguments: &[&str]) -> Command {
    let mut command = folder.on("data", &["crawl", "--allow-private", "--politeness", "own-site"]);
    command.args(arguments);
    command
}

#[test]
fn a_private_seed_is_reported_with_its_remedy() {
    let folder = TestFolder::new();
    let (_up, messages) = up_into_file(&folder, &["http://127.0.0.1:9/"]);
    until("the problem is printed to a file", || {
        let text = fs::read_to_string(&messages).unwrap();
        text.contains("problem: http://127.0.0.1:9/: ")
            && text.contains("private address 127.0.0.1")
            && text.contains("--allow-private")
    });
    // The page report and the problem list of another process agree.
    let report = folder.json("data", &["page", "http://127.0.0.1:9/"]);
    assert_eq!((&report["state"], &report["problem"]), (&"failed".into(), &"failed".into()), "{report}");
}

#[test]
fn a_dead_seed_is_reported_and_retried() {
    let folder = TestFolder::new();
    let seed = format!("http://127.0.0.1:{}/", dead_port());
    let (_up, messages) = up_into_file(&folder, &["--allow-private", &seed]);
    until("the problem is printed to a file", || {
        let text = fs::read_to_string(&messages).unwrap();
        text.contains("connection refused") && text.contains("check that the server is running")
    });
    let report = folder.json("data", &["page", &seed]);
    assert_eq!(report["state"], "failed", "{report}");
    assert!(report["due"].is_number(), "it is tried again: {report}");
    assert_eq!(folder.json("data", &["stats"])["catalog"]["failed"], 1);
    let error = fail(&mut folder.on("other", &["--quiet", "crawl", "--allow-private", &seed]));
    assert!(error.starts_with("error: no page could be fetched: "), "{error}");
    assert!(error.contains("check that the server is running"), "{error}");
}

#[test]
fn error_responses_are_counted_and_explain_the_stored_pages() {
    let folder = TestFolder::new();
    let site = small_site();
    let seed = format!("http://127.0.0.1:{}/", site.port);
    let output = succeed(&mut crawl(&folder, &[&seed]));
    assert!(output.contains("4 pages (") && output.contains("1 not found"), "{output}");
    succeed(&mut folder.on("data", &["index", "build"]));
    let stats = succeed(&mut folder.on("data", &["stats"]));
    assert!(stats.contains("4 stored = 3 searchable + 1 not found"), "{stats}");
    let json = folder.json("data", &["stats"]);
    assert_eq!(json["collection"]["others"], serde_json::json!([["not-found", 1]]));
    let mut serve = folder.on("data", &["serve", "--listen", "127.0.0.1:0"]);
    let mut serve = Running::start(&mut serve);
    let (_, stats) = get(&serve.address(), "/api/v1/stats");
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["pages"], &stats["stored"]), (&3.into(), &4.into()), "{stats}");
    assert_eq!(stats["not_searchable"], serde_json::json!({ "not-found": 1 }));
}

#[test]
fn the_limit_that_kept_a_page_out_is_named() {
    let folder = TestFolder::new();
    let site = small_site();
    let (seed, deeper) =
        (format!("http://127.0.0.1:{}/", site.port), format!("http://127.0.0.1:{}/deeper", site.port));
    succeed(&mut crawl(&folder, &["--max-depth", "1", &seed]));
    let explained = folder.on("data", &["crawl", "--explain", &deeper]).output().unwrap();
    let text = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert_eq!(explained.status.code(), Some(1), "{}", describe(&explained));
    assert!(
        text.contains("refused: ") && text.contains("crawl.max_depth") && text.contains("/deep links to it"),
        "{text}"
    );
    let filtered = folder.json("data", &["stats"])["filtered"].clone();
    assert_eq!(filtered, serde_json::json!([["depth 1", 1]]));

    folder.file("limited/pharos.toml", "[crawl]\nmax_pages_per_site = 2\n");
    let mut limited = folder.on("limited", &["crawl", "--allow-private", "--politeness", "own-site", &seed]);
    let output = limited.output().unwrap();
    let (out, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        messages.contains("limit: 127.0.0.1:") && messages.contains("crawl.max_pages_per_site"),
        "{messages}"
    );
    assert!(out.contains("beyond the limits of their site"), "{out}");
}

#[test]
fn a_seed_without_content_is_a_problem() {
    let folder = TestFolder::new();
    let site =
        Site::start(|path| (path == "/").then(|| "<html><body><script>fill()</script></body></html>".into()));
    let seed = format!("http://127.0.0.1:{}/", site.port);
    let output = crawl(&folder, &[&seed]).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("neither text to search nor links to follow"), "{}", describe(&output));
    assert_eq!(folder.json("data", &["page", &seed])["problem"], "empty");
}

#[test]
fn the_demo_says_that_it_is_ready() {
    let folder = TestFolder::new();
    let messages = folder.path("messages");
    let mut command = pharos();
    command.args(["demo", "--listen", "127.0.0.1:0"]).stderr(fs::File::create(&messages).unwrap());
    let _demo = Running::start(&mut command);
    until("the demo is ready", || {
        let text = fs::read_to_string(&messages).unwrap();
        text.contains("ready: ")
            && text.contains(" pages, open http://127.0.0.1:")
            && text.contains("try lighthouse or 灯塔")
    });
}

#[test]
fn up_says_when_everything_is_fetched() {
    let folder = TestFolder::new();
    let site = small_site();
    let seed = format!("http://127.0.0.1:{}/", site.port);
    let (_up, messages) = up_into_file(&folder, &["--allow-private", &seed]);
    until("everything is fetched", || {
        let text = fs::read_to_string(&messages).unwrap();
        text.contains("everything is fetched: 3 pages searchable at http://")
            && text.contains("the next visit is due in ")
    });
}

#[test]
fn failing_commands_leave_no_data_directory() {
    let folder = TestFolder::new();
    let error = fail(&mut folder.on("new", &["crawl"]));
    assert!(error.starts_with("error: "), "{error}");
    assert!(!folder.path("new").exists());
    fail(&mut folder.on("new", &["import", "none.warc.gz"]));
    fail(&mut folder.on("new", &["up", "--listen", "nonsense", "http://127.0.0.1:9/"]));
    assert!(!folder.path("new").exists());
    // A directory that existed before stays.
    fs::create_dir(folder.path("old")).unwrap();
    fail(&mut folder.on("old", &["crawl"]));
    assert!(folder.path("old").exists());
}

#[test]
fn broken_settings_are_refused_by_every_command() {
    let folder = TestFolder::new();
    let site = small_site();
    succeed(&mut crawl(&folder, &[&format!("http://127.0.0.1:{}/", site.port)]));
    folder.file("data/pharos.toml", "[crawl]\nsite_settings = [\"www.example.org delay=nonsense\"]\n");
    for command in [["stats"].as_slice(), &["search", "x"], &["page", "http://a.example/"], &["doctor"]] {
        let error = fail(&mut folder.on("data", command));
        assert!(error.starts_with("error: ") && error.contains("nonsense"), "{command:?}: {error}");
    }
    // A list in a variable is written with commas or as JSON.
    folder.file("data/pharos.toml", "");
    for list in ["*/a,*/b", r#"["*/a", "*/b"]"#] {
        let config = succeed(folder.on("data", &["config"]).env("PHAROS_CRAWL_EXCLUDE", list));
        assert!(config.contains(r#"exclude = ["*/a", "*/b"]"#), "{config}");
    }
}

#[test]
fn a_site_is_exported_without_naming_its_port() {
    let folder = TestFolder::new();
    let site = small_site();
    succeed(&mut crawl(&folder, &[&format!("http://127.0.0.1:{}/", site.port)]));
    let export = |site: &str| {
        let mut command = folder.on("data", &["export", "--format", "jsonl", "--site", site]);
        let output = command.output().unwrap();
        let pages = String::from_utf8_lossy(&output.stdout).lines().count();
        (output.status.code(), pages, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let with_port = export(&format!("127.0.0.1:{}", site.port));
    assert_eq!((with_port.0, with_port.1), (Some(0), 3), "{with_port:?}");
    assert_eq!(export("127.0.0.1").1, 3, "the host alone means all its ports");
    for unknown in ["other.example", "127.0.0.1:1"] {
        let (code, pages, message) = export(unknown);
        assert_eq!((code, pages), (Some(1), 0));
        assert!(message.contains(&format!("error: no page of the site `{unknown}` is stored")), "{message}");
    }
}

#[test]
fn a_text_is_segmented_as_an_argument() {
    let folder = TestFolder::new();
    assert_eq!(succeed(&mut folder.on("data", &["segment", "北京的灯塔"])).trim(), "北京  的  灯塔");
    assert_eq!(succeed(&mut folder.on("data", &["segment", "light", "house"])).trim(), "light  house");
    folder.file("text", "灯塔\n");
    assert_eq!(succeed(&mut folder.on("data", &["segment", "text"])).trim(), "灯塔");
    assert!(fail(&mut folder.on("data", &["segment", "none.txt"])).contains("cannot read `none.txt`"));
}

#[test]
fn a_piped_result_has_neither_colours_nor_line_breaks() {
    let folder = TestFolder::new();
    let site = small_site();
    succeed(&mut crawl(&folder, &[&format!("http://127.0.0.1:{}/", site.port)]));
    succeed(&mut folder.on("data", &["index", "build"]));
    let found = succeed(folder.on("data", &["search", "lighthouse"]).env("COLUMNS", "20"));
    assert!(found.contains("The keeper of the Home lighthouse lights the lamp every evening"), "{found}");
    assert!(!found.contains('\x1b'), "{found}");
}

/// Returns the number of searchable pages.
fn searchable(folder: &TestFolder) -> u64 {
    folder.json("data", &["stats"])["searchable"].as_u64().unwrap()
}

/// Starts an engine on the small site and waits until its three pages are searchable.
fn up_until_searchable(folder: &TestFolder, seed: &str) -> Running {
    let (up, _messages) = up_into_file(folder, &["--allow-private", seed]);
    until("the catalog exists", || folder.path("data/catalog.db").exists());
    until("all pages are searchable", || searchable(folder) == 3);
    up
}

#[test]
fn an_exclude_rule_applies_to_known_pages_and_can_be_undone() {
    let folder = TestFolder::new();
    let site = small_site();
    let address = |path: &str| format!("http://127.0.0.1:{}{path}", site.port);
    let _up = up_until_searchable(&folder, &address("/"));

    folder.file("data/pharos.toml", "[crawl]\nexclude = [\"*/deep*\"]\n");
    until("excluded pages leave the index", || searchable(&folder) == 1);
    assert_eq!(folder.finds("data", "lighthouse"), [address("/")]);
    for path in ["/deep", "/deeper"] {
        let report = folder.json("data", &["page", &address(path)]);
        assert_eq!(report["problem"], "refused", "{report}");
        assert!(report["reason"].as_str().unwrap().contains("crawl.exclude"), "{report}");
    }
    let stats = folder.json("data", &["stats"]);
    assert_eq!(stats["collection"]["others"], serde_json::json!([["not-found", 1], ["refused", 2]]));
    succeed(&mut folder.on("data", &["doctor"]));

    folder.file("data/pharos.toml", "");
    until("they come back without the rule", || searchable(&folder) == 3);
    assert_eq!(folder.json("data", &["page", &address("/deep")])["problem"], Value::Null);
    succeed(&mut folder.on("data", &["doctor"]));
}

#[test]
fn a_changed_refresh_interval_applies_to_known_pages() {
    let folder = TestFolder::new();
    let site = small_site();
    let address = |path: &str| format!("http://127.0.0.1:{}{path}", site.port);
    let _up = up_until_searchable(&folder, &address("/"));
    let visits = |path: &str| folder.json("data", &["page", &address(path)])["visits"].as_u64().unwrap();
    assert_eq!(visits("/deeper"), 1);
    folder.file("data/pharos.toml", "[crawl]\nrefresh = \"2s\"\nrefresh_at_most_every = \"1s\"\n");
    until("a known page is visited again", || visits("/deeper") > 1);
    assert_eq!(visits("/"), 1, "the interval of home pages is the same");
}

#[test]
fn the_copy_of_a_gone_page_is_shown_as_such() {
    let folder = TestFolder::new();
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&is_gone);
    let site = Site::start(move |path| match path {
        "/" => Some(page("Home", "<a href=/deep>deep</a>")),
        "/deep" if !gone.load(Ordering::SeqCst) => Some(page("Deep", "")),
        _ => None,
    });
    let address = |path: &str| format!("http://127.0.0.1:{}{path}", site.port);
    succeed(&mut crawl(&folder, &[&address("/")]));
    is_gone.store(true, Ordering::SeqCst);
    // A page is missing when it is missing twice.
    for _ in 0..2 {
        succeed(&mut crawl(&folder, &["--mode", "batch", &address("/")]));
    }
    succeed(&mut folder.on("data", &["index", "build"]));
    assert_eq!(folder.finds("data", "lighthouse"), [address("/")]);
    let mut serve = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let server = serve.address();
    let copy = |path: &str| format!("/snapshot/{}", PageUrl::parse(&address(path)).unwrap().id());
    let (status, banner) = get(&server, &format!("{}?lang=en", copy("/deep")));
    assert_eq!(status, 200, "{banner}");
    assert!(banner.contains("This page no longer exists on its site"), "{banner}");
    let (status, content) = get(&server, &format!("{}/content", copy("/deep")));
    assert!(status == 200 && content.contains("The keeper of the Deep lighthouse"), "{content}");
    let (_, banner) = get(&server, &format!("{}?lang=en", copy("/")));
    assert!(!banner.contains("no longer exists"), "{banner}");
    assert_eq!(get(&server, &copy("/never")).0, 404);
}
