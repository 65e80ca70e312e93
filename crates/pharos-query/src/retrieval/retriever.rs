//! The two stages of retrieval (《走进搜索引擎》§5.2.6).
//!
//! Stage one: the index returns some thousand candidates by text score and static rank, skipping pages that cannot
//! qualify. Stage two ([`scoring`](super::scoring)): each candidate is scored by all features, and the best are kept.

use std::time::Instant;

use pharos_core::PageId;
use pharos_core::config::{QueryConfig, RankConfig};
use pharos_index::{Candidate, IndexError, IndexView, Query, RetrievalRequest};
use pharos_text::Analyser;

use crate::cache::ResponseState;
use crate::cache::history_results::HistoryResults;
use crate::language::expression::Expression;
use crate::language::intent::QueryKind;
use crate::rank::PageTraits;
use crate::rank::basic_weight::QueryShape;
use crate::rank::boost::Boosts;
use crate::rank::combine::ScoreParts;
use crate::rank::query_words::QueryWords;
use crate::rank::user_weight::Clicks;
use crate::request::ResultOptions;
use crate::retrieval::candidate_source::{CandidateSource, LatestWithHistory, WholeIndex};
use crate::retrieval::scoring::narrowed;
use crate::retrieval::similar_pages;
use crate::stage_timer::StageTimer;

/// Limit up to which matches are counted exactly.
pub(crate) const COUNT_LIMIT: u64 = 10_000;

/// The ranked results of a query.
pub(crate) struct RankedResults {
    pub(crate) results: Vec<ScoredCandidate>,
    /// Number of pages that contain all required words.
    pub(crate) total: u64,
    pub(crate) total_is_exact: bool,
    /// Number of pages with some of the words that are results, too.
    pub(crate) partial_total: u64,
    pub(crate) is_partial: bool,
    pub(crate) is_relaxed: bool,
    pub(crate) kind: QueryKind,
    /// Number of candidates scored in stage two.
    pub(crate) scored: usize,
    /// All results without copies, partial matches included, if the candidates include them all.
    pub(crate) all: Option<Vec<Candidate>>,
    /// The query that was sent to the index.
    pub(crate) index_query: Option<Query>,
    pub(crate) query_words: QueryWords,
    /// AND/OR structure of the query words.
    pub(crate) shape: QueryShape,
    /// Words of the best results that count, too.
    pub(crate) feedback: Vec<String>,
    /// Results of history, if they were recorded for the cache.
    pub(crate) history: Option<HistoryResults>,
}

impl RankedResults {
    fn empty() -> Self {
        Self {
            results: Vec::new(),
            total: 0,
            total_is_exact: true,
            partial_total: 0,
            is_partial: false,
            is_relaxed: false,
            kind: QueryKind::Ordinary,
            scored: 0,
            all: None,
            index_query: None,
            query_words: QueryWords::default(),
            shape: QueryShape::And(Vec::new()),
            feedback: Vec::new(),
            history: None,
        }
    }
}

/// A candidate with the parts of its score and its traits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredCandidate {
    /// The candidate with its final score.
    pub(crate) candidate: Candidate,
    pub(crate) parts: ScoreParts,
    pub(crate) traits: PageTraits,
}

/// The retriever of one request.
pub(crate) struct Retriever<'a> {
    pub(crate) view: &'a dyn IndexView,
    pub(crate) analyser: &'a Analyser,
    pub(crate) query: &'a QueryConfig,
    pub(crate) rank: &'a RankConfig,
    pub(crate) boosts: &'a Boosts,
    /// Pages that operators hide from this query.
    pub(crate) hidden: &'a [PageId],
    pub(crate) clicks: &'a Clicks,
    pub(crate) today: i64,
    pub(crate) until: Option<Instant>,
    /// State for recording and using cached results of history; `None` disables both.
    pub(crate) state: Option<&'a ResponseState>,
}

/// Maximum number of partial matches that are scored.
const MAX_PARTIAL_MATCHES: usize = 500;

/// A set of page ids with a fast hash function, because ids are already hashes.
pub(super) type PageSet = std::collections::HashSet<PageId, foldhash::fast::FixedState>;

/// An attempt to find pages.
struct Attempt {
    step: usize,
    query: Query,
    /// `true` if not all words are required.
    is_relaxed: bool,
}

/// A parsed query with its options.
#[derive(Clone, Copy)]
pub(crate) struct RetrievalQuery<'a> {
    pub(crate) expression: &'a Expression,
    pub(crate) text: &'a str,
    pub(crate) options: ResultOptions,
}

