//! Stage two of retrieval: scores the candidates by all features and keeps the best.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::time::Instant;

use pharos_core::PageId;
use pharos_index::{Candidate, IndexError, LinkFigures, Query, RetrievalRequest};

use super::cosines::CosineScorer;
use super::retriever::{PageSet, RankedResults, RetrievalQuery, Retriever, ScoredCandidate};
use crate::language::intent::{self, QueryKind};
use crate::rank::user_weight::{ClickRules, ClickWeights};
use crate::rank::{CandidateFeatures, Ranker};
use crate::retrieval::candidate_source::CandidateSource;

/// Number of candidates scored between two clock checks.
const BATCH_SIZE: usize = 1_000;

/// Maximum number of home pages retrieved in addition to the candidates.
const MAX_HOME_PAGES: usize = 64;

/// Home pages and boosted pages among the candidates.
#[derive(Default)]
struct SpecialPages {
    home_pages: PageSet,
    /// Boosts by page.
    boosts: HashMap<PageId, f64>,
}

impl Retriever<'_> {
    /// Scores the candidates, retrieved with `index_query`, and keeps the best. Those in the given set have only some of
    /// the words.
    pub(super) fn score_candidates(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        index_query: &Query,
        (mut candidates, partial): (Vec<Candidate>, PageSet),
        source: &mut dyn CandidateSource,
        found: &mut RankedResults,
    ) -> Result<(), IndexError> {
        let RetrievalQuery { expression, text, .. } = retrieval_query;
        let special = self.add_special_pages(retrieval_query, index_query, &mut candidates, source)?;
        let ranker = Ranker {
            config: self.rank,
            query_words: &found.query_words,
            maxima: self.view.maxima(),
            shape: &found.shape,
            today: self.today,
            lowers_listings: !expression.names_sites(),
        };
        let named = self.named_home_pages(text, &candidates, &special.home_pages, &ranker)?;
        found.kind = if !named.is_empty() {
            QueryKind::Site
        } else if intent::wants_news(expression, self.today) {
            QueryKind::News
        } else {
            QueryKind::Ordinary
        };
        let rules = ClickRules::from_config(self.rank);
        let clicks = match expression.related() {
            Some(target) => self.clicks.weights_like(&target.pages, &rules),
            None => self.clicks.weights_for(text, rules, candidates.iter().map(|c| c.page)),
        };
        let cosines = CosineScorer::new(self, &found.query_words);
        let (kind, boosts) = (found.kind, special.boosts);
        let partial = &partial;
        let mut scorer =
            CandidateScorer { retriever: self, ranker, kind, named, boosts, clicks, cosines, partial };
        let mut scored = Vec::with_capacity(candidates.len());
        for batch in candidates.chunks(BATCH_SIZE) {
            if !scored.is_empty() && self.until.is_some_and(|until| Instant::now() >= until) {
                found.is_partial = true;
                break;
            }
            scorer.score_batch(batch, &mut scored)?;
        }
        found.scored = scored.len();
        if !partial.is_empty() {
            found.partial_total = self.drop_poor_matches(&mut scored, partial, &mut found.all);
        }
        source.record_best(&mut scored.iter().map(|scored| scored.candidate), self.query.max_results);
        found.results = keep_best(scored, self.query.max_results);
        if kind == QueryKind::Ordinary && self.wants_feedback(&found.query_words) {
            found.feedback = self.apply_feedback(&scorer.ranker, &mut found.results)?;
            found.results.sort_unstable_by(by_score);
        }
        Ok(())
    }

    /// Drops pages that have too few of the words, compared with the page that has most of them. Returns the number of
    /// partial matches that remain.
    fn drop_poor_matches(
        &self,
        scored: &mut Vec<ScoredCandidate>,
        partial: &PageSet,
        all: &mut Option<Vec<Candidate>>,
    ) -> u64 {
        let most = scored.iter().map(|scored| scored.parts.coverage).fold(0.0, f64::max);
        scored.retain(|scored| scored.parts.coverage >= self.query.min_coverage * most);
        let kept: PageSet = scored.iter().map(|scored| scored.candidate.page).collect();
        let is_kept = |page: &PageId| !partial.contains(page) || kept.contains(page);
        if let Some(all) = all {
            all.retain(|candidate| is_kept(&candidate.page));
        }
        kept.intersection(partial).count() as u64
    }

    /// Adds home pages, if the query may name a site, and boosted pages, whatever their text score.
    fn add_special_pages(
        &self,
        retrieval_query: RetrievalQuery<'_>,
        index_query: &Query,
        candidates: &mut Vec<Candidate>,
        source: &mut dyn CandidateSource,
    ) -> Result<SpecialPages, IndexError> {
        let mut special = SpecialPages::default();
        let wants_home = intent::may_name_site(retrieval_query.expression) && !candidates.is_empty();
        if !wants_home && self.boosts.boosted().next().is_none() {
            return Ok(special);
        }
        let mut known: PageSet = candidates.iter().map(|candidate| candidate.page).collect();
        let mut add = |more: &[Candidate]| {
            candidates.extend(more.iter().filter(|candidate| known.insert(candidate.page)));
        };
        let request = RetrievalRequest {
            count_up_to: 0,
            every_address: retrieval_query.options.all,
            until: self.until,
            ..RetrievalRequest::new(index_query, 0)
        };
        if wants_home {
            let query = narrowed(index_query, Query::Home);
            let request = RetrievalRequest { query: &query, limit: MAX_HOME_PAGES, ..request };
            let home_pages = source.home_pages(&request)?;
            add(&home_pages);
            special.home_pages.extend(home_pages.iter().map(|candidate| candidate.page));
        }
        for (nth, (filter, by)) in self.boosts.boosted().enumerate() {
            let query = narrowed(index_query, filter);
            let request = RetrievalRequest { query: &query, limit: self.query.max_results, ..request };
            let boosted = source.boosted(nth, &request)?;
            add(&boosted);
            for candidate in boosted {
                *special.boosts.entry(candidate.page).or_default() += by;
            }
        }
        Ok(special)
    }

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

