//! A regression tree, and a sum of trees.

use serde::{Deserialize, Serialize};

/// Largest number of leaves of a tree.
pub(crate) const MAX_LEAVES: usize = 1 << 15;

/// A regression tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Inner nodes; the first is the root. Children come after their parents.
    pub nodes: Vec<Node>,
    /// Values of the leaves; exactly one more than inner nodes.
    #[serde(with = "crate::ranking::exact::list")]
    pub leaves: Vec<f64>,
}

/// An inner node: rows with a value up to the threshold go left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub feature: u32,
    #[serde(with = "crate::ranking::exact")]
    pub threshold: f64,
    pub left: NodeRef,
    pub right: NodeRef,
    /// Values that count as missing.
    #[serde(default)]
    pub missing: MissingValue,
    /// Side of missing values.
    #[serde(default)]
    pub missing_left: bool,
    /// Decrease of the loss by this split; 0 if unknown.
    #[serde(default, with = "crate::ranking::exact")]
    pub gain: f64,
}

/// Reference to an inner node or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeRef {
    Node(u32),
    Leaf(u32),
}

/// Values that a node sends to the side of missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissingValue {
    /// None: NaN counts as 0.
    #[default]
    None,
    /// NaN.
    Nan,
    /// NaN and 0.
    Zero,
}

impl Node {
    /// Returns the child for a value.
    #[inline]
    pub fn child(&self, value: f32) -> NodeRef {
        let is_missing = match self.missing {
            MissingValue::None => false,
            MissingValue::Nan => value.is_nan(),
            MissingValue::Zero => value.is_nan() || value == 0.0,
        };
        let value = if value.is_nan() { 0.0 } else { f64::from(value) };
        let goes_left = if is_missing { self.missing_left } else { value <= self.threshold };
        if goes_left { self.left } else { self.right }
    }
}

impl Tree {
    /// Returns a tree of one leaf.
    pub fn constant(value: f64) -> Self {
        Self { nodes: Vec::new(), leaves: vec![value] }
    }

    /// Returns the number of the leaf of a row. A feature beyond the end of the row is 0.
    pub fn leaf(&self, row: &[f32]) -> usize {
        let mut at = if self.nodes.is_empty() { NodeRef::Leaf(0) } else { NodeRef::Node(0) };
        loop {
            match at {
                NodeRef::Leaf(leaf) => return leaf as usize,
                NodeRef::Node(node) => {
                    let node = &self.nodes[node as usize];
                    at = node.child(row.get(node.feature as usize).copied().unwrap_or(0.0));
                }
            }
        }
    }

    /// Returns the value of a row.
    pub fn value(&self, row: &[f32]) -> f64 {
        self.leaves[self.leaf(row)]
    }

    /// Checks that the tree is one: children come after their parents and every node but the root has one parent.
    pub fn validate(&self) -> Result<(), String> {
        if self.leaves.len() != self.nodes.len() + 1 {
            return Err(format!("{} leaves for {} inner nodes", self.leaves.len(), self.nodes.len()));
        }
        if self.leaves.len() > MAX_LEAVES {
            return Err(format!("more than {MAX_LEAVES} leaves"));
        }
        let mut has_parent = (vec![false; self.nodes.len()], vec![false; self.leaves.len()]);
        for (number, node) in self.nodes.iter().enumerate() {
            for child in [node.left, node.right] {
                let seen = match child {
                    NodeRef::Node(child) if child as usize > number => has_parent.0.get_mut(child as usize),
                    NodeRef::Leaf(leaf) => has_parent.1.get_mut(leaf as usize),
                    NodeRef::Node(_) => None,
                };
                match seen {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(format!("node {number} has a wrong child")),
                }
            }
            if !node.threshold.is_finite() {
                return Err(format!("the threshold of node {number} is not a finite number"));
            }
            if node.feature > crate::ranking::data::letor::MAX_FEATURE {
                return Err(format!("feature {} is too large", node.feature));
            }
        }
        match self.leaves.iter().position(|value| !value.is_finite()) {
            Some(leaf) => Err(format!("the value of leaf {leaf} is not a finite number")),
            None => Ok(()),
        }
    }
}

/// A sum of trees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TreeEnsemble {
    /// Score before the first tree.
    #[serde(with = "crate::ranking::exact")]
    pub base: f64,
    pub trees: Vec<Tree>,
}

impl TreeEnsemble {
    /// Returns the score of a row.
    pub fn score(&self, row: &[f32]) -> f64 {
        self.base + self.trees.iter().map(|tree| tree.value(row)).sum::<f64>()
    }

    /// Returns the sum of gains of each feature, by feature number.
    pub fn gains(&self) -> Vec<f64> {
        let nodes = || self.trees.iter().flat_map(|tree| &tree.nodes);
        let mut gains = vec![0.0; nodes().map(|node| node.feature as usize + 1).max().unwrap_or(0)];
        for node in nodes() {
            gains[node.feature as usize] += node.gain;
        }
        gains
    }

    /// Checks every tree.
    pub fn validate(&self) -> Result<(), String> {
        if !self.base.is_finite() {
            return Err("the base score is not a finite number".to_owned());
        }
        for (number, tree) in self.trees.iter().enumerate() {
            tree.validate().map_err(|problem| format!("tree {number}: {problem}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stump(missing: MissingValue) -> Tree {
        let (left, right) = (NodeRef::Leaf(0), NodeRef::Leaf(1));
        let node = Node { feature: 2, threshold: 0.5, left, right, missing, missing_left: false, gain: 1.5 };
        Tree { nodes: vec![node], leaves: vec![-1.0, 1.0] }
    }

    #[test]
    fn values_up_to_the_threshold_go_left() {
        let tree = stump(MissingValue::None);
        let values = [0.4, 0.5, 0.6, f32::NAN].map(|value| tree.value(&[9.0, 9.0, value]));
        assert_eq!(values, [-1.0, -1.0, 1.0, -1.0]);
        assert_eq!(tree.value(&[]), -1.0, "features beyond the row are 0");
        assert_eq!(stump(MissingValue::Nan).value(&[0.0, 0.0, f32::NAN]), 1.0);
        assert_eq!(stump(MissingValue::Nan).value(&[0.0, 0.0, 0.0]), -1.0);
        assert_eq!(stump(MissingValue::Zero).value(&[0.0, 0.0, 0.0]), 1.0);
    }

    #[test]
    fn ensembles_add_up() {
        let ensemble = TreeEnsemble { base: 0.25, trees: vec![stump(MissingValue::None); 2] };
        assert_eq!(ensemble.score(&[0.0, 0.0, 1.0]), 2.25);
        assert_eq!(ensemble.gains(), [0.0, 0.0, 3.0]);
        assert_eq!(ensemble.validate(), Ok(()));
    }

    #[test]
    fn malformed_trees_are_rejected() {
        let mut cycle = stump(MissingValue::None);
        cycle.nodes[0].left = NodeRef::Node(0);
        assert!(cycle.validate().is_err());
        let mut shared = stump(MissingValue::None);
        shared.nodes[0].right = NodeRef::Leaf(0);
        assert!(shared.validate().is_err());
        let mut unknown = stump(MissingValue::None);
        unknown.leaves[1] = f64::NAN;
        assert!(unknown.validate().is_err());
        assert!(Tree::default().validate().is_err());
    }
}
