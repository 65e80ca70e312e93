//! Joins the clicks of a log with the pages of the index: in-degree, copies and depth of clicked and unclicked pages, and
//! how frequent the terms of queries are.

use std::collections::HashMap;

use pharos_core::{PageId, PageUrl};
use pharos_graph::relations::newest_folder;
use pharos_index::IndexView;
use pharos_mining::behaviour::visited_pages::PageProperties;
use pharos_mining::behaviour::{ReportInputs, TermShare};
use pharos_mining::import::UtcOffset;
use pharos_mining::search_log::SearchLog;
use pharos_store::StoreError;

use crate::build::link_analysis::open_relations;
use crate::{EngineError, Stores};

/// Maximum number of distinct terms whose frequency is looked up.
const MAX_TERMS: usize = 100_000;

/// Returns the inputs of a report about the logs of a data directory. Without link analysis or index, the statistics that
/// need them are reported as missing.
///
/// # Errors
/// Fails if the link analysis is damaged.
pub fn report_inputs(
    stores: &Stores,
    log: &SearchLog,
    zone: UtcOffset,
) -> Result<ReportInputs<'static>, EngineError> {
    let graph = stores.data().graph();
    let has_relations = newest_folder(&graph).map_err(StoreError::io("read", &graph))?.is_some();
    let pages =
        if has_relations && !log.clicks.is_empty() { Some(page_properties(stores, log)?) } else { None };
    let view =
        stores.index().and_then(|index| index.view()).ok().filter(|view| view.pages().is_ok_and(|n| n > 0));
    let term_share = view.map(|view| {
        let mut shares = HashMap::new();
        let share: TermShare<'static> = Box::new(move |term| term_share(&*view, &mut shares, term));
        share
    });
    Ok(ReportInputs { zone: Some(zone), pages, term_share })
}

/// Returns the properties and clicks of all fetched pages of the last link analysis.
fn page_properties(stores: &Stores, log: &SearchLog) -> Result<Vec<PageProperties>, EngineError> {
    let relations = open_relations(stores)?;
    let mut by_url = vec![0_u64; log.urls.len()];
    log.clicks.iter().for_each(|click| by_url[click.url as usize] += 1);
    let mut clicks: HashMap<PageId, u64> = HashMap::new();
    for (url, count) in (0..).zip(by_url).filter(|(_, count)| *count > 0) {
        if let Ok(url) = PageUrl::parse(log.urls.text(url)) {
            *clicks.entry(url.id()).or_default() += count;
        }
    }
    let mut pages = Vec::new();
    for page in (0..relations.graph().pages())
        .filter(|page| relations.is_fetched(*page) && !relations.is_hidden(*page))
    {
        let depth = PageUrl::parse(&relations.url(page)?).map_or(0, |url| url.directory_depth());
        pages.push(PageProperties {
            in_degree: relations.counts(page).raw_link_hits,
            copies: relations.mirror_degree(page).saturating_add(1),
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            clicks: clicks.get(&relations.id(page)).copied().unwrap_or(0),
        });
    }
    Ok(pages)
}

/// Returns the share of documents that contain a term.
fn term_share(view: &dyn IndexView, shares: &mut HashMap<String, f64>, term: &str) -> Option<f64> {
    if let Some(share) = shares.get(term) {
        return Some(*share);
    }
    if shares.len() >= MAX_TERMS {
        return None;
    }
    let frequencies = view.frequencies(&[term.to_string()]).ok()?;
    let share = *frequencies.with_term.first()? as f64 / frequencies.pages.max(1) as f64;
    shares.insert(term.to_string(), share);
    Some(share)
}
