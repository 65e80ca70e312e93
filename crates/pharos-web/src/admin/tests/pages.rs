//! The pages behind the login: any parameters, and concurrent operators.

use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_store::catalog::{
    CatalogChange, DiscoveredLink, ResponseSummary, RobotsFile, RobotsState, VisitOutcome,
};

use super::*;
use crate::testing::apply_changes;
use crate::{LoadedSettings, SettingsSource};

const PAGES: [&str; 39] = [
    "/admin",
    "/admin/crawl",
    "/admin/sites",
    "/admin/sites?q=example&state=failing&order=failed&page=2",
    "/admin/sites?page=0&state=x&order=%00&q=%25_",
    "/admin/site?name=www.example.org",
    "/admin/site?name=unknown.example",
    "/admin/page",
    "/admin/page?url=www.example.org/a",
    "/admin/page?url=https://www.example.org/failed",
    "/admin/page?url=%00",
    "/admin/trouble",
    "/admin/trouble?site=www.example.org&kind=failed&q=timed&before=5.0",
    "/admin/trouble?kind=not-found&seeds=1",
    "/admin/submissions",
    "/admin/refresh",
    "/admin/refresh?site=www.example.org",
    "/admin/refresh?site=%3Cscript%3E",
    "/admin/index",
    "/admin/alerts",
    "/admin/glossary",
    "/admin/backup",
    "/admin/calendar",
    "/admin/machine",
    "/admin/queries",
    "/admin/insight",
    "/admin/insight?days=x",
    "/admin/insight/queries?list=slow&days=30&language=zh",
    "/admin/insight/queries?list=x&language=%00",
    "/admin/insight/query?q=%3Cscript%3E",
    "/admin/insight/query",
    "/admin/curation",
    "/admin/categories",
    "/admin/categories?edit=%00",
    "/admin/keys",
    "/admin/curation?edit=x&q=%00&url=%3Cscript%3E&kind=%22",
    "/admin/settings?section=rank",
    "/admin/logs",
    "/admin/logs?file=../desk/operators.json&q=%ff",
];

