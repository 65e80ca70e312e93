//! The whole way of a query, from what is typed to ten results with snippets, beside raw tantivy on the same pages and
//! queries in the same run.
//!
//! `cargo run --release -p bench-query -- [--pages N] [--dir DIR] [--candidates N] [--build-only | --profile]`
//!
//! N pages (20,000) of a test web, half Chinese, with their links, ranks, anchors and groups, are indexed as one history
//! generation, and by tantivy alone: title and body with the terms of our analyser, stored. Both stay in DIR (a folder of the
//! system's temporary directory) for the next run with the same N. `--profile` answers queries for half a minute and
//! prints nothing, for a profiler; `--candidates` looks at so many pages closely instead of the default.
//!
//! Printed are times by kind of query, where they go, and how many queries a second some threads answer. A time is the best
//! of three, each with a query service of its own, so that no result is known from before; files are in memory. Tantivy
//! gives the best ten by BM25 and reads their titles and texts; where no page has all words, it is asked for some.

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

use build::Places;
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
            "--pages" => count = arguments.next().ok_or("--pages wants a number")?.parse()?,
            "--dir" => dir = PathBuf::from(arguments.next().ok_or("--dir wants a folder")?),
            "--candidates" => {
                config.query.candidates = arguments.next().ok_or("--candidates wants a number")?.parse()?;
            }
            "--build-only" | "--profile" => what = argument,
            other => return Err(format!("no option is called {other}").into()),
        }
    }
    let places = Places::at(&dir);
    places.fill(count)?;
    if what == "--build-only" {
        return Ok(());
    }
    let queries = queries::make(&places.sample()?, SEED);
    let bench = Bench::open(&places, queries, config)?;
    if what == "--profile" {
        return bench.profile();
    }
    bench.print_mix()?;
    bench.print_times()?;
    bench.print_stages()?;
    bench.print_throughput()
}
