//! Time of a query by stage: an index wrapper that measures each call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pharos_core::{LibraryPositions, PageId};
use pharos_index::{Candidate, ResultFields, IndexChange, Facet, RetrievalResult, Index, IndexError, LinkMaxima, GenerationScope, Query, RetrievalRequest, IndexView, StoredPage, LinkFigures};
use pharos_index::view::MatchCount;
use pharos_index::read::evidence::{Evidence, DocumentFrequencies};
use pharos_index::read::facets::FacetCount;
use pharos_index::document::{DuplicateSignature, StoredText};
use pharos_index::read::titles_and_words::PageTitle;
use pharos_text::vocabulary::{WordKind, Vocabulary};

/// A call to the index during a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    View,
    Frequencies,
    Candidates,
    Counting,
    Homes,
    Evidence,
    LinkFigures,
    Signatures,
    Positions,
    ResultFields,
    Texts,
}

impl Stage {
    pub const ALL: [(Stage, &str); 11] = [
        (Stage::View, "`view`: open the index view"),
        (Stage::Frequencies, "`frequencies`: document frequencies"),
        (Stage::Candidates, "`retrieve`: the candidates"),
        (Stage::Counting, "counting the remaining matches"),
        (Stage::Homes, "`retrieve`: home pages"),
        (Stage::Evidence, "`evidence`: match positions of candidates"),
        (Stage::LinkFigures, "`link_figures`: link features"),
        (Stage::Signatures, "`signatures`: duplicate groups of the best"),
        (Stage::Positions, "`candidates`: top ten by id"),
        (Stage::ResultFields, "`result_fields` of the top ten"),
        (Stage::Texts, "`texts` of the top ten"),
    ];
}

/// Time and candidates of one query, by stage.
#[derive(Default)]
pub struct StageTimes {
    nanoseconds: [AtomicU64; Stage::ALL.len()],
    /// Number of ranked candidates.
    candidates: AtomicU64,
}

impl StageTimes {
    fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        let took = started.elapsed().as_nanos() as u64;
        self.nanoseconds[stage as usize].fetch_add(took, Ordering::Relaxed);
        result
    }

    /// Returns the measurements and resets them.
    pub fn take(&self) -> ([Duration; Stage::ALL.len()], u64) {
        let times = self.nanoseconds.each_ref();
        let times = times.map(|time| Duration::from_nanos(time.swap(0, Ordering::Relaxed)));
        (times, self.candidates.swap(0, Ordering::Relaxed))
    }
}

/// An index wrapper with a stopwatch, for one thread.
pub struct TimedIndex {
    index: Arc<dyn Index>,
    pub notes: Arc<StageTimes>,
    /// The last index view, while it is current.
    last: Mutex<Option<Arc<TimedView>>>,
}

impl TimedIndex {
    pub fn over(index: Arc<dyn Index>) -> Self {
        Self { index, notes: Arc::default(), last: Mutex::default() }
    }
}

impl Index for TimedIndex {
    fn applied_positions(&self) -> Result<LibraryPositions, IndexError> {
        self.index.applied_positions()
    }

    fn apply(&self, changes: Vec<IndexChange>) -> Result<(), IndexError> {
        self.index.apply(changes)
    }

    fn commit(&self, applied: &LibraryPositions) -> Result<(), IndexError> {
        self.index.commit(applied)
    }

    fn vocabulary(&self) -> Arc<Vocabulary> {
        self.index.vocabulary()
    }

    fn view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        let view = self.notes.time(Stage::View, || self.index.view())?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = last.as_ref().filter(|cached| Arc::ptr_eq(&cached.view, &view));
        let timed = match cached {
            Some(cached) => Arc::clone(cached),
            None => Arc::new(TimedView { view, notes: Arc::clone(&self.notes) }),
        };
        *last = Some(Arc::clone(&timed));
        Ok(timed)
    }
}

struct TimedView {
    view: Arc<dyn IndexView>,
    notes: Arc<StageTimes>,
}

impl IndexView for TimedView {
    fn state_id(&self) -> &str {
        self.view.state_id()
    }

    fn history(&self) -> Option<&str> {
        self.view.history()
    }

    fn is_in_history(&self, candidate: &Candidate) -> bool {
        self.view.is_in_history(candidate)
    }

    fn refresh_candidates(
        &self,
        request: &RetrievalRequest<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.view.refresh_candidates(request, candidates)
    }

    fn pages(&self) -> Result<u64, IndexError> {
        self.view.pages()
    }

    fn is_indexed_word(&self, word: &str, kind: WordKind) -> bool {
        self.view.is_indexed_word(word, kind)
    }

    /// Counts like the index itself, but measured separately.
    fn retrieve(&self, request: &RetrievalRequest<'_>) -> Result<RetrievalResult, IndexError> {
        let stage = if request.count_up_to == 0 { Stage::Homes } else { Stage::Candidates };
        let uncounted = RetrievalRequest { count_up_to: 0, ..*request };
        let mut found = self.notes.time(stage, || self.view.retrieve(&uncounted))?;
        if request.count_up_to > 0 && !found.is_partial && found.candidates.len() >= request.limit {
            let count = self.count(request.query, request.count_up_to)?;
            (found.total, found.total_is_exact) = (count.pages, count.is_exact);
        }
        Ok(found)
    }

    fn count(&self, query: &Query, up_to: u64) -> Result<MatchCount, IndexError> {
        self.notes.time(Stage::Counting, || self.view.count(query, up_to))
    }

    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        most: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.view.facets(query, facets, most, up_to, until)
    }

    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        most: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.view.facets_of(candidates, facets, most)
    }

    fn frequencies(&self, terms: &[String]) -> Result<DocumentFrequencies, IndexError> {
        self.notes.time(Stage::Frequencies, || self.view.frequencies(terms))
    }

    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError> {
        self.notes.candidates.fetch_add(candidates.len() as u64, Ordering::Relaxed);
        self.notes.time(Stage::Evidence, || self.view.evidence(candidates, terms))
    }

    fn maxima(&self) -> LinkMaxima {
        self.view.maxima()
    }

    fn result_fields(&self, candidates: &[Candidate]) -> Result<Vec<ResultFields>, IndexError> {
        self.notes.time(Stage::ResultFields, || self.view.result_fields(candidates))
    }

    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<StoredText>, IndexError> {
        self.notes.time(Stage::Texts, || self.view.texts(candidates))
    }

    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.notes.time(Stage::Positions, || self.view.candidates(pages))
    }

    fn link_figures(&self, candidates: &[Candidate]) -> Result<Vec<LinkFigures>, IndexError> {
        self.notes.time(Stage::LinkFigures, || self.view.link_figures(candidates))
    }

    fn signatures(&self, candidates: &[Candidate]) -> Result<Vec<DuplicateSignature>, IndexError> {
        self.notes.time(Stage::Signatures, || self.view.signatures(candidates))
    }

    fn for_each_title(&self, scope: GenerationScope, each: &mut dyn FnMut(PageTitle<'_>)) -> Result<(), IndexError> {
        self.view.for_each_title(scope, each)
    }

    fn for_each_word(&self, scope: GenerationScope, each: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError> {
        self.view.for_each_word(scope, each)
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        self.view.page(page)
    }

    fn link_figures_of(&self, page: PageId) -> Result<Option<LinkFigures>, IndexError> {
        self.view.link_figures_of(page)
    }
}
