//! Retrieval: candidates from the index or the cache, scoring, folding of duplicates, arrangement on pages.

pub(crate) mod arrange;
pub(crate) mod candidate_source;
mod cosines;
mod feedback;
pub(crate) mod fold;
pub(crate) mod retriever;
mod scoring;
pub(crate) mod similar_pages;

#[cfg(test)]
mod tests;
