//! Growth of one tree: repeatedly splits the leaf with the greatest gain.

use rayon::prelude::*;

use super::bins::{BinnedColumn, BinnedData};
use super::tree::{MissingValue, Node, NodeRef, Tree};

/// Limits of a tree, with the names and defaults of LightGBM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowOptions {
    /// Largest number of leaves.
    pub leaves: usize,
    /// Largest depth; 0 without limit.
    pub depth: usize,
    /// Smallest number of rows of a leaf.
    pub min_rows: usize,
    /// Smallest sum of second derivatives of a leaf.
    pub min_hessian: f64,
    /// Weight λ of the squared leaf values in the loss.
    pub l2: f64,
}

impl Default for GrowOptions {
    fn default() -> Self {
        Self { leaves: 31, depth: 0, min_rows: 20, min_hessian: 1e-3, l2: 0.0 }
    }
}

/// First and second derivative of the loss by the score of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gradient {
    pub(crate) first: f32,
    pub(crate) second: f32,
}

/// Sums over the rows of a bin or leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    first: f64,
    second: f64,
    rows: u32,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.first += other.first;
        self.second += other.second;
        self.rows += other.rows;
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            first: self.first - other.first,
            second: self.second - other.second,
            rows: self.rows - other.rows,
        }
    }

    /// Returns the decrease of the loss by the best value of a leaf, times two.
    fn score(&self, l2: f64) -> f64 {
        let second = self.second + l2;
        if second > 0.0 { self.first * self.first / second } else { 0.0 }
    }
}

/// The best split of a leaf.
#[derive(Clone, Copy, Debug)]
struct Split {
    gain: f64,
    column: usize,
    /// Last bin of the left side.
    bin: usize,
    missing_left: bool,
    left: Sums,
}

/// A leaf of the growing tree.
struct GrowingLeaf {
    /// Its part of the row order.
    start: usize,
    end: usize,
    depth: usize,
    sums: Sums,
    /// Sums per bin of all columns; empty if the leaf cannot be split.
    histogram: Vec<Sums>,
    split: Option<Split>,
    /// The node that refers to this leaf and whether as its left child.
    parent: Option<(usize, bool)>,
}

/// Work below which threads cost more than they save, in rows times columns.
const PARALLEL_FROM: usize = 1 << 15;

/// Grows trees over the same binned data.
pub(crate) struct Grower<'a> {
    data: &'a BinnedData,
    options: GrowOptions,
    /// Position of each column in a histogram.
    offsets: Vec<usize>,
    /// Rows in the order of the leaves.
    order: Vec<u32>,
    scratch: Vec<u32>,
    /// Gradients of the rows of a leaf, in their order.
    gathered: Vec<Gradient>,
    /// Histograms for reuse.
    spare: Vec<Vec<Sums>>,
}

/// A grown tree with the rows of each leaf.
pub(crate) struct GrownTree<'g> {
    pub(crate) tree: Tree,
    /// Part of `order` of each leaf.
    pub(crate) leaf_rows: Vec<(usize, usize)>,
    pub(crate) order: &'g [u32],
}

