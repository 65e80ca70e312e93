//! The operator's desk in a real browser: the first start, crawl control, sites, page reports, submissions,
//! the index, settings and roles.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::browser::{Browser, Demo, Site, count, stays};
use crate::common::{Running, get, pharos, until};

const CODE: &str = "a code of the tests";
/// The state of a crawl that runs, busy or idle.
const RUNNING: &str = ".state:is(.running, .up-to-date)";
const NAME: &str = "ada";
const PASSWORD: &str = "lamp in the tower";

/// Fills in a field of a form.
fn fill(browser: &Browser, css: &str, text: &str) {
    let field = browser.find(css);
    browser.run(field.clear());
    browser.run(field.send_keys(text));
}

/// Returns the confirmation or error message of the page, or an empty string.
fn message(browser: &Browser) -> String {
    browser.texts(".said[role]").concat()
}

/// Creates the first operator and logs in.
fn set_up(browser: &Browser, home: &str) {
    browser.open(&format!("{home}/admin"));
    until("the setup page is shown", || browser.url().ends_with("/admin/setup"));
    fill(browser, "input[name=code]", CODE);
    fill(browser, "input[name=name]", NAME);
    fill(browser, "input[name=password]", PASSWORD);
    fill(browser, "input[name=again]", PASSWORD);
    browser.click("main button");
    browser.find(".desk-nav");
}

fn log_in(browser: &Browser, home: &str, name: &str, password: &str) {
    browser.open(&format!("{home}/admin/login"));
    fill(browser, "input[name=name]", name);
    fill(browser, "input[name=password]", password);
    browser.click("main button");
}

