//! Evaluation of the ranking: judged collections and resistance to spam.

pub mod retrieval_evaluation;
pub mod spam;
