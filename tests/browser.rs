//! The web page in a real browser: Debian's Chromium, driven through chromedriver.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{Running, get, pharos, succeed};
use pharos_testweb::Web;
use serde_json::json;
use tempfile::TempDir;
use thirtyfour::LoggingPrefsLogLevel;
use thirtyfour::cdp::domains::emulation::{MediaFeature, SetEmulatedMedia};
use thirtyfour::extensions::query::ElementPollerWithTimeout;
use thirtyfour::prelude::*;
use tokio::runtime::Runtime;

/// Long enough for a busy machine; nobody waits for it unless something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn a_chinese_query_is_typed_and_its_results_are_paged_through() {
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
    assert!(!browser.all(".hits .snippet mark").is_empty());

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
    assert!(browser.text(".banner").contains("This is our copy of the page, stored on "));
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
        // A version is named by its second.
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
fn the_cleaned_view_shows_what_was_kept_beside_the_page() {
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

    // Another address is typed in, and one that is not there.
    let asked = browser.attribute(".box input[name=url]", "value");
    let input = browser.find(".box input[name=url]");
    browser.run(input.clear());
    browser.run(input.send_keys(format!("{asked}/nowhere")));
    browser.run(input.send_keys(Key::Enter));
    until("the answer is there", || browser.text("h1").contains("not in the library"));
    assert!(browser.text(".notice code").starts_with("pharos add http"));
    browser.open(&demo.url(&format!("/clean?url={asked}&q=lighthouse")));
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
    assert_eq!(browser.errors(), Vec::<String>::new(), "nothing even had to be stopped");

    // Our own jump finds the word, not what the page calls by its name.
    browser.click(".legend .w0");
    browser.enter_frame("iframe[name=stored]");
    until("the word is the target", || browser.all("mark#w0-1:target").len() == 1);
    browser.leave_frame();

    // Nor does it in its text.
    browser.click(".views a[href*='view=text']");
    until("the text is shown", || browser.url().contains("view=text"));
    let (snapshot, title) = (browser.url(), browser.title());
    browser.enter_frame("iframe[name=stored]");
    in_frame(&browser);
    browser.leave_frame();
    stays("nothing runs in the text", || browser.url() == snapshot && browser.title() == title && calm());
    assert_eq!(browser.errors(), Vec::<String>::new(), "nothing even had to be stopped");

    // Nor when somebody opens the frame's document by itself.
    browser.open(&stored);
    in_frame(&browser);
    let title = browser.title();
    assert!(title.starts_with("A harmless page"), "{title}");
    stays("nothing runs", || browser.url() == stored && browser.title() == title && calm());
    assert_eq!(browser.run(browser.driver.windows()).len(), 1, "no window was opened");

    // Nor in the cleaned view, where its text stands in our own document.
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
    assert_eq!(browser.errors(), Vec::<String>::new(), "nothing even had to be stopped");

    // The page itself does take the browser over: the test would see it.
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

/// Fetches one page, again if it is known.
fn crawl_one(data: &Path, address: &str) -> Command {
    let mut command = on_data(data);
    command.args(["crawl", "--allow-private", "--politeness", "own-site", "--max-depth", "0"]);
    command.args(["--mode", "batch", address]);
    command
}

/// A page that tries everything; what it loads, opens or leads to is at `port`.
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
    assert!(browser.text(".notice h2").contains("zzzqqqxxyy"));
    assert_eq!(browser.all(".notice li").len(), 2, "it says what to try");

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

/// Links tell that they were clicked; with scripts also how long the page was looked at.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn clicks_are_written_down_with_scripts_and_without() {
    for has_scripts in [true, false] {
        let demo = Demo::start();
        let browser = if has_scripts { Browser::start("en-US") } else { Browser::without_scripts("en-US") };
        browser.open(&demo.url("/"));
        browser.search("lighthouse keeper");
        let link = browser.attribute(".hits > li:nth-child(2) h2 a", "href");
        browser.click(".hits > li:nth-child(2) h2 a");
        until("the page itself is open", || browser.url() == link);
        let of_kind = |kind: &str| demo.clicks().into_iter().find(|click| click["kind"] == kind);
        until("the click is written down", || of_kind("result").is_some());
        let click = of_kind("result").unwrap();
        assert!(
            click["rank"] == 2 && click["url"] == link && click["asked"] == "lighthouse keeper",
            "{click}"
        );
        if has_scripts {
            browser.run(browser.driver.back());
            until("the way back is written down", || of_kind("leave").is_some());
            assert!(of_kind("leave").unwrap()["dwell_ms"].as_u64().is_some_and(|dwell| dwell > 0));
        }
        assert_eq!(demo.clicks().iter().filter(|click| click["kind"] == "result").count(), 1, "told once");
    }
}

