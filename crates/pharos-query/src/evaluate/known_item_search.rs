//! Known-item search: the rank of the page that a query was made from, and the cause if the first page of results lacks
//! it.

use pharos_core::PageUrl;
use serde::Serialize;

use crate::request::{ResultOptions, SearchRequest};
use crate::{QueryError, SearchResponse, SearchService};

/// Number of results that count, as on the first result page.
pub const DEPTH: usize = 10;

/// Why a page is not among the first results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissCause {
    /// The page is not in the index.
    NotIndexed,
    /// The page is among the first results of the correction that the result page offers.
    Offered,
    /// The query does not match the page.
    NotMatched,
    /// The page matches, but [`DEPTH`] other pages have higher scores.
    RankedLow,
    /// Another page represents it as a near-duplicate.
    Folded,
    /// Other results of its site take the places of the site.
    Grouped,
}

/// The outcome of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ItemOutcome {
    /// Rank of the page, from 1, if it is among the first [`DEPTH`] results.
    pub rank: Option<usize>,
    /// Why it is not.
    pub cause: Option<MissCause>,
}

/// Searches for a known page.
pub fn find_known_item(
    search: &SearchService,
    query: &str,
    page: &PageUrl,
) -> Result<ItemOutcome, QueryError> {
    let run_text = |text: &str, size: usize, all: bool| {
        let options = ResultOptions { all, ..ResultOptions::default() };
        search.run(&SearchRequest { size, options, ..SearchRequest::new(text) })
    };
    let run = |size: usize, all: bool| run_text(query, size, all);
    let rank_in = |response: &SearchResponse| {
        response.hits.iter().position(|hit| hit.url == page.as_str()).map(|at| at + 1)
    };
    let rank_within = |size, all| Ok::<_, QueryError>(rank_in(&run(size, all)?));
    let response = run(DEPTH, false)?;
    let rank = rank_in(&response);
    if rank.is_some() {
        return Ok(ItemOutcome { rank, cause: None });
    }
    let offered = response.corrected.as_deref().filter(|_| !response.is_corrected);
    if let Some(offered) = offered
        && rank_in(&run_text(offered, DEPTH, false)?).is_some()
    {
        return Ok(ItemOutcome { rank: None, cause: Some(MissCause::Offered) });
    }
    let processor = search.processor();
    let cause = if processor.page(page.id())?.is_none() {
        MissCause::NotIndexed
    } else if rank_within(DEPTH, true)?.is_some() {
        // Without folding and grouping it is among the first results.
        let is_listed = rank_within(processor.max_results(), false)?.is_some();
        if is_listed { MissCause::Grouped } else { MissCause::Folded }
    } else if processor.matching(executed_query(&response))?.contains(&page.id()) {
        MissCause::RankedLow
    } else {
        MissCause::NotMatched
    };
    Ok(ItemOutcome { rank: None, cause: Some(cause) })
}

/// Returns the query whose results are shown: the typed one or its correction.
fn executed_query(response: &SearchResponse) -> &str {
    response.corrected.as_deref().filter(|_| response.is_corrected).unwrap_or(&response.query)
}
