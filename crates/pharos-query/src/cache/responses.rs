//! The cache of complete responses.

use std::sync::Arc;

use moka::sync::Cache;

use super::{ResponseState, record_size};
use crate::request::QueryKey;
use crate::response::{FacetValue, SearchHit, SearchResponse, Sitelink};

/// The part of a request that determines its response.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResponseKey {
    pub(crate) query: QueryKey,
    pub(crate) page: usize,
    pub(crate) size: usize,
    pub(crate) facets: bool,
}

struct CachedResponse {
    state: ResponseState,
    answer: SearchResponse,
}

/// A cache of responses.
pub(crate) struct ResponseCache(Option<Cache<ResponseKey, Arc<CachedResponse>>>);

impl ResponseCache {
    pub(crate) fn new(bytes: usize) -> Self {
        let weigh = |key: &ResponseKey, cached: &Arc<CachedResponse>| {
            let bytes =
                size_of::<ResponseKey>() + key.query.text.len() + estimate_bytes(&cached.answer) + 200;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = || Cache::builder().max_capacity(bytes as u64).weigher(weigh).build();
        Self((bytes > 0).then(cache))
    }

    /// Returns the cached response for this state.
    pub(crate) fn get(&self, key: &ResponseKey, state: &ResponseState) -> Option<SearchResponse> {
        let cached = self.0.as_ref()?.get(key).filter(|cached| cached.state == *state);
        cached.map(|cached| cached.answer.clone())
    }

    /// Returns the cached response for this state without counting a miss, for callers that use [`Self::get`] next:
    /// one request must not count twice.
    pub(crate) fn get_without_counting(
        &self,
        key: &ResponseKey,
        state: &ResponseState,
    ) -> Option<SearchResponse> {
        let is_cached = self.0.as_ref().is_some_and(|cache| cache.contains_key(key));
        is_cached.then(|| self.get(key, state))?
    }

    pub(crate) fn insert(&self, key: ResponseKey, state: ResponseState, answer: &SearchResponse) {
        let Some(cache) = &self.0 else { return };
        cache.insert(key, Arc::new(CachedResponse { state, answer: answer.clone() }));
        record_size("answers", cache.weighted_size(), cache.entry_count());
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |cache| {
            cache.run_pending_tasks();
            cache.weighted_size()
        })
    }

    pub(crate) fn clear(&self) {
        if let Some(cache) = &self.0 {
            cache.invalidate_all();
        }
    }
}

/// Estimates the memory of a response.
fn estimate_bytes(answer: &SearchResponse) -> usize {
    let of_hit = |hit: &SearchHit| {
        let texts = [&hit.url, &hit.title, &hit.title_html, &hit.snippet, &hit.snippet_html];
        let labels = [&hit.site, &hit.lang, &hit.category, &hit.format];
        let options = [&hit.date, &hit.cached_url];
        size_of::<SearchHit>()
            + texts.into_iter().chain(labels).map(String::len).sum::<usize>()
            + options.into_iter().flatten().map(String::len).sum::<usize>()
            + hit
                .sitelinks
                .iter()
                .map(|link| size_of::<Sitelink>() + link.url.len() + link.title.len())
                .sum::<usize>()
    };
    let of_value = |value: &FacetValue| size_of::<FacetValue>() + value.value.len();
    let texts = [&answer.query, &answer.understood, &answer.generation];
    let notice = answer
        .notice
        .as_ref()
        .map_or(0, |notice| notice.text.len() + notice.link.as_ref().map_or(0, String::len));
    size_of::<SearchResponse>()
        + notice
        + texts.into_iter().chain(&answer.suggestions).map(String::len).sum::<usize>()
        + answer.hits.iter().map(of_hit).sum::<usize>()
        + answer.facets.values().flatten().map(of_value).sum::<usize>()
}
