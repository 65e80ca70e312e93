//! The [`IndexView`] trait: a consistent read of all generations, and the requests and results of its methods.

use std::time::Instant;

use pharos_core::PageId;
use pharos_text::vocabulary::WordKind;

use crate::document::link_figures::LinkFigures;
use crate::document::link_maxima::LinkMaxima;
use crate::document::result_fields::ResultFields;
use crate::document::{DuplicateSignature, StoredPage, StoredText};
use crate::error::IndexError;
use crate::read::evidence::{DocumentFrequencies, Evidence};
use crate::read::facets::{Facet, FacetCount};
use crate::read::query::Query;
use crate::read::titles_and_words::PageTitle;

/// A consistent, immutable read of all generations.
pub trait IndexView: Send + Sync {
    /// Returns the identifier of this state. It differs whenever search results could differ.
    fn state_id(&self) -> &str;

    /// Returns the identifier of the history generation, or `None` if there is no history.
    ///
    /// While it stays the same, history contains the same pages, and the set of pages hidden by newer generations
    /// only grows.
    fn history(&self) -> Option<&str>;

    /// Returns `true` if a candidate of this view is stored in the history generation.
    fn is_in_history(&self, candidate: &Candidate) -> bool;

    /// Refreshes candidates of history that an earlier view with the same [`history`](IndexView::history) returned.
    ///
    /// Returns them in the same order, each at the URL where it is now shown, or `None` if newer generations hide
    /// it. Scores are not recomputed.
    fn refresh_candidates(
        &self,
        request: &RetrievalRequest<'_>,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Candidate>>, IndexError>;

    /// Returns the number of searchable pages. A page with copies counts once.
    fn pages(&self) -> Result<u64, IndexError>;

    /// Returns `true` if all generations were segmented with this word of the vocabulary. Only then does its term
    /// find every page that contains it.
    fn is_indexed_word(&self, word: &str, kind: WordKind) -> bool;

    /// Returns the best candidates for a request, best first, and the number of matches.
    fn retrieve(&self, request: &RetrievalRequest<'_>) -> Result<RetrievalResult, IndexError>;

    /// Returns the best `limit` pages for a query.
    fn search(&self, query: &Query, limit: usize) -> Result<RetrievalResult, IndexError> {
        self.retrieve(&RetrievalRequest::new(query, limit))
    }

    /// Returns the best `limit` URLs for a query. Every copy is a candidate of its own and counted.
    fn search_addresses(&self, query: &Query, limit: usize) -> Result<RetrievalResult, IndexError> {
        self.retrieve(&RetrievalRequest { every_address: true, ..RetrievalRequest::new(query, limit) })
    }

    /// Counts the matching pages, exactly up to `up_to` and as an estimate beyond. A page with copies counts once.
    fn count(&self, query: &Query, up_to: u64) -> Result<MatchCount, IndexError>;

    /// Returns the `max_values` most frequent values of each facet among the first `up_to` matching pages.
    fn facets(
        &self,
        query: &Query,
        facets: &[Facet],
        max_values: usize,
        up_to: u64,
        until: Option<Instant>,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError>;

    /// Returns the `max_values` most frequent values of each facet among candidates of this view.
    fn facets_of(
        &self,
        candidates: &[Candidate],
        facets: &[Facet],
        max_values: usize,
    ) -> Result<Vec<Vec<FacetCount>>, IndexError>;

    /// Returns the document frequency of each term, the number of documents and their mean length.
    fn frequencies(&self, terms: &[String]) -> Result<DocumentFrequencies, IndexError>;

    /// Returns, for each candidate of this view, where and how often the terms occur.
    fn evidence(&self, candidates: &[Candidate], terms: &[String]) -> Result<Vec<Evidence>, IndexError>;

    /// Returns the maxima that normalise link figures.
    fn maxima(&self) -> LinkMaxima;

    /// Returns the result fields of candidates of this view, in the same order. No text is read.
    fn result_fields(&self, candidates: &[Candidate]) -> Result<Vec<ResultFields>, IndexError>;

    /// Returns the stored texts of candidates of this view, in the same order.
    fn texts(&self, candidates: &[Candidate]) -> Result<Vec<StoredText>, IndexError>;

    /// Returns the result fields and the stored texts of candidates of this view, in the same order.
    fn stored(&self, candidates: &[Candidate]) -> Result<Vec<StoredPage>, IndexError> {
        let pages = candidates.iter().zip(self.result_fields(candidates)?).zip(self.texts(candidates)?);
        Ok(pages
            .map(|((candidate, fields), text)| StoredPage { page: candidate.page, fields, text })
            .collect())
    }

    /// Looks up pages as candidates of this view, in the same order. `None` marks pages that are not searchable.
    fn candidates(&self, pages: &[PageId]) -> Result<Vec<Option<Candidate>>, IndexError>;

    /// Returns the link figures of candidates of this view, in the same order.
    fn link_figures(&self, candidates: &[Candidate]) -> Result<Vec<LinkFigures>, IndexError>;

    /// Returns the duplicate group and signature of candidates of this view, in the same order.
    fn signatures(&self, candidates: &[Candidate]) -> Result<Vec<DuplicateSignature>, IndexError>;

    /// Returns the stored page at one URL. A copy is returned with its own URL and position.
    fn page(&self, page: PageId) -> Result<Option<StoredPage>, IndexError>;

    /// Calls `each` with the title of every searchable page, in no particular order.
    fn for_each_title(
        &self,
        scope: GenerationScope,
        each: &mut dyn FnMut(PageTitle<'_>),
    ) -> Result<(), IndexError>;

    /// Calls `each` with every word of the index, in byte order, and its approximate document frequency.
    fn for_each_word(
        &self,
        scope: GenerationScope,
        each: &mut dyn FnMut(&str, u64),
    ) -> Result<(), IndexError>;

    /// Returns the link figures of the page at one URL, so that they can be carried over when the page is fetched
    /// again.
    fn link_figures_of(&self, page: PageId) -> Result<Option<LinkFigures>, IndexError>;
}

/// A request to [`IndexView::retrieve`].
#[derive(Clone, Copy, Debug)]
pub struct RetrievalRequest<'a> {
    pub query: &'a Query,
    /// Maximum number of candidates.
    pub limit: usize,
    /// Amount that a static rank of 1 adds to the score.
    pub rank_weight: f32,
    /// If set, every URL is a candidate; otherwise only the first visible URL of each page.
    pub every_address: bool,
    /// Matches are counted exactly up to this number and estimated beyond; 0 disables counting.
    pub count_up_to: u64,
    /// Sorts by date, newest first, instead of by score. Pages without a date come last.
    pub newest_first: bool,
    /// Deadline. The candidates found by then are returned.
    pub until: Option<Instant>,
    /// Generations to search. Statistics always cover all generations, so that scores are comparable.
    pub scope: GenerationScope,
}

/// The generations that a request covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GenerationScope {
    #[default]
    All,
    /// The generations newer than history (最新库), for callers that have cached the results of history.
    Latest,
}

impl<'a> RetrievalRequest<'a> {
    /// Creates a request for the best pages by text score, counted up to 10,000.
    pub fn new(query: &'a Query, limit: usize) -> Self {
        Self {
            query,
            limit,
            rank_weight: 0.0,
            every_address: false,
            count_up_to: 10_000,
            newest_first: false,
            until: None,
            scope: GenerationScope::All,
        }
    }
}

/// A number of matching pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchCount {
    /// Exact count, or a lower-bound estimate.
    pub pages: u64,
    pub is_exact: bool,
}

/// The result of a retrieval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetrievalResult {
    /// Number of matching pages.
    pub total: u64,
    pub total_is_exact: bool,
    /// Best first; equal scores are ordered by page id.
    pub candidates: Vec<Candidate>,
    /// `true` if the deadline passed before all documents were examined.
    pub is_partial: bool,
}

/// A matching page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The page at the URL where it is shown.
    pub page: PageId,
    /// BM25 over all zones, with zone weights, plus the share of the static rank.
    pub score: f32,
    /// Number of other visible URLs with identical content.
    pub copies: u32,
    pub(crate) location: CandidateLocation,
}

/// The location of a candidate in the index. Only the implementation that returned the candidate knows its meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidateLocation(pub(crate) [u32; 4]);
