//! A complete query, from the typed text to ten results with snippets, compared with raw tantivy on the same pages and
//! queries in the same run.
//!
//! `cargo run --release -p bench-query -- [--pages N] [--dir DIR] [--candidates N] [--build-only | --profile]`
//!
//! N pages (20,000) of a test web, half Chinese, with links, ranks, anchors and groups, are indexed as one history
//! generation, and by raw tantivy: title and body with the terms of the Pharos analyser, stored. Both are kept in DIR
//! (by default in the system's temporary directory) for the next run with the same N. `--profile` runs queries for half
//! a minute without output, for a profiler; `--candidates` sets the number of candidates that are ranked.
//!
//! The tables show times by kind of query, by stage, and the throughput of several threads. A time is the best of
//! three, each with a new query service, so that no result is cached; files are in the page cache. Tantivy returns the
//! top ten by BM25 and reads their titles and texts; if no page has all words, it searches for any of them.

mod build;
mod pages;
mod queries;
mod raw;
mod stages;
mod tables;
mod times;

use std::env;
use std::error::Error;
use std::path::PathBuf;

use build::Paths;
use pharos_core::Config;
use tables::Bench;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const SEED: u64 = 3;

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let mut config = Config::default();
    let (mut count, mut dir, mut what) = (20_000, env::temp_dir().join("pharos-bench-query"), String::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--pages" => count = arguments.next().ok_or("--pages needs a number")?.parse()?,
            "--dir" => dir = PathBuf::from(arguments.next().ok_or("--dir needs a folder")?),
            "--candidates" => {
                config.query.candidates = arguments.next().ok_or("--candidates needs a number")?.parse()?;
            }
            "--build-only" | "--profile" => what = argument,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    let paths = Paths::at(&dir);
    paths.fill(count)?;
    if what == "--build-only" {
        return Ok(());
    }
    let queries = queries::generate(&paths.sample()?, SEED);
    let bench = Bench::open(&paths, queries, config)?;
    if what == "--profile" {
        return bench.profile();
    }
    bench.print_mix()?;
    bench.print_times()?;
    bench.print_stages()?;
    bench.print_throughput()
}
