//! PolitenessProfile towards thousands of hosts, and use of the permitted rate, from the server's log.
//!
//! `cargo run --release -p bench-crawl --bin polite -- [HOSTS] [SECONDS]`
//!
//! Every host requires a delay between requests (robots.txt, `Crawl-delay`) and has a response time. A violation is a
//! request before the delay after the last response has passed, or during a response. The permitted number is what a
//! crawler could fetch that requests each host at the first allowed moment.

use std::collections::HashMap;
use std::error::Error;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bench_crawl::{peak_memory, processor_seconds, serve};
use pharos_core::PageUrl;
use pharos_core::config::{Config, PolitenessProfile};
use pharos_engine::{Engine, RunOptions};
use pharos_store::DataDir;
use tokio::sync::watch;

#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Delays of the hosts in seconds, in turn.
const DELAYS: [u64; 4] = [2, 3, 5, 10];
/// Response times of the hosts in milliseconds, in turn.
const RESPONSE_TIMES: [u64; 3] = [10, 50, 150];
/// Links per page to new pages.
const LINKS: u64 = 8;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place: usize, default: u64| arguments.get(place).and_then(|n| n.parse().ok()).unwrap_or(default);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if arguments.first().is_some_and(|first| first == "--crawl") {
        let address = arguments.get(1).ok_or("no address")?;
        return runtime.block_on(crawl(address, number(2, 0), Duration::from_secs(number(3, 0))));
    }
    let (hosts, seconds) = (number(0, 5_000), number(1, 60));
    let log = Arc::new(Mutex::new(Log::default()));
    let address = runtime.block_on(serve({
        let log = log.clone();
        move |host, path| answer(log.clone(), host, path)
    }))?;
    let begun = Instant::now();
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["--crawl", &address.to_string(), &hosts.to_string(), &seconds.to_string()]);
    let status = child.status()?;
    if !status.success() {
        return Err(format!("the crawl failed: {status}").into());
    }
    let log = log.lock().map_err(|_| "the log is broken")?;
    report(&log, hosts, seconds, begun);
    Ok(())
}

#[derive(Default)]
struct Log(HashMap<u64, Vec<Visit>>);

#[derive(Clone, Copy)]
struct Visit {
    began: Instant,
    ended: Option<Instant>,
}

fn delay(host: u64) -> Duration {
    Duration::from_secs(DELAYS[(host % 4) as usize])
}

async fn answer(log: Arc<Mutex<Log>>, host: String, path: String) -> String {
    let number: u64 =
        host.trim_start_matches('h').split('.').next().and_then(|n| n.parse().ok()).unwrap_or_default();
    let place = with(&log, |log| {
        let visits = log.0.entry(number).or_default();
        visits.push(Visit { began: Instant::now(), ended: None });
        visits.len() - 1
    });
    tokio::time::sleep(Duration::from_millis(RESPONSE_TIMES[(number / 4 % 3) as usize])).await;
    with(&log, |log| {
        if let Some(visit) = log.0.get_mut(&number).and_then(|visits| visits.get_mut(place)) {
            visit.ended = Some(Instant::now());
        }
    });
    if path == "/robots.txt" {
        return format!("User-agent: *\nCrawl-delay: {}\n", delay(number).as_secs());
    }
    let page: u64 = path.trim_start_matches('/').parse().unwrap_or_default();
    let links: String =
        (1..=LINKS).map(|n| format!("<li><a href=/{0}>page {0}</a>", page * LINKS + n)).collect();
    format!(
        "<title>Page {page} of host {number}</title><p>What host {number} says on page {page} leads on.<ul>{links}</ul>"
    )
}

fn with<T>(log: &Mutex<Log>, work: impl FnOnce(&mut Log) -> T) -> T {
    work(&mut log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

fn report(log: &Log, hosts: u64, seconds: u64, begun: Instant) {
    let end = begun + Duration::from_secs(seconds);
    let (mut fetched, mut permitted, mut violations, mut late) = (0, 0.0, 0, Vec::new());
    let mut nearest = f64::MAX;
    for (host, visits) in &log.0 {
        let wanted = delay(*host);
        for two in visits.windows(2) {
            let gap = two[0].ended.map(|ended| two[1].began.saturating_duration_since(ended));
            let margin = gap.map_or(-wanted.as_secs_f64(), |gap| gap.as_secs_f64() - wanted.as_secs_f64());
            violations += usize::from(margin < 0.0);
            nearest = nearest.min(margin);
            late.push(margin * 1e3);
        }
        fetched += visits.iter().filter(|visit| visit.began <= end).count();
    }
    for host in 0..hosts {
        let took = Duration::from_millis(RESPONSE_TIMES[(host / 4 % 3) as usize]);
        // The first request immediately, each further one after the response and the delay.
        permitted += 1.0 + (seconds as f64 / (took + delay(host)).as_secs_f64()).floor();
    }
    let mut by_second = vec![0; seconds as usize + 1];
    for visit in log.0.values().flatten() {
        if let Some(count) = by_second.get_mut(visit.began.duration_since(begun).as_secs() as usize) {
            *count += 1;
        }
    }
    println!("requests by second {by_second:?}");
    late.sort_by(f64::total_cmp);
    let at = |share: f64| late.get((late.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    println!("{hosts} hosts, {seconds} s, delays {DELAYS:?} s, response times {RESPONSE_TIMES:?} ms");
    println!("hosts contacted    {:>10}", log.0.len());
    println!("requests           {fetched:>10}");
    println!("permitted          {permitted:>10.0}");
    println!("fetched/permitted  {:>9.1} %", fetched as f64 / permitted * 100.0);
    println!("violations         {violations:>10}   (closest: {:.1} ms above the limit)", nearest * 1e3);
    println!("delay beyond limit {:>7.1} ms median, {:.1} ms at 95 %", at(0.5), at(0.95));
}

async fn crawl(address: &str, hosts: u64, time: Duration) -> Outcome<()> {
    let (ip, port) = address.split_once(':').ok_or("no port")?;
    let dir = tempfile::tempdir()?;
    let mut config = Config::default();
    config.crawl.allow_private = true;
    config.crawl.politeness = PolitenessProfile::Normal;
    config.crawl.run_for = time;
    config.crawl.fetchers = 1_024;
    config.crawl.resolve = vec![format!("*:{port}:{ip}")];
    let seeds = (0..hosts).map(|host| PageUrl::parse(&format!("http://h{host}.example:{port}/")));
    let seeds = seeds.collect::<Result<_, _>>()?;
    let engine = Engine::open(DataDir::at(dir.path()), config, "crawl", false)?;
    let (_stop, stop) = watch::channel(false);
    let summary = engine.run(RunOptions { seeds, keep_going: true, stop }).await?;
    println!(
        "crawl: {} pages, {} failed ({}), {:.0} MB peak, {:.1} s of processor time",
        summary.pages,
        summary.failed,
        summary.last_failure.as_deref().unwrap_or("none"),
        peak_memory()? as f64 / 1e6,
        processor_seconds()?
    );
    Ok(())
}
