//! Pairwise models: the loss is defined on two results of a query with different grades.

pub mod frank;
pub mod rankboost;
pub(crate) mod ranking_svm;
pub mod ranknet;