fn demo_with_desk() -> Demo {
    Demo::start_with(|command| {
        command.env("PHAROS_DESK_SETUP_CODE", CODE);
    })
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn the_setup_code_creates_the_first_operator_and_roles_limit_others() {
    let demo = demo_with_desk();
    let home = demo.url("");
    let browser = Browser::start("en-US");
    browser.open(&format!("{home}/admin/settings"));
    until("everything leads to the setup", || browser.url().ends_with("/admin/setup"));
    fill(&browser, "input[name=code]", "guessed, but wrong");
    fill(&browser, "input[name=name]", NAME);
    fill(&browser, "input[name=password]", PASSWORD);
    fill(&browser, "input[name=again]", PASSWORD);
    browser.click("main button");
    browser.find(".said.bad");
    set_up(&browser, &home);
    assert_eq!(browser.text(".desk-who bdi"), NAME);

    // A second operator with read-only access.
    browser.open(&format!("{home}/admin/operators"));
    fill(&browser, "form[action='/admin/operators/add'] input[name=name]", "<b>guest</b>");
    fill(&browser, "form[action='/admin/operators/add'] input[name=password]", "only looking around");
    browser.click("form[action='/admin/operators/add'] button");
    until("the guest is there", || browser.texts("tbody th bdi").contains(&"<b>guest</b>".to_string()));
    browser.click("form[action='/admin/logout'] button");
    until("logged out", || browser.url().contains("/admin/login"));
    log_in(&browser, &home, NAME, "not the password");
    browser.find(".said.bad");
    log_in(&browser, &home, "<b>guest</b>", "only looking around");
    browser.find(".desk-nav");
    for path in
        ["/admin", "/admin/crawl", "/admin/sites", "/admin/index", "/admin/settings", "/admin/operators"]
    {
        browser.open(&format!("{home}{path}"));
        browser.find(".desk-who .badge");
        assert!(
            browser.all("main form[method=post] button").is_empty(),
            "{path} offers no action to a read-only operator"
        );
    }
    // A forged request for an action that the page does not offer is refused and logged.
    let forged = "document.body.insertAdjacentHTML('beforeend', `<form id=f method=post action=/admin/crawl/pause>\
                  <input name=csrf value='${document.querySelector('[name=csrf]').value}'></form>`); f.submit()";
    browser.run(browser.driver.execute(forged, Vec::new()));
    until("it is refused", || browser.text("main").contains("Your role does not permit this"));
    browser.open(&format!("{home}/admin/actions"));
    let record = browser.texts("tbody tr").join("\n");
    for line in ["desk.forbidden", "<b>guest</b>", NAME, "127.0.0.1"] {
        assert!(record.contains(line), "{line} is missing in {record}");
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn the_crawl_is_controlled_while_it_runs() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let site = Site::start(move |path| {
        match path {
        "/" => Some("<title>Garden &lt;script&gt;</title><p>The gardener waters a rhododendron. <a href=/rose>rose</a>".into()),
        "/rose" => {
            counter.fetch_add(1, Ordering::SeqCst);
            Some("<title>Rose</title><p>A rose among thorns, watered daily by the gardener.".into())
        }
        _ => None,
    }
    });
    let demo = demo_with_desk();
    let home = demo.url("");
    let browser = Browser::start("en-US");
    set_up(&browser, &home);
    // A crawl without due pages runs, too.
    let state = |wanted: &str| {
        let css = if wanted == "running" { RUNNING.to_string() } else { format!(".state.{wanted}") };
        until(wanted, || browser.all(&css).len() == 1);
    };
    state("running");
    browser.click("form[action='/admin/crawl/pause'] button");
    state("held");
    assert!(message(&browser).contains("paused"), "{}", message(&browser));

    // A paused crawl accepts seeds without fetching them. After it resumes, the charts update themselves.
    browser.open(&format!("{home}/admin/crawl"));
    fill(&browser, "textarea[name=seeds]", &format!("http://127.0.0.1:{}/", site.port));
    browser.click("form[action='/admin/crawl/seeds'] button");
    until("the seeds are accepted", || message(&browser).starts_with("Added"));
    stays("no request is sent while it is paused", || site.connections() == 0);
    browser.open(&format!("{home}/admin"));
    let known = || count(&browser.texts(".figures dd")[3]);
    let before = known();
    browser.click("form[action='/admin/crawl/resume'] button");
    state("running");
    until("the rose is fetched", || requests.load(Ordering::SeqCst) > 0);
    until("its pages are counted", || {
        browser.open(&format!("{home}/admin"));
        known() >= before + 2
    });
    let figures = || browser.attribute("[data-chart=pages] polyline", "points");
    let first = figures();
    until("the charts update themselves", || figures() != first);
    let layout = "return getComputedStyle(document.querySelector('.chart .plot')).display";
    let layout = browser.run(browser.driver.execute(layout, Vec::new()));
    assert_eq!(layout.json(), "grid", "labels are beside the axes");

    // The site has a row and a page of its own; all its pages are fetched again on request.
    browser.open(&format!("{home}/admin/sites?q=127.0.0.1:{}", site.port));
    assert_eq!(browser.texts("tbody th a"), [format!("127.0.0.1:{}", site.port)]);
    browser.click("tbody th a");
    let visits = requests.load(Ordering::SeqCst);
    browser.click("form[action='/admin/site/recrawl'] button");
    until("it is fetched again", || requests.load(Ordering::SeqCst) > visits);

    // Hidden from results, at once, and shown again.
    let found = || get(demo.address(), "/search?q=rhododendron").1.contains("Garden");
    until("it is found", found);
    browser.click("form[action='/admin/site/hide'] button");
    until("it is hidden", || !found());
    browser.click("form[action='/admin/site/show'] button");
    until("it is found again", found);

    // The page report, and fetching a page now.
    let rose = format!("http://127.0.0.1:{}/rose", site.port);
    browser.open(&format!("{home}/admin/page?url={rose}"));
    assert_eq!(browser.text("#verdict"), "The page can be found.");
    let visits = requests.load(Ordering::SeqCst);
    browser.click("form[action='/admin/page/fetch'] button");
    until("the page is fetched now", || requests.load(Ordering::SeqCst) > visits);
    browser.open(&format!("{home}/admin/page?url=http://127.0.0.1:{}/no-such-page", site.port));
    assert!(browser.text("#verdict").contains("The page is unknown"), "{}", browser.text("#verdict"));
    browser.click("form[action='/admin/page/fetch'] button");
    until("the report shows the status", || {
        browser.open(&format!("{home}/admin/page?url=http://127.0.0.1:{}/no-such-page", site.port));
        browser.text("#verdict").contains("404")
    });

    // Rules and speed change while it runs.
    browser.open(&format!("{home}/admin/crawl"));
    fill(&browser, "input[name=fetchers]", "7");
    browser.click("form[action='/admin/crawl/pace'] button");
    until("it is saved", || message(&browser) == "Saved");
    assert!(std::fs::read_to_string(demo.data().join("pharos.toml")).unwrap().contains("fetchers = 7"));
    fill(&browser, "textarea[name=guide_words]", "rose\n灯塔");
    fill(&browser, "textarea[name=exclude]", &format!("http://127.0.0.1:{}/rose*", site.port));
    browser.click("form[action='/admin/crawl/rules'] button");
    until("the rules are in force", || {
        browser.open(&format!("{home}/admin/page?url={rose}"));
        browser.texts(".steps > .bad").join(" ").contains("crawl.exclude")
    });
    let visits = requests.load(Ordering::SeqCst);
    browser.click("form[action='/admin/page/fetch'] button");
    until("it is refused now", || {
        browser.open(&format!("{home}/admin/page?url={rose}"));
        let verdict = browser.text("#verdict");
        verdict.contains("a rule forbids it") && verdict.contains("crawl.exclude")
    });
    assert_eq!(requests.load(Ordering::SeqCst), visits);

    // The crawl is stopped and started again; searching continues.
    browser.open(&format!("{home}/admin"));
    browser.click("form[action='/admin/crawl/stop'] button");
    state("ended");
    assert_eq!(get(demo.address(), "/search?q=lighthouse").0, 200);
    browser.click("form[action='/admin/crawl/start'] button");
    state("running");
    browser.open(&format!("{home}/admin/actions"));
    let record = browser.texts("tbody code");
    for action in [
        "crawl.pause",
        "crawl.resume",
        "crawl.seeds",
        "site.recrawl",
        "site.hide",
        "site.show",
        "page.fetch",
        "crawl.pace",
        "crawl.rules",
        "crawl.stop",
        "crawl.start",
    ] {
        assert!(record.iter().any(|line| line == action), "{action} is not logged: {record:?}");
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn submissions_builds_and_settings() {
    let site = Site::start(|path| {
        (path == "/proposed").then(|| "<title>Proposed</title><p>A proposal about zeppelins.".to_string())
    });
    let demo = demo_with_desk();
    let home = demo.url("");
    let browser = Browser::start("en-US");
    set_up(&browser, &home);

    // A visitor proposes a page, the operator accepts it.
    let proposed = format!("http://127.0.0.1:{}/proposed", site.port);
    browser.open(&format!("{home}/bot?url={proposed}"));
    browser.click(".finding form button");
    browser.find(".finding");
    until("the submission awaits a decision", || {
        browser.open(&format!("{home}/admin/submissions"));
        browser.texts("tbody a").contains(&proposed)
    });
    browser.click("button[name=accept]");
    until("it is accepted", || message(&browser).contains("accepted"));
    until("it is found", || get(demo.address(), "/search?q=zeppelins").1.contains("Proposed"));

    // A history is built twice and rolled back to the first one.
    let generation = || {
        browser.open(&format!("{home}/admin/index"));
        browser.texts("tbody th").into_iter().find(|row| row.starts_with("history"))
    };
    let build = || {
        let before = generation();
        browser.click("form[action='/admin/index/build'] button");
        until("a new history is installed", || generation() != before);
        until("no build is running", || {
            browser.open(&format!("{home}/admin/index"));
            browser.all("form[action='/admin/index/build']").len() == 1
        });
        generation().unwrap()
    };
    let (first, second) = (build(), build());
    assert_ne!(first, second);
    browser.click("details:has(form[action='/admin/index/rollback']) summary");
    browser.click("form[action='/admin/index/rollback'] input[type=checkbox]");
    browser.click("form[action='/admin/index/rollback'] button");
    until("the previous history is installed", || generation().as_ref() == Some(&first));
    assert!(get(demo.address(), "/search?q=zeppelins").1.contains("Proposed"));

    // A setting is changed, an invalid value is refused, and a concurrent change of the file is preserved.
    browser.open(&format!("{home}/admin/settings?section=rank"));
    fill(&browser, "#rank-block textarea", "blocked.example");
    browser.click("#rank-block button");
    until("it is saved", || message(&browser) == "Saved");
    let file = demo.data().join("pharos.toml");
    assert!(std::fs::read_to_string(&file).unwrap().contains("block = [\"blocked.example\"]"));
    fill(&browser, "#rank-k1 input[type=text]", "much");
    browser.click("#rank-k1 button");
    until("it is refused", || message(&browser).contains("a number"));
    assert_eq!(browser.property("#rank-k1 input[type=text]", "value"), "much", "typed text is kept");
    let others = std::fs::read_to_string(&file).unwrap() + "# by hand\n";
    std::fs::write(&file, &others).unwrap();
    fill(&browser, "#rank-k1 input[type=text]", "1.4");
    browser.click("#rank-k1 button");
    until("the conflict is reported", || message(&browser).contains("in the meantime"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), others);
    // All settings are imported at once.
    browser.click("details:has(form[action='/admin/settings/import']) summary");
    let text = browser.property("textarea[name=text]", "value");
    assert_eq!(text, others);
    fill(&browser, "textarea[name=text]", "[rank]\nk1 = 1.3\n");
    browser.click("form[action='/admin/settings/import'] button");
    until("they are imported", || std::fs::read_to_string(&file).unwrap() == "[rank]\nk1 = 1.3\n");
    // Settings are found by name and meaning, and those with few values offer them.
    browser.open(&format!("{home}/admin/settings?find=scoring+model"));
    assert_eq!(browser.texts(".setting h2 code"), ["rank.model"]);
    assert_eq!(browser.texts("#rank-model option"), ["bm25", "basic-weight", "binary", "tf", "tfidf"]);
    browser.open(&format!("{home}/admin/settings?section=changed"));
    assert!(browser.texts(".setting h2 code").contains(&"rank.k1".to_string()));
    // A word of the installation is added and removed.
    browser.open(&format!("{home}/admin/words"));
    fill(&browser, "textarea[name=words]", "爱心社\ntwo words");
    browser.click("form[action='/admin/words/add'] button");
    until("the invalid word is reported", || message(&browser).contains("`two words`"));
    assert_eq!(browser.texts("tbody th"), ["爱心社"]);
    browser.click("tbody input[type=checkbox]");
    browser.click("form[action='/admin/words/remove'] button");
    until("it is removed", || browser.texts("tbody th").is_empty());
    browser.open(&format!("{home}/admin/logs?q=lighthouse"));
    assert!(!browser.texts(".log li").is_empty());
    browser.open(&format!("{home}/admin/logs?file=../pharos.toml"));
    assert!(!browser.text("main").contains("k1 = 1.3"), "no file outside the log directory is shown");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn typed_text_survives_the_end_of_the_session() {
    let demo = demo_with_desk();
    let home = demo.url("");
    let browser = Browser::start("en-US");
    set_up(&browser, &home);
    let log_in_again = || {
        fill(&browser, "input[name=name]", NAME);
        fill(&browser, "input[name=password]", PASSWORD);
        browser.click("main button");
        browser.find("textarea[name=exclude]");
        assert_eq!(browser.property("textarea[name=exclude]", "value"), "*/private/*");
        assert!(message(&browser).is_empty() && browser.text("[data-news]").contains("not been saved"));
    };
    browser.open(&format!("{home}/admin/crawl"));
    fill(&browser, "textarea[name=exclude]", "*/private/*");
    browser.run(browser.driver.delete_all_cookies());
    until("the page announces it", || browser.text("[data-news]").contains("session has ended"));
    browser.click("[data-news] a");
    log_in_again();
    // The form is sent before the page notices.
    browser.run(browser.driver.delete_all_cookies());
    browser.click("form[action='/admin/crawl/rules'] button");
    until("it is refused", || browser.text("main").contains("Nothing was changed"));
    browser.click("main a");
    log_in_again();
    browser.click("form[action='/admin/crawl/rules'] button");
    until("it is saved", || message(&browser) == "Saved");
    assert_eq!(browser.property("textarea[name=exclude]", "value"), "*/private/*");
    assert!(browser.text("[data-news]").is_empty());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn the_first_seed_is_added_on_the_desk() {
    let site = Site::start(|path| {
        (path == "/").then(|| "<title>First</title><p>The very first page, about narwhals.".to_string())
    });
    let dir = tempfile::tempdir().unwrap();
    let mut running = Running::start(
        pharos()
            .args([
                "--data",
                dir.path().to_str().unwrap(),
                "up",
                "--listen",
                "127.0.0.1:0",
                "--allow-private",
            ])
            .args(["--politeness", "own-site"])
            .env("PHAROS_DESK_SETUP_CODE", CODE),
    );
    let address = running.address();
    let home = format!("http://{address}");
    let browser = Browser::without_scripts("zh-CN");
    set_up(&browser, &home);
    assert_eq!(crate::common::browser::language(&browser), "zh");
    browser.find(".state.empty");
    browser.open(&format!("{home}/admin/crawl"));
    fill(&browser, "textarea[name=seeds]", &format!("http://127.0.0.1:{}/", site.port));
    browser.click("form[action='/admin/crawl/seeds'] button");
    until("it is found", || get(&address, "/search?q=narwhals").1.contains("First"));
    browser.open(&format!("{home}/admin"));
    until("the overview says that nothing is due", || {
        browser.open(&format!("{home}/admin"));
        browser.text("#state").starts_with("空闲：所有已知网页均已抓取。下次抓取时间：")
    });
    // Settings given on the command line cannot be changed.
    browser.open(&format!("{home}/admin/settings"));
    assert!(browser.all("#crawl-politeness form").is_empty());
    assert_eq!(browser.all("#crawl-fetchers form").len(), 1);
}

/// Every page of the desk.
const PAGES: [(&str, &str); 25] = [
    ("overview", "/admin"),
    ("crawl", "/admin/crawl"),
    ("sites", "/admin/sites"),
    ("site", "/admin/site?name="),
    ("page-report", "/admin/page?url="),
    ("problems", "/admin/trouble"),
    ("submissions", "/admin/submissions"),
    ("refresh", "/admin/refresh"),
    ("words", "/admin/words"),
    ("index", "/admin/index"),
    ("calendar", "/admin/calendar"),
    ("alerts", "/admin/alerts"),
    ("backup", "/admin/backup"),
    ("machine", "/admin/machine"),
    ("queries", "/admin/queries"),
    ("insight", "/admin/insight"),
    ("insight-queries", "/admin/insight/queries"),
    ("insight-query", "/admin/insight/query?q=harbour"),
    ("curation", "/admin/curation"),
    ("keys", "/admin/keys"),
    ("settings", "/admin/settings?section=desk"),
    ("logs", "/admin/logs"),
    ("operators", "/admin/operators"),
    ("actions", "/admin/actions"),
    ("glossary", "/admin/glossary"),
];

/// Returns a page of the demo and its host.
fn example(browser: &Browser, demo: &Demo) -> (String, String) {
    browser.open(&demo.url("/search?q=lighthouse+keeper"));
    let page = browser.attribute(".hits h2 a", "href");
    let host = page.split('/').nth(2).unwrap().to_string();
    (page, host)
}

/// Returns the path of each page, with parameters that show content.
fn paths(browser: &Browser, demo: &Demo) -> Vec<(&'static str, String)> {
    let (page, host) = example(browser, demo);
    let path = |(name, path): (&'static str, &str)| match name {
        "site" => (name, format!("{path}{host}")),
        "page-report" => (name, format!("{path}{page}")),
        _ => (name, path.to_string()),
    };
    PAGES.into_iter().map(path).collect()
}

#[test]
#[ignore = "needs Chromium and axe-core: ./check installs them"]
fn every_desk_page_is_accessible() {
    let demo = demo_with_desk();
    let mut is_first = true;
    for lang in ["en-US", "zh-CN"] {
        let browser = Browser::start(lang);
        if std::mem::take(&mut is_first) {
            set_up(&browser, &demo.url(""));
        } else {
            log_in(&browser, &demo.url(""), NAME, PASSWORD);
            browser.find(".desk-nav");
        }
        let mut wrong = Vec::new();
        let paths = paths(&browser, &demo);
        for (width, height) in [(1280, 900), (390, 844)] {
            browser.size(width, height);
            for (name, path) in &paths {
                browser.open(&demo.url(path));
                for scheme in ["light", "dark"] {
                    browser.colour_scheme(scheme);
                    let seen = format!("{name} {width} {scheme}");
                    wrong.extend(browser.accessibility().into_iter().map(|line| format!("{seen}: {line}")));
                }
                let over = browser.run(browser.driver.execute(
                    "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
                    Vec::new(),
                ));
                assert!(over.json().as_i64().unwrap() <= 0, "{name} sticks out at {width}");
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(browser.errors(), Vec::<String>::new());
    }
}

/// The meaning of a term is reached with the keyboard, and Escape hides it.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn terms_are_explained_where_they_are_used() {
    let demo = demo_with_desk();
    let browser = Browser::start("en-US");
    set_up(&browser, &demo.url(""));
    browser.open(&demo.url("/admin"));
    let height = || {
        let script =
            "return document.querySelector('.figures .term .meaning').getBoundingClientRect().height";
        browser.run(browser.driver.execute(script, Vec::new())).json().as_f64().unwrap()
    };
    assert!(height() <= 1.0, "hidden at first");
    browser.run(
        browser
            .driver
            .execute("document.querySelector('.figures .term').focus({ focusVisible: true })", Vec::new()),
    );
    until("the meaning is shown", || height() > 10.0);
    browser.press("\u{e00c}");
    until("Escape hides it", || height() <= 1.0);
    let script = "return document.querySelector('.figures .term').textContent";
    let meaning = browser.run(browser.driver.execute(script, Vec::new()));
    assert!(meaning.json().as_str().unwrap().contains("Known sites: hosts of which"), "{:?}", meaning.json());
    let target = browser.attribute(".figures .term", "href");
    browser.open(&demo.url(&target));
    assert!(browser.text("#term-known-sites").contains("hosts of which at least one page is known"));
    browser.open(&demo.url("/admin/glossary?lang=zh"));
    assert!(browser.text("#term-known-sites").contains("已知网站"));
}

/// Markup in names, titles, URLs and log lines is shown as text.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn content_of_sites_is_escaped_on_the_desk() {
    let evil = "<img src=x onerror=\"document.title='taken over'\">";
    let page = format!("<title>{}</title><p>innocent words<a href='/{0}'>{0}</a>", evil.replace('<', "&lt;"));
    let site = Site::start(move |path| match path {
        "/" => Some(page.clone()),
        "/robots.txt" => Some(format!("User-agent: *\nDisallow: /%3Cimg\n# {evil}\n")),
        _ => None,
    });
    let demo = demo_with_desk();
    let home = demo.url("");
    let browser = Browser::start("en-US");
    set_up(&browser, &home);
    browser.open(&format!("{home}/admin/crawl"));
    let seeds = format!("http://127.0.0.1:{0}/\nhttp://127.0.0.1:{0}/{evil}", site.port);
    fill(&browser, "textarea[name=seeds]", &seeds);
    browser.click("form[action='/admin/crawl/seeds'] button");
    until("it is found", || get(demo.address(), "/search?q=innocent+words").0 == 200);
    let host = format!("127.0.0.1:{}", site.port);
    let coded = crate::common::encode(evil);
    for path in [
        format!("/admin/site?name={host}"),
        format!("/admin/site?name={coded}"),
        format!("/admin/page?url=http://{host}/{coded}"),
        format!("/admin/page?url={coded}"),
        format!("/admin/sites?q={coded}&state={coded}&order={coded}&page={coded}"),
        format!("/admin/trouble?site={host}&q={coded}&before={coded}"),
        "/admin/trouble".into(),
        format!("/admin/logs?q={coded}&file={coded}"),
        "/admin/logs".into(),
        format!("/admin/settings?section={coded}"),
        format!("/admin/actions?who={coded}&text={coded}"),
        "/admin/actions".into(),
        "/admin/queries".into(),
        "/admin".into(),
        format!("/admin/login?next={coded}"),
        format!("/admin/{coded}"),
    ] {
        browser.open(&format!("{home}{path}"));
        stays(&path, || !browser.title().starts_with("taken over"));
        assert!(browser.all("main img").is_empty(), "{path}");
    }
}

/// Screenshots for the manual: `PHAROS_SCREENSHOTS=docs/screens` writes them there.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn screenshots_of_the_desk() {
    let demo = demo_with_desk();
    let temporary = tempfile::tempdir().unwrap();
    let dir = std::env::var_os("PHAROS_SCREENSHOTS").map_or(temporary.path().to_path_buf(), PathBuf::from);
    // Tests run in the directory of their crate, users in the root.
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);
    std::fs::create_dir_all(&dir).unwrap();
    let browser = Browser::start("en-US");
    let shots = |paths: &[(&str, String)]| {
        for (width, height, device) in [(1280, 900, "desktop"), (390, 844, "phone")] {
            browser.size(width, height);
            for scheme in ["light", "dark"] {
                browser.colour_scheme(scheme);
                for (name, path) in paths {
                    browser.open(&demo.url(path));
                    browser.picture(&dir, &format!("desk-{name}-{device}-{scheme}.png"));
                }
            }
        }
    };
    shots(&[("setup", "/admin/setup".into())]);
    set_up(&browser, &demo.url(""));
    for url in ["http://proposed.example/", "http://another.example/news"] {
        browser.open(&demo.url(&format!("/bot?url={url}")));
        browser.click(".finding form button");
    }
    browser.open(&demo.url("/admin/operators"));
    fill(&browser, "form[action='/admin/operators/add'] input[name=name]", "guest");
    fill(&browser, "form[action='/admin/operators/add'] input[name=password]", "only looking around");
    browser.click("form[action='/admin/operators/add'] button");
    browser.find("tbody");
    shots(&paths(&browser, &demo));
    browser.click("form[action='/admin/logout'] button");
    until("logged out", || browser.url().contains("/admin/login"));
    shots(&[("login", "/admin/login".into())]);
}
