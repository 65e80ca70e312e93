//! One file per command: arguments in, one call of a room, the result printed.

pub(crate) mod backup;
pub(crate) mod clean;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod dedup;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval_cache;
pub(crate) mod eval_clean;
pub(crate) mod eval_correct;
pub(crate) mod eval_retrieval;
pub(crate) mod eval_segment;
pub(crate) mod eval_spam;
pub(crate) mod export;
pub(crate) mod graph;
pub(crate) mod health;
pub(crate) mod hot;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod index_explain;
pub(crate) mod index_stats;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod rebuild;
pub(crate) mod search;
pub(crate) mod segment;
pub(crate) mod serve;
pub(crate) mod stats;
pub(crate) mod suggest;
pub(crate) mod up;
pub(crate) mod words;

/// A runtime for the commands that talk to the network.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
