//! The best pages for a query, out of all members.
//!
//! Stage one of ranking: BM25 over the one field of words plus a share of the static rank. What a page must score to come
//! among the best so far is told to tantivy, which passes over blocks of postings that cannot reach it. A history
//! generation is in descending order of static rank, so that what the base must score rises from page to page: no later
//! page of the segment has more rank to add.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::columnar::Column;
use tantivy::query::{
    Bm25StatisticsProvider, EnableScoring, Query as TantivyQuery, Scorer, TermQuery, Weight,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, SegmentReader};

use crate::address::Shown;
use crate::plan::Plan;
use crate::snapshot::{ChainSnapshot, MemberView};
use crate::{Candidate, IndexError, Place, Retrieval};

/// Sums of the same numbers in another order differ by this part.
const ROUNDING: f32 = 1e-5;

/// A filter that lets less than this part of the rarest word's pages pass leads the way itself.
const SELECTIVE: u32 = 4;

/// Sorts best first: high score, then small id.
#[derive(PartialEq)]
struct Ranked(Candidate);

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.score.total_cmp(&other.0.score).then_with(|| other.0.page.cmp(&self.0.page))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The best so far.
struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Best {
    /// What a page must score at least: the least of the best, once there are enough.
    fn bar(&self) -> Score {
        match self.heap.peek() {
            Some(Reverse(Ranked(worst))) if self.heap.len() >= self.limit => worst.score,
            _ => Score::NEG_INFINITY,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        let ranked = Reverse(Ranked(candidate));
        if self.heap.len() < self.limit {
            self.heap.push(ranked);
        } else if self.heap.peek().is_some_and(|worst| ranked.0 > worst.0) {
            self.heap.pop();
            self.heap.push(ranked);
        }
    }

    fn into_sorted(self) -> Vec<Candidate> {
        let mut all: Vec<Ranked> = self.heap.into_iter().map(|ranked| ranked.0).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().map(|ranked| ranked.0).collect()
    }
}

/// Weights of a plan for one member.
struct Weights {
    base: Box<dyn Weight>,
    extras: Vec<Box<dyn Weight>>,
    filters: Vec<(bool, Box<dyn Weight>)>,
    most_extra: Score,
}

pub(crate) fn best(
    chain: &ChainSnapshot,
    asked: &Retrieval<'_>,
    statistics: &dyn Bm25StatisticsProvider,
) -> Result<Vec<Candidate>, IndexError> {
    let mut best = Best { limit: asked.limit, heap: BinaryHeap::new() };
    if asked.limit == 0 {
        return Ok(Vec::new());
    }
    let split = Plan::of(asked.query, &chain.fields);
    let sites = asked.query.site_rules();
    for (member, view) in (0..).zip(&chain.members) {
        let failed = IndexError::tantivy(&view.path);
        let mut run = || -> tantivy::Result<()> {
            let split_weights = weights(&split, view, statistics)?;
            let mut whole_weights = None;
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                let shown = view.shown(segment, &sites)?;
                let ranks = Ranks::of(view.columns(segment)?.ranks.as_ref(), asked.rank_weight);
                let scan = Scan { member, segment, reader, shown, ranks, asked, is_ordered: view.is_ordered };
                if is_selective(&split, &split_weights, reader)? {
                    let weights = match &mut whole_weights {
                        Some(weights) => weights,
                        gap => {
                            let whole = Plan::whole(asked.query, &chain.fields);
                            gap.insert(self::weights(&whole, view, statistics)?)
                        }
                    };
                    scan.run(weights, &mut best)?;
                } else {
                    scan.run(&split_weights, &mut best)?;
                }
            }
            Ok(())
        };
        run().map_err(failed)?;
    }
    Ok(best.into_sorted())
}

fn weights(
    plan: &Plan,
    view: &MemberView,
    statistics: &dyn Bm25StatisticsProvider,
) -> tantivy::Result<Weights> {
    let scoring = EnableScoring::enabled_from_statistics_provider(statistics, &view.searcher);
    let extra = |(weight, term): &(f32, tantivy::Term)| {
        let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
        tantivy::query::BoostQuery::new(Box::new(query), *weight).weight(scoring)
    };
    let unscored = EnableScoring::disabled_from_searcher(&view.searcher);
    Ok(Weights {
        base: plan.base.weight(scoring)?,
        extras: plan.extras.iter().map(extra).collect::<tantivy::Result<_>>()?,
        filters: plan
            .filters
            .iter()
            .map(|(wanted, query)| Ok((*wanted, query.weight(unscored)?)))
            .collect::<tantivy::Result<_>>()?,
        most_extra: plan.most_extra(statistics)?,
    })
}

