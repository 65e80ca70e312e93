//! Term weights within a page (DocView, 《搜索引擎——原理、技术与系统》§7.1).
//!
//! ```text
//! dom ─ blocks ─▶ block tree ─ propagate ─▶ block weights ─ term_weights ─▶ term weights
//!       text with its emphasis   emphasis raises       formula 7-1: frequency
//!                                its neighbourhood     times block weight
//! ```
//!
//! Weights are computed from one page without a corpus. They measure emphasis in the page, not rarity.
//!
//! # Claims of the book and their validity
//! * *The order of the leaves does not matter.* True unless a cap stops the expansion: a factor then always
//!   multiplies the same nodes. With a cap it is false, because the order decides which expansions are stopped. The
//!   tree is therefore always processed in document order.
//! * *Different factors give different weights.* False for siblings: each factor multiplies the same nodes, so only
//!   the product counts.
//! * Expansion to the root multiplies every node alike and vanishes in the normalisation; hence
//!   `Propagation::levels`.

mod emphasis;
mod irrelevant_words;
mod keywords;
mod page_fields;
pub(crate) mod summary;

use std::collections::HashMap;

use foldhash::fast::FixedState;

pub use irrelevant_words::IrrelevantWordLearner;
pub(crate) use page_fields::{fill, fill_from_text};
use pharos_core::WeightedTerm;
use pharos_core::config::CleanConfig;
use pharos_core::work::spend_work;
use pharos_text::{Analyser, is_han};
pub use summary::first_bytes;

/// Parameters of term weighting and keyword selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermWeighting {
    /// Number of levels to which emphasis expands: the siblings of the block, then those of its parent, and so on.
    pub levels: usize,
    /// Expansion stops at a node with a greater weight.
    pub cap: f64,
    /// α: maximum number of keywords of a page.
    pub keywords: usize,
    /// β: minimum weight of a keyword, relative to the average.
    pub keyword_factor: f64,
}

impl Default for TermWeighting {
    fn default() -> Self {
        Self::from(&CleanConfig::default())
    }
}

impl From<&CleanConfig> for TermWeighting {
    fn from(config: &CleanConfig) -> Self {
        Self {
            levels: config.levels,
            cap: config.cap,
            keywords: config.keywords,
            keyword_factor: config.keyword_factor,
        }
    }
}

impl TermWeighting {
    pub(crate) fn propagation(&self) -> Propagation {
        Propagation { levels: self.levels, cap: self.cap }
    }
}

/// Reach of emphasis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Propagation {
    /// Number of outward expansions: the siblings of the block, then those of its parent, and so on.
    pub(crate) levels: usize,
    /// Expansion stops at a node with a greater weight.
    pub(crate) cap: f64,
}

impl Default for Propagation {
    fn default() -> Self {
        TermWeighting::default().propagation()
    }
}

/// The blocks of a page as a tree. Node 0 is the page's body; every node follows its parent.
#[derive(Debug)]
pub(crate) struct BlockTree<'a> {
    nodes: Vec<TreeNode<'a>>,
}

/// A block (内容块): a container, or a leaf with text.
#[derive(Debug)]
struct TreeNode<'a> {
    parent: usize,
    /// Sum of the factors of its important tags; 1 without emphasis.
    factor: f64,
    text: &'a str,
}

