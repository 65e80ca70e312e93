//! Whole crawls on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{ServerAction, TestEngine, TestServer, answer, config, not_found, page, redirect, url};
use pharos_core::config::{CrawlConfig, LinkScope, PolitenessProfile, RestartPolicy, StrategyName};
use pharos_core::{Clock, SystemClock, Timestamp};
use pharos_crawl::{CrawlError, EndReason, Remedy};
use pharos_store::catalog::RobotsState;
use pharos_store::{LibraryEvent, PageState, RecordContent};
use tokio::sync::watch;

/// `/` links to `/0` … `/9`, each of which links to two more.
fn tree(path: &str) -> ServerAction {
    match path {
        "/robots.txt" => not_found(),
        "/" => page(&(0..10).map(|n| format!("<a href=\"/{n}\">")).collect::<String>()),
        path if path.len() == 2 => page(&format!("<a href=\"{path}/a\"><a href=\"{path}/b\"><a href=\"/\">")),
        _ => page("leaf"),
    }
}

fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort();
    paths
}

#[tokio::test]
async fn every_page_is_fetched_once_breadth_first() {
    let server = TestServer::start(|_, path| tree(path)).await;
    let engine = TestEngine::new(config(), &[server.url("/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!(
        (summary.pages, summary.failed, summary.refused, summary.ended),
        (31, 0, 0, EndReason::NothingDue)
    );
    let paths = server.paths();
    assert_eq!(paths[..2], ["/robots.txt", "/"]);
    assert_eq!(paths.len(), 32);
    assert_eq!(sorted(paths.clone()).windows(2).filter(|pair| pair[0] == pair[1]).count(), 0);
    assert!(paths[2..12].iter().all(|path| path.len() == 2), "nearest first: {paths:?}");
    assert_eq!(engine.page_details(&server.url("/3/b")).unwrap().depth, 2);
    assert_eq!(engine.catalog.counts().unwrap().stored, 31);
    let report = engine.status.report();
    assert_eq!((report.pages, report.bytes, report.in_flight, report.queued), (31, summary.bytes, 0, 0));
    // Nothing is left, and the robots.txt is still fresh.
    assert_eq!(engine.crawl().await.unwrap().pages, 0);
    assert_eq!(server.paths().len(), 32);
}

#[tokio::test]
async fn depth_first_follows_a_page_before_its_neighbours() {
    let server = TestServer::start(|_, path| tree(path)).await;
    let deep = CrawlConfig { strategy: StrategyName::DepthFirst, connections_per_host: 2, ..config() };
    let engine = TestEngine::new(deep, &[server.url("/")]);
    assert_eq!(engine.crawl().await.unwrap().pages, 31);
    let paths = server.paths();
    assert_eq!((paths.len(), paths[1].as_str()), (32, "/"));
    for three in paths[2..].chunks(3) {
        let leaves = sorted(three[1..].to_vec());
        assert_eq!(leaves, [format!("{}/a", three[0]), format!("{}/b", three[0])], "{paths:?}");
    }
}

#[tokio::test]
async fn every_strategy_fetches_every_page_once() {
    use StrategyName::{Alternate, HotQueue, Importance, SiteFirst, Worm};
    for strategy in [Importance, Alternate, HotQueue, SiteFirst, Worm] {
        let server = TestServer::start(|_, path| tree(path)).await;
        let engine = TestEngine::new(CrawlConfig { strategy, ..config() }, &[server.url("/")]);
        let summary = engine.crawl().await.unwrap();
        assert_eq!((summary.pages, summary.ended), (31, EndReason::NothingDue), "{strategy}");
        assert_eq!(server.paths().len(), 32, "{strategy}");
    }
}

#[tokio::test]
async fn a_crawl_may_start_from_its_seeds_alone() {
    let server = TestServer::start(|_, path| tree(path)).await;
    let engine = TestEngine::new(CrawlConfig { max_pages: 1, ..config() }, &[server.url("/")]);
    assert_eq!(engine.crawl().await.unwrap().pages, 1);
    let engine = engine.reconfigured(|config| {
        config.max_pages = 0;
        config.restart = RestartPolicy::Seeds;
    });
    assert_eq!(engine.crawl().await.unwrap().pages, 0, "pages known before are skipped");
    let engine = engine.reconfigured(|config| config.restart = RestartPolicy::Known);
    assert_eq!(engine.crawl().await.unwrap().pages, 30);
}

#[tokio::test]
async fn the_number_of_fetchers_may_change() {
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => not_found(),
        _ => ServerAction::Late(
            Duration::from_millis(20),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
    })
    .await;
    let hosts: Vec<String> = (0..4).map(|n| format!("h{n}.example")).collect();
    let many = CrawlConfig { resolve: hosts.iter().map(|h| server.resolve(h)).collect(), ..config() };
    let seeds: Vec<_> = hosts.iter().map(|h| server.named(h, "/")).collect();
    let engine = TestEngine::new(many, &seeds);
    engine.status.set_fetchers(1);
    assert_eq!(engine.crawl().await.unwrap().pages, 4);
    let log = server.log();
    for pair in log.windows(2) {
        assert!(pair[0].ended <= pair[1].began, "two at once");
    }
}

#[tokio::test]
async fn robots_txt_is_obeyed() {
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => {
            answer(200, "", "User-agent: pharos\nDisallow: /private/\nUser-agent: *\nDisallow: /")
        }
        "/" => page("<a href=\"/private/x\"><a href=\"/open\"><a href=\"/robots.txt\">"),
        _ => page("x"),
    })
    .await;
    let engine = TestEngine::new(config(), &[server.url("/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.refused), (2, 1));
    assert_eq!(server.paths(), ["/robots.txt", "/", "/open"]);
    let details = engine.page_details(&server.url("/private/x")).unwrap();
    assert_eq!(details.state, PageState::Refused);
    assert!(details.due.is_some(), "rules change: it is checked again");
    assert_eq!(engine.reason(&server.url("/private/x")), "robots.txt: Disallow: /private/");
    assert_eq!(engine.page_details(&server.url("/robots.txt")), None, "a robots.txt is no page");
}

#[tokio::test]
async fn a_server_with_unreachable_robots_is_skipped_and_its_pages_stay_due() {
    let down = Arc::new(AtomicBool::new(true));
    let state = down.clone();
    let server = TestServer::start(move |_, path| match path {
        "/robots.txt" if state.load(Ordering::SeqCst) => answer(503, "", ""),
        _ => tree(path),
    })
    .await;
    let engine = TestEngine::new(config(), &[server.url("/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed, summary.ended), (0, 1, EndReason::NothingDue));
    assert_eq!(summary.last_failure.unwrap(), format!("{}: status 503", server.url("/robots.txt")));
    assert_eq!(server.paths(), ["/robots.txt"]);
    assert_eq!(engine.page_details(&server.url("/")).unwrap().state, PageState::Failed);
    assert_eq!(engine.reason(&server.url("/")), "robots.txt could not be fetched: status 503");
    let notices = engine.status.notices_after(0);
    assert_eq!(notices.len(), 1, "the operator is told: {notices:?}");
    assert_eq!(
        engine.catalog.robots(&server.url("/robots.txt")).unwrap().unwrap().state,
        RobotsState::Unreachable
    );
    down.store(false, Ordering::SeqCst);
    assert_eq!(engine.crawl().await.unwrap().pages, 31, "the next crawl fetches it again");
}

#[tokio::test]
async fn an_unreachable_scheme_does_not_stop_the_other() {
    let server = TestServer::start(|_, path| match path {
        "/" => page("<a href=\"https://both.example/\"><a href=\"/x\">"),
        path => tree(path),
    })
    .await;
    // Both schemes belong to one site; no server listens for the second.
    let sent = CrawlConfig {
        connect_to: vec![
            format!("both.example:80:127.0.0.1:{}", server.port),
            "both.example:443:127.0.0.1:1".into(),
        ],
        ..config()
    };
    let engine = TestEngine::new(sent, &[url("http://both.example/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed), (4, 1));
    assert!(server.paths().contains(&"/x".to_string()));
    assert_eq!(summary.last_failure.unwrap(), "https://both.example/robots.txt: connection refused");
}

#[tokio::test]
async fn a_robots_txt_may_be_elsewhere() {
    let rules = TestServer::start(|host, path| match (host, path) {
        ("a.example", "/robots.txt") => redirect("/rules/1"),
        ("a.example", "/rules/1") => redirect("//b.example/robots.txt"),
        ("b.example", "/robots.txt") => answer(200, "", "user-agent: *\ndisallow: /x"),
        ("loop.example", "/robots.txt") => redirect("/robots.txt"),
        (_, "/") => page("<a href=\"/x\">"),
        _ => page("x"),
    })
    .await;
    let own = |host: &str| format!("{host}:80:127.0.0.1:{}", rules.port);
    let sent =
        CrawlConfig { connect_to: vec![own("a.example"), own("b.example"), own("loop.example")], ..config() };
    let engine = TestEngine::new(sent.clone(), &[url("http://a.example/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.refused), (1, 1));
    assert_eq!(rules.paths(), ["/robots.txt", "/rules/1", "/robots.txt", "/"]);
    let file = engine.catalog.robots(&url("http://a.example/robots.txt")).unwrap().unwrap();
    assert!(matches!(file.state, RobotsState::Known(_)), "it is stored under the requested URL");
    assert_eq!(engine.catalog.robots(&url("http://b.example/robots.txt")).unwrap(), None);
    assert_eq!(engine.catalog.counts().unwrap().pages, 2, "nothing on the way became a page");

    let engine = TestEngine::new(sent, &[url("http://loop.example/")]);
    assert_eq!(engine.crawl().await.unwrap().pages, 2, "a redirect loop means no rules");
    assert_eq!(rules.log().iter().filter(|s| s.host == "loop.example" && s.path == "/robots.txt").count(), 6);
}

/// Returns the shortest time between the end of a response and the start of the next request, as the server sees it.
fn shortest_gap(server: &TestServer) -> Duration {
    let log = server.log();
    log.windows(2).map(|pair| pair[1].began.saturating_duration_since(pair[0].ended)).min().unwrap()
}

/// The crawl counts whole milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);

#[tokio::test]
async fn the_delay_is_kept() {
    let server = TestServer::start(|_, path| match path {
        "/" => page("<a href=\"/1\">"),
        path => tree(path),
    })
    .await;
    let polite = CrawlConfig { politeness: PolitenessProfile::Normal, ..config() };
    let summary = TestEngine::new(polite, &[server.url("/")]).crawl().await.unwrap();
    assert_eq!(summary.pages, 4);
    assert!(shortest_gap(&server) + ROUNDING >= Duration::from_secs(1), "{:?}", shortest_gap(&server));
}

#[tokio::test]
async fn crawl_delay_is_kept_and_bounded() {
    let server = TestServer::start(|host, path| match (host, path) {
        ("slow.example", "/robots.txt") => answer(200, "", "user-agent: *\ncrawl-delay: 100000"),
        (_, "/robots.txt") => answer(200, "", "user-agent: *\ncrawl-delay: 0.2"),
        (_, "/") => page("<a href=\"/1\"><a href=\"/2\">"),
        _ => page("x"),
    })
    .await;
    let bounded = CrawlConfig {
        max_crawl_delay: Duration::from_millis(300),
        resolve: vec![server.resolve("slow.example")],
        ..config()
    };
    let engine = TestEngine::new(bounded, &[server.url("/"), server.named("slow.example", "/")]);
    assert_eq!(engine.crawl().await.unwrap().pages, 6);
    for (host, delay) in [("127.0.0.1", 200), ("slow.example", 300)] {
        let log: Vec<_> = server.log().into_iter().filter(|seen| seen.host == host).collect();
        assert_eq!(log.len(), 4);
        for pair in log.windows(2) {
            let gap = pair[1].began.saturating_duration_since(pair[0].ended);
            assert!(gap + ROUNDING >= Duration::from_millis(delay), "{host}: {gap:?}");
        }
    }
}

#[tokio::test]
async fn one_request_at_a_time_to_a_host_and_many_hosts_at_once() {
    let most = Arc::new(AtomicUsize::new(0));
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => not_found(),
        "/" => page("<a href=\"/1\"><a href=\"/2\"><a href=\"/3\">"),
        _ => ServerAction::Late(
            Duration::from_millis(30),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
    })
    .await;
    let hosts: Vec<String> = (0..4).map(|n| format!("h{n}.example")).collect();
    let many = CrawlConfig { resolve: hosts.iter().map(|h| server.resolve(h)).collect(), ..config() };
    let seeds: Vec<_> = hosts.iter().map(|h| server.named(h, "/")).collect();
    assert_eq!(TestEngine::new(many, &seeds).crawl().await.unwrap().pages, 16);
    let log = server.log();
    for a in &log {
        let together = log.iter().filter(|b| b.began <= a.began && a.began < b.ended);
        let hosts: Vec<&str> = together.map(|b| b.host.as_str()).collect();
        assert!(hosts.iter().filter(|h| **h == a.host).count() <= 1, "{} twice at once", a.host);
        most.fetch_max(hosts.len(), Ordering::SeqCst);
    }
    assert!(most.load(Ordering::SeqCst) > 1, "hosts do not wait for one another");
}

/// One address may serve many sites: sites are identified by name, not by address.
#[tokio::test]
async fn four_names_on_one_address_are_four_sites() {
    let server =
        TestServer::start(|host, path| if path == "/robots.txt" { not_found() } else { page(host) }).await;
    let hosts: Vec<String> = (0..4).map(|n| format!("h{n}.example")).collect();
    let many = CrawlConfig { resolve: hosts.iter().map(|h| server.resolve(h)).collect(), ..config() };
    let seeds: Vec<_> = hosts.iter().map(|h| server.named(h, "/")).collect();
    let engine = TestEngine::new(many, &seeds);
    assert_eq!(engine.crawl().await.unwrap().pages, 4);
    assert_eq!(engine.catalog.counts().unwrap().sites, 4);
    for record in engine.records() {
        if let RecordContent::Response(response) = record.content
            && response.status == 200
        {
            assert_eq!(response.body, record.url.host().as_bytes());
            assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
        }
    }
}

#[tokio::test]
async fn redirects_are_followed_within_bounds() {
    let server = TestServer::start(|host, path| match (host, path) {
        (_, "/robots.txt") => not_found(),
        ("a.example", "/") => redirect("http://b.example/start"),
        ("b.example", "/start") => page("<a href=\"/chain/0\"><a href=\"/away\"><a href=\"/loop\">"),
        (_, "/away") => redirect("http://c.example/"),
        (_, "/loop") => redirect("/loop"),
        (_, path) => match path.strip_prefix("/chain/") {
            Some(n) => redirect(&format!("/chain/{}", n.parse::<u32>().unwrap() + 1)),
            None => page("x"),
        },
    })
    .await;
    let own = |host: &str| format!("{host}:80:127.0.0.1:{}", server.port);
    let sent = CrawlConfig {
        connect_to: vec![own("a.example"), own("b.example"), own("c.example")],
        max_redirects: 3,
        ..config()
    };
    let engine = TestEngine::new(sent, &[url("http://a.example/")]);
    let summary = engine.crawl().await.unwrap();
    let pages: Vec<String> = server.paths().into_iter().filter(|p| p != "/robots.txt").collect();
    assert_eq!(
        sorted(pages),
        ["/", "/away", "/chain/0", "/chain/1", "/chain/2", "/chain/3", "/loop", "/start"]
    );
    assert_eq!((summary.pages, summary.ended), (8, EndReason::NothingDue));
    let moved = engine.page_details(&url("http://b.example/start")).unwrap();
    assert_eq!((moved.depth, moved.hops), (0, 1), "a seed that moved is a seed");
    let last = engine.page_details(&url("http://b.example/chain/3")).unwrap();
    assert_eq!((last.depth, last.hops), (1, 3));
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused() {
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => not_found(),
        "/" => redirect("http://[::ffff:169.254.169.254]/latest/meta-data/"),
        _ => page("x"),
    })
    .await;
    let engine = TestEngine::new(CrawlConfig { max_pages: 1, ..config() }, &[server.url("/")]);
    assert_eq!(engine.crawl().await.unwrap().pages, 1);
    let engine = engine.reconfigured(|config| {
        config.allow_private = false;
        config.contact = "me@example.org".into();
    });
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed), (0, 1));
    let reason = "private address ::ffff:169.254.169.254 (allow with --allow-private)";
    assert!(summary.last_failure.unwrap().ends_with(reason));
}

#[tokio::test]
async fn a_private_seed_stays_due_until_it_is_allowed() {
    let server = TestServer::start(|_, path| tree(path)).await;
    let careful = CrawlConfig { allow_private: false, contact: "me@example.org".into(), ..config() };
    let engine = TestEngine::new(careful, &[server.url("/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed, summary.ended), (0, 1, EndReason::NothingDue));
    assert_eq!(
        summary.last_failure.unwrap(),
        format!("{}: private address 127.0.0.1 (allow with --allow-private)", server.url("/robots.txt"))
    );
    assert!(server.log().is_empty());
    assert_eq!(engine.page_details(&server.url("/")).unwrap().state, PageState::Failed);
    let notices = engine.status.notices_after(0);
    assert_eq!(notices[0].remedy, Some(Remedy::AllowPrivate), "{notices:?}");
    assert_eq!(engine.reconfigured(|config| config.allow_private = true).crawl().await.unwrap().pages, 31);
}

#[tokio::test]
async fn a_public_seed_without_a_contact_is_an_error_that_says_what_to_type() {
    let no_contact = CrawlConfig { resolve: vec!["a.example:80:8.8.8.8".into()], ..config() };
    let engine = TestEngine::new(no_contact, &[url("http://a.example/")]);
    let error = engine.crawl().await.unwrap_err();
    assert!(matches!(error, CrawlError::NoContact { .. }));
    assert!(error.to_string().contains("--contact you@example.org"), "{error}");
    assert_eq!(engine.records().len(), 1, "nothing is recorded: it stays due");

    // A link to it is skipped, and the crawl continues.
    let server = TestServer::start(|_, path| match path {
        "/" => page("<a href=\"http://a.example/\"><a href=\"/1\">"),
        path => tree(path),
    })
    .await;
    let no_contact =
        CrawlConfig { resolve: vec!["a.example:80:8.8.8.8".into()], scope: LinkScope::Any, ..config() };
    let summary = TestEngine::new(no_contact, &[server.url("/")]).crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed, summary.ended), (4, 1, EndReason::NothingDue));
    assert!(summary.last_failure.unwrap().contains("--contact"));
}

#[tokio::test]
async fn never_more_than_max_pages() {
    let server = TestServer::start(|_, path| tree(path)).await;
    for limit in [1, 7] {
        let few = CrawlConfig { max_pages: limit, connections_per_host: 4, ..config() };
        let engine = TestEngine::new(few, &[server.url("/")]);
        let before = server.paths().len();
        let summary = engine.crawl().await.unwrap();
        assert_eq!((summary.pages, summary.ended), (limit, EndReason::MaxPages));
        assert_eq!(engine.catalog.counts().unwrap().stored, limit);
        assert_eq!((server.paths().len() - before) as u64, limit + 1, "and one robots.txt");
        assert_eq!(engine.crawl().await.unwrap().pages, limit.min(30), "the next crawl goes on from there");
    }
}

#[tokio::test]
async fn a_failure_is_tried_again_until_it_is_given_up() {
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => not_found(),
        "/" => page("<a href=\"/x\">"),
        _ => ServerAction::Close(Vec::new()),
    })
    .await;
    let hasty = CrawlConfig { retry_delay: Duration::ZERO, ..config() };
    let engine = TestEngine::new(hasty, &[server.url("/"), server.url("/seed")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed), (1, 6));
    let details = engine.page_details(&server.url("/x")).unwrap();
    assert_eq!((details.state, details.attempts, details.due), (PageState::Failed, 3, None));
    assert_eq!(engine.reason(&server.url("/x")), "connection closed before a response");
    let seed = engine.page_details(&server.url("/seed")).unwrap();
    assert_eq!((seed.state, seed.attempts), (PageState::Failed, 3));
    assert!(seed.due.is_some(), "a seed is never given up");
}

#[tokio::test]
async fn a_slow_server_times_out_and_others_go_on() {
    let server = TestServer::start(|host, path| match (host, path) {
        ("slow.example", "/") => ServerAction::Hang(Vec::new()),
        (_, path) => tree(path),
    })
    .await;
    let short = CrawlConfig {
        first_byte_timeout: Duration::from_millis(300),
        resolve: vec![server.resolve("slow.example")],
        ..config()
    };
    let engine = TestEngine::new(short, &[server.named("slow.example", "/"), server.url("/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed), (31, 1));
    assert_eq!(
        engine.reason(&server.named("slow.example", "/")),
        "timed out after 0.3 s waiting for a response"
    );
}

#[tokio::test]
async fn a_crawl_stops_on_request() {
    let server = TestServer::start(|host, path| match (host, path) {
        (_, "/robots.txt") => not_found(),
        ("slow.example", _) => ServerAction::Hang(Vec::new()),
        (_, path) => tree(path),
    })
    .await;
    let mut engine = TestEngine::new(
        CrawlConfig { resolve: vec![server.resolve("slow.example")], ..config() },
        &[server.named("slow.example", "/"), server.url("/")],
    );
    engine.keep_going = true;
    let (stop, stopped) = watch::channel(false);
    let status = engine.status.clone();
    let stopper = async {
        while status.report().pages < 31 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.send(true).unwrap();
    };
    let (summary, ()) = tokio::join!(engine.crawl_until(stopped), stopper);
    let summary = summary.unwrap();
    assert_eq!((summary.pages, summary.ended), (31, EndReason::Stopped));
    assert_eq!(
        engine.page_details(&server.named("slow.example", "/")).unwrap().state,
        PageState::Waiting,
        "nothing is recorded"
    );
}

#[tokio::test]
async fn a_crawl_ends_when_its_time_is_over() {
    let server = TestServer::start(|_, path| tree(path)).await;
    let mut engine =
        TestEngine::new(CrawlConfig { run_for: Duration::from_millis(400), ..config() }, &[server.url("/")]);
    engine.keep_going = true;
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.ended), (31, EndReason::Time));
}

#[tokio::test]
async fn a_paused_crawl_sends_no_request() {
    let server = TestServer::start(|_, path| tree(path)).await;
    let engine = TestEngine::new(config(), &[server.url("/")]);
    engine.status.set_disk_low(true);
    let resume = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(server.log().is_empty());
        engine.status.set_disk_low(false);
    };
    let (summary, ()) = tokio::join!(engine.crawl(), resume);
    assert_eq!(summary.unwrap().pages, 31);
}

#[tokio::test]
async fn a_crawl_that_keeps_going_comes_back_to_what_failed() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let server = TestServer::start(move |_, path| match path {
        // Twice, because a reused connection that was closed is replaced immediately.
        "/" if count.fetch_add(1, Ordering::SeqCst) < 2 => ServerAction::Close(Vec::new()),
        path => tree(path),
    })
    .await;
    let mut engine = TestEngine::new(
        CrawlConfig { retry_delay: Duration::from_millis(200), max_pages: 31, ..config() },
        &[server.url("/")],
    );
    engine.keep_going = true;
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed, summary.ended), (31, 1, EndReason::MaxPages));
}

/// Panics inside a request at a given call: two for the robots.txt, then for a page.
struct BrokenClock {
    calls: AtomicUsize,
    breaks_at: usize,
}

impl Clock for BrokenClock {
    fn now(&self) -> Timestamp {
        if tokio::task::try_id().is_some() && self.calls.fetch_add(1, Ordering::SeqCst) == self.breaks_at {
            panic!("the clock fell down");
        }
        SystemClock.now()
    }
}

#[tokio::test]
async fn a_request_that_panics_is_recorded_and_the_crawl_goes_on() {
    let server = TestServer::start(|_, path| tree(path)).await;
    for (breaks_at, path, pages) in [(0, "/robots.txt", 0), (3, "/", 31)] {
        let mut engine =
            TestEngine::new(CrawlConfig { retry_delay: Duration::ZERO, ..config() }, &[server.url("/")]);
        engine.clock = Arc::new(BrokenClock { calls: AtomicUsize::new(0), breaks_at });
        let summary = engine.crawl().await.unwrap();
        assert_eq!((summary.pages, summary.failed), (pages, 1), "{path}");
        assert_eq!(
            summary.last_failure.unwrap(),
            format!("{}: internal error: the clock fell down", server.url(path))
        );
        let failed = |r: &pharos_store::LibraryRecord| {
            r.url == server.url(path)
                && matches!(r.content, RecordContent::Event(LibraryEvent::Failed { .. }))
        };
        assert!(engine.records().iter().any(failed), "{path}");
        assert_eq!(engine.crawl().await.unwrap().pages, 31 - pages);
    }
}

/// Every page leads to further pages with the same text, and records are applied slowly.
#[tokio::test]
async fn a_trap_stays_within_its_budget_however_late_records_are_applied() {
    let server = TestServer::start(|_, path| {
        let links: String = (0..9).map(|n| format!("<a href=\"{path}{n}/x\">")).collect();
        if path == "/robots.txt" { not_found() } else { page(&links) }
    })
    .await;
    let trapped = CrawlConfig { site_budget: 20, connections_per_host: 16, ..config() };
    let mut engine = TestEngine::new(trapped, &[server.url("/")]);
    engine.lag = Some(Duration::from_millis(5));
    let summary = engine.crawl().await.unwrap();
    // The budget of 20 pages, and ten more for the first text.
    assert_eq!((summary.pages, summary.ended), (30, EndReason::NothingDue));
    let capped = CrawlConfig { max_pages_per_site: 7, connections_per_host: 16, ..config() };
    let mut engine = TestEngine::new(capped, &[server.url("/")]);
    engine.lag = Some(Duration::from_millis(5));
    assert_eq!(engine.crawl().await.unwrap().pages, 7);
}

/// A clock that is wrong by ten years.
struct FutureClock;

impl Clock for FutureClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(Duration::from_secs(3650 * 86_400))
    }
}

#[tokio::test]
async fn pages_of_a_clock_in_the_future_are_fetched_again_when_it_is_right() {
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => not_found(),
        "/" => page("<a href=\"/a\">"),
        _ => page("x"),
    })
    .await;
    let mut engine = TestEngine::new(config(), &[server.url("/")]);
    engine.clock = Arc::new(FutureClock);
    assert_eq!(engine.crawl().await.unwrap().pages, 2);
    assert_eq!(engine.crawl().await.unwrap().pages, 0);
    engine.clock = Arc::new(SystemClock);
    assert_eq!(engine.crawl().await.unwrap().pages, 2, "{:?}", server.paths());
    assert_eq!(engine.crawl().await.unwrap().pages, 0, "once");
    let page = engine.page_details(&server.url("/a")).unwrap();
    assert!(page.visited_at.unwrap() <= SystemClock.now() && page.visits == 2, "{page:?}");
}
