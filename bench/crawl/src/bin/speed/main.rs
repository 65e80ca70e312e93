//! Crawl speed: one test web on loopback, crawled in turn by Pharos, by `spider` and by bare clients that do less and
//! less, which give the upper bound on this machine.
//!
//! `cargo run --release -p bench-crawl --bin speed -- [--rounds N] [--pages N] [--gzip] [CONTESTANT…]`
//!
//! Every contestant is a separate process (this program again), so that its memory and processor time are its own. The
//! server runs in this process and takes its share of the cores from all alike. Rounds are interleaved, so that
//! background load is shared. `--gzip` compresses responses.

mod bare;
mod ours;
mod peer;

use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Instant;

use bench_crawl::{median, peak_memory, processor_seconds};
use pharos_core::config::LibraryFormat;
use pharos_testweb::{ServeOptions, Server, Web, WebSpec};
use serde::{Deserialize, Serialize};

/// The allocator of the `pharos` binary, for every contestant.
#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Enough hosts to keep two cores busy with one request per host.
const HOSTS: usize = 32;
/// Gives pages of about 33 KB on average, with lists and images.
const MEDIAN_WORDS: f64 = 6_500.0;

/// Contestants: name, work, and the contestant they are compared with.
const CONTESTANTS: &[(&str, &str, Option<&str>)] = &[
    ("download", "(a) bare client: fixed list, nothing stored", None),
    ("links", "(b) with links, and gzip in memory", None),
    ("clean", "(c) with the complete page object", None),
    ("spider", "spider: robots, links, nothing stored", None),
    ("crawl", "pharos crawl: robots, library, catalog", Some("links")),
    ("crawl-zstd", "pharos crawl, library in zstd", Some("links")),
    ("up", "pharos up: crawl and index", Some("clean")),
];

/// The crawl task of a contestant.
#[derive(Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) server: SocketAddr,
    /// Home pages of all hosts.
    pub(crate) seeds: Vec<String>,
    /// Every page that a crawler may store.
    pub(crate) pages: Vec<String>,
}

/// Resources used by a contestant.
#[derive(Serialize, Deserialize)]
struct Took {
    seconds: f64,
    processor_seconds: f64,
    peak_memory: u64,
}

/// One run, as measured by the server and by the contestant.
struct Run {
    pages: f64,
    bytes: f64,
    took: Took,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match arguments.first().map(String::as_str) {
        Some("--contestant") => {
            let task: Task = serde_json::from_reader(std::io::stdin().lock())?;
            let started = Instant::now();
            runtime.block_on(take_part(arguments.get(1).map_or("", String::as_str), task))?;
            let seconds = started.elapsed().as_secs_f64();
            let (processor_seconds, peak_memory) = (processor_seconds()?, peak_memory()?);
            println!("{}", serde_json::to_string(&Took { seconds, processor_seconds, peak_memory })?);
            Ok(())
        }
        _ => {
            let contest = Contest::from_arguments(&arguments)?;
            let server = runtime.block_on(contest.serve())?;
            contest.hold(&server)
        }
    }
}

async fn take_part(contestant: &str, task: Task) -> Outcome<()> {
    match contestant {
        "download" => bare::crawl(task, bare::Work::Nothing).await,
        "links" => bare::crawl(task, bare::Work::LinksAndGzip).await,
        "clean" => bare::crawl(task, bare::Work::CleaningAndGzip).await,
        "spider" => peer::crawl(task).await,
        "crawl" => ours::crawl(task, false, LibraryFormat::Gzip).await,
        "crawl-zstd" => ours::crawl(task, false, LibraryFormat::Zstd).await,
        "up" => ours::crawl(task, true, LibraryFormat::Gzip).await,
        other => Err(format!("no contestant is called {other}").into()),
    }
}

struct Contest {
    rounds: usize,
    pages: usize,
    gzip: bool,
    contestants: Vec<(&'static str, &'static str, Option<&'static str>)>,
}

impl Contest {
    fn from_arguments(arguments: &[String]) -> Outcome<Self> {
        let mut contest = Contest { rounds: 5, pages: 8_000, gzip: false, contestants: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut number = || {
                arguments
                    .next()
                    .ok_or("a number is missing")?
                    .parse::<usize>()
                    .map_err(Box::<dyn Error + Send + Sync>::from)
            };
            match argument.as_str() {
                "--rounds" => contest.rounds = number()?,
                "--pages" => contest.pages = number()?,
                "--gzip" => contest.gzip = true,
                name => {
                    let found = CONTESTANTS.iter().find(|(known, ..)| *known == name);
                    contest
                        .contestants
                        .push(*found.ok_or_else(|| format!("no contestant is called {name}"))?);
                }
            }
        }
        if contest.contestants.is_empty() {
            contest.contestants = CONTESTANTS.to_vec();
        }
        Ok(contest)
    }

