//! First ranking stage: the best candidates of all generations by BM25 plus a share of the static rank.
//!
//! The score of the worst candidate so far is the threshold for tantivy, which skips blocks of postings that cannot
//! reach it. History is sorted by descending static rank, so the threshold for the text score rises from page to
//! page: no later page of the segment can add more rank.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use tantivy::columnar::Column;
use tantivy::query::{
    Bm25StatisticsProvider, BoostQuery, EnableScoring, Query as TantivyQuery, Scorer, TermQuery, Weight,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, SegmentReader, TERMINATED};

use crate::IndexError;
use crate::document::addresses::VisibleAddresses;
use crate::read::chain_view::{ChainView, GenerationView};
use crate::read::doc_location::DocLocation;
use crate::read::query_plan::QueryPlan;
use crate::view::{Candidate, RetrievalRequest};

/// Relative rounding error of sums computed in a different order.
const ROUNDING: f32 = 1e-5;

/// A filter that passes less than this fraction (1/n) of the pages of the rarest term drives the iteration itself.
const SELECTIVE: u32 = 4;

/// A candidate ordered by score, then by smaller id.
#[derive(PartialEq)]
struct RankedCandidate(Candidate);

impl Eq for RankedCandidate {}

impl Ord for RankedCandidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.score.total_cmp(&other.0.score).then_with(|| other.0.page.cmp(&self.0.page))
    }
}

impl PartialOrd for RankedCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The best candidates so far.
struct TopCandidates {
    limit: usize,
    heap: BinaryHeap<Reverse<RankedCandidate>>,
}

impl TopCandidates {
    /// Returns the minimum score for a new candidate: that of the worst one once the heap is full.
    fn threshold(&self) -> Score {
        match self.heap.peek() {
            Some(Reverse(RankedCandidate(worst))) if self.heap.len() >= self.limit => worst.score,
            _ => Score::NEG_INFINITY,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        let ranked = Reverse(RankedCandidate(candidate));
        if self.heap.len() < self.limit {
            self.heap.push(ranked);
        } else if self.heap.peek().is_some_and(|worst| ranked.0 > worst.0) {
            self.heap.pop();
            self.heap.push(ranked);
        }
    }

    fn into_sorted(self) -> Vec<Candidate> {
        let mut all: Vec<RankedCandidate> = self.heap.into_iter().map(|ranked| ranked.0).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().map(|ranked| ranked.0).collect()
    }
}

/// The weights of a plan for one generation.
struct PlanWeights {
    base: Box<dyn Weight>,
    is_flat: bool,
    extras: Vec<Box<dyn Weight>>,
    filters: Vec<(bool, Box<dyn Weight>)>,
    max_extra: Score,
}

pub(crate) fn retrieve_top(
    chain: &ChainView,
    request: &RetrievalRequest<'_>,
    statistics: &dyn Bm25StatisticsProvider,
) -> Result<(Vec<Candidate>, bool), IndexError> {
    let mut top = TopCandidates { limit: request.limit, heap: BinaryHeap::new() };
    if request.limit == 0 {
        return Ok((Vec::new(), false));
    }
    let mut deadline = Deadline::at(request.until);
    let split = QueryPlan::new(request.query, &chain.fields);
    let sites = request.query.site_filter();
    for (generation, view) in chain.in_scope(request.scope) {
        let failed = IndexError::tantivy(&view.path);
        let mut run = || -> tantivy::Result<()> {
            let split_weights = plan_weights(&split, view, statistics)?;
            let mut whole_weights = None;
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                if deadline.is_expired {
                    break;
                }
                let shown = view.visible_addresses(segment, &sites)?;
                let columns = view.columns(segment)?;
                let ranks = StaticRanks::new(columns.ranks.as_ref(), request.rank_weight);
                let days = columns.days.as_ref().filter(|_| request.newest_first);
                let is_ordered = view.is_ordered;
                let scan =
                    SegmentScan { generation, segment, reader, shown, ranks, days, request, is_ordered };
                if is_selective(&split, &split_weights, reader)? {
                    let weights = match &mut whole_weights {
                        Some(weights) => weights,
                        empty => {
                            let whole = QueryPlan::whole(request.query, &chain.fields);
                            empty.insert(plan_weights(&whole, view, statistics)?)
                        }
                    };
                    scan.run(weights, &mut top, &mut deadline)?;
                } else {
                    scan.run(&split_weights, &mut top, &mut deadline)?;
                }
            }
            Ok(())
        };
        run().map_err(failed)?;
    }
    Ok((top.into_sorted(), deadline.is_expired))
}

