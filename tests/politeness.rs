//! Politeness, verified from the servers' logs: delay between requests to a site, parallel requests to a domain,
//! Retry-After, and pages per day.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::common::{Rig, succeed};
use pharos_testweb::hostile::{HostileOptions, HostileWeb};
use pharos_testweb::{ServeOptions, WebSpec};

/// The crawler's clock has a resolution of one millisecond, and a delay has two ends.
const CLOCK: Duration = Duration::from_millis(2);

/// Response time of a host. Its log contains only the time of a request; the response was sent this much later.
const LATENCY: Duration = Duration::from_millis(30);

#[test]
fn a_site_has_a_delay_between_requests_while_others_are_fetched() {
    let least = Duration::from_millis(200);
    check_delay_of_every_host(least, "day=200ms, night=200ms, nice=0, per_day=0, per_address=0");
}

#[test]
fn a_slow_site_has_a_longer_delay() {
    check_delay_of_every_host(LATENCY * 10, "day=0s, night=0s, nice=10, per_day=0, per_address=0");
}

/// Checks that every host has this delay after each response, never gets two requests at once, and does not block the
/// others.
fn check_delay_of_every_host(rest: Duration, limits: &str) {
    const HOSTS: usize = 20;
    let spec = WebSpec { seed: 61, hosts: HOSTS, pages: HOSTS * 8, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions { latency: LATENCY, ..ServeOptions::default() });
    succeed(polite(&rig, limits).args(rig.server.seeds()));
    let mut log = rig.server.log();
    log.sort_by_key(|request| request.at);

    let mut last: BTreeMap<&str, (usize, Instant)> = BTreeMap::new();
    let (mut rests, mut others) = (0, 0);
    for (number, request) in log.iter().enumerate() {
        assert_eq!(request.in_flight, 1, "{} was asked twice at once", request.host);
        if let Some((before, at)) = last.insert(&request.host, (number, request.at)) {
            let apart = request.at - at;
            assert!(apart + CLOCK >= LATENCY + rest, "{} was asked again after {apart:?}", request.host);
            let between: BTreeSet<_> = log[before + 1..number].iter().map(|request| &request.host).collect();
            rests += 1;
            others += between.len();
        }
    }
    println!("{others} hosts were asked during {rests} rests of others");
    assert_eq!(last.len(), HOSTS);
    assert!(rests > 5 * HOSTS, "only {rests} rests for this to mean anything");
    // Serial crawling would give none, and hosts of equal size all but one.
    assert!(others > rests * HOSTS / 2, "{others} hosts asked during {rests} rests of others");
}

#[test]
fn a_crawl_delay_is_kept_even_on_own_sites() {
    let delay = Duration::from_millis(700);
    let host = PlainHost::start("User-agent: *\nCrawl-delay: 0.7\n");
    let rig = small_rig();
    let mut command = rig.pharos(&["crawl", "--allow-private", "--politeness", "own-site"]);
    succeed(command.arg(format!("http://{}/", host.address)));
    let requests = host.requests.lock().unwrap();
    assert_eq!(requests.len(), 2 + PlainHost::PAGES, "robots.txt, home page and the others");
    for pair in requests.windows(2) {
        let apart = pair[1] - pair[0];
        assert!(apart + CLOCK >= delay, "asked again after {apart:?}");
    }
}

/// With N lanes, each with a delay after every request, the N-th request after another is at least a delay later,
/// whatever their order.
#[test]
fn thousands_of_subdomains_are_fetched_at_the_rate_of_a_few_sites() {
    const LANES: usize = 4;
    let rest = Duration::from_millis(200);
    let (rig, web) = hostile();
    let mut command = polite(&rig, "day=200ms, night=200ms, nice=0, per_day=0, per_address=0");
    at(&mut command, &web).args(["--scope", "domain", "--for", "6s"]).arg(seed_of(&web, "0.many-names.test"));
    succeed(command.env("PHAROS_CRAWL_SITES_PER_DOMAIN", LANES.to_string()));

    let mut requests = web.requests();
    requests.sort_by_key(|request| request.at);
    let sites: BTreeSet<_> = requests.iter().map(|request| &request.host).collect();
    println!("{} requests to {} sites of one domain in 6 s", requests.len(), sites.len());
    assert!(sites.iter().all(|host| host.ends_with(".many-names.test")));
    assert!(sites.len() > 3 * LANES, "only {} sites, which one may ask all at once", sites.len());
    for window in requests.windows(LANES + 1) {
        let apart = window[LANES].at - window[0].at;
        assert!(apart + CLOCK >= rest, "{} requests to one domain within {apart:?}", window.len());
    }
    rig.runtime.block_on(web.stop());
}