    async fn serve(&self) -> Outcome<Server> {
        let spec = WebSpec {
            seed: 34,
            hosts: HOSTS,
            pages: self.pages,
            // Some peers cannot be given the address of a name.
            addresses_as_names: true,
            median_words: MEDIAN_WORDS,
            length_sigma: 0.3,
            ..WebSpec::default()
        };
        let cache_bytes = self.pages * (100 << 10);
        let options =
            ServeOptions { own_addresses: true, cache_bytes, gzip: self.gzip, ..ServeOptions::default() };
        let server = Server::start(Web::generate(&spec), options).await?;
        server.warm();
        Ok(server)
    }

    fn hold(&self, server: &Server) -> Outcome<()> {
        let pages: Vec<String> = server.truth().stored().map(|page| page.url.clone()).collect();
        let known = pages.len();
        let task = serde_json::to_string(&Task { server: server.address(), seeds: server.seeds(), pages })?;
        let mut runs: Vec<Vec<Run>> = self.contestants.iter().map(|_| Vec::new()).collect();
        for round in 0..self.rounds {
            for (contestant, runs) in self.contestants.iter().zip(&mut runs) {
                let run = run(contestant.0, &task, server)?;
                eprintln!(
                    "round {}: {:<10} {:>8.0} pages/s, {:>6.0} µs of processor time per page, {} pages",
                    round + 1,
                    contestant.0,
                    run.pages / run.took.seconds,
                    run.took.processor_seconds / run.pages * 1e6,
                    run.pages
                );
                runs.push(run);
            }
        }
        let wire = if self.gzip { "gzip on the wire" } else { "plain on the wire" };
        println!("{known} pages on {HOSTS} hosts, {wire}, median of {} interleaved rounds", self.rounds);
        self.print(&runs);
        Ok(())
    }

    fn print(&self, runs: &[Vec<Run>]) {
        let of = |name: &str, what: fn(&Run) -> f64| {
            let place = self.contestants.iter().position(|(known, ..)| *known == name)?;
            Some(median(runs[place].iter().map(what).collect()))
        };
        let pace = |run: &Run| run.pages / run.took.seconds;
        let cost = |run: &Run| run.took.processor_seconds / run.pages * 1e6;
        println!(
            "{:<46} {:>8} {:>7} {:>9} {:>9} {:>9} {:>9}",
            "", "pages/s", "MB/s", "µs cpu/p", "of speed", "of cost", "peak MB"
        );
        for (name, what, ceiling) in &self.contestants {
            let share =
                |value: Option<f64>| value.map_or(String::new(), |share| format!("{:.0} %", share * 100.0));
            let ceiling = ceiling.unwrap_or(name);
            let (Some(pages), Some(cpu)) = (of(name, pace), of(name, cost)) else { continue };
            let measured = ceiling != *name;
            println!(
                "{what:<46} {pages:>8.0} {:>7.1} {cpu:>9.0} {:>9} {:>9} {:>9.0}",
                of(name, |run| run.bytes / run.took.seconds / 1e6).unwrap_or_default(),
                share(of(ceiling, pace).filter(|_| measured).map(|most| pages / most)),
                share(of(ceiling, cost).filter(|_| measured).map(|least| least / cpu)),
                of(name, |run| run.took.peak_memory as f64 / 1e6).unwrap_or_default(),
            );
        }
        if let (Some(ours), Some(theirs)) = (of("crawl", pace), of("spider", pace)) {
            println!("crawl / spider: {:.2}", ours / theirs);
        }
    }
}

fn run(contestant: &str, task: &str, server: &Server) -> Outcome<Run> {
    server.clear_log();
    let before = server.counters();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--contestant", contestant])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("stdin is not piped")?.write_all(task.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{contestant} failed: {}", output.status).into());
    }
    let last = String::from_utf8(output.stdout)?.lines().last().map(str::to_string).unwrap_or_default();
    let after = server.counters();
    Ok(Run {
        pages: (after.ok - before.ok) as f64,
        bytes: (after.body_bytes - before.body_bytes) as f64,
        took: serde_json::from_str(&last)?,
    })
}
