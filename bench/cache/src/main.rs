//! A million queries as people ask them of a real index, with a cache of every policy, with ours, and without any.
//!
//! `cargo run --release -p bench-cache -- [--pages N] [--queries N] [--distinct N] [--entries N] [--threads N] [--dir DIR]`
//!
//! N pages (20,000) of a test web, half Chinese, are one history generation, as in `bench-query`; it stays in DIR for the
//! next run. Queries (1,000,000, of 20,000 different ones) are drawn by Zipf's law. FIFO, LRU and decaying LFU hold so many
//! answers (3,000, about as many as ours in its half of `cache.memory`) before a query service that keeps nothing; ours is
//! the query service as it is. Without a cache only a part is asked.

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

/// What is asked for.
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
        let value = arguments.next().ok_or_else(|| format!("{name} wants a value"))?;
        match name.as_str() {
            "--pages" => options.pages = value.parse()?,
            "--queries" => options.queries = value.parse()?,
            "--distinct" => options.distinct = value.parse()?,
            "--entries" => options.entries = value.parse()?,
            "--threads" => options.threads = value.parse()?,
            "--dir" => options.dir = PathBuf::from(value),
            other => return Err(format!("no option is called {other}").into()),
        }
    }
    build::fill(&options.dir, options.pages)?;
    let bench = Bench::open(options)?;
    bench.print_policies()?;
    bench.print_warm()?;
    bench.print_times()
}
