//! Gradient-boosted regression trees (梯度提升树): histogram-based, grown leaf by leaf.
//!
//! Each round fits a tree to the gradients of a loss (Friedman 2001). Features are divided into at most 255
//! bins, the gradients of a leaf are summed per bin, and the grower splits the leaf with the greatest gain,
//! after Ke et al. 2017, "LightGBM: A highly efficient gradient boosting decision tree". [`boost`] runs the rounds.

mod bins;
pub mod boost;
mod compiled;
mod grow;
pub(crate) mod stumps;
mod tree;
pub(crate) mod tree_parameters;

pub use bins::BinnedData;
pub use compiled::CompiledTrees;
pub use grow::GrowOptions;
pub(crate) use grow::{Gradient, Grower};
pub use tree::{MissingValue, Node, NodeRef, Tree, TreeEnsemble};
