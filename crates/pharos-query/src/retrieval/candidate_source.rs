//! Sources of candidates: the whole index, or the latest generations with cached results of history.

use pharos_index::{Candidate, IndexError, IndexView, RetrievalRequest, RetrievalResult};

use crate::cache::ResponseState;
use crate::cache::history_results::{self, HistoryResults};
use crate::rank::query_words::QueryWords;

/// The source of the candidates of one query.
///
/// # Protocol
/// The retriever uses a source for one query only and calls its methods in this order:
///
/// 1. [`accepts`](Self::accepts), once, with the words of the query and their statistics. After `false`, the
///    source is not used further.
/// 2. [`candidates`](Self::candidates), for one attempt after another. Attempts have increasing numbers, and the first
///    one with results is the last one. After `None`, the source is not used further.
/// 3. [`partial_matches`](Self::partial_matches), at most once. After `None`, the source is not used further.
/// 4. [`home_pages`](Self::home_pages), at most once, then [`boosted`](Self::boosted) for each rule of the operator in
///    their order, all for the last attempt. Neither is called if results are sorted by date.
/// 5. [`record_best`](Self::record_best), once, with all candidates and their final scores.
///
/// All sources return the same candidates for the same request, up to the limits of the request. They differ in
/// the generations that they read. A source gives up if it cannot determine the candidates.
pub(crate) trait CandidateSource {
    /// Takes note of the statistics that pages are scored by. Returns `false` if the source cannot serve a query with
    /// them.
    fn accepts(&mut self, query_words: &QueryWords, state: Option<&ResponseState>) -> bool;

    /// Returns the candidates for an attempt, of which at most `results` become results. Returns `None` if the
    /// source does not cover the attempt.
    fn candidates(
        &mut self,
        step: usize,
        request: &RetrievalRequest<'_>,
        results: usize,
    ) -> Result<Option<RetrievalResult>, IndexError>;

    /// Returns pages with some of the words, in addition to the candidates of all attempts.
    fn partial_matches(
        &mut self,
        request: &RetrievalRequest<'_>,
    ) -> Result<Option<RetrievalResult>, IndexError>;

    /// Returns home pages among the matches.
    fn home_pages(&mut self, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError>;

    /// Returns matching pages boosted by the nth rule of the operator.
    fn boosted(&mut self, nth: usize, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError>;

    /// Takes note of the scored candidates, of which at most `results` become results.
    fn record_best(&mut self, scored: &mut dyn Iterator<Item = Candidate>, results: usize);
}

/// Retrieves from all generations, and records the results of history for the cache.
pub(crate) struct WholeIndex<'a> {
    view: &'a dyn IndexView,
    /// `None` if nothing is to be recorded.
    recorded: Option<HistoryResults>,
}

impl<'a> WholeIndex<'a> {
    /// Creates the source. Results of history are recorded for `record_for` if there is a history.
    pub(crate) fn new(view: &'a dyn IndexView, record_for: Option<&ResponseState>) -> Self {
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
        Self { view, recorded }
    }

    /// Returns the recorded results of history, if anything was retrieved.
    pub(crate) fn into_recorded(self) -> Option<HistoryResults> {
        self.recorded.filter(|recorded| !recorded.attempts.is_empty())
    }

    /// Retrieves additional candidates, and returns those stored in history separately.
    fn retrieve_beside(
        &mut self,
        request: &RetrievalRequest<'_>,
    ) -> Result<(Vec<Candidate>, Vec<Candidate>), IndexError> {
        let found = history_results::retrieve_all(self.view, request)?.candidates;
        let Some(recorded) = &mut self.recorded else { return Ok((found, Vec::new())) };
        recorded.is_whole &= found.len() < request.limit;
        let of_history = found.iter().filter(|c| self.view.is_in_history(c)).copied().collect();
        Ok((found, of_history))
    }
}

impl CandidateSource for WholeIndex<'_> {
    fn accepts(&mut self, query_words: &QueryWords, _: Option<&ResponseState>) -> bool {
        if let Some(recorded) = &mut self.recorded {
            recorded.statistics = query_words.statistics();
        }
        true
    }

