//! Listwise models: the loss is defined on all results of a query.

pub mod adarank;
pub(crate) mod coordinate_ascent;
pub(crate) mod lambdamart;
pub mod listmle;
pub mod listnet;
pub(crate) mod structural_svm;
