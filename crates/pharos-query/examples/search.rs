//! Searches the index of an existing data directory and prints the first results.
//!
//! `pharos demo` and `pharos up` create such a directory. The search may run alongside them:
//!
//! ```text
//! cargo run -p pharos-query --example search -- data 'lighthouse -site:example.org'
//! ```

use std::env;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use pharos_core::Config;
use pharos_index::EmbeddedIndex;
use pharos_query::{QueryProcessor, SearchRequest};

const USAGE: &str = "usage: search DATA_DIRECTORY QUERY...";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let data = arguments.next().ok_or(USAGE)?;
    let query = arguments.collect::<Vec<_>>().join(" ");
    if query.is_empty() {
        return Err(USAGE.into());
    }
    let directory = Path::new(&data).join("index");
    if !directory.is_dir() {
        return Err(format!("{} not found: {data} is not a data directory", directory.display()).into());
    }

    let index = Arc::new(EmbeddedIndex::open_reader(&directory)?);
    let search = QueryProcessor::new(index, &Config::default());
    let response = search.run(&SearchRequest { size: 5, explain: true, ..SearchRequest::new(query) })?;

    let about = if response.total_is_exact { "" } else { "about " };
    println!("{}: {about}{} results in {:.1} ms", response.understood, response.total, response.took_ms);
    if response.relaxed {
        println!("no page contains all words; showing partial matches");
    }
    for (rank, hit) in (1..).zip(&response.hits) {
        println!("\n{rank}. {}\n   {}\n   {}", hit.title, hit.url, hit.snippet);
        // The parts of the score, each a feature between 0 and 1 times its weight.
        for part in hit.explanation.iter().flat_map(|explanation| &explanation.parts) {
            println!("   {:<12} {:.3} x {}", part.part, part.value, part.weight);
        }
    }
    Ok(())
}
