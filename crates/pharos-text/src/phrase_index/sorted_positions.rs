//! Phrase positions sorted by their keys, with the minimum of every 64 entries and of every 64 minima. The
//! best entries of a range are found without scanning it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::PhrasePosition;

/// Number of entries per minimum.
const BLOCK: usize = 64;
/// Number of levels of minima.
const LEVELS: usize = 2;

/// Positions sorted by lookup key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SortedPositions {
    positions: Vec<PhrasePosition>,
    least: [Vec<PhrasePosition>; LEVELS],
}

impl SortedPositions {
    pub(super) fn sort(mut positions: Vec<PhrasePosition>, key: impl Fn(PhrasePosition) -> String) -> Self {
        positions.sort_by_cached_key(|position| key(*position).into_boxed_str());
        Self::from_sorted(positions)
    }

    /// Creates the list from sorted positions.
    pub(super) fn from_sorted(positions: Vec<PhrasePosition>) -> Self {
        let least_of = |positions: &[PhrasePosition]| -> Vec<PhrasePosition> {
            positions.chunks(BLOCK).filter_map(|block| block.iter().min().copied()).collect()
        };
        let blocks = least_of(&positions);
        let above = least_of(&blocks);
        Self { positions, least: [blocks, above] }
    }

    pub(super) fn positions(&self) -> &[PhrasePosition] {
        &self.positions
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.positions.len() + self.least.iter().map(Vec::len).sum::<usize>())
    }

    /// Returns the range of entries whose keys begin with `text`.
    pub(super) fn beginning_with(&self, text: &str, key: impl Fn(PhrasePosition) -> String) -> Range<usize> {
        let start = self.positions.partition_point(|position| key(*position).as_str() < text);
        let fitting = self.positions[start..].partition_point(|position| key(*position).starts_with(text));
        start..start + fitting
    }

    /// Returns the range of entries whose keys equal `text`.
    pub(super) fn equal(&self, text: &str, key: impl Fn(PhrasePosition) -> String) -> Range<usize> {
        let start = self.positions.partition_point(|position| key(*position).as_str() < text);
        let fitting = self.positions[start..].partition_point(|position| key(*position) == text);
        start..start + fitting
    }

    pub(super) fn first_at_least(
        &self,
        text: &str,
        key: impl Fn(PhrasePosition) -> String,
    ) -> Option<PhrasePosition> {
        self.positions.get(self.positions.partition_point(|position| key(*position).as_str() < text)).copied()
    }

    /// Returns the entries of a range in ascending order, computed lazily.
    pub(super) fn ascending(&self, range: Range<usize>) -> Ascending<'_> {
        let mut pending = Vec::new();
        let mut range = range;
        for level in 0..=LEVELS {
            let (first, end) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
            let members = self.at(level);
            let wait = |at: usize| Reverse((members[at], PendingMinimum { level, at }));
            if level == LEVELS || first >= end {
                pending.extend(range.map(wait));
                break;
            }
            pending.extend((range.start..first * BLOCK).chain(end * BLOCK..range.end).map(wait));
            range = first..end;
        }
        Ascending { order: self, pending: BinaryHeap::from(pending) }
    }

    /// Returns the positions at level 0, and the minima of the level below at other levels.
    fn at(&self, level: usize) -> &[PhrasePosition] {
        level.checked_sub(1).map_or(&self.positions, |above| &self.least[above])
    }
}

/// The origin of a minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingMinimum {
    level: usize,
    at: usize,
}

/// The iterator returned by [`SortedPositions::ascending`].
pub(super) struct Ascending<'o> {
    order: &'o SortedPositions,
    pending: BinaryHeap<Reverse<(PhrasePosition, PendingMinimum)>>,
}

impl Iterator for Ascending<'_> {
    type Item = PhrasePosition;

    fn next(&mut self) -> Option<PhrasePosition> {
        loop {
            let (position, PendingMinimum { level, at }) = self.pending.pop()?.0;
            let Some(below) = level.checked_sub(1) else { return Some(position) };
            let members = self.order.at(below);
            let block = at * BLOCK..(at * BLOCK + BLOCK).min(members.len());
            self.pending.extend(block.map(|at| Reverse((members[at], PendingMinimum { level: below, at }))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_stretches_ascend_as_short_ones_do() {
        // A permutation of the numbers below a prime.
        let positions: Vec<PhrasePosition> =
            (0..20_011).map(|n| PhrasePosition(n * 7_919 % 20_011)).collect();
        let order = SortedPositions::from_sorted(positions.clone());
        for range in [0..20_011, 0..0, 5..6, 1..63, 64..128, 63..129, 100..9_000, 4_096..12_288, 3..20_010] {
            let mut expected = positions[range.clone()].to_vec();
            expected.sort_unstable();
            assert!(order.ascending(range.clone()).eq(expected), "{range:?}");
        }
    }
}
