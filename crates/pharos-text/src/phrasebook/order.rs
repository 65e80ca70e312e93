//! Places in phrases, in the order of their keys, with the least of every 64, and of every 64 of these: the best of a stretch
//! are found at once, however long it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::Place;

/// Places that share a least one, and least ones that share one again.
const BLOCK: usize = 64;
/// How often.
const LEVELS: usize = 2;

/// Places in the order of what they are looked up by.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Order {
    places: Vec<Place>,
    least: [Vec<Place>; LEVELS],
}

impl Order {
    pub(super) fn sorted(mut places: Vec<Place>, key: impl Fn(Place) -> String) -> Self {
        places.sort_by_cached_key(|place| key(*place).into_boxed_str());
        Self::of(places)
    }

    /// Places that are in order.
    pub(super) fn of(places: Vec<Place>) -> Self {
        let least_of = |places: &[Place]| -> Vec<Place> {
            places.chunks(BLOCK).filter_map(|block| block.iter().min().copied()).collect()
        };
        let blocks = least_of(&places);
        let above = least_of(&blocks);
        Self { places, least: [blocks, above] }
    }

    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.places.len() + self.least.iter().map(Vec::len).sum::<usize>())
    }

    /// Those whose keys begin with a text.
    pub(super) fn beginning_with(&self, text: &str, key: impl Fn(Place) -> String) -> Range<usize> {
        let start = self.places.partition_point(|place| key(*place).as_str() < text);
        let fitting = self.places[start..].partition_point(|place| key(*place).starts_with(text));
        start..start + fitting
    }

    /// Those whose keys are a text.
    pub(super) fn equal(&self, text: &str, key: impl Fn(Place) -> String) -> Range<usize> {
        let start = self.places.partition_point(|place| key(*place).as_str() < text);
        let fitting = self.places[start..].partition_point(|place| key(*place) == text);
        start..start + fitting
    }

    pub(super) fn first_at_least(&self, text: &str, key: impl Fn(Place) -> String) -> Option<Place> {
        self.places.get(self.places.partition_point(|place| key(*place).as_str() < text)).copied()
    }

    /// The places of a stretch from the least to the greatest, found one by one.
    pub(super) fn ascending(&self, range: Range<usize>) -> Ascending<'_> {
        let mut waiting = Vec::new();
        let mut range = range;
        for level in 0..=LEVELS {
            let (first, end) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
            let members = self.at(level);
            let wait = |at: usize| Reverse((members[at], Waiting { level, at }));
            if level == LEVELS || first >= end {
                waiting.extend(range.map(wait));
                break;
            }
            waiting.extend((range.start..first * BLOCK).chain(end * BLOCK..range.end).map(wait));
            range = first..end;
        }
        Ascending { order: self, waiting: BinaryHeap::from(waiting) }
    }

    /// Places at level 0, above that the least of those below.
    fn at(&self, level: usize) -> &[Place] {
        level.checked_sub(1).map_or(&self.places, |above| &self.least[above])
    }
}

/// Where a least place comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    level: usize,
    at: usize,
}

/// The iterator of [`Order::ascending`].
pub(super) struct Ascending<'o> {
    order: &'o Order,
    waiting: BinaryHeap<Reverse<(Place, Waiting)>>,
}

impl Iterator for Ascending<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        loop {
            let (place, Waiting { level, at }) = self.waiting.pop()?.0;
            let Some(below) = level.checked_sub(1) else { return Some(place) };
            let members = self.order.at(below);
            let block = at * BLOCK..(at * BLOCK + BLOCK).min(members.len());
            self.waiting.extend(block.map(|at| Reverse((members[at], Waiting { level: below, at }))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_stretches_ascend_as_short_ones_do() {
        // Every number below a prime, in an order that looks like none.
        let places: Vec<Place> = (0..20_011).map(|n| Place(n * 7_919 % 20_011)).collect();
        let order = Order::of(places.clone());
        for range in [0..20_011, 0..0, 5..6, 1..63, 64..128, 63..129, 100..9_000, 4_096..12_288, 3..20_010] {
            let mut expected = places[range.clone()].to_vec();
            expected.sort_unstable();
            assert!(order.ascending(range.clone()).eq(expected), "{range:?}");
        }
    }
}
