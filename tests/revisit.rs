//! Revisits: unchanged pages cost a request and no copy, deleted pages leave the index but not the library, and a batch
//! fetches everything again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

use crate::common::{Rig, succeed};
use flate2::read::MultiGzDecoder;
use pharos_store::RecordContent;
use pharos_testweb::hostile::{HostileOptions, HostileWeb};
use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

/// Refresh interval of every page. Far longer than a crawl of these few hosts, which would otherwise fetch pages twice.
const REFRESH: Duration = Duration::from_secs(3);

#[test]
fn a_page_with_an_etag_is_revalidated() {
    unchanged_page_is_a_revisit("etag.test");
}

#[test]
fn a_page_with_a_date_is_revalidated() {
    unchanged_page_is_a_revisit("last-modified.test");
}

/// The second visit is conditional, or the host would not answer 304, and is stored as a reference. So is the third:
/// the validators outlast a response without content.
fn unchanged_page_is_a_revisit(host: &str) {
    let (rig, web) = start();
    let url = page_of(&web, host, "/");
    succeed(crawl(&rig, &web).arg(&url));
    for again in 1..=2 {
        come_back(&rig, &web);
        let page_report = page_report(&rig, &url);
        assert_eq!(
            (&page_report["visits"], &page_report["changes"]),
            (&(again + 1).into(), &0.into()),
            "{page_report:#}"
        );
        assert_eq!(page_report["status"], 200);
        assert_eq!(
            stored_versions(&page_report),
            [vec!["unchanged"; again], vec!["whole"]].concat(),
            "{page_report:#}"
        );
        assert_eq!(statuses_of_revisits(&rig, &url), vec![304; again]);
        assert_eq!(raw_library(&rig).matches("WARC-Type: revisit\r\n").count(), again);
        assert!(is_found(&rig, "never changes", &url), "it can still be found");
    }
    assert_eq!((count_requests(&web, host, "/robots.txt"), count_requests(&web, host, "/")), (1, 3));
    rig.runtime.block_on(web.stop());
}

#[test]
fn a_page_with_a_new_comment_has_not_changed_for_its_readers() {
    let (rig, web) = start();
    let url = page_of(&web, "always-new.test", "/");
    succeed(crawl(&rig, &web).arg(&url));
    come_back(&rig, &web);
    let page_report = page_report(&rig, &url);
    assert_eq!((&page_report["visits"], &page_report["changes"]), (&2.into(), &0.into()), "{page_report:#}");
    assert_eq!(stored_versions(&page_report), ["whole", "whole"], "{page_report:#}");
    rig.runtime.block_on(web.stop());
}

#[test]
fn deleted_pages_leave_the_index_and_stay_in_the_library() {
    let (rig, web) = start();
    let hosts = ["vanishing.test", "vanished-for-good.test"];
    let [missing, gone] = hosts.map(|host| page_of(&web, host, "/page"));
    succeed(crawl(&rig, &web).args(hosts.map(|host| page_of(&web, host, "/"))));
    let found = || [&missing, &gone].map(|url| is_found(&rig, "that may go away", url));
    assert_eq!(found(), [true, true]);

    web.remove_page(&missing);
    web.remove_page(&gone);
    come_back(&rig, &web);
    assert_eq!(found(), [true, false], "missing once may be a mishap, gone is gone");
    assert_eq!(page_report(&rig, &missing)["status"], 404);
    assert_eq!(page_report(&rig, &gone)["status"], 410);

    come_back(&rig, &web);
    assert_eq!(found(), [false, false], "missing twice is gone");
    come_back(&rig, &web);
    assert_eq!(hosts.map(|host| count_requests(&web, host, "/")), [4, 4], "but for its neighbours");

    for url in [&missing, &gone] {
        let page_report = page_report(&rig, url);
        assert!(page_report["due"].is_number(), "it is checked again later: {page_report:#}");
        let versions = page_report["versions"].as_array().unwrap().len();
        assert_eq!(page_report["versions"][versions - 1]["status"], 200);
        let last_copy = succeed(&mut rig.pharos(&["page", url, "--show", &versions.to_string(), "--text"]));
        assert!(last_copy.contains("that may go away"), "{last_copy}");
    }
    rig.runtime.block_on(web.stop());
}

