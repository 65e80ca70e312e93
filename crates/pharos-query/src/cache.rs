//! Caches of query results (查询缓存).
//!
//! Few queries make up most of the traffic, and they recur (《搜索引擎——原理、技术与系统》§9.3; 《走进搜索引擎》§5.5). Three caches share
//! `cache.memory`:
//!
//! | cache | content | serves | valid until |
//! |---|---|---|---|
//! | `responses` | one result page | identical requests, without reading the index | the index changes |
//! | `result_lists` | all arranged results of a query | further result pages, even while the index changes | eviction |
//! | `history_results` | results of the history generation | queries while only latest changes | a new history is installed |
//!
//! The last one is the cache of the literature (最新库, 历史库): results of history are cached, latest is searched live,
//! and both are merged, sorted, folded and arranged again. During a crawl, latest changes every second and history
//! once a day.
//!
//! Everything a response depends on besides its request is a `ResponseState`: a cached response is used only in the
//! state it was computed in. Keys do not include the state, so a new response replaces the outdated one. Responses
//! are evicted by W-TinyLFU (Einziger, Friedman & Manes 2017), lists by LRU, the choice of the literature. Partial
//! responses are never cached.

pub(crate) mod history_results;
pub mod policy;
pub mod replay;
pub(crate) mod responses;
pub(crate) mod result_lists;

use std::sync::Arc;

use parking_lot::RwLock;
use pharos_text::vocabulary::Vocabulary;

use self::history_results::HistoryCache;
use self::responses::ResponseCache;
use self::result_lists::ResultListCache;
use crate::curation::active::ActiveCuration;
use crate::rank::boost::RankingRules;
use crate::rank::user_weight::ClickStamp;

/// Everything a response depends on besides the request.
#[derive(Clone)]
pub(crate) struct ResponseState {
    /// State of the index.
    pub(crate) generation: String,
    /// Current day number, because freshness is computed by day.
    pub(crate) day: i64,
    /// Vocabulary of the installation, by which queries are segmented.
    pub(crate) words: Arc<Vocabulary>,
    pub(crate) clicks: ClickStamp,
    pub(crate) ranking: Arc<RankingRules>,
    /// Decisions of operators.
    pub(crate) curation: Arc<ActiveCuration>,
}

impl ResponseState {
    /// Returns `true` if everything except the index is equal.
    pub(crate) fn equals_except_index(&self, other: &Self) -> bool {
        self.day == other.day
            && self.clicks == other.clicks
            && Arc::ptr_eq(&self.words, &other.words)
            && Arc::ptr_eq(&self.ranking, &other.ranking)
            && Arc::ptr_eq(&self.curation, &other.curation)
    }
}

impl PartialEq for ResponseState {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation && self.equals_except_index(other)
    }
}

/// The caches of a query service.
pub(crate) struct QueryCaches {
    pub(crate) responses: ResponseCache,
    pub(crate) result_lists: ResultListCache,
    pub(crate) history_results: HistoryCache,
    is_enabled: bool,
    /// History seen last.
    history: RwLock<Option<String>>,
}

impl QueryCaches {
    /// Creates caches with `memory` bytes. With 0, only the lists needed for paging are cached.
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            responses: ResponseCache::new(memory / 2),
            result_lists: ResultListCache::new((memory / 4).max(result_lists::MIN_BYTES)),
            history_results: HistoryCache::new(memory / 4),
            is_enabled: memory > 0,
            history: RwLock::default(),
        }
    }

    /// Returns `true` if anything besides the lists needed for paging is cached.
    pub(crate) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Evicts the results of another history if the history has changed.
    pub(crate) fn observe_history(&self, history: Option<&str>) {
        if self.history.read().as_deref() == history {
            return;
        }
        let mut current = self.history.write();
        if current.as_deref() != history {
            *current = history.map(String::from);
            self.responses.clear();
            self.history_results.clear();
        }
    }
}

/// Counts a lookup in `pharos_cache_lookups_total`.
pub(crate) fn record_lookup(cache: &'static str, is_hit: bool) {
    let outcome = if is_hit { "hit" } else { "miss" };
    metrics::counter!("pharos_cache_lookups_total", "cache" => cache, "outcome" => outcome).increment(1);
}

fn record_size(cache: &'static str, bytes: u64, entries: u64) {
    metrics::gauge!("pharos_cache_bytes", "cache" => cache).set(bytes as f64);
    metrics::gauge!("pharos_cache_entries", "cache" => cache).set(entries as f64);
}

#[cfg(test)]
mod tests;
