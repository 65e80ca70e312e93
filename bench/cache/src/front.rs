//! A cache with any replacement policy in front of a query service without a cache.

use std::sync::{Arc, Mutex, PoisonError};

use pharos_query::cache::policy::{Policy, PolicyKind};
use pharos_mining::CacheUse;
use pharos_query::{QueryError, QueryProcessor, SearchRequest, SearchResponse};

/// A query service that reports whether an answer was cached.
pub trait Service: Sync {
    fn query(&self, query: &str) -> Result<CacheUse, QueryError>;
}

impl Service for QueryProcessor {
    fn query(&self, query: &str) -> Result<CacheUse, QueryError> {
        Ok(self.run(&SearchRequest::new(query))?.cache)
    }
}

pub struct Front {
    cache: Mutex<Box<dyn Policy<String, Arc<SearchResponse>>>>,
    search: QueryProcessor,
}

impl Front {
    pub fn new(kind: PolicyKind, entries: usize, search: QueryProcessor) -> Self {
        Self { cache: Mutex::new(kind.cache(entries)), search }
    }
}

impl Service for Front {
    fn query(&self, query: &str) -> Result<CacheUse, QueryError> {
        let key = query.to_string();
        let known = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&key);
        if let Some(known) = known {
            // Each client gets its own copy of the answer, as from the Pharos cache.
            std::hint::black_box((*known).clone());
            return Ok(CacheUse::Hit);
        }
        let answer = Arc::new(self.search.run(&SearchRequest::new(query))?);
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).put(key, answer);
        Ok(CacheUse::Miss)
    }
}
