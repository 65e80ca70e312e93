//! The requests of the benchmark.

use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use pharos_testweb::QuerySpec;

use crate::pages;

/// So few that all of them are certainly cached.
const KNOWN: usize = 20;

/// Enough that none is repeated, unless the machine is much faster than the reference machine.
const FRESH: usize = 400_000;

/// Number of query prefixes.
const TYPED: usize = 1_000;

/// Request paths with their queries.
pub struct Questions {
    /// Queries that are cached.
    pub known: Arc<[String]>,
    /// Queries that are not cached.
    pub fresh: Arc<[String]>,
    /// Suggestion requests of a browser while the user types.
    pub typed: Arc<[String]>,
    /// Number of queries of `fresh` already sent.
    asked: usize,
}

impl Questions {
    /// Generates queries for a web of this many pages: words and titles of its pages, in both languages.
    pub fn of(count: usize) -> Self {
        let queries =
            pages::web(count).queries(&QuerySpec { distinct: KNOWN + FRESH, ..QuerySpec::default() });
        let (known, fresh) = queries.texts().split_at(KNOWN.min(queries.texts().len()));
        let search = |text: &String| format!("/search?q={}", encode(text));
        // One to four characters of it.
        let typed = |(place, text): (usize, &String)| {
            let beginning: String = text.chars().take(1 + place % 4).collect();
            format!("/suggest?q={}", encode(&beginning))
        };
        Self {
            known: known.iter().map(search).collect(),
            fresh: fresh.iter().map(search).collect(),
            typed: queries.texts().iter().take(TYPED).enumerate().map(typed).collect(),
            asked: 0,
        }
    }

    /// Returns the next position in `fresh`, so that no query is repeated.
    pub fn begin(&self) -> usize {
        self.asked
    }

    /// Advances the position by this number of queries. Some may still be in flight.
    pub fn took(&mut self, count: usize, connections: usize) {
        self.asked += count + connections;
        if self.asked > self.fresh.len() {
            println!("(all distinct queries have been used: some are cached now)");
            self.asked %= self.fresh.len().max(1);
        }
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
