//! The two stages of retrieval (《走进搜索引擎》§5.2.6).
//!
//! Stage one: the index returns some thousand candidates by text score and static rank, skipping pages that cannot
//! qualify. Stage two: each candidate is scored by all features, and the best are kept.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use pharos_core::PageId;
use pharos_core::config::{QueryConfig, RankConfig, RankModel};
use pharos_index::read::evidence::Evidence;
use pharos_index::{Candidate, IndexError, IndexView, LinkFigures, Query, RetrievalRequest};
use pharos_text::Analyser;

use crate::cache::ResponseState;
use crate::cache::history_results::HistoryResults;
use crate::language::expression::Expression;
use crate::language::intent::{self, QueryKind};
use crate::rank::basic_weight::QueryShape;
use crate::rank::boost::Boosts;
use crate::rank::combine::ScoreParts;
use crate::rank::query_words::QueryWords;
use crate::rank::user_weight::{ClickRules, ClickWeights, Clicks};
use crate::rank::vector_space::{TermVector, TermWeighting, cosine, term_vector};
use crate::rank::{CandidateFeatures, Ranker};
use crate::retrieval::candidate_source::CandidateSource;
use crate::retrieval::similar_pages;
use crate::stage_timer::StageTimer;

/// Number of candidates scored between two clock checks.
const BATCH_SIZE: usize = 1_000;

/// Maximum number of home pages retrieved in addition to the candidates.
const MAX_HOME_PAGES: usize = 64;

/// Limit up to which matches are counted exactly.
pub(crate) const COUNT_LIMIT: u64 = 10_000;

/// A set of page ids with a fast hash function, because ids are already hashes.
type PageSet = HashSet<PageId, foldhash::fast::FixedState>;

/// The options of a request that determine its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResultOptions {
    /// Treats copies as separate results.
    pub(crate) all: bool,
    pub(crate) newest_first: bool,
    /// Accepts pages that contain only some of the words.
    pub(crate) any_word: bool,
}

/// The ranked results of a query.
pub(crate) struct RankedResults {
    pub(crate) results: Vec<ScoredCandidate>,
    pub(crate) total: u64,
    pub(crate) total_is_exact: bool,
    pub(crate) is_partial: bool,
    pub(crate) is_relaxed: bool,
    pub(crate) kind: QueryKind,
    /// Number of candidates scored in stage two.
    pub(crate) scored: usize,
    /// All matches without copies, if the candidates include them all.
    pub(crate) all: Option<Vec<Candidate>>,
    /// The query that was sent to the index.
    pub(crate) index_query: Option<Query>,
    pub(crate) query_words: QueryWords,
    /// AND/OR structure of the query words.
    pub(crate) shape: QueryShape,
    /// Results of history, if they were recorded for the cache.
    pub(crate) history: Option<HistoryResults>,
}

impl RankedResults {
    fn empty() -> Self {
        Self {
            results: Vec::new(),
            total: 0,
            total_is_exact: true,
            is_partial: false,
            is_relaxed: false,
            kind: QueryKind::Ordinary,
            scored: 0,
            all: None,
            index_query: None,
            query_words: QueryWords::default(),
            shape: QueryShape::And(Vec::new()),
            history: None,
        }
    }
}

/// A candidate with the parts of its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredCandidate {
    /// The candidate with its final score.
    pub(crate) candidate: Candidate,
    pub(crate) parts: ScoreParts,
}

