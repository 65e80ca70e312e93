//! Result caches on a realistic query stream: each replacement policy, the cache of Pharos, and no cache.
//!
//! `cargo run --release -p bench-cache -- [--pages N] [--queries N] [--distinct N] [--entries N] [--threads N] [--dir
//! DIR]`
//!
//! N pages (20,000) of a test web, half Chinese, form one history generation, as in `bench-query`; it is kept in DIR
//! for the next run. Queries (1,000,000, of 20,000 distinct ones) follow Zipf's law. FIFO, LRU and decaying LFU hold N
//! entries (3,000, about as many as Pharos in its half of `cache.memory`) in front of a query service without a cache.
//! Pharos is measured as shipped. Without a cache only a part of the queries is run.

#[path = "../../query/src/pages.rs"]
mod pages;

mod build;
mod front;
mod tables;

use std::env;
use std::error::Error;
use std::path::PathBuf;

use tables::Bench;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Command-line options.
pub struct Options {
    pages: usize,
    queries: usize,
    distinct: usize,
    entries: usize,
    threads: usize,
    dir: PathBuf,
}

fn main() -> Outcome<()> {
    let mut options = Options {
        pages: 20_000,
        queries: 1_000_000,
        distinct: 20_000,
        entries: 3_000,
        threads: 2,
        dir: env::temp_dir().join("pharos-bench-cache"),
    };
    let mut arguments = env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--pages" => options.pages = value.parse()?,
            "--queries" => options.queries = value.parse()?,
            "--distinct" => options.distinct = value.parse()?,
            "--entries" => options.entries = value.parse()?,
            "--threads" => options.threads = value.parse()?,
            "--dir" => options.dir = PathBuf::from(value),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    build::fill(&options.dir, options.pages)?;
    let bench = Bench::open(options)?;
    bench.print_policies()?;
    bench.print_warm()?;
    bench.print_times()
}
