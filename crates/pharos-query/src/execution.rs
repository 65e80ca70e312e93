//! Execution of one query: retrieve, fold duplicates, arrange on pages, and fill one page of results.

mod sitelinks;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use pharos_core::config::ScoreWeights;
use pharos_core::{PageId, PageUrl};
use pharos_index::read::facets::FacetCount;
use pharos_index::{Candidate, Facet, IndexError, PageLabel, Query, StoredPage};
use pharos_mining::CacheUse;

use crate::cache::result_lists::{FacetCounts, ListKey, ListedResult, ResultList};
use crate::cache::{QueryCaches, ResponseState, record_lookup};
use crate::curation::active::{CuratedBy, QueryCuration};
use crate::language::expression::Expression;
use crate::language::filters::Age;
use crate::rank::Ranker;
use crate::rank::combine::ScoreParts;
use crate::request::{QueryKey, SearchRequest};
use crate::response::{FacetValue, HitExplanation, QueryExplanation, SearchHit, SearchResponse};
use crate::retrieval::arrange::{RankedResult, arrange};
use crate::retrieval::fold::{DuplicateFolder, FoldedResult};
use crate::retrieval::retriever::{COUNT_LIMIT, RankedResults, RetrievalQuery, Retriever};
use crate::snippet::highlight::{Marker, mark_html};
use crate::snippet::make_snippet;
use crate::stage_timer::StageTimer;

/// Maximum number of hidden pages in an explanation.
const MAX_HIDDEN: usize = 20;

/// Maximum number of values returned for each facet.
const FACET_VALUES: usize = 10;

/// The execution of one query on one view of the index.
pub(crate) struct QueryExecution<'a> {
    pub(crate) request: &'a SearchRequest,
    pub(crate) query: &'a QueryKey,
    pub(crate) expression: &'a Expression,
    pub(crate) retriever: Retriever<'a>,
    pub(crate) caches: &'a QueryCaches,
    pub(crate) state: &'a ResponseState,
    pub(crate) curation: &'a QueryCuration<'a>,
    /// Results per page.
    pub(crate) size: usize,
}

