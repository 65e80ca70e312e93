//! The web page in a real browser: Debian's Chromium, driven through chromedriver.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::browser::{Browser, Demo, Site, count, language, stays};
use crate::common::{Running, pharos, succeed, until};
use thirtyfour::prelude::*;

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn a_chinese_query_is_typed_and_its_results_are_paged() {
    let demo = Demo::start();
    let browser = Browser::start("zh-CN");
    browser.open(&demo.url("/"));
    assert_eq!(language(&browser), "zh");
    assert!(count(&browser.text(".count")) > 100);
    browser.search("灯塔");

    assert_eq!(language(&browser), "zh");
    assert_eq!(browser.title(), "灯塔 – 灯塔");
    assert!(count(&browser.text(".bar span")) > 10);
    let first = browser.texts(".hits h2");
    assert_eq!(first.len(), 10);
    // Each result shows the word, in the title or in the snippet.
    assert_eq!(browser.all(".hits > li:has(mark)").len(), first.len());
    assert!(browser.texts(".hits mark").iter().all(|word| word == "灯塔"));
    assert!(!browser.all(".hits h2 mark").is_empty());
    assert!(!browser.all(".hits h2 + p mark").is_empty());

    browser.click(".paging [rel=next]");
    until("page 2 is shown", || browser.url().contains("page=2"));
    assert_eq!(browser.text(".paging [aria-current=page]"), "2");
    assert!(browser.text(".bar").contains("第 2 页"));
    assert!(browser.texts(".hits h2").iter().any(|title| !first.contains(title)));
    assert_eq!(browser.attribute(".box input", "value"), "灯塔", "the box still holds the query");

    browser.click(".paging [rel=prev]");
    until("page 1 is shown again", || !browser.url().contains("page="));
    assert_eq!(browser.texts(".hits h2"), first);
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn an_english_query_leads_to_a_page_that_can_be_visited() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/"));
    assert_eq!(language(&browser), "en");
    browser.search("lighthouse keeper");

    assert_eq!(browser.title(), "lighthouse keeper – Pharos");
    assert!(count(&browser.text(".bar span")) > 0);
    let words = browser.texts(".hits > li:first-child mark");
    for word in ["lighthouse", "keeper"] {
        assert!(words.iter().any(|marked| marked.to_lowercase().contains(word)), "{word} in {words:?}");
    }

    // Names under .localhost are this machine, for every browser and without a resolver.
    let link = browser.attribute(".hits > li:first-child h2 a", "href");
    assert!(link.starts_with("http://") && link.contains(".localhost:"), "{link}");
    browser.click(".hits > li:first-child h2 a");
    until("the page itself is open", || browser.url() == link);
    assert!(browser.text("body").to_lowercase().contains("lighthouse"));
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn the_language_is_switched_and_remembered() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/search?q=lighthouse&page=2"));
    browser.click(".foot a[hreflang^=zh]");
    until("the page speaks Chinese", || language(&browser) == "zh");
    assert!(browser.text(".bar").contains("第 2 页"), "the same page of the same query");
    browser.open(&demo.url("/"));
    assert_eq!(language(&browser), "zh");
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn a_snapshot_shows_where_the_words_are() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/"));
    browser.search("lighthouse keeper");
    let title = browser.text(".hits > li:first-child h2");
    browser.click(".hits > li:first-child .extras a[href^='/snapshot/']");
    until("the snapshot is open", || browser.url().contains("/snapshot/"));

    assert!(browser.run(browser.find(".banner").is_displayed()));
    assert_eq!(browser.text(".banner h1"), title);
    assert!(browser.text(".banner").contains("This is a snapshot of the page, stored on "));
    let legend = browser.texts(".legend a");
    assert_eq!(legend.len(), 2, "{legend:?}");

    browser.enter_frame("iframe[name=stored]");
    let colour = |word| browser.run(browser.find(word).css_value("background-color"));
    assert_ne!(colour(".w0"), colour(".w1"), "each word has its own colour");
    for (class, word) in [("mark.w0", "lighthouse"), ("mark.w1", "keeper")] {
        let marked = browser.texts(class);
        assert!(marked.iter().all(|text| text.to_lowercase().starts_with(word)), "{marked:?}");
    }
    browser.leave_frame();

    // The legend leads to the word's first occurrence, in the frame; each leads to the next, the last to the first.
    browser.click(".legend .w1");
    browser.follow_occurrences("w1", count(&browser.text(".legend .w1 small")));
    assert_eq!(browser.run(browser.driver.windows()).len(), 1, "jumps stay in the frame");

    browser.click(".views a[href*='view=text']");
    until("the text is shown", || browser.url().contains("view=text"));
    assert!(browser.url().contains("q=lighthouse+keeper"), "{}", browser.url());
    assert_eq!(browser.text(".views [aria-current]"), "Text");
    browser.click(".legend .w0");
    browser.follow_occurrences("w0", count(&browser.text(".legend .w0 small")));
    browser.click(".views a:not([aria-current])");
    until("the layout is shown again", || !browser.url().contains("view=text"));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn the_versions_of_a_snapshot_can_be_opened() {
    let visit = Arc::new(AtomicUsize::new(1));
    let number = visit.clone();
    let site = Site::start(move |path| {
        let number = number.load(Ordering::SeqCst);
        (path == "/").then(|| {
            format!(
                "<title>Tower number {number}</title><p>The tower of version {number} stands by the sea, and \
                 <a href=/more>its tower keeper</a> tells of the towers there were before."
            )
        })
    });
    let address = format!("http://127.0.0.1:{}/", site.port);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    for version in 1..=3 {
        visit.store(version, Ordering::SeqCst);
        succeed(&mut crawl_one(&data, &address));
        // A version is identified by its time in seconds.
        std::thread::sleep(Duration::from_millis(1_100));
    }
    succeed(on_data(&data).args(["index", "build"]));
    let mut serve = Running::start(on_data(&data).args(["serve", "--listen", "127.0.0.1:0"]));

    let browser = Browser::without_scripts("en-US");
    browser.open(&format!("http://{}/search?q=tower", serve.address()));
    browser.click(".hits > li:first-child .extras a[href^='/snapshot/']");
    let in_frame = |version: usize| {
        browser.enter_frame("iframe[name=stored]");
        let text = browser.text("body");
        browser.leave_frame();
        assert!(text.contains(&format!("version {version} stands")), "{text}");
    };
    in_frame(3);
    assert_eq!(browser.all(".versions a").len(), 3);
    assert_eq!(browser.all(".versions li:first-child [aria-current]").len(), 1, "the newest is shown");
    for version in [2, 1] {
        let place = 4 - version;
        browser.click(&format!(".versions li:nth-child({place}) a"));
        until("another version is shown", || {
            browser.all(&format!(".versions li:nth-child({place}) [aria-current]")).len() == 1
        });
        assert!(browser.url().contains("at=20"), "{}", browser.url());
        assert_eq!(browser.text("h1"), format!("Tower number {version}"));
        in_frame(version);
    }
    browser.click(".legend .w0");
    browser.follow_occurrences("w0", 3);
    browser.click(".views a[href*='view=text']");
    until("its text is shown", || browser.url().contains("view=text"));
    assert!(browser.url().contains("at=20"), "the version stays: {}", browser.url());
    in_frame(1);
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn the_cleaned_view_shows_the_body_beside_the_page() {
    let demo = Demo::start();
    let browser = Browser::without_scripts("en-US");
    browser.size(1280, 900);
    browser.open(&demo.url("/search?q=lighthouse+keeper"));
    browser.click(".hits > li:first-child .extras a[href^='/snapshot/']");
    browser.click(".banner a[href^='/clean?']");
    until("the cleaned view is open", || browser.url().contains("/clean?url="));

    assert!(browser.text(".facts").contains("Charset"));
    let kept = browser.text(".cleaned article");
    let body = browser.texts(".block.k0 .lines p");
    assert!(!body.is_empty() && kept.contains(body[0].trim()), "{body:?} in {kept}");
    let colour = |css| browser.run(browser.find(css).css_value("background-color"));
    let edge = |css| browser.run(browser.find(css).css_value("border-left-color"));
    assert_eq!(colour(".block.k0"), colour(".kind.k0"), "the legend has the colours of the blocks");
    assert_eq!(edge(".block.k0"), edge(".kind.k0"));
    assert_ne!(edge(".kind.k0"), edge(".kind.k2, .kind.k4, .kind.k7"));
    let place = |css| browser.run(browser.find(css).rect());
    assert_eq!(place(".original").y, place(".cleaned").y, "side by side");
    browser.click(".block.k0 summary");
    assert!(browser.text(".block.k0 .verdict").contains("rule "), "it says why");
    browser.size(390, 844);
    assert!(place(".original").y < place(".cleaned").y, "one after the other");
    let width: f64 = browser.run(browser.find("html").rect()).width;
    assert!(place(".sides").width <= width, "nothing sticks out");
    assert_eq!(browser.errors(), Vec::<String>::new());

    // Another URL is entered, and an unknown one.
    let shown_url = browser.attribute(".box input[name=url]", "value");
    let input = browser.find(".box input[name=url]");
    browser.run(input.clear());
    browser.run(input.send_keys(format!("{shown_url}/nowhere")));
    browser.run(input.send_keys(Key::Enter));
    until("the answer is there", || browser.text("h1").contains("not in the library"));
    assert!(browser.text(".notice code").starts_with("pharos add http"));
    browser.open(&demo.url(&format!("/clean?url={shown_url}&q=lighthouse")));
    browser.click(".ways a[href^='/snapshot/']");
    until("the snapshot is open again", || browser.url().contains("/snapshot/"));
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn a_hostile_page_can_do_nothing_from_its_snapshot() {
    let elsewhere = Site::start(|_| Some("document.title = 'taken over'".into()));
    let page = hostile_page(elsewhere.port);
    let site = Site::start(move |path| (path == "/").then(|| page.clone()));
    let address = format!("http://127.0.0.1:{}/", site.port);

    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    succeed(&mut crawl_one(&data, &address));
    succeed(on_data(&data).args(["index", "build"]));
    let mut serve = Running::start(on_data(&data).args(["serve", "--listen", "127.0.0.1:0"]));
    let home = format!("http://{}/", serve.address());
    let before = elsewhere.connections();
    let calm = || elsewhere.connections() == before;

    let browser = Browser::start("en-US");
    browser.open(&home);
    browser.search("harmless");
    let results = browser.url();
    let shown = browser.text(".hits > li:first-child h2");
    assert!(shown.contains("<img src=x onerror="), "the title is shown as text: {shown}");
    assert!(browser.all("main img, main script, main svg, main iframe, main style").is_empty());
    stays("the result page loads nothing of it", || browser.url() == results && calm());

    browser.click(".hits > li:first-child .extras a[href^='/snapshot/']");
    until("the snapshot is open", || browser.url().contains("/snapshot/"));
    let (snapshot, title) = (browser.url(), browser.title());
    assert!(title.starts_with("A harmless page") && title.ends_with(" – Snapshot"), "{title}");
    let stored = browser.property("iframe[name=stored]", "src");
    let in_frame = |browser: &Browser| {
        let marks = browser.texts("mark[class^=w]");
        assert!(!marks.is_empty() && marks.iter().all(|word| word == "harmless"), "{marks:?}");
        let text = browser.text("body");
        assert!(text.contains("The last words of the page."), "all of it is there: {text}");
        let suspects = browser.all(
            "script, iframe, object, embed, form, img, svg, math, base[href], meta[http-equiv], link, \
             [onload], [onerror], [onclick], [onfocus], [ontoggle], a[href^='javascript' i], a[href^='data' i], \
             :not(mark)[id^='w0-'], :not(mark, a[target=_self])[class~=w0], a:not([target=_blank], [href^='#w0-'])",
        );
        let suspects: Vec<_> = suspects.iter().map(|e| browser.run(e.outer_html())).collect();
        assert!(suspects.is_empty(), "{suspects:?}");
    };
    browser.enter_frame("iframe[name=stored]");
    in_frame(&browser);
    browser.leave_frame();
    stays("nothing runs in the frame", || browser.url() == snapshot && browser.title() == title && calm());
    assert_eq!(browser.errors(), Vec::<String>::new(), "no policy violation");

    // Our own anchor is the target, not an element of the page with the same name.
    browser.click(".legend .w0");
    browser.enter_frame("iframe[name=stored]");
    until("the word is the target", || browser.all("mark#w0-1:target").len() == 1);
    browser.leave_frame();

    // Nor in the text view.
    browser.click(".views a[href*='view=text']");
    until("the text is shown", || browser.url().contains("view=text"));
    let (snapshot, title) = (browser.url(), browser.title());
    browser.enter_frame("iframe[name=stored]");
    in_frame(&browser);
    browser.leave_frame();
    stays("nothing runs in the text", || browser.url() == snapshot && browser.title() == title && calm());
    assert_eq!(browser.errors(), Vec::<String>::new(), "no policy violation");

    // Nor if the document of the frame is opened directly.
    browser.open(&stored);
    in_frame(&browser);
    let title = browser.title();
    assert!(title.starts_with("A harmless page"), "{title}");
    stays("nothing runs", || browser.url() == stored && browser.title() == title && calm());
    assert_eq!(browser.run(browser.driver.windows()).len(), 1, "no window was opened");

    // Nor in the cleaned view, where its text is part of our own document.
    let clean = format!("{home}clean?url={address}");
    browser.open(&clean);
    let title = browser.title();
    assert!(title.starts_with("A harmless page") && title.ends_with(" – Cleaned view"), "{title}");
    let text = browser.text(".original");
    assert!(text.contains("The last words of the page."), "{text}");
    let suspects = browser.all(
        "main :is(script, iframe, object, embed, form, img, svg, math, base, meta, link, style, input), \
         main :is([onload], [onerror], [onclick], [onfocus], [style], a[href^='javascript' i], a[href^='data' i])",
    );
    let suspects: Vec<_> = suspects.iter().map(|e| browser.run(e.outer_html())).collect();
    assert!(suspects.is_empty(), "{suspects:?}");
    stays("nothing runs in the cleaned view", || {
        browser.url() == clean && browser.title() == title && calm()
    });
    assert_eq!(browser.errors(), Vec::<String>::new(), "no policy violation");

    // The original page does navigate the browser away: the test would notice.
    browser.open(&address);
    until("the page leads elsewhere", || browser.url().contains(&format!(":{}/", elsewhere.port)));
    assert!(!calm());
}

/// A command on a data directory.
fn on_data(data: &Path) -> Command {
    let mut command = pharos();
    command.arg("--data").arg(data);
    command
}

/// Fetches one page, also if it is known.
fn crawl_one(data: &Path, address: &str) -> Command {
    let mut command = on_data(data);
    command.args(["crawl", "--allow-private", "--politeness", "own-site", "--max-depth", "0"]);
    command.args(["--mode", "batch", address]);
    command
}

/// A page with every kind of active content. All its resources and targets are at `port`.
fn hostile_page(port: u16) -> String {
    r##"<!doctype html><html><head>
<title>A harmless page <img src=x onerror="top.location='EVIL/title'"><script>document.title='taken over'</script></title>
<base href="EVIL/">
<meta http-equiv="refresh" content="0; url=EVIL/refresh">
<link rel="stylesheet" href="EVIL/sheet.css"><link rel="preconnect" href="EVIL"><link rel="prefetch" href="EVIL/prefetch">
<style>@import "EVIL/import.css"; body { background: url(EVIL/background.png) }</style>
<style>@font-face { font-family: taken; src: url(EVIL/font.woff) } * { font-family: taken }</style>
<script>document.title = 'taken over'; fetch('EVIL/fetch'); setTimeout(() => { top.location = 'EVIL/top' }, 0)</script>
<script src="EVIL/script.js"></script>
</head>
<body onload="document.title='taken over'; top.location='EVIL/body'" background="EVIL/body.png">
<p>This harmless page is about a tower by the sea, its lamp and its stairs.</p>
<p id="w0-1" class="w0">Not the word.</p> <a id="w0-2" class="next w0" href="#w0-1" target="_self">on</a>
<a href="EVIL/out" target="_top">out</a> <a href="EVIL/a"><table><tr><td><a href="EVIL/b">in it</a></td></tr></table></a>
<p style="background: url(EVIL/style.png)">A paragraph with a picture behind it.</p>
<img src="EVIL/picture.png" onerror="top.location='EVIL/error'" onload="top.location='EVIL/load'" alt="a picture">
<img src=x srcset="EVIL/small.png 1x, EVIL/large.png 2x" onerror=top.location='EVIL/unquoted'>
<picture><source srcset="EVIL/source.png"><img src="EVIL/inner.png"></picture>
<svg onload="top.location='EVIL/svg'"><image href="EVIL/svg.png"/><script>top.location='EVIL/svgscript'</script>
<a xlink:href="javascript:top.location='EVIL/svglink'"><text>click</text></a></svg>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=top.location='EVIL/math'&gt;"></table></mtext></math>
<noscript><p title="</noscript><img src=x onerror=top.location='EVIL/noscript'>"></noscript>
<svg><style><img src=x onerror="top.location='EVIL/svgstyle'"></style></svg>
<a href="javascript:top.location='EVIL/link'">a link</a> <a href=" java&#10;script:top.location='EVIL/spaced'">another</a>
<a href="data:text/html,<script>top.location='EVIL/data'</script>">a third</a>
<a href="EVIL/ping" ping="EVIL/ping">a fourth</a>
<form action="/" method="post"><input name="q" value="taken" autofocus onfocus="top.location='EVIL/focus'"><button>send</button></form>
<form action="EVIL/form"><input type="image" src="EVIL/button.png"></form>
<details open ontoggle="top.location='EVIL/toggle'"><summary>more</summary>text</details>
<iframe src="EVIL/frame"></iframe><iframe srcdoc="<script>top.location='EVIL/srcdoc'</script>"></iframe>
<object data="EVIL/object"></object><embed src="EVIL/embed"><video src="EVIL/video" autoplay poster="EVIL/poster.png"></video>
<audio src="EVIL/audio" autoplay></audio><template><img src="EVIL/template.png"></template>
</iframe></object></style></script></noscript>-->
<p>The last words of the page.</p>
</body></html>"##
        .replace("EVIL", &format!("http://127.0.0.1:{port}"))
}

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn everything_works_without_scripts() {
    let demo = Demo::start();
    let browser = Browser::without_scripts("en-US");
    browser.open("data:text/html,<title>off</title><script>document.title='on'</script>");
    assert_eq!(browser.title(), "off", "scripts are off");

    browser.open(&demo.url("/"));
    browser.search("zzzqqqxxyy");
    assert!(browser.text(".notice h1").contains("zzzqqqxxyy"));
    assert_eq!(browser.all(".notice li").len(), 3, "it says what to try");

    browser.search("\"the lighthouse\" -fog");
    let found = count(&browser.text(".bar span"));
    assert_eq!(browser.attribute(".box input", "value"), "\"the lighthouse\" -fog");
    browser.search("\"the lighthouse\"");
    let phrase = count(&browser.text(".bar span"));
    browser.search("lighthouse");
    let words = count(&browser.text(".bar span"));
    assert!(0 < found && found < phrase && phrase < words, "{found} {phrase} {words}");

    browser.click(".paging [rel=next]");
    until("page 2 is shown", || browser.url().contains("page=2"));
    browser.click(".hits > li:first-child .extras a[href^='/snapshot/']");
    until("the snapshot is open", || browser.url().contains("/snapshot/"));
    browser.enter_frame("iframe[name=stored]");
    browser.find("mark");
    browser.leave_frame();
    browser.click(".banner .home-link");
    until("the results are back", || browser.url().contains("/search?q=lighthouse"));
}

/// A beacon reports clicks and dwell times.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn clicks_are_logged() {
    let demo = Demo::start();
    let browser = Browser::start("en-US");
    browser.open(&demo.url("/"));
    browser.search("lighthouse keeper");
    let link = browser.attribute(".hits > li:nth-child(2) h2 a", "href");
    browser.click(".hits > li:nth-child(2) h2 a");
    until("the page itself is open", || browser.url() == link);
    let of_kind = |kind: &str| demo.clicks().into_iter().find(|click| click["kind"] == kind);
    until("the click is logged", || of_kind("result").is_some());
    let click = of_kind("result").unwrap();
    assert!(click["rank"] == 2 && click["url"] == link && click["asked"] == "lighthouse keeper", "{click}");
    browser.run(browser.driver.back());
    until("the dwell time is logged", || of_kind("leave").is_some());
    assert!(of_kind("leave").unwrap()["dwell_ms"].as_u64().is_some_and(|dwell| dwell > 0));
    assert_eq!(demo.clicks().iter().filter(|click| click["kind"] == "result").count(), 1, "reported once");
}
