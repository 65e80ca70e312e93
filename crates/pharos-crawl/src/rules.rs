//! Rules: which URLs are followed, fetched and stored, and the explanation of their decisions.

pub mod budget;
pub mod content_type;
pub mod explain;
pub mod link_filter;
pub(crate) mod mirrors;
pub mod rule_check;
pub mod scope;
