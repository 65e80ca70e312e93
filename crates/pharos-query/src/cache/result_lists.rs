//! The cache of recent result lists: paging needs no search, and further pages are consistent with the first one
//! while the index changes.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use pharos_core::PageId;
use pharos_index::Query;

use super::history_results::QUERY_BYTES_PER_TEXT_BYTE;
use super::{ResponseState, record_size};
use crate::language::intent::QueryKind;
use crate::request::QueryKey;
use crate::response::FacetValue;

/// Minimum memory for lists, even if nothing else is cached; enough for some hundred lists.
pub(crate) const MIN_BYTES: usize = 2 << 20;

/// The arranged results of a query.
#[derive(Clone)]
pub(crate) struct ResultList {
    pub(crate) results: Vec<ListedResult>,
    pub(crate) total: u64,
    pub(crate) total_is_exact: bool,
    pub(crate) partial_total: u64,
    /// Words of the query, to which [`ListedResult::missing`] refers.
    pub(crate) words: Vec<String>,
    pub(crate) is_partial: bool,
    pub(crate) is_relaxed: bool,
    pub(crate) kind: QueryKind,
    /// The query that was sent to the index.
    pub(crate) index_query: Option<Query>,
    pub(crate) state: ResponseState,
    /// Facet counts, computed on first request.
    pub(crate) facets: OnceLock<FacetCounts>,
}

/// Counts by property.
pub(crate) type FacetCounts = BTreeMap<String, Vec<FacetValue>>;

/// A result of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ListedResult {
    pub(crate) page: PageId,
    pub(crate) score: f32,
    pub(crate) duplicates: u64,
    pub(crate) indented: bool,
    pub(crate) more_from_site: u64,
    pub(crate) is_pinned: bool,
    /// Words that the page lacks, as bits.
    pub(crate) missing: u64,
}

/// The key of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    pub(crate) generation: String,
    pub(crate) query: QueryKey,
    pub(crate) size: usize,
}

/// A cache of result lists, evicted by LRU.
pub(crate) struct ResultListCache(Cache<ListKey, Arc<ResultList>>);

impl ResultListCache {
    pub(crate) fn new(bytes: usize) -> Self {
        let weigh = |key: &ListKey, list: &Arc<ResultList>| {
            let bytes =
                size_of::<ListKey>() + key.generation.len() + key.query.text.len() + size_of::<ResultList>();
            let bytes = bytes
                + list.results.len() * size_of::<ListedResult>()
                + QUERY_BYTES_PER_TEXT_BYTE * key.query.text.len()
                + 200;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(bytes as u64).weigher(weigh);
        Self(cache.eviction_policy(EvictionPolicy::lru()).build())
    }

    /// Returns the cached list.
    pub(crate) fn get(&self, key: &ListKey) -> Option<Arc<ResultList>> {
        self.0.get(key)
    }

    pub(crate) fn insert(&self, key: ListKey, list: Arc<ResultList>) {
        self.0.insert(key, list);
        record_size("lists", self.0.weighted_size(), self.0.entry_count());
    }
}
