//! The source of candidates: the whole index, or the latest generations with cached results of history.

use pharos_index::{Candidate, IndexError, IndexView, RetrievalRequest, RetrievalResult};

use crate::cache::ResponseState;
use crate::cache::history_results::{self, HistoryResults};
use crate::rank::query_words::QueryWords;

/// The source of the candidates of one query.
pub(crate) struct CandidateSource<'a> {
    view: &'a dyn IndexView,
    cached: Option<&'a HistoryResults>,
    /// Results of history, recorded for the cache.
    recorded: Option<HistoryResults>,
    /// The current attempt.
    step: usize,
}

impl<'a> CandidateSource<'a> {
    /// Retrieves from all generations. Results of history are recorded for `record_for` if there is a history.
    pub(crate) fn whole_index(view: &'a dyn IndexView, record_for: Option<&ResponseState>) -> Self {
        let recorded = view.history().zip(record_for).map(|(history, state)| HistoryResults {
            history: history.to_string(),
            state: state.clone(),
            attempts: Vec::new(),
            statistics: Vec::new(),
            pages: Vec::new(),
            is_whole: true,
            total: 0,
            threshold: f32::NEG_INFINITY,
            home_pages: Vec::new(),
            boosted: Vec::new(),
        });
        Self { view, cached: None, recorded, step: 0 }
    }

    /// Retrieves from the latest generations and adds the cached results of history.
    pub(crate) fn latest_with_history(view: &'a dyn IndexView, cached: &'a HistoryResults) -> Self {
        Self { view, cached: Some(cached), recorded: None, step: 0 }
    }

    /// Records the statistics that pages are scored by. Returns `false` if the cached results of history are not
    /// usable with them.
    pub(crate) fn accepts(&mut self, query_words: &QueryWords, state: Option<&ResponseState>) -> bool {
        if let Some(recorded) = &mut self.recorded {
            recorded.statistics = query_words.statistics();
        }
        self.cached.is_none_or(|cached| state.is_some_and(|state| cached.is_usable_for(query_words, state)))
    }

    /// Returns the candidates for an attempt, of which at most `results` become results. Returns `None` if the cache
    /// does not cover it.
    pub(crate) fn candidates(
        &mut self,
        step: usize,
        request: &RetrievalRequest<'_>,
        results: usize,
    ) -> Result<Option<RetrievalResult>, IndexError> {
        self.step = step;
        if let Some(cached) = self.cached {
            return cached.candidates(step, request, results, self.view);
        }
        let found = history_results::retrieve_all(self.view, request)?;
        if let Some(recorded) = &mut self.recorded {
            let of_latest = found.candidates.iter().filter(|c| !self.view.is_in_history(c)).count();
            recorded.is_whole = found.candidates.len() < request.limit;
            let lowest = found.candidates.last().filter(|_| !recorded.is_whole);
            recorded.threshold = lowest.map_or(f32::NEG_INFINITY, |lowest| lowest.score);
            recorded.total = found.total.saturating_sub(of_latest as u64);
            recorded.attempts.push((step, request.query.clone()));
        }
        Ok(Some(found))
    }

    /// Returns home pages among the matches.
    pub(crate) fn home_pages(
        &mut self,
        request: &RetrievalRequest<'_>,
    ) -> Result<Vec<Candidate>, IndexError> {
        let cached =
            self.cached.map(|cached| if self.is_last_attempt(cached) { &cached.home_pages[..] } else { &[] });
        let (found, of_history) = self.retrieve_beside(cached, request)?;
        if let Some(recorded) = &mut self.recorded {
            recorded.home_pages = of_history;
        }
        Ok(found)
    }

    /// Returns matching pages boosted by the nth rule of the operator.
    pub(crate) fn boosted(
        &mut self,
        nth: usize,
        request: &RetrievalRequest<'_>,
    ) -> Result<Vec<Candidate>, IndexError> {
        let of_setting = |cached: &'a HistoryResults| cached.boosted.get(nth).map_or(&[][..], Vec::as_slice);
        let cached =
            self.cached.map(|cached| if self.is_last_attempt(cached) { of_setting(cached) } else { &[] });
        let (found, of_history) = self.retrieve_beside(cached, request)?;
        if let Some(recorded) = &mut self.recorded {
            recorded.boosted.push(of_history);
        }
        Ok(found)
    }

    /// Returns `true` if this is the attempt that had results in history. Earlier attempts had none.
    fn is_last_attempt(&self, cached: &HistoryResults) -> bool {
        cached.attempts.last().is_some_and(|(step, _)| *step == self.step)
    }

    /// Retrieves additional candidates, and returns those stored in history separately.
    fn retrieve_beside(
        &mut self,
        cached: Option<&[Candidate]>,
        request: &RetrievalRequest<'_>,
    ) -> Result<(Vec<Candidate>, Vec<Candidate>), IndexError> {
        if let Some(cached) = cached {
            return Ok((history_results::merge_beside(cached, request, self.view)?, Vec::new()));
        }
        let found = history_results::retrieve_all(self.view, request)?.candidates;
        let Some(recorded) = &mut self.recorded else { return Ok((found, Vec::new())) };
        recorded.is_whole &= found.len() < request.limit;
        let of_history = found.iter().filter(|c| self.view.is_in_history(c)).copied().collect();
        Ok((found, of_history))
    }

    /// Records the best pages of history by score: a quarter more than a result list holds, in case some become
    /// hidden.
    pub(crate) fn record_best(&mut self, scored: impl Iterator<Item = Candidate>, results: usize) {
        let Some(recorded) = &mut self.recorded else { return };
        recorded.pages = scored.filter(|candidate| self.view.is_in_history(candidate)).collect();
        let max_pages = results.saturating_add(results / 4).max(1);
        if recorded.pages.len() > max_pages {
            recorded.pages.select_nth_unstable_by(max_pages - 1, history_results::by_score);
            recorded.pages.truncate(max_pages);
            recorded.is_whole = false;
        }
    }

    /// Returns the recorded results of history.
    pub(crate) fn finish(self) -> Option<HistoryResults> {
        self.recorded
    }
}