fn fill_catalog(running: &Running) {
    let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
    let url = |path: &str| PageUrl::parse(&format!("https://www.example.org/{path}")).unwrap();
    let failed = VisitOutcome::Failed { reason: "timed out <b>after</b> 30 s".into(), attempt: 3 };
    let body = b"User-agent: *\nDisallow: /private <script>\n".to_vec();
    apply_changes(
        &running.dir,
        &[
            CatalogChange::Seed { url: url(""), at, hops: 0, origin: None, stale_before: None },
            CatalogChange::Found(DiscoveredLink {
                anchor: "<i>words</i>".into(),
                ..DiscoveredLink::new(url("a"), 1, at)
            }),
            CatalogChange::Visited { url: url("failed"), at, outcome: failed, next_due: None },
            CatalogChange::Submitted { url: url("proposed"), at },
            CatalogChange::Robots(RobotsFile {
                url: url("robots.txt"),
                at,
                state: RobotsState::Known(body),
                reason: None,
                before: None,
            }),
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_answers_any_parameters() {
    let running = start();
    let mut keeper = running.keeper().await;
    for path in PAGES {
        let empty = keeper.get(path).await;
        assert_eq!(empty.status, StatusCode::OK, "{path} with nothing to show");
    }
    fill_catalog(&running);
    for lang in ["en", "zh"] {
        for path in PAGES {
            let path = format!("{path}{}lang={lang}", if path.contains('?') { '&' } else { '?' });
            let page = keeper.get(&path).await;
            assert_eq!(page.status, StatusCode::OK, "{path}");
            for markup in ["<b>after", "<i>words", "<script>"] {
                assert!(!page.text().contains(markup), "{path} takes what others say for markup");
            }
        }
    }
    let report = keeper.get("/admin/page?url=www.example.org/failed&lang=en").await;
    assert!(
        report.text().contains("The page could not be fetched: timed out &#60;b&#62;after"),
        "{}",
        report.text()
    );
    let sites = keeper.get("/admin/sites").await;
    assert!(sites.text().contains("1 sites") && sites.text().contains("www.example.org"), "{}", sites.text());
    let trouble = keeper.get("/admin/trouble?site=www.example.org").await;
    assert!(trouble.text().contains("https://www.example.org/failed"), "{}", trouble.text());
    assert!(keeper.get("/admin/submissions").await.text().contains("https://www.example.org/proposed"));
    assert!(keeper.get("/admin/site?name=www.example.org").await.text().contains("Disallow: /private"));
    for missing in ["/admin/site?name=a/b", "/admin/site", "/admin/nothing"] {
        assert_eq!(keeper.get(missing).await.status, StatusCode::NOT_FOUND, "{missing}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_actions_are_reported_and_logged() {
    let running = start();
    let mut keeper = running.keeper().await;
    for (path, fields) in [
        ("/admin/crawl/seeds", vec![("seeds", "http://[")]),
        ("/admin/crawl/seeds", vec![("seeds", " \n# nothing\n")]),
        ("/admin/settings/set", vec![("key", "crawl.no_such"), ("value", "1")]),
        ("/admin/settings/set", vec![("key", "crawl.fetchers"), ("value", "1"), ("stamp", "of long ago")]),
        ("/admin/site/settings", vec![("name", "a.example"), ("settings", "delay=soon")]),
    ] {
        let reply = keeper.act(path, &fields).await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER, "{path}");
        let page = keeper.get(reply.header("location")).await;
        assert!(page.text().contains("class=\"said bad\""), "{path}: {}", page.text());
        let log = running.action_log();
        let last = log.lines().last().unwrap();
        assert!(last.contains("refused: "), "{path}: {last}");
    }
    for (path, fields) in [
        ("/admin/site/remove", vec![("name", "a.example")]),
        ("/admin/page/remove", vec![("url", "http://a.example/")]),
        ("/admin/index/rollback", vec![]),
        ("/admin/trouble/retry", vec![("back", "https://evil.example/")]),
        ("/admin/submissions/decide", vec![("verdict", "accept")]),
    ] {
        let before = running.action_log();
        let reply = keeper.act(path, &fields).await;
        assert!(reply.header("location").starts_with("/admin/"), "{path} → {}", reply.header("location"));
        assert_eq!(running.action_log(), before, "{path}: nothing happens without confirmation");
    }
    assert!(!running.dir.path().join("pharos.toml").exists());
    for unknown in
        ["/admin/crawl/fly", "/admin/site/fly", "/admin/page/fly", "/admin/index/fly", "/admin/settings/fly"]
    {
        let reply = keeper.act(unknown, &[("name", "a.example"), ("url", "http://a.example/")]).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{unknown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_settings_are_detected() {
    let running = start();
    let mut keeper = running.keeper().await;
    let file = running.dir.path().join("pharos.toml");
    let stamp = |page: &Reply| {
        let (_, rest) = page.text().split_once("name=\"stamp\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_string()
    };
    // Both operators load the page, then both save.
    let seen = stamp(&keeper.get("/admin/settings").await);
    let set = [("key", "crawl.fetchers"), ("value", "7"), ("stamp", seen.as_str())];
    keeper.act("/admin/settings/set", &set).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "[crawl]\nfetchers = 7\n");
    let late = [("key", "crawl.fetchers"), ("value", "9"), ("stamp", seen.as_str())];
    keeper.act("/admin/settings/set", &late).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "[crawl]\nfetchers = 7\n");
    assert!(keeper.get("/admin/settings").await.text().contains("in the meantime"));
    assert!(running.action_log().contains("crawl.fetchers: 64 → 7"), "{}", running.action_log());

    // Options of single sites.
    keeper.act("/admin/site/hide", &[("name", "spam.example")]).await;
    keeper.act("/admin/site/boost", &[("name", "good.example"), ("by", "0.1")]).await;
    keeper.act("/admin/site/settings", &[("name", "slow.example"), ("settings", "delay=5s")]).await;
    keeper.act("/admin/site/skip", &[("name", "dull.example")]).await;
    let text = fs::read_to_string(&file).unwrap();
    for line in [
        "block = [\"spam.example\"]",
        "boost = [\"good.example 0.1\"]",
        "site_settings = [\"slow.example delay=5s\"]",
        "exclude = [\"*://dull.example/*\"]",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let exported = keeper.get("/admin/settings/export").await;
    assert_eq!(exported.text(), text);
    for (path, name) in [("show", "spam.example"), ("follow", "dull.example")] {
        keeper.act(&format!("/admin/site/{path}"), &[("name", name)]).await;
    }
    keeper.act("/admin/site/boost", &[("name", "good.example"), ("by", "0")]).await;
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        !text.contains("spam.example") && !text.contains("good.example") && !text.contains("dull.example"),
        "{text}"
    );

    let seen = stamp(&keeper.get("/admin/settings").await);
    keeper.act("/admin/settings/import", &[("text", "[crawl\nnonsense"), ("stamp", &seen)]).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "an invalid file is not imported");
    keeper.act("/admin/settings/import", &[("text", "[rank]\r\nk1 = 1.2\r\n"), ("stamp", &seen)]).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "[rank]\nk1 = 1.2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_configured_made_and_listed() {
    let running = start();
    let mut keeper = running.keeper().await;
    assert!(keeper.get("/admin?lang=en").await.text().contains("There is no backup yet."));
    assert!(!keeper.get("/admin/backup?lang=en").await.text().contains("Back up now"), "without a directory");
    let without = keeper.act("/admin/backup/now", &[]).await;
    let page = keeper.get(without.header("location")).await;
    assert!(page.text().contains("backup.directory"), "{}", page.text());

    let target = tempfile::tempdir().unwrap();
    let directory = target.path().to_str().unwrap();
    for (directory, schedule, error) in [("backups", "off", "absolute"), (directory, "soon", "03:30")] {
        let fields = [("directory", directory), ("schedule", schedule), ("keep", "3")];
        let reply = keeper.act("/admin/backup/settings", &fields).await;
        let page = keeper.get(reply.header("location")).await;
        assert!(page.text().contains(error) && page.text().contains("said bad"), "{}", page.text());
    }
    let fields = [("directory", directory), ("schedule", "sat,sun 03:30"), ("keep", "3")];
    keeper.act("/admin/backup/settings", &fields).await;
    let text = fs::read_to_string(running.dir.path().join("pharos.toml")).unwrap();
    assert!(text.contains("schedule = \"sat,sun 03:30\"") && text.contains("keep = 3"), "{text}");

    keeper.act("/admin/backup/now", &[]).await;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while running.app.service().backups.state().running.is_some() {
        assert!(std::time::Instant::now() < deadline, "the backup does not end");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    for (lang, words) in [("en", ["Last backup:", "Restore"]), ("zh", ["上次备份：", "恢复"])] {
        let page = keeper.get(&format!("/admin/backup?lang={lang}")).await;
        assert!(words.iter().all(|word| page.text().contains(word)), "{}", page.text());
        assert!(page.text().contains(&format!("restore {directory}/pharos-")), "{}", page.text());
    }
    assert!(keeper.get("/admin?lang=en").await.text().contains("Last backup: "));
    assert!(running.action_log().contains("backup.now"), "{}", running.action_log());
    assert_eq!(keeper.act("/admin/backup/fly", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_are_shown_and_acknowledged() {
    let running = start();
    let mut keeper = running.keeper().await;
    assert!(keeper.get("/admin/alerts?lang=en").await.text().contains("There is no alert."));
    let book = "{\"build-failed\":{\"kind\":\"build-failed\",\"value\":\"no <b>space</b>\",\"since\":5,\
                \"undelivered\":[\"webhook: status 500\"]}}";
    fs::write(running.dir.path().join("ALERTS"), book).unwrap();
    for (lang, text) in [
        ("en", "Building the index failed: no &#60;b&#62;space"),
        ("zh", "索引构建失败：no &#60;b&#62;space"),
    ] {
        for path in ["/admin", "/admin/alerts"] {
            let page = keeper.get(&format!("{path}?lang={lang}")).await;
            assert!(page.text().contains(text), "{path}: {}", page.text());
        }
    }
    assert!(keeper.get("/admin/alerts").await.text().contains("webhook: status 500"));
    for wrong in ["fire", "error-rate"] {
        let reply = keeper.act("/admin/alerts/acknowledge", &[("alert", wrong)]).await;
        assert!(keeper.get(reply.header("location")).await.text().contains("said bad"), "{wrong}");
    }
    keeper.act("/admin/alerts/acknowledge", &[("alert", "build-failed")]).await;
    let page = keeper.get("/admin/alerts?lang=en").await;
    assert!(page.text().contains("Acknowledged by Keeper"), "{}", page.text());
    assert!(!keeper.get("/admin?lang=en").await.text().contains("Building the index failed"));
    assert!(running.action_log().contains("alert.acknowledge"), "{}", running.action_log());
}

#[tokio::test(flavor = "multi_thread")]
async fn schedules_are_set_and_shown_in_the_calendar() {
    let running = start();
    let mut keeper = running.keeper().await;
    let form = |recrawl, build_at, time_zone| {
        [("recrawl", recrawl), ("build_at", build_at), ("time_zone", time_zone)]
    };
    for (fields, error) in [
        (form("soon a.example", "off", ""), "crawl.recrawl"),
        (form("", "whenever", ""), "index.build_at"),
        (form("", "off", "Europe/Atlantis"), "crawl.time_zone"),
    ] {
        let reply = keeper.act("/admin/calendar", &fields).await;
        let page = keeper.get(reply.header("location")).await;
        assert!(page.text().contains("said bad") && page.text().contains(error), "{}", page.text());
    }
    assert!(!running.dir.path().join("pharos.toml").exists());
    let fields = form("04:30 <b>.example\r\n", "off", "");
    let refused = keeper.act("/admin/calendar", &fields).await;
    assert!(!keeper.get(refused.header("location")).await.text().contains("<b>.example"));
    keeper
        .act("/admin/calendar", &form("04:30 a.example\r\n6h http://b.example/*", "03:15", "Asia/Shanghai"))
        .await;
    keeper.act("/admin/site/settings", &[("name", "c.example"), ("settings", "window=22:00-06:00")]).await;
    for (lang, words) in [
        ("en", ["Fetch again: a.example", "Build of a new history", "Crawl windows"]),
        ("zh", ["重新抓取：a.example", "构建新的 history", "抓取时段"]),
    ] {
        let page = keeper.get(&format!("/admin/calendar?lang={lang}")).await;
        for word in words.into_iter().chain(["04:30", "03:15", "22:00–06:00", "Asia/Shanghai"]) {
            assert!(page.text().contains(word), "{word}: {}", page.text());
        }
    }
    let site = keeper.get("/admin/site?name=c.example&lang=en").await;
    assert!(site.text().contains("22:00-06:00 (Asia/Shanghai)"), "{}", site.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn live_samples_require_a_login() {
    let running = start();
    let mut stranger = running.browser();
    assert_eq!(stranger.get("/admin/live").await.header("location"), "/admin/setup");
    let mut keeper = running.keeper().await;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while running.desk.sampler.latest().is_none_or(|sample| sample.id < 2) {
        assert!(std::time::Instant::now() < deadline, "no sample was taken");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    // Missed samples come first; shutdown ends the stream.
    keeper.headers.push(("last-event-id", "1"));
    let (app, wait) = (running.app.clone(), std::time::Duration::from_millis(300));
    let closing = tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        app.begin_shutdown();
    });
    let events = keeper.get("/admin/live").await;
    closing.await.unwrap();
    assert_eq!(events.header("content-type"), "text/event-stream");
    assert!(
        events.text().contains("id: 2\n") && events.text().contains("\"state\":\"off\""),
        "{}",
        events.text()
    );
    assert!(!events.text().contains("id: 1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_that_yields_nothing_is_listed_with_a_remedy() {
    let running = start();
    let mut keeper = running.keeper().await;
    let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
    let url = |path: &str| PageUrl::parse(&format!("http://10.0.0.1/{path}")).unwrap();
    let reason = "robots.txt could not be fetched: private address 10.0.0.1 (allow with --allow-private)";
    let failed = VisitOutcome::Failed { reason: reason.into(), attempt: 1 };
    let missing = ResponseSummary { status: 404, ..ResponseSummary::default() };
    apply_changes(
        &running.dir,
        &[
            CatalogChange::Seed { url: url(""), at, hops: 0, origin: None, stale_before: None },
            CatalogChange::Visited { url: url(""), at, outcome: failed, next_due: None },
            CatalogChange::Found(DiscoveredLink::new(url("deep"), 1, at)),
            CatalogChange::Visited {
                url: url("deep"),
                at,
                outcome: VisitOutcome::Responded(missing),
                next_due: None,
            },
        ],
    );
    let overview = keeper.get("/admin?lang=en").await.text().to_string();
    for text in [
        "Seeds that yield nothing",
        "private address 10.0.0.1",
        "Allow private addresses",
        "1 stored = 0 searchable + 1 not found",
    ] {
        assert!(overview.contains(text), "{text} is missing in {overview}");
    }
    assert!(!overview.contains("http://10.0.0.1/deep"), "it is no seed");
    let trouble = keeper.get("/admin/trouble?lang=zh").await.text().to_string();
    for text in ["允许私有地址", "status 404", "检查网址中的路径", "种子"] {
        assert!(trouble.contains(text), "{text} is missing in {trouble}");
    }
    let missing = keeper.get("/admin/trouble?kind=not-found&lang=en").await.text().to_string();
    assert!(missing.contains("http://10.0.0.1/deep") && !missing.contains("Allow private"), "{missing}");
    let seeds = keeper.get("/admin/trouble?seeds=1&lang=en").await.text().to_string();
    assert!(!seeds.contains("http://10.0.0.1/deep"), "{seeds}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_command_line_are_kept_for_the_next_start() {
    let (dir, mut service) = engine(&[], Config::default());
    let file = service.data.config();
    let path = file.clone();
    service.settings = SettingsSource::new(file.clone(), move || {
        let mut config = Config::default();
        let text = fs::read_to_string(&path).unwrap_or_default();
        config.read_toml("pharos.toml", &text).map_err(|error| error.to_string())?;
        config.crawl.max_depth = 3;
        let overrides = [("crawl.max_depth", "command line"), ("crawl.contact", "environment")];
        Ok(LoadedSettings { config, overrides: overrides.into() })
    });
    let app = AppState::new(service).unwrap();
    let desk = Arc::clone(app.desk());
    let running = Running { dir, router: router::build(app.clone()), app, desk };
    let mut keeper = running.keeper().await;
    let page = keeper.get("/admin/settings?lang=en").await.text().to_string();
    assert!(page.contains("Set by the command line of this start only: crawl.max_depth<"), "{page}");
    let stamp = page.split_once("name=\"stamp\" value=\"").unwrap().1.split('"').next().unwrap();
    keeper.act("/admin/settings/keep", &[("stamp", stamp)]).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "[crawl]\nmax_depth = 3\n");
    let page = keeper.get("/admin/settings?lang=zh").await.text().to_string();
    assert!(!page.contains("保留到下次启动"), "nothing is left to keep: {page}");
    assert!(running.action_log().contains("settings.keep"));
}

/// Writes the status of a running engine.
fn write_status(running: &Running, fields: &str) {
    let now = SystemClock.now();
    let status = format!("{{\"at\": {}, \"phase\": \"running\", {fields}}}", now.millis());
    fs::write(running.dir.path().join("STATUS"), status).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_without_due_pages_is_called_idle() {
    let running = start();
    let mut keeper = running.keeper().await;
    write_status(&running, "\"idle\": false");
    let page = keeper.get("/admin?lang=en").await;
    assert!(
        page.text().contains("The crawl is running") && !page.text().contains("Idle:"),
        "{}",
        page.text()
    );
    write_status(&running, "\"idle\": true, \"next_visit\": 1769860800000");
    let page = keeper.get("/admin?lang=en").await;
    for part in [
        "data-state=\"up-to-date\"",
        "Idle: every known page is fetched.",
        "31 Jan 2026",
        "/admin/crawl/pause",
    ] {
        assert!(page.text().contains(part), "{part} is missing in {}", page.text());
    }
    write_status(&running, "\"idle\": true");
    assert!(
        keeper.get("/admin?lang=zh").await.text().contains("空闲：所有已知网页均已抓取，没有到期的网页。")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_says_when_robots_txt_is_tried_again_and_when_another_scheme_is_fetched() {
    let running = start();
    let mut keeper = running.keeper().await;
    let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
    let url = |address: &str| PageUrl::parse(address).unwrap();
    let found = |address: &str| CatalogChange::Found(DiscoveredLink::new(url(address), 1, at));
    let robots = RobotsFile {
        url: url("https://www.example.org/robots.txt"),
        at,
        state: RobotsState::Unreachable,
        reason: Some("timed out".into()),
        before: None,
    };
    let alias = CatalogChange::Alias { home: url("http://twin.example/"), of: url("https://twin.example/") };
    let changes = [
        found("https://www.example.org/a"),
        CatalogChange::Robots(robots),
        found("http://twin.example/b"),
        alias,
    ];
    apply_changes(&running.dir, &changes);
    let report = "/admin/page?lang=en&url=https://www.example.org/a";
    let text = keeper.get(report).await;
    assert!(text.text().contains("It is tried again while a crawl is running."), "{}", text.text());
    write_status(&running, "\"robots_retries\": {\"https://www.example.org/robots.txt\": 1801396800000}");
    let text = keeper.get(report).await;
    assert!(
        text.text().contains("unreachable on 31 Jan 2026")
            && text.text().contains("The next try is on 31 Jan 2027")
    );
    let twin = keeper.get("/admin/page?lang=en&url=http://twin.example/b").await;
    assert!(twin.text().contains("the same pages at https://twin.example/"), "{}", twin.text());
    let site = keeper.get("/admin/site?lang=en&name=twin.example").await;
    assert!(site.text().contains("fetched from another address"), "{}", site.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_message_reports_the_outcome_of_each_endpoint() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let running = start();
    let mut keeper = running.keeper().await;
    keeper.act("/admin/alerts/test", &[]).await;
    let page = keeper.get("/admin/alerts?lang=en").await;
    assert!(page.text().contains("Neither a webhook nor a mail address is set"), "{}", page.text());
    let settings = format!("[alerts]\nwebhook = \"http://127.0.0.1:{port}/\"\nallow_private = true\n");
    fs::write(running.dir.path().join("pharos.toml"), settings).unwrap();
    assert!(keeper.get("/admin/alerts?lang=en").await.text().contains("Send a test message"));
    keeper.act("/admin/alerts/test", &[]).await;
    let page = keeper.get("/admin/alerts?lang=en").await;
    assert!(page.text().contains("Test message not sent: webhook: "), "{}", page.text());
    assert!(running.action_log().contains("alert.test"));
}