impl<'a> BlockTree<'a> {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![TreeNode { parent: 0, factor: 1.0, text: "" }] }
    }

    /// Adds a container and returns its index; the body has index 0.
    pub(crate) fn add_container(&mut self, parent: usize) -> usize {
        self.add_leaf(parent, 1.0, "")
    }

    /// Adds a leaf and returns its index.
    pub(crate) fn add_leaf(&mut self, parent: usize, factor: f64, text: &'a str) -> usize {
        let parent = parent.min(self.nodes.len() - 1);
        self.nodes.push(TreeNode { parent, factor, text });
        self.nodes.len() - 1
    }

    /// Computes the weights of all nodes by the propagation rules (权值传递规则, 《搜索引擎——原理、技术与系统》§7.1).
    ///
    /// Every node starts at 1. A leaf with a factor λ above 1 multiplies itself, then its parent and everything
    /// below that, then the same one level further up, until it reaches the body or a node above the cap.
    /// Everything below the last node reached is multiplied exactly once. One factor per node therefore suffices,
    /// and the time depends on the depth of the tree, not on its size.
    pub(crate) fn propagate(&self, rule: Propagation) -> Vec<f64> {
        self.propagate_in(0..self.nodes.len(), rule)
    }

    fn propagate_in(&self, order: impl IntoIterator<Item = usize>, rule: Propagation) -> Vec<f64> {
        /// Larger weights would vanish in the normalisation.
        const HIGHEST: f64 = 1e100;
        let mut scale = vec![1.0_f64; self.nodes.len()];
        for leaf in order {
            let factor = self.nodes[leaf].factor;
            if factor <= 1.0 {
                continue;
            }
            let mut top = leaf;
            for _ in 0..rule.levels {
                let parent = self.nodes[top].parent;
                if parent == 0 || self.weight(parent, &scale) > rule.cap {
                    break;
                }
                top = parent;
            }
            scale[top] = (scale[top] * factor).min(HIGHEST);
        }
        let mut weights = scale;
        for node in 1..weights.len() {
            weights[node] = (weights[node] * weights[self.nodes[node].parent]).min(HIGHEST);
        }
        weights
    }

    /// Returns the current weight of a node: the product of its own factor and those of its ancestors.
    fn weight(&self, node: usize, scale: &[f64]) -> f64 {
        /// Number of factors multiplied in the time of a step.
        const FACTORS_PER_STEP: u64 = 8;
        let (mut weight, mut at, mut factors) = (1.0, node, 0);
        while at != 0 {
            weight *= scale[at];
            at = self.nodes[at].parent;
            factors += 1;
        }
        spend_work(1 + factors / FACTORS_PER_STEP);
        weight
    }

    /// Returns the terms of the page with their weights, in descending order (formula 7-1 of the book):
    ///
    /// w(i) = Σⱼ BWeight(j)·BTf(i,j) / √ Σᵢ (Σⱼ BWeight(j)·BTf(i,j))², where BTf(i,j) is the frequency of term i in
    /// block j.
    pub(crate) fn term_weights(&self, rule: Propagation) -> Vec<WeightedTerm> {
        /// Maximum length of the text examined; more text does not change the subject.
        const MAX_TEXT: usize = 16 << 10;
        let weights = self.propagate(rule);
        let highest = weights.iter().copied().fold(1.0, f64::max);
        // In order of first occurrence, which breaks ties.
        let mut sums: Vec<(String, f64)> = Vec::new();
        let mut places: HashMap<String, usize, FixedState> = HashMap::default();
        let mut remaining = MAX_TEXT;
        for (block, weight) in self.nodes.iter().zip(weights) {
            let text = &block.text[..block.text.floor_char_boundary(remaining)];
            remaining -= text.len();
            Analyser::shared().for_each_token(text, |term, start, end, _| {
                if is_informative(term) {
                    match places.get(term) {
                        Some(place) => sums[*place].1 += weight / highest,
                        None => {
                            places.insert(term.to_string(), sums.len());
                            sums.push((display_form(term, &text[start..end]), weight / highest));
                        }
                    }
                }
            });
        }
        normalised(sums)
    }

    /// Returns the paragraphs of the page: the text below each child of the body root (《搜索引擎——原理、技术与系统》§7.1).
    pub(crate) fn paragraphs(&self) -> Vec<String> {
        let root = self.body_root();
        let mut top = vec![0; self.nodes.len()];
        let mut paragraphs: Vec<(usize, String)> = Vec::new();
        for (number, block) in self.nodes.iter().enumerate().skip(1) {
            top[number] = if block.parent == root { number } else { top[block.parent] };
            if block.text.is_empty() {
                continue;
            }
            match paragraphs.last_mut() {
                Some((of, text)) if *of == top[number] => {
                    text.push('\n');
                    text.push_str(block.text);
                }
                _ => paragraphs.push((top[number], block.text.to_string())),
            }
        }
        paragraphs.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns the lowest common ancestor of all leaves with text (正文根).
    fn body_root(&self) -> usize {
        let mut below = vec![0_usize; self.nodes.len()];
        for number in (0..self.nodes.len()).rev() {
            below[number] += usize::from(!self.nodes[number].text.is_empty());
            if number > 0 {
                below[self.nodes[number].parent] += below[number];
            }
        }
        let all = below[0];
        // Nodes come after their parents: the last that holds everything is the lowest.
        let root = (0..self.nodes.len()).rev().find(|number| below[*number] == all).unwrap_or(0);
        if self.nodes[root].text.is_empty() { root } else { self.nodes[root].parent }
    }
}

fn normalised(sums: Vec<(String, f64)>) -> Vec<WeightedTerm> {
    let length = sums.iter().map(|(_, sum)| sum * sum).sum::<f64>().sqrt();
    let mut terms: Vec<WeightedTerm> =
        sums.into_iter().map(|(term, sum)| WeightedTerm { term, weight: (sum / length) as f32 }).collect();
    terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    terms
}

/// Returns a term for display. Terms are normalised for comparison (漢語 to 汉语, Node.js to nodejs).
fn display_form(term: &str, written: &str) -> String {
    let is_folded = written.contains(|c: char| is_han(c) || c.is_ascii_punctuation());
    if is_folded { written.to_lowercase() } else { term.to_string() }
}

