//! Answers that are known from before (查询缓存).
//!
//! Few queries make most of the traffic, and they recur (《搜索引擎——原理、技术与系统》 §9.4; 《走进搜索引擎》 §7.5). Three things are
//! kept, each with its share of `cache.memory`:
//!
//! | | what | for | until |
//! |---|---|---|---|
//! | `answers` | a page of results as it is shown | who asks the same: nothing of the index is read | the index changes in any way |
//! | `lists` | all results of a query in their places | who turns pages, also while the index changes | it is long ago |
//! | `history` | what history has for a query | who asks while only latest changes | a new history is in place |
//!
//! The last one is the CACHE of the literature (最新库, 历史库): history's results are known, latest is asked live, both are
//! merged, sorted, folded and indented again. While pages are crawled, latest changes every second and history once a day.
//!
//! What a request depends on beside its text is a `State`: an answer is given from memory only in the very state that it
//! was made in. Keys have no state: an answer takes the place of the one of the state before, so that what nobody can use
//! any more does not keep others out. Of answers those that are asked for often are kept (W-TinyLFU: Einziger, Friedman &
//! Manes 2017), of lists the last ones (LRU, the choice of the literature). What time did not suffice for is never kept.

pub(crate) mod answers;
pub(crate) mod history;
pub(crate) mod lists;
pub mod policy;
pub mod replay;

use std::sync::{Arc, PoisonError, RwLock};

use pharos_text::vocabulary::Vocabulary;
use serde::Serialize;
use utoipa::ToSchema;

use self::answers::Answers;
use self::history::Histories;
use self::lists::KeptLists;
use crate::boost::Ranking;
use crate::rank::user_weight::ClickStamp;

/// How much of an answer was known from before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheUse {
    /// All of it.
    Hit,
    /// What was found, by an earlier page of results, or in history; only latest was searched, if anything.
    Partly,
    /// Nothing.
    #[default]
    Miss,
}

/// What an answer depends on beside the request.
#[derive(Clone)]
pub(crate) struct State {
    /// The state of the index.
    pub(crate) generation: String,
    /// The day it is: what is new is so by the day.
    pub(crate) day: i64,
    /// The words of the installation, by which queries are cut.
    pub(crate) words: Arc<Vocabulary>,
    /// What was clicked.
    pub(crate) clicks: ClickStamp,
    /// How everything is ranked.
    pub(crate) ranking: Arc<Ranking>,
}

impl State {
    /// Is it the same but for the index?
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.day == other.day
            && self.clicks == other.clicks
            && Arc::ptr_eq(&self.words, &other.words)
            && Arc::ptr_eq(&self.ranking, &other.ranking)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation && self.is_like(other)
    }
}

/// Everything that is kept.
pub(crate) struct Caches {
    pub(crate) answers: Answers,
    pub(crate) lists: KeptLists,
    pub(crate) histories: Histories,
    is_on: bool,
    /// The last history that was seen.
    history: RwLock<Option<String>>,
}

impl Caches {
    /// With so many bytes; with none, lists are kept for turning pages, as they must be, and nothing else.
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            answers: Answers::new(memory / 2),
            lists: KeptLists::new((memory / 4).max(lists::LEAST)),
            histories: Histories::new(memory / 4),
            is_on: memory > 0,
            history: RwLock::default(),
        }
    }

    /// Is anything kept beside what turning pages needs?
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Sees which history answers now: what was known of another is let go.
    pub(crate) fn see_history(&self, history: Option<&str>) {
        if self.history.read().unwrap_or_else(PoisonError::into_inner).as_deref() == history {
            return;
        }
        let mut known = self.history.write().unwrap_or_else(PoisonError::into_inner);
        if known.as_deref() != history {
            *known = history.map(String::from);
            self.answers.clear();
            self.histories.clear();
        }
    }
}

/// What `pharos_cache_…` counts.
pub(crate) fn note(cache: &'static str, is_hit: bool) {
    let outcome = if is_hit { "hit" } else { "miss" };
    metrics::counter!("pharos_cache_lookups_total", "cache" => cache, "outcome" => outcome).increment(1);
}

fn note_size(cache: &'static str, bytes: u64, entries: u64) {
    metrics::gauge!("pharos_cache_bytes", "cache" => cache).set(bytes as f64);
    metrics::gauge!("pharos_cache_entries", "cache" => cache).set(entries as f64);
}

#[cfg(test)]
mod tests;