/// The retriever of one request.
pub(crate) struct Retriever<'a> {
    pub(crate) view: &'a dyn IndexView,
    pub(crate) analyser: &'a Analyser,
    pub(crate) query: &'a QueryConfig,
    pub(crate) rank: &'a RankConfig,
    pub(crate) boosts: &'a Boosts,
    pub(crate) clicks: &'a Clicks,
    pub(crate) today: i64,
    pub(crate) until: Option<Instant>,
    /// State for recording and using cached results of history; `None` disables both.
    pub(crate) state: Option<&'a ResponseState>,
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
        let found =
            self.retrieve_from(retrieval_query, CandidateSource::whole_index(self.view, self.state))?;
        // The whole index always provides candidates.
        Ok(found.unwrap_or_else(RankedResults::empty))
    }

    /// Retrieves the ranked results with cached results of history. Returns `None` if these are no longer sufficient.
    pub(crate) fn retrieve_with_history(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        cached: &HistoryResults,
    ) -> Result<Option<RankedResults>, IndexError> {
        self.retrieve_from(retrieval_query, CandidateSource::latest_with_history(self.view, cached))
    }

    fn retrieve_from(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        mut source: CandidateSource<'_>,
    ) -> Result<Option<RankedResults>, IndexError> {
        let RetrievalQuery { expression, options, .. } = retrieval_query;
        let is_indexed = |word: &str, kind| self.view.is_indexed_word(word, kind);
        let mut found = RankedResults::empty();
        let mut query = expression.to_query(&is_indexed);
        let mut relaxed = expression.relaxed(&is_indexed);
        found.query_words = match expression.related() {
            Some(target) => {
                let Some(query_words) =
                    similar_pages::representative_words(target, self.view, self.analyser)?
                else {
                    return Ok(Some(found));
                };
                let words = query_words.terms.iter().map(|term| Query::Word(term.clone())).collect();
                query = Query::And(vec![Query::Or(words), query]);
                relaxed = None;
                query_words
            }
            None => QueryWords::from_terms(&expression.terms(), &is_indexed, self.view)?,
        };
        if !source.accepts(&found.query_words, self.state) {
            return Ok(None);
        }
        if options.any_word
            && let Some(any) = relaxed.take()
        {
            query = any;
            found.is_relaxed = true;
        }
        let mut attempt = |step: usize, query: &mut Query, found: &mut RankedResults| {
            self.retrieve_candidates(step, query, options, found, &mut source)
        };
        let stage = StageTimer::start();
        let Some(mut candidates) = attempt(0, &mut query, &mut found)? else { return Ok(None) };
        if candidates.is_empty()
            && !found.is_partial
            && expression.related().is_none()
            && let Some(split) = expression.to_split_query(&is_indexed)
        {
            query = split;
            let Some(more) = attempt(1, &mut query, &mut found)? else { return Ok(None) };
            candidates = more;
        }
        if candidates.is_empty()
            && !found.is_partial
            && let Some(any) = relaxed
        {
            query = any;
            found.is_relaxed = true;
            let Some(more) = attempt(2, &mut query, &mut found)? else { return Ok(None) };
            candidates = more;
        }
        stage.stop("candidates");
        let stage = StageTimer::start();
        // If one word suffices, the words form an OR.
        let any = || QueryShape::Or((0..found.query_words.words.len()).map(QueryShape::Word).collect());
        let needs_all = !found.is_relaxed && expression.related().is_none();
        found.shape = if needs_all { found.query_words.shape(expression) } else { any() };
        let are_all = found.total_is_exact && found.total == candidates.len() as u64 && !options.all;
        found.all = are_all.then(|| candidates.clone());
        if options.newest_first {
            source.record_best(candidates.iter().copied(), self.query.max_results);
            candidates.truncate(self.query.max_results);
            found.results = candidates
                .iter()
                .map(|c| ScoredCandidate { candidate: *c, parts: ScoreParts::default() })
                .collect();
        } else {
            self.score_candidates(retrieval_query, &query, candidates, &mut source, &mut found)?;
        }
        stage.stop("rank");
        found.index_query = Some(query);
        found.history = source.finish().filter(|_| !found.is_partial);
        Ok(Some(found))
    }

    /// Stage one. Blocked pages are excluded by the query, so they are neither found nor counted.
    fn retrieve_candidates(
        &self,
        step: usize,
        query: &mut Query,
        options: ResultOptions,
        found: &mut RankedResults,
        source: &mut CandidateSource<'_>,
    ) -> Result<Option<Vec<Candidate>>, IndexError> {
        self.boosts.exclude_blocked(query);
        let request = RetrievalRequest {
            rank_weight: self.query.rank_weight as f32,
            every_address: options.all,
            count_up_to: COUNT_LIMIT,
            newest_first: options.newest_first,
            until: self.until,
            ..RetrievalRequest::new(query, self.query.candidates.max(self.query.max_results))
        };
        let Some(of_index) = source.candidates(step, &request, self.query.max_results)? else {
            return Ok(None);
        };
        (found.total, found.total_is_exact) = (of_index.total, of_index.total_is_exact);
        found.is_partial = of_index.is_partial;
        Ok(Some(of_index.candidates))
    }

    /// Stage two.
    fn score_candidates(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        query: &Query,
        mut candidates: Vec<Candidate>,
        source: &mut CandidateSource<'_>,
        found: &mut RankedResults,
    ) -> Result<(), IndexError> {
        let RetrievalQuery { expression, text, options } = retrieval_query;
        let needs_more = intent::may_name_site(expression) || self.boosts.boosted().next().is_some();
        let of_index = candidates.iter().filter(|_| needs_more).map(|candidate| candidate.page);
        let mut cached: PageSet = of_index.collect();
        let mut new = |more: Vec<Candidate>| -> (Vec<Candidate>, Vec<PageId>) {
            let pages = more.iter().map(|candidate| candidate.page).collect();
            (more.into_iter().filter(|candidate| cached.insert(candidate.page)).collect(), pages)
        };
        let with = |filter: Query| {
            let mut both = match query.clone() {
                Query::And(parts) => parts,
                other => vec![other],
            };
            both.push(filter);
            Query::And(both)
        };
        let plain = RetrievalRequest {
            count_up_to: 0,
            every_address: options.all,
            until: self.until,
            ..RetrievalRequest::new(query, 0)
        };
        let mut home_pages = PageSet::default();
        let mut boosted: HashMap<PageId, f64> = HashMap::new();
        let may_name_site = intent::may_name_site(expression);
        if may_name_site && !candidates.is_empty() {
            let query = with(Query::Home);
            let (more, pages) = new(source.home_pages(&RetrievalRequest {
                query: &query,
                limit: MAX_HOME_PAGES,
                ..plain
            })?);
            candidates.extend(more);
            home_pages.extend(pages);
        }
        for (nth, (filter, by)) in self.boosts.boosted().enumerate() {
            let query = with(filter);
            let request = RetrievalRequest { query: &query, limit: self.query.max_results, ..plain };
            let (more, pages) = new(source.boosted(nth, &request)?);
            candidates.extend(more);
            pages.into_iter().for_each(|page| *boosted.entry(page).or_default() += by);
        }
        let ranker = Ranker {
            config: self.rank,
            query_words: &found.query_words,
            maxima: self.view.maxima(),
            shape: &found.shape,
            today: self.today,
        };
        let named = self.named_home_pages(text, &candidates, &home_pages, &ranker)?;
        found.kind = if !named.is_empty() {
            QueryKind::Site
        } else if intent::wants_news(expression, self.today) {
            QueryKind::News
        } else {
            QueryKind::Ordinary
        };
        let weights = ranker.weights(found.kind);
        let rules = ClickRules { decay: self.rank.click_decay, start: self.rank.click_start };
        let clicks: Option<ClickWeights> =
            self.clicks.weights_for(text, rules, candidates.iter().map(|c| c.page));
        let mut cosines = CosineScorer::new(self, &found.query_words);
        let mut scored: Vec<ScoredCandidate> = Vec::with_capacity(candidates.len());
        for batch in candidates.chunks(BATCH_SIZE) {
            if !scored.is_empty() && self.until.is_some_and(|until| Instant::now() >= until) {
                found.is_partial = true;
                break;
            }
            let evidence: Vec<Evidence> = self.view.evidence(batch, &found.query_words.terms)?;
            let figures: Vec<LinkFigures> =
                if found.kind == QueryKind::Site { self.view.link_figures(batch)? } else { Vec::new() };
            let cosines = cosines.as_mut().map(|cosines| cosines.score_pages(batch)).transpose()?;
            for (nth, candidate) in batch.iter().enumerate() {
                let parts = ranker.score_parts(
                    found.kind,
                    &CandidateFeatures {
                        evidence: &evidence[nth],
                        figures: figures.get(nth),
                        is_named: named.contains(&candidate.page),
                        clicks: clicks.as_ref().map(|clicks| clicks.weight(candidate.page)),
                        boost: boosted.get(&candidate.page).copied().unwrap_or_default(),
                        cosine: cosines.as_ref().map(|cosines| cosines[nth]),
                    },
                );
                let score = parts.score(weights, self.rank.combine) as f32;
                let mut candidate = *candidate;
                candidate.score = score;
                scored.push(ScoredCandidate { candidate, parts });
            }
        }
        found.scored = scored.len();
        let by_score = |a: &ScoredCandidate, b: &ScoredCandidate| {
            let (a, b) = (&a.candidate, &b.candidate);
            b.score.total_cmp(&a.score).then_with(|| a.page.cmp(&b.page))
        };
        source.record_best(scored.iter().map(|scored| scored.candidate), self.query.max_results);
        // Select the best first, so that only these are sorted.
        if scored.len() > self.query.max_results && self.query.max_results > 0 {
            scored.select_nth_unstable_by(self.query.max_results - 1, by_score);
            scored.truncate(self.query.max_results);
        }
        scored.sort_unstable_by(by_score);
        found.results = scored;
        Ok(())
    }
}