#[test]
fn a_batch_fetches_everything_again_although_nothing_is_due() {
    let spec = WebSpec { seed: 51, hosts: 4, pages: 80, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    let truth = rig.truth();
    // Requests of each page that is more than the target of a redirect.
    let targets: BTreeSet<&String> = truth.pages.iter().filter_map(|page| page.redirect.as_ref()).collect();
    let fetched = |command: &mut Command| {
        rig.server.clear_log();
        succeed(command);
        let mut fetched: BTreeMap<String, usize> = BTreeMap::new();
        for request in rig.server.log().iter().filter(|request| &*request.path != "/robots.txt") {
            let url = format!("http://{}:{}{}", request.host, rig.server.port(), request.path);
            if !targets.contains(&url) {
                *fetched.entry(url).or_default() += 1;
            }
        }
        fetched
    };
    let first = fetched(&mut rig.crawl("crawl"));
    assert!(first.len() > 60 && first.values().all(|times| *times == 1), "{first:#?}");
    assert!(fetched(&mut rig.crawl("crawl")).is_empty(), "nothing is due");
    for batch in 1..=2 {
        let again = fetched(rig.crawl("crawl").args(["--mode", "batch"]));
        let missed: Vec<_> = first.keys().filter(|url| !again.contains_key(*url)).collect();
        assert!(missed.is_empty(), "not in batch {batch}: {missed:#?}");
        assert_eq!(again, first);
    }
    let home = &rig.server.seeds()[0];
    assert_eq!(page_report(&rig, home)["visits"], 3, "the first crawl and two batches");
}

fn start() -> (Rig, HostileWeb) {
    let rig = Rig::new(WebSpec { hosts: 1, pages: 3, ..WebSpec::default() }, ServeOptions::default());
    let web = rig.runtime.block_on(HostileWeb::start(HostileOptions::default())).unwrap();
    (rig, web)
}

/// Returns a crawl after which every page is due soon, at fixed intervals.
fn crawl(rig: &Rig, web: &HostileWeb) -> Command {
    let mut command = rig.pharos(&["crawl", "--allow-private", "--politeness", "own-site"]);
    for value in web.resolve_args() {
        command.arg("--resolve").arg(value);
    }
    for key in ["REFRESH", "REFRESH_HOME", "REFRESH_HUB", "REFRESH_AT_MOST_EVERY", "GONE_AFTER"] {
        command.env(format!("PHAROS_CRAWL_{key}"), format!("{}s", REFRESH.as_secs()));
    }
    command.env("PHAROS_REFRESH_POLICY", "uniform");
    command
}

/// Waits until everything is due, and crawls again without seeds.
fn come_back(rig: &Rig, web: &HostileWeb) {
    std::thread::sleep(REFRESH);
    succeed(&mut crawl(rig, web));
}

fn page_of(web: &HostileWeb, host: &str, path: &str) -> String {
    let home = web.seeds().into_iter().find(|seed| seed.starts_with(&format!("http://{host}:"))).unwrap();
    format!("{}{path}", home.trim_end_matches('/'))
}

/// Returns the number of requests of a page, from the server's log.
fn count_requests(web: &HostileWeb, host: &str, path: &str) -> usize {
    web.requests().iter().filter(|request| &*request.host == host && &*request.path == path).count()
}

fn page_report(rig: &Rig, url: &str) -> Value {
    serde_json::from_str(&succeed(&mut rig.pharos(&["--json", "page", url]))).unwrap()
}

/// Returns the state of each stored version, newest first.
fn stored_versions(page_report: &Value) -> Vec<String> {
    let word = |stored_versions: &Value| match stored_versions {
        Value::Object(fields) => fields.keys().next().unwrap().clone(),
        word => word.as_str().unwrap().to_string(),
    };
    page_report["versions"].as_array().unwrap().iter().map(|version| word(&version["kept"])).collect()
}

fn statuses_of_revisits(rig: &Rig, url: &str) -> Vec<u16> {
    let records = rig.records().into_iter().filter(|stored| stored.record.url.as_str() == url);
    let status =
        |content| if let RecordContent::Revisit(revisit) = content { Some(revisit.status) } else { None };
    records.filter_map(|stored| status(stored.record.content)).collect()
}

/// Returns the text of all WARC files.
fn raw_library(rig: &Rig) -> String {
    let mut bytes = Vec::new();
    for file in std::fs::read_dir(rig.data().join("library")).unwrap() {
        let path = file.unwrap().path();
        if path.to_str().unwrap().ends_with(".warc.gz") {
            MultiGzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns `true` if the page is among the results of a query after indexing everything stored so far.
fn is_found(rig: &Rig, query: &str, url: &str) -> bool {
    succeed(&mut rig.pharos(&["index", "build"]));
    let output = rig.pharos(&["--json", "search", "--all", query]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hits"].as_array().unwrap().iter().any(|hit| hit["url"] == url)
}
