//! Query assistance: suggestions while a query is typed, and corrections of misspelled queries.

pub(crate) mod correction;
mod suggestion_filter;
pub mod suggestion_sources;
