//! Search for the thresholded feature that agrees best with the potentials of rows: the weak rankers of boosting.

use rayon::prelude::*;

use super::bins::BinnedData;
use super::tree::{MissingValue, Node, NodeRef, Tree};

/// A thresholded feature: 1 for values above the threshold, otherwise 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stump {
    pub(crate) feature: u32,
    pub(crate) threshold: f64,
    /// Sum of the potentials of rows with 1; negative if the opposite order is right.
    pub(crate) advantage: f64,
    /// Missing values count as 0, like values up to the threshold.
    has_missing: bool,
}

/// Returns a tree that adds `weight` to the scores of rows above the threshold.
pub(crate) fn stump(stump: &Stump, weight: f64) -> Tree {
    let node = Node {
        feature: stump.feature,
        threshold: stump.threshold,
        left: NodeRef::Leaf(0),
        right: NodeRef::Leaf(1),
        missing: if stump.has_missing { MissingValue::Nan } else { MissingValue::None },
        missing_left: true,
        gain: stump.advantage.abs(),
    };
    Tree { nodes: vec![node], leaves: vec![0.0, weight] }
}

pub(crate) struct StumpSearch<'b> {
    binned: &'b BinnedData,
}

impl<'b> StumpSearch<'b> {
    pub(crate) fn new(binned: &'b BinnedData) -> Self {
        Self { binned }
    }

    /// Returns the stump with the largest advantage in size; `None` if no feature has one.
    pub(crate) fn best(&self, potentials: &[f64]) -> Option<Stump> {
        let of_column = |column: &super::bins::BinnedColumn| {
            let mut sums = vec![0.0; column.count()];
            for (&bin, potential) in column.bins.iter().zip(potentials) {
                sums[usize::from(bin)] += potential;
            }
            let mut above: f64 = sums[..=column.limits.len()].iter().sum();
            let mut best: Option<Stump> = None;
            for (sum, &limit) in sums.iter().zip(&column.limits) {
                above -= sum;
                if best.is_none_or(|best| above.abs() > best.advantage.abs()) {
                    best = Some(Stump {
                        feature: column.feature,
                        threshold: limit.into(),
                        advantage: above,
                        has_missing: column.has_missing,
                    });
                }
            }
            best
        };
        let found: Vec<Option<Stump>> = self.binned.columns.par_iter().map(of_column).collect();
        let best = found.into_iter().flatten().fold(None, |best: Option<Stump>, stump| match best {
            Some(best) if best.advantage.abs() >= stump.advantage.abs() => Some(best),
            _ => Some(stump),
        });
        best.filter(|stump| stump.advantage.abs() > 1e-9)
    }
}
