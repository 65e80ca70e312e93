//! What history has for a query (历史库的结果), so that only latest need be asked while only latest changes.
//!
//! Of history the pages are kept that a list of results could hold, and a quarter more. When latest has changed since, those
//! that it hides are dropped, what latest has is added, and all of them are scored by the statistics of now: a page scores
//! what it would score without any cache.
//!
//! Where all pages of history that match are kept, the answer is the one that a search of everything gives, whatever
//! latest does. Where more match, which of them are the best was decided by the statistics and clicks of then. So such a list is used
//! only as long as no statistic of the query (pages, their mean length, pages with each word) has moved by more than a
//! [share](MAY_MOVE), clicks are about the same and it is the same day, and as long as latest hides so few that a whole list
//! of results is left; and the total is about right, less what is known to be hidden.

use std::cmp::Ordering;
use std::sync::Arc;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use pharos_index::{Candidate, Found, IndexError, Members, Query, Retrieval, Snapshot};

use super::{State, note_size};
use crate::rank::sought::SoughtWords;
use crate::retrieve::Wanted;

/// Bytes that a question takes, for each of its text.
pub(super) const QUERY: usize = 20;

/// By how much a statistic may move until a list that has not all pages is made anew: at most 0.04 in ln((N−n)/n).
const MAY_MOVE: f64 = 0.02;

/// What history gave for a query.
#[derive(Clone)]
pub(crate) struct HistoryList {
    /// Which history.
    pub(crate) history: String,
    pub(crate) state: State,
    /// The questions that the query was put as, one after the other, with their numbers. Only the last had an answer.
    pub(crate) questions: Vec<(usize, Query)>,
    /// By what pages were scored.
    pub(crate) statistics: Vec<f64>,
    /// The best pages of history.
    pub(crate) pages: Vec<Candidate>,
    /// Are these all that history has?
    pub(crate) is_whole: bool,
    /// How many match in history; about, where not all were looked at.
    pub(crate) total: u64,
    /// What a page had to score to be looked at closely, where not all were.
    pub(crate) bar: f32,
    /// Home pages, and those that an operator raises, setting by setting.
    pub(crate) homes: Vec<Candidate>,
    pub(crate) raised: Vec<Vec<Candidate>>,
}

impl HistoryList {
    /// May it be used for a query with these words in this state?
    pub(crate) fn fits(&self, sought: &SoughtWords, state: &State) -> bool {
        let now = sought.statistics();
        let is_near = |(then, now): (&f64, &f64)| (then - now).abs() <= MAY_MOVE * then.abs();
        let is_as_then = now.len() == self.statistics.len() && self.statistics.iter().zip(&now).all(is_near);
        self.is_whole || (is_as_then && self.state.is_like(state))
    }

    fn bytes(&self) -> usize {
        let candidates =
            self.pages.len() + self.homes.len() + self.raised.iter().map(Vec::len).sum::<usize>();
        size_of::<Self>() + candidates * size_of::<Candidate>() + 500
    }

    /// The candidates for the question at `step`: what is left of history's, and latest's. `None` where history's are not
    /// known, or too few are left of them.
    pub(crate) fn candidates(
        &self,
        step: usize,
        asked: &Retrieval<'_>,
        results: usize,
        snapshot: &dyn Snapshot,
    ) -> Result<Option<Found>, IndexError> {
        // Words that the installation has learnt or forgotten since make another question of it.
        let Some(nth) = self.questions.iter().position(|known| known.0 == step && known.1 == *asked.query)
        else {
            return Ok(None);
        };
        let mut found = latest(snapshot, asked)?;
        if nth + 1 < self.questions.len() {
            return Ok(Some(found));
        }
        let left: Vec<Candidate> = snapshot.renewed(asked, &self.pages)?.into_iter().flatten().collect();
        if !self.is_whole {
            if left.len() < results {
                return Ok(None);
            }
            found.candidates.retain(|candidate| candidate.score >= self.bar);
            found.total_is_exact = false;
        }
        let hidden = self.pages.len() - left.len();
        found.total = (found.total + self.total).saturating_sub(hidden as u64);
        found.candidates.extend(left);
        found.candidates.sort_unstable_by(by_score);
        Ok(Some(found))
    }
}

/// Pages of history that were found beside others, as they are now, and those of latest.
pub(crate) fn beside(
    known: &[Candidate],
    asked: &Retrieval<'_>,
    snapshot: &dyn Snapshot,
) -> Result<Vec<Candidate>, IndexError> {
    let mut found = latest(snapshot, asked)?.candidates;
    found.extend(snapshot.renewed(asked, known)?.into_iter().flatten());
    found.sort_unstable_by(by_score);
    found.truncate(asked.limit);
    Ok(found)
}

/// As an index gives them: the best first.
pub(crate) fn by_score(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| a.page.cmp(&b.page))
}

/// Asks everything.
pub(crate) fn everything(snapshot: &dyn Snapshot, asked: &Retrieval<'_>) -> Result<Found, IndexError> {
    metrics::counter!("pharos_index_searches_total", "part" => "all").increment(1);
    snapshot.retrieve(asked)
}

fn latest(snapshot: &dyn Snapshot, asked: &Retrieval<'_>) -> Result<Found, IndexError> {
    metrics::counter!("pharos_index_searches_total", "part" => "latest").increment(1);
    snapshot.retrieve(&Retrieval { members: Members::Latest, ..*asked })
}

/// A query, as far as it decides what is found.
pub(crate) type HistoryKey = (String, Wanted);

/// What history gave, by query: the last ones.
pub(crate) struct Histories(Option<Cache<HistoryKey, Arc<HistoryList>>>);

impl Histories {
    pub(crate) fn new(bytes: usize) -> Self {
        let weigh = |key: &HistoryKey, list: &Arc<HistoryList>| {
            u32::try_from(size_of::<HistoryKey>() + key.0.len() + list.bytes() + QUERY * key.0.len())
                .unwrap_or(u32::MAX)
        };
        let cache = || Cache::builder().max_capacity(bytes as u64).weigher(weigh);
        Self((bytes > 0).then(|| cache().eviction_policy(EvictionPolicy::lru()).build()))
    }

    /// What this history gave.
    pub(crate) fn get(&self, key: &HistoryKey, history: &str) -> Option<Arc<HistoryList>> {
        self.0.as_ref()?.get(key).filter(|list| list.history == history)
    }

    pub(crate) fn keep(&self, key: HistoryKey, list: HistoryList) {
        let Some(cache) = &self.0 else { return };
        cache.insert(key, Arc::new(list));
        note_size("history", cache.weighted_size(), cache.entry_count());
    }

    pub(crate) fn clear(&self) {
        if let Some(cache) = &self.0 {
            cache.invalidate_all();
        }
    }
}
