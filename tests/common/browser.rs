//! Rig of the browser tests: the demo, a web site of the test, and a browser.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pharos_testweb::Web;
use serde_json::json;
use tempfile::TempDir;
use thirtyfour::LoggingPrefsLogLevel;
use thirtyfour::cdp::domains::emulation::{MediaFeature, SetEmulatedMedia};
use thirtyfour::extensions::query::ElementPollerWithTimeout;
use thirtyfour::prelude::*;
use tokio::runtime::Runtime;

use crate::common::{Running, get, pharos, until};

/// Time limit of every wait: long enough for a busy machine, and reached only if a test fails.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Returns `true` for an element whose click replaces the page: a link to another document, or a submit button.
/// Links into a frame of the page and links to a place in the same page do not.
const NAVIGATES: &str = "
    const link = arguments[0].closest('a[href]');
    if (link) {
        const here = location.href.split('#')[0];
        return !link.target && !(link.hash && link.href.split('#')[0] === here);
    }
    const button = arguments[0].closest('button, input[type=submit]');
    return Boolean(button && button.form && button.type === 'submit');";

/// Presses a key in the focused element, after the script has returned.
const PRESS: &str = "
    const key = arguments[0];
    setTimeout(() => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));";

/// A running `pharos demo` with all its pages indexed.
pub struct Demo {
    address: String,
    _running: Running,
    /// Parent of its data directory. The process is killed, so it cannot delete the directory itself.
    dir: TempDir,
}

impl Demo {
    pub fn start() -> Self {
        Self::start_with(|_| {})
    }