impl<'a> Grower<'a> {
    pub(crate) fn new(data: &'a BinnedData, options: GrowOptions) -> Self {
        let mut offsets = vec![0];
        for column in &data.columns {
            offsets.push(offsets[offsets.len() - 1] + column.count());
        }
        Self {
            data,
            options,
            offsets,
            order: Vec::new(),
            scratch: Vec::new(),
            gathered: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Grows a tree on these rows. `uses_column` selects the features of this tree. Leaf values are not yet shrunk.
    pub(crate) fn grow(
        &mut self,
        gradients: &[Gradient],
        rows: impl Iterator<Item = u32>,
        uses_column: &[bool],
    ) -> GrownTree<'_> {
        self.order.clear();
        self.order.extend(rows);
        self.scratch.resize(self.order.len(), 0);
        let mut root = GrowingLeaf {
            start: 0,
            end: self.order.len(),
            depth: 0,
            sums: Sums::default(),
            histogram: Vec::new(),
            split: None,
            parent: None,
        };
        for &row in &self.order {
            let gradient = gradients[row as usize];
            root.sums.add(&Sums { first: gradient.first.into(), second: gradient.second.into(), rows: 1 });
        }
        if self.can_split(&root) {
            self.gather(gradients, 0, root.end);
            root.histogram = self.take_histogram();
            let (order, gathered) = (&self.order, &self.gathered);
            root.split = self
                .each_column(uses_column, order.len(), &mut root.histogram, &mut [], |column, own, _| {
                    fill(column, order, gathered, own);
                    (self.best_split(column, own, &root.sums), None)
                })
                .0;
        }
        let mut leaves = vec![root];
        let mut nodes: Vec<Node> = Vec::new();
        while leaves.len() < self.options.leaves {
            let Some((best, split)) = best_leaf(&leaves) else { break };
            let column = &self.data.columns[split.column];
            nodes.push(Node {
                feature: column.feature,
                threshold: threshold(column, split.bin),
                // Both are replaced when the children are split.
                left: NodeRef::Leaf(best as u32),
                right: NodeRef::Leaf(leaves.len() as u32),
                missing: if column.has_missing { MissingValue::Nan } else { MissingValue::None },
                missing_left: split.missing_left,
                gain: split.gain,
            });
            let number = nodes.len() - 1;
            if let Some((parent, is_left)) = leaves[best].parent {
                let child = if is_left { &mut nodes[parent].left } else { &mut nodes[parent].right };
                *child = NodeRef::Node(number as u32);
            }
            let right = self.split_leaf(&mut leaves[best], &split, number, gradients, uses_column);
            leaves.push(right);
        }
        let l2 = self.options.l2;
        let values = leaves.iter().map(|leaf| {
            let second = leaf.sums.second + l2;
            if second > 0.0 { -leaf.sums.first / second } else { 0.0 }
        });
        let tree = Tree { nodes, leaves: values.collect() };
        let leaf_rows = leaves.iter().map(|leaf| (leaf.start, leaf.end)).collect();
        self.spare.extend(leaves.into_iter().map(|leaf| leaf.histogram).filter(|each| !each.is_empty()));
        GrownTree { tree, leaf_rows, order: &self.order }
    }

    fn can_split(&self, leaf: &GrowingLeaf) -> bool {
        let rows = leaf.end - leaf.start;
        rows >= 2 * self.options.min_rows.max(1)
            && leaf.sums.second >= 2.0 * self.options.min_hessian
            && (self.options.depth == 0 || leaf.depth < self.options.depth)
    }

    fn take_histogram(&mut self) -> Vec<Sums> {
        let length = self.offsets[self.offsets.len() - 1];
        match self.spare.pop() {
            Some(mut histogram) => {
                histogram.fill(Sums::default());
                histogram
            }
            None => vec![Sums::default(); length],
        }
    }

    fn gather(&mut self, gradients: &[Gradient], start: usize, end: usize) {
        self.gathered.clear();
        self.gathered.extend(self.order[start..end].iter().map(|&row| gradients[row as usize]));
    }

    /// Divides a leaf. It becomes the left child; returns the right one.
    fn split_leaf(
        &mut self,
        leaf: &mut GrowingLeaf,
        split: &Split,
        node: usize,
        gradients: &[Gradient],
        uses_column: &[bool],
    ) -> GrowingLeaf {
        let middle = self.partition(leaf, split);
        let mut right = GrowingLeaf {
            start: middle,
            end: leaf.end,
            depth: leaf.depth + 1,
            sums: leaf.sums.minus(&split.left),
            histogram: Vec::new(),
            split: None,
            parent: Some((node, false)),
        };
        leaf.end = middle;
        leaf.depth += 1;
        leaf.sums = split.left;
        leaf.split = None;
        leaf.parent = Some((node, true));
        let (left_can, right_can) = (self.can_split(leaf), self.can_split(&right));
        let mut of_parent = std::mem::take(&mut leaf.histogram);
        if !left_can && !right_can {
            self.spare.push(of_parent);
            return right;
        }
        let left_is_smaller = leaf.end - leaf.start <= right.end - right.start;
        let (small, large) =
            if left_is_smaller { (&mut *leaf, &mut right) } else { (&mut right, &mut *leaf) };
        let (small_can, large_can) =
            if left_is_smaller { (left_can, right_can) } else { (right_can, left_can) };
        self.gather(gradients, small.start, small.end);
        let mut of_small = self.take_histogram();
        let (order, gathered) = (&self.order[small.start..small.end], &self.gathered);
        let work = order.len() + 2 * of_small.len() / self.data.columns.len().max(1);
        let (of_first, of_second) =
            self.each_column(uses_column, work, &mut of_small, &mut of_parent, |column, own, other| {
                fill(column, order, gathered, own);
                for (rest, part) in other.iter_mut().zip(own.iter()) {
                    *rest = rest.minus(part);
                }
                let of_small = small_can.then(|| self.best_split(column, own, &small.sums)).flatten();
                let of_large = large_can.then(|| self.best_split(column, other, &large.sums)).flatten();
                (of_small, of_large)
            });
        (small.split, large.split) = (of_first, of_second);
        (small.histogram, large.histogram) = (of_small, of_parent);
        right
    }

    /// Moves the rows of the left side before those of the right side, both in their order. Returns the first of the right.
    fn partition(&mut self, leaf: &GrowingLeaf, split: &Split) -> usize {
        let column = &self.data.columns[split.column];
        let missing_bin = column.limits.len() + 1;
        let mut kept = leaf.start;
        let mut moved = 0;
        for place in leaf.start..leaf.end {
            let row = self.order[place];
            let bin = usize::from(column.bins[row as usize]);
            let goes_left = if bin == missing_bin { split.missing_left } else { bin <= split.bin };
            if goes_left {
                self.order[kept] = row;
                kept += 1;
            } else {
                self.scratch[moved] = row;
                moved += 1;
            }
        }
        self.order[kept..leaf.end].copy_from_slice(&self.scratch[..moved]);
        kept
    }

    /// Calls `work` for the part of each used column in two histograms, and returns the best splits it finds. Of equal
    /// splits the one with the first column wins, so that the result does not depend on threads.
    fn each_column(
        &self,
        uses_column: &[bool],
        rows: usize,
        first: &mut [Sums],
        second: &mut [Sums],
        work: impl Fn(&BinnedColumn, &mut [Sums], &mut [Sums]) -> (Option<ColumnSplit>, Option<ColumnSplit>)
        + Sync,
    ) -> (Option<Split>, Option<Split>) {
        let mut parts = Vec::with_capacity(self.data.columns.len());
        let (mut first, mut second) = (first, second);
        for (number, column) in self.data.columns.iter().enumerate() {
            let (own, rest) = first.split_at_mut(column.count());
            let (other, other_rest) = second.split_at_mut(column.count().min(second.len()));
            (first, second) = (rest, other_rest);
            if uses_column[number] {
                parts.push((number, column, own, other));
            }
        }
        let is_parallel = rows * parts.len() >= PARALLEL_FROM;
        let run = |(number, column, own, other): (usize, &BinnedColumn, &mut [Sums], &mut [Sums])| {
            let (a, b) = work(column, own, other);
            let named = |split: ColumnSplit| Split {
                gain: split.gain,
                column: number,
                bin: split.bin,
                missing_left: split.missing_left,
                left: split.left,
            };
            (a.map(named), b.map(named))
        };
        let found: Vec<_> = if is_parallel {
            parts.into_par_iter().map(run).collect()
        } else {
            parts.into_iter().map(run).collect()
        };
        found.into_iter().fold((None, None), |(a, b), (c, d)| (better(a, c), better(b, d)))
    }

    /// Returns the best split of a leaf by one column.
    fn best_split(&self, column: &BinnedColumn, histogram: &[Sums], total: &Sums) -> Option<ColumnSplit> {
        let limits = column.limits.len();
        let missing = if column.has_missing { histogram[limits + 1] } else { Sums::default() };
        let mut best = self.scan(&histogram[..limits + 1], total, Sums::default(), column.has_missing);
        if missing.rows > 0 {
            let with_missing = self.scan(&histogram[..limits + 1], total, missing, true);
            if let Some(found) = with_missing
                && best.is_none_or(|best| found.gain > best.gain)
            {
                best = Some(ColumnSplit { missing_left: true, ..found });
            }
        }
        best
    }

    /// Returns the best split with `start` on the left side.
    fn scan(&self, bins: &[Sums], total: &Sums, start: Sums, with_last: bool) -> Option<ColumnSplit> {
        let GrowOptions { min_rows, min_hessian, l2, .. } = self.options;
        let min_rows = min_rows.max(1) as u32;
        let of_parent = total.score(l2);
        let mut left = start;
        let mut best: Option<ColumnSplit> = None;
        // Splitting after the last bin separates missing values from all others.
        let last = bins.len() - usize::from(!with_last);
        for (bin, sums) in bins[..last].iter().enumerate() {
            if sums.rows == 0 {
                continue;
            }
            left.add(sums);
            if left.rows < min_rows || left.second < min_hessian {
                continue;
            }
            let right = total.minus(&left);
            if right.rows < min_rows || right.second < min_hessian {
                break;
            }
            let gain = left.score(l2) + right.score(l2) - of_parent;
            if gain > 1e-10 && best.is_none_or(|best| gain > best.gain) {
                best = Some(ColumnSplit { gain, bin, missing_left: false, left });
            }
        }
        best
    }
}

/// A split by a known column.
#[derive(Clone, Copy, Debug)]
struct ColumnSplit {
    gain: f64,
    bin: usize,
    missing_left: bool,
    left: Sums,
}

fn better(a: Option<Split>, b: Option<Split>) -> Option<Split> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.gain > a.gain { b } else { a }),
        (a, b) => a.or(b),
    }
}

fn best_leaf(leaves: &[GrowingLeaf]) -> Option<(usize, Split)> {
    let mut best: Option<(usize, Split)> = None;
    for (number, leaf) in leaves.iter().enumerate() {
        if let Some(split) = leaf.split
            && best.is_none_or(|(_, best)| split.gain > best.gain)
        {
            best = Some((number, split));
        }
    }
    best
}

/// Adds the gradients of these rows to the bins of a column.
fn fill(column: &BinnedColumn, rows: &[u32], gradients: &[Gradient], histogram: &mut [Sums]) {
    for (&row, gradient) in rows.iter().zip(gradients) {
        let sums = &mut histogram[usize::from(column.bins[row as usize])];
        sums.first += f64::from(gradient.first);
        sums.second += f64::from(gradient.second);
        sums.rows += 1;
    }
}

/// Returns the threshold of a split after a bin. After the last bin of values it separates missing values.
fn threshold(column: &BinnedColumn, bin: usize) -> f64 {
    column.limits.get(bin).map_or(f64::from(f32::MAX), |&limit| f64::from(limit))
}
