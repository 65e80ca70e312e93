//! Rules: which URLs are followed, fetched and stored, and the explanation of their decisions.

pub mod budget;
pub mod content_type;
pub mod explain;
pub mod from_config;
pub(crate) mod known_pages;
pub(crate) mod mirrors;
pub mod rule_check;