/// The pictures of the documentation: `PHAROS_SCREENSHOTS=docs` writes them there.
#[test]
#[ignore = "needs Chromium: ./check installs it"]
fn screenshots() {
    let demo = Demo::start();
    let temporary = tempfile::tempdir().unwrap();
    let dir = std::env::var_os("PHAROS_SCREENSHOTS").map_or(temporary.path().to_path_buf(), PathBuf::from);
    // Tests run in their crate's directory, people in the root.
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);

    let browser = Browser::start("en-US");
    browser.size(1280, 900);
    browser.open(&demo.url("/"));
    browser.picture(&dir, "home.png");
    browser.search("lighthouse");
    browser.picture(&dir, "results-en.png");

    browser.colour_scheme("dark");
    browser.picture(&dir, "results-dark.png");
    browser.colour_scheme("light");
    browser.size(390, 844);
    browser.picture(&dir, "results-phone.png");
    browser.size(1280, 900);

    browser.search("lighthouse keeper");
    browser.click(".hits > li:first-child .extras a[href^='/snapshot/']");
    browser.enter_frame("iframe[name=stored]");
    browser.find("mark");
    browser.leave_frame();
    browser.picture(&dir, "snapshot.png");
    browser.click(".banner a[href^='/clean?']");
    browser.find(".sides");
    browser.picture(&dir, "clean.png");
    drop(browser);

    let browser = Browser::start("zh-CN");
    browser.size(1280, 900);
    browser.open(&demo.url("/"));
    browser.picture(&dir, "home-zh.png");
    browser.search("灯塔");
    browser.picture(&dir, "results-zh.png");
}

/// `pharos demo`, all of it indexed.
struct Demo {
    address: String,
    _running: Running,
    /// Where it puts its data: it is killed, so that it cannot clean up itself.
    dir: TempDir,
}

impl Demo {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut running =
            Running::start(pharos().args(["demo", "--listen", "127.0.0.1:0"]).env("TMPDIR", dir.path()));
        let address = running.address();
        let truth = Web::demo().truth(80);
        let pages = truth.stored().filter(|page| page.status == 200).count();
        until("all pages of the demo are searchable", || {
            let (_, home) = get(&address, "/");
            home.contains(&format!(">{pages} pages to search<"))
        });
        Self { address, _running: running, dir }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The clicks that it has written down.
    fn clicks(&self) -> Vec<serde_json::Value> {
        let data =
            std::fs::read_dir(self.dir.path()).unwrap().flatten().map(|entry| entry.path().join("logs"));
        let logs = data.filter_map(|logs| std::fs::read_dir(logs).ok()).flatten().flatten();
        let clicks = logs.filter(|file| file.file_name().to_string_lossy().starts_with("clicks-"));
        let texts = clicks.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts
            .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
            .collect()
    }
}