impl Retriever<'_> {
    /// Returns the home pages that the query names.
    fn named_home_pages(
        &self,
        text: &str,
        candidates: &[Candidate],
        home_pages: &PageSet,
        ranker: &Ranker<'_>,
    ) -> Result<PageSet, IndexError> {
        if home_pages.is_empty() {
            return Ok(PageSet::default());
        }
        let home_pages: Vec<Candidate> =
            candidates.iter().filter(|c| home_pages.contains(&c.page)).copied().collect();
        let fields = self.view.result_fields(&home_pages)?;
        let evidence = self.view.evidence(&home_pages, &ranker.query_words.terms)?;
        let all = home_pages.iter().zip(fields).zip(evidence);
        let named = all.filter(|((_, fields), evidence)| {
            intent::is_site_name(text, &fields.title, &fields.url) || ranker.is_named_by_anchors(evidence)
        });
        Ok(named.map(|((home, _), _)| home.page).collect())
    }
}

/// A scorer for the cosine models.
struct CosineScorer<'a> {
    retriever: &'a Retriever<'a>,
    weighting: TermWeighting,
    pages: f64,
    query: TermVector,
    /// log2(1/D) of the words seen so far.
    rarity: HashMap<String, f64>,
}

impl<'a> CosineScorer<'a> {
    /// Returns `None` if the model uses no cosine.
    fn new(retriever: &'a Retriever<'a>, query_words: &QueryWords) -> Option<Self> {
        let weighting = match retriever.rank.model {
            RankModel::Binary => TermWeighting::Binary,
            RankModel::Tf => TermWeighting::Frequency,
            RankModel::TfIdf => TermWeighting::FrequencyAndRarity,
            RankModel::Bm25 | RankModel::BasicWeight => return None,
        };
        let words: Vec<String> = query_words.words.iter().map(|word| word.word.clone()).collect();
        let mut cosines = Self {
            retriever,
            weighting,
            pages: query_words.pages.max(1.0),
            query: TermVector::new(),
            rarity: HashMap::new(),
        };
        cosines.query = cosines.vector(&words).unwrap_or_default();
        Some(cosines)
    }

