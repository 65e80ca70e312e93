//! Insight: `graph`, `dedup`, `log`, `hot`, `stats`, `eval`.

pub(crate) mod dedup;
pub(crate) mod eval_cache;
pub(crate) mod eval_clean;
pub(crate) mod eval_clicks;
pub(crate) mod eval_correct;
pub(crate) mod eval_retrieval;
pub(crate) mod eval_search;
pub(crate) mod eval_segment;
pub(crate) mod eval_spam;
pub(crate) mod graph;
pub(crate) mod hot;
pub(crate) mod log;
pub(crate) mod stats;
