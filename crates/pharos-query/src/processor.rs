//! Query processing: parse, retrieve, arrange, respond.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use pharos_core::config::{Config, CorrectConfig, QueryConfig, RankConfig};
use pharos_core::{Clock, PageId, PageUrl, SystemClock};
use pharos_index::{Facet, Index, IndexError, IndexView, PageLabel, Query, ResultFields, StoredPage};
use pharos_mining::CacheUse;
use pharos_mining::clicks::learnt::LearntClicks;
use pharos_text::Analyser;
use thiserror::Error;

use crate::assist::correction::{Corrector, is_certain, sounds_alike};
use crate::assist::suggestion_sources::SuggestionSources;
use crate::cache::responses::ResponseKey;
use crate::cache::{QueryCaches, ResponseState, record_lookup};
use crate::curation::active::CuratedBy;
use crate::curation::records::CurationRecords;
use crate::curation::watched::WatchedCuration;
use crate::execution::QueryExecution;
use crate::language::expression::Expression;
use crate::language::filters::Filters;
use crate::language::parse::parse;
use crate::rank::boost::RankingRules;
use crate::rank::user_weight::{ClickRules, Clicks};
use crate::request::{QueryKey, ResultOptions, SearchRequest};
use crate::response::{IndexedPage, SearchResponse};
use crate::retrieval::retriever::{COUNT_LIMIT, RetrievalQuery, Retriever};
use crate::stage_timer::StageTimer;

/// Number of results from which a query is not corrected.
const MAX_CORRECTED_RESULTS: u64 = 200;

/// A certain correction of a query with enough results has this many times as many results.
const MORE_RESULTS: u64 = 10;

/// Maximum number of categories that are counted.
const MAX_CATEGORIES: usize = 10_000;

/// An error of a search.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The index reported an error.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The index contains an invalid URL.
    #[error("the index contains the invalid URL `{0}`: rebuild it with `pharos index build`")]
    InvalidUrl(String),
}

/// Loads the sources of suggestions and corrections for a view of the index.
pub(crate) type LoadSuggestions =
    dyn Fn(&dyn IndexView) -> Result<SuggestionSources, QueryError> + Send + Sync;

/// Processes queries on an index. Cheap to share; all calls are independent.
///
/// It knows the clicks and suggestions it is given, but no logs: [`SearchService`](crate::SearchService) adds these.
pub struct QueryProcessor {
    index: Arc<dyn Index>,
    query: QueryConfig,
    ranking: ArcSwap<RankingRules>,
    clicks: ArcSwap<Clicks>,
    clock: Arc<dyn Clock>,
    correct: CorrectConfig,
    suggestions: ArcSwap<SuggestionSources>,
    /// Loads suggestions when they are first needed.
    load_suggestions: Option<Box<LoadSuggestions>>,
    curation: WatchedCuration,
    pub(crate) caches: QueryCaches,
}

/// The result of a cache lookup.
pub enum CacheLookup {
    /// The cached response.
    Cached(Box<SearchResponse>),
    /// The response has to be computed by [`QueryProcessor::complete`].
    Missing(Box<PendingQuery>),
}

/// A query whose response is not cached.
pub struct PendingQuery {
    request: SearchRequest,
    prepared: PreparedQuery,
    /// Time of the lookup.
    pub(crate) since: Instant,
}

impl QueryProcessor {
    /// Creates a processor of queries on `index`.
    pub fn new(index: Arc<dyn Index>, config: &Config) -> Self {
        Self {
            index,
            query: config.query.clone(),
            ranking: ArcSwap::from_pointee(RankingRules::from_config(&config.rank)),
            clicks: ArcSwap::default(),
            clock: Arc::new(SystemClock),
            correct: config.correct.clone(),
            suggestions: ArcSwap::default(),
            load_suggestions: None,
            curation: WatchedCuration::default(),
            caches: QueryCaches::new(config.cache.memory.bytes()),
        }
    }

    /// Replaces the clock.
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Applies the decisions of operators that are stored in the directory of models, and follows their changes.
    pub fn with_curation(self, models: &Path) -> Self {
        Self { curation: WatchedCuration::open(models, self.clock.now()), ..self }
    }

    /// Applies changed decisions of operators at once, instead of within a second.
    pub fn reload_curation(&self) {
        self.curation.reload(self.clock.now());
    }

    /// Runs a search as if `records` were the decisions of operators. Nothing is cached.
    pub fn preview(
        &self,
        request: &SearchRequest,
        records: &CurationRecords,
    ) -> Result<SearchResponse, QueryError> {
        let started = Instant::now();
        let request = SearchRequest { explain: true, ..request.clone() };
        let mut prepared = self.prepare(&request, self.query.max_length, self.index.view()?);
        prepared.state.curation = Arc::new(self.curation.compile(records, self.clock.now()));
        self.respond(&request, prepared, started)
    }

    /// Returns who hid a page from the results of all queries.
    pub fn hidden_by(&self, page: PageId) -> Option<CuratedBy> {
        self.curation.current(self.clock.now()).hidden_by(page).cloned()
    }

    /// Returns whether each page is searchable.
    pub fn are_searchable(&self, pages: &[PageId]) -> Result<Vec<bool>, QueryError> {
        let candidates = self.index.view()?.candidates(pages)?;
        Ok(candidates.iter().map(Option::is_some).collect())
    }

