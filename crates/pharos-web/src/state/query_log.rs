//! Writes queries and impressions to the query log.

use std::collections::BTreeMap;
use std::time::Instant;

use pharos_mining::log::records::{CacheState, QuerySource, ShownResult};
use pharos_mining::visits::classify_device;
use pharos_mining::{ImpressionRecord, QueryRecord, new_id};
use pharos_query::{Age, CacheUse, Filters, SearchRequest, SearchResponse};

use crate::server::visitor::Visitor;
use crate::state::AppState;
use crate::state::impressions::Impression;
use crate::state::visit_sessions::SessionStart;

/// Product name of queries on the result page.
pub(crate) const PAGE_PRODUCT: &str = "web";

/// Logs a query and its results. Returns the id of the impression, which the links carry; empty if logging is off.
pub(crate) fn log_query(
    app: &AppState,
    visitor: &Visitor,
    product: &str,
    request: &SearchRequest,
    answer: &SearchResponse,
) -> String {
    if !app.config().log.enabled {
        return String::new();
    }
    let (learning, id) = (app.learning(), new_id());
    let (visit, start) = app.record_visit(visitor);
    let at = learning.clock.now();
    let size = if request.size == 0 { app.config().query.page_size } else { request.size };
    let first = request.page.max(1).saturating_sub(1).saturating_mul(size).saturating_add(1);
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    let urls: Vec<String> = answer.hits.iter().map(|hit| hit.url.clone()).collect();
    let results =
        (first..=u32::MAX).zip(&urls).map(|(rank, url)| ShownResult { rank, url: url.clone() }).collect();
    learning.log.query(QueryRecord {
        id: id.clone(),
        at,
        visit: visit.clone(),
        referrer: start.referrer,
        entry: start.entry,
        device: classify_device(&visitor.client.agent),
        query: answer.query.clone(),
        source: source(visitor),
        product: product.to_string(),
        page: u32::try_from(request.page.max(1)).unwrap_or(u32::MAX),
        filters: filters(request),
        sort: if request.newest_first { "date".into() } else { String::new() },
        total: Some(answer.total),
        cache: Some(match answer.cache {
            CacheUse::Hit => CacheState::Hit,
            CacheUse::Partly => CacheState::Partly,
            CacheUse::Miss => CacheState::Miss,
        }),
        took_ms: Some(answer.took_ms),
        generation: answer.generation.clone(),
    });
    learning.log.impression(ImpressionRecord {
        id: id.clone(),
        at,
        query: answer.query.clone(),
        results,
        related: answer.suggestions.clone(),
        corrected: answer.corrected.clone(),
        ..ImpressionRecord::default()
    });
    // Programs do not click, and must not evict the impressions of people.
    if product == PAGE_PRODUCT {
        let (query, related, corrected) =
            (answer.query.clone(), answer.suggestions.clone(), answer.corrected.clone());
        let shown = Impression { query, visit, first, urls, related, corrected };
        learning.impressions.insert(&id, shown);
    }
    id
}

impl AppState {
    /// Returns the id of the visit and how it started, and extends it by this request.
    pub(crate) fn record_visit(&self, visitor: &Visitor) -> (String, SessionStart) {
        if !self.config().log.enabled {
            return Default::default();
        }
        let client = &visitor.client;
        let address = match &client.forwarded {
            Some(forwarded) if self.config().web.behind_proxy => forwarded,
            _ => &client.address,
        };
        let visit = self.learning().visits.name(address, &client.agent);
        let referrer = if client.is_from_here { String::new() } else { client.referrer.clone() };
        let entry = SessionStart { referrer, entry: visitor.path().to_string() };
        let start = self.learning().sessions.touch(&visit, entry, Instant::now());
        (visit, start)
    }
}

/// Determines the origin of a query from the parameter `from` of links on result pages, or from the referrer.
fn source(visitor: &Visitor) -> QuerySource {
    match visitor.param("from") {
        Some("suggested") => QuerySource::Suggested,
        Some("related") => QuerySource::Related,
        Some("corrected") => QuerySource::Corrected,
        Some("hot") => QuerySource::Hot,
        _ if visitor.client.referrer.is_empty() || visitor.client.is_from_here => QuerySource::Typed,
        _ => QuerySource::Link,
    }
}

fn filters(request: &SearchRequest) -> BTreeMap<String, String> {
    let Filters { site, lang, format, category, time } = &request.filters;
    let switch = |is_on: bool| is_on.then_some("1");
    let chosen = [
        ("all", switch(request.all)),
        ("any", switch(request.any_word)),
        ("site", site.as_deref()),
        ("lang", lang.as_deref()),
        ("type", format.as_deref()),
        ("category", category.as_deref()),
        ("time", time.map(Age::name)),
    ];
    chosen.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string()))).collect()
}