/// Does a filter leave so little that it is quicker to begin with it?
fn is_selective(plan: &Plan, weights: &Weights, reader: &SegmentReader) -> tantivy::Result<bool> {
    if !plan.filters.iter().any(|(wanted, _)| *wanted) {
        return Ok(false);
    }
    let mut rarest = reader.max_doc();
    for term in &plan.all_of {
        rarest = rarest.min(reader.inverted_index(term.field())?.doc_freq(term)?);
    }
    for (wanted, filter) in &weights.filters {
        if *wanted && filter.scorer(reader, 1.0)?.size_hint() < rarest / SELECTIVE {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Going through one segment.
struct Scan<'a> {
    member: u32,
    segment: u32,
    reader: &'a SegmentReader,
    shown: Shown<'a>,
    ranks: Ranks<'a>,
    asked: &'a Retrieval<'a>,
    is_ordered: bool,
}

impl Scan<'_> {
    fn run(self, weights: &Weights, best: &mut Best) -> tantivy::Result<()> {
        let Self { member, segment, reader, shown, ranks, asked, is_ordered } = self;
        let mut extras = open(weights.extras.iter(), reader)?;
        let mut filters = weights
            .filters
            .iter()
            .map(|(wanted, weight)| Ok((*wanted, weight.scorer(reader, 1.0)?)))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let alive = reader.alive_bitset();
        let wanted = if asked.every_address { usize::MAX } else { 1 };
        // What the base must score so that the whole may come among the best.
        let base_bar = |bar: Score, rank: Score| {
            let least = bar - rank - weights.most_extra;
            (least - (bar.abs() + rank) * ROUNDING).next_down()
        };
        let first_bar = base_bar(best.bar(), ranks.most);
        let mut see = |doc: DocId, score: Score| {
            let is_alive = alive.is_none_or(|alive| alive.is_alive(doc));
            if is_alive && filters.iter_mut().all(|(wanted, filter)| has(&mut **filter, doc) == *wanted) {
                let extra = |extra: &mut Box<dyn Scorer>| has(&mut **extra, doc).then(|| extra.score());
                let more: Score = extras.iter_mut().filter_map(extra).sum();
                let score = score + more + ranks.of_doc(doc);
                if score >= best.bar() {
                    for (address, page) in shown.addresses(doc).take(wanted) {
                        let place = Place { member, segment, doc, address };
                        best.offer(Candidate { page, score, copies: 0, place });
                    }
                }
            }
            let rank = if is_ordered { ranks.of_doc(doc) } else { ranks.most };
            base_bar(best.bar(), rank)
        };
        weights.base.for_each_pruning(first_bar, reader, &mut see)?;
        if !asked.every_address {
            // Copies are counted for those that stayed.
            let mut kept: Vec<_> = std::mem::take(&mut best.heap).into_vec();
            for Reverse(Ranked(candidate)) in &mut kept {
                let Place { member: of, segment: part, doc, .. } = candidate.place;
                if (of, part) == (member, segment) {
                    candidate.copies = shown.addresses(doc).skip(1).count() as u32;
                }
            }
            best.heap = kept.into();
        }
        Ok(())
    }
}

fn open<'a>(
    weights: impl Iterator<Item = &'a Box<dyn Weight>>,
    reader: &SegmentReader,
) -> tantivy::Result<Vec<Box<dyn Scorer>>> {
    weights.map(|weight| weight.scorer(reader, 1.0)).collect()
}

/// Is the page among those? Pages are asked for in ascending order.
fn has(scorer: &mut dyn Scorer, doc: DocId) -> bool {
    let at = scorer.doc();
    at == doc || (at < doc && scorer.seek(doc) == doc)
}

/// What static ranks add to scores.
struct Ranks<'a> {
    column: Option<&'a Column<u64>>,
    /// For the stored rank of 1.
    unit: Score,
    /// The most that any page of the segment has.
    most: Score,
}

impl<'a> Ranks<'a> {
    fn of(column: Option<&'a Column<u64>>, weight: Score) -> Self {
        let column = column.filter(|_| weight != 0.0);
        let unit = weight / Score::from(u16::MAX);
        Self { column, unit, most: column.map_or(0, |column| column.max_value()) as Score * unit }
    }

    fn of_doc(&self, doc: DocId) -> Score {
        self.column.and_then(|column| column.first(doc)).unwrap_or_default() as Score * self.unit
    }
}
