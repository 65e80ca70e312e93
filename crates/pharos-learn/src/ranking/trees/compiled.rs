//! Fast scoring of many rows by an ensemble.

use super::tree::{MissingValue, NodeRef, TreeEnsemble};

/// Rows that descend a tree together. Their steps are independent, so that a processor overlaps their memory accesses
/// (Asadi, Lin & de Vries 2014, "Runtime optimizations for tree-based machine learning models", §3.3).
const LANES: usize = 16;

/// An ensemble as flat arrays.
#[derive(Clone, Debug, Default)]
pub struct CompiledTrees {
    base: f64,
    trees: Vec<CompiledTree>,
    /// Features used, in the order of the columns that nodes refer to.
    features: Vec<u32>,
    /// Missing values have a side of their own in some node.
    has_missing: bool,
}

#[derive(Clone, Debug)]
struct CompiledTree {
    /// Inner nodes, then leaves, which lead to themselves.
    steps: Vec<Step>,
    /// Length of the longest path.
    depth: usize,
    inner: usize,
    leaves: Vec<f64>,
    /// Treatment of missing values at inner nodes.
    missing: Vec<(MissingValue, bool)>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    threshold: f32,
    column: u16,
    /// Next step for values up to the threshold and for others.
    next: [u16; 2],
}

impl CompiledTrees {
    /// Prepares an ensemble for scoring.
    pub fn new(ensemble: &TreeEnsemble) -> Self {
        let nodes = || ensemble.trees.iter().flat_map(|tree| &tree.nodes);
        let mut features: Vec<u32> = nodes().map(|node| node.feature).collect();
        features.sort_unstable();
        features.dedup();
        let has_missing = nodes().any(|node| node.missing != MissingValue::None);
        let trees = ensemble.trees.iter().map(|tree| {
            let inner = tree.nodes.len();
            let place = |child: NodeRef| match child {
                NodeRef::Node(node) => node as u16,
                NodeRef::Leaf(leaf) => (inner + leaf as usize) as u16,
            };
            let mut steps = Vec::with_capacity(inner + tree.leaves.len());
            let mut depths = vec![0; inner];
            let mut depth = 0;
            for (number, node) in tree.nodes.iter().enumerate() {
                for child in [node.left, node.right] {
                    depth = depth.max(depths[number] + 1);
                    if let NodeRef::Node(child) = child {
                        depths[child as usize] = depths[number] + 1;
                    }
                }
                let column = features.partition_point(|&feature| feature < node.feature) as u16;
                let next = [place(node.left), place(node.right)];
                steps.push(Step { threshold: round_down(node.threshold), column, next });
            }
            for leaf in 0..tree.leaves.len() {
                let itself = (inner + leaf) as u16;
                steps.push(Step { threshold: f32::INFINITY, column: 0, next: [itself; 2] });
            }
            let missing = tree.nodes.iter().map(|node| (node.missing, node.missing_left)).collect();
            CompiledTree { steps, depth, inner, leaves: tree.leaves.clone(), missing }
        });
        Self { base: ensemble.base, trees: trees.collect(), features, has_missing }
    }

    /// Writes the score of each row.
    pub fn score(&self, rows: &[&[f32]], out: &mut [f64]) {
        let width = self.features.len().max(1);
        let mut block = vec![0.0_f32; width * LANES];
        for (rows, out) in rows.chunks(LANES).zip(out.chunks_mut(LANES)) {
            let mut any_missing = false;
            for (lane, row) in rows.iter().enumerate() {
                for (column, &feature) in self.features.iter().enumerate() {
                    let value = row.get(feature as usize).copied().unwrap_or(0.0);
                    any_missing |= value.is_nan();
                    block[lane * width + column] = value;
                }
            }
            let scores = if self.has_missing {
                self.score_with_missing(&block, width)
            } else {
                if any_missing {
                    block.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 0.0);
                }
                self.score_block(&block, width)
            };
            out.copy_from_slice(&scores[..out.len()]);
        }
    }

    fn score_block(&self, block: &[f32], width: usize) -> [f64; LANES] {
        let mut scores = [self.base; LANES];
        for tree in &self.trees {
            let mut at = [0_u16; LANES];
            let steps = &tree.steps[..];
            for _ in 0..tree.depth {
                for (lane, at) in at.iter_mut().enumerate() {
                    let step = &steps[usize::from(*at)];
                    let value = block[lane * width + usize::from(step.column)];
                    *at = step.next[usize::from(value > step.threshold)];
                }
            }
            for (score, at) in scores.iter_mut().zip(at) {
                *score += tree.leaves[usize::from(at) - tree.inner];
            }
        }
        scores
    }

    fn score_with_missing(&self, block: &[f32], width: usize) -> [f64; LANES] {
        let mut scores = [self.base; LANES];
        for tree in &self.trees {
            for (lane, score) in scores.iter_mut().enumerate() {
                let mut at = 0;
                while at < tree.inner {
                    let step = &tree.steps[at];
                    let value = block[lane * width + usize::from(step.column)];
                    let (missing, missing_left) = tree.missing[at];
                    let is_missing = match missing {
                        MissingValue::None => false,
                        MissingValue::Nan => value.is_nan(),
                        MissingValue::Zero => value.is_nan() || value == 0.0,
                    };
                    let goes_right = if is_missing {
                        !missing_left
                    } else {
                        // NaN counts as 0 where it is not a value of its own.
                        (if value.is_nan() { 0.0 } else { value }) > step.threshold
                    };
                    at = usize::from(step.next[usize::from(goes_right)]);
                }
                *score += tree.leaves[at - tree.inner];
            }
        }
        scores
    }
}

/// Returns the greatest `f32` up to a threshold, which divides the numbers of this type in the same way.
fn round_down(threshold: f64) -> f32 {
    let rounded = threshold as f32;
    if f64::from(rounded) > threshold { rounded.next_down() } else { rounded }
}