    /// Loads suggestions with `load` when they are first needed.
    pub(crate) fn with_suggestions_on_demand(self, load: Box<LoadSuggestions>) -> Self {
        Self { load_suggestions: Some(load), ..self }
    }

    /// Applies new ranking settings. Cached responses of the old settings are no longer used.
    pub fn set_ranking(&self, rank: &RankConfig) {
        if self.ranking().rank != *rank {
            self.ranking.store(Arc::new(RankingRules::from_config(rank)));
        }
    }

    /// Replaces the click counts used for ranking.
    pub fn set_clicks(&self, clicks: Clicks) {
        self.clicks.store(Arc::new(clicks));
    }

    /// Replaces what builds have learnt from clicks.
    pub fn set_learnt_clicks(&self, learnt: Arc<LearntClicks>) {
        self.clicks().set_learnt(learnt);
    }

    /// Ends a click day, so that earlier clicks decay.
    pub fn end_click_day(&self) {
        self.clicks().end_day(&ClickRules::from_config(&self.ranking().rank));
    }

    /// Replaces the sources of suggestions and corrections.
    pub fn set_suggestion_sources(&self, suggestions: SuggestionSources) {
        self.suggestions.store(Arc::new(suggestions));
    }

    /// Returns the sources of suggestions and corrections that are loaded.
    pub fn suggestion_sources(&self) -> Arc<SuggestionSources> {
        self.suggestions.load_full()
    }

    /// Returns the sources of suggestions and corrections, and loads them if that is left to the first use.
    pub(crate) fn load_suggestion_sources(
        &self,
        view: &dyn IndexView,
    ) -> Result<Arc<SuggestionSources>, QueryError> {
        let loaded = self.suggestion_sources();
        match &self.load_suggestions {
            Some(load) if loaded.is_empty() => {
                self.set_suggestion_sources(load(view)?);
                Ok(self.suggestion_sources())
            }
            _ => Ok(loaded),
        }
    }

    /// Returns a view of the current index.
    pub(crate) fn view(&self) -> Result<Arc<dyn IndexView>, QueryError> {
        Ok(self.index.view()?)
    }

    /// Returns `true` if a response has so few results that the query may be misspelled.
    pub fn has_few_results(&self, response: &SearchResponse) -> Result<bool, QueryError> {
        let analyser = Analyser::with_vocabulary(self.index.vocabulary());
        Ok(self.few_results(&*self.index.view()?, &analyser, response)?.is_some())
    }

    /// Returns the number of results if it is so low that the query may be misspelled.
    fn few_results(
        &self,
        view: &dyn IndexView,
        analyser: &Analyser,
        response: &SearchResponse,
    ) -> Result<Option<u64>, QueryError> {
        if response.query.is_empty() {
            return Ok(None);
        }
        let results = exact_results(view, analyser, response)?;
        Ok(Some(results).filter(|results| *results < self.correct.below))
    }

    /// Returns a correction that has more results in the view.
    ///
    /// For a query with few results any correction will do. A query with more results needs a certain one with
    /// [`MORE_RESULTS`] times as many. Han characters that no page contains in this order are wrong characters if others
    /// of the same sound have results, however many pages contain them apart.
    fn correction(
        &self,
        view: &dyn IndexView,
        analyser: &Analyser,
        response: &SearchResponse,
    ) -> Result<Option<Correction>, QueryError> {
        let has_sources = self.load_suggestions.is_some() || !self.suggestion_sources().is_empty();
        if !has_sources || response.query.is_empty() || self.correct.below == 0 {
            return Ok(None);
        }
        let results = exact_results(view, analyser, response)?;
        let has_few = results < self.correct.below;
        if results >= MAX_CORRECTED_RESULTS {
            return Ok(None);
        }
        let suggestions = self.load_suggestion_sources(view)?;
        let pages = |term: &str| {
            let found = view.frequencies(&[term.to_string()]);
            found.ok().and_then(|found| found.with_term.first().copied()).unwrap_or_default()
        };
        let corrector = Corrector { suggestions: &suggestions, costs: &self.correct, pages: &pages };
        let is_indexed = |word: &str, kind| view.is_indexed_word(word, kind);
        let count = |text: &str| -> Result<u64, QueryError> {
            Ok(view.count(&parse(text, analyser).to_query(&is_indexed), COUNT_LIMIT)?.pages)
        };
        for text in corrector.corrections(&response.query) {
            let is_certain = is_certain(&response.query, &text);
            let is_unwritten = sounds_alike(&response.query, &text)
                && changed_pieces(&response.query, &text)
                    .map(|piece| count(&format!("\"{piece}\"")))
                    .any(|pages| pages.is_ok_and(|pages| pages == 0));
            let least = if has_few {
                results + 1
            } else if is_unwritten {
                1
            } else if is_certain {
                results.saturating_mul(MORE_RESULTS)
            } else {
                continue;
            };
            if count(&text)? >= least {
                let replaces = is_unwritten || (is_certain && response.total == 0);
                return Ok(Some(Correction { text, replaces }));
            }
        }
        Ok(None)
    }

