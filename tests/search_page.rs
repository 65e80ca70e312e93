//! Scripts, filters and keyboard use of the search page in a real browser, and the accessibility of all pages.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::browser::{Browser, Demo, Site, count, language, stays};
use crate::common::{Running, encode, get, pharos, succeed, until};
use thirtyfour::prelude::*;

/// Types without pressing Enter until a suggestion contains `wanted`; returns all suggestions.
fn type_in(browser: &Browser, text: &str, wanted: &str) -> Vec<String> {
    let input = browser.find(".box input[name=q]");
    let mut offered = Vec::new();
    // Suggestions are collected while the engine already answers queries.
    until("something is suggested", || {
        browser.run(input.clear());
        browser.run(input.send_keys(text));
        std::thread::sleep(Duration::from_millis(500));
        offered = browser.texts(".suggestions li");
        offered.iter().any(|text| text.to_lowercase().contains(wanted))
    });
    offered
}

fn value(browser: &Browser) -> String {
    browser.property(".box input[name=q]", "value")
}

/// Queries as a separate visit; visits are distinguished by their request headers.
fn ask_as(demo: &Demo, agent: &str, query: &str) {
    let mut stream = std::net::TcpStream::connect(demo.address()).unwrap();
    let request = format!(
        "GET /search?q={} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n",
        encode(query)
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

/// Returns the logged queries with their sources.
fn sources(demo: &Demo) -> Vec<(String, String)> {
    let text = |record: &serde_json::Value, name: &str| record[name].as_str().unwrap_or_default().to_string();
    demo.logged("queries-").iter().map(|record| (text(record, "query"), text(record, "source"))).collect()
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn suggestions_are_chosen_by_mouse_by_keys_and_by_pinyin() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/"));
    let offered = type_in(&browser, "lighth", "lighth");
    assert!(offered.iter().all(|text| text.to_lowercase().contains("lighth")), "{offered:?}");

    assert_eq!(browser.text(".suggestions li mark").to_lowercase(), "lighth", "the typed part is marked");
    // Down to the first suggestion, around to the typed text, and back to the first.
    let input = browser.find(".box input[name=q]");
    browser.run(input.send_keys(Key::Down));
    assert_eq!(value(&browser), offered[0]);
    assert_eq!(browser.attribute(".box input[name=q]", "aria-activedescendant"), "suggestion-0");
    browser.run(input.send_keys(Key::Up));
    assert_eq!(value(&browser), "lighth");
    browser.run(input.send_keys(Key::Escape));
    until("the list is closed", || browser.texts(".suggestions li").iter().all(String::is_empty));
    browser.run(input.send_keys(Key::Down));
    until("the list is open again", || browser.texts(".suggestions li") == offered);
    browser.run(input.send_keys(Key::Down + Key::Enter));
    until("the first suggestion is searched for", || {
        browser.url().contains("/search?") && browser.url().contains("from=suggested")
    });
    assert_eq!(value(&browser), offered[0]);

    // By mouse, on the result page.
    let wanted = type_in(&browser, "harb", "harb")[1].clone();
    browser.click(".suggestions li:nth-child(2)");
    until("it is searched for", || browser.url().contains("/search?") && value(&browser) == wanted);

    // Pinyin suggests Chinese.
    type_in(&browser, "dengta", "灯塔");
    browser.run(browser.find(".box input[name=q]").send_keys(Key::Down + Key::Enter));
    until("it is searched for", || {
        browser.url().contains("from=suggested") && value(&browser).contains("灯塔")
    });
    assert!(count(&browser.text(".bar span")) > 0);
    until("the log records their sources", || {
        let sources = sources(&demo);
        [&offered[0], &wanted].iter().all(|query| sources.contains(&((*query).clone(), "suggested".into())))
    });
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn filters_narrow_results_with_scripts_and_without() {
    let demo = Demo::start();
    for has_scripts in [true, false] {
        let browser = if has_scripts { Browser::start("en-US") } else { Browser::without_scripts("en-US") };
        browser.open(&demo.url("/search?q=lighthouse"));
        // Ports are not part of the filter.
        let host = |site: String| site.split(':').next().unwrap().to_string();
        let sites = || browser.texts(".hits .site").into_iter().map(host).collect::<Vec<_>>();
        let all = count(&browser.text(".bar span"));
        let menu =
            browser.texts(".filters summary").iter().position(|title| title == "Any site").unwrap() + 1;
        let menu = format!(".filters details:nth-of-type({menu})");
        browser.click(&format!("{menu} summary"));
        until("the menu is open", || {
            browser.texts(&format!("{menu} li")).iter().all(|entry| !entry.is_empty())
        });
        let entry = browser.text(&format!("{menu} li:nth-child(2)"));
        let (site, pages) = entry.split_once('\n').or_else(|| entry.rsplit_once(' ')).unwrap();
        browser.click(&format!("{menu} li:nth-child(2) a"));
        until("the site is chosen", || browser.url().contains("site="));
        assert!(sites().iter().all(|shown| shown == site.trim()), "{:?}", sites());
        let narrow = count(&browser.text(".bar span"));
        assert!(narrow == count(pages) && narrow < all, "{entry}: {narrow} of {all}");
        assert_eq!(browser.text(".filters .set"), site.trim());
        assert_eq!(browser.attribute(".box input", "value"), "lighthouse", "the box holds what was typed");

        // Next page, newest first, and without the filter again.
        if !browser.all(".paging [rel=next]").is_empty() {
            browser.click(".paging [rel=next]");
            until("page 2 is shown", || browser.url().contains("page=2"));
            assert!(sites().iter().all(|shown| shown == site.trim()), "{:?}", sites());
        }
        browser.click(".filters .sort");
        until("the newest come first", || browser.url().contains("sort=date"));
        let dates: Vec<String> =
            browser.all(".hits time").iter().filter_map(|time| browser.run(time.attr("datetime"))).collect();
        assert!(dates.is_sorted_by(|a, b| a >= b), "{dates:?}");
        browser.click(".filters .set");
        browser.click(".filters details[open] li:first-child a");
        until("any site is shown", || !browser.url().contains("site="));
        assert!(browser.url().contains("sort=date"), "the order stays");
        assert_eq!(browser.errors(), Vec::<String>::new());
    }
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn colours_are_chosen_and_remembered_on_every_page() {
    let demo = Demo::start();
    let browser = Browser::without_scripts("en-US");
    let paper = || browser.run(browser.find("body").css_value("background-color"));
    browser.open(&demo.url("/search?q=lighthouse"));
    browser.colour_scheme("dark");
    let night = paper();
    browser.colour_scheme("light");
    let day = paper();
    assert_ne!(night, day, "the preference of the browser is used");
    let choose = |name: &str| {
        browser.click_link(name);
        assert_eq!(browser.text(".foot nav:nth-of-type(2) [aria-current]"), name);
    };
    choose("Dark");
    assert_eq!(paper(), night);
    for path in
        ["/", "/search?q=harbour", "/hot", "/help", "/privacy", "/bot", "/api", "/no/such/page", "/clean"]
    {
        browser.open(&demo.url(path));
        assert_eq!(paper(), night, "{path}");
    }
    choose("Light");
    browser.colour_scheme("dark");
    assert_eq!(paper(), day, "the choice of the user overrides the browser");
    choose("Auto");
    assert_eq!(paper(), night);
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn everything_is_reachable_by_keyboard() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/search?q=lighthouse"));
    let focused = |css: &str| !browser.all(&format!("{css}:focus")).is_empty();
    browser.press("/");
    until("the box is reached", || focused(".box input"));
    browser.press("njk");
    assert!(value(&browser).ends_with("njk"), "keys in the box are letters: {}", value(&browser));
    browser.run(browser.find(".box input[name=q]").send_keys(Key::Escape));
    until("the box is left", || !focused(".box input"));

    browser.press("j");
    until("the first result is here", || focused(".hits > li:nth-child(1).here h2 a"));
    browser.press("jj");
    until("the third result is here", || focused(".hits > li:nth-child(3).here h2 a"));
    browser.press("k");
    until("the second result is here", || focused(".hits > li:nth-child(2).here h2 a"));
    let link = browser.attribute(".hits > li:nth-child(2) h2 a", "href");
    browser.press_to_leave("n");
    assert!(browser.url().contains("page=2"), "{}", browser.url());
    browser.press_to_leave("p");
    assert!(!browser.url().contains("page="), "{}", browser.url());

    browser.press("?");
    until("the shortcuts are shown", || browser.text("dialog").contains("next result"));
    assert_eq!(browser.accessibility(), Vec::<String>::new(), "the dialog is accessible");
    browser.press("n");
    stays("a dialog is in front", || !browser.url().contains("page=2"));
    browser.run(browser.find("dialog").send_keys(Key::Escape));
    until("they are gone", || browser.all("dialog").is_empty());

    browser.press("jj");
    browser.press_to_leave("o");
    assert_eq!(browser.url(), link, "the result is open");
    until("the click is logged", || {
        demo.clicks().iter().any(|click| click["rank"] == 2 && click["url"] == link)
    });

    // Users can switch the shortcuts off.
    browser.open(&demo.url("/help"));
    browser.click("#keys p a");
    until("they are off", || browser.text("#keys p a") == "Turn shortcuts on");
    browser.open(&demo.url("/search?q=lighthouse"));
    browser.press("n");
    stays("the key means nothing", || !browser.url().contains("page=2"));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Only scripts report clicks, and an impression records whether they do.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn impressions_record_whether_clicks_are_reported() {
    let demo = Demo::start();
    let shown = |kind: &str| demo.logged("impressions-").into_iter().filter(|i| i["kind"] == kind).count();
    let browser = Browser::without_scripts("en-US");
    browser.open(&demo.url("/search?q=lighthouse"));
    let link = browser.attribute(".hits > li:first-child h2 a", "href");
    browser.click(".hits > li:first-child h2 a");
    until("the page is open", || browser.url() == link);
    drop(browser);
    until("the impression is logged", || shown("results") == 1);
    assert_eq!((shown("seen"), demo.clicks().len()), (0, 0));

    let browser = Browser::start("en-US");
    browser.open(&demo.url("/search?q=lighthouse"));
    until("the impression is logged as seen", || shown("seen") == 1);
    let seen = demo.logged("impressions-").into_iter().find(|i| i["kind"] == "seen").unwrap();
    let ids: Vec<_> = demo.logged("impressions-").into_iter().filter(|i| i["kind"] == "results").collect();
    assert!(ids.iter().any(|shown| shown["id"] == seen["id"] && shown["id"] != ids[0]["id"]), "{seen}");
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn hot_queries_have_a_page() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/hot"));
    assert!(browser.text("main").contains("Nothing to show yet"));
    for visitor in 0..6 {
        ask_as(&demo, &format!("visitor {visitor}"), "灯塔 <b>");
    }
    until("it is in the list", || {
        browser.open(&demo.url("/hot"));
        browser.text("main").contains("灯塔 <b>")
    });
    assert!(browser.all("main b").is_empty(), "what people type is text");
    assert_eq!(browser.all(".hours rect").len(), 24);
    assert_eq!(browser.accessibility(), Vec::<String>::new());
    browser.click(".lists a");
    until("it is searched for", || browser.url().contains("from=hot"));
    assert_eq!(value(&browser), "灯塔 <b>");
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn webmasters_look_up_and_submit_a_page() {
    let demo = Demo::start();
    let browser = Browser::without_scripts("en-US");
    browser.open(&demo.url("/search?q=lighthouse"));
    let known = browser.attribute(".hits > li:first-child h2 a", "href");
    let ask = |url: &str| {
        browser.open(&demo.url("/bot"));
        let input = browser.find("form input[name=url]");
        browser.run(input.clear());
        browser.run(input.send_keys(url));
        browser.run(input.send_keys(Key::Enter));
        until("it is answered", || browser.url().contains("/bot?url="));
    };
    ask(&known);
    assert!(browser.text("main").contains("can be found"), "{}", browser.text("main"));
    let unknown = "https://nobody.example/page";
    ask(unknown);
    browser.click("form[method=post] button");
    until("it is submitted", || browser.text("main").contains("Thank you"));
    until("it waits for a decision", || {
        let data = demo.data();
        let output = pharos().arg("--data").arg(&data).args(["add", "--proposals"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains(unknown)
    });
    ask("javascript:alert(1)");
    assert!(!browser.text("main").contains("Thank you"));
}

/// Reflected input in addresses and stored content of pages appear as text, never as markup.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn nothing_from_outside_becomes_markup() {
    const EVIL: &str = "\"'></title></script></style><img src=x onerror=\"document.title='taken over'\">\
                        <svg onload=\"document.title='taken over'\"><script>document.title='taken over'</script>";
    let page = format!(
        "<!doctype html><html lang=\"{e}\"><head><title>innocent {e}</title><meta name=author content=\"{e}\">\
         <meta name=description content=\"{e}\"></head><body><h1>innocent words</h1>\
         <p>Some innocent words &lt;img src=x onerror=document.title='taken over'&gt; about a lamp that shines.</p>\
         <a href=\"/innocent?a={u}\">innocent {e}</a></body></html>",
        e = EVIL.replace('"', "&quot;").replace('<', "&lt;"),
        u = encode(EVIL)
    );
    let site = Site::start(move |path| (!path.starts_with("/robots")).then(|| page.clone()));
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let on_data = |arguments: &[&str]| {
        let mut command = pharos();
        command.arg("--data").arg(&data).args(arguments);
        command
    };
    let address = format!("http://127.0.0.1:{}/", site.port);
    succeed(&mut on_data(&[
        "crawl",
        "--allow-private",
        "--politeness",
        "own-site",
        "--max-depth",
        "1",
        &address,
    ]));
    succeed(&mut on_data(&["index", "build"]));
    let mut serve = Running::start(&mut on_data(&["serve", "--listen", "127.0.0.1:0"]));
    let home = format!("http://{}", serve.address());
    let browser = Browser::start("en-US");
    let is_calm = |what: &str| {
        assert!(!browser.title().starts_with("taken over"), "{what}");
        assert!(browser.all("img, main script, main style, [onerror], [onload]").is_empty(), "{what}");
        assert_eq!(browser.errors(), Vec::<String>::new(), "{what}");
    };
    let evil = encode(EVIL);
    for path in [
        format!("/search?q={evil}"),
        format!(
            "/search?q=innocent&site={evil}&in={evil}&type={evil}&category={evil}&time={evil}&sort={evil}"
        ),
        format!("/search?q=innocent&generation={evil}&page={evil}&lang={evil}&theme={evil}&keys={evil}"),
        format!("/search?q=innocent&{evil}={evil}"),
        format!("/clean?url={evil}&q={evil}"),
        format!("/snapshot?url={evil}"),
        format!("/snapshot/{evil}?q={evil}&at={evil}&view={evil}"),
        format!("/bot?url={evil}"),
        format!("/{evil}"),
        format!("/hot?q={evil}"),
        "/search?q=innocent".into(),
        "/search?q=innocent&explain=1".into(),
    ] {
        browser.open(&format!("{home}{path}"));
        is_calm(&path);
    }
    browser.open(&format!("{home}/"));
    type_in(&browser, "innocent", "innocent");
    stays("suggestions are text", || !browser.title().starts_with("taken over"));
    is_calm("suggestions");
    assert!(
        !browser.all(".suggestions li").is_empty() && browser.all(".suggestions li :not(mark)").is_empty()
    );
    let (status, _) = get(home.trim_start_matches("http://"), "/healthz");
    assert_eq!(status, 200);
}

/// Every page, in light and dark mode, on a desktop and on a phone.
#[test]
#[ignore = "needs Chromium and axe-core: ./check installs them"]
fn every_page_is_accessible() {
    let demo = Demo::start();
    for lang in ["en-US", "zh-CN"] {
        let browser = Browser::start(lang);
        browser.open(&demo.url("/search?q=lighthouse+keeper"));
        assert_eq!(language(&browser), &lang[..2]);
        let cached_page = browser.attribute(".extras a[href^='/snapshot/']", "href");
        let page = browser.attribute(".hits h2 a", "href");
        let paths = [
            "/".to_string(),
            "/search?q=lighthouse".into(),
            "/search?q=灯塔&page=2".into(),
            "/search?q=lighthouse&site=nowhere.example&time=week".into(),
            "/search?q=zzzqqqxxyy".into(),
            "/search?q=lighthuose+keepar".into(),
            "/search?q=lighthouse&explain=1".into(),
            cached_page,
            format!("/clean?url={page}"),
            "/hot".into(),
            "/help".into(),
            "/privacy".into(),
            "/bot".into(),
            format!("/bot?url={page}"),
            "/bot?url=https://nobody.example/".into(),
            "/api".into(),
            "/no/such/page".into(),
        ];
        let mut wrong = Vec::new();
        for (width, height) in [(1280, 900), (390, 844)] {
            browser.size(width, height);
            for path in &paths {
                browser.open(&demo.url(path));
                for scheme in ["light", "dark"] {
                    browser.colour_scheme(scheme);
                    let seen = format!("{path} {width} {scheme}");
                    wrong.extend(browser.accessibility().into_iter().map(|line| format!("{seen}: {line}")));
                }
                let over = browser.run(browser.driver.execute(
                    "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
                    Vec::new(),
                ));
                assert!(over.json().as_i64().unwrap() <= 0, "{path} sticks out at {width}");
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let broken = "document.body.append(document.createElement('img'))";
        browser.run(browser.driver.execute(broken, Vec::new()));
        assert!(!browser.accessibility().is_empty(), "what is wrong would be seen");
    }
}

/// Screenshots for the documentation, in light and dark mode, on a desktop and on a phone:
/// `PHAROS_SCREENSHOTS=docs/screens` writes them there.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn screenshots() {
    let demo = Demo::start();
    let temporary = tempfile::tempdir().unwrap();
    let dir = std::env::var_os("PHAROS_SCREENSHOTS").map_or(temporary.path().to_path_buf(), PathBuf::from);
    // Tests run in the directory of their crate, users in the root.
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);
    std::fs::create_dir_all(&dir).unwrap();
    for visitor in 0..5 {
        for (place, query) in ["lighthouse", "灯塔", "harbour", "tide tables"].into_iter().enumerate() {
            ask_as(&demo, &format!("visitor {visitor} of {place}"), query);
        }
    }
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/search?q=lighthouse+keeper"));
    type_in(&browser, "lighth", "lighth");
    browser.open(&demo.url("/search?q=lighthouse+keeper"));
    let (cached_page, page) =
        (browser.attribute(".extras a[href^='/snapshot/']", "href"), browser.attribute(".hits h2 a", "href"));
    let menu = || browser.click(".filters details:nth-of-type(3) summary");
    let suggest = || drop(type_in(&browser, "lighth", "lighth"));
    let keys = || {
        browser.press("?");
        browser.find("dialog");
    };
    let nothing = || {};
    let pages: [(&str, String, &dyn Fn()); 15] = [
        ("home", "/?lang=en".into(), &nothing),
        ("suggestions", "/".into(), &suggest),
        ("results", "/search?q=lighthouse".into(), &nothing),
        ("filters", "/search?q=lighthouse&in=en".into(), &menu),
        ("page-2", "/search?q=lighthouse&page=2".into(), &nothing),
        ("did-you-mean", "/search?q=lighthuose+keepar".into(), &nothing),
        ("nothing-found", "/search?q=zzzqqqxxyy".into(), &nothing),
        ("keys", "/search?q=lighthouse".into(), &keys),
        ("snapshot", cached_page, &nothing),
        ("clean", format!("/clean?url={page}"), &nothing),
        ("hot", "/hot".into(), &nothing),
        ("privacy", "/privacy".into(), &nothing),
        ("bot", format!("/bot?url={page}"), &nothing),
        ("api", "/api".into(), &nothing),
        ("results-zh", "/search?q=灯塔&lang=zh".into(), &nothing),
    ];
    for (width, height, device) in [(1280, 900, "desktop"), (390, 844, "phone")] {
        browser.size(width, height);
        for scheme in ["light", "dark"] {
            browser.colour_scheme(scheme);
            for (name, path, act) in &pages {
                browser.open(&demo.url(path));
                act();
                browser.picture(&dir, &format!("{name}-{device}-{scheme}.png"));
            }
        }
    }
}
