//! Time of a query by stage: an index wrapper that measures each call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pharos_core::{LibraryPosition, PageId};
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
    IndexView,
    DocumentFrequencies,
    Candidates,
    Counting,
    Homes,
    Evidence,
    Figures,
    DuplicateSignature,
    Places,
    Cards,
    Texts,
}

impl Stage {
    pub const ALL: [(Stage, &str); 11] = [
        (Stage::Snapshot, "`snapshot`: open the index view"),
        (Stage::Frequencies, "`frequencies`: document frequencies"),
        (Stage::Candidates, "`retrieve`: the candidates"),
        (Stage::Counting, "counting the remaining matches"),
        (Stage::Homes, "`retrieve`: home pages"),
        (Stage::Evidence, "`evidence`: match positions of candidates"),
        (Stage::Figures, "`figures`: link features"),
        (Stage::Likeness, "`likeness`: duplicate groups of the best"),
        (Stage::Places, "`candidates`: top ten by id"),
        (Stage::Cards, "`cards`: result fields of the top ten"),
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
    fn absorbed(&self) -> Result<LibraryPosition, IndexError> {
        self.index.absorbed()
    }

    fn apply(&self, changes: Vec<IndexChange>) -> Result<(), IndexError> {
        self.index.apply(changes)
    }

    fn commit(&self, absorbed: LibraryPosition) -> Result<(), IndexError> {
        self.index.commit(absorbed)
    }

    fn seal(&self) -> Result<LibraryPosition, IndexError> {
        self.index.seal()
    }

    fn vocabulary(&self) -> Arc<Vocabulary> {
        self.index.vocabulary()
    }

    fn snapshot(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        let snapshot = self.notes.time(Stage::Snapshot, || self.index.snapshot())?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.as_ref().filter(|known| Arc::ptr_eq(&known.snapshot, &snapshot));
        let noted = match known {
            Some(known) => Arc::clone(known),
            None => Arc::new(TimedView { snapshot, notes: Arc::clone(&self.notes) }),
        };
        *last = Some(Arc::clone(&noted));
        Ok(noted)
    }
}

struct TimedView {
    snapshot: Arc<dyn IndexView>,
    notes: Arc<StageTimes>,
}

impl IndexView for TimedView {
    fn generation(&self) -> &str {
        self.snapshot.generation()
    }

    fn history(&self) -> Option<&str> {
        self.snapshot.history()
    }

    fn is_in_history(&self, candidate: &Candidate) -> bool {
        self.snapshot.is_in_history(candidate)
    }

    fn renewed(
        &self,
        asked: &RetrievalRequest<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.snapshot.renewed(asked, candidates)
    }

    fn pages(&self) -> Result<u64, IndexError> {
        self.snapshot.pages()
    }

    fn knows(&self, word: &str, kind: WordKind) -> bool {
        self.snapshot.knows(word, kind)
    }

    /// Counts like the index itself, but measured separately.
    fn retrieve(&self, asked: &RetrievalRequest<'_>) -> Result<RetrievalResult, IndexError> {
        let stage = if asked.count_up_to == 0 { Stage::Homes } else { Stage::Candidates };
        let uncounted = RetrievalRequest { count_up_to: 0, ..*asked };
        let mut found = self.notes.time(stage, || self.snapshot.retrieve(&uncounted))?;
        if asked.count_up_to > 0 && !found.is_partial && found.candidates.len() >= asked.limit {
            let count = self.count(asked.query, asked.count_up_to)?;
            (found.total, found.total_is_exact) = (count.pages, count.is_exact);
        }
        Ok(found)
    }

    fn count(&self, query: &Query, up_to: u64) -> Result<MatchCount, IndexError> {
        self.notes.time(Stage::Counting, || self.snapshot.count(query, up_to))
    }

    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        most: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.snapshot.facets(query, facets, most, up_to, until)
    }

    fn frequencies(&self, terms: &[String]) -> Result<DocumentFrequencies, IndexError> {
        self.notes.time(Stage::Frequencies, || self.snapshot.frequencies(terms))
    }

    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError> {
        self.notes.candidates.fetch_add(candidates.len() as u64, Ordering::Relaxed);
        self.notes.time(Stage::Evidence, || self.snapshot.evidence(candidates, terms))
    }

    fn maxima(&self) -> LinkMaxima {
        self.snapshot.maxima()
    }

    fn cards(&self, candidates: &[Candidate]) -> Result<Vec<ResultFields>, IndexError> {
        self.notes.time(Stage::Cards, || self.snapshot.cards(candidates))
    }

    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<StoredText>, IndexError> {
        self.notes.time(Stage::Texts, || self.snapshot.texts(candidates))
    }

    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError> {
        self.notes.time(Stage::Places, || self.snapshot.candidates(pages))
    }

    fn figures(&self, candidates: &[Candidate]) -> Result<Vec<LinkFigures>, IndexError> {
        self.notes.time(Stage::Figures, || self.snapshot.figures(candidates))
    }

    fn likeness(&self, candidates: &[Candidate]) -> Result<Vec<DuplicateSignature>, IndexError> {
        self.notes.time(Stage::Likeness, || self.snapshot.likeness(candidates))
    }

    fn titles(&self, members: GenerationScope, each: &mut dyn FnMut(PageTitle<'_>)) -> Result<(), IndexError> {
        self.snapshot.titles(members, each)
    }

    fn words(&self, members: GenerationScope, each: &mut dyn FnMut(&str, u64)) -> Result<(), IndexError> {
        self.snapshot.words(members, each)
    }

    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError> {
        self.snapshot.page(page)
    }

    fn figures_of(&self, page: PageId) -> Result<Option<LinkFigures>, IndexError> {
        self.snapshot.figures_of(page)
    }
}
