//! Collecting the best pages of one member, passing over those that a newer member hides.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

use pharos_core::PageId;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use crate::member::Columns;
use crate::{Candidate, Found};

/// The best `limit` pages of a member.
pub(crate) struct BestPages {
    pub(crate) member: u32,
    pub(crate) limit: usize,
    /// What newer members speak of.
    pub(crate) hidden: Vec<Arc<HashSet<PageId>>>,
}

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

pub(crate) struct SegmentBest {
    member: u32,
    segment: u32,
    limit: usize,
    hidden: Vec<Arc<HashSet<PageId>>>,
    columns: Columns,
    total: u64,
    best: BinaryHeap<Reverse<Ranked>>,
}

impl Collector for BestPages {
    type Fruit = Found;
    type Child = SegmentBest;

    fn for_segment(&self, segment: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<SegmentBest> {
        Ok(SegmentBest {
            member: self.member,
            segment,
            limit: self.limit,
            hidden: self.hidden.clone(),
            columns: Columns::of(reader)?,
            total: 0,
            best: BinaryHeap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        self.limit > 0
    }

    fn merge_fruits(&self, fruits: Vec<Found>) -> tantivy::Result<Found> {
        Ok(merge(fruits, self.limit))
    }
}

impl SegmentCollector for SegmentBest {
    type Fruit = Found;

    fn collect(&mut self, doc: DocId, score: Score) {
        let page = self.columns.page(doc);
        if self.hidden.iter().any(|set| set.contains(&page)) {
            return;
        }
        self.total += 1;
        if self.limit == 0 {
            return;
        }
        let ranked = Reverse(Ranked(Candidate { page, score, place: (self.member, self.segment, doc) }));
        if self.best.len() < self.limit {
            self.best.push(ranked);
        } else if self.best.peek().is_some_and(|worst| ranked.0 > worst.0) {
            self.best.pop();
            self.best.push(ranked);
        }
    }

    fn harvest(self) -> Found {
        Found { total: self.total, candidates: self.best.into_iter().map(|r| r.0.0).collect() }
    }
}

/// Several lists as one, best first.
pub(crate) fn merge(fruits: Vec<Found>, limit: usize) -> Found {
    let total = fruits.iter().map(|f| f.total).sum();
    let mut all: Vec<Ranked> = fruits.into_iter().flat_map(|f| f.candidates).map(Ranked).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.truncate(limit);
    Found { total, candidates: all.into_iter().map(|r| r.0).collect() }
}
