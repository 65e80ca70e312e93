//! Lists of results that were shown lately, so that turning pages needs no search, and further pages follow on the first
//! though the index changes.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use pharos_core::PageId;
use pharos_index::Query;

use super::history::QUERY;
use super::{State, note_size};
use crate::answer::FacetValue;
use crate::intent::Kind;

/// Bytes for lists at least, also where nothing else is kept: some hundred of them.
pub(crate) const LEAST: usize = 2 << 20;

/// A list of results as it is arranged.
#[derive(Clone)]
pub(crate) struct KeptList {
    pub(crate) results: Vec<Listed>,
    pub(crate) total: u64,
    pub(crate) total_is_exact: bool,
    pub(crate) is_partial: bool,
    pub(crate) is_relaxed: bool,
    pub(crate) kind: Kind,
    /// What was asked of the index.
    pub(crate) asked: Option<Query>,
    /// What it depends on.
    pub(crate) state: State,
    /// What its results are, once somebody wanted to know.
    pub(crate) facets: OnceLock<Facets>,
}

/// Counts by property.
pub(crate) type Facets = BTreeMap<String, Vec<FacetValue>>;

/// A result in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Listed {
    pub(crate) page: PageId,
    pub(crate) score: f32,
    pub(crate) duplicates: u64,
    pub(crate) indented: bool,
    pub(crate) more_from_site: u64,
}

/// What a list answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    pub(crate) generation: String,
    pub(crate) text: String,
    pub(crate) size: usize,
    pub(crate) all: bool,
    pub(crate) newest_first: bool,
    pub(crate) any_word: bool,
}

/// The lists that were asked for last.
pub(crate) struct KeptLists(Cache<ListKey, Arc<KeptList>>);

impl KeptLists {
    pub(crate) fn new(bytes: usize) -> Self {
        let weigh = |key: &ListKey, list: &Arc<KeptList>| {
            let bytes = size_of::<ListKey>() + key.generation.len() + key.text.len() + size_of::<KeptList>();
            let bytes = bytes + list.results.len() * size_of::<Listed>() + QUERY * key.text.len() + 200;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(bytes as u64).weigher(weigh);
        Self(cache.eviction_policy(EvictionPolicy::lru()).build())
    }

    /// The list that was shown for this, if it is still known.
    pub(crate) fn get(&self, key: &ListKey) -> Option<Arc<KeptList>> {
        self.0.get(key)
    }

    pub(crate) fn keep(&self, key: ListKey, list: Arc<KeptList>) {
        self.0.insert(key, list);
        note_size("lists", self.0.weighted_size(), self.0.entry_count());
    }
}
