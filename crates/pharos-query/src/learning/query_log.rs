//! Logging of queries, impressions and clicks.

use std::collections::BTreeMap;
use std::time::Instant;

use pharos_mining::log::records::{ClickKind, ImpressionKind, QuerySource, ShownResult};
use pharos_mining::visits::classify_device;
use pharos_mining::{ClickRecord, ImpressionRecord, QueryRecord, new_id};

use super::impressions::{ClickedLink, Impression, VerifiedClick};
use super::visit_sessions::SessionStart;
use crate::language::filters::{Age, Filters};
use crate::request::SearchRequest;
use crate::response::SearchResponse;
use crate::service::SearchService;

/// Product name of queries on the result page.
pub const PAGE_PRODUCT: &str = "web";

/// Maximum dwell time in milliseconds.
const MAX_DWELL: u64 = 24 * 3600 * 1000;

/// The client of a request. Its address and user agent are never logged; a visit is identified by a keyed hash.
#[derive(Clone, Copy, Debug)]
pub struct RequestClient<'a> {
    /// IP address.
    pub address: &'a str,
    /// User agent.
    pub agent: &'a str,
    /// Referring URL; empty if it is a page of this server.
    pub referrer: &'a str,
    /// Path of the request.
    pub path: &'a str,
}

/// A click as reported by a browser.
#[derive(Clone, Copy, Debug)]
pub struct ReportedClick<'a> {
    /// Id of the impression.
    pub impression: &'a str,
    /// The clicked element.
    pub kind: ClickKind,
    /// Position of the clicked link, from 1; of a result, across all result pages.
    pub rank: u32,
    /// Dwell time in milliseconds, if it is known.
    pub dwell_ms: Option<u64>,
}

impl SearchService {
    /// Registers a request of a visit. Returns the id of the visit and how it started; both are empty if logging is
    /// off.
    fn touch_visit(&self, client: &RequestClient<'_>) -> (String, SessionStart) {
        let learning = &self.learning;
        if !learning.logs.writer.is_enabled() {
            return Default::default();
        }
        let visit = learning.logs.visits.name(client.address, client.agent);
        let entry = SessionStart { referrer: client.referrer.to_string(), entry: client.path.to_string() };
        let start = learning.sessions.touch(&visit, entry, Instant::now());
        (visit, start)
    }

    /// Registers a request that is not a query, so that the start of its visit is known later.
    pub fn record_visit(&self, client: &RequestClient<'_>) {
        self.touch_visit(client);
    }

    /// Logs a query and its results. `product` is the kind of page or API that shows them. Returns the id of the
    /// impression, which the links carry; empty if logging is off.
    pub fn log_response(
        &self,
        client: &RequestClient<'_>,
        source: QuerySource,
        product: &str,
        request: &SearchRequest,
        response: &SearchResponse,
    ) -> String {
        let learning = &self.learning;
        let log = &learning.logs.writer;
        if !log.is_enabled() {
            return String::new();
        }
        let (id, at) = (new_id(), learning.logs.now());
        let (visit, start) = self.touch_visit(client);
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (page, size) = (request.page.max(1), self.processor.page_size(request));
        let (first, page_size) = (number((page - 1).saturating_mul(size).saturating_add(1)), number(size));
        let urls: Vec<String> = response.hits.iter().map(|hit| hit.url.clone()).collect();
        let results = (first..=u32::MAX).zip(&urls).map(|(rank, url)| ShownResult { rank, url: url.clone() });
        log.impression(ImpressionRecord {
            id: id.clone(),
            at,
            query: response.query.clone(),
            page_size: Some(page_size),
            results: results.collect(),
            related: response.suggestions.clone(),
            corrected: response.corrected.clone(),
            notice: response.notice.as_ref().map(|notice| notice.text.clone()),
            ..ImpressionRecord::default()
        });
        log.query(QueryRecord {
            id: id.clone(),
            at,
            visit: visit.clone(),
            referrer: start.referrer,
            entry: start.entry,
            device: classify_device(client.agent),
            query: response.query.clone(),
            source,
            product: product.to_string(),
            page: number(page),
            filters: filters(request),
            sort: if request.options.newest_first { "date".into() } else { String::new() },
            total: Some(response.matches()),
            cache: Some(response.cache),
            took_ms: Some(response.took_ms),
            generation: response.generation.clone(),
        });
        // Programs do not click, and must not evict the impressions of people.
        if product == PAGE_PRODUCT {
            let (query, related, corrected) =
                (response.query.clone(), response.suggestions.clone(), response.corrected.clone());
            let shown = Impression { query, visit, first, page_size, urls, related, corrected };
            learning.impressions.insert(&id, shown);
        }
        id
    }

    /// Logs the suggestions shown for a partial query. Returns the id of the impression.
    pub fn log_suggestions(&self, typed: &str, suggestions: Vec<String>) -> String {
        let (logs, id) = (&self.learning.logs, new_id());
        if !suggestions.is_empty() {
            logs.writer.impression(ImpressionRecord {
                id: id.clone(),
                at: logs.now(),
                kind: ImpressionKind::Suggestions,
                query: typed.to_string(),
                suggestions,
                ..ImpressionRecord::default()
            });
        }
        id
    }

    /// Logs a click. Returns `false` if no such link was shown recently: nothing is logged.
    pub fn log_click(&self, click: &ReportedClick<'_>) -> bool {
        let &ReportedClick { impression, kind, rank, dwell_ms } = click;
        let Some(verified) = self.learning.impressions.verify_click(impression, kind, rank) else {
            return false;
        };
        let VerifiedClick { query, visit, order, page_size, target } = verified;
        let (url, clicked_query) = match target {
            ClickedLink::Url(url) => (Some(url), None),
            ClickedLink::Query(query) => (None, Some(query)),
        };
        let logs = &self.learning.logs;
        logs.writer.click(ClickRecord {
            at: logs.now(),
            impression: impression.to_string(),
            visit,
            kind,
            searched: query,
            rank: Some(rank),
            page_size: Some(page_size),
            order: (kind != ClickKind::Leave).then_some(order),
            url,
            query: clicked_query,
            dwell_ms: dwell_ms.map(|dwell| dwell.min(MAX_DWELL)),
        });
        true
    }

    /// Logs that a browser that reports clicks shows an impression. Returns `false` if the impression is unknown, or
    /// was reported before.
    pub fn log_seen(&self, impression: &str) -> bool {
        let Some(query) = self.learning.impressions.mark_seen(impression) else { return false };
        let logs = &self.learning.logs;
        logs.writer.impression(ImpressionRecord {
            id: impression.to_string(),
            at: logs.now(),
            kind: ImpressionKind::Seen,
            query,
            ..ImpressionRecord::default()
        });
        true
    }
}

fn filters(request: &SearchRequest) -> BTreeMap<String, String> {
    let Filters { site, lang, format, category, time, .. } = &request.filters;
    let switch = |is_on: bool| is_on.then_some("1");
    let chosen = [
        ("all", switch(request.options.all)),
        ("any", switch(request.options.any_word)),
        ("site", site.as_deref()),
        ("lang", lang.as_deref()),
        ("type", format.as_deref()),
        ("category", category.as_deref()),
        ("time", time.map(Age::name)),
    ];
    chosen.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string()))).collect()
}
