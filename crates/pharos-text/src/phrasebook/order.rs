//! Places in phrases, in the order of their keys, with the least of every few: the best of a stretch are found at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::Place;

/// Places that share a least one.
const BLOCK: usize = 64;

/// Places in the order of what they are looked up by.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Order {
    places: Vec<Place>,
    least: Vec<Place>,
}

impl Order {
    pub(super) fn sorted(mut places: Vec<Place>, key: impl Fn(Place) -> String) -> Self {
        places.sort_by_cached_key(|place| key(*place).into_boxed_str());
        Self::of(places)
    }

    /// Places that are in order.
    pub(super) fn of(places: Vec<Place>) -> Self {
        let least = places.chunks(BLOCK).filter_map(|block| block.iter().min().copied()).collect();
        Self { places, least }
    }

    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.places.len() + self.least.len())
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
        let (first, end) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
        let mut waiting: Vec<Reverse<(Place, Waiting)>> = Vec::new();
        let single = |at: usize| Reverse((self.places[at], Waiting::Place));
        if first >= end {
            waiting.extend(range.map(single));
        } else {
            waiting.extend((range.start..first * BLOCK).map(single));
            waiting
                .extend((first..end).map(|block| Reverse((self.least[block], Waiting::Block(block as u32)))));
            waiting.extend((end * BLOCK..range.end).map(single));
        }
        Ascending { order: self, waiting: BinaryHeap::from(waiting) }
    }
}

/// What stands behind a least place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Waiting {
    Block(u32),
    Place,
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
            match self.waiting.pop()?.0 {
                (place, Waiting::Place) => return Some(place),
                (_, Waiting::Block(block)) => {
                    let start = block as usize * BLOCK;
                    let places = &self.order.places[start..(start + BLOCK).min(self.order.places.len())];
                    self.waiting.extend(places.iter().map(|place| Reverse((*place, Waiting::Place))));
                }
            }
        }
    }
}
