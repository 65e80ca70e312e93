//! The best pages for a query, out of all members.
//!
//! Stage one of ranking: BM25 over the one field of words plus a share of the static rank. What a page must score to come
//! among the best so far is told to tantivy, which passes over blocks of postings that cannot reach it. A history
//! generation is in descending order of static rank, so that what the base must score rises from page to page: no later
//! page of the segment has more rank to add.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use tantivy::columnar::Column;
use tantivy::query::{
    Bm25StatisticsProvider, BoostQuery, EnableScoring, Query as TantivyQuery, Scorer, TermQuery, Weight,
};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, SegmentReader, TERMINATED};

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
    is_flat: bool,
    extras: Vec<Box<dyn Weight>>,
    filters: Vec<(bool, Box<dyn Weight>)>,
    most_extra: Score,
}

pub(crate) fn best(
    chain: &ChainSnapshot,
    asked: &Retrieval<'_>,
    statistics: &dyn Bm25StatisticsProvider,
) -> Result<(Vec<Candidate>, bool), IndexError> {
    let mut best = Best { limit: asked.limit, heap: BinaryHeap::new() };
    if asked.limit == 0 {
        return Ok((Vec::new(), false));
    }
    let mut time = Time::until(asked.until);
    let split = Plan::of(asked.query, &chain.fields);
    let sites = asked.query.site_rules();
    for (member, view) in chain.asked(asked.members) {
        let failed = IndexError::tantivy(&view.path);
        let mut run = || -> tantivy::Result<()> {
            let split_weights = weights(&split, view, statistics)?;
            let mut whole_weights = None;
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                if time.is_up {
                    break;
                }
                let shown = view.shown(segment, &sites)?;
                let columns = view.columns(segment)?;
                let ranks = Ranks::of(columns.ranks.as_ref(), asked.rank_weight);
                let days = columns.days.as_ref().filter(|_| asked.newest_first);
                let is_ordered = view.is_ordered;
                let scan = Scan { member, segment, reader, shown, ranks, days, asked, is_ordered };
                if is_selective(&split, &split_weights, reader)? {
                    let weights = match &mut whole_weights {
                        Some(weights) => weights,
                        gap => {
                            let whole = Plan::whole(asked.query, &chain.fields);
                            gap.insert(self::weights(&whole, view, statistics)?)
                        }
                    };
                    scan.run(weights, &mut best, &mut time)?;
                } else {
                    scan.run(&split_weights, &mut best, &mut time)?;
                }
            }
            Ok(())
        };
        run().map_err(failed)?;
    }
    Ok((best.into_sorted(), time.is_up))
}

/// Looks at the clock now and then.
pub(crate) struct Time {
    until: Option<Instant>,
    steps: u32,
    is_up: bool,
}

impl Time {
    /// So many steps take some microseconds.
    const STEPS: u32 = 256;

    pub(crate) fn until(until: Option<Instant>) -> Self {
        Self { until, steps: 0, is_up: false }
    }

    /// Takes a step. Is it over?
    pub(crate) fn is_over(&mut self) -> bool {
        let Some(until) = self.until else { return false };
        self.steps += 1;
        if self.steps.is_multiple_of(Self::STEPS) {
            self.is_up |= Instant::now() >= until;
        }
        self.is_up
    }
}

fn weights(
    plan: &Plan,
    view: &MemberView,
    statistics: &dyn Bm25StatisticsProvider,
) -> tantivy::Result<Weights> {
    let scoring = EnableScoring::enabled_from_statistics_provider(statistics, &view.searcher);
    let extra = |(weight, term): &(f32, tantivy::Term)| {
        let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
        BoostQuery::new(Box::new(query), *weight).weight(scoring)
    };
    let unscored = EnableScoring::disabled_from_searcher(&view.searcher);
    Ok(Weights {
        base: plan.base.weight(scoring)?,
        is_flat: plan.is_flat,
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
    days: Option<&'a Column<i64>>,
    asked: &'a Retrieval<'a>,
    is_ordered: bool,
}

impl Scan<'_> {
    fn run(self, weights: &Weights, best: &mut Best, time: &mut Time) -> tantivy::Result<()> {
        let Self { member, segment, reader, shown, ranks, days, asked, is_ordered } = self;
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
            if time.is_over() {
                return Score::INFINITY;
            }
            let is_alive = alive.is_none_or(|alive| alive.is_alive(doc));
            if is_alive && filters.iter_mut().all(|(wanted, filter)| has(&mut **filter, doc) == *wanted) {
                let score = if asked.newest_first {
                    days.and_then(|days| days.first(doc)).map_or(Score::MIN, |day| day as Score)
                } else {
                    let extra = |extra: &mut Box<dyn Scorer>| has(&mut **extra, doc).then(|| extra.score());
                    let more: Score = extras.iter_mut().filter_map(extra).sum();
                    score + more + ranks.of_doc(doc)
                };
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
        if weights.is_flat && !asked.newest_first {
            weights.base.for_each_pruning(first_bar, reader, &mut see)?;
        } else {
            // Nothing can be passed over, but time may run out.
            let mut scorer = weights.base.scorer(reader, 1.0)?;
            while scorer.doc() != TERMINATED {
                let score = scorer.score();
                if see(scorer.doc(), score) == Score::INFINITY {
                    break;
                }
                scorer.advance();
            }
        }
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
