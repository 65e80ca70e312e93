//! Evaluation of the ranking: known items, judged collections, gains of clicks and resistance to spam.

pub mod click_gains;
pub mod known_item_search;
pub mod retrieval_evaluation;
pub mod spam;