impl QueryExecution<'_> {
    pub(crate) fn fill(&self, response: &mut SearchResponse) -> Result<(), IndexError> {
        let (list, found) = match self.cached_list(response.page) {
            Some(list) => {
                response.cache = CacheUse::Partly;
                (list, None)
            }
            None => {
                let (found, cache_use) = self.retrieve(&response.query)?;
                response.cache = cache_use;
                let stage = StageTimer::start();
                let list = Arc::new(self.build_list(&found)?);
                stage.stop("arrange");
                if list.partial_total > 0
                    && let Some(query) = &list.index_query
                {
                    // A later count could not distinguish partial matches from other pages.
                    let _ = list.facets.set(self.count_facets(query, found.all.as_deref())?);
                }
                // An explained list may be a preview, which no other page must continue.
                if !self.request.explain {
                    self.caches.result_lists.insert(self.list_key(&response.generation), Arc::clone(&list));
                }
                (list, Some(found))
            }
        };
        response.generation.clone_from(&list.state.generation);
        (response.total, response.total_is_exact) = (list.total, list.total_is_exact);
        (response.partial, response.relaxed, response.kind) = (list.is_partial, list.is_relaxed, list.kind);
        response.partial_total = list.partial_total;
        response.last_page = Some(list.results.len().div_ceil(self.size));
        let first = (response.page - 1).saturating_mul(self.size);
        let shown = list.results.get(first..).unwrap_or_default();
        let stage = StageTimer::start();
        let shown = self.fill_hits(&shown[..shown.len().min(self.size)], &list.words, response)?;
        self.add_sitelinks(response)?;
        stage.stop("show");
        if let Some(found) = found.as_ref().filter(|_| self.request.explain) {
            self.explain(found, &shown, response)?;
        }
        if let Some(query) = list.index_query.as_ref().filter(|_| self.request.facets) {
            if list.facets.get().is_none() {
                let stage = StageTimer::start();
                // A concurrent thread may have counted them already, with the same result.
                let all = found.as_ref().and_then(|found| found.all.as_deref());
                let _ = list.facets.set(self.count_facets(query, all)?);
                stage.stop("count");
            }
            response.facets = list.facets.get().cloned().unwrap_or_default();
        }
        Ok(())
    }

    fn list_key(&self, generation: &str) -> ListKey {
        ListKey { generation: generation.to_string(), query: self.query.clone(), size: self.size }
    }

    /// Returns the cached list that a further result page belongs to, even if the index has changed since, or the
    /// list of the current state.
    fn cached_list(&self, page: usize) -> Option<Arc<ResultList>> {
        let lists = &self.caches.result_lists;
        if self.request.explain {
            return None;
        }
        let followed = self.request.generation.as_ref().filter(|_| page > 1);
        if let Some(list) = followed.and_then(|generation| lists.get(&self.list_key(generation))) {
            record_lookup("lists", true);
            return Some(list);
        }
        let now = lists.get(&self.list_key(&self.state.generation)).filter(|_| self.caches.is_enabled())?;
        let is_current = now.state == *self.state && !now.is_partial;
        is_current.then(|| {
            record_lookup("lists", true);
            now
        })
    }

    /// Retrieves the results. If the results of history are cached, only the latest generations are searched.
    fn retrieve(&self, text: &str) -> Result<(RankedResults, CacheUse), IndexError> {
        let options = self.request.options;
        let retrieval_query = RetrievalQuery { expression: self.expression, text, options };
        if self.request.explain || !self.caches.is_enabled() {
            let retriever = Retriever { state: None, ..self.retriever };
            return Ok((retriever.retrieve(retrieval_query)?, CacheUse::Miss));
        }
        let history = self.retriever.view.history();
        let cached = history.and_then(|history| self.caches.history_results.get(self.query, history));
        if let Some(cached) = cached
            && let Some(found) = self.retriever.retrieve_with_history(retrieval_query, &cached)?
        {
            record_lookup("lists", true);
            return Ok((found, CacheUse::Partly));
        }
        record_lookup("lists", false);
        let mut found = self.retriever.retrieve(retrieval_query)?;
        if let Some(list) = found.history.take() {
            self.caches.history_results.insert(self.query.clone(), list);
        }
        Ok((found, CacheUse::Miss))
    }

    /// Folds duplicates and arranges the results on pages.
    fn build_list(&self, found: &RankedResults) -> Result<ResultList, IndexError> {
        let results = if self.request.options.all {
            found.results.iter().map(FoldedResult::single).collect()
        } else {
            let mut fold = DuplicateFolder::new(self.retriever.view);
            fold.add(&found.results)?;
            fold.finish()
        };
        let pins = self.pinned_results()?;
        let is_pinned = |page: PageId| pins.iter().any(|pin| pin.page == page);
        let is_found = |pin: &&ListedResult| found.results.iter().any(|of| of.candidate.page == pin.page);
        let added = pins.iter().filter(|pin| !is_found(pin)).count() as u64;
        let results: Vec<FoldedResult> =
            results.into_iter().filter(|folded: &FoldedResult| !is_pinned(folded.shown_page.page)).collect();
        let ranked = results.iter().map(|folded| RankedResult {
            site: folded.shown_page.page.site(),
            score: folded.score,
            is_listing: folded.traits.is_listing,
        });
        let ranked: Vec<RankedResult> = ranked.collect();
        let options = self.request.options;
        let in_order = options.all || options.newest_first || self.expression.names_sites();
        let per_site = if in_order { 0 } else { self.retriever.query.per_site };
        let first_room = self.size - pins.len() % self.size;
        let placed = arrange(&ranked, first_room, self.size, per_site).into_iter().map(|place| {
            let folded = &results[place.rank];
            ListedResult {
                page: folded.shown_page.page,
                score: folded.score,
                duplicates: folded.duplicates(),
                indented: place.indented,
                more_from_site: place.more,
                is_pinned: false,
                missing: folded.traits.missing,
            }
        });
        Ok(ResultList {
            results: pins.iter().copied().chain(placed).collect(),
            total: found.total.saturating_add(added),
            total_is_exact: found.total_is_exact,
            partial_total: found.partial_total,
            words: found.query_words.words.iter().map(|word| word.word.clone()).collect(),
            is_partial: found.is_partial,
            is_relaxed: found.is_relaxed,
            kind: found.kind,
            index_query: found.index_query.clone(),
            state: self.state.clone(),
            facets: OnceLock::new(),
        })
    }

    /// Returns the pinned results that exist, in their order. Pins belong to the query alone: filters and another order
    /// disable them.
    fn pinned_results(&self) -> Result<Vec<ListedResult>, IndexError> {
        if self.curation.pins.is_empty()
            || self.request.options.newest_first
            || !self.request.filters.is_empty()
        {
            return Ok(Vec::new());
        }
        let is_hidden = |page: &PageId| self.retriever.hidden.contains(page);
        let pages = self.curation.pins.iter().map(|pin| pin.page).filter(|page| !is_hidden(page));
        let existing = self.retriever.view.candidates(&pages.collect::<Vec<_>>())?;
        let listed = existing.into_iter().flatten().map(|candidate| ListedResult {
            page: candidate.page,
            score: 1.0,
            duplicates: 0,
            indented: false,
            more_from_site: 0,
            is_pinned: true,
            missing: 0,
        });
        Ok(listed.collect())
    }

    /// Fills in the results of one page and returns their places in the index. Pages deleted meanwhile are left out.
    fn fill_hits(
        &self,
        shown: &[ListedResult],
        query_words: &[String],
        response: &mut SearchResponse,
    ) -> Result<Vec<Candidate>, IndexError> {
        let view = self.retriever.view;
        let pages: Vec<PageId> = shown.iter().map(|listed| listed.page).collect();
        let existing = view.candidates(&pages)?.into_iter().zip(shown);
        let existing: Vec<(Candidate, &ListedResult)> =
            existing.filter_map(|(page, listed)| Some((page?, listed))).collect();
        let candidates: Vec<Candidate> = existing.iter().map(|(candidate, _)| *candidate).collect();
        let words = Marker::new(self.expression.words().iter().map(String::as_str));
        let stored = view.stored(&candidates)?;
        let hits = existing.iter().zip(stored).map(|((_, listed), page)| {
            let missing =
                query_words.iter().zip(0..u64::BITS).filter(|(_, nth)| listed.missing >> nth & 1 == 1);
            let missing = missing.map(|(word, _)| word.clone()).collect();
            SearchHit { missing, ..build_hit(page, listed, &words) }
        });
        response.hits = hits.collect();
        if response.hits.iter().all(|hit| hit.missing.is_empty()) {
            response.exact_query = None;
        }
        Ok(candidates)
    }

    /// Adds explanations of the query and of the results, whose places in the index are `shown`.
    fn explain(
        &self,
        found: &RankedResults,
        shown: &[Candidate],
        response: &mut SearchResponse,
    ) -> Result<(), IndexError> {
        let ranker = Ranker {
            config: self.retriever.rank,
            query_words: &found.query_words,
            maxima: self.retriever.view.maxima(),
            shape: &found.shape,
            today: self.retriever.today,
            lowers_listings: !self.expression.names_sites(),
        };
        let weights = ranker.weights(found.kind);
        response.explanation = Some(QueryExplanation {
            kind: found.kind,
            executed: found.index_query.as_ref().map(|query| format!("{query:?}")).unwrap_or_default(),
            model: self.retriever.rank.model,
            combine: self.retriever.rank.combine,
            weights: ScoreWeights::NAMES.into_iter().zip(weights.values()).collect(),
            candidates: found.scored,
            feedback: found.feedback.clone(),
            hidden: self.hidden_pages(found)?,
        });
        let parts: HashMap<PageId, ScoreParts> =
            found.results.iter().map(|k| (k.candidate.page, k.parts)).collect();
        let evidence = self.retriever.view.evidence(shown, &found.query_words.terms)?;
        for ((hit, candidate), evidence) in response.hits.iter_mut().zip(shown).zip(&evidence) {
            let pin = self.curation.pins.iter().find(|pin| pin.page == candidate.page);
            let pinned = pin.filter(|_| hit.pinned).map(|pin| pin.by.clone());
            let parts = parts.get(&candidate.page);
            if parts.is_none() && pinned.is_none() {
                continue;
            }
            let words = ranker.explain_words(evidence);
            let parts = parts.map(|parts| parts.contributions(weights)).unwrap_or_default();
            hit.explanation = Some(HitExplanation { parts, words, pinned });
        }
        Ok(())
    }

    /// Returns who hid pages that match the query.
    fn hidden_pages(&self, found: &RankedResults) -> Result<Vec<CuratedBy>, IndexError> {
        let Some(query) = &found.index_query else { return Ok(Vec::new()) };
        let pages = self.retriever.hidden_matches(query, MAX_HIDDEN)?;
        let hidden = self.curation.hidden.iter().filter(|hidden| pages.contains(&hidden.page));
        Ok(hidden.map(|hidden| hidden.by.clone()).collect())
    }

    /// Counts results by site, language, file type, category and time. `matches` are all matches, if they have been
    /// retrieved already.
    fn count_facets(&self, query: &Query, matches: Option<&[Candidate]>) -> Result<FacetCounts, IndexError> {
        let labels =
            [("lang", PageLabel::Lang), ("type", PageLabel::Format), ("category", PageLabel::Category)];
        let mut facets = vec![Facet::Host];
        facets.extend(labels.iter().map(|(_, label)| Facet::Label(*label)));
        facets.extend(Age::ALL.map(|age| Facet::Since(self.retriever.today - age.days())));
        let Retriever { view, until, .. } = self.retriever;
        let counted = match matches {
            Some(all) => view.facets_of(all, &facets, FACET_VALUES)?,
            None => view.facets(query, &facets, FACET_VALUES, COUNT_LIMIT, until)?,
        };
        let value = |FacetCount { value, pages }: FacetCount| FacetValue { value, pages };
        let mut counted = counted.into_iter();
        let names = ["site"].into_iter().chain(labels.iter().map(|(name, _)| *name));
        let named = names.zip(counted.by_ref());
        let mut facets: FacetCounts =
            named.map(|(name, values)| (name.into(), values.into_iter().map(value).collect())).collect();
        let times = Age::ALL.into_iter().zip(counted).filter_map(|(age, values)| {
            Some(FacetValue { value: age.name().to_string(), pages: values.first()?.pages })
        });
        facets.insert("time".into(), times.collect());
        Ok(facets)
    }
}

fn build_hit(stored: StoredPage, listed: &ListedResult, words: &Marker) -> SearchHit {
    let StoredPage { page, fields, text } = stored;
    let title = if fields.title.trim().is_empty() { fields.url.clone() } else { fields.title };
    let snippet = make_snippet(&text, fields.max_snippet, words);
    SearchHit {
        title_html: mark_html(&title, &words.occurrences(&title)),
        title,
        snippet: snippet.text,
        snippet_html: snippet.html,
        site: PageUrl::parse(&fields.url).map(|u| u.site().to_string()).unwrap_or_default(),
        date: fields.date,
        lang: fields.lang,
        category: fields.category,
        category_confidence: fields.category_confidence,
        breadcrumbs: fields.breadcrumbs,
        format: fields.format,
        score: listed.score,
        duplicates: listed.duplicates,
        more_from_site: listed.more_from_site,
        indented: listed.indented,
        pinned: listed.is_pinned,
        cached_url: fields.archive.then(|| format!("/snapshot/{page}")),
        url: fields.url,
        sitelinks: Vec::new(),
        missing: Vec::new(),
        explanation: None,
    }
}
