//! Decision trees (决策树): one per class, each split on a term (《搜索引擎——原理、技术与系统》§11.6; Quinlan 1986).
//!
//! A node whose texts all belong or all do not belong to the class is a leaf. Another one is split on the term with the
//! greatest information gain: left the texts that contain it, right the others.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{SparseVector, TrainingSet};
use crate::information::entropy;

/// Maximum depth of a tree.
const MAX_DEPTH: usize = 40;

/// Number of texts below which a node is not split.
const MIN_TEXTS: usize = 2;

/// A node; children follow their parent.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Node {
    /// Estimated probability of the class: (texts of the class + ½) / (texts + 1), as a score from −1 to 1.
    Leaf(f32),
    /// The node for texts with the term follows; `without` is the node for the others.
    Split { term: u32, without: u32 },
}

/// A tree per class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecisionTrees(Vec<Vec<Node>>);

impl DecisionTrees {
    /// Grows the trees.
    pub fn train(data: TrainingSet<'_>) -> Self {
        let grow = |class: usize| {
            let is_member: Vec<bool> = data.labels.iter().map(|of| of.contains(&(class as u32))).collect();
            let mut tree = Tree { vectors: data.vectors, is_member: &is_member, nodes: Vec::new() };
            let mut counts = vec![(0, 0); data.terms];
            tree.grow((0..data.vectors.len()).collect(), 0, &mut counts);
            tree.nodes
        };
        Self((0..data.classes).into_par_iter().map(grow).collect())
    }

    /// Returns `true` if the trees of a file fit the classes: every branch leads to a later node.
    pub(crate) fn is_valid(&self, classes: usize) -> bool {
        let node_is_valid = |(at, node): (usize, &Node), len: usize| match node {
            Node::Leaf(score) => score.is_finite(),
            Node::Split { without, .. } => {
                at + 1 < len && at < *without as usize && (*without as usize) < len
            }
        };
        self.0.len() == classes
            && self.0.iter().all(|nodes| {
                !nodes.is_empty() && nodes.iter().enumerate().all(|node| node_is_valid(node, nodes.len()))
            })
    }

    /// Returns the score of each class, from −1 to 1; above 0, most texts of the leaf belong to the class.
    pub fn scores(&self, vector: &SparseVector) -> Vec<f32> {
        let has = |term: u32| vector.pairs().binary_search_by_key(&term, |&(other, _)| other).is_ok();
        let walk = |nodes: &Vec<Node>| {
            let mut at = 0;
            loop {
                match nodes[at] {
                    Node::Leaf(score) => return score,
                    Node::Split { term, .. } if has(term) => at += 1,
                    Node::Split { without, .. } => at = without as usize,
                }
            }
        };
        self.0.iter().map(walk).collect()
    }
}

/// A tree while it grows.
struct Tree<'a> {
    vectors: &'a [SparseVector],
    is_member: &'a [bool],
    nodes: Vec<Node>,
}

impl Tree<'_> {
    /// Adds the subtree of some texts. `counts` has a place per term and contains zeros.
    fn grow(&mut self, texts: Vec<usize>, depth: usize, counts: &mut [(u32, u32)]) {
        let members = texts.iter().filter(|&&text| self.is_member[text]).count();
        let best = if members == 0 || members == texts.len() || texts.len() < MIN_TEXTS || depth >= MAX_DEPTH
        {
            None
        } else {
            self.best_split(&texts, members, counts)
        };
        let Some(term) = best else {
            let probability = (members as f32 + 0.5) / (texts.len() as f32 + 1.0);
            self.nodes.push(Node::Leaf(2.0 * probability - 1.0));
            return;
        };
        let contains = |text: &usize| {
            self.vectors[*text].pairs().binary_search_by_key(&term, |&(other, _)| other).is_ok()
        };
        let (with, without): (Vec<usize>, Vec<usize>) = texts.into_iter().partition(contains);
        let at = self.nodes.len();
        self.nodes.push(Node::Split { term, without: 0 });
        self.grow(with, depth + 1, counts);
        self.nodes[at] = Node::Split { term, without: self.nodes.len() as u32 };
        self.grow(without, depth + 1, counts);
    }

    /// Returns the term with the greatest information gain.
    fn best_split(&self, texts: &[usize], members: usize, counts: &mut [(u32, u32)]) -> Option<u32> {
        let mut terms = Vec::new();
        for &text in texts {
            for &(term, _) in self.vectors[text].pairs() {
                let count = &mut counts[term as usize];
                if count.0 == 0 {
                    terms.push(term);
                }
                count.0 += 1;
                count.1 += u32::from(self.is_member[text]);
            }
        }
        let (all, members) = (texts.len() as f64, members as f64);
        let mut best: Option<(f64, u32)> = None;
        for term in terms {
            let (with, own) = counts[term as usize];
            counts[term as usize] = (0, 0);
            let (with, own) = (f64::from(with), f64::from(own));
            let remaining = with * binary_entropy(own / with)
                + (all - with) * binary_entropy((members - own) / (all - with));
            let gain = all * binary_entropy(members / all) - remaining;
            if gain > 1e-9 && best.is_none_or(|(best, of)| gain > best || (gain == best && term < of)) {
                best = Some((gain, term));
            }
        }
        best.map(|(_, term)| term)
    }
}

/// Returns the entropy of an event of probability `p` and its opposite.
fn binary_entropy(p: f64) -> f64 {
    entropy(&[p, 1.0 - p])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_two_levels_separates_an_exception() {
        let vector = |terms: &[u32]| SparseVector::from_pairs(terms.iter().map(|&t| (t, 1.0)).collect());
        // Class 0: term 0 without term 1.
        let vectors = [vector(&[0]), vector(&[0, 2]), vector(&[0, 1]), vector(&[1]), vector(&[2])];
        let labels = [vec![0], vec![0], vec![1], vec![1], vec![1]];
        let data = TrainingSet { vectors: &vectors, labels: &labels, classes: 2, terms: 3 };
        let trees = DecisionTrees::train(data);
        assert!(trees.is_valid(2) && !trees.is_valid(3));
        for (vector, label) in vectors.iter().zip(&labels) {
            let scores = trees.scores(vector);
            assert!(scores[label[0] as usize] > 0.0 && scores[1 - label[0] as usize] < 0.0);
        }
    }

    #[test]
    fn trees_of_files_cannot_loop() {
        let tree = DecisionTrees(vec![vec![Node::Split { term: 0, without: 0 }, Node::Leaf(0.0)]]);
        assert!(!tree.is_valid(1));
        assert!(!DecisionTrees(vec![vec![]]).is_valid(1));
    }
}
