//! Trees as nested objects, the form of most formats.

use crate::ranking::trees::{MissingValue, Node, NodeRef, Tree};

/// Largest depth of a tree in a nested format.
pub(super) const MAX_DEPTH: usize = 100;

/// A tree or a part of one.
pub(super) enum NestedTree {
    Leaf(f64),
    Split(Box<NestedSplit>),
}

/// An inner node with its children.
pub(super) struct NestedSplit {
    pub(super) feature: u32,
    /// Values up to it go left.
    pub(super) threshold: f64,
    pub(super) missing: MissingValue,
    pub(super) missing_left: bool,
    pub(super) left: NestedTree,
    pub(super) right: NestedTree,
}

impl NestedTree {
    /// Converts a tree. Fails if it is deeper than the formats allow.
    pub(super) fn from_tree(tree: &Tree) -> Result<Self, String> {
        let root = if tree.nodes.is_empty() { NodeRef::Leaf(0) } else { NodeRef::Node(0) };
        Self::from_node(tree, root, 0)
    }

    fn from_node(tree: &Tree, at: NodeRef, depth: usize) -> Result<Self, String> {
        if depth > MAX_DEPTH {
            return Err(format!("a tree is deeper than {MAX_DEPTH} nodes"));
        }
        match at {
            NodeRef::Leaf(leaf) => Ok(Self::Leaf(tree.leaves[leaf as usize])),
            NodeRef::Node(node) => {
                let node = &tree.nodes[node as usize];
                Ok(Self::Split(Box::new(NestedSplit {
                    feature: node.feature,
                    threshold: node.threshold,
                    missing: node.missing,
                    missing_left: node.missing_left,
                    left: Self::from_node(tree, node.left, depth + 1)?,
                    right: Self::from_node(tree, node.right, depth + 1)?,
                })))
            }
        }
    }

    /// Converts to a tree whose leaves are multiplied by `weight`.
    pub(super) fn into_tree(self, weight: f64) -> Tree {
        let mut tree = Tree::default();
        self.add_to(&mut tree, weight);
        tree
    }

    fn add_to(self, tree: &mut Tree, weight: f64) -> NodeRef {
        match self {
            Self::Leaf(value) => {
                tree.leaves.push(value * weight);
                NodeRef::Leaf(tree.leaves.len() as u32 - 1)
            }
            Self::Split(split) => {
                let number = tree.nodes.len();
                tree.nodes.push(Node {
                    feature: split.feature,
                    threshold: split.threshold,
                    left: NodeRef::Leaf(0),
                    right: NodeRef::Leaf(0),
                    missing: split.missing,
                    missing_left: split.missing_left,
                    gain: 0.0,
                });
                let left = split.left.add_to(tree, weight);
                let right = split.right.add_to(tree, weight);
                tree.nodes[number].left = left;
                tree.nodes[number].right = right;
                NodeRef::Node(number as u32)
            }
        }
    }
}
