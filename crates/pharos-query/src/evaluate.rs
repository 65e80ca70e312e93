//! Evaluation of the ranking: known items, judged collections and resistance to spam.

pub mod known_item_search;
pub mod retrieval_evaluation;
pub mod spam;
