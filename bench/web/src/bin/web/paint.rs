//! First contentful paint in Chromium, compared with a page of one word.

use std::io::{BufRead as _, BufReader, Read as _, Write as _, copy, sink};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use bench_web::figures::{quantile, time};
use bench_web::{Outcome, response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Bench;
use crate::peer::Nginx;

/// Number of browsers with an empty profile.
const BROWSERS: usize = 7;

/// Pages that each of them opens, one after another.
const PAGES: usize = 6;

/// Timeout.
const TIMEOUT: Duration = Duration::from_secs(60);

const ONE_WORD: &[u8] =
    b"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>One word</title><p>Word</p>";

/// Milliseconds from the start of the navigation; `null` until something is painted.
const PAINTED: &str =
    "return (performance.getEntriesByName('first-contentful-paint')[0] || { startTime: null }).startTime";

pub fn print(bench: &Bench) -> Outcome<()> {
    let Some(nginx) = Nginx::start(ONE_WORD, 100)? else {
        println!("paint: nginx is not installed (Debian: apt-get install nginx)");
        return Ok(());
    };
    let ours: Vec<_> =
        bench.questions.known.iter().take(PAGES).map(|path| (bench.server.address, path.clone())).collect();
    let one_word: Vec<_> = (0..PAGES).map(|page| (nginx.address, format!("/page?{page}"))).collect();
    let kinds = [("page of one word, nginx", one_word), ("result page, cached", ours)];
    let mut times = [const { Vec::new() }; 2];
    // Alternating, so that background load affects both.
    for _ in 0..BROWSERS {
        for ((_, pages), times) in kinds.iter().zip(&mut times) {
            let Some(mut browser) = Browser::start()? else {
                println!(
                    "paint: Chromium is not installed (Debian: apt-get install chromium chromium-driver)"
                );
                return Ok(());
            };
            times.push(
                pages
                    .iter()
                    .map(|(server, path)| browser.open(*server, path))
                    .collect::<Outcome<Vec<_>>>()?,
            );
        }
    }
    println!(
        "| first contentful paint, median (max) of {BROWSERS} new browsers | 1st page | 2nd | 3rd to {PAGES}th |"
    );
    println!("|---|---|---|---|");
    for ((name, _), times) in kinds.iter().zip(times) {
        let of = |pages: std::ops::Range<usize>| {
            let mut all: Vec<u32> = times.iter().flat_map(|times| times[pages.clone()].to_vec()).collect();
            all.sort_unstable();
            format!("{} ({})", time(quantile(&all, 0.5).into()), time(quantile(&all, 1.0).into()))
        };
        println!("| {name} | {} | {} | {} |", of(0..1), of(1..2), of(2..PAGES));
    }
    Ok(())
}

/// Chromium, controlled by its driver (W3C WebDriver).
struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser. Returns `None` if it is not installed.
    fn start() -> Outcome<Option<Self>> {
        let profile = tempfile::tempdir()?;
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        for variable in ["TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, profile.path());
        }
        let Ok(mut driver) = command.spawn() else { return Ok(None) };
        let mut said = BufReader::new(driver.stdout.take().ok_or("no stdout")?);
        let mut line = String::new();
        let port = loop {
            line.clear();
            if said.read_line(&mut line)? == 0 {
                return Err("chromedriver ended without a port".into());
            }
            if let Some((_, port)) = line.split_once("successfully on port ") {
                break port.trim_end().trim_end_matches('.').parse::<u16>()?;
            }
        };
        thread::spawn(move || copy(&mut said, &mut sink()));
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let mut browser = Self { driver, address, session: String::new(), _profile: profile };
        let data = format!("--user-data-dir={}", browser._profile.path().join("profile").display());
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", &data];
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": { "args": arguments } } } });
        let session = browser.command("POST", "", &wanted)?;
        browser.session = format!("/{}", session["sessionId"].as_str().ok_or("a session without a name")?);
        Ok(Some(browser))
    }

    /// Returns the microseconds until the first paint of a page.
    fn open(&mut self, server: SocketAddr, path: &str) -> Outcome<u32> {
        self.command("POST", "/url", &json!({ "url": format!("http://{server}{path}") }))?;
        for _ in 0..200 {
            let painted = self.command("POST", "/execute/sync", &json!({ "script": PAINTED, "args": [] }))?;
            if let Some(milliseconds) = painted.as_f64() {
                return Ok((milliseconds * 1e3) as u32);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err(format!("nothing of {path} was ever painted").into())
    }

    fn command(&self, method: &str, what: &str, content: &Value) -> Outcome<Value> {
        let mut stream = TcpStream::connect_timeout(&self.address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let content = content.to_string();
        write!(
            stream,
            "{method} /session{}{what} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{content}",
            self.session,
            self.address,
            content.len()
        )?;
        let (mut bytes, mut part) = (Vec::new(), [0; 16 << 10]);
        loop {
            if let Some(answer) = response::parse(&bytes)? {
                let said: Value = serde_json::from_slice(&bytes[answer.head..answer.length])?;
                return match answer.status {
                    200 => Ok(said["value"].clone()),
                    _ => Err(format!("chromedriver: {}", said["value"]["message"]).into()),
                };
            }
            match stream.read(&mut part)? {
                0 => return Err("chromedriver closed under way".into()),
                length => bytes.extend(&part[..length]),
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium exits with its session, its driver on request.
        let _ = self.command("DELETE", "", &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