/// A web site of this test's own: what `answer` gives for a path, or 404.
struct Site {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Site {
    fn start(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let (counter, answer) = (connections.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                // Browsers open connections ahead of time and leave them silent for a while.
                std::thread::spawn(move || Self::answer(stream, &*answer));
            }
        });
        Self { port, connections }
    }

    fn answer(mut stream: TcpStream, answer: &dyn Fn(&str) -> Option<String>) -> std::io::Result<()> {
        let head: Vec<_> = BufReader::new(stream.try_clone()?)
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
        let (status, body) = answer(path).map_or(("404 Not Found", String::new()), |body| ("200 OK", body));
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
    }

    /// How many have come so far.
    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A browser with an empty profile, gone at the end of the test, however that ends.
struct Browser {
    runtime: Runtime,
    driver: WebDriver,
    _chromedriver: Running,
    _dir: TempDir,
}

impl Browser {
    fn start(lang: &str) -> Self {
        Self::with_preferences(lang, json!({}))
    }

    fn without_scripts(lang: &str) -> Self {
        Self::with_preferences(lang, json!({ "profile.managed_default_content_settings.javascript": 2 }))
    }

    fn with_preferences(lang: &str, preferences: serde_json::Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        for variable in ["TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, dir.path());
        }
        let mut chromedriver = Running::start(&mut command);
        let mut lines = BufReader::new(chromedriver.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines
            .find_map(|line| line.split_once("successfully on port ").map(|(_, port)| port.to_string()))
            .expect("chromedriver names its port");
        let port: u16 = port.trim_end_matches('.').parse().unwrap();

        let mut wanted = DesiredCapabilities::chrome();
        let profile = format!("--user-data-dir={}", dir.path().join("profile").display());
        for argument in [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--no-proxy-server",
            "--force-device-scale-factor=1",
            "--hide-scrollbars",
            &profile,
            &format!("--lang={lang}"),
            &format!("--accept-lang={lang}"),
        ] {
            wanted.add_arg(argument).unwrap();
        }
        wanted.add_experimental_option("prefs", preferences).unwrap();
        wanted.set_browser_log_level(LoggingPrefsLogLevel::All).unwrap();
        let runtime = Runtime::new().unwrap();
        let connecting = WebDriver::builder(format!("http://127.0.0.1:{port}"), wanted)
            .poller(Arc::new(ElementPollerWithTimeout::new(PATIENCE, Duration::from_millis(50))))
            .connect();
        let driver = runtime.block_on(connecting).unwrap();
        Self { runtime, driver, _chromedriver: chromedriver, _dir: dir }
    }

    #[track_caller]
    fn run<T>(&self, action: impl Future<Output = WebDriverResult<T>>) -> T {
        match self.runtime.block_on(action) {
            Ok(done) => done,
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn open(&self, url: &str) {
        self.run(self.driver.goto(url));
    }

    fn url(&self) -> String {
        self.run(self.driver.current_url()).to_string()
    }

    fn title(&self) -> String {
        self.run(self.driver.title())
    }

    /// The first that fits, as soon as there is one.
    #[track_caller]
    fn find(&self, css: &str) -> WebElement {
        self.run(self.driver.query(By::Css(css)).desc(css).first())
    }

    /// All that fit now.
    fn all(&self, css: &str) -> Vec<WebElement> {
        self.run(self.driver.find_all(By::Css(css)))
    }

    #[track_caller]
    fn text(&self, css: &str) -> String {
        self.run(self.find(css).text())
    }

    fn texts(&self, css: &str) -> Vec<String> {
        self.all(css).iter().map(|element| self.run(element.text())).collect()
    }

    #[track_caller]
    fn attribute(&self, css: &str, name: &str) -> String {
        self.run(self.find(css).attr(name)).unwrap_or_else(|| panic!("{css} has no {name}"))
    }

    #[track_caller]
    fn property(&self, css: &str, name: &str) -> String {
        self.run(self.find(css).prop(name)).unwrap_or_else(|| panic!("{css} has no {name}"))
    }

    #[track_caller]
    fn click(&self, css: &str) {
        self.run(self.find(css).click());
    }

    /// Types the query into the box and presses Enter.
    #[track_caller]
    fn search(&self, query: &str) {
        let input = self.find(".box input[name=q]");
        self.run(input.clear());
        self.run(input.send_keys(query));
        self.run(input.send_keys(Key::Enter));
        until("the results are there", || {
            let url = self.run(self.driver.current_url());
            url.path() == "/search" && url.query_pairs().any(|(name, value)| name == "q" && value == query)
        });
        self.find(".results main");
    }

    #[track_caller]
    fn enter_frame(&self, css: &str) {
        self.run(self.find(css).enter_frame());
    }

    /// Goes through the occurrences of a word in the stored page, from the first to the last and back to the first.
    /// Those in one link of the page are passed together.
    #[track_caller]
    fn follow_occurrences(&self, colour: &str, count: u64) {
        self.enter_frame("iframe[name=stored]");
        let target =
            || self.all(&format!("mark.{colour}:target")).first().map(|mark| self.run(mark.id()).unwrap());
        until("the first occurrence is the target", || target().is_some());
        let number = |id: &str| id.rsplit('-').next().unwrap().parse::<u64>().unwrap();
        let mut here = target().unwrap();
        assert_eq!(number(&here), 1);
        let mut passed = 0;
        loop {
            let jump =
                format!("//mark[@id='{here}']/a | //mark[@id='{here}']/following::a[@class='next {colour}']");
            let jump = self.run(self.driver.query(By::XPath(&jump)).first());
            self.run(jump.click());
            passed += 1;
            if count == 1 || passed > count {
                break;
            }
            until("another occurrence is the target", || target().is_some_and(|id| id != here));
            let there = target().unwrap();
            if number(&there) == 1 {
                break;
            }
            assert!(number(&there) > number(&here), "{here} leads to {there}");
            here = there;
        }
        assert!(passed <= count && number(&target().unwrap()) == 1, "{passed} jumps through {count}");
        self.leave_frame();
    }

    fn leave_frame(&self) {
        self.run(self.driver.enter_default_frame());
    }

    /// What the console complains about.
    fn errors(&self) -> Vec<String> {
        let entries = self.run(self.driver.browser_log());
        entries.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect()
    }

    fn size(&self, width: u32, height: u32) {
        self.run(self.driver.cdp().emulation().set_device_metrics_override(width, height, 1.0, width < 600));
    }

    fn colour_scheme(&self, value: &str) {
        let scheme = MediaFeature { name: "prefers-color-scheme".into(), value: value.into() };
        self.run(self.driver.cdp().send(SetEmulatedMedia { media: None, features: Some(vec![scheme]) }));
    }

    /// Saves what is seen.
    fn picture(&self, dir: &Path, name: &str) {
        let png = self.run(self.driver.screenshot_as_png());
        let (width, height) = (number_at(&png, 16), number_at(&png, 20));
        assert!(
            png.starts_with(b"\x89PNG\r\n\x1a\n") && width >= 390 && height >= 800,
            "{name}: {width}×{height}"
        );
        // A page with nothing on it takes far less.
        assert!(png.len() > 10_000, "{name} has only {} bytes", png.len());
        std::fs::write(dir.join(name), png).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium ends with its session; killing chromedriver alone would leave it behind.
        let _ = self.runtime.block_on(self.driver.clone().quit());
    }
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The page's language, without its script or region.
fn language(browser: &Browser) -> String {
    browser.attribute("html", "lang").split('-').next().unwrap().to_string()
}

/// The number in a line such as `About 1,234 results`.
fn count(line: &str) -> u64 {
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number in {line:?}"))
}

/// Tries until it is true.
#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "it never came true: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Looks for a while whether something happens that must not. A slow machine may miss it, never invent it.
#[track_caller]
fn stays(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        assert!(holds(), "no longer true: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