    /// Records a click on a page from the nth result page of a query, counted from 1. It takes effect immediately.
    pub fn record_click(&self, query: &str, page: PageId, nth: usize) {
        self.clicks().click(query, page, nth);
    }

    /// Runs queries to fill the cache for the current state of the index. Returns the number of queries that were not
    /// cached.
    pub fn warm<'q>(&self, queries: impl IntoIterator<Item = &'q str>) -> Result<usize, QueryError> {
        let mut new = 0;
        for query in queries {
            new += usize::from(self.run(&SearchRequest::new(query))?.cache != CacheUse::Hit);
        }
        Ok(new)
    }

    /// Runs a search. Every text is a valid query.
    pub fn run(&self, request: &SearchRequest) -> Result<SearchResponse, QueryError> {
        self.run_with_limit(request, self.query.max_length)
    }

    /// Returns pages similar to a page, best first, of the sites `within` if there are any. Like the operator `related:`,
    /// but for URLs of any length.
    pub fn similar(
        &self,
        url: &PageUrl,
        size: usize,
        within: Vec<String>,
    ) -> Result<SearchResponse, QueryError> {
        let text = format!("related:\"{url}\"");
        let length = text.chars().count();
        let filters = Filters { within, ..Filters::default() };
        self.run_with_limit(&SearchRequest { size, filters, ..SearchRequest::new(text) }, length)
    }

    /// Runs a search whose text is limited to `length` characters.
    fn run_with_limit(&self, request: &SearchRequest, length: usize) -> Result<SearchResponse, QueryError> {
        let started = Instant::now();
        let prepared = self.prepare(request, length, self.index.view()?);
        self.respond(request, prepared, started)
    }

    /// Looks up the cached response to a request in the most recently opened view. Takes microseconds.
    pub fn lookup(&self, request: SearchRequest) -> Result<CacheLookup, QueryError> {
        let started = Instant::now();
        let prepared = self.prepare(&request, self.query.max_length, self.index.cached_view()?);
        let cached = prepared
            .key
            .as_ref()
            .and_then(|key| self.caches.responses.get_without_counting(key, &prepared.state));
        Ok(match cached {
            Some(cached) => {
                record_lookup("answers", true);
                CacheLookup::Cached(Box::new(cached_response(cached, prepared.text, started)))
            }
            None => CacheLookup::Missing(Box::new(PendingQuery { request, prepared, since: started })),
        })
    }

    /// Runs a query that was not cached, on the current view.
    pub fn complete(&self, pending: PendingQuery) -> Result<SearchResponse, QueryError> {
        let started = Instant::now();
        let PendingQuery { request, mut prepared, .. } = pending;
        let view = self.index.view()?;
        if view.state_id() != prepared.state.generation {
            self.caches.observe_history(view.history());
            prepared.continue_on(view, &request);
        }
        self.respond(&request, prepared, started)
    }

    /// Returns the number of results per page of a request.
    pub(crate) fn page_size(&self, request: &SearchRequest) -> usize {
        if request.size == 0 { self.query.page_size.max(1) } else { request.size }
    }

    /// Prepares a request: determines everything its response depends on.
    fn prepare(&self, request: &SearchRequest, length: usize, view: Arc<dyn IndexView>) -> PreparedQuery {
        let text: String = request.text.chars().take(length).collect();
        self.caches.observe_history(view.history());
        let clicks = self.clicks();
        let state = ResponseState {
            generation: view.state_id().to_string(),
            day: self.today(),
            words: self.index.vocabulary(),
            clicks: clicks.stamp(&text),
            ranking: self.ranking(),
            curation: self.curation.current(self.clock.now()),
        };
        let query = QueryKey::new(&text, &request.filters, request.options);
        let (page, size) = (request.page.max(1), self.page_size(request));
        let mut prepared = PreparedQuery { text, query, size, page, view, clicks, state, key: None };
        prepared.key = prepared.response_key(request);
        prepared
    }

    /// Responds to a request, from the cache if possible.
    fn respond(
        &self,
        request: &SearchRequest,
        prepared: PreparedQuery,
        started: Instant,
    ) -> Result<SearchResponse, QueryError> {
        if let Some(key) = &prepared.key {
            let cached = self.caches.responses.get(key, &prepared.state);
            record_lookup("answers", cached.is_some());
            if let Some(cached) = cached {
                return Ok(cached_response(cached, prepared.text, started));
            }
        }
        let mut response = self.execute(request, &prepared, started)?;
        if let Some(key) = prepared.key.filter(|_| !response.partial) {
            self.caches.responses.insert(key, prepared.state, &response);
        }
        response.took_ms = milliseconds(started);
        Ok(response)
    }

    /// Executes a query on the view it was prepared for.
    fn execute(
        &self,
        request: &SearchRequest,
        prepared: &PreparedQuery,
        started: Instant,
    ) -> Result<SearchResponse, QueryError> {
        let PreparedQuery { text, query, size, page, view, clicks, state, .. } = prepared;
        let stage = StageTimer::start();
        let analyser = Analyser::with_vocabulary(Arc::clone(&state.words));
        let mut typed = parse(text, &analyser);
        state.curation.rewrite(&mut typed, &analyser);
        let curation = state.curation.for_query(text);
        stage.stop("understand");
        let mut response = SearchResponse {
            query: text.clone(),
            understood: typed.to_string(),
            generation: state.generation.clone(),
            total_is_exact: true,
            page: *page,
            notice: curation.notice.cloned(),
            exact_query: typed.with_required_words().map(|strict| strict.to_string()),
            ..SearchResponse::default()
        };
        if !typed.is_empty() {
            let mut parts = vec![typed];
            parts.extend(request.filters.expressions(state.day));
            let expression = Expression::all(parts);
            let until = started.checked_add(self.query.time);
            let retriever = self.retriever(&**view, &analyser, clicks, &state.ranking);
            let hidden: Vec<PageId> = curation.hidden.iter().map(|hidden| hidden.page).collect();
            let (hidden, today) = (hidden.as_slice(), state.day);
            let retriever = Retriever { until, state: Some(state), today, hidden, ..retriever };
            let (caches, size) = (&self.caches, *size);
            let (expression, curation) = (&expression, &curation);
            QueryExecution { request, query, expression, retriever, caches, state, curation, size }
                .fill(&mut response)?;
        }
        // A narrow selection of filters is not a misspelling.
        if request.filters.is_empty() {
            let stage = StageTimer::start();
            let correction = self.correction(&**view, &analyser, &response)?;
            stage.stop("correct");
            if let Some(Correction { text: corrected, replaces }) = correction {
                let replaces = replaces && !request.options.as_typed;
                if replaces && !response.hits.iter().any(|hit| hit.pinned) {
                    response = self.execute_correction(&corrected, request, prepared, started)?;
                    response.query.clone_from(text);
                    response.is_corrected = true;
                }
                response.corrected = Some(corrected);
            }
        }
        Ok(response)
    }

    /// Executes the correction of a query in the same state.
    fn execute_correction(
        &self,
        corrected: &str,
        request: &SearchRequest,
        prepared: &PreparedQuery,
        started: Instant,
    ) -> Result<SearchResponse, QueryError> {
        let options = ResultOptions { as_typed: true, ..request.options };
        let request = SearchRequest { text: corrected.to_string(), options, ..request.clone() };
        let PreparedQuery { size, page, view, clicks, state, .. } = prepared;
        let prepared = PreparedQuery {
            text: corrected.to_string(),
            query: QueryKey::new(corrected, &request.filters, options),
            size: *size,
            page: *page,
            view: Arc::clone(view),
            clicks: Arc::clone(clicks),
            state: ResponseState { clicks: clicks.stamp(corrected), ..state.clone() },
            key: None,
        };
        self.execute(&request, &prepared, started)
    }

    /// Returns all pages that match a text, copies included, best first. Nothing is folded.
    pub fn matching(&self, text: &str) -> Result<Vec<PageId>, QueryError> {
        let expression = self.parse(text);
        if expression.is_empty() {
            return Ok(Vec::new());
        }
        let view = self.index.view()?;
        let is_indexed = |word: &str, kind| view.is_indexed_word(word, kind);
        let mut found = view.search_addresses(&expression.to_query(&is_indexed), usize::MAX)?;
        if found.candidates.is_empty()
            && let Some(split) = expression.to_split_query(&is_indexed)
        {
            found = view.search_addresses(&split, usize::MAX)?;
        }
        Ok(found.candidates.iter().map(|candidate| candidate.page).collect())
    }

    /// Returns the best `count` pages for a text, copies included, by rank. Nothing is folded.
    pub fn best(&self, text: &str, count: usize) -> Result<Vec<PageId>, QueryError> {
        self.rank_pages(text, count, ResultOptions { all: true, ..ResultOptions::default() })
    }

    /// Returns the best `count` pages that contain some of the words.
    pub(crate) fn best_with_any_word(&self, text: &str, count: usize) -> Result<Vec<PageId>, QueryError> {
        self.rank_pages(text, count, ResultOptions { any_word: true, ..ResultOptions::default() })
    }

    /// Ranks pages without a time limit.
    fn rank_pages(
        &self,
        text: &str,
        count: usize,
        options: ResultOptions,
    ) -> Result<Vec<PageId>, QueryError> {
        let analyser = Analyser::with_vocabulary(self.index.vocabulary());
        let text: String = text.chars().take(self.query.max_length).collect();
        let expression = parse(&text, &analyser);
        if expression.is_empty() {
            return Ok(Vec::new());
        }
        let view = self.index.view()?;
        let query = QueryConfig { max_results: count, ..self.query.clone() };
        let (clicks, ranking) = (self.clicks(), self.ranking());
        let retriever = self.retriever(&*view, &analyser, &clicks, &ranking);
        let retriever = Retriever { query: &query, ..retriever };
        let found = retriever.retrieve(RetrievalQuery { expression: &expression, text: &text, options })?;
        Ok(found.results.iter().map(|scored| scored.candidate.page).collect())
    }

    /// Returns the maximum number of results that can be paged through.
    pub fn max_results(&self) -> usize {
        self.query.max_results
    }

    /// Returns the index entry of one page.
    pub fn page(&self, id: PageId) -> Result<Option<IndexedPage>, QueryError> {
        Ok(self.page_with_text(id)?.map(|(page, _)| page))
    }

    /// Returns the index entry of one page, and its text.
    pub fn page_with_text(&self, id: PageId) -> Result<Option<(IndexedPage, String)>, QueryError> {
        let Some(StoredPage { fields, text, .. }) = self.index.view()?.page(id)? else { return Ok(None) };
        let url = PageUrl::parse(&fields.url).map_err(|_| QueryError::InvalidUrl(fields.url))?;
        let ResultFields { title, lang, fetched, position, archive, .. } = fields;
        Ok(Some((IndexedPage { url, title, lang, fetched, position, archive }, text.body)))
    }

    /// Returns the number of searchable pages, and the identifier of the state of the index.
    pub fn index_state(&self) -> Result<(u64, String), QueryError> {
        let view = self.index.view()?;
        Ok((view.pages()?, view.state_id().to_string()))
    }

    /// Returns the number of searchable pages.
    pub fn pages(&self) -> Result<u64, QueryError> {
        Ok(self.index.view()?.pages()?)
    }

    /// Returns the number of pages of every category, with those of the categories below it.
    pub fn category_counts(&self) -> Result<HashMap<String, u64>, QueryError> {
        let facets = [Facet::Label(PageLabel::Category)];
        let counted = self.index.view()?.facets(&Query::All, &facets, MAX_CATEGORIES, u64::MAX, None)?;
        Ok(counted.into_iter().flatten().map(|count| (count.value, count.pages)).collect())
    }

    /// Returns the words of a query that can be highlighted in its results.
    pub fn words(&self, text: &str) -> Vec<String> {
        self.parse(text).words()
    }

    /// Parses a text with the current vocabulary of the installation.
    fn parse(&self, text: &str) -> Expression {
        let text: String = text.chars().take(self.query.max_length).collect();
        parse(&text, &Analyser::with_vocabulary(self.index.vocabulary()))
    }

    fn retriever<'a>(
        &'a self,
        view: &'a dyn IndexView,
        analyser: &'a Analyser,
        clicks: &'a Clicks,
        ranking: &'a RankingRules,
    ) -> Retriever<'a> {
        Retriever {
            view,
            analyser,
            query: &self.query,
            rank: &ranking.rank,
            boosts: &ranking.boosts,
            hidden: &[],
            clicks,
            today: self.today(),
            until: None,
            state: None,
        }
    }

    /// Returns the current day number.
    fn today(&self) -> i64 {
        self.clock.now().seconds().div_euclid(86_400)
    }

    fn ranking(&self) -> Arc<RankingRules> {
        self.ranking.load_full()
    }

    fn clicks(&self) -> Arc<Clicks> {
        self.clicks.load_full()
    }
}