/// A deadline that reads the clock only at intervals.
pub(crate) struct Deadline {
    until: Option<Instant>,
    steps: u32,
    is_expired: bool,
}

impl Deadline {
    /// Number of checks between two clock reads; they take a few microseconds.
    const CHECK_INTERVAL: u32 = 256;

    pub(crate) fn at(until: Option<Instant>) -> Self {
        Self { until, steps: 0, is_expired: false }
    }

    /// Counts one check. Returns `true` once the deadline has passed.
    pub(crate) fn check_expired(&mut self) -> bool {
        let Some(until) = self.until else { return false };
        self.steps += 1;
        if self.steps.is_multiple_of(Self::CHECK_INTERVAL) {
            self.is_expired |= Instant::now() >= until;
        }
        self.is_expired
    }
}

fn plan_weights(
    plan: &QueryPlan,
    view: &GenerationView,
    statistics: &dyn Bm25StatisticsProvider,
) -> tantivy::Result<PlanWeights> {
    let scoring = EnableScoring::enabled_from_statistics_provider(statistics, &view.searcher);
    let extra = |(weight, term): &(f32, tantivy::Term)| {
        let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
        BoostQuery::new(Box::new(query), *weight).weight(scoring)
    };
    let unscored = EnableScoring::disabled_from_searcher(&view.searcher);
    Ok(PlanWeights {
        base: plan.base.weight(scoring)?,
        is_flat: plan.is_flat,
        extras: plan.extras.iter().map(extra).collect::<tantivy::Result<_>>()?,
        filters: plan
            .filters
            .iter()
            .map(|(required, query)| Ok((*required, query.weight(unscored)?)))
            .collect::<tantivy::Result<_>>()?,
        max_extra: plan.max_extra(statistics)?,
    })
}

