//! Counts the queries in the logs of a data directory and prints the most frequent ones.
//!
//! Run it with a small temporary log, or with a data directory that has a `logs` directory:
//!
//! ```text
//! cargo run -p pharos-mining --example count_queries
//! cargo run -p pharos-mining --example count_queries -- data
//! ```
//!
//! The counts are for the operator. Lists for the public come from `LogStatistics`, which leaves out rare queries.

use std::collections::HashMap;
use std::env;
use std::error::Error;

use pharos_core::config::LogConfig;
use pharos_core::{Clock as _, SystemClock};
use pharos_mining::{DayRange, LogAppender, QueryRecord, new_id, read};
use pharos_store::DataDir;
use pharos_text::normalise;

fn main() -> Result<(), Box<dyn Error>> {
    let sample = tempfile::tempdir()?;
    let data = match env::args_os().nth(1) {
        Some(directory) => DataDir::at(directory),
        None => write_sample(DataDir::at(sample.path()))?,
    };

    let mut counts: HashMap<String, u64> = HashMap::new();
    for record in read::<QueryRecord>(&data.logs(), &DayRange::default())? {
        match record {
            // Further result pages belong to a query that has been counted.
            Ok(record) if record.page > 1 => {}
            Ok(record) => *counts.entry(normalise(record.query.trim()).to_string()).or_default() += 1,
            Err(line) => eprintln!("skipped {line}"),
        }
    }

    let total: u64 = counts.values().sum();
    println!("{total} queries, {} of them distinct", counts.len());
    let mut order: Vec<(String, u64)> = counts.into_iter().collect();
    order.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then_with(|| a.cmp(b)));
    for (query, count) in order.iter().take(20) {
        println!("{count:>8}  {query}");
    }
    Ok(())
}

fn write_sample(data: DataDir) -> Result<DataDir, Box<dyn Error>> {
    let mut log = LogAppender::open(&data, &LogConfig::default());
    for (query, page) in [("灯塔", 1), ("Lighthouse", 1), ("lighthouse", 1), ("lighthouse", 2)] {
        let (id, at, query) = (new_id(), SystemClock.now(), query.to_string());
        log.append(QueryRecord { id, at, query, page, ..QueryRecord::default() })?;
    }
    log.finish()?;
    Ok(data)
}
