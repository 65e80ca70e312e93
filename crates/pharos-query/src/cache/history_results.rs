//! Cached results of the history generation (历史库的结果), so that only latest is searched while only latest changes.
//!
//! The cache keeps as many pages of history as a result list can hold, and a quarter more. If latest has changed,
//! pages it hides are dropped, its own matches are added, and all of them are scored with current statistics: every
//! page gets the score it would have without a cache.
//!
//! If all matching pages of history are kept, the results equal those of a full search. Otherwise the selection
//! depends on the statistics and clicks at that time. Such a list is used only while no statistic of the query
//! (pages, mean length, document frequencies) has changed by more than [`MAX_DRIFT`]. Clicks must be about the same,
//! the day equal, and enough pages left for a full result list. The total is then an estimate, reduced by the
//! pages known to be hidden.

use std::cmp::Ordering;
use std::sync::Arc;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use pharos_index::{
    Candidate, GenerationScope, IndexError, IndexView, Query, RetrievalRequest, RetrievalResult,
};

use super::{ResponseState, record_size};
use crate::rank::query_words::QueryWords;
use crate::request::QueryKey;

/// Estimated memory of a cached query for each byte of its text.
pub(super) const QUERY_BYTES_PER_TEXT_BYTE: usize = 20;

/// Maximum relative change of a statistic for an incomplete list: at most 0.04 in ln((N−n)/n).
const MAX_DRIFT: f64 = 0.02;

/// The results of the history generation for a query.
#[derive(Clone)]
pub(crate) struct HistoryResults {
    /// Identifier of the history.
    pub(crate) history: String,
    pub(crate) state: ResponseState,
    /// Attempts with their numbers. Only the last one had results.
    pub(crate) attempts: Vec<(usize, Query)>,
    /// Statistics that pages were scored by.
    pub(crate) statistics: Vec<f64>,
    /// Best pages of history.
    pub(crate) pages: Vec<Candidate>,
    /// `true` if these are all matches in history.
    pub(crate) is_whole: bool,
    /// Number of matches in history; an estimate if not all were visited.
    pub(crate) total: u64,
    /// Minimum first-stage score of the candidates, if not all matches are kept.
    pub(crate) threshold: f32,
    /// Home pages, and pages boosted by each rule of the operator.
    pub(crate) home_pages: Vec<Candidate>,
    pub(crate) boosted: Vec<Vec<Candidate>>,
}

impl HistoryResults {
    /// Returns `true` if the results can be used for these words in this state.
    pub(crate) fn is_usable_for(&self, query_words: &QueryWords, state: &ResponseState) -> bool {
        let now = query_words.statistics();
        let is_near = |(then, now): (&f64, &f64)| (then - now).abs() <= MAX_DRIFT * then.abs();
        let has_same_statistics =
            now.len() == self.statistics.len() && self.statistics.iter().zip(&now).all(is_near);
        self.is_whole || (has_same_statistics && self.state.equals_except_index(state))
    }

    fn bytes(&self) -> usize {
        let candidates =
            self.pages.len() + self.home_pages.len() + self.boosted.iter().map(Vec::len).sum::<usize>();
        size_of::<Self>() + candidates * size_of::<Candidate>() + 500
    }

    /// Returns the candidates for the attempt `step`: the remaining pages of history, and those of latest. Returns
    /// `None` if the attempt is not cached or too few pages remain.
    pub(crate) fn candidates(
        &self,
        step: usize,
        request: &RetrievalRequest<'_>,
        results: usize,
        view: &dyn IndexView,
    ) -> Result<Option<RetrievalResult>, IndexError> {
        // A change of the vocabulary leads to a different query.
        let Some(nth) =
            self.attempts.iter().position(|cached| cached.0 == step && cached.1 == *request.query)
        else {
            return Ok(None);
        };
        let mut found = retrieve_latest(view, request)?;
        if nth + 1 < self.attempts.len() {
            return Ok(Some(found));
        }
        let left: Vec<Candidate> =
            view.refresh_candidates(request, &self.pages)?.into_iter().flatten().collect();
        if !self.is_whole {
            if left.len() < results {
                return Ok(None);
            }
            found.candidates.retain(|candidate| candidate.score >= self.threshold);
            found.total_is_exact = false;
        }
        let hidden = self.pages.len() - left.len();
        found.total = (found.total + self.total).saturating_sub(hidden as u64);
        found.candidates.extend(left);
        found.candidates.sort_unstable_by(by_score);
        Ok(Some(found))
    }
}

/// Refreshes additional pages of history and merges those of latest.
pub(crate) fn merge_beside(
    cached: &[Candidate],
    request: &RetrievalRequest<'_>,
    view: &dyn IndexView,
) -> Result<Vec<Candidate>, IndexError> {
    let mut found = retrieve_latest(view, request)?.candidates;
    found.extend(view.refresh_candidates(request, cached)?.into_iter().flatten());
    found.sort_unstable_by(by_score);
    found.truncate(request.limit);
    Ok(found)
}

/// Orders candidates like the index: best first.
pub(crate) fn by_score(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| a.page.cmp(&b.page))
}

/// Retrieves from all generations.
pub(crate) fn retrieve_all(
    view: &dyn IndexView,
    request: &RetrievalRequest<'_>,
) -> Result<RetrievalResult, IndexError> {
    metrics::counter!("pharos_index_searches_total", "part" => "all").increment(1);
    view.retrieve(request)
}

fn retrieve_latest(
    view: &dyn IndexView,
    request: &RetrievalRequest<'_>,
) -> Result<RetrievalResult, IndexError> {
    metrics::counter!("pharos_index_searches_total", "part" => "latest").increment(1);
    view.retrieve(&RetrievalRequest { scope: GenerationScope::Latest, ..*request })
}

/// A cache of results of history, evicted by LRU.
pub(crate) struct HistoryCache(Option<Cache<QueryKey, Arc<HistoryResults>>>);

impl HistoryCache {
    pub(crate) fn new(bytes: usize) -> Self {
        let weigh = |key: &QueryKey, list: &Arc<HistoryResults>| {
            u32::try_from(
                size_of::<QueryKey>()
                    + key.text.len()
                    + list.bytes()
                    + QUERY_BYTES_PER_TEXT_BYTE * key.text.len(),
            )
            .unwrap_or(u32::MAX)
        };
        let cache = || Cache::builder().max_capacity(bytes as u64).weigher(weigh);
        Self((bytes > 0).then(|| cache().eviction_policy(EvictionPolicy::lru()).build()))
    }

    /// Returns the results of this history.
    pub(crate) fn get(&self, key: &QueryKey, history: &str) -> Option<Arc<HistoryResults>> {
        self.0.as_ref()?.get(key).filter(|list| list.history == history)
    }

    pub(crate) fn insert(&self, key: QueryKey, list: HistoryResults) {
        let Some(cache) = &self.0 else { return };
        cache.insert(key, Arc::new(list));
        record_size("history", cache.weighted_size(), cache.entry_count());
    }

    pub(crate) fn clear(&self) {
        if let Some(cache) = &self.0 {
            cache.invalidate_all();
        }
    }
}
