//! Crawl windows of sites and scheduled visits, with the real program.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pharos_core::{Clock as _, SystemClock};

use crate::common::browser::{Site, stays};
use crate::common::{Running, TestFolder, describe, fail, succeed, until};

/// Returns a window that opens in two hours and is open for one, in UTC.
fn closed_window() -> String {
    let hour = |hours: u64| {
        let at = SystemClock.now().plus(Duration::from_secs(hours * 3600)).to_string();
        format!("{}:00", &at[11..13])
    };
    format!("{}-{}", hour(2), hour(3))
}

fn lighthouse() -> Site {
    Site::start(|path| match path {
        "/" => Some("<title>Tower</title><p>The lighthouse keeper climbs. <a href=/lamp>lamp</a>".into()),
        "/lamp" => Some("<title>Lamp</title><p>The lamp turns all night above the harbour.".into()),
        _ => None,
    })
}

#[test]
fn a_site_is_fetched_within_its_window_only() {
    let (open, closed) = (lighthouse(), lighthouse());
    let folder = TestFolder::new();
    let window = closed_window();
    let settings = |site: &str| {
        format!("[crawl]\nallow_private = true\npoliteness = \"own-site\"\nsite_settings = [\"{site}\"]\n")
    };
    let host = format!("127.0.0.1:{}", closed.port);
    let config = folder.file("data/pharos.toml", settings(&format!("{host} zone=Z window={window}")));
    let seeds = [open.port, closed.port].map(|port| format!("http://127.0.0.1:{port}/"));
    let mut engine = Running::start(folder.on("data", &["up", "--listen", "127.0.0.1:0"]).args(&seeds));
    engine.address();
    let found = || folder.finds("data", "harbour");
    until("the open site is searchable", || found().len() == 1);
    stays("the closed site is left alone", || closed.connections() == 0);
    assert!(found()[0].contains(&open.port.to_string()), "{:?}", found());

    // Page report and explanation say why it waits.
    let output = folder.on("data", &["page", &seeds[1]]).output().unwrap();
    assert!(describe(&output).contains("waits for the crawl window of its site"), "{}", describe(&output));
    let output = folder.on("data", &["crawl", "--explain", &seeds[1]]).output().unwrap();
    let explained = describe(&output);
    assert!(explained.contains(&format!("outside the crawl window {window} (Z)")), "{explained}");

    // A changed window holds at once.
    fs::write(config, settings(&format!("{host} zone=Z window=00:00-24:00"))).unwrap();
    until("the window is open", || found().len() == 2);
    engine.signal("TERM");
    assert!(engine.0.wait().unwrap().success());
}

#[test]
fn a_crawl_that_ends_by_itself_skips_closed_sites() {
    let closed = lighthouse();
    let folder = TestFolder::new();
    let line = format!("127.0.0.1:{} zone=Z window={}", closed.port, closed_window());
    folder.file("data/pharos.toml", format!("[crawl]\nallow_private = true\nsite_settings = [\"{line}\"]\n"));
    let seed = format!("http://127.0.0.1:{}/", closed.port);
    let error = fail(&mut folder.on("data", &["--quiet", "crawl", &seed]));
    assert!(error.contains("outside the crawl windows"), "{error}");
    assert_eq!(closed.connections(), 0);
    folder.file("data/pharos.toml", "[crawl]\nallow_private = true\npoliteness = \"own-site\"\n");
    succeed(&mut folder.on("data", &["crawl", &seed]));
    assert!(closed.connections() > 0, "its pages were still due");
}

#[test]
fn scheduled_visits_fetch_matching_pages_again() {
    let visits: Arc<[AtomicUsize; 2]> = Arc::default();
    let counted = Arc::clone(&visits);
    let site = Site::start(move |path| match path {
        "/" => Some(
            "<title>Paper</title><p>All the news. <a href=/news/1>one</a> <a href=/about>about</a>".into(),
        ),
        "/news/1" => {
            counted[0].fetch_add(1, Ordering::SeqCst);
            Some("<title>News</title><p>The lamp of the lighthouse was replaced.".into())
        }
        "/about" => {
            counted[1].fetch_add(1, Ordering::SeqCst);
            Some("<title>About</title><p>A small paper about towers at the sea.".into())
        }
        _ => None,
    });
    let folder = TestFolder::new();
    let seed = format!("http://127.0.0.1:{}/", site.port);
    let settings = |recrawl: &str| {
        format!("[crawl]\nallow_private = true\npoliteness = \"own-site\"\nrecrawl = [{recrawl}]\n")
    };
    folder.file("data/pharos.toml", settings(&format!("\"1s {seed}news/*\"")));
    let mut engine = Running::start(&mut folder.on("data", &["up", "--listen", "127.0.0.1:0", &seed]));
    engine.address();
    let count = |page: usize| visits[page].load(Ordering::SeqCst);
    until("the news is fetched again and again", || count(0) >= 3);
    assert_eq!(count(1), 1, "other pages are not");

    // One visit of the whole site, at a time that has passed.
    let once = format!("\"2026-01-31T12:00 127.0.0.1:{}\"", site.port);
    folder.file("data/pharos.toml", settings(&once));
    until("the whole site is fetched again", || count(1) == 2);
    stays("it is fetched once", || count(1) == 2);
    engine.signal("TERM");
    assert!(engine.0.wait().unwrap().success());

    folder.file("data/pharos.toml", settings("\"soon a.example\""));
    let output = folder.on("data", &["up", "--listen", "127.0.0.1:0", &seed]).output().unwrap();
    assert!(describe(&output).contains("crawl.recrawl"), "{}", describe(&output));
    assert_eq!(output.status.code(), Some(2));
}
