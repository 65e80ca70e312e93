//! Pointwise models: the loss is defined on single results.

pub(crate) mod gbdt;
pub(crate) mod large_margin;
pub mod mcrank;
pub mod prank;
pub mod regression;
