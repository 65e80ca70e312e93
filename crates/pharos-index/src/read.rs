//! Reading the index: open chains, queries, retrieval, counting, evidence.

pub(crate) mod chain_view;
pub(crate) mod doc_location;
pub mod evidence;
pub mod facets;
pub(crate) mod live_docs;
pub(crate) mod open_chain;
pub mod query;
pub(crate) mod query_plan;
pub(crate) mod retrieve;
pub mod titles_and_words;
pub(crate) mod zone_query;
