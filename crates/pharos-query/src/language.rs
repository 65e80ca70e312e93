//! The query language: parsing, expressions, terms, filters and query intent.

pub(crate) mod expression;
pub mod filters;
pub mod intent;
pub(crate) mod optional_words;
pub(crate) mod parse;
pub(crate) mod term;
