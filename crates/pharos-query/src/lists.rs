//! Lists of results that were shown lately, so that their further pages follow on the first though the index changes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use pharos_core::PageId;
use pharos_index::Query;

use crate::intent::Kind;

/// So many lists are kept, the last ones; each takes some ten kilobytes.
const KEPT: usize = 256;

/// A list of results as it is arranged.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptList {
    pub(crate) results: Vec<Listed>,
    pub(crate) total: u64,
    pub(crate) total_is_exact: bool,
    pub(crate) is_partial: bool,
    pub(crate) is_relaxed: bool,
    pub(crate) kind: Kind,
    /// What was asked of the index.
    pub(crate) asked: Option<Query>,
}

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListKey {
    pub(crate) generation: String,
    pub(crate) text: String,
    pub(crate) size: usize,
    pub(crate) all: bool,
    pub(crate) newest_first: bool,
    pub(crate) any_word: bool,
}

#[derive(Debug, Default)]
pub(crate) struct KeptLists(Mutex<VecDeque<(ListKey, Arc<KeptList>)>>);

impl KeptLists {
    /// The list that was shown for this, if it is still known.
    pub(crate) fn get(&self, key: &ListKey) -> Option<Arc<KeptList>> {
        let lists = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        lists.iter().rev().find(|(known, _)| known == key).map(|(_, list)| Arc::clone(list))
    }

    pub(crate) fn keep(&self, key: ListKey, list: Arc<KeptList>) {
        let mut lists = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        lists.retain(|(known, _)| *known != key);
        if lists.len() >= KEPT {
            lists.pop_front();
        }
        lists.push_back((key, list));
    }
}
