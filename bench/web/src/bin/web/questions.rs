//! What is asked.

use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use pharos_testweb::QuerySpec;

use crate::pages;

/// So few that all of them are surely known.
const KNOWN: usize = 20;

/// So many that none is asked twice, as long as the machine is not much faster than ours.
const FRESH: usize = 400_000;

/// Beginnings of queries.
const TYPED: usize = 1_000;

/// Paths with their queries.
pub struct Questions {
    /// Asked before.
    pub known: Arc<[String]>,
    /// Never asked before.
    pub fresh: Arc<[String]>,
    /// What browsers ask while somebody types.
    pub typed: Arc<[String]>,
    /// The place behind the last of `fresh` that was asked.
    asked: usize,
}

impl Questions {
    /// As people ask a web of so many pages: words and titles of its pages, in both languages.
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

    /// Where to begin in `fresh`, so that nothing comes again.
    pub fn begin(&self) -> usize {
        self.asked
    }

    /// So many more of them were asked. Some may be under way still.
    pub fn took(&mut self, count: usize, connections: usize) {
        self.asked += count + connections;
        if self.asked > self.fresh.len() {
            println!("(all different queries have been asked: some are known by now)");
            self.asked %= self.fresh.len().max(1);
        }
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