impl Retriever<'_> {
    /// Retrieves the ranked results from the whole index.
    pub(crate) fn retrieve(&self, retrieval_query: RetrievalQuery<'_>) -> Result<RankedResults, IndexError> {
        let mut source = WholeIndex::new(self.view, self.state);
        // The whole index never gives up.
        let mut found =
            self.retrieve_from(retrieval_query, &mut source)?.unwrap_or_else(RankedResults::empty);
        found.history = source.into_recorded().filter(|_| !found.is_partial);
        Ok(found)
    }

    /// Retrieves the ranked results with cached results of history. Returns `None` if these are no longer sufficient.
    pub(crate) fn retrieve_with_history(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        cached: &HistoryResults,
    ) -> Result<Option<RankedResults>, IndexError> {
        self.retrieve_from(retrieval_query, &mut LatestWithHistory::new(self.view, cached))
    }

    /// Retrieves the ranked results from a source. Returns `None` if the source gives up.
    pub(super) fn retrieve_from(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        source: &mut dyn CandidateSource,
    ) -> Result<Option<RankedResults>, IndexError> {
        let RetrievalQuery { expression, options, .. } = retrieval_query;
        let mut found = RankedResults::empty();
        let Some((query_words, attempts)) = self.plan_attempts(expression, options)? else {
            return Ok(Some(found));
        };
        found.query_words = query_words;
        if !source.accepts(&found.query_words, self.state) {
            return Ok(None);
        }
        let stage = StageTimer::start();
        let (mut candidates, mut index_query) = (Vec::new(), None);
        for attempt in attempts {
            let Attempt { step, mut query, is_relaxed } = attempt;
            found.is_relaxed = is_relaxed;
            let Some(more) = self.retrieve_candidates(step, &mut query, options, &mut found, source)? else {
                return Ok(None);
            };
            (candidates, index_query) = (more, Some(query));
            if !candidates.is_empty() || found.is_partial {
                break;
            }
        }
        let mut partial = PageSet::default();
        if let Some(mut query) = self.partial_query(expression, options, &candidates, &found) {
            let Some(more) = self.retrieve_partial_matches(&mut query, options, source)? else {
                return Ok(None);
            };
            let full: PageSet = candidates.iter().map(|candidate| candidate.page).collect();
            let more = more.into_iter().filter(|candidate| !full.contains(&candidate.page));
            if candidates.is_empty() {
                index_query = Some(query);
            }
            candidates.extend(more.inspect(|candidate| _ = partial.insert(candidate.page)));
            found.is_relaxed = found.total == 0 && !partial.is_empty();
        }
        stage.stop("candidates");
        let Some(query) = index_query else { return Ok(Some(found)) };
        let stage = StageTimer::start();
        // If one word suffices, the words form an OR.
        let any = || QueryShape::Or((0..found.query_words.words.len()).map(QueryShape::Word).collect());
        let needs_all = !found.is_relaxed && expression.related().is_none();
        found.shape = if needs_all { found.query_words.shape(expression) } else { any() };
        let full = (candidates.len() - partial.len()) as u64;
        let are_all = found.total_is_exact && found.total == full && !options.all;
        found.all = are_all.then(|| candidates.clone());
        found.partial_total = partial.len() as u64;
        if options.newest_first {
            source.record_best(&mut candidates.iter().copied(), self.query.max_results);
            candidates.truncate(self.query.max_results);
            found.results = candidates
                .iter()
                .map(|c| ScoredCandidate {
                    candidate: *c,
                    parts: ScoreParts::default(),
                    traits: PageTraits::default(),
                })
                .collect();
        } else {
            self.score_candidates(retrieval_query, &query, (candidates, partial), source, &mut found)?;
        }
        stage.stop("rank");
        found.index_query = Some(query);
        Ok(Some(found))
    }

    /// Returns the query for pages with some of the words, if too few pages have all of them. Sorted by date, such pages
    /// would hide the others.
    fn partial_query(
        &self,
        expression: &Expression,
        options: ResultOptions,
        candidates: &[Candidate],
        found: &RankedResults,
    ) -> Option<Query> {
        let is_full = found.total >= self.query.partial_below as u64
            || options.any_word
            || found.is_partial
            || (options.newest_first && !candidates.is_empty())
            || expression.related().is_some();
        let is_indexed = |word: &str, kind| self.view.is_indexed_word(word, kind);
        if is_full { None } else { expression.relaxed(&is_indexed) }
    }

    /// Retrieves pages with some of the words, best first.
    fn retrieve_partial_matches(
        &self,
        query: &mut Query,
        options: ResultOptions,
        source: &mut dyn CandidateSource,
    ) -> Result<Option<Vec<Candidate>>, IndexError> {
        self.exclude_pages(query);
        let limit = MAX_PARTIAL_MATCHES.min(self.query.candidates).max(self.query.max_results);
        let request = RetrievalRequest { count_up_to: 0, ..self.request(query, options, limit) };
        Ok(source.partial_matches(&request)?.map(|found| found.candidates))
    }

    /// Determines the words of a query and the attempts to find pages, of which the first one with results counts: the
    /// query itself, and the characters of unknown words. Returns `None` if nothing
    /// can be found.
    fn plan_attempts(
        &self,
        expression: &Expression,
        options: ResultOptions,
    ) -> Result<Option<(QueryWords, Vec<Attempt>)>, IndexError> {
        let is_indexed = |word: &str, kind| self.view.is_indexed_word(word, kind);
        let query = expression.to_query(&is_indexed);
        let attempt = |step, query, is_relaxed| Attempt { step, query, is_relaxed };
        if let Some(target) = expression.related() {
            let words = similar_pages::representative_words(target, self.view, self.analyser)?;
            return Ok(words.map(|query_words| {
                let words = query_words.terms.iter().map(|term| Query::Word(term.clone()));
                // Pages that the same queries led to are similar, whatever their words are.
                let mut clicked: Vec<PageId> = self.clicks.similar_pages(&target.pages).into_keys().collect();
                clicked.sort_unstable();
                let similar = words.chain(clicked.into_iter().map(Query::Page)).collect();
                let query = Query::And(vec![Query::Or(similar), query]);
                (query_words, vec![attempt(0, query, false)])
            }));
        }
        let query_words = QueryWords::from_expression(expression, &is_indexed, self.view)?;
        let split = expression.to_split_query(&is_indexed).map(|split| (1, split));
        let attempts = match (expression.relaxed(&is_indexed), options.any_word) {
            (Some(any), true) => {
                let queries = [(0, any)].into_iter().chain(split);
                queries.map(|(step, query)| attempt(step, query, true)).collect()
            }
            _ => {
                let queries = [(0, query)].into_iter().chain(split);
                queries.map(|(step, query)| attempt(step, query, false)).collect()
            }
        };
        Ok(Some((query_words, attempts)))
    }

    fn hidden_pages(&self) -> Query {
        Query::Or(self.hidden.iter().map(|page| Query::Page(*page)).collect())
    }

    /// Returns the hidden pages that match a query, at most `limit`.
    pub(crate) fn hidden_matches(&self, query: &Query, limit: usize) -> Result<Vec<PageId>, IndexError> {
        if self.hidden.is_empty() {
            return Ok(Vec::new());
        }
        let exclusion = Query::Not(Box::new(self.hidden_pages()));
        let mut parts = match query.clone() {
            Query::And(parts) => parts,
            other => vec![other],
        };
        parts.retain(|part| *part != exclusion);
        parts.push(self.hidden_pages());
        let query = Query::And(parts);
        let request = RetrievalRequest { until: self.until, ..RetrievalRequest::new(&query, limit) };
        let found = self.view.retrieve(&request)?.candidates;
        Ok(found.iter().map(|candidate| candidate.page).collect())
    }

    /// Stage one. Blocked and hidden pages are excluded by the query, so they are neither found nor counted.
    fn retrieve_candidates(
        &self,
        step: usize,
        query: &mut Query,
        options: ResultOptions,
        found: &mut RankedResults,
        source: &mut dyn CandidateSource,
    ) -> Result<Option<Vec<Candidate>>, IndexError> {
        self.exclude_pages(query);
        let limit = self.query.candidates.max(self.query.max_results);
        let request = self.request(query, options, limit);
        let Some(of_index) = source.candidates(step, &request, self.query.max_results)? else {
            return Ok(None);
        };
        (found.total, found.total_is_exact) = (of_index.total, of_index.total_is_exact);
        found.is_partial = of_index.is_partial;
        Ok(Some(of_index.candidates))
    }

    /// Excludes blocked and hidden pages from a query.
    fn exclude_pages(&self, query: &mut Query) {
        self.boosts.exclude_blocked(query);
        if !self.hidden.is_empty() {
            *query = narrowed(query, Query::Not(Box::new(self.hidden_pages())));
        }
    }

    fn request<'q>(&self, query: &'q Query, options: ResultOptions, limit: usize) -> RetrievalRequest<'q> {
        RetrievalRequest {
            rank_weight: self.query.rank_weight as f32,
            every_address: options.all,
            count_up_to: COUNT_LIMIT,
            newest_first: options.newest_first,
            until: self.until,
            ..RetrievalRequest::new(query, limit)
        }
    }
}
