//! Collecting the best pages of one member, passing over addresses that a newer member hides.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use crate::address::{Hidden, Shown, SiteRules};
use crate::{Candidate, Found, Place};

/// The best `limit` pages of a member.
pub(crate) struct BestPages {
    pub(crate) member: u32,
    pub(crate) limit: usize,
    /// Every address that may be shown, instead of the first of each page.
    pub(crate) every_address: bool,
    pub(crate) hidden: Hidden,
    pub(crate) sites: SiteRules,
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
    every_address: bool,
    shown: Shown,
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
            every_address: self.every_address,
            shown: Shown::of(reader, self.hidden.clone(), &self.sites)?,
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
        let wanted = if self.every_address { usize::MAX } else { 1 };
        for (address, page) in self.shown.addresses(doc).take(wanted) {
            self.total += 1;
            let place = Place { member: self.member, segment: self.segment, doc, address };
            keep(&mut self.best, self.limit, Candidate { page, score, copies: 0, place });
        }
    }

    fn harvest(self) -> Found {
        let mut candidates: Vec<Candidate> = self.best.into_iter().map(|ranked| ranked.0.0).collect();
        if !self.every_address {
            for candidate in &mut candidates {
                candidate.copies = self.shown.addresses(candidate.place.doc).skip(1).count() as u32;
            }
        }
        Found { total: self.total, candidates }
    }
}

fn keep(best: &mut BinaryHeap<Reverse<Ranked>>, limit: usize, candidate: Candidate) {
    let ranked = Reverse(Ranked(candidate));
    if best.len() < limit {
        best.push(ranked);
    } else if best.peek().is_some_and(|worst| ranked.0 > worst.0) {
        best.pop();
        best.push(ranked);
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
