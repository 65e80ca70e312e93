//! Query assistance: suggestions while a query is typed, and corrections of misspelled queries.

pub(crate) mod correction;
pub mod suggestion_sources;