#[test]
fn retry_after_is_respected_by_this_run_and_the_next() {
    let hosts =
        ["busy-429-seconds.test", "busy-429-date.test", "busy-503-seconds.test", "busy-503-date.test"];
    let (rig, web) = hostile();
    let crawl = || {
        let mut command = polite(&rig, "day=50ms, night=50ms, nice=0, per_day=0, per_address=0");
        at(&mut command, &web);
        command
    };
    let homes = hosts.map(|host| seed_of(&web, host));
    // Each host has more pages to fetch than it answers before it reports overload.
    let seeds = ["", "one", "two"].map(|path| homes.each_ref().map(|home| format!("{home}{path}")));
    succeed(crawl().args(seeds.as_flattened()));
    let count_requests = || {
        let requests = web.requests();
        hosts.map(|host| requests.iter().filter(|request| &*request.host == host).count())
    };
    assert_eq!(count_requests(), [2; 4], "robots.txt and the first page");
    succeed(&mut crawl());
    assert_eq!(count_requests(), [2; 4], "the next run knows");
    succeed(crawl().args(&homes));
    assert_eq!(count_requests(), [2; 4], "even as an explicit seed");
    rig.runtime.block_on(web.stop());
}

#[test]
fn the_daily_page_limit_of_a_site_holds_over_all_runs() {
    const PER_DAY: usize = 5;
    let spec = WebSpec { seed: 62, hosts: 3, pages: 90, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    let crawl = || {
        let limits = format!("day=0s, night=0s, nice=0, per_day={PER_DAY}, per_address=0");
        let mut command = polite(&rig, &limits);
        command.env("PHAROS_CRAWL_SITE_SETTINGS", format!("*.test zone={}", zone_where_it_is_noon()));
        command
    };
    let pages = || {
        let mut pages: BTreeMap<String, usize> = BTreeMap::new();
        for request in rig.server.log().iter().filter(|request| &*request.path != "/robots.txt") {
            *pages.entry(request.host.to_string()).or_default() += 1;
        }
        pages
    };
    succeed(crawl().args(rig.server.seeds()));
    let first = pages();
    assert_eq!(first.len(), 3);
    // The robots.txt of a site may count as a page in the run that fetched it.
    assert!(first.values().all(|pages| (PER_DAY - 1..=PER_DAY).contains(pages)), "{first:?}");
    succeed(&mut crawl());
    succeed(crawl().args(rig.server.seeds()));
    let all = pages();
    assert!(all.values().all(|pages| *pages <= PER_DAY), "{all:?} after the first run gave {first:?}");
}

/// Returns a time zone in which midnight is far away.
fn zone_where_it_is_noon() -> String {
    let hours = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 3600 % 24;
    format!("{:+03}:00", 12 - i64::try_from(hours).unwrap())
}

/// Returns a crawl with these politeness settings.
fn polite(rig: &Rig, limits: &str) -> Command {
    let mut command = rig.pharos(&["crawl", "--allow-private", "--politeness", "normal"]);
    for resolve in rig.server.resolve_args() {
        command.arg("--resolve").arg(resolve);
    }
    command.env("PHAROS_CRAWL_NORMAL", limits);
    command
}

fn small_rig() -> Rig {
    Rig::new(WebSpec { hosts: 1, pages: 3, ..WebSpec::default() }, ServeOptions::default())
}

fn hostile() -> (Rig, HostileWeb) {
    let rig = small_rig();
    let web = rig.runtime.block_on(HostileWeb::start(HostileOptions::default())).unwrap();
    (rig, web)
}

/// Passes the addresses of the hosts to the command.
fn at<'a>(command: &'a mut Command, web: &HostileWeb) -> &'a mut Command {
    for value in web.resolve_args() {
        command.arg("--resolve").arg(value);
    }
    command
}

fn seed_of(web: &HostileWeb, host: &str) -> String {
    web.seeds().into_iter().find(|seed| seed.starts_with(&format!("http://{host}:"))).unwrap()
}

/// A host with a few pages and its own robots.txt.
struct PlainHost {
    address: SocketAddr,
    /// Times of requests; each is answered immediately.
    requests: Arc<Mutex<Vec<Instant>>>,
}

impl PlainHost {
    /// Number of pages besides the home page.
    const PAGES: usize = 4;

    /// Starts a host that serves until the process exits.
    fn start(robots: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = Self { address: listener.local_addr().unwrap(), requests: Arc::default() };
        let requests = host.requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let requests = requests.clone();
                std::thread::spawn(move || Self::answer(stream, robots, &requests));
            }
        });
        host
    }

    fn answer(mut stream: TcpStream, robots: &str, requests: &Mutex<Vec<Instant>>) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        let Some(first) = lines.next() else { return };
        lines.take_while(|line| !line.is_empty()).for_each(drop);
        requests.lock().unwrap().push(Instant::now());
        let path = first.split(' ').nth(1).unwrap();
        let (kind, body) = match path {
            "/robots.txt" => ("text/plain", robots.to_string()),
            "/" => ("text/html", (0..Self::PAGES).map(|n| format!("<a href=/{n}>page {n}</a>\n")).collect()),
            _ => ("text/html", format!("<title>page {path}</title>page {path}")),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close"
        );
        // Errors of disconnected clients are ignored.
        let _ = write!(stream, "{head}\r\n\r\n{body}");
    }
}