/// A request with everything its response depends on.
struct PreparedQuery {
    text: String,
    query: QueryKey,
    size: usize,
    page: usize,
    view: Arc<dyn IndexView>,
    clicks: Arc<Clicks>,
    state: ResponseState,
    /// Cache key; `None` if the response must not be cached.
    key: Option<ResponseKey>,
}

impl PreparedQuery {
    /// Returns the cache key, or `None` if the response must not be cached: explanations describe the actual
    /// processing, and a page that continues another state is not part of the response for this state.
    fn response_key(&self, request: &SearchRequest) -> Option<ResponseKey> {
        let from = request.generation.as_ref().filter(|_| self.page > 1);
        let continues_another = from.is_some_and(|from| *from != self.state.generation);
        (!request.explain && !continues_another).then(|| ResponseKey {
            query: self.query.clone(),
            page: self.page,
            size: self.size,
            facets: request.facets,
        })
    }

    /// Replaces the view by a newer one.
    fn continue_on(&mut self, view: Arc<dyn IndexView>, request: &SearchRequest) {
        self.state.generation = view.state_id().to_string();
        self.view = view;
        self.key = self.response_key(request);
    }
}

/// Returns the number of pages that contain the whole query as written.
fn exact_results(
    view: &dyn IndexView,
    analyser: &Analyser,
    response: &SearchResponse,
) -> Result<u64, QueryError> {
    if response.relaxed {
        return Ok(0);
    }
    let is_indexed = |word: &str, kind| view.is_indexed_word(word, kind);
    let expression = parse(&response.query, analyser);
    if expression.to_split_query(&is_indexed).is_some() {
        // The characters of an unknown word may be scattered over the pages found.
        Ok(view.count(&expression.to_query(&is_indexed), COUNT_LIMIT)?.pages)
    } else {
        Ok(response.total)
    }
}