    /// Starts it with a modified command.
    pub fn start_with(prepare: impl FnOnce(&mut Command)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = pharos();
        command.args(["demo", "--listen", "127.0.0.1:0"]).env("TMPDIR", dir.path());
        command.env("PHAROS_INDEX_FIRST_BUILD", "0");
        // On a busy machine the default time budget gives partial results, which have no second page.
        command.env("PHAROS_QUERY_TIME", "30s");
        prepare(&mut command);
        let mut running = Running::start(&mut command);
        let address = running.address();
        let truth = Web::demo().truth(80);
        let pages = truth.stored().filter(|page| page.status == 200).count();
        until("all pages of the demo are searchable", || {
            let (_, home) = get(&address, "/");
            home.contains(&format!(">{pages} searchable pages<"))
        });
        Self { address, _running: running, dir }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns its data directory.
    pub fn data(&self) -> PathBuf {
        let folders = std::fs::read_dir(self.dir.path()).unwrap().flatten().map(|entry| entry.path());
        folders.filter(|folder| folder.join("library").is_dir()).min().unwrap()
    }

    /// Returns the logged clicks.
    pub fn clicks(&self) -> Vec<serde_json::Value> {
        self.logged("clicks-")
    }

    /// Returns the records of the logs whose names start with `prefix`.
    pub fn logged(&self, prefix: &str) -> Vec<serde_json::Value> {
        let logs = std::fs::read_dir(self.data().join("logs")).into_iter().flatten().flatten();
        let logs = logs.filter(|file| file.file_name().to_string_lossy().starts_with(prefix));
        let texts = logs.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts
            .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
            .collect()
    }
}

/// A web site of the test: `answer` returns the body for a path, or `None` for status 404.
pub struct Site {
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Site {
    pub fn start(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let (counter, answer) = (connections.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                // Browsers open connections in advance and leave them idle for a while.
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

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A browser with an empty profile, closed at the end of the test.
pub struct Browser {
    runtime: Runtime,
    pub driver: WebDriver,
    _chromedriver: Running,
    _dir: TempDir,
}

impl Browser {
    pub fn start(lang: &str) -> Self {
        Self::with_preferences(lang, json!({}))
    }

    pub fn without_scripts(lang: &str) -> Self {
        Self::with_preferences(lang, json!({ "profile.managed_default_content_settings.javascript": 2 }))
    }

    fn with_preferences(lang: &str, preferences: serde_json::Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (chromedriver, port) = start_chromedriver(dir.path());

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
            .poller(Arc::new(ElementPollerWithTimeout::new(TIME_LIMIT, Duration::from_millis(50))))
            .connect();
        let driver = runtime.block_on(connecting).unwrap();
        Self { runtime, driver, _chromedriver: chromedriver, _dir: dir }
    }

    #[track_caller]
    pub fn run<T>(&self, action: impl Future<Output = WebDriverResult<T>>) -> T {
        match self.runtime.block_on(action) {
            Ok(done) => done,
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    pub fn open(&self, url: &str) {
        self.run(self.driver.goto(url));
        self.settle();
    }

    /// Waits until the page has loaded. Actions on a page that is being left have no effect.
    #[track_caller]
    pub fn settle(&self) {
        until("the page is there", || {
            let state = self.runtime.block_on(self.driver.execute("return document.readyState", Vec::new()));
            state.is_ok_and(|state| state.json() == "complete")
        });
    }

    /// Sends keys to the focused element.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.settle();
        self.run(self.driver.action_chain().send_keys(keys).perform());
    }

    /// Presses a key that leads to another page, and waits for that page.
    ///
    /// chromedriver repeats the key on the next page if the page is left while it sends it, so the event is created by
    /// the page itself.
    #[track_caller]
    pub fn press_to_leave(&self, key: &str) {
        self.settle();
        let page = self.find("html");
        self.run(self.driver.execute(PRESS, vec![key.into()]));
        self.left(&page, &format!("the key {key}"));
    }

    /// Waits until the page of this element has been replaced by another one.
    #[track_caller]
    fn left(&self, page: &WebElement, by: &str) {
        until(&format!("{by} leads to another page"), || self.runtime.block_on(page.tag_name()).is_err());
        self.settle();
    }

    pub fn url(&self) -> String {
        self.run(self.driver.current_url()).to_string()
    }

    pub fn title(&self) -> String {
        self.run(self.driver.title())
    }

    /// Returns the first matching element, as soon as there is one.
    #[track_caller]
    pub fn find(&self, css: &str) -> WebElement {
        self.run(self.driver.query(By::Css(css)).desc(css).first())
    }

    /// Returns all elements that match now.
    pub fn all(&self, css: &str) -> Vec<WebElement> {
        self.run(self.driver.find_all(By::Css(css)))
    }

    #[track_caller]
    pub fn text(&self, css: &str) -> String {
        self.settled(async || self.driver.query(By::Css(css)).desc(css).first().await?.text().await)
    }

    #[track_caller]
    pub fn texts(&self, css: &str) -> Vec<String> {
        self.settled(async || {
            let mut texts = Vec::new();
            for element in self.driver.find_all(By::Css(css)).await? {
                texts.push(element.text().await?);
            }
            Ok(texts)
        })
    }

    /// Repeats an action whose element was replaced meanwhile, because the page was left or refreshed a part of itself.
    #[track_caller]
    fn settled<T>(&self, action: impl AsyncFn() -> WebDriverResult<T>) -> T {
        let deadline = Instant::now() + TIME_LIMIT;
        loop {
            match self.runtime.block_on(action()) {
                Ok(done) => return done,
                Err(error) if error.to_string().contains("stale") && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[track_caller]
    pub fn attribute(&self, css: &str, name: &str) -> String {
        self.run(self.find(css).attr(name)).unwrap_or_else(|| panic!("{css} has no {name}"))
    }

    #[track_caller]
    pub fn property(&self, css: &str, name: &str) -> String {
        self.run(self.find(css).prop(name)).unwrap_or_else(|| panic!("{css} has no {name}"))
    }

    /// Clicks an element. If the click follows a link or submits a form, waits until the next page has loaded.
    ///
    /// chromedriver returns from a click before the navigation begins, and whatever is done then races with it.
    #[track_caller]
    pub fn click(&self, css: &str) {
        self.click_on(css, &By::Css(css));
    }

    /// Clicks the link with this text, and waits for its page.
    #[track_caller]
    pub fn click_link(&self, text: &str) {
        self.click_on(text, &By::LinkText(text));
    }

    #[track_caller]
    fn click_on(&self, name: &str, by: &By) {
        let left = self.settled(async || {
            let element = self.driver.query(by.clone()).desc(name).first().await?;
            let navigates = self.driver.execute(NAVIGATES, vec![element.to_json()?]).await?;
            let page = self.driver.find(By::Css("html")).await?;
            element.click().await?;
            Ok((navigates.json() == true).then_some(page))
        });
        if let Some(page) = left {
            self.left(&page, &format!("the click on {name}"));
        }
    }

    /// Types the query into the box and presses Enter.
    #[track_caller]
    pub fn search(&self, query: &str) {
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
    pub fn enter_frame(&self, css: &str) {
        self.run(self.find(css).enter_frame());
    }

    pub fn leave_frame(&self) {
        self.run(self.driver.enter_default_frame());
    }

    /// Follows the links between the occurrences of a word in the cached page, from the first to the last and back to
    /// the first. Occurrences inside one link of the page count as one.
    #[track_caller]
    pub fn follow_occurrences(&self, colour: &str, count: u64) {
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

    /// Returns the errors in the browser console, except those about responses with a status of 4xx.
    pub fn errors(&self) -> Vec<String> {
        let entries = self.run(self.driver.browser_log());
        let is_status = |message: &str| message.contains("the server responded with a status of 4");
        let severe = entries.into_iter().filter(|entry| entry.level == "SEVERE");
        severe.map(|entry| entry.message).filter(|message| !is_status(message)).collect()
    }

    pub fn size(&self, width: u32, height: u32) {
        self.run(self.driver.cdp().emulation().set_device_metrics_override(width, height, 1.0, width < 600));
    }

    pub fn colour_scheme(&self, value: &str) {
        let scheme = MediaFeature { name: "prefers-color-scheme".into(), value: value.into() };
        self.run(self.driver.cdp().send(SetEmulatedMedia { media: None, features: Some(vec![scheme]) }));
    }

    /// Saves a screenshot.
    pub fn picture(&self, dir: &Path, name: &str) {
        self.settle();
        let png = self.run(self.driver.screenshot_as_png());
        let (width, height) = (number_at(&png, 16), number_at(&png, 20));
        assert!(
            png.starts_with(b"\x89PNG\r\n\x1a\n") && width >= 390 && height >= 800,
            "{name}: {width}×{height}"
        );
        // A screenshot of an empty page is much smaller.
        assert!(png.len() > 10_000, "{name} has only {} bytes", png.len());
        std::fs::write(dir.join(name), png).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium ends with its session; killing chromedriver alone would not end it.
        let _ = self.runtime.block_on(self.driver.clone().quit());
    }
}

/// Starts chromedriver on a free port. It looks for one in two steps and ends if another process is faster, so that
/// tests that begin at the same time need a second attempt now and then.
fn start_chromedriver(dir: &Path) -> (Running, u16) {
    for _ in 0..10 {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        for variable in ["TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, dir);
        }
        let mut chromedriver = Running::start(&mut command);
        let mut lines = BufReader::new(chromedriver.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.split_once("successfully on port ").map(|(_, port)| port.trim_end_matches('.').to_string())
        });
        if let Some(port) = port {
            return (chromedriver, port.parse().unwrap());
        }
    }
    panic!("chromedriver ended ten times without naming its port");
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Returns the language of the page, without script or region.
pub fn language(browser: &Browser) -> String {
    browser.attribute("html", "lang").split('-').next().unwrap().to_string()
}

/// Returns the number in a line such as `About 1,234 results`.
pub fn count(line: &str) -> u64 {
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number in {line:?}"))
}

/// Checks for a second that a condition stays true. A slow machine may miss a violation, but reports no false one.
#[track_caller]
pub fn stays(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        assert!(holds(), "no longer true: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