/// Scores the candidates of one query.
struct CandidateScorer<'a> {
    retriever: &'a Retriever<'a>,
    ranker: Ranker<'a>,
    kind: QueryKind,
    /// Home pages that the query names.
    named: PageSet,
    boosts: HashMap<PageId, f64>,
    /// `None` if there are no clicks for this query.
    clicks: Option<ClickWeights>,
    /// Only for the cosine models.
    cosines: Option<CosineScorer<'a>>,
    /// Pages that may lack words.
    partial: &'a PageSet,
}

impl CandidateScorer<'_> {
    fn score_batch(
        &mut self,
        batch: &[Candidate],
        scored: &mut Vec<ScoredCandidate>,
    ) -> Result<(), IndexError> {
        let view = self.retriever.view;
        let evidence = view.evidence(batch, &self.ranker.query_words.terms)?;
        let figures: Vec<LinkFigures> =
            if self.kind == QueryKind::Site { view.link_figures(batch)? } else { Vec::new() };
        let cosines = self.cosines.as_mut().map(|cosines| cosines.score_pages(batch)).transpose()?;
        let rank = self.retriever.rank;
        let weights = self.ranker.weights(self.kind);
        for ((nth, candidate), evidence) in batch.iter().enumerate().zip(&evidence) {
            let features = CandidateFeatures {
                evidence,
                figures: figures.get(nth),
                is_named: self.named.contains(&candidate.page),
                clicks: self.clicks.as_ref().map(|clicks| clicks.weight(candidate.page)),
                boost: self.boosts.get(&candidate.page).copied().unwrap_or_default(),
                is_partial: self.partial.contains(&candidate.page),
                cosine: cosines.as_ref().and_then(|cosines| cosines.get(nth).copied()),
            };
            let (parts, traits) = self.ranker.score_page(self.kind, &features);
            let mut candidate = *candidate;
            candidate.score = parts.score(weights, rank.combine) as f32;
            scored.push(ScoredCandidate { candidate, parts, traits });
        }
        Ok(())
    }
}

/// Adds a condition to a query.
pub(super) fn narrowed(query: &Query, condition: Query) -> Query {
    let mut parts = match query.clone() {
        Query::And(parts) => parts,
        other => vec![other],
    };
    parts.push(condition);
    Query::And(parts)
}

/// Orders the best first.
fn by_score(a: &ScoredCandidate, b: &ScoredCandidate) -> Ordering {
    let (a, b) = (&a.candidate, &b.candidate);
    b.score.total_cmp(&a.score).then_with(|| a.page.cmp(&b.page))
}

/// Returns the best candidates in the order of their scores.
fn keep_best(mut scored: Vec<ScoredCandidate>, max_results: usize) -> Vec<ScoredCandidate> {
    // Select the best first, so that only these are sorted.
    if scored.len() > max_results && max_results > 0 {
        scored.select_nth_unstable_by(max_results - 1, by_score);
        scored.truncate(max_results);
    }
    scored.sort_unstable_by(by_score);
    scored
}