    fn candidates(
        &mut self,
        step: usize,
        request: &RetrievalRequest<'_>,
        _: usize,
    ) -> Result<Option<RetrievalResult>, IndexError> {
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

    /// Records nothing: the number of candidates is limited, so those of history depend on latest.
    fn partial_matches(
        &mut self,
        request: &RetrievalRequest<'_>,
    ) -> Result<Option<RetrievalResult>, IndexError> {
        self.recorded = None;
        history_results::retrieve_all(self.view, request).map(Some)
    }

    fn home_pages(&mut self, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError> {
        let (found, of_history) = self.retrieve_beside(request)?;
        if let Some(recorded) = &mut self.recorded {
            recorded.home_pages = of_history;
        }
        Ok(found)
    }

    fn boosted(&mut self, _: usize, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError> {
        let (found, of_history) = self.retrieve_beside(request)?;
        if let Some(recorded) = &mut self.recorded {
            recorded.boosted.push(of_history);
        }
        Ok(found)
    }

    /// Records the best pages of history by score: a quarter more than a result list holds, in case some become
    /// hidden.
    fn record_best(&mut self, scored: &mut dyn Iterator<Item = Candidate>, results: usize) {
        let Some(recorded) = &mut self.recorded else { return };
        recorded.pages = scored.filter(|candidate| self.view.is_in_history(candidate)).collect();
        let max_pages = results.saturating_add(results / 4).max(1);
        if recorded.pages.len() > max_pages {
            recorded.pages.select_nth_unstable_by(max_pages - 1, history_results::by_score);
            recorded.pages.truncate(max_pages);
            recorded.is_whole = false;
        }
    }
}

/// Retrieves from the latest generations and adds the cached results of history.
pub(crate) struct LatestWithHistory<'a> {
    view: &'a dyn IndexView,
    cached: &'a HistoryResults,
    /// `true` if the current attempt is the one that had results in history. Earlier attempts had none.
    has_history: bool,
}

impl<'a> LatestWithHistory<'a> {
    pub(crate) fn new(view: &'a dyn IndexView, cached: &'a HistoryResults) -> Self {
        Self { view, cached, has_history: false }
    }

    /// Retrieves additional candidates of latest, and adds the cached ones of history.
    fn retrieve_beside(
        &self,
        of_history: &[Candidate],
        request: &RetrievalRequest<'_>,
    ) -> Result<Vec<Candidate>, IndexError> {
        let of_history = if self.has_history { of_history } else { &[] };
        history_results::merge_beside(of_history, request, self.view)
    }
}

impl CandidateSource for LatestWithHistory<'_> {
    fn accepts(&mut self, query_words: &QueryWords, state: Option<&ResponseState>) -> bool {
        state.is_some_and(|state| self.cached.is_usable_for(query_words, state))
    }

    fn candidates(
        &mut self,
        step: usize,
        request: &RetrievalRequest<'_>,
        results: usize,
    ) -> Result<Option<RetrievalResult>, IndexError> {
        self.has_history = self.cached.attempts.last().is_some_and(|(last, _)| *last == step);
        self.cached.candidates(step, request, results, self.view)
    }

    fn partial_matches(&mut self, _: &RetrievalRequest<'_>) -> Result<Option<RetrievalResult>, IndexError> {
        Ok(None)
    }

    fn home_pages(&mut self, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError> {
        self.retrieve_beside(&self.cached.home_pages, request)
    }

    fn boosted(&mut self, nth: usize, request: &RetrievalRequest<'_>) -> Result<Vec<Candidate>, IndexError> {
        let of_rule = self.cached.boosted.get(nth).map_or(&[][..], Vec::as_slice);
        self.retrieve_beside(of_rule, request)
    }

    /// The cached results stay as they are: they hold for the whole history.
    fn record_best(&mut self, _: &mut dyn Iterator<Item = Candidate>, _: usize) {}
}
