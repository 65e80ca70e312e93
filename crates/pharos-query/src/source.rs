//! Where candidates come from: the whole index, or latest and what history is known to have.

use pharos_index::{Candidate, Found, IndexError, Retrieval, Snapshot};

use crate::cache::State;
use crate::cache::history::{self, HistoryList};
use crate::rank::sought::SoughtWords;

/// The source of one query's candidates.
pub(crate) struct Source<'a> {
    snapshot: &'a dyn Snapshot,
    known: Option<&'a HistoryList>,
    /// What history gives, for the next time.
    noted: Option<HistoryList>,
    /// The question that was asked last.
    step: usize,
}

impl<'a> Source<'a> {
    /// Everything. What history gives is noted for a state, where there is a history.
    pub(crate) fn everything(snapshot: &'a dyn Snapshot, noted_for: Option<&State>) -> Self {
        let noted = snapshot.history().zip(noted_for).map(|(history, state)| HistoryList {
            history: history.to_string(),
            state: state.clone(),
            questions: Vec::new(),
            statistics: Vec::new(),
            pages: Vec::new(),
            is_whole: true,
            total: 0,
            bar: f32::NEG_INFINITY,
            homes: Vec::new(),
            raised: Vec::new(),
        });
        Self { snapshot, known: None, noted, step: 0 }
    }

    /// Latest, and what history is known to have.
    pub(crate) fn latest(snapshot: &'a dyn Snapshot, known: &'a HistoryList) -> Self {
        Self { snapshot, known: Some(known), noted: None, step: 0 }
    }

    /// Sees what pages will be scored by. Is what history is known to have still right by that?
    pub(crate) fn fits(&mut self, sought: &SoughtWords, state: Option<&State>) -> bool {
        if let Some(noted) = &mut self.noted {
            noted.statistics = sought.statistics();
        }
        self.known.is_none_or(|known| state.is_some_and(|state| known.fits(sought, state)))
    }

    /// Candidates for the next question that a query is put as, of which so many may become results. `None` where history's are not known.
    pub(crate) fn candidates(
        &mut self,
        step: usize,
        asked: &Retrieval<'_>,
        results: usize,
    ) -> Result<Option<Found>, IndexError> {
        self.step = step;
        if let Some(known) = self.known {
            return known.candidates(step, asked, results, self.snapshot);
        }
        let found = history::everything(self.snapshot, asked)?;
        if let Some(noted) = &mut self.noted {
            let of_latest = found.candidates.iter().filter(|c| !self.snapshot.is_in_history(c)).count();
            noted.is_whole = found.candidates.len() < asked.limit;
            let least = found.candidates.last().filter(|_| !noted.is_whole);
            noted.bar = least.map_or(f32::NEG_INFINITY, |least| least.score);
            noted.total = found.total.saturating_sub(of_latest as u64);
            noted.questions.push((step, asked.query.clone()));
        }
        Ok(Some(found))
    }

    /// Home pages among those that match.
    pub(crate) fn homes(&mut self, asked: &Retrieval<'_>) -> Result<Vec<Candidate>, IndexError> {
        let known = self.known.map(|known| if self.is_at_last(known) { &known.homes[..] } else { &[] });
        let (found, of_history) = self.beside(known, asked)?;
        if let Some(noted) = &mut self.noted {
            noted.homes = of_history;
        }
        Ok(found)
    }

    /// Pages among those that match that an operator raises, by the nth setting.
    pub(crate) fn raised(&mut self, nth: usize, asked: &Retrieval<'_>) -> Result<Vec<Candidate>, IndexError> {
        let of_setting = |known: &'a HistoryList| known.raised.get(nth).map_or(&[][..], Vec::as_slice);
        let known = self.known.map(|known| if self.is_at_last(known) { of_setting(known) } else { &[] });
        let (found, of_history) = self.beside(known, asked)?;
        if let Some(noted) = &mut self.noted {
            noted.raised.push(of_history);
        }
        Ok(found)
    }

    /// Before the question that had an answer in history, history has nothing.
    fn is_at_last(&self, known: &HistoryList) -> bool {
        known.questions.last().is_some_and(|(step, _)| *step == self.step)
    }

    /// What is found beside the candidates, and what of it stands in history.
    fn beside(
        &mut self,
        known: Option<&[Candidate]>,
        asked: &Retrieval<'_>,
    ) -> Result<(Vec<Candidate>, Vec<Candidate>), IndexError> {
        if let Some(known) = known {
            return Ok((history::beside(known, asked, self.snapshot)?, Vec::new()));
        }
        let found = history::everything(self.snapshot, asked)?.candidates;
        let Some(noted) = &mut self.noted else { return Ok((found, Vec::new())) };
        noted.is_whole &= found.len() < asked.limit;
        let of_history = found.iter().filter(|c| self.snapshot.is_in_history(c)).copied().collect();
        Ok((found, of_history))
    }

    /// Notes the best pages of history, by their scores; a quarter more than a list of results holds, for when some are
    /// hidden.
    pub(crate) fn note(&mut self, scored: impl Iterator<Item = Candidate>, results: usize) {
        let Some(noted) = &mut self.noted else { return };
        noted.pages = scored.filter(|candidate| self.snapshot.is_in_history(candidate)).collect();
        let most = results.saturating_add(results / 4).max(1);
        if noted.pages.len() > most {
            noted.pages.select_nth_unstable_by(most - 1, history::by_score);
            noted.pages.truncate(most);
            noted.is_whole = false;
        }
    }

    /// What history gave.
    pub(crate) fn finish(self) -> Option<HistoryList> {
        self.noted
    }
}
