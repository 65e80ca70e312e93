//! Warm-up of a new generation: runs queries before it serves users.
//!
//! The queries are the frequent ones of the query log or, without a log, the titles of the highest-ranked pages.
//! Verification has read the files once; the warm-up brings the term dictionaries and postings in use into memory.

use std::collections::HashSet;

use pharos_core::{Clock as _, Config, SystemClock};
use pharos_graph::Relations;
use pharos_index::generations::HistoryGeneration;
use pharos_index::{GenerationStore, IndexView, Query};
use pharos_mining::LogStatistics;
use pharos_store::DataDir;
use pharos_text::Analyser;
use tracing::warn;

use crate::EngineError;
use crate::build::history::{BuildProgress, ProgressCheck};

/// Number of warm-up queries.
const QUERIES: usize = 48;
/// Maximum number of words per query.
const WORDS: usize = 8;
/// Results per query whose stored fields are read: one result page.
const RESULTS: usize = 10;

/// Runs warm-up queries on a finished generation and returns their number.
pub(crate) fn warm_up(
    data: &DataDir,
    config: &Config,
    generations: &dyn GenerationStore,
    history: &HistoryGeneration,
    relations: &Relations,
    check: ProgressCheck<'_>,
) -> Result<u64, EngineError> {
    let view = generations.preview(history)?;
    let mut queries = frequent_queries(data, config);
    if queries.is_empty() {
        queries = titles(&*view, relations)?;
    }
    let mut done = 0;
    for text in &queries {
        check(BuildProgress::Warming(done))?;
        let tokens = Analyser::shared().tokens(text);
        let words: Vec<Query> = tokens.into_iter().take(WORDS).map(|token| Query::Word(token.text)).collect();
        for query in [Query::And(words.clone()), Query::Or(words)] {
            let found = view.search(&query, RESULTS)?;
            view.link_figures(&found.candidates)?;
            view.stored(&found.candidates)?;
        }
        done += 1;
    }
    Ok(done)
}

/// Returns the most frequent recent queries of the query log.
fn frequent_queries(data: &DataDir, config: &Config) -> Vec<String> {
    match LogStatistics::open(data, &config.hot, SystemClock.now()) {
        Ok(memory) => memory.frequent(QUERIES),
        Err(error) => {
            warn!(%error, "cannot read the query log");
            Vec::new()
        }
    }
}

/// Returns the titles of the highest-ranked pages.
fn titles(view: &dyn IndexView, relations: &Relations) -> Result<Vec<String>, EngineError> {
    let ranks = relations.page_ranks();
    let mut pages: Vec<u32> = (0..ranks.len() as u32).filter(|page| relations.is_fetched(*page)).collect();
    // Some pages have neither text nor title.
    let enough = (4 * QUERIES).min(pages.len());
    let by_rank = |a: &u32, b: &u32| ranks[*b as usize].total_cmp(&ranks[*a as usize]).then(a.cmp(b));
    if enough < pages.len() {
        pages.select_nth_unstable_by(enough, by_rank);
        pages.truncate(enough);
    }
    pages.sort_by(by_rank);
    let mut titles = Vec::new();
    let mut seen = HashSet::new();
    for page in pages {
        if titles.len() == QUERIES {
            break;
        }
        if let Some(stored) = view.page(relations.id(page))?
            && !stored.fields.title.trim().is_empty()
            && seen.insert(stored.fields.title.clone())
        {
            titles.push(stored.fields.title);
        }
    }
    Ok(titles)
}