/// Returns `false` for single characters, numbers and words that occur in every text.
fn is_informative(term: &str) -> bool {
    let mut chars = term.chars();
    chars.next().is_some()
        && chars.next().is_some()
        && !term.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_punctuation())
        && !irrelevant_words::is_irrelevant(term)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_CAP: Propagation = Propagation { levels: 2, cap: f64::INFINITY };

    /// A container in the body with leaves of these factors.
    fn siblings(factors: &[f64]) -> BlockTree<'static> {
        let mut tree = BlockTree::new();
        let parent = tree.add_container(0);
        for factor in factors {
            tree.add_leaf(parent, *factor, "");
        }
        tree
    }

    /// The literal rule, node by node.
    fn literal_propagation(tree: &BlockTree, rule: Propagation) -> Vec<f64> {
        let mut weights = vec![1.0; tree.nodes.len()];
        let is_below = |mut node: usize, top: usize| {
            while node != 0 && node != top {
                node = tree.nodes[node].parent;
            }
            node == top
        };
        for leaf in 0..tree.nodes.len() {
            let factor = tree.nodes[leaf].factor;
            if factor <= 1.0 {
                continue;
            }
            weights[leaf] *= factor;
            let mut source = leaf;
            for _ in 0..rule.levels {
                let parent = tree.nodes[source].parent;
                if parent == 0 || weights[parent] > rule.cap {
                    break;
                }
                for (node, weight) in weights.iter_mut().enumerate() {
                    if node > 0 && is_below(node, parent) && !is_below(node, source) {
                        *weight *= factor;
                    }
                }
                source = parent;
            }
        }
        weights
    }

    #[test]
    fn a_cap_makes_the_order_matter() {
        let tree = siblings(&[2.0, 3.0, 5.0]);
        let capped = Propagation { levels: 2, cap: 4.0 };
        let orders = [[2, 3, 4], [2, 4, 3], [3, 2, 4], [3, 4, 2], [4, 2, 3], [4, 3, 2]];
        let mut outcomes: Vec<Vec<f64>> = Vec::new();
        for order in orders {
            let outcome = tree.propagate_in(order, capped);
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        assert_eq!(outcomes.len(), 4);
    }

    #[test]
    fn sibling_leaves_get_equal_weights() {
        assert_eq!(siblings(&[2.0, 1.0]).propagate(NO_CAP), siblings(&[1.0, 2.0]).propagate(NO_CAP));
    }

    /// A tree of containers; every third node is a leaf with one of four factors.
    fn any_tree() -> impl Strategy<Value = BlockTree<'static>> {
        prop::collection::vec((any::<prop::sample::Index>(), 0..12_u8), 1..40).prop_map(|parts| {
            let mut tree = BlockTree::new();
            let mut containers = vec![0];
            for (parent, kind) in parts {
                let parent = containers[parent.index(containers.len())];
                match kind {
                    0..4 => _ = tree.add_leaf(parent, f64::from(kind) + 1.0, "灯塔 light"),
                    _ => containers.push(tree.add_container(parent)),
                }
            }
            tree
        })
    }

    proptest! {
        /// Without a cap, the order of the leaves does not matter.
        #[test]
        fn without_a_cap_the_order_does_not_matter(tree in any_tree(), levels in 0..5_usize) {
            let rule = Propagation { levels, ..NO_CAP };
            let backwards = tree.propagate_in((0..tree.nodes.len()).rev(), rule);
            prop_assert_eq!(tree.propagate(rule), backwards);
        }

        /// The efficient algorithm gives the result of the literal rule, also with a cap.
        #[test]
        fn efficient_propagation_matches_the_literal_rule(tree in any_tree(), levels in 0..4_usize, cap in 1.0..20.0_f64) {
            let rule = Propagation { levels, cap };
            prop_assert_eq!(tree.propagate(rule)[1..].to_vec(), literal_propagation(&tree, rule)[1..].to_vec());
        }

        /// Without a limit of levels, every node below the same child of the body has the same weight: emphasis is
        /// lost.
        #[test]
        fn unlimited_levels_level_everything(tree in any_tree()) {
            let weights = tree.propagate(Propagation { levels: usize::MAX, cap: f64::INFINITY });
            for node in 1..tree.nodes.len() {
                let parent = tree.nodes[node].parent;
                prop_assert!(parent == 0 || weights[node] == weights[parent]);
            }
        }

        #[test]
        fn squares_of_weights_add_up_to_one(tree in any_tree()) {
            let terms = tree.term_weights(Propagation::default());
            let sum: f32 = terms.iter().map(|t| t.weight * t.weight).sum();
            prop_assert!(terms.is_empty() || (sum - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn words_count_by_their_blocks() {
        let mut tree = BlockTree::new();
        let (first, second) = (tree.add_container(0), tree.add_container(0));
        tree.add_leaf(first, 3.0, "lighthouse");
        tree.add_leaf(second, 1.0, "harbour harbour");
        let terms = tree.term_weights(Propagation::default());
        assert_eq!(terms[0].term, "lighthouse");
        assert!((terms[0].weight / terms[1].weight - 1.5).abs() < 1e-6, "3·1 against 1·2");
        assert_eq!(tree.paragraphs(), ["lighthouse", "harbour harbour"]);
    }
}
