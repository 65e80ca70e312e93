//! Warming: a new generation answers some queries before people ask it any.
//!
//! What people asked lately is asked first, from the query log; without one, what the pages that the web values most are
//! called. Verifying has read the files once; this brings the dictionaries and lists that are used first to the front.

use std::collections::HashSet;

use pharos_core::{Clock as _, Config, SystemClock};
use pharos_graph::Relations;
use pharos_index::{Generations, History, Query, Snapshot};
use pharos_mining::Memory;
use pharos_store::DataDir;
use pharos_text::Analyser;
use tracing::warn;

use crate::EngineError;
use crate::build::{Check, Progress};

/// Queries that are asked.
const QUERIES: usize = 48;
/// Words of a query that are used.
const WORDS: usize = 8;
/// Results whose texts are read: a page of them.
const RESULTS: usize = 10;

/// Asks a finished generation what people ask. Gives how many queries that were.
pub(crate) fn warm(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
    history: History,
    relations: &Relations,
    check: Check<'_>,
) -> Result<u64, EngineError> {
    let snapshot = generations.preview(history)?;
    let mut queries = frequent_queries(data, config);
    if queries.is_empty() {
        queries = titles(&*snapshot, relations)?;
    }
    let mut asked = 0;
    for text in &queries {
        check(Progress::Warming(asked))?;
        let tokens = Analyser::shared().tokens(text);
        let words: Vec<Query> = tokens.into_iter().take(WORDS).map(|token| Query::Word(token.text)).collect();
        for query in [Query::And(words.clone()), Query::Or(words)] {
            let found = snapshot.search(&query, RESULTS)?;
            snapshot.figures(&found.candidates)?;
            snapshot.stored(&found.candidates)?;
        }
        asked += 1;
    }
    Ok(asked)
}

/// What was asked often lately, by the query log.
fn frequent_queries(data: &DataDir, config: &Config) -> Vec<String> {
    match Memory::open(data, config, SystemClock.now()) {
        Ok(memory) => memory.frequent(QUERIES),
        Err(error) => {
            warn!(%error, "the query log cannot be read");
            Vec::new()
        }
    }
}

/// What the pages are called that rank highest.
fn titles(snapshot: &dyn Snapshot, relations: &Relations) -> Result<Vec<String>, EngineError> {
    let ranks = relations.page_ranks();
    let mut pages: Vec<u32> = (0..ranks.len() as u32).filter(|page| relations.is_fetched(*page)).collect();
    // Some have no text, and no title.
    let enough = (4 * QUERIES).min(pages.len());
    let by_rank = |a: &u32, b: &u32| ranks[*b as usize].total_cmp(&ranks[*a as usize]).then(a.cmp(b));
    if enough < pages.len() {
        pages.select_nth_unstable_by(enough, by_rank);
        pages.truncate(enough);
    }
    pages.sort_by(by_rank);
    let mut titles = Vec::new();
    let mut known = HashSet::new();
    for page in pages {
        if titles.len() == QUERIES {
            break;
        }
        if let Some(stored) = snapshot.page(relations.id(page))?
            && !stored.card.title.trim().is_empty()
            && known.insert(stored.card.title.clone())
        {
            titles.push(stored.card.title);
        }
    }
    Ok(titles)
}
