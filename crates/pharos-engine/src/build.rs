//! Batch computations over the whole library: history generations, link analysis, phrase index, new words.

pub(crate) mod current_pages;
pub mod history;
pub mod link_analysis;
pub mod new_words;
pub(crate) mod phrase_index;
pub(crate) mod plan;
pub mod runner;
pub mod schedule;
pub(crate) mod survey;
pub(crate) mod warm_up;
