//! The query service over HTTP: the real binary with pages of a test web, on loopback, with up to 10,000 connections.
//!
//! `cargo run --release -p bench-web -- [--pages N] [--seconds N] [--connections N,N,…] [--binary FILE] [--debug]
//! [--only PART,…] [--dir DIR]`
//!
//! N pages (20,000) of a test web, half Chinese, form one history generation, as in `bench-cache`; they are kept in DIR
//! for the next run. `pharos serve` (FILE, or the release build of this checkout; `--debug`: the debug build) serves
//! them, and these parts run for N seconds (10) each with 100, 1,000 and 10,000 connections:
//!
//! * `load`: wrk (Debian: `apt-get install wrk`) requests cached and new result pages, the style sheet, the home page
//!   and suggestions; for comparison nginx (`apt-get install nginx`) serves one of these result pages as a file, which
//!   gives the cost of HTTP alone.
//! * `spread`: clients with individual counters, which wrk does not have: fairness between connections.
//! * `overload`: most connections send new queries as fast as they get answers, while one sends cached queries.
//! * `paint`: first contentful paint in Chromium (`apt-get install chromium chromium-driver`).
//! * `wire`: bytes of pages on the wire, and of a complete first visit.
//!
//! The server runs with the limits it finds or sets itself, the clients with the maximum. Client and server share the
//! machine: on few cores the client's share is not small.

#[path = "../../../../cache/src/build.rs"]
mod build;
#[path = "../../../../query/src/pages.rs"]
mod pages;

mod load;
mod overload;
mod paint;
mod peer;
mod questions;
mod server;
mod spread;
mod wire;
mod wrk;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use bench_web::process;
use tokio::runtime::{Builder, Runtime};

use questions::Questions;
use server::Server;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = bench_web::Outcome<T>;

const PARTS: [&str; 5] = ["load", "spread", "overload", "paint", "wire"];

/// Files besides connections: index, logs, standard streams.
const OTHER_FILES: usize = 200;

/// Command-line options.
struct Options {
    pages: usize,
    duration: Duration,
    connections: Vec<usize>,
    binary: PathBuf,
    only: Vec<String>,
    dir: PathBuf,
}

/// Shared state of all parts.
struct Bench {
    server: Server,
    questions: Questions,
    duration: Duration,
    connections: Vec<usize>,
    runtime: Runtime,
}

fn main() -> Outcome<()> {
    let options = options()?;
    build::fill(&options.dir, options.pages)?;
    let questions = Questions::of(options.pages);
    // Started before this process raises its file limit, so that the server has its normal limits.
    let server = Server::start(&options.binary, &options.dir)?;
    let limit = process::raise_open_files();
    println!(
        "{} pages, {} distinct queries, {} s each; limit of {}: {} open files\n",
        options.pages,
        questions.fresh.len(),
        options.duration.as_secs(),
        options.binary.file_name().unwrap_or_default().display(),
        process::open_files_limit(server.process()),
    );
    let (connections, too_many): (Vec<_>, Vec<_>) =
        options.connections.iter().partition(|count| **count + OTHER_FILES <= limit);
    for count in too_many {
        println!("{count} connections are skipped: the limit is {limit} open files (ulimit -Hn)\n");
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut bench = Bench { server, questions, duration: options.duration, connections, runtime };
    bench.warm()?;
    for part in
        PARTS.iter().filter(|part| options.only.is_empty() || options.only.iter().any(|only| only == *part))
    {
        match *part {
            "load" => load::print(&mut bench)?,
            "spread" => spread::print(&mut bench)?,
            "overload" => overload::print(&mut bench)?,
            "paint" => paint::print(&bench)?,
            _ => wire::print(&bench)?,
        }
        println!();
    }
    Ok(())
}

impl Bench {
    /// Runs the cached queries often enough that they stay cached despite the other queries.
    fn warm(&self) -> Outcome<()> {
        for path in std::iter::repeat_n(&self.questions.known, 5).flat_map(|known| known.iter()) {
            let (answer, _) = wire::fetch(self.server.address, path, "gzip, deflate, br")?;
            if answer.status != 200 {
                return Err(format!("{path} returned {}", answer.status).into());
            }
        }
        Ok(())
    }
}

fn options() -> Outcome<Options> {
    let built = |profile: &str| {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target").join(profile).join("pharos")
    };
    let mut options = Options {
        pages: 20_000,
        duration: Duration::from_secs(10),
        connections: vec![100, 1_000, 10_000],
        binary: built("release"),
        only: Vec::new(),
        dir: env::temp_dir().join("pharos-bench-web"),
    };
    let mut arguments = env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--debug" {
            options.binary = built("debug");
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--pages" => options.pages = value.parse()?,
            "--seconds" => options.duration = Duration::from_secs(value.parse::<u64>()?.clamp(1, 600)),
            "--connections" => {
                options.connections = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            "--binary" => options.binary = PathBuf::from(value),
            "--only" => options.only = value.split(',').map(String::from).collect(),
            "--dir" => options.dir = PathBuf::from(value),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if let Some(unknown) = options.only.iter().find(|only| !PARTS.contains(&only.as_str())) {
        return Err(format!("no part is called {unknown}: there are {}", PARTS.join(", ")).into());
    }
    Ok(options)
}