/// A correction of a query.
struct Correction {
    text: String,
    /// Its results are shown at once.
    replaces: bool,
}

/// Returns the pieces of a query that a correction changes.
fn changed_pieces<'t>(typed: &'t str, corrected: &str) -> impl Iterator<Item = &'t str> {
    let kept: Vec<String> = corrected.split_whitespace().map(str::to_string).collect();
    typed.split_whitespace().filter(move |piece| !kept.iter().any(|kept| kept == piece))
}

/// Adapts a cached response to the request.
fn cached_response(cached: SearchResponse, text: String, started: Instant) -> SearchResponse {
    SearchResponse { query: text, cache: CacheUse::Hit, took_ms: milliseconds(started), ..cached }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::language::filters::Age;
    use crate::testing::open_index;
    use pharos_core::{LibraryPosition, LibraryPositions};
    use pharos_index::{IndexChange, IndexDocument};
    use pharos_text::vocabulary::Vocabulary;

    fn search(pages: &[(&str, &str, &str)]) -> (tempfile::TempDir, QueryProcessor) {
        let (dir, index) = indexed(pages);
        (dir, QueryProcessor::new(index, &Config::default()))
    }

    fn indexed(pages: &[(&str, &str, &str)]) -> (tempfile::TempDir, Arc<dyn Index>) {
        let dir = tempfile::tempdir().unwrap();
        let index = open_index(dir.path());
        let changes = pages.iter().map(|(url, title, body)| {
            IndexChange::Put(Box::new(IndexDocument {
                title: (*title).into(),
                body: (*body).into(),
                lang: "en".into(),
                ..IndexDocument::new(PageUrl::parse(url).unwrap())
            }))
        });
        index.apply(changes.collect()).unwrap();
        index.commit(&LibraryPosition::new(1, 1).into()).unwrap();
        (dir, index)
    }

    /// An index that counts how often its state is read.
    struct CountingIndex {
        index: Arc<dyn Index>,
        views: AtomicUsize,
        vocabularies: AtomicUsize,
    }

    impl CountingIndex {
        /// Returns the number of views and of vocabularies read since the last call.
        fn take(&self) -> (usize, usize) {
            (self.views.swap(0, Ordering::Relaxed), self.vocabularies.swap(0, Ordering::Relaxed))
        }
    }

    impl Index for CountingIndex {
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
            self.vocabularies.fetch_add(1, Ordering::Relaxed);
            self.index.vocabulary()
        }
        fn view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
            self.views.fetch_add(1, Ordering::Relaxed);
            self.index.view()
        }
        fn cached_view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
            self.index.cached_view()
        }
    }

    #[test]
    fn a_query_is_prepared_once_and_reads_one_view() {
        let (dir, index) = indexed(&[("http://a.example/1", "The lighthouse", "lighthouse keepers")]);
        let (views, vocabularies) = Default::default();
        let index = Arc::new(CountingIndex { index, views, vocabularies });
        let search = QueryProcessor::new(Arc::clone(&index) as Arc<dyn Index>, &Config::default());
        let (view, suggest) = (search.view().unwrap(), Config::default().suggest);
        let none = SuggestionSources::default();
        let sources = SuggestionSources::collect(dir.path(), &*view, [], &suggest, &none).unwrap();
        search.set_suggestion_sources(sources);
        index.take();
        let response = search.run(&SearchRequest::new("lighthuose")).unwrap();
        assert_eq!(response.corrected.as_deref(), Some("lighthouse"));
        assert_eq!(index.take(), (1, 1), "the correction reads the same state");
        let CacheLookup::Missing(pending) = search.lookup(SearchRequest::new("keepers")).unwrap() else {
            panic!("never searched before")
        };
        assert_eq!(index.take(), (0, 1), "the lookup reads the view that is open");
        assert_eq!(search.complete(*pending).unwrap().total, 1);
        assert_eq!(index.take(), (1, 0), "what the lookup has prepared is used");
    }

    #[test]
    fn a_named_site_shows_its_important_pages() {
        let (_dir, search) = search(&[
            ("http://museum.example/", "Lighthouse Museum", "Welcome to the lighthouse museum."),
            ("http://museum.example/lights", "Lights - Lighthouse Museum", "All lights of the coast."),
            ("http://museum.example/hours", "Hours - Lighthouse Museum", "We are open every day."),
            ("http://other.example/walk", "A walk to the lighthouse museum", "It is near the harbour."),
        ]);
        let response = search.run(&SearchRequest::new("lighthouse museum")).unwrap();
        assert_eq!(response.hits[0].url, "http://museum.example/");
        let mut titles: Vec<&str> =
            response.hits[0].sitelinks.iter().map(|link| link.title.as_str()).collect();
        titles.sort_unstable();
        assert_eq!(titles, ["Hours", "Lights"]);
        assert!(response.hits[1..].iter().all(|hit| hit.sitelinks.is_empty()));
        let ordinary = search.run(&SearchRequest::new("coast")).unwrap();
        assert!(ordinary.hits.iter().all(|hit| hit.sitelinks.is_empty()));
    }

    #[test]
    fn a_query_that_waited_sees_the_current_index() {
        let (_dir, index) = indexed(&[("http://a.example/1", "The lighthouse", "lighthouse keepers")]);
        let search = QueryProcessor::new(Arc::clone(&index), &Config::default());
        let CacheLookup::Missing(pending) = search.lookup(SearchRequest::new("keepers")).unwrap() else {
            panic!("never searched before")
        };
        let url = PageUrl::parse("http://a.example/2").unwrap();
        let page = IndexDocument { body: "more keepers".into(), ..IndexDocument::new(url) };
        index.apply(vec![IndexChange::Put(Box::new(page))]).unwrap();
        index.commit(&LibraryPosition::new(1, 2).into()).unwrap();
        let response = search.complete(*pending).unwrap();
        assert_eq!(response.total, 2);
        assert_eq!(response.generation, search.view().unwrap().state_id());
        let again = cached(&search, SearchRequest::new("keepers")).unwrap();
        assert_eq!((again.total, again.cache), (2, CacheUse::Hit));
    }

    fn cached(search: &QueryProcessor, request: SearchRequest) -> Option<SearchResponse> {
        match search.lookup(request).unwrap() {
            CacheLookup::Cached(response) => Some(*response),
            CacheLookup::Missing(_) => None,
        }
    }

    #[test]
    fn the_better_page_comes_first_with_its_words_marked() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "A walk", "we saw a lighthouse and much else on the way"),
            ("http://a.example/2", "The lighthouse", "lighthouse keepers"),
            ("http://b.example/3", "Tea", "nothing of the kind"),
        ]);
        let response = search.run(&SearchRequest::new("Lighthouse")).unwrap();
        assert_eq!(response.total, 2);
        assert_eq!(response.hits[0].url, "http://a.example/2");
        assert_eq!(response.hits[0].title_html, "The <mark>lighthouse</mark>");
        assert!(response.hits[1].snippet_html.contains("<mark>lighthouse</mark>"));
        assert_eq!(response.hits[0].site, "a.example");
        assert_eq!(search.run(&SearchRequest::new("lighthouse site:b.example")).unwrap().total, 0);
        let id = PageUrl::parse("http://b.example/3").unwrap().id();
        assert_eq!(search.page(id).unwrap().unwrap().title, "Tea");
    }

    #[test]
    fn what_an_operator_blocks_is_gone_at_once() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "The lighthouse", "lighthouse keepers"),
            ("http://b.example/2", "Lighthouses", "a lighthouse and its keepers"),
        ]);
        let found = |cache| {
            let response = search.run(&SearchRequest::new("lighthouse")).unwrap();
            assert_eq!(response.cache, cache);
            response.hits.into_iter().map(|hit| hit.site).collect::<HashSet<_>>()
        };
        assert_eq!(found(CacheUse::Miss).len(), 2);
        let mut rank = Config::default().rank;
        search.set_ranking(&rank);
        assert_eq!(found(CacheUse::Hit).len(), 2, "nothing has changed");
        rank.block = vec!["b.example".into()];
        search.set_ranking(&rank);
        assert_eq!(found(CacheUse::Miss), HashSet::from(["a.example".to_string()]));
    }

    #[test]
    fn a_page_with_any_address_has_its_like() {
        let long = format!("http://a.example/({})|x", "long/".repeat(100));
        let text = "lighthouse keepers light the lamp of the lighthouse";
        let (_dir, search) = search(&[
            (&long, "The lighthouse", text),
            ("http://b.example/2", "Lighthouses", text),
            ("http://b.example/3", "Tea", "nothing of the kind"),
        ]);
        let urls = |url: &str| -> Vec<String> {
            let response = search.similar(&PageUrl::parse(url).unwrap(), 10, Vec::new()).unwrap();
            response.hits.into_iter().map(|hit| hit.url).collect()
        };
        assert_eq!(urls(&long), ["http://b.example/2"]);
        assert_eq!(urls("http://b.example/none"), [""; 0]);
    }

    #[test]
    fn pages_of_results_do_not_overlap_and_end() {
        let urls: Vec<String> = (0..25).map(|n| format!("http://a.example/{n}")).collect();
        let pages: Vec<_> = urls.iter().map(|u| (u.as_str(), "Same", "same words")).collect();
        let (_dir, search) = search(&pages);
        let mut seen = HashSet::new();
        for page in 1..=3 {
            let response =
                search.run(&SearchRequest { page, size: 10, ..SearchRequest::new("same") }).unwrap();
            assert_eq!((response.total, response.page), (25, page));
            seen.extend(response.hits.into_iter().map(|h| h.url));
        }
        assert_eq!(seen.len(), 25);
        for page in [4, 1000, usize::MAX] {
            let response =
                search.run(&SearchRequest { page, size: 10, ..SearchRequest::new("same") }).unwrap();
            assert_eq!((response.hits.len(), response.last_page), (0, Some(3)));
        }
    }

    #[test]
    fn forms_are_found_exact_ones_first_and_quotes_mean_what_they_say() {
        let (_dir, search) = search(&[
            ("http://a.example/run", "Notes", "people run along the shore"),
            ("http://a.example/running", "Notes", "people running along the shore"),
            ("http://a.example/other", "Notes", "people walk along the shore"),
        ]);
        let urls = |text: &str| -> Vec<String> {
            let response = search.run(&SearchRequest::new(text)).unwrap();
            response.hits.into_iter().map(|hit| hit.url.replace("http://a.example/", "")).collect()
        };
        assert_eq!(urls("running"), ["running", "run"]);
        assert_eq!(urls("run"), ["run", "running"]);
        assert_eq!(urls("\"running\""), ["running"]);
        assert_eq!(urls("\"people run\""), ["run"]);
        assert_eq!(urls("the people of a run").len(), 2, "stop words are optional");
        assert_eq!(urls("\"of the shore\"").len(), 0, "in quotes they are required");
        assert_eq!(urls("the").len(), 3);
    }

    #[test]
    fn misspelled_queries_get_a_correction_and_their_own_results() {
        let (dir, search) = search(&[
            ("http://a.example/1", "The lighthouse", "lighthouse keepers of the north"),
            ("http://a.example/2", "周杰伦演唱会 - 海港音乐网", "周杰伦的演唱会"),
            ("http://a.example/3", "Tea and lighthouses", "a lamp"),
        ]);
        assert_eq!(
            search.run(&SearchRequest::new("lighthuose keepers")).unwrap().corrected,
            None,
            "no suggestions are loaded yet"
        );
        let config = Config::default();
        let view = search.view().unwrap();
        let gather = |before: &SuggestionSources| {
            let queries = [("lighthouse keepers".to_string(), 9.0)];
            SuggestionSources::collect(dir.path(), &*view, queries, &config.suggest, before).unwrap()
        };
        search.set_suggestion_sources(gather(&gather(&SuggestionSources::default())));
        let response = search.run(&SearchRequest::new("lighthuose keepers of")).unwrap();
        assert_eq!(response.corrected.as_deref(), Some("lighthouse keepers of"));
        assert!(response.is_corrected && response.query == "lighthuose keepers of");
        assert_eq!((response.total, response.relaxed), (1, false));
        let as_typed = ResultOptions { as_typed: true, ..ResultOptions::default() };
        let typed = SearchRequest { options: as_typed, ..SearchRequest::new("lighthuose keepers of") };
        let response = search.run(&typed).unwrap();
        assert_eq!((response.corrected.as_deref(), response.total), (Some("lighthouse keepers of"), 0));
        assert!(response.relaxed && !response.is_corrected);
        let response = search.run(&SearchRequest::new("周结伦")).unwrap();
        assert_eq!((response.corrected.as_deref(), response.total), (Some("周杰伦"), 1));
        assert_eq!((response.is_corrected, response.understood.as_str()), (true, "周杰伦"));
        for right in ["lighthouse", "\"lighthuose\"", "zzzzzz", ""] {
            assert_eq!(search.run(&SearchRequest::new(right)).unwrap().corrected, None, "{right}");
        }
        let suggest = |typed| -> Vec<String> {
            search
                .suggestion_sources()
                .suggest(typed, 3)
                .into_iter()
                .map(|suggestion| suggestion.text)
                .collect()
        };
        assert_eq!(suggest("ligh")[0], "lighthouse keepers", "past queries come first");
        assert_eq!(suggest("zhoujie"), ["周杰伦演唱会", "周杰伦"]);
        assert_eq!(suggest("haigang"), ["海港音乐网", "海港"]);
        assert!(suggest("\u{0}").is_empty() && suggest("").is_empty());
        let blocked =
            pharos_core::config::SuggestConfig { block: vec!["Keeper".into()], ..config.suggest.clone() };
        search.set_suggestion_sources(
            SuggestionSources::collect(
                dir.path(),
                &*view,
                [("lighthouse keepers".into(), 9.0)],
                &blocked,
                &SuggestionSources::default(),
            )
            .unwrap(),
        );
        assert!(!suggest("ligh").contains(&"lighthouse keepers".to_string()));
    }

    #[test]
    fn filters_narrow_the_results_and_are_cached_separately() {
        let (_dir, search) = search(&[
            ("http://a.example/1", "Lighthouse", "a lamp"),
            ("http://b.example/2", "Lighthouse", "a lamp by the sea"),
        ]);
        let with = |filters: Filters| {
            let request = SearchRequest { filters, facets: true, ..SearchRequest::new("lighthouse") };
            let (first, again) = (search.run(&request).unwrap(), cached(&search, request).unwrap());
            assert_eq!(again.cache, CacheUse::Hit);
            assert_eq!((&first.hits, &first.facets), (&again.hits, &again.facets));
            first
        };
        let site = |site: &str| Filters { site: Some(site.into()), ..Filters::default() };
        assert_eq!(with(Filters::default()).total, 2);
        let narrow = with(site("b.example"));
        assert_eq!((narrow.total, narrow.hits[0].url.as_str()), (1, "http://b.example/2"));
        assert_eq!((narrow.query.as_str(), narrow.understood.as_str()), ("lighthouse", "lighthouse"));
        assert_eq!(narrow.facets["site"].len(), 1);
        assert_eq!(with(site("nowhere.example")).total, 0);
        assert_eq!(with(site("a:b@c/ \n")).total, 0, "an invalid site is no error");
        assert_eq!(with(Filters { lang: Some("EN".into()), ..Filters::default() }).total, 2);
        assert_eq!(with(Filters { format: Some("pdf".into()), ..Filters::default() }).total, 0);
        assert_eq!(
            with(Filters { time: Some(Age::Year), ..Filters::default() }).total,
            0,
            "the pages have no date"
        );
        assert!(cached(&search, SearchRequest::new("never searched")).is_none());
    }

    #[test]
    fn nothing_asked_nothing_found() {
        let (_dir, search) = search(&[("http://a.example/", "T", "b")]);
        for text in ["", "???", "absent"] {
            let response = search.run(&SearchRequest::new(text)).unwrap();
            assert_eq!((response.total, response.hits.len()), (0, 0));
        }
        assert_eq!(search.pages().unwrap(), 1);
    }
}