    fn score_pages(&mut self, pages: &[Candidate]) -> Result<Vec<f64>, IndexError> {
        let view = self.retriever.view;
        let (fields, texts) = (view.result_fields(pages)?, view.texts(pages)?);
        let cosine_of = |(fields, text): (pharos_index::ResultFields, pharos_index::document::StoredText)| {
            let tokens = self.retriever.analyser.tokens(&format!("{}\n{}", fields.title, text.body));
            let words: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
            let page = self.vector(&words)?;
            Ok(cosine(&self.query, &page))
        };
        fields.into_iter().zip(texts).map(cosine_of).collect()
    }

    fn vector(&mut self, words: &[String]) -> Result<TermVector, IndexError> {
        if self.weighting == TermWeighting::FrequencyAndRarity {
            let new: HashSet<&String> =
                words.iter().filter(|word| !self.rarity.contains_key(*word)).collect();
            let new: Vec<String> = new.into_iter().cloned().collect();
            let with_term = self.retriever.view.frequencies(&new)?.with_term;
            let rarity = |with: u64| (self.pages / (with as f64).clamp(1.0, self.pages)).log2();
            self.rarity.extend(new.into_iter().zip(with_term.into_iter().map(rarity)));
        }
        Ok(term_vector(words, self.weighting, |word| self.rarity.get(word).copied().unwrap_or_default()))
    }
}