/// Returns `true` if a filter is so selective that it is faster to start with it.
fn is_selective(plan: &QueryPlan, weights: &PlanWeights, reader: &SegmentReader) -> tantivy::Result<bool> {
    if !plan.filters.iter().any(|(required, _)| *required) {
        return Ok(false);
    }
    let mut rarest = reader.max_doc();
    for term in &plan.all_of {
        rarest = rarest.min(reader.inverted_index(term.field())?.doc_freq(term)?);
    }
    for (required, filter) in &weights.filters {
        if *required && filter.scorer(reader, 1.0)?.size_hint() < rarest / SELECTIVE {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The scan of one segment.
struct SegmentScan<'a> {
    generation: u32,
    segment: u32,
    reader: &'a SegmentReader,
    shown: VisibleAddresses<'a>,
    ranks: StaticRanks<'a>,
    days: Option<&'a Column<i64>>,
    request: &'a RetrievalRequest<'a>,
    is_ordered: bool,
}

impl SegmentScan<'_> {
    fn run(
        self,
        weights: &PlanWeights,
        top: &mut TopCandidates,
        deadline: &mut Deadline,
    ) -> tantivy::Result<()> {
        let Self { generation, segment, reader, shown, ranks, days, request, is_ordered } = self;
        let mut extras = open_scorers(weights.extras.iter(), reader)?;
        let mut filters = weights
            .filters
            .iter()
            .map(|(required, weight)| Ok((*required, weight.scorer(reader, 1.0)?)))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let alive = reader.alive_bitset();
        let max_addresses = if request.every_address { usize::MAX } else { 1 };
        // Minimum base score with which the total score can reach the threshold.
        let base_threshold = |threshold: Score, rank: Score| {
            let least = threshold - rank - weights.max_extra;
            (least - (threshold.abs() + rank) * ROUNDING).next_down()
        };
        let first_threshold = base_threshold(top.threshold(), ranks.max);
        let mut visit = |doc: DocId, score: Score| {
            if deadline.check_expired() {
                return Score::INFINITY;
            }
            let is_alive = alive.is_none_or(|alive| alive.is_alive(doc));
            if is_alive
                && filters
                    .iter_mut()
                    .all(|(required, filter)| scorer_contains(&mut **filter, doc) == *required)
            {
                let score = if request.newest_first {
                    days.and_then(|days| days.first(doc)).map_or(Score::MIN, |day| day as Score)
                } else {
                    let extra = |extra: &mut Box<dyn Scorer>| {
                        scorer_contains(&mut **extra, doc).then(|| extra.score())
                    };
                    let more: Score = extras.iter_mut().filter_map(extra).sum();
                    score + more + ranks.score_of(doc)
                };
                if score >= top.threshold() {
                    for (address, page) in shown.addresses(doc).take(max_addresses) {
                        let location = DocLocation { generation, segment, doc, address };
                        top.offer(Candidate { page, score, copies: 0, location: location.into() });
                    }
                }
            }
            let rank = if is_ordered { ranks.score_of(doc) } else { ranks.max };
            base_threshold(top.threshold(), rank)
        };
        if weights.is_flat && !request.newest_first {
            weights.base.for_each_pruning(first_threshold, reader, &mut visit)?;
        } else {
            // Nothing can be skipped here, but the deadline may pass.
            let mut scorer = weights.base.scorer(reader, 1.0)?;
            while scorer.doc() != TERMINATED {
                let score = scorer.score();
                if visit(scorer.doc(), score) == Score::INFINITY {
                    break;
                }
                scorer.advance();
            }
        }
        if !request.every_address {
            // Copies are counted only for the candidates that remain.
            let mut kept_candidates: Vec<_> = std::mem::take(&mut top.heap).into_vec();
            for Reverse(RankedCandidate(candidate)) in &mut kept_candidates {
                let DocLocation { generation: of, segment: part, doc, .. } = candidate.doc_location();
                if (of, part) == (generation, segment) {
                    candidate.copies = shown.addresses(doc).skip(1).count() as u32;
                }
            }
            top.heap = kept_candidates.into();
        }
        Ok(())
    }
}

fn open_scorers<'a>(
    weights: impl Iterator<Item = &'a Box<dyn Weight>>,
    reader: &SegmentReader,
) -> tantivy::Result<Vec<Box<dyn Scorer>>> {
    weights.map(|weight| weight.scorer(reader, 1.0)).collect()
}

/// Returns `true` if the scorer contains the document. Documents must be requested in ascending order.
fn scorer_contains(scorer: &mut dyn Scorer, doc: DocId) -> bool {
    let at = scorer.doc();
    at == doc || (at < doc && scorer.seek(doc) == doc)
}

/// The contribution of static ranks to scores.
struct StaticRanks<'a> {
    column: Option<&'a Column<u64>>,
    /// Contribution of a stored rank of 1.
    unit: Score,
    /// Maximum contribution in the segment.
    max: Score,
}

impl<'a> StaticRanks<'a> {
    fn new(column: Option<&'a Column<u64>>, weight: Score) -> Self {
        let column = column.filter(|_| weight != 0.0);
        let unit = weight / Score::from(u16::MAX);
        Self { column, unit, max: column.map_or(0, |column| column.max_value()) as Score * unit }
    }

    fn score_of(&self, doc: DocId) -> Score {
        self.column.and_then(|column| column.first(doc)).unwrap_or_default() as Score * self.unit
    }
}
