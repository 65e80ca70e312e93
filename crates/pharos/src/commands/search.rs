//! Index and search: `index`, `search`, `suggest`, `clean`, `segment`, `words`.

pub(crate) mod clean;
pub(crate) mod index;
pub(crate) mod index_explain;
pub(crate) mod index_stats;
pub(crate) mod query;
pub(crate) mod segment;
pub(crate) mod suggest;
pub(crate) mod words;
